use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{FileDiff, Problem};

/// What kind of thing a project brings for the agent to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TrustKind {
    /// `AGENTS.md` and its like.
    Instructions,
    Skill,
    Subagent,
    /// Hooks and servers of tools.
    Config,
}

/// What a person decided about something as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TrustState {
    /// Nobody decided yet.
    New,
    /// It was trusted, and is something else now: it is not used.
    Changed,
    /// It is used.
    Trusted,
    /// "Not now": it is not used, and nobody is asked until it changes.
    SetAside,
    /// It cannot be trusted: it cannot be read, or is too large to be looked at.
    Unusable,
}

/// Something a project brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TrustItem {
    pub kind: TrustKind,
    /// The skill's or subagent's name, or the file's.
    pub name: String,
    pub state: TrustState,
    /// Its files; all of them are trusted, or it is not used.
    pub files: Vec<TrustFile>,
    /// What it would do, in short: commands that hooks and servers start.
    pub effects: Vec<String>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TrustFile {
    /// In the project, as the agent names it.
    pub path: String,
    pub state: TrustState,
    /// Of its content now; what a decision is about.
    pub hash: String,
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
}

/// Everything that a project brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectTrust {
    pub items: Vec<TrustItem>,
    /// How many of them wait for a decision: new, or changed.
    pub undecided: u32,
}

/// The words of a file that a project brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TrustText {
    pub hash: String,
    /// `None` where it is no text.
    pub text: Option<String>,
    /// From what was trusted to what is there now, where that changed.
    pub diff: Option<FileDiff>,
}

/// Decides about contents that a person has seen. Where one is something else by now, nothing is decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DecideTrust {
    pub files: Vec<SeenFile>,
    pub verdict: TrustVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SeenFile {
    pub path: String,
    pub hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TrustVerdict {
    Trust,
    NotNow,
}
