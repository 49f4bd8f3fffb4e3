use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BoxFuture, DelegateRequest, ToolError};

/// Runs subagents that go on while the agent that sent them does something else. What is wrong with a request is an
/// error for the model.
pub trait Background: Send + Sync {
    /// Returns as soon as it is durable that the subagent was sent.
    fn start(&self, request: DelegateRequest) -> BoxFuture<'_, Result<BackgroundTask, ToolError>>;

    fn check<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BackgroundTask, ToolError>>;

    /// Asks a subagent something more, whether it works or has answered.
    fn update<'a>(
        &'a self,
        id: &'a str,
        message: String,
        how: FollowUp,
    ) -> BoxFuture<'a, Result<BackgroundTask, ToolError>>;

    /// Returns once it has ended.
    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BackgroundTask, ToolError>>;

    /// Every subagent that this agent sent out, in the order in which it did.
    fn list(&self) -> BoxFuture<'_, Result<Vec<BackgroundTask>, ToolError>>;
}

/// A subagent that was sent out, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundTask {
    pub id: String,
    pub agent: String,
    pub description: String,
    pub status: TaskStatus,
    /// What it said last, where it has ended.
    pub answer: Option<String>,
    /// Why it did not end well.
    pub problem: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// When it last began or ended something.
    pub updated_at: i64,
}

/// How a subagent that was sent out stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It waits for others to end.
    Pending,
    Running,
    /// It waits for a person's decision.
    Waiting,
    Success,
    Error,
    Cancelled,
}

impl TaskStatus {
    pub fn is_over(self) -> bool {
        matches!(self, Self::Success | Self::Error | Self::Cancelled)
    }
}

/// What a message does to the work that a subagent is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FollowUp {
    /// It stops what it does and turns to the message.
    #[default]
    Interrupt,
    /// It turns to the message when it is done.
    Enqueue,
}
