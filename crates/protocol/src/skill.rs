use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{FileVersion, Problem, ProjectId};

/// Where a skill comes from, low to high: of two with one name the later one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SkillOrigin {
    /// Comes with Bosun.
    Builtin,
    /// The person's, kept by Bosun.
    User,
    /// The person's, in `~/.agents/skills`.
    Home,
    /// The project's, in `.agents/skills`.
    ProjectAgents,
    /// The project's, in `.bosun/skills`.
    Project,
}

/// Names a skill: its folder in its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
pub struct SkillRef {
    pub origin: SkillOrigin,
    /// Of a project's skill.
    pub project: Option<ProjectId>,
    /// The folder's name.
    pub folder: String,
}

/// Why a skill is not offered to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SkillHidden {
    /// The person switched it off.
    Off,
    /// The project's, and not trusted as it is now.
    Untrusted,
    /// One of the same name from a higher place is used instead.
    Replaced,
    /// It cannot be read; `problem` says why.
    Broken,
}

/// One skill in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SkillEntry {
    pub skill: SkillRef,
    /// From its front matter, or the folder's where that cannot be read.
    pub name: String,
    pub description: String,
    /// Its `SKILL.md`, as the agent names it.
    pub agent_path: String,
    pub hidden: Option<SkillHidden>,
    /// Whether its whole text stands in the prompt from the beginning.
    pub pinned: bool,
    /// What is wrong with it although it can be used, one sentence each.
    pub warnings: Vec<Problem>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
    /// How often an agent read it, and when last (milliseconds since 1970).
    pub uses: u32,
    #[specta(type = Option<specta_typescript::Number>)]
    pub used_at: Option<i64>,
}

/// A skill that can be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DeletedSkill {
    pub folder: String,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub deleted_at: i64,
}

/// The skills there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SkillList {
    /// By origin, low to high, then by folder.
    pub entries: Vec<SkillEntry>,
    /// The person's that were deleted lately, the last first.
    pub deleted: Vec<DeletedSkill>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SkillFileEntry {
    /// Within the skill's folder, without a leading slash.
    pub path: String,
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
}

/// A skill with what it consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SkillDetails {
    pub entry: SkillEntry,
    /// `SKILL.md` first.
    pub files: Vec<SkillFileEntry>,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    pub allowed_tools: Vec<String>,
    /// Whether its files can be changed here.
    pub editable: bool,
}

/// One file of a skill, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SkillFile {
    pub path: String,
    /// `None` where it is no text or is too long to show.
    pub text: Option<String>,
    /// Of its content; what saving is told it began from.
    pub revision: String,
    /// Newest first; only of the person's own skills.
    pub versions: Vec<FileVersion>,
}

/// A file of one of the person's skills as they want it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SaveSkillFile {
    pub folder: String,
    /// Within the folder; `SKILL.md` is checked before it is kept.
    pub path: String,
    pub text: String,
    /// The revision it was edited from; `None` makes a new file.
    pub base: Option<String>,
}
