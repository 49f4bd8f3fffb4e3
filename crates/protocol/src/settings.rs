use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ModelRef;

/// What the user chose. Keys are not settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Settings {
    pub theme: Theme,
    pub language: Language,
    /// The model of new sessions.
    pub model: Option<ModelRef>,
    /// First run was finished or skipped.
    pub welcomed: bool,
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
    pub problem: Option<String>,
}
