use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{CallId, ProjectId, SessionId};

/// How much of what an agent wants to do is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// Reads and plans; everything that would change something is refused.
    PlanOnly,
    /// Asks before changes and commands.
    #[default]
    Ask,
    /// Writes and edits files of the project freely; deleting, protected names and commands ask.
    Edits,
    /// As [`Self::Edits`], and commands that a sandbox holds run too; what is grave about one asks, as does one that
    /// nothing holds.
    Sandbox,
}

/// The mode of a session, and the one that it has as long as none was chosen for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SessionMode {
    pub mode: ApprovalMode,
    pub project: ApprovalMode,
}

/// The mode that sessions of a project begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectMode {
    pub project: ProjectId,
    pub mode: ApprovalMode,
}

/// Where commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CommandPlace {
    /// On this machine, with everything that the person may do.
    #[default]
    Machine,
    /// In a sandbox: the project can be written, nothing else, and there is no network.
    Sandbox,
}

/// The projects whose commands run in a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SandboxedProjects {
    /// Whatever is chosen: the agent's declaration, or whoever started Bosun, wants it of every project.
    pub all: bool,
    /// Those of which a person wants it.
    pub projects: Vec<ProjectId>,
}

/// For how long and where a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    Session,
    Project,
    Always,
}

/// What kind of calls a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Words of a command; `*` at the end stands for further ones.
    Command,
    /// A glob of paths from the top of the project.
    Files,
    /// The name of a tool.
    Tool,
}

/// A standing answer of a person: calls like this need not ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Rule {
    pub id: String,
    pub scope: RuleScope,
    /// Where it holds, for a rule of one session.
    pub session: Option<SessionId>,
    /// Where it holds, for a rule of one session or project.
    pub project: Option<ProjectId>,
    pub kind: RuleKind,
    pub pattern: String,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub created_at: i64,
}

/// A rule to be made from a call that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct RuleDraft {
    /// [`crate::Approval::session`] of the call.
    pub session: SessionId,
    pub call_id: CallId,
    pub scope: RuleScope,
    pub pattern: String,
}

/// What may be offered for a call that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "offer", rename_all = "snake_case")]
pub enum RuleOffer {
    /// Patterns that cover it; the first is the one to begin with.
    Patterns { kind: RuleKind, patterns: Vec<String> },
    /// It is decided one by one, whatever anybody said of others.
    None { guard: RuleGuard },
}

/// What a pattern would have done so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Rehearsal {
    /// Why it cannot be kept as it is.
    pub problem: Option<PatternProblem>,
    /// Past calls that asked, of the session or project, newest first, up to a limit.
    pub asked: u32,
    /// How many of them it would have answered.
    pub answered: u32,
    /// Some that it would have answered, newest first.
    pub passing: Vec<String>,
    /// Some that would still have asked.
    pub asking: Vec<String>,
    /// Made-up calls that it would let pass.
    pub would_pass: Vec<String>,
    /// Made-up calls that would ask.
    pub would_ask: Vec<String>,
}

/// Why no rule lets a call pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "guard", rename_all = "snake_case")]
pub enum RuleGuard {
    Protected { name: String },
    Deletes,
    Hidden,
    Shell,
    Outside,
    Destructive { command: String },
    RunsOther { program: String },
    Option { option: String },
    SeveralCommands,
    TooLong,
    Configured,
    ScriptChanged,
}

/// Why a pattern cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum PatternProblem {
    Empty,
    Everything,
    OneCommand,
    Vague { program: String },
    NotAPath,
    Guarded { guard: RuleGuard },
    NotThis,
}
