use serde::{Deserialize, Serialize};
use serde_json::Value;
use specta::Type;

use crate::{CallId, FileDiff, Problem, SessionId, ToolKind};

/// A tool call that waits for a person, with everything that has to be shown before deciding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Approval {
    pub call_id: CallId,
    /// The session whose agent asks: the subagent's own where a subagent asks. Decisions go there.
    pub session: SessionId,
    /// Who asks, outermost first, for example `["main", "research"]`.
    pub agent: Vec<String>,
    pub tool: String,
    pub tool_kind: ToolKind,
    #[specta(type = specta_typescript::Unknown)]
    pub args: Value,
    /// JSON Schema of the arguments, for the edit form.
    #[specta(type = specta_typescript::Unknown)]
    pub schema: Value,
    pub preview: Preview,
    pub reach: Reach,
    pub reason: AskReason,
    pub allowed: Vec<DecisionKind>,
    /// Words given by the configuration for this tool, where there are any.
    pub description: Option<String>,
    /// The scripts that a command runs. When one changes before the command starts, it is asked for again.
    pub scripts: Vec<String>,
    /// It may run more than these, which is not checked.
    pub more_scripts: bool,
    /// Why it is asked for again, beside `reason`, for which it was asked first.
    pub again: Option<AskedAgain>,
    pub todo: Option<String>,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub asked_at: i64,
    /// What exactly is being approved; a decision carries it back and is good for nothing else.
    pub digest: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "preview", rename_all = "snake_case")]
pub enum Preview {
    /// A file change against the bytes on disk now.
    Diff { diff: FileDiff },
    Command {
        command: String,
        /// Where it would run, as a virtual path.
        folder: String,
        timeout_seconds: Option<u32>,
    },
    Delete {
        path: String,
        /// Files that would go, counted up to a limit.
        files: u32,
        counted_all: bool,
        is_dir: bool,
    },
    /// Key and value.
    Fields,
    /// The preview could not be made; the call would fail as things stand.
    Problem {
        /// What the agent would be told.
        message: String,
        /// The same for a person, where Bosun has words of its own for it.
        problem: Option<Problem>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Reach {
    pub place: ReachPlace,
    pub network: bool,
    /// The sandbox in words; `None` where there is none.
    pub sandbox: Option<String>,
    pub undo: Undo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ReachPlace {
    Project,
    Session,
    Memory,
    /// The person's own skills.
    Skill,
    Outside,
    /// Could be anywhere the user may go (a command without a sandbox).
    Anywhere,
    /// On another machine, in whose place the work is done: a file there, or a command with all that it may there.
    Machine,
    /// In a container, in whose place the work is done.
    Container,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    Yes,
    No,
}

/// Why this call asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum AskReason {
    EditsAsk,
    CommandsAsk,
    DeletesAsk,
    /// The file's name is one that later runs code or holds configuration.
    ProtectedName {
        name: String,
    },
    /// A rule the user or a configuration set.
    Rule {
        rule: String,
    },
    /// A hook wants a person to look, or failed; `name` is the protected name of the file, where it has one.
    Hook {
        rule: String,
        name: Option<String>,
    },
}

/// Why a call that was approved is asked for again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "again", rename_all = "snake_case")]
pub enum AskedAgain {
    /// A script that it runs is not as it was then.
    ScriptChanged { path: String },
    /// The person's own command runs a script that they were not shown.
    ScriptNamed { path: String },
    /// It was to run in a sandbox, and would run without one now.
    SandboxOff,
    /// It was to run on another machine or in another place than it would now.
    PlaceChanged,
    /// What was stored of it is not what was shown.
    RecordChanged,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    Approve,
    Edit,
    Respond,
    Reject,
}

/// A person's answer to an [`Approval`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    Approve,
    /// Run with these arguments instead.
    Edit {
        #[specta(type = specta_typescript::Unknown)]
        args: Value,
    },
    /// Do not run; this text is the tool's result.
    Respond {
        text: String,
    },
    Reject {
        reason: Option<String>,
    },
}

/// A decision and what it is for. Several are checked together and stored together, or none is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Decide {
    /// [`Approval::session`].
    pub session: SessionId,
    pub call_id: CallId,
    /// [`Approval::digest`] as it was shown.
    pub digest: String,
    pub decision: Decision,
}

/// What the row keeps of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct DecisionRecord {
    pub decision: Decision,
    pub by: DecisionSource,
    #[specta(type = specta_typescript::Number)]
    pub at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum DecisionSource {
    Person,
    /// A mode of the command line or a rule, named.
    Rule {
        rule: String,
    },
}
