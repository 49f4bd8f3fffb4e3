use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ProjectId;

/// A project folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectView {
    pub id: ProjectId,
    pub name: String,
    /// The folder, with the home folder shortened to `~`.
    pub path: String,
    /// The checked-out git branch, where there is one.
    pub branch: Option<String>,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub opened_at: i64,
    /// Why it cannot be worked in now.
    pub problem: Option<ProjectProblem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ProjectProblem {
    Missing,
    NotAFolder,
    Unreadable,
    HomeFolder,
    DataFolder,
    RootFolder,
}
