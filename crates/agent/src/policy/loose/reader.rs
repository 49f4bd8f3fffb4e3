//! How a line is taken apart.

mod texts;

use super::{Command, Input, Join, Piece, Word};

#[derive(Clone, Copy)]
enum Redirect {
    From,
    /// `<<<`
    FromText,
    To,
}

/// What the characters of a line mean where it is read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Words,
    /// Behind `${`.
    Braces,
    /// Behind `${` in double quotes or in a text, where `'` quotes nothing.
    QuotedBraces,
    /// A text, in which only what a shell puts in its place means something.
    Text,
}

/// The command that is being read.
#[derive(Default)]
struct Current {
    words: Vec<Word>,
    word: Option<Word>,
    input: Option<Input>,
    outputs: Vec<Word>,
    /// Where the next word belongs, instead of to the others.
    redirect: Option<Redirect>,
    mode: Mode,
    in_double_quotes: bool,
}

enum Opened {
    Subshell,
    /// Its output becomes part of a word of the command that it stands in.
    Substitution {
        by: char,
        outer: Current,
    },
    /// Words that are no command: the values of an array, what stands within `${}`.
    Words {
        outer: Current,
    },
}

pub(super) struct Reader<'l> {
    rest: &'l str,
    /// What follows the texts that stand behind this line for its commands to read.
    behind_texts: Option<&'l str>,
    now: Current,
    opened: Vec<Opened>,
    pieces: Vec<Piece>,
    /// Something stands behind the last join.
    is_begun: bool,
    depth: usize,
}

impl<'l> Reader<'l> {
    pub fn new(line: &'l str) -> Self {
        Self {
            rest: line,
            behind_texts: None,
            now: Current::default(),
            opened: Vec::new(),
            pieces: Vec::new(),
            is_begun: false,
            depth: 0,
        }
    }

    pub fn read(mut self) -> Vec<Piece> {
        self.read_all();
        self.end_command();
        self.pieces
    }

    fn read_all(&mut self) {
        while let Some(c) = self.next() {
            match self.now.mode {
                _ if self.now.in_double_quotes => self.in_double_quotes(c),
                Mode::Words => self.unquoted(c),
                Mode::Braces | Mode::QuotedBraces => self.in_braces(c),
                Mode::Text => self.in_text(c),
            }
        }
        while !self.opened.is_empty() {
            self.close_innermost();
        }
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
            '\\' => self.escape("\"\\$`"),
            '$' | '`' => self.substitution(c),
            _ => self.word().text.push(c),
        }
    }

    fn in_text(&mut self, c: char) {
        match c {
            '\\' => self.escape("\\$`"),
            '$' | '`' => self.substitution(c),
            _ => self.word().text.push(c),
        }
    }

    fn in_braces(&mut self, c: char) {
        match c {
            '}' => self.close_innermost(),
            '\'' if self.now.mode == Mode::Braces => drop(self.next_until('\'')),
            '"' => self.now.in_double_quotes = true,
            '\\' => drop(self.next()),
            '$' | '`' => self.substitution(c),
            _ => {}
        }
    }

    /// What stands behind `\` where it takes the meaning only from `some`.
    fn escape(&mut self, some: &str) {
        match self.next() {
            Some('\n') | None => {}
            Some(c) if some.contains(c) => self.word().text.push(c),
            Some(c) => self.word().text.extend(['\\', c]),
        }
    }

    fn unquoted(&mut self, c: char) {
        self.is_begun |= !" \t\r\n;|&".contains(c);
        match c {
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                // A line may end behind `&&`.
                if self.is_begun {
                    self.join(Join::Then);
                }
                self.rest = self.behind_texts.take().unwrap_or(self.rest);
            }
            '&' if self.rest.starts_with('>') => {}
            ';' | '|' | '&' => {
                let join = match c {
                    ';' => Join::Then,
                    '|' if self.next_if('|') => Join::Or,
                    '|' => {
                        self.next_if('&');
                        Join::Pipe
                    }
                    _ if self.next_if('&') => Join::And,
                    _ => Join::Beside,
                };
                self.join(join);
            }
            '(' => self.bracket(),
            ')' => self.close_bracket(),
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
            // The programs `[` and `[[`.
            '[' if self.now.word.is_none() && self.rest.trim_start_matches('[').starts_with([' ', '\t']) => {
                self.word().text.push(c);
                while self.next_if('[') {
                    self.word().text.push('[');
                }
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
        let is_quoted = self.now.in_double_quotes || matches!(self.now.mode, Mode::QuotedBraces | Mode::Text);
        if by == '`' {
            return match self.opened.last() {
                Some(Opened::Substitution { by: '`', .. }) => self.close_innermost(),
                _ => self.open(by),
            };
        }
        match self.rest.chars().next() {
            Some('(') => {
                self.next();
                match self.sum() {
                    Some(sum) => self.text_within(sum),
                    None => self.open('('),
                }
            }
            Some('{') => {
                self.next();
                self.word().is_changed = true;
                let mode = if is_quoted { Mode::QuotedBraces } else { Mode::Braces };
                self.open_words(mode);
            }
            Some('\'') if !is_quoted => self.escaped(),
            // Words that are translated are as a rule the words themselves.
            Some('"') if !is_quoted => {}
            Some(c) if c.is_alphanumeric() || "_@*#?$!-[".contains(c) => self.word().is_changed = true,
            _ => self.word().text.push('$'),
        }
    }

    fn bracket(&mut self) {
        let is_array = self.now.word.as_ref().is_some_and(|word| word.text.ends_with('='));
        if is_array {
            return self.open_words(Mode::Words);
        }
        if self.now.word.is_none()
            && let Some(sum) = self.sum()
        {
            self.text(sum);
            return;
        }
        self.end_command();
        self.pieces.push(Piece::Open);
        self.opened.push(Opened::Subshell);
    }

    fn close_bracket(&mut self) {
        self.end_word();
        // What a `case` compares with is no command.
        if self.opened.is_empty() && self.now.words.first().is_some_and(|word| word.is_changed) {
            self.now = Current::default();
        }
        self.close_innermost();
    }

    fn close_innermost(&mut self) {
        self.end_command();
        if let Some(opened) = self.opened.pop() {
            self.close(opened);
        }
    }

    fn open(&mut self, by: char) {
        self.word().is_changed = true;
        let outer = std::mem::take(&mut self.now);
        self.opened.push(Opened::Substitution { by, outer });
        self.pieces.push(Piece::Open);
    }

    fn open_words(&mut self, mode: Mode) {
        let outer = std::mem::replace(&mut self.now, Current { mode, ..Current::default() });
        self.opened.push(Opened::Words { outer });
    }

    fn close(&mut self, opened: Opened) {
        match opened {
            Opened::Subshell => self.pieces.push(Piece::Close),
            Opened::Substitution { outer, .. } => {
                self.pieces.push(Piece::Close);
                self.now = outer;
            }
            Opened::Words { outer } => self.now = outer,
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

    fn end_word(&mut self) {
        let Some(word) = self.now.word.take() else { return };
        match self.now.redirect.take() {
            None => self.now.words.push(word),
            Some(Redirect::To) => self.now.outputs.push(word),
            Some(Redirect::From) => self.now.input = Some(Input::File(word)),
            Some(Redirect::FromText) => self.now.input = Some(Input::Text(word)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let Current { words, input, outputs, .. } = std::mem::take(&mut self.now);
        let are_values = matches!(self.opened.last(), Some(Opened::Words { .. }));
        if !words.is_empty() && !are_values {
            self.pieces.push(Piece::Command(Command { words, input, outputs }));
        }
    }

    fn join(&mut self, join: Join) {
        self.end_command();
        self.pieces.push(Piece::Join(join));
        self.is_begun = false;
    }
}
