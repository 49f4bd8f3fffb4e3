use std::collections::BTreeMap;

use bosun_backend::{FileData, FileStamp, VirtualPath};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Reducer;

/// What a tool or a middleware changes in the state; merged by the reducers of `agent`, and journaled as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateUpdate {
    /// Replaces the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<Todo>>,
    /// Files kept in the state; `None` deletes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(VirtualPath, Option<FileData>)>,
    /// Files as this agent now knows them; `None` forgets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<(VirtualPath, Option<FileStamp>)>,
    /// Named state fields, each merged by the reducer it was declared with; one that was not declared is replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, Value)>,
    /// The reducers of `fields` that are not replaced: what is journaled can be folded by itself. The loop writes them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reducers: BTreeMap<String, Reducer>,
}

impl StateUpdate {
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

/// One line of the plan, as the model writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    pub content: String,
    pub status: TodoStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}
