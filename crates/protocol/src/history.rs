use serde::{Deserialize, Serialize};
use serde_json::Value;
use specta::Type;

use crate::{CallId, ChangeKind, DecisionRecord, Item, ItemId, Problem, RowId, SessionId, SessionSummary, ToolState};

/// Which part of what happened in a session is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TimelineQuery {
    pub session: SessionId,
    pub list: TimelineList,
    /// The first one wanted.
    pub from: Option<RowId>,
    /// Without `from`, those right before this one; the last ones without either, or where it is there no more.
    pub before: Option<RowId>,
    /// At most so many.
    pub limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TimelineList {
    /// Places to return to, oldest first.
    Places,
    /// Every call of the session and its subagents, by time: of subagents one may come before some that are known.
    Ledger,
}

/// A part of a list, and what is true of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct TimelinePage {
    /// How many there are in the list before the first of these.
    pub from: u32,
    /// How many the list has.
    pub total: u32,
    pub checkpoints: Vec<Checkpoint>,
    pub ledger: Vec<LedgerEntry>,
    /// Whether the last rewind can be undone.
    pub can_undo_rewind: bool,
    /// How often the session was taken back, or forth again: where this changes, the places are others.
    pub rewinds: u32,
}

/// A place that one can look at, fork from and return to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Checkpoint {
    pub row: RowId,
    /// Its place; what all that looks back is asked with.
    pub seq: u32,
    pub kind: CheckpointKind,
    /// The turn it is in, or begins, from 1.
    pub turn: u32,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub at: i64,
    /// The message that begins the turn, or what the step did.
    pub label: String,
    /// The first calls of the step, in order, with what they were about.
    pub calls: Vec<StepCall>,
    /// How many calls the step had.
    pub calls_count: u32,
    /// The row it stands behind or, where a turn begins, before.
    pub item: Option<ItemId>,
    /// Files that were changed since the checkpoint before.
    pub files: Vec<String>,
    #[specta(type = specta_typescript::Number)]
    pub input_tokens: u64,
    #[specta(type = specta_typescript::Number)]
    pub output_tokens: u64,
    /// US dollars of the step's model call; `None` where its price or its usage is not known.
    pub cost: Option<f64>,
}

/// A call as a timeline names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct StepCall {
    pub tool: String,
    /// The short texts among its arguments that say what it was about, each cut where it is long.
    #[specta(type = specta_typescript::Unknown)]
    pub args: Value,
    pub state: ToolState,
    /// When it began to run; `None` where it did not.
    #[specta(type = Option<specta_typescript::Number>)]
    pub started_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// Right before a person's message.
    TurnStart,
    /// Behind a model call and everything that it asked for.
    Step,
    TurnEnd,
}

/// One call: what was proposed, who decided, what ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct LedgerEntry {
    pub row: RowId,
    /// The session whose agent called.
    pub session: SessionId,
    pub call_id: CallId,
    /// Names of the agents, outermost first.
    pub agent: Vec<String>,
    pub tool: String,
    #[specta(type = specta_typescript::Unknown)]
    pub proposed: Value,
    /// The arguments it ran with, where a person changed them.
    #[specta(type = specta_typescript::Unknown)]
    pub ran: Option<Value>,
    /// `None` where nothing had to be decided.
    pub decision: Option<DecisionRecord>,
    pub state: ToolState,
    /// Files that it changed.
    pub files: Vec<String>,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub proposed_at: i64,
    /// When it began to run; `None` where it did not, or not yet.
    #[specta(type = Option<specta_typescript::Number>)]
    pub started_at: Option<i64>,
    #[specta(type = Option<specta_typescript::Number>)]
    pub ended_at: Option<i64>,
    /// US dollars of the model call that proposed it, which all calls of its step share; `None` where it is not known.
    pub cost: Option<f64>,
}

/// A session that begins before something was said in another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ForkedBefore {
    pub session: SessionSummary,
    /// What was said there, oldest first, to be said again.
    pub said: Vec<Item>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileAt {
    pub path: String,
    pub exists: bool,
    /// `None` where there was no file or it is not text.
    pub text: Option<String>,
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
}

/// What is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum RewindWhat {
    Conversation,
    Files,
    Both,
}

/// What a rewind would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct RewindPreview {
    /// The checkpoint; what its step cost is not looked up.
    pub place: Checkpoint,
    /// Rows of the conversation that would go.
    pub rows: u32,
    /// The first message of the person's among them, cut where it is long; `None` where it has no words, or none would go.
    pub first: Option<String>,
    /// Files that would be put back. One that has a problem stands in the way of all of them.
    pub files: Vec<RestoredFile>,
    /// Files that stay as they are, and stand in nobody's way: commands changed them, and what they were is not kept.
    pub unkept: Vec<String>,
}

/// What putting a file back does, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct RestoredFile {
    pub path: String,
    /// What happens to it: `created` where a deleted file comes back.
    pub change: ChangeKind,
    pub added: u32,
    pub removed: u32,
    /// Why it is left as it is: it was changed since, or its bytes cannot be had.
    pub problem: Option<Problem>,
}
