//! Command lines that are more than plain words, read as far as they can be: for finding what they run, never for saying
//! that they are harmless.

use super::command;

/// A part of a line, in the order in which a shell comes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Command(Command),
    /// A shell of its own begins: a folder that is gone to in it is left with it.
    Open,
    Close,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub words: Vec<Word>,
    pub input: Option<Input>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes.
    pub text: String,
    /// A shell puts something else in its place.
    pub is_changed: bool,
}

impl Word {
    /// The word, where it stands for itself.
    pub fn plain(&self) -> Option<&str> {
        if self.is_changed { None } else { Some(&self.text) }
    }
}

/// What a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    File(Word),
    /// A text in the line itself.
    Text(String),
}

/// The parts of a line: as a standing rule reads it where that can, else loosely.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    let Ok(parts) = command::parts(line) else { return Reader::new(line).read() };
    let word = |text| Word { text, is_changed: false };
    let command = |words: Vec<String>| Command { words: words.into_iter().map(word).collect(), input: None };
    parts.into_iter().map(|words| Piece::Command(command(words))).collect()
}

#[derive(Clone, Copy)]
enum Redirect {
    From,
    /// `<<<`
    FromText,
    To,
}

/// The command that is being read.
#[derive(Default)]
struct Current {
    words: Vec<Word>,
    word: Option<Word>,
    input: Option<Input>,
    /// Where the next word belongs, instead of to the others.
    redirect: Option<Redirect>,
    in_double_quotes: bool,
}

enum Opened {
    Subshell,
    /// Its output becomes part of a word of the command that it stands in.
    Substitution {
        by: char,
        outer: Current,
    },
}

struct Reader<'l> {
    rest: &'l str,
    /// What follows the texts that stand behind this line for its commands to read.
    behind_texts: Option<&'l str>,
    now: Current,
    opened: Vec<Opened>,
    pieces: Vec<Piece>,
}

impl<'l> Reader<'l> {
    fn new(line: &'l str) -> Self {
        Self { rest: line, behind_texts: None, now: Current::default(), opened: Vec::new(), pieces: Vec::new() }
    }

    fn read(mut self) -> Vec<Piece> {
        while let Some(c) = self.next() {
            if self.now.in_double_quotes { self.in_double_quotes(c) } else { self.unquoted(c) }
        }
        self.end_command();
        while let Some(opened) = self.opened.pop() {
            self.close(opened);
            self.end_command();
        }
        self.pieces
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn next_if(&mut self, wanted: char) -> bool {
        let is_next = self.rest.starts_with(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Takes everything up to `end`, and `end`.
    fn next_until(&mut self, end: char) -> &'l str {
        let (taken, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn in_double_quotes(&mut self, c: char) {
        match c {
            '"' => self.now.in_double_quotes = false,
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(c @ ('"' | '\\' | '$' | '`')) => self.word().text.push(c),
                Some(c) => self.word().text.extend(['\\', c]),
            },
            '$' | '`' => self.substitution(c),
            _ => self.word().text.push(c),
        }
    }

    fn unquoted(&mut self, c: char) {
        match c {
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                self.rest = self.behind_texts.take().unwrap_or(self.rest);
            }
            '&' if self.rest.starts_with('>') => {}
            ';' | '|' | '&' => self.end_command(),
            '(' => {
                self.end_command();
                self.pieces.push(Piece::Open);
                self.opened.push(Opened::Subshell);
            }
            ')' => {
                self.end_command();
                if let Some(opened) = self.opened.pop() {
                    self.close(opened);
                }
            }
            '\'' => {
                let text = self.next_until('\'');
                self.word().text.push_str(text);
            }
            '"' => {
                self.word();
                self.now.in_double_quotes = true;
            }
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(c) => self.word().text.push(c),
            },
            '$' | '`' => self.substitution(c),
            '<' | '>' => self.redirect(c),
            '#' if self.now.word.is_none() => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            '*' | '?' | '[' => self.push_changed(c),
            '~' if self.now.word.is_none() => self.push_changed(c),
            '{' if !self.rest.starts_with(char::is_whitespace) => self.push_changed(c),
            _ => self.word().text.push(c),
        }
    }

    fn word(&mut self) -> &mut Word {
        self.now.word.get_or_insert_default()
    }

    fn push_changed(&mut self, c: char) {
        let word = self.word();
        word.text.push(c);
        word.is_changed = true;
    }

    fn substitution(&mut self, by: char) {
        match by {
            '`' if matches!(self.opened.last(), Some(Opened::Substitution { by: '`', .. })) => {
                self.end_command();
                if let Some(opened) = self.opened.pop() {
                    self.close(opened);
                }
            }
            '`' => self.open(by),
            _ if self.next_if('(') => self.open(by),
            _ if self.next_if('{') => {
                self.word().is_changed = true;
                self.next_until('}');
            }
            _ => self.word().is_changed = true,
        }
    }

    fn open(&mut self, by: char) {
        self.word().is_changed = true;
        let outer = std::mem::take(&mut self.now);
        self.opened.push(Opened::Substitution { by, outer });
        self.pieces.push(Piece::Open);
    }

    fn close(&mut self, opened: Opened) {
        self.pieces.push(Piece::Close);
        if let Opened::Substitution { outer, .. } = opened {
            self.now = outer;
        }
    }

    fn redirect(&mut self, c: char) {
        // The number of what is redirected.
        if self.now.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
            self.now.word = None;
        }
        self.end_word();
        if self.next_if('(') {
            return self.open('(');
        }
        if c == '>' {
            while self.rest.starts_with(['>', '|', '&']) {
                self.next();
            }
            self.now.redirect = Some(Redirect::To);
        } else if !self.next_if('<') {
            // `<>` and `<&`
            let is_file = !self.next_if('&');
            self.next_if('>');
            self.now.redirect = Some(if is_file { Redirect::From } else { Redirect::To });
        } else if self.next_if('<') {
            self.now.redirect = Some(Redirect::FromText);
        } else {
            let text = self.text_behind();
            self.now.input = Some(Input::Text(text));
        }
    }

    /// The text that `<<` says stands behind this line.
    fn text_behind(&mut self) -> String {
        let is_indented = self.next_if('-');
        while self.next_if(' ') {}
        let is_end = |c: char| c.is_whitespace() || ";|&<>()".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        let mark: String = word.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        let mut texts = self.behind_texts.or_else(|| Some(rest.split_once('\n')?.1)).unwrap_or_default();
        let mut text = String::new();
        while !texts.is_empty() {
            let (line, behind) = texts.split_once('\n').unwrap_or((texts, ""));
            texts = behind;
            if (if is_indented { line.trim_start_matches('\t') } else { line }) == mark {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        self.behind_texts = Some(texts);
        text
    }

    fn end_word(&mut self) {
        let Some(word) = self.now.word.take() else { return };
        match self.now.redirect.take() {
            None => self.now.words.push(word),
            Some(Redirect::To) => {}
            Some(Redirect::From) => self.now.input = Some(Input::File(word)),
            Some(Redirect::FromText) => self.now.input = Some(Input::Text(word.text)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let Current { words, input, .. } = std::mem::take(&mut self.now);
        if !words.is_empty() {
            self.pieces.push(Piece::Command(Command { words, input }));
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// The parts as one line: words joined, what a shell changes marked, what is read behind `<`.
    fn read(line: &str) -> Vec<String> {
        let word = |word: &Word| format!("{}{}", word.text, if word.is_changed { "?" } else { "" });
        let shown = |piece: Piece| match piece {
            Piece::Open => "(".to_owned(),
            Piece::Close => ")".to_owned(),
            Piece::Command(Command { words, input }) => {
                let words = words.iter().map(word).collect::<Vec<_>>().join("|");
                match input {
                    None => words,
                    Some(Input::File(file)) => format!("{words} < {}", word(&file)),
                    Some(Input::Text(text)) => format!("{words} << {text}"),
                }
            }
        };
        Reader::new(line).read().into_iter().map(shown).collect()
    }

    #[test]
    fn quotes_brackets_and_what_a_shell_changes() {
        assert_eq!(read("(cd 'a b'; x) && y\\ z \"q\\\"r\""), ["(", "cd|a b", "x", ")", "y z|q\"r"]);
        assert_eq!(read("a $(b \"$(c)\" d)/e `f g`"), ["(", "(", "c", ")", "b|?|d", ")", "(", "f|g", ")", "a|/e?|?"]);
        assert_eq!(read("a ${B:-c d} *.x ~/y {1,2} { z; }"), ["a|?|*.x?|~/y?|{1,2}?|{|z", "}"]);
        assert_eq!(read("a # b; c\nd & e | f \"g; $H\""), ["a", "d", "e", "f|g; H?"]);
        assert_eq!(read("a; b) c 'd"), ["a", "b", "c|d"]);
    }

    #[test]
    fn what_is_redirected_is_no_argument() {
        assert_eq!(read("a b > c 2>&1 d >>e &> f 2>/dev/null"), ["a|b|d"]);
        assert_eq!(read("a < b; c <<< 'd e'; f <(g h) i"), ["a < b", "c << d e", "(", "g|h", ")", "f|?|i"]);
        let texts = "cat > x <<'E' && sh <<-F | y\n$(no)\nE\n  sh x\n\tF\nz";
        assert_eq!(read(texts), ["cat << $(no)\n", "sh <<   sh x\n", "y", "z"]);
    }

    /// What a standing rule can read, it and the loose reader read alike.
    #[test]
    fn plain_lines_are_read_alike() {
        for line in ["a b; c 'd e' && f 2>&1 | g\nh -x=\"y z\"", "git commit -m 'a; b'", "x ''"] {
            assert!(command::parts(line).is_ok(), "{line}");
            assert_eq!(pieces(line), Reader::new(line).read(), "{line}");
        }
    }

    #[test]
    fn a_long_nest_is_read_to_its_end() {
        let line = format!("{}sh x.sh", "$(".repeat(50_000));
        assert!(read(&line).contains(&"sh|x.sh".to_owned()));
    }
}
