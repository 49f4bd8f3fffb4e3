use std::sync::Arc;

use bosun_backend::{ContentHash, VirtualPath};
use bosun_model::{AiMessage, Asked, CallId, Effort, HumanMessage, Media, Message, MessageId, ModelError, Usage};
use bosun_tools::{Artifact, ChangeRecord, StateUpdate, ToolKind};
use serde::{Deserialize, Serialize};

use crate::{Ask, DecisionRecord, Halt, NoteAbout, PlannedTodo, SessionId};

/// Place of an entry in its session's journal, from 1.
pub type Seq = u64;

/// One durable fact. The state is the fold of these and of nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Milliseconds since 1970, by the session's clock.
    pub at: i64,
    #[serde(flatten)]
    pub body: EntryBody,
}

/// An entry with its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    pub seq: Seq,
    #[serde(flatten)]
    pub entry: JournalEntry,
}

/// What happened. Variants are only ever added; a field added later has a default (law 7: old journals still load).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum EntryBody {
    /// The first entry of a subagent: what it was given from its parent's state.
    Seeded {
        update: StateUpdate,
    },
    /// A person's (or, for a subagent, the parent's) message, which starts a turn.
    TurnStarted {
        turn: u32,
        message: HumanMessage,
    },
    /// The turn goes on after a failure, a limit, a stop or a restart, without a new message.
    TurnContinued {
        turn: u32,
    },
    /// What of a reply was shown since the last one of its drafts, so that a crash loses at most the last second of it.
    Draft {
        message: MessageId,
        text: String,
        reasoning: String,
        /// Bytes of text and of reasoning that earlier drafts hold; none in those of older versions, which hold all of both.
        #[serde(default, skip_serializing_if = "is_zero")]
        text_from: usize,
        #[serde(default, skip_serializing_if = "is_zero")]
        reasoning_from: usize,
    },
    /// A finished reply. `kinds` belong to its tool calls, in order.
    Ai {
        message: AiMessage,
        kinds: Vec<ToolKind>,
        /// US dollars, by the model's price then; `None` where that or the usage is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The model call failed; nothing of the reply was executed. `partial` is what was shown of the reply `message`.
    ModelFailed {
        error: ModelError,
        partial: String,
        message: Option<MessageId>,
        /// Who was asked; not known of what was recorded before this was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<Asked>,
    },
    /// A call waits for a person.
    Asked {
        ask: Box<Ask>,
    },
    /// A person (or a named rule) answered an ask. Durable before its effect starts.
    Decided {
        call_id: CallId,
        record: DecisionRecord,
    },
    /// The intent of a call whose outcome cannot be told from the disk (commands, network).
    CallStarted {
        call_id: CallId,
    },
    /// The intent of a file change.
    ChangeIntended {
        call_id: CallId,
        intent: ChangeIntent,
    },
    /// A subagent was sent out for this call.
    SubagentStarted {
        call_id: CallId,
        child: SessionId,
        name: String,
        description: String,
        #[serde(default)]
        mode: SubagentMode,
    },
    /// A subagent that had been sent before works again, on something more.
    SubagentAsked {
        child: SessionId,
    },
    /// A subagent that worked beside its parent has ended. The model reads `notice` as it reads a person's message to
    /// a turn under way.
    SubagentEnded {
        child: SessionId,
        end: TurnEnd,
        #[serde(default)]
        update: StateUpdate,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<HumanMessage>,
    },
    /// What came back from a call.
    ToolResult {
        call_id: CallId,
        message: Arc<Message>,
        outcome: ToolOutcome,
        #[serde(default)]
        update: StateUpdate,
        #[serde(default)]
        artifact: Artifact,
        /// When it began to run, in milliseconds since 1970; `None` if it never ran.
        started_at: Option<i64>,
        /// The rule that let it run without asking, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed_by: Option<String>,
    },
    /// A model call beside the conversation, such as one for a summary, by the middleware that made it: what it used,
    /// whatever came of it.
    SideCall {
        by: String,
        usage: Usage,
        /// As for a reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A middleware's change of the state, by its name.
    Updated {
        by: String,
        update: StateUpdate,
    },
    TurnEnded {
        turn: u32,
        end: TurnEnd,
    },
    /// A message that waits for the running turn to end.
    Queued {
        id: String,
        text: String,
        /// What the person gave along with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        media: Vec<Media>,
    },
    Unqueued {
        id: String,
    },
    /// A message that waits has other words now.
    QueueEdited {
        id: String,
        text: String,
    },
    /// A message that waits has another place in the queue, from 0.
    QueueMoved {
        id: String,
        to: u32,
    },
    /// A person's message to a turn under way, read by the model at its next step.
    Steered {
        message: HumanMessage,
    },
    /// A person changed the plan. The model reads `message` at its next step; it begins no turn by itself.
    PlanEdited {
        todos: Vec<PlannedTodo>,
        message: HumanMessage,
    },
    /// Files that the agent had read are no longer as it read them. The model reads `message` with its next step.
    FilesChanged {
        files: Vec<OutsideChange>,
        message: HumanMessage,
    },
    Titled {
        title: String,
    },
    /// The intent of putting files back to bytes that are kept; `after` is what they become.
    RestoreIntended {
        changes: Vec<ChangeRecord>,
        /// Those of the files that nobody may write, and that are opened to their owner for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opened: Vec<VirtualPath>,
    },
    /// What became of the intent: the files that were put back.
    Restored {
        changes: Vec<ChangeRecord>,
    },
    /// The session was taken back to the entry `to`.
    Rewound {
        to: Seq,
        /// Whether the conversation behind it does not count any more.
        conversation: bool,
        /// The files that were put back for it.
        files: Vec<ChangeRecord>,
    },
    /// What the entry `rewind` took back counts again.
    RewindUndone {
        rewind: Seq,
    },
    /// Whether the session stands at the top of lists.
    Pinned {
        pinned: bool,
    },
    /// Whether the session is out of sight in lists.
    Archived {
        archived: bool,
    },
    /// The session is to be removed for good some time after `at`; `None`: it was brought back.
    Discarded {
        at: Option<i64>,
    },
    /// The model of the turns from here on.
    ModelChosen {
        provider: String,
        name: String,
    },
    /// How much the model thinks from here on; `None` leaves it to the settings.
    EffortChosen {
        effort: Option<Effort>,
    },
    /// Something that a person should know and that changes nothing. `detail` is a sentence for them.
    Noted {
        kind: NoteKind,
        detail: String,
        /// What `detail` says, for windows that say it in another language.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::halt::known")]
        about: Option<NoteAbout>,
    },
}

impl EntryBody {
    /// A note in the words of `about`.
    pub fn noted(kind: NoteKind, about: NoteAbout) -> Self {
        Self::Noted { kind, detail: about.to_string(), about: Some(about) }
    }
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Another model answers the rest of the turn.
    ModelFellBack,
    /// The provider gives no summaries of the thinking.
    ThinkingUnseen,
    /// As much was spent as the person asked to be told of.
    BudgetWarning,
    /// A hook of the person's own failed.
    HookFailed,
    /// What looks like a key goes to the model.
    KeySeen,
    /// The file of a skill or of a subagent is not as it should be.
    DefinitionWrong,
    /// Something that was set up, or that the project brings, is not used, or not all of it.
    NotUsed,
    /// A limit of money does not hold for a model.
    PriceUnknown,
    /// A model that the settings name beside the session's cannot be had.
    HelperMissing,
    /// The conversation was to be summed up, and could not be.
    SummaryFailed,
    /// A summary that the person took back had to be made anew.
    SummaryRemade,
}

/// A file that is no longer as the agent read or wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideChange {
    pub path: VirtualPath,
    /// Whether it is not there any more.
    #[serde(default)]
    pub gone: bool,
}

/// How the ids of messages begin that tell of files.
const FILES_ID: &str = "files-";

impl OutsideChange {
    /// The id of a message that tells of files, in a conversation of so many messages.
    pub fn message_id(messages: usize) -> MessageId {
        MessageId::new(format!("{FILES_ID}{messages}"))
    }

    /// Whether a message tells of files.
    pub fn is_told_by(message: &HumanMessage) -> bool {
        message.id.as_str().starts_with(FILES_ID)
    }
}

/// Whether a message tells what happened meanwhile, in the place of a person's but not in a person's words: nothing that
/// stands in it was asked for.
pub fn is_news(message: &HumanMessage) -> bool {
    OutsideChange::is_told_by(message) || crate::background::is_notice(message)
}

/// Whether anyone waits for a subagent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubagentMode {
    /// The call that sent it has its answer as result.
    #[default]
    Awaited,
    /// It works beside its parent, which is told when it has ended.
    Background,
}

/// Enough to settle a file change after a crash and to undo it later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeIntent {
    pub path: VirtualPath,
    /// Blob of the bytes before; `None` where there is no file.
    pub before: Option<ContentHash>,
    /// Hash of the bytes afterwards; `None` for a delete.
    pub after: Option<ContentHash>,
    /// Unix permission bits before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Ran,
    /// It never ran: unknown tool, wrong arguments, a path that is denied.
    Refused,
    /// A person said no, or what they had said before.
    Rejected,
    /// A person answered in the tool's place.
    Answered,
    Cancelled,
    /// It was running when the app ended; it is not run again.
    Unknown,
    /// A limit of the whole tree ended the subagent that it waits for. A turn that is continued takes its result back and
    /// has the subagent go on.
    Paused,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    Done,
    /// The model said nothing and called nothing.
    Empty,
    Stopped,
    StepLimit {
        limit: u32,
    },
    /// The sentence that was shown.
    Failed {
        reason: String,
        /// The limit that ended it, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::halt::known")]
        halt: Option<Halt>,
    },
}

impl TurnEnd {
    /// Whether a limit of the whole tree ended the turn.
    pub fn is_by_limit_of_tree(&self) -> bool {
        matches!(self, Self::Failed { halt: Some(halt), .. } if halt.is_of_tree())
    }

    /// Whether a hook refused the message that the turn began with.
    pub(crate) fn is_refusal_of_message(&self) -> bool {
        matches!(self, Self::Failed { halt: Some(halt), .. } if halt.is_of_message())
    }

    /// Ended by a failure that is no limit.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), halt: None }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_older_version_was_putting_back_was_not_opened_for_it() {
        let recorded = json!({"entry": "restore_intended", "changes": []});
        let read: EntryBody = serde_json::from_value(recorded.clone()).unwrap();
        assert_eq!(read, EntryBody::RestoreIntended { changes: Vec::new(), opened: Vec::new() });
        assert_eq!(serde_json::to_value(read).unwrap(), recorded);
    }
}
