//! What one program runs, by what its words say.

use super::super::loose::{Command, Input, Piece, Word, pieces};
use super::super::programs::{is_shell, name_of, unversioned};
use super::interpreters::{endings_of, interprets, of_filter, of_interpreter, reads_program, standing_of, verbs_of};
use super::launchers::{Behind, Launcher, hides_what_it_runs, launcher_of, of_line_runner, only_names};
use super::options::Given;
use super::{Certainty, Walk};

/// Words of a program that is not known that are read as the beginning of a command.
const MOST_GUESSED: usize = 32;

impl Walk {
    pub(super) fn program(&mut self, name: &str, rest: &[Word], input: Option<&Input>) {
        if self.launch(name, rest, input) || self.run_lines(name, rest) {
            return;
        }
        let is_standing = self.go_by_standing(name, rest);
        if let Some(options) = of_filter(name) {
            options.read_all(rest).files.iter().for_each(|word| self.run_word(word));
        } else if interprets(name) {
            self.interpret(name, rest, input);
        } else if name == "go" {
            let is_source = |word: &&Word| word.text.ends_with(".go");
            let behind = rest.split_first().filter(|(verb, _)| verb.text == "run").map(|(_, behind)| behind);
            let sources = behind.into_iter().flatten().skip_while(|word| !is_source(word)).take_while(is_source);
            sources.for_each(|word| self.run_word(word));
        } else if !only_names(name) {
            if !is_standing && hides_what_it_runs(name) {
                self.more();
            }
            self.guess(rest);
        }
    }

    /// A program that is not known may run what a shell or an interpreter among its words would.
    fn guess(&mut self, words: &[Word]) {
        if self.is_guessing {
            return;
        }
        let begins = |word: &Word| word.plain().is_some_and(|word| interprets(unversioned(&name_of(word))));
        let begin: Vec<usize> = (0..words.len()).filter(|at| words.get(*at).is_some_and(begins)).collect();
        if begin.len() > MOST_GUESSED {
            self.more();
        }
        self.is_guessing = true;
        for at in begin.into_iter().take(MOST_GUESSED) {
            let command = words.get(at..).unwrap_or_default();
            self.apart(|walk| walk.deeper(|walk| walk.command(command, None)));
        }
        self.is_guessing = false;
    }

    /// Whether it is a program that goes by files that are not named.
    fn go_by_standing(&mut self, name: &str, rest: &[Word]) -> bool {
        let Some(standing) = standing_of(name) else { return false };
        let given = standing.options.read_all(rest);
        self.apart(|walk| {
            given.folders.iter().for_each(|word| walk.go(word));
            given.files.iter().for_each(|word| walk.run_word(word));
            if given.files.is_empty() {
                // The folder that `npm` is told is the only one.
                let looks_above = standing.looks_above && (given.folders.is_empty() || name != "npm");
                standing.files.iter().for_each(|file| walk.run(file, Certainty::Said));
                if looks_above {
                    walk.run_above(standing.files);
                }
            }
        });
        true
    }

    /// Whether it is a program that runs the lines that its options give.
    fn run_lines(&mut self, name: &str, rest: &[Word]) -> bool {
        let Some(options) = of_line_runner(name) else { return false };
        let given = options.read_all(rest);
        given.lines.iter().for_each(|line| self.line_apart(line));
        if given.lines.is_empty() && !given.is_apart {
            self.more();
            self.guess(rest);
        }
        true
    }

    /// Whether it is a program that runs the command behind its own words.
    fn launch(&mut self, name: &str, rest: &[Word], input: Option<&Input>) -> bool {
        let Some(launcher) = launcher_of(name) else { return false };
        let mut given = launcher.options.read(rest);
        if !launcher.verbs.is_empty() {
            let verb = given.rest.split_first().filter(|(verb, _)| launcher.verbs.contains(&verb.text.as_str()));
            let Some((_, behind)) = verb else { return false };
            given = given.then(launcher.options.read(behind));
        }
        if launcher.operands > 0 {
            let behind = given.rest.get(launcher.operands..).unwrap_or_default();
            given = given.then(launcher.options.read(behind));
        }
        if name == "command" && given.is_apart {
            return true;
        }
        if launcher.behind == Behind::Here {
            self.deeper(|walk| walk.command(given.rest, input));
            return true;
        }
        self.apart(|walk| {
            given.folders.iter().for_each(|word| walk.go(word));
            walk.launched(name, &launcher, &given, input);
        });
        true
    }

    fn launched(&mut self, name: &str, launcher: &Launcher, given: &Given<'_>, input: Option<&Input>) {
        given.modules.iter().for_each(|module| self.run_module(module));
        for line in &given.lines {
            if name == "env" { self.split(line, given.rest) } else { self.line_apart(line) }
        }
        if !given.modules.is_empty() || !given.lines.is_empty() {
            return;
        }
        let Some(program) = given.rest.first() else {
            if launcher.or_shell && !given.is_apart {
                self.more();
            }
            return;
        };
        if let Some(program) = program.plain() {
            if launcher.local && !program.contains('/') {
                let program = format!("node_modules/.bin/{program}");
                self.run(&program, Certainty::Guessed);
                self.run_above(&[&program]);
            }
            if name == "uv" && program.ends_with(".py") {
                self.run(program, Certainty::Said);
            }
        }
        let added = Word { text: "{}".to_owned(), is_changed: true };
        match launcher.behind {
            Behind::Line => {
                let own = given.rest.iter().take_while(|word| !launcher.adds || !word.text.starts_with(":::"));
                let own: Vec<&Word> = own.chain(Some(&added).filter(|_| launcher.adds)).collect();
                let text = own.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                // The word that is put in is one to the shell that reads the line, too.
                let is_changed = own.iter().any(|word| word.is_changed && word.text != "{}");
                self.line_apart(&Word { text, is_changed });
            }
            Behind::Command | Behind::Here if launcher.adds => {
                let command = [given.rest, std::slice::from_ref(&added)].concat();
                self.deeper(|walk| walk.command(&command, input));
            }
            Behind::Command | Behind::Here => self.deeper(|walk| walk.command(given.rest, input)),
        }
    }

    /// The words that `env -S` takes from its value, with those behind it.
    fn split(&mut self, line: &Word, behind: &[Word]) {
        let read = line.plain().map(pieces);
        let Some([Piece::Command(Command { words, input: None, .. })]) = read.as_deref() else { return self.more() };
        let env = Word { text: "env".to_owned(), is_changed: false };
        let command = [&[env], words.as_slice(), behind].concat();
        self.deeper(|walk| walk.command(&command, None));
    }

    fn interpret(&mut self, name: &str, rest: &[Word], input: Option<&Input>) {
        let options = of_interpreter(name);
        let mut given = options.read(rest);
        if let Some((_, behind)) =
            given.rest.split_first().filter(|(verb, _)| verbs_of(name).contains(&verb.text.as_str()))
        {
            given = given.then(options.read(behind));
        }
        for file in &given.files {
            self.run_word(file);
            if file.text.contains('/') {
                self.run_with_endings(name, file);
            }
        }
        given.modules.iter().for_each(|module| self.run_module(module));
        if given.has_text {
            return self.run_text(name, &given);
        }
        if !given.modules.is_empty() || (options.file_is_all && !given.files.is_empty()) {
            return;
        }
        match given.rest.first() {
            Some(file) if file.text != "-" && !given.has_input => {
                self.run_word(file);
                self.run_with_endings(name, file);
            }
            None if given.is_apart || !reads_program(name) => {}
            _ => self.run_input(name, input),
        }
    }

    fn run_text(&mut self, name: &str, given: &Given<'_>) {
        let text = given.text.as_ref().or(given.rest.first());
        if is_shell(name) {
            given.text.iter().chain(given.rest.first()).for_each(|text| self.line_apart(text));
        } else if text.is_some_and(|text| text.is_changed) {
            self.more();
        }
    }

    fn run_input(&mut self, name: &str, input: Option<&Input>) {
        match input {
            Some(Input::File(file)) => self.run_word(file),
            Some(Input::Text(text)) if is_shell(name) => self.line_apart(text),
            Some(Input::Text(text)) if !text.is_changed => {}
            _ => self.more(),
        }
    }

    /// What Python runs for a module.
    fn run_module(&mut self, module: &Word) {
        let Some(module) = module.plain() else { return self.more() };
        let mut path = String::new();
        for part in module.split('.').filter(|part| !part.is_empty() && !part.contains('/')) {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(part);
            self.run(&format!("{path}/__init__.py"), Certainty::Guessed);
        }
        for ending in [".py", "/__main__.py"] {
            self.run(&format!("{path}{ending}"), Certainty::Guessed);
        }
    }

    /// The files that an interpreter takes for a name without an ending.
    fn run_with_endings(&mut self, name: &str, file: &Word) {
        let Some(file) = file.plain() else { return };
        let last = file.rsplit('/').next().unwrap_or(file);
        if last.trim_start_matches('.').contains('.') {
            return;
        }
        let file = file.trim_end_matches('/');
        endings_of(name).iter().for_each(|ending| self.run(&format!("{file}{ending}"), Certainty::Guessed));
    }
}
