use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{Effort, FileVersion, Problem, ProjectId};

/// Where a kind of subagent is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SubagentOrigin {
    /// Comes with Bosun.
    Builtin,
    /// The person's, kept by Bosun.
    User,
    /// The project's, in `.bosun/agents`.
    Project,
}

/// Names a kind of subagent: its file in its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
pub struct SubagentRef {
    pub origin: SubagentOrigin,
    pub project: Option<ProjectId>,
    /// The file's name without its ending.
    pub name: String,
}

/// Why a kind of subagent is not offered to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SubagentHidden {
    /// The person switched it off.
    Off,
    /// The project's, and not trusted as it is now.
    Untrusted,
    /// The project's of the same name is used instead.
    Replaced,
    /// It cannot be read; `problem` says why.
    Broken,
}

/// A kind of subagent as its file declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SubagentEntry {
    pub subagent: SubagentRef,
    pub form: SubagentForm,
    pub hidden: Option<SubagentHidden>,
    /// What is odd about its file, one sentence each.
    pub warnings: Vec<Problem>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
    /// The file as it is written.
    pub text: String,
    /// Of its content; what saving is told it began from.
    pub revision: String,
    /// Newest first; only of the person's own.
    pub versions: Vec<FileVersion>,
}

/// The front matter of a subagent's file, and its prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SubagentForm {
    pub name: String,
    pub description: String,
    pub prompt: String,
    /// `None`: all that the main agent has.
    pub tools: Option<Vec<String>>,
    /// `None`: the main agent's.
    pub model: Option<String>,
    /// How much its model thinks; `None`: as the main agent's.
    pub effort: Option<Effort>,
    /// Folders of skills.
    pub skills: Vec<String>,
    /// Tools that ask although the mode would let them.
    pub interrupt_on: Vec<String>,
    /// What it may do with paths, within what the main agent may. The first that fits a path decides.
    pub permissions: Vec<SubagentPathRule>,
    pub max_steps: Option<u32>,
}

/// What a subagent may do with some paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SubagentPathRule {
    pub mode: PathRuleMode,
    pub operations: Vec<PathRuleOperation>,
    /// Patterns from `/`: `*` stands for a name, `**` for folders.
    pub paths: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PathRuleMode {
    Allow,
    /// A person is asked, whatever else is allowed.
    Interrupt,
    /// As if it were not there.
    Deny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PathRuleOperation {
    /// Listing, reading and searching.
    Read,
    /// Writing, editing and deleting.
    Write,
}

/// The kinds of subagents there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SubagentList {
    pub entries: Vec<SubagentEntry>,
    /// The person's that were deleted lately, the last first.
    pub deleted: Vec<DeletedSubagent>,
}

/// A kind of subagent that can be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DeletedSubagent {
    pub name: String,
    /// The version to restore.
    #[specta(type = specta_typescript::Number)]
    pub number: i64,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub deleted_at: i64,
}

/// One of the person's subagents as they want it: by its form, or by its file's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SaveSubagent {
    /// The file's name without its ending.
    pub name: String,
    pub content: SubagentContent,
    /// The revision it was edited from; `None` makes a new one.
    pub base: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SubagentContent {
    Form { form: SubagentForm },
    Text { text: String },
}
