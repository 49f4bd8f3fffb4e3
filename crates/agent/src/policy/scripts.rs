//! What a command line runs that lies in files: scripts, and what a program goes by, such as a Makefile
//! (security.md A12). Only what can be read off the line: what a script runs in its turn is not followed.

mod interpreters;
mod launchers;
mod options;
mod places;
mod runs;

use self::places::{Places, above};
use super::loose::{Command, Input, Join, Piece, Word, pieces};
use super::programs::{name_of, unversioned};

/// Names that are given for one line.
const MOST: usize = 200;
/// Lines within lines, such as those of `sh -c`, and commands behind commands, such as those of `timeout`.
const DEEPEST: usize = 16;
/// Where a system keeps its programs: they are nobody's scripts.
const SYSTEM: &[&str] = &["/bin/", "/sbin/", "/usr/", "/opt/", "/nix/store/", "/snap/", "/System/", "/Library/"];

/// The files that a command line may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptNames {
    /// Each once. A wrong guess names no file.
    pub files: Vec<ScriptName>,
    /// The line runs more, or may: what is behind a variable or comes through a pipe, in a folder that cannot be told, or
    /// beyond what is looked into.
    pub has_more: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptName {
    /// Without `.` and `..`.
    pub path: String,
    pub certainty: Certainty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Run where it is there: nothing says that it is.
    Guessed,
    /// The line says that it is run.
    Said,
}

impl ScriptNames {
    /// What `line` runs when it is started in `folder`. Paths are absolute where `folder` or the line says them so;
    /// where `folder` is empty they are relative to it, and what leads out of it cannot be told.
    pub fn of(line: &str, folder: &str) -> Self {
        let now = Places::only(folder);
        let mut walk = Walk {
            root: now.folders.first().cloned().unwrap_or_default(),
            shell: Shell { now, fallen_back: Places::default() },
            outer: Vec::new(),
            depth: 0,
            is_guessing: false,
            found: Self::default(),
        };
        walk.line(line);
        walk.found
    }
}

/// Where a shell may be.
#[derive(Clone)]
struct Shell {
    now: Places,
    /// Where it is besides once commands that are joined by `&&` are through: one of them may have failed.
    fallen_back: Places,
}

struct Walk {
    /// Where the line is started.
    root: String,
    shell: Shell,
    /// The shells around this one.
    outer: Vec<Shell>,
    depth: usize,
    /// What is read may be no command at all.
    is_guessing: bool,
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

    fn more(&mut self) {
        self.found.has_more |= !self.is_guessing;
    }

    fn each_piece(&mut self, line: &str) {
        let opened = self.outer.len();
        let around = std::mem::take(&mut self.shell.fallen_back);
        let pieces = pieces(line);
        let mut before = Join::Then;
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Unread => self.more(),
                Piece::Join(join) => {
                    before = *join;
                    if !matches!(join, Join::And | Join::Pipe) {
                        self.fall_back();
                    }
                }
                Piece::Open => {
                    self.outer.push(self.shell.clone());
                    self.shell.fallen_back = Places::default();
                }
                Piece::Close => {
                    if self.outer.len() > opened
                        && let Some(outer) = self.outer.pop()
                    {
                        self.shell = outer;
                    }
                }
                Piece::Command(command) => {
                    let is_and = matches!(pieces.get(at + 1), Some(Piece::Join(Join::And)));
                    self.step(command, is_and && before != Join::Pipe);
                }
            }
        }
        self.outer.truncate(opened);
        self.fall_back();
        self.shell.fallen_back = around;
    }

    /// One command. `decides`: what stands behind it runs only where it did what it should, in this shell.
    fn step(&mut self, command: &Command, decides: bool) {
        let from = self.shell.now.clone();
        self.command(&command.words, command.input.as_ref());
        if self.shell.now == from {
            return;
        }
        let is_cd = command.words.first().is_some_and(|word| matches!(word.text.as_str(), "cd" | "pushd"));
        if decides && is_cd { self.shell.fallen_back.or(from) } else { self.shell.now.or(from) }
    }

    fn fall_back(&mut self) {
        let fallen_back = std::mem::take(&mut self.shell.fallen_back);
        self.shell.now.or(fallen_back);
    }

    /// A line that a shell of its own runs.
    fn line_apart(&mut self, line: &Word) {
        let Some(line) = line.plain() else { return self.more() };
        self.apart(|walk| walk.line(line));
    }

    /// Comes back to where it was.
    fn apart(&mut self, look: impl FnOnce(&mut Self)) {
        let now = self.shell.now.clone();
        look(self);
        self.shell.now = now;
    }

    fn command(&mut self, words: &[Word], input: Option<&Input>) {
        let before = words.iter().take_while(|word| is_assignment(&word.text)).count();
        let Some((program, rest)) = words.get(before..).and_then(<[Word]>::split_first) else { return };
        let Some(program) = program.plain() else { return self.more() };
        if program.contains('/') {
            let is_system = SYSTEM.iter().any(|folder| program.starts_with(folder));
            self.run(program, if is_system { Certainty::Guessed } else { Certainty::Said });
        }
        let name = name_of(program);
        match name.as_str() {
            "cd" | "pushd" => self.go_to(rest),
            "popd" => self.shell.now = Places::unknown(),
            "." | "source" => {
                rest.iter().find(|word| word.text != "--").into_iter().for_each(|word| self.run_word(word))
            }
            "eval" => {
                let words: Option<Vec<&str>> = rest.iter().map(Word::plain).collect();
                match words {
                    Some(words) => self.line(&words.join(" ")),
                    None => self.more(),
                }
            }
            "trap" => rest.iter().find(|word| word.text != "--").into_iter().for_each(|word| self.line_apart(word)),
            "find" => self.each_found(rest),
            name => self.program(unversioned(name), rest, input),
        }
    }

    /// What `find` runs for what it finds.
    fn each_found(&mut self, mut words: &[Word]) {
        let starts = self.starts(words);
        let is_run = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        while let Some(at) = words.iter().position(is_run) {
            let is_there = words.get(at).is_some_and(|word| word.text.ends_with("dir"));
            words = words.get(at + 1..).unwrap_or_default();
            let end = words.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(words.len());
            let (command, behind) = words.split_at_checked(end).unwrap_or_default();
            if is_there {
                self.in_each_folder(command, &starts);
            } else {
                self.deeper(|walk| walk.command(command, None));
            }
            words = behind;
        }
    }

    /// Where `find` begins.
    fn starts(&self, words: &[Word]) -> Places {
        let words = words.iter().skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"));
        let mut starts = words.take_while(|word| !word.text.starts_with(['-', '(', '!'])).peekable();
        if starts.peek().is_none() {
            return self.shell.now.clone();
        }
        let mut places = Places::default();
        starts.for_each(|start| places.or(start.plain().map_or_else(Places::unknown, |to| self.shell.now.below(to))));
        places
    }

    /// A command that runs in the folder of each thing that is found, which nobody knows before; it may be one of
    /// `starts`.
    fn in_each_folder(&mut self, command: &[Word], starts: &Places) {
        let run_in = |walk: &mut Self, places: Places| {
            walk.apart(|walk| {
                walk.shell.now = places;
                walk.deeper(|walk| walk.command(command, None));
            });
        };
        run_in(self, Places::unknown());
        if !self.is_guessing {
            self.is_guessing = true;
            run_in(self, starts.clone());
            self.is_guessing = false;
        }
    }

    fn go_to(&mut self, words: &[Word]) {
        match words.iter().find(|word| word.text == "-" || !word.text.starts_with('-')) {
            Some(word) if word.text != "-" => self.go(word),
            _ => self.shell.now = Places::unknown(),
        }
    }

    fn go(&mut self, to: &Word) {
        self.shell.now = to.plain().map_or_else(Places::unknown, |to| self.shell.now.below(to));
    }

    fn run_word(&mut self, word: &Word) {
        match word.plain() {
            Some("/dev/null") => {}
            // Its input.
            Some("-") | None => self.more(),
            Some(word) => self.run(word, Certainty::Said),
        }
    }

    fn run(&mut self, word: &str, certainty: Certainty) {
        let found = self.shell.now.below(word);
        if found.is_open {
            self.more();
        }
        found.folders.into_iter().for_each(|path| self.name(path, certainty));
    }

    /// These files of the folders above.
    fn run_above(&mut self, files: &[&str]) {
        for folder in self.shell.now.folders.clone() {
            for above in above(&folder, &self.root.clone()) {
                let between = if above.is_empty() || above.ends_with('/') { "" } else { "/" };
                files.iter().for_each(|file| self.name(format!("{above}{between}{file}"), Certainty::Guessed));
            }
        }
    }

    fn name(&mut self, path: String, certainty: Certainty) {
        let certainty = if self.is_guessing { Certainty::Guessed } else { certainty };
        let ScriptNames { files, has_more } = &mut self.found;
        if let Some(known) = files.iter_mut().find(|file| file.path == path) {
            known.certainty = known.certainty.max(certainty);
        } else if files.len() < MOST {
            files.push(ScriptName { path, certainty });
        } else {
            *has_more = true;
        }
    }
}

/// Whether a word in front of a command gives a variable.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.strip_suffix(']').and_then(|name| name.split_once('[')).map_or(name, |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
