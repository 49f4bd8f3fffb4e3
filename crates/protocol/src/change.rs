use serde::{Deserialize, Serialize};
use specta::Type;

/// What this session did to one file, from the bytes before its first change to its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileChange {
    pub path: String,
    pub change: ChangeKind,
    pub added: u32,
    pub removed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Changed,
    Deleted,
}
