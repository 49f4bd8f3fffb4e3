use serde::{Deserialize, Serialize};

/// What a person is shown before deciding about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "preview", rename_all = "snake_case")]
pub enum Preview {
    /// A file change against the bytes that are there now.
    Diff {
        diff: FileDiff,
    },
    /// `folder` is a virtual path.
    Command {
        command: String,
        folder: String,
        timeout_seconds: Option<u32>,
    },
    Delete {
        path: String,
        files: u32,
        counted_all: bool,
        is_dir: bool,
    },
    /// The arguments say it all.
    Fields,
    /// The call would fail as things stand.
    Problem {
        message: String,
    },
}

/// A unified diff of one file with the changed words marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<DiffHunk>,
    pub binary: bool,
    /// Hunks were left out; the counts still cover everything.
    pub truncated: bool,
    pub created: bool,
    pub deleted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffHunk {
    /// 1-based.
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// The nearest enclosing heading; empty where none was found.
    pub heading: String,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub kind: DiffLineKind,
    pub old: Option<u32>,
    pub new: Option<u32>,
    pub segments: Vec<DiffSegment>,
    /// The file ends here without a line feed.
    pub no_newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    Context,
    Added,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffSegment {
    pub text: String,
    pub changed: bool,
}
