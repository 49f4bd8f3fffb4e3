//! What a command line runs that lies in files: scripts, and what a program goes by, such as a Makefile
//! (security.md A12). Only what can be read off the line: what a script runs in its turn is not followed.

mod options;

use self::options::{Given, Options, launcher_of, of_filter, of_interpreter, standing_of, verbs_of};
use super::loose::{Command, Input, Piece, Word, pieces};
use super::programs::{is_interpreter, is_shell, name_of, unversioned};

/// Names that are given for one line.
const MOST: usize = 200;
/// Lines within lines, such as those of `sh -c`, and commands behind commands, such as those of `timeout`.
const DEEPEST: usize = 16;
/// Longest path that is followed, in bytes.
const LONGEST: usize = 4096;

/// The files that a command line may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptNames {
    /// Without `.` and `..`, each once. A wrong guess names no file.
    pub paths: Vec<String>,
    /// The line runs more, or may: what is behind a variable, in a folder that cannot be told, or beyond what is looked into.
    pub has_more: bool,
}

impl ScriptNames {
    /// What `line` runs when it is started in `folder`. Paths are absolute where `folder` or the line says them so;
    /// where `folder` is empty they are relative to it, and what leads out of it is not there.
    pub fn of(line: &str, folder: &str) -> Self {
        let mut walk = Walk { folder: Some(folder.to_owned()), outer: Vec::new(), depth: 0, found: Self::default() };
        walk.line(line);
        walk.found
    }
}

struct Walk {
    /// Where the line is; `None` where that cannot be told.
    folder: Option<String>,
    /// Where the shells around this one are.
    outer: Vec<Option<String>>,
    depth: usize,
    found: ScriptNames,
}

impl Walk {
    fn line(&mut self, line: &str) {
        self.deeper(|walk| walk.each_piece(line));
    }

    /// Looks into what stands within something else, as far as that goes.
    fn deeper(&mut self, look: impl FnOnce(&mut Self)) {
        if self.depth == DEEPEST {
            self.found.has_more = true;
            return;
        }
        self.depth += 1;
        look(self);
        self.depth -= 1;
    }

    fn each_piece(&mut self, line: &str) {
        let opened = self.outer.len();
        for piece in pieces(line) {
            match piece {
                Piece::Open => self.outer.push(self.folder.clone()),
                Piece::Close => {
                    if self.outer.len() > opened
                        && let Some(folder) = self.outer.pop()
                    {
                        self.folder = folder;
                    }
                }
                Piece::Command(Command { words, input }) => self.command(&words, input.as_ref()),
            }
        }
        self.outer.truncate(opened);
    }

    /// A line that a shell of its own runs.
    fn line_apart(&mut self, line: &str) {
        let folder = self.folder.clone();
        self.line(line);
        self.folder = folder;
    }

    fn command(&mut self, words: &[Word], input: Option<&Input>) {
        let before = words.iter().take_while(|word| is_assignment(&word.text)).count();
        let Some((program, rest)) = words.get(before..).and_then(<[Word]>::split_first) else { return };
        let Some(program) = program.plain() else {
            self.found.has_more |= program.text.contains('/');
            return;
        };
        if program.contains('/') {
            self.run(program);
        }
        let name = name_of(program);
        match name.as_str() {
            "cd" | "pushd" => self.go_to(rest),
            "popd" => self.folder = None,
            "." | "source" => rest.iter().take(1).for_each(|word| self.run_word(word)),
            "eval" => {
                let words: Option<Vec<&str>> = rest.iter().map(Word::plain).collect();
                words.iter().for_each(|words| self.line(&words.join(" ")));
            }
            "find" => {
                let is_run = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
                let at = rest.iter().position(is_run).map_or(rest.len(), |at| at + 1);
                self.deeper(|walk| walk.command(rest.get(at..).unwrap_or_default(), None));
            }
            name => self.program(unversioned(name), rest, input),
        }
    }

    fn program(&mut self, name: &str, rest: &[Word], input: Option<&Input>) {
        if self.launch(name, rest, input) {
            return;
        }
        if let Some(standing) = standing_of(name) {
            let given = standing.options.read_all(rest);
            let folder = self.folder.clone();
            given.folders.iter().for_each(|word| self.go(word));
            given.files.iter().for_each(|word| self.run_word(word));
            if given.files.is_empty() {
                standing.files.iter().for_each(|file| self.run(file));
            }
            self.folder = folder;
        }
        if let Some(options) = of_filter(name) {
            options.read_all(rest).files.iter().for_each(|word| self.run_word(word));
        } else if is_shell(name) || is_interpreter(name) {
            self.interpret(name, rest, input);
        }
    }

    /// Whether it is a program that runs the command behind its own words.
    fn launch(&mut self, name: &str, rest: &[Word], input: Option<&Input>) -> bool {
        let Some(launcher) = launcher_of(name) else { return false };
        let mut given = launcher.options.read(rest);
        let mut folders = std::mem::take(&mut given.folders);
        if !launcher.verbs.is_empty() {
            let verb = given.rest.split_first().filter(|(verb, _)| launcher.verbs.contains(&verb.text.as_str()));
            let Some((_, behind)) = verb else { return false };
            given = launcher.options.read(behind);
            folders.append(&mut given.folders);
        }
        if given.has_text {
            return true;
        }
        let folder = self.folder.clone();
        folders.iter().for_each(|word| self.go(word));
        let command = given.rest.get(launcher.operands..).unwrap_or_default();
        if let Some(program) = command.first().and_then(Word::plain) {
            if launcher.local && !program.contains('/') {
                self.run(&format!("node_modules/.bin/{program}"));
            }
            if name == "uv" && program.ends_with(".py") {
                self.run(program);
            }
        }
        self.deeper(|walk| walk.command(command, input));
        self.folder = folder;
        true
    }

    fn interpret(&mut self, name: &str, rest: &[Word], input: Option<&Input>) {
        let options: Options = of_interpreter(name);
        let mut given: Given<'_> = options.read(rest);
        if let Some((_, behind)) =
            given.rest.split_first().filter(|(verb, _)| verbs_of(name).contains(&verb.text.as_str()))
        {
            let files = std::mem::take(&mut given.files);
            given = options.read(behind);
            given.files.extend(files);
        }
        given.files.iter().for_each(|word| self.run_word(word));
        match given.rest.first() {
            Some(line) if given.has_text && is_shell(name) => match line.plain() {
                Some(line) => self.line_apart(line),
                None => self.found.has_more = true,
            },
            _ if given.has_text || (options.file_is_all && !given.files.is_empty()) => {}
            Some(file) if file.text != "-" => self.run_word(file),
            _ => match input {
                Some(Input::File(file)) => self.run_word(file),
                Some(Input::Text(text)) if is_shell(name) => self.line_apart(text),
                _ => {}
            },
        }
    }

    fn go_to(&mut self, words: &[Word]) {
        match words.iter().find(|word| word.text == "-" || !word.text.starts_with('-')) {
            Some(word) if word.text != "-" => self.go(word),
            _ => self.folder = None,
        }
    }

    fn go(&mut self, to: &Word) {
        self.folder = to.plain().and_then(|to| self.below(to));
    }

    fn run_word(&mut self, word: &Word) {
        match word.plain() {
            Some(word) => self.run(word),
            None => self.found.has_more = true,
        }
    }

    fn run(&mut self, word: &str) {
        let found = self.below(word);
        let ScriptNames { paths, has_more } = &mut self.found;
        let Some(path) = found else {
            *has_more = true;
            return;
        };
        if paths.contains(&path) {
            return;
        }
        if paths.len() < MOST { paths.push(path) } else { *has_more = true }
    }

    /// `word` as it is found from the folder, without `.` and `..`; `None` where that cannot be told.
    fn below(&self, word: &str) -> Option<String> {
        let folder = if word.starts_with('/') { "" } else { self.folder.as_deref()? };
        let is_absolute = word.starts_with('/') || folder.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in folder.split('/').chain(word.split('/')) {
            match part {
                "" | "." => {}
                ".." if parts.is_empty() && is_absolute => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        let path = format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"));
        Some(path).filter(|path| path.len() <= LONGEST)
    }
}

/// Whether a word in front of a command gives a variable.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
