use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{Effort, ModelRef, Problem};

/// What the user chose. Keys are not settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Settings {
    pub theme: Theme,
    pub language: Language,
    /// The model of new sessions.
    pub model: Option<ModelRef>,
    /// First run was finished or skipped.
    pub welcomed: bool,
    /// The system is not told when a session needs the person or is done.
    #[serde(default)]
    pub muted: bool,
    /// The command that opens a file as text, with `{file}` and `{line}` in the places of these; empty is the system's own
    /// program.
    #[serde(default)]
    pub editor: String,
    /// Keys of commands that the person gave others, by the command's name; an empty text takes them away.
    #[serde(default)]
    pub shortcuts: BTreeMap<String, String>,
    /// What new sessions of a project begin with instead of `model`, by the project's id.
    #[serde(default)]
    pub projects: BTreeMap<String, ProjectModel>,
}

/// A model of new sessions, and how much it thinks in them; `None` is as the settings of models have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectModel {
    pub model: ModelRef,
    pub effort: Option<Effort>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub enum Language {
    #[default]
    #[serde(rename = "system")]
    System,
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh-CN")]
    SimplifiedChinese,
}

/// What the UI needs before its first frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct StartInfo {
    pub version: String,
    pub settings: Settings,
    /// The system's language as a BCP 47 tag, for `Language::System`.
    pub system_language: String,
    /// A sentence for the user where the database could not be opened as usual.
    pub problem: Option<Problem>,
}
