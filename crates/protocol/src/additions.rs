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
