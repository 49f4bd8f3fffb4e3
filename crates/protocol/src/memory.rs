use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{FileVersion, ProjectId, SessionId, SnippetPart};

/// Whose a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// The person's, in every project.
    User,
    Project,
}

/// Names a memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
pub struct MemoryRef {
    pub scope: MemoryScope,
    /// Of a project's memory.
    pub project: Option<ProjectId>,
    /// Within its scope, from `/`.
    pub path: String,
}

/// Which memories are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FindMemories {
    /// With the memories of this project, beside the person's.
    pub project: Option<ProjectId>,
    /// Only those with all of these words.
    pub text: Option<String>,
}

/// One memory in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MemoryEntry {
    pub memory: MemoryRef,
    /// As the agent names it.
    pub agent_path: String,
    /// Its first words.
    pub title: String,
    /// Where the words that were looked for stand; empty where none were.
    pub snippet: Vec<SnippetPart>,
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
    /// Whether the model reads it with every request; the others it looks up.
    pub always_read: bool,
    /// The session whose agent wrote it last; `None`: the person.
    pub author: Option<SessionId>,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub created_at: i64,
    #[specta(type = specta_typescript::Number)]
    pub updated_at: i64,
}

/// The memories there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MemoryList {
    /// Best match first where words were looked for, else by path, the person's first.
    pub entries: Vec<MemoryEntry>,
    /// What was deleted lately and can be brought back, the last first.
    pub deleted: Vec<DeletedMemory>,
}

/// A memory that can be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DeletedMemory {
    pub memory: MemoryRef,
    pub title: String,
    /// The version to restore.
    #[specta(type = specta_typescript::Number)]
    pub number: i64,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub deleted_at: i64,
}

/// One memory, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MemoryFile {
    pub entry: MemoryEntry,
    /// `None` where it is no text.
    pub text: Option<String>,
    /// Of its content; what saving is told it began from.
    pub revision: String,
    /// Newest first.
    pub versions: Vec<FileVersion>,
}

/// A memory as a person wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SaveMemory {
    pub memory: MemoryRef,
    pub text: String,
    /// The revision it was edited from; `None` makes a new one. Refused where something else is there meanwhile.
    pub base: Option<String>,
}

/// Which memories go out or come in: the person's, or those of the project that is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MemoryShelf {
    pub scope: MemoryScope,
    pub project: Option<ProjectId>,
}
