use bosun_backend::{BackendError, Change, KeptOutput};
use bosun_model::{ContentBlock, MediaKind, ToolStatus};
use serde::{Deserialize, Serialize};

use crate::limits::{OUTPUT_CHARS, head_and_tail, refusal};
use crate::{FileDiff, StateUpdate};

/// What a call gives back: content for the model, an update for the state, figures for the row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub content: Vec<ContentBlock>,
    /// `true` where the result is an error for the model although the tool itself worked.
    #[serde(default)]
    pub is_error: bool,
    #[serde(default)]
    pub update: StateUpdate,
    #[serde(default)]
    pub artifact: Artifact,
    /// It was stopped while it ran, and this is what came until then. Not recorded: the call's outcome says so.
    #[serde(skip)]
    pub stopped: bool,
    /// The whole of an output that `content` shows in part, for whoever keeps large results. Not recorded.
    #[serde(skip)]
    pub full_output: Option<KeptOutput>,
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// `text` within [`OUTPUT_CHARS`]. Of one that is longer the middle is left out, and the whole is kept for whoever puts
    /// it elsewhere.
    pub(crate) fn bounded(text: String) -> Self {
        let (shown, left_out) = head_and_tail(&text, OUTPUT_CHARS);
        let mut output = Self::text(shown);
        if left_out > 0 {
            output.keep(&text);
        }
        output
    }

    /// Keeps the `whole` of what it shows in part. Without room for it that has to do.
    pub(crate) fn keep(&mut self, whole: &str) {
        self.artifact.truncated = true;
        self.full_output = KeptOutput::of(whole.as_bytes()).ok();
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    pub fn status(&self) -> ToolStatus {
        if self.is_error { ToolStatus::Error } else { ToolStatus::Success }
    }
}

/// What a row shows of a result and the model does not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Artifact {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<FileDiff>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What stands in the text for the model alone.
    #[serde(skip_serializing_if = "Framing::is_empty")]
    pub framing: Framing,
    /// Files this call changed, for undo and the list of changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeRecord>,
    /// Files that a command changed and that cannot be undone, because bytes of them are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unkept: Vec<UnkeptRecord>,
    /// How many more such files there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub unkept_more: u32,
    /// Why it is not known what a command did to files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncompared: Option<UncomparedFiles>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What stands before and behind a command's own output, in the words that a model reads. A person sees the same in their
/// own language beside the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Framing {
    pub before: String,
    pub behind: String,
    /// What of `behind` nothing else says, for a person too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

impl Framing {
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.behind.is_empty()
    }

    /// `text` without it, as far as it stands there.
    pub fn without(&self, text: &str) -> String {
        let bare = text.strip_prefix(self.before.as_str()).unwrap_or(text);
        let at = if self.behind.is_empty() { None } else { bare.rfind(self.behind.as_str()) };
        let Some((output, rest)) = at.and_then(|at| bare.split_at_checked(at)) else { return bare.to_owned() };
        // Hooks may have had something to say behind it.
        let rest = rest.get(self.behind.len()..).unwrap_or_default();
        [output, &self.notes, rest].concat()
    }
}

/// A file that a command changed and whose bytes are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnkeptRecord {
    pub path: bosun_backend::VirtualPath,
    /// Bytes; `None` where there was no file.
    pub before: Option<u64>,
    pub after: Option<u64>,
}

/// Why files were not compared before and after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UncomparedFiles {
    TooMany,
    TooSlow,
    Unreadable,
}

/// A change that happened, by content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRecord {
    pub path: bosun_backend::VirtualPath,
    /// Blob of the bytes before; `None` where there was no file.
    pub before: Option<bosun_backend::ContentHash>,
    pub after: Option<bosun_backend::ContentHash>,
    /// Unix permission bits before, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The same afterwards. They may be all that was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_after: Option<u32>,
}

impl From<&Change> for ChangeRecord {
    fn from(change: &Change) -> Self {
        Self {
            path: change.path.clone(),
            before: change.before.clone(),
            after: change.after.as_ref().and_then(|stamp| stamp.hash.clone()),
            mode: change.mode,
            mode_after: change.mode_after,
        }
    }
}

/// One figure of a row; whoever shows it words it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "figure", content = "value", rename_all = "snake_case")]
pub enum Figure {
    Lines(u32),
    Matches(u32),
    Files(u32),
    Entries(u32),
    Added(u32),
    Removed(u32),
    ExitCode(i32),
    Todos {
        done: u32,
        total: u32,
    },
    /// What the model was shown instead of text, in bytes of its file.
    Media {
        kind: MediaKind,
        size: u32,
    },
    TimedOut,
    /// What ended a command.
    Signal(i32),
    /// Nobody saw how a command ended.
    BrokeOff,
    Truncated,
    /// The file was one of several hard links; the others keep what it held.
    LinkBroken,
}

/// How a call can fail. Only `Fatal` ends the turn; nothing a file, a command or a subagent does is fatal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// Goes back to the model as an error result.
    #[error("{0}")]
    Model(String),
    /// The harness itself cannot go on (the journal cannot be written).
    #[error("{0}")]
    Fatal(String),
    #[error("cancelled")]
    Cancelled,
}

impl From<BackendError> for ToolError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Cancelled => Self::Cancelled,
            BackendError::NotRecorded { .. } => Self::Fatal(error.to_string()),
            error => Self::Model(refusal(format!("Error: {error}"))),
        }
    }
}
