//! What the options of programs that run files say about these.

use super::super::loose::Word;

/// The options of a program, as far as they say what it runs. Short ones by their letters.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    /// Their value is a program in words: no file is run.
    pub text: &'static str,
    pub long_text: &'static [&'static str],
    /// Their value is a command line.
    pub lines: &'static str,
    pub long_lines: &'static [&'static str],
    /// Their value is a module, which a file is found by.
    pub modules: &'static str,
    pub long_modules: &'static [&'static str],
    /// Their value is a file that is run.
    pub files: &'static str,
    pub long_files: &'static [&'static str],
    /// Their value is the folder in which the program works.
    pub folders: &'static str,
    pub long_folders: &'static [&'static str],
    /// They have a value that is nothing of this.
    pub values: &'static str,
    pub long_values: &'static [&'static str],
    /// What is written together with them is their value, and only that.
    pub joined: &'static str,
    /// They say that the program is read from the input, and what stands behind is for it to read.
    pub input: &'static str,
    /// Whole words under which a program that is given no file does not read one from its input.
    pub apart: &'static [&'static str],
    /// A file that an option names is the program itself: what stands behind the options is for it to read.
    pub file_is_all: bool,
    /// Long ones begin with one dash.
    pub one_dash: bool,
}

/// What a command line gives a program.
#[derive(Default)]
pub(super) struct Given<'w> {
    pub has_text: bool,
    /// The text, where it is written together with its option.
    pub text: Option<Word>,
    pub has_input: bool,
    pub is_apart: bool,
    pub lines: Vec<Word>,
    pub modules: Vec<Word>,
    pub files: Vec<Word>,
    pub folders: Vec<Word>,
    /// What stands behind the options.
    pub rest: &'w [Word],
}

impl<'w> Given<'w> {
    /// With what more was read behind it.
    pub fn then(mut self, next: Given<'w>) -> Self {
        self.has_text |= next.has_text;
        self.text = self.text.or(next.text);
        self.has_input |= next.has_input;
        self.is_apart |= next.is_apart;
        self.lines.extend(next.lines);
        self.modules.extend(next.modules);
        self.files.extend(next.files);
        self.folders.extend(next.folders);
        self.rest = next.rest;
        self
    }
}

enum Kind {
    Text,
    Line,
    Module,
    File,
    Folder,
    Value,
    Flag,
}

impl Options {
    /// Reads options up to the first word that is none.
    pub fn read<'w>(&self, mut words: &'w [Word]) -> Given<'w> {
        let mut given = Given::default();
        while let Some((word, behind)) = words.split_first() {
            let text = word.text.as_str();
            if text == "--" {
                words = behind;
                break;
            }
            // A shell switches off with `+` what it switches on with `-`.
            let is_option = text.len() > 1 && text.starts_with('-') || text.len() == 2 && text.starts_with('+');
            if !is_option {
                break;
            }
            words = behind;
            given.is_apart |= matches!(text, "--version" | "--help") || self.apart.contains(&text);
            given.has_input |= !text.starts_with("--") && text.contains(|c| self.input.contains(c));
            let (kind, value) =
                if text.starts_with("--") || self.one_dash { self.long(text) } else { self.short(text) };
            if matches!(kind, Kind::Flag) {
                continue;
            }
            let value = match value {
                Some(value) => Word { text: value.to_owned(), is_changed: word.is_changed },
                // The text of a shell is its first argument, wherever its option stands.
                None if matches!(kind, Kind::Text) => Word::default(),
                None => {
                    let Some((next, behind)) = words.split_first() else { break };
                    words = behind;
                    next.clone()
                }
            };
            match kind {
                Kind::Text => {
                    given.has_text = true;
                    given.text = Some(value).filter(|value| *value != Word::default());
                }
                Kind::Line => given.lines.push(value),
                Kind::Module => {
                    given.modules.push(value);
                    // What stands behind a module is for it to read.
                    break;
                }
                Kind::File => given.files.push(value),
                Kind::Folder => given.folders.push(value),
                Kind::Value | Kind::Flag => {}
            }
        }
        given.rest = words;
        given
    }

    /// Reads options wherever they stand, as most programs do that have many commands.
    pub fn read_all<'w>(&self, words: &'w [Word]) -> Given<'w> {
        let mut given = self.read(words);
        while let Some((_, behind)) = given.rest.split_first() {
            given = given.then(self.read(behind));
        }
        given
    }

    fn long<'a>(&self, text: &'a str) -> (Kind, Option<&'a str>) {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let kind = match name {
            _ if self.long_text.contains(&name) => Kind::Text,
            _ if self.long_lines.contains(&name) => Kind::Line,
            _ if self.long_modules.contains(&name) => Kind::Module,
            _ if self.long_files.contains(&name) => Kind::File,
            _ if self.long_folders.contains(&name) => Kind::Folder,
            _ if self.long_values.contains(&name) && value.is_none() => Kind::Value,
            _ => Kind::Flag,
        };
        (kind, value)
    }

    /// The letters of one word: the first that has a value takes the rest of it.
    fn short<'a>(&self, text: &'a str) -> (Kind, Option<&'a str>) {
        for (at, letter) in text.char_indices().skip(1) {
            let kind = match letter {
                _ if self.text.contains(letter) => Kind::Text,
                _ if self.lines.contains(letter) => Kind::Line,
                _ if self.modules.contains(letter) => Kind::Module,
                _ if self.files.contains(letter) => Kind::File,
                _ if self.folders.contains(letter) => Kind::Folder,
                _ if self.values.contains(letter) => Kind::Value,
                _ if self.joined.contains(letter) => return (Kind::Flag, None),
                _ => continue,
            };
            let value = text.get(at + letter.len_utf8()..).filter(|value| !value.is_empty());
            // `-pe` are two letters that say the same.
            let says_the_same = matches!(kind, Kind::Text)
                && value.is_some_and(|value| value.chars().all(|letter| self.text.contains(letter)));
            return (kind, value.filter(|_| !says_the_same));
        }
        (Kind::Flag, None)
    }
}

pub(super) const NONE: Options = Options {
    text: "",
    long_text: &[],
    lines: "",
    long_lines: &[],
    modules: "",
    long_modules: &[],
    files: "",
    long_files: &[],
    folders: "",
    long_folders: &[],
    values: "",
    long_values: &[],
    joined: "",
    input: "",
    apart: &[],
    file_is_all: false,
    one_dash: false,
};
