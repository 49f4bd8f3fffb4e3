//! Command lines that are more than plain words, read as far as they can be: for finding what they run, never for saying
//! that they are harmless.

mod reader;

use self::reader::Reader;

/// A part of a line, in the order in which a shell comes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Command(Command),
    /// How what stands before it goes on to what stands behind it.
    Join(Join),
    /// A shell of its own begins: a folder that is gone to in it is left with it.
    Open,
    Close,
    /// More of the line than is looked into.
    Unread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// `;` or the end of a line.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `&`
    Beside,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub words: Vec<Word>,
    pub input: Option<Input>,
    /// What its output goes to: files, and the numbers of other outputs.
    pub outputs: Vec<Word>,
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
    Text(Word),
}

/// The parts of a line.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    Reader::new(line).read()
}

#[cfg(test)]
#[path = "loose_tests.rs"]
mod tests;
