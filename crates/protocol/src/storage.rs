use serde::{Deserialize, Serialize};
use specta::Type;

/// What is kept on this machine, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Storage {
    pub folder: String,
    /// The largest first.
    pub parts: Vec<StoragePart>,
    pub projects: u32,
    /// Without subagents'.
    pub sessions: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct StoragePart {
    pub kind: StorageKind,
    /// Bytes on the disk.
    #[specta(type = specta_typescript::Number)]
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// Sessions, settings, memories.
    Database,
    /// Bytes of files before they were changed, and large outputs.
    Blobs,
    Backups,
    Logs,
    /// What the window's own engine keeps.
    Page,
    Other,
}
