use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{
    AgentNode, Approval, CallId, DecisionRecord, FileChange, Item, ItemId, QueuedMessage, SessionId, SessionSummary,
    Todo, TodoEvidence,
};

/// A session as it is after the event `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Snapshot {
    pub seq: u32,
    pub session: SessionSummary,
    /// The last items, oldest first.
    pub items: Vec<Item>,
    /// How many items stand before `items`; they are fetched in pages.
    pub items_before: u32,
    pub todos: Vec<Todo>,
    /// What was done for each todo for which something was done.
    pub evidence: Vec<TodoEvidence>,
    /// Every pending approval of this session and its subagents, in the order they were asked.
    pub approvals: Vec<Approval>,
    pub queue: Vec<QueuedMessage>,
    /// The tree, parents before children; the first is the session's own agent.
    pub agents: Vec<AgentNode>,
    pub changes: Vec<FileChange>,
}

/// What a reader of a session is told first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Opening {
    pub snapshot: Snapshot,
    /// The event up to which the reader knows the session already. The snapshot's rows are then only those that an event
    /// since has touched, new ones at the end; everything else in it counts as ever.
    pub since: Option<u32>,
}

/// An event with its place in the session's stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Envelope {
    pub seq: u32,
    pub event: SessionEvent,
}

/// Everything a session tells. Closed: a new kind of news is a new variant here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    SessionUpdated {
        session: SessionSummary,
    },
    TurnStarted {
        turn: u32,
        #[specta(type = specta_typescript::Number)]
        at: i64,
    },
    TurnEnded {
        turn: u32,
        outcome: TurnOutcome,
        #[specta(type = specta_typescript::Number)]
        at: i64,
    },
    /// A new row, at the end.
    ItemStarted {
        item: Item,
    },
    /// Provisional growth of a row; `ItemUpdated` or `ItemCompleted` replaces it.
    ItemDelta {
        item: ItemId,
        delta: Delta,
    },
    /// A row changed its state and is not finished.
    ItemUpdated {
        item: Item,
    },
    /// The row as it stays.
    ItemCompleted {
        item: Item,
    },
    /// A row that came to nothing: a call of a reply that was never finished.
    ItemRemoved {
        item: ItemId,
    },
    TodosReplaced {
        todos: Vec<Todo>,
    },
    /// What was done for one todo so far, replacing what was known of it.
    TodoWorked {
        evidence: TodoEvidence,
    },
    ApprovalRequested {
        approval: Approval,
    },
    /// Subagents may share call ids, so the session that asked is named too.
    ApprovalResolved {
        session: SessionId,
        call_id: CallId,
        /// `None` where it lapsed without a decision (the turn was stopped).
        record: Option<DecisionRecord>,
    },
    QueueReplaced {
        queue: Vec<QueuedMessage>,
    },
    AgentUpdated {
        agent: AgentNode,
    },
    /// The session's changes to one file, replacing what was known of that path; counts of zero lines with equal
    /// bytes mean that the file is back as it was.
    FileChanged {
        change: FileChange,
    },
    /// The session was taken back to an earlier place, or forth again: everything is as it is here.
    Reset {
        snapshot: Box<Snapshot>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "delta", rename_all = "snake_case")]
pub enum Delta {
    Text {
        text: String,
    },
    Reasoning {
        text: String,
    },
    /// Output of a running tool.
    Output {
        text: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    Done,
    Failed,
    Stopped,
    StepLimit,
}
