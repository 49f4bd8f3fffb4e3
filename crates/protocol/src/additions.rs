use std::fmt;

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::Problem;

/// The person's own servers of tools, hooks and folders beside projects, as they wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Additions {
    /// TOML: `[mcp.NAME]` and `[[hooks]]`.
    pub text: String,
    /// Why what is kept is not in force.
    pub problem: Option<Problem>,
}

/// A server of tools in one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerView {
    pub name: String,
    pub health: ServerHealth,
    /// Whether somebody is signed in at it; `None` where it is a program of this machine.
    pub signed_in: Option<bool>,
    /// Tools that are off because what they say of themselves changed.
    pub changed: Vec<ChangedServerTool>,
    /// Tools that no model could use, each with its reason.
    pub left_out: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "health", rename_all = "snake_case")]
pub enum ServerHealth {
    /// Not started yet, or ended with its session.
    Stopped,
    Starting,
    Ready {
        tools: u32,
    },
    NeedsSignIn,
    /// Does not work. The next call tries it again.
    Failed {
        why: Problem,
    },
}

/// What a changed tool says of itself now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChangedServerTool {
    pub tool: String,
    pub description: String,
    /// JSON Schema of its arguments, for reading.
    pub schema: String,
    /// What is accepted: this and nothing newer.
    pub hash: String,
}

/// A sign-in that has begun: the page for the person's browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SignInPage {
    /// What it is finished or given up by.
    pub id: String,
    pub url: String,
    /// Whose page it is, to be shown before it is opened: the server chose it.
    pub host: String,
}

/// What a person set up themselves, each as its form shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct AdditionForms {
    pub servers: Vec<ServerForm>,
    pub hooks: Vec<HookForm>,
    /// Why none of them can be shown or changed: the text they stand in cannot be used.
    pub problem: Option<Problem>,
}

/// A server of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerForm {
    pub name: String,
    pub enabled: bool,
    pub reach: ServerReach,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "reach", rename_all = "snake_case")]
pub enum ServerReach {
    /// A program of this machine, which speaks over its pipes.
    Program {
        command: String,
        args: Vec<String>,
        env: Vec<SecretField>,
    },
    Address {
        url: String,
        headers: Vec<SecretField>,
    },
}

/// A header of every request, or a variable of a program. Its value goes in and never comes out, but for an empty one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SecretField {
    pub name: String,
    /// `None`: as it was.
    pub value: Option<String>,
    /// It stands in the database, because no keyring took it. Only told.
    pub in_database: bool,
}

impl fmt::Debug for SecretField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, in_database, .. } = self;
        f.debug_struct("SecretField").field("name", name).field("in_database", in_database).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct HookForm {
    pub name: String,
    pub enabled: bool,
    pub point: HookPoint,
    /// Only for calls of these tools; none: for every tool.
    pub tools: Vec<String>,
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<SecretField>,
    /// Seconds until it is ended.
    pub timeout: u32,
    /// What happens when it fails. `None`: a call that it would have looked at asks, everything else goes on.
    pub on_failure: Option<HookFailure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum HookFailure {
    GoOn,
    Ask,
    Deny,
}

/// What came of trying a hook with an event that did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct HookTrial {
    /// The JSON that it was told.
    pub event: String,
    /// `None` where a signal ended it, it did not start, or it was ended at its time limit.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Whether either leaves something out.
    pub truncated: bool,
    pub verdict: HookVerdict,
}

/// What Bosun would have done in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum HookVerdict {
    GoesOn,
    /// Given the model something to read.
    Adds {
        text: String,
    },
    Asks {
        reason: Option<String>,
    },
    Denies {
        reason: Option<String>,
    },
    Failed {
        why: Problem,
        then: HookFailure,
    },
}

/// Where in a turn a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    TurnStart,
    BeforeModel,
    AfterModel,
    BeforeTool,
    AfterTool,
    SubagentStart,
    SubagentEnd,
    Compaction,
    TurnEnd,
}

/// One thing that changes among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum AdditionChange {
    /// In the place of the server that was called `was`, or a new one.
    Server {
        was: Option<String>,
        server: ServerForm,
    },
    /// In the place of the hook that was called `was`, or a new one.
    Hook {
        was: Option<String>,
        hook: HookForm,
    },
    Switch {
        addition: AdditionKind,
        name: String,
        on: bool,
    },
    Remove {
        addition: AdditionKind,
        name: String,
    },
    /// What was removed, as it was, by what its removal gave.
    BringBack {
        id: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AdditionKind {
    Server,
    Hook,
}
