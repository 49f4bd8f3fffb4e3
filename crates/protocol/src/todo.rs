use serde::{Deserialize, Serialize};
use specta::Type;

/// One line of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Todo {
    /// Stable from list to list while the line is recognisably the same.
    pub id: String,
    pub content: String,
    pub status: TodoStatus,
}

/// What was done for a todo, by the session and its subagents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct TodoEvidence {
    /// The todo's id.
    pub todo: String,
    /// Calls that have a result. Of several todos in progress each has the call.
    pub calls: u32,
    /// Those of them that failed or were refused.
    pub failed: u32,
    /// Files that were changed, by path; the first hundred.
    pub files: Vec<String>,
    /// How many files were changed.
    pub file_count: u32,
    #[specta(type = specta_typescript::Number)]
    pub added: u64,
    #[specta(type = specta_typescript::Number)]
    pub removed: u64,
    /// Names of the subagents that worked on it.
    pub agents: Vec<String>,
    /// Milliseconds that calls ran.
    #[specta(type = specta_typescript::Number)]
    pub ran_ms: u64,
    /// Tokens, shared out evenly where several todos were in progress.
    #[specta(type = specta_typescript::Number)]
    pub input_tokens: u64,
    #[specta(type = specta_typescript::Number)]
    pub output_tokens: u64,
    /// US dollars, of the replies whose price is known; `None` where none is.
    pub cost: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}
