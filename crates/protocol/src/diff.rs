use serde::{Deserialize, Serialize};
use specta::Type;

/// A unified diff of one file, with the changed words marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileDiff {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<DiffHunk>,
    /// One side is not text: there are no hunks, only sizes.
    pub binary: bool,
    /// The diff was too long to carry whole; `added` and `removed` still count everything.
    pub truncated: bool,
    /// The file does not exist before.
    pub created: bool,
    /// The file does not exist afterwards.
    pub deleted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DiffHunk {
    /// 1-based first line and number of lines on the old side; likewise on the new side.
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// The nearest enclosing heading (a function, a section), empty where none was found.
    pub heading: String,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DiffLine {
    pub kind: DiffLineKind,
    /// 1-based line number on the old side, where the line is there.
    pub old: Option<u32>,
    pub new: Option<u32>,
    pub segments: Vec<DiffSegment>,
    /// The file ends here without a line feed.
    pub no_newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    Context,
    Added,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DiffSegment {
    pub text: String,
    /// Whether this is what changed within the line.
    pub changed: bool,
}
