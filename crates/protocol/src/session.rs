use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{Attachment, Effort, Mention, ModelRef, NewAttachment, ProjectId, ProjectView, SessionId, UsageSummary};

/// What the session list shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SessionSummary {
    pub id: SessionId,
    pub project: ProjectId,
    /// Set for a subagent's session.
    pub parent: Option<SessionId>,
    pub title: String,
    pub status: SessionStatus,
    pub model: Option<ModelRef>,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub created_at: i64,
    #[specta(type = specta_typescript::Number)]
    pub updated_at: i64,
    /// Pending approvals of this session and all its subagents.
    pub waiting: u32,
    /// Stands at the top of lists.
    pub pinned: bool,
    /// Out of sight in lists; found by searching.
    pub archived: bool,
    /// When it was deleted, in milliseconds since 1970: it can be brought back for 30 days.
    #[specta(type = Option<specta_typescript::Number>)]
    pub deleted_at: Option<i64>,
    /// How much the model thinks; `None` is as the settings have it.
    pub effort: Option<Effort>,
    /// A summary of its conversation is being made because a person asked for it; it can be stopped as a turn can.
    #[serde(default)]
    pub summing_up: bool,
    pub usage: UsageSummary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Nothing was asked yet, or the last turn is done.
    Idle,
    Running,
    /// Nothing goes on before a person decides.
    Waiting,
    /// The last turn ended on an error; it can be tried again.
    Failed,
    Stopped,
    /// The app ended in the middle of a turn; it can be continued.
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SendMessage {
    pub session: SessionId,
    pub text: String,
    /// At most ten.
    #[serde(default)]
    pub attachments: Vec<NewAttachment>,
    /// What the text names; at most twenty.
    #[serde(default)]
    pub mentions: Vec<Mention>,
}

/// A message that waits for the running turn to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct QueuedMessage {
    pub id: String,
    pub text: String,
    pub attachments: Vec<Attachment>,
}

/// The tour, ready to begin: the sample project was copied and a session with the scripted model exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct TourStart {
    pub project: ProjectView,
    pub session: SessionSummary,
    /// The first task, put into the composer for the user to send.
    pub task: String,
}

/// What a session is exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Markdown,
    Json,
    /// One page that loads and runs nothing.
    Html,
}

/// What an export would hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ExportPreview {
    /// Its text, of a page the words; only the beginning where it is long.
    pub text: String,
    /// Whether `text` is only the beginning.
    pub cut: bool,
    /// Bytes of the whole file.
    #[specta(type = specta_typescript::Number)]
    pub bytes: u64,
    /// Texts in which something was replaced that is a key or looks like one.
    pub redacted: u32,
}
