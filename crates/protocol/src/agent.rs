use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{CallId, ModelRef, SessionId, UsageSummary};

/// One agent of the tree: the session's own, or a subagent at any depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct AgentNode {
    /// The agent's own session.
    pub session: SessionId,
    pub parent: Option<SessionId>,
    /// The parent's call that started it.
    pub call_id: Option<CallId>,
    pub name: String,
    /// What it was sent to do.
    pub description: String,
    /// It works beside its parent, which does not wait for it.
    #[serde(default)]
    pub beside: bool,
    pub status: AgentStatus,
    /// The call it is at, as `tool object`.
    pub current: Option<String>,
    pub usage: UsageSummary,
    /// Whom it asks, or would where it has asked nobody yet.
    pub model: Option<ModelRef>,
    #[specta(type = specta_typescript::Number)]
    pub started_at: i64,
    #[specta(type = Option<specta_typescript::Number>)]
    pub ended_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// Sent, and not begun: as many work as may at once.
    Queued,
    Running,
    Waiting,
    Done,
    Failed,
    Cancelled,
}
