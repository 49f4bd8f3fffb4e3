use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use specta::Type;

use crate::{Attachment, CallId, DecisionRecord, FileDiff, ItemId, ModelRef, Problem, SessionId};

/// One row of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Item {
    pub id: ItemId,
    /// The turn it belongs to, from 1.
    pub turn: u32,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub at: i64,
    pub body: ItemBody,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "most rows of a session are tool rows; a box would cost one allocation each"
)]
pub enum ItemBody {
    Human {
        text: Arc<String>,
        attachments: Vec<Attachment>,
    },
    Ai {
        // Shared with the message that it is of, and with all that tell of it: a reply may be long.
        text: Arc<String>,
        reasoning: String,
        /// More text may come.
        streaming: bool,
    },
    Tool(ToolItem),
    Notice(Notice),
}

/// One tool call from proposal to result. A subagent is the tool item that started it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ToolItem {
    pub call_id: CallId,
    pub name: String,
    pub tool_kind: ToolKind,
    /// The arguments as the model proposed them; while they stream, what could be read so far.
    #[specta(type = specta_typescript::Unknown)]
    pub args: Value,
    pub state: ToolState,
    /// Milliseconds since 1970; `None` until it ran.
    #[specta(type = Option<specta_typescript::Number>)]
    pub started_at: Option<i64>,
    #[specta(type = Option<specta_typescript::Number>)]
    pub ended_at: Option<i64>,
    pub figures: Vec<Figure>,
    /// The result's text (or, while it runs, its output so far), head and tail where it is long.
    pub output: String,
    pub output_truncated: bool,
    /// What an edit did (or, before it ran, would do).
    pub diff: Option<FileDiff>,
    pub decision: Option<DecisionRecord>,
    /// The subagent's own session, for delegations.
    pub child: Option<SessionId>,
    /// Ids of the todos in progress when it was proposed.
    pub todos: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Execute,
    Delegate,
    Plan,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// The model is still writing the arguments, or the call has not begun.
    Proposed,
    /// A person has to decide.
    Waiting,
    Running,
    Done,
    Failed,
    Rejected,
    /// A person answered in the tool's place.
    Answered,
    Cancelled,
    /// It was running when the app ended; what it did is not known and it is not run again.
    Unknown,
}

/// One figure of a tool row; the UI words it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
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

/// What is shown to a model that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    Image,
    Document,
    Audio,
    Video,
}

/// Something that happened to the turn and is not a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Notice {
    pub code: NoticeCode,
    /// The provider's or the system's own words, redacted, or the English sentence of `problem`; empty where the code
    /// says it all.
    pub detail: String,
    /// What `detail` is where it is Bosun that says it.
    pub problem: Option<Problem>,
    /// Whose failure it is, where that is another model than the session's.
    #[serde(default)]
    pub model: Option<ModelRef>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum NoticeCode {
    /// The model call failed; `detail` is the provider's sentence.
    ModelFailed,
    /// The provider refused the key, or wants one; `detail` is its sentence.
    KeyRefused,
    /// The reply was cut; nothing was executed from it.
    StreamCut,
    Stopped,
    StepLimit,
    /// The app ended while the turn ran; it can be continued.
    Interrupted,
    /// The turn ended on an error inside Bosun.
    Failed,
    /// The turn was halted because the journal cannot be written.
    NotRecorded,
    /// A limit of the person's or of Bosun's own ended the turn; it can be continued.
    LimitReached,
    /// The person's budget is used up; once it is raised, the turn can be continued.
    BudgetSpent,
    /// A hook of the person's own ended the turn.
    HookRefused,
    EmptyReply,
    /// The last reply was cut at the model's output limit; what it said stays.
    OutputLimit,
    /// The model, or its provider, declined; `detail` is the provider's sentence about it, where it has one.
    ModelRefused,
    /// The provider ended the last reply for another reason; `detail` is its word for it.
    ReplyEnded,
    /// A model call failed and is made again soon; the row goes away when it is. `detail` says when, and what failed.
    AsksAgain,
    /// A model call waits until another has ended, since together they may use up a budget; the row goes away when it is
    /// made, or when the turn ends.
    BudgetWaits,
    /// Another model answers the rest of the turn; `detail` names both.
    ModelFellBack,
    /// The provider gives no summaries of the thinking; `detail` names the model and the provider's reason.
    ThinkingUnseen,
    /// As much was spent as the person asked to be told of.
    BudgetWarning,
    /// A hook of the person's own failed; `detail` says which.
    HookFailed,
    /// What looks like a key goes to the model; `detail` says where it stands.
    KeySeen,
    /// The file of a skill or of a subagent is not as it should be; `detail` says which and why.
    DefinitionWrong,
    /// Something that was set up, or that the project brings, is not used, or not all of it; `detail` says what and why.
    NotUsed,
    /// A limit of money does not hold for a model; `detail` names both.
    PriceUnknown,
    /// A model that the settings name beside the session's cannot be had; `detail` says which and why.
    HelperMissing,
    /// The conversation was to be summed up, and could not be; `detail` says why and what helps.
    SummaryFailed,
    /// A summary that the person took back had to be made anew; `detail` says why and what helps.
    SummaryRemade,
    /// Files are no longer as the agent had read them, and it was told; `detail` names some of them and counts the rest.
    FilesChanged,
    /// The beginning of the conversation is sent in short from here on; `detail` is its estimated tokens before and after.
    Summarized,
}
