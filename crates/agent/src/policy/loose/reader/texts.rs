//! What stands in a line as one: the texts that its commands read, and sums.

use super::super::{Piece, Word};
use super::{Mode, Reader};

/// Texts within texts that are read.
const DEEPEST: usize = 8;
/// Bytes in which the end of a sum is looked for.
const LONGEST_SUM: usize = 200;

impl<'l> Reader<'l> {
    /// What stands behind `$'`.
    pub(super) fn escaped(&mut self) {
        self.next();
        self.word();
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    self.next();
                    self.word().is_changed = true;
                }
                _ => self.word().text.push(c),
            }
        }
    }

    /// Behind a `(`: takes what stands in `((…))`, where it is a sum and not commands in brackets.
    pub(super) fn sum(&mut self) -> Option<&'l str> {
        let within = self.rest.strip_prefix('(')?;
        let mut depth = 2;
        for (at, c) in within.char_indices().take(LONGEST_SUM) {
            match c {
                '(' => depth += 1,
                ')' if depth == 2 && !within.get(at + 1..)?.starts_with(')') => return None,
                ')' if depth == 2 => {
                    self.rest = within.get(at + 2..)?;
                    return within.get(..at);
                }
                ')' => depth -= 1,
                '\'' | '"' | '\\' | ';' | '\n' => return None,
                _ => {}
            }
        }
        None
    }

    /// Reads what a shell puts into `text`, which stands in a word; gives the text.
    pub(super) fn text(&mut self, text: &str) -> Word {
        if self.depth == DEEPEST {
            self.pieces.push(Piece::Unread);
            return Word { text: String::new(), is_changed: true };
        }
        let mut reader = Reader { depth: self.depth + 1, ..Reader::new(text) };
        reader.now.mode = Mode::Text;
        reader.read_all();
        self.pieces.append(&mut reader.pieces);
        reader.now.word.unwrap_or_default()
    }

    pub(super) fn text_within(&mut self, text: &str) {
        self.text(text);
        self.word().is_changed = true;
    }

    /// The text that `<<` says stands behind this line.
    pub(super) fn text_behind(&mut self) -> Word {
        let is_indented = self.next_if('-');
        while self.rest.starts_with([' ', '\t']) {
            self.next();
        }
        let (mark, is_quoted) = self.mark();
        let mut texts = self.behind_texts.or_else(|| Some(self.rest.split_once('\n')?.1)).unwrap_or_default();
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
        if is_quoted { Word { text, is_changed: false } } else { self.text(&text) }
    }

    /// The word that ends a text, and whether quotes in it keep a shell from changing the text.
    fn mark(&mut self) -> (String, bool) {
        let (mut mark, mut is_quoted) = (String::new(), false);
        while let Some(c) = self.rest.chars().next().filter(|c| !c.is_whitespace() && !";|&<>()".contains(*c)) {
            self.next();
            match c {
                '\'' | '"' => mark.push_str(self.next_until(c)),
                '\\' => mark.extend(self.next()),
                _ => mark.push(c),
            }
            is_quoted |= matches!(c, '\'' | '"' | '\\');
        }
        (mark, is_quoted)
    }
}
