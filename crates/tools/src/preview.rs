use bosun_backend::BackendError;
use serde::{Deserialize, Serialize};

use crate::diff::CompactHunk;
use crate::preview_fault::{self, PreviewFault};

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
        /// What the model would be told.
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "preview_fault::known")]
        fault: Option<PreviewFault>,
    },
}

impl Preview {
    /// Of a file operation that would fail with `error`.
    pub(crate) fn failing(error: &BackendError) -> Self {
        Self::Problem { message: error.to_string(), fault: PreviewFault::of(error) }
    }
}

/// A unified diff of one file with the changed words marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<DiffHunk>,
    /// One side is not text: there are no hunks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub binary: bool,
    /// Lines or hunks were left out; the counts still cover everything.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub created: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub deleted: bool,
}

/// Kept as `diff::compact` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "CompactHunk", into = "CompactHunk")]
pub struct DiffHunk {
    /// 1-based; the line before (0 at the top) where this side has no lines.
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// The nearest enclosing heading; empty where none was found.
    pub heading: String,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: DiffLineKind,
    pub old: Option<u32>,
    pub new: Option<u32>,
    /// The line in pieces, without its end; none for an empty line.
    pub segments: Vec<DiffSegment>,
    /// The file ends here without a line feed.
    pub no_newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLineKind {
    Context,
    Added,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffSegment {
    pub text: String,
    pub changed: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape serde asks for")]
fn is_false(flag: &bool) -> bool {
    !flag
}
