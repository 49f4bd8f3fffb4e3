use std::sync::Arc;

use bosun_backend::{Backend, ChangeWitness, FileStamp, OutputSink, VirtualPath};
use bosun_model::{Abilities, CallId};
use tokio_util::sync::CancellationToken;

use crate::{Background, BoxFuture, Todo, ToolError, ToolOutput};

/// Everything one call may use.
#[derive(Clone)]
pub struct ToolContext {
    pub call_id: CallId,
    pub backend: Arc<dyn Backend>,
    /// What the agent knows so far, updates of earlier calls of this step included.
    pub state: Arc<dyn StateView>,
    /// Makes intents durable before effects.
    pub witness: Arc<dyn ChangeWitness>,
    /// Shows output while the tool runs.
    pub output: Arc<dyn OutputSink>,
    pub cancel: CancellationToken,
    /// A command was let run because a sandbox holds it: without one it does not run.
    pub held: bool,
    /// What the model that reads the result can take.
    pub abilities: Abilities,
    /// Runs subagents, where the agent may have any.
    pub delegate: Option<Arc<dyn Delegate>>,
}

/// The agent's state as tools may see it.
pub trait StateView: Send + Sync {
    /// The file as this agent (or, for a subagent, its parent before it) last read or wrote it.
    fn read_stamp(&self, path: &VirtualPath) -> Option<FileStamp>;

    /// Every file that it knows, in no order.
    fn reads(&self) -> Vec<(VirtualPath, FileStamp)>;

    fn todos(&self) -> Vec<Todo>;
}

/// Runs a subagent to its end and gives back its answer.
pub trait Delegate: Send + Sync {
    fn delegate(&self, request: DelegateRequest) -> BoxFuture<'_, Result<ToolOutput, ToolError>>;

    /// What runs subagents beside the work, where the agent may have such.
    fn background(&self) -> Option<&dyn Background> {
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegateRequest {
    /// The whole task: the subagent sees nothing else of the conversation.
    pub description: String,
    /// Which subagent, by name.
    pub agent: String,
}
