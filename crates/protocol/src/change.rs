use serde::{Deserialize, Serialize};
use specta::Type;

use crate::FileDiff;

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

/// Since when changes are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ChangeScope {
    /// The last model call and what it asked for.
    Step,
    /// The last message of the person.
    Turn,
    Session,
}

/// The changes of a scope, as they stand on disk and with the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChangedFiles {
    /// By path.
    pub files: Vec<ChangedFile>,
    /// Files that commands changed and that cannot be undone, by path.
    pub unkept: Vec<UnkeptFile>,
    /// How many more of those there are.
    pub unkept_more: u32,
    /// Why it is not known what the last command did to files.
    pub uncompared: Option<UncomparedReason>,
    /// What was undone and can be brought back, the last first.
    pub undone: Vec<UndoneFiles>,
}

/// One file of a scope of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChangedFile {
    pub path: String,
    pub change: ChangeKind,
    /// Lines that the person has not kept yet; of a kept file all lines.
    pub added: u32,
    pub removed: u32,
    pub state: ReviewState,
    /// The command that changed it last, where a command did; cut where it is long.
    pub command: Option<String>,
    /// The person, or another program, changed it since.
    pub edited_since: bool,
    /// An earlier change of it cannot be undone.
    pub lost: bool,
}

/// What the person made of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    Pending,
    Kept,
    Undone,
}

/// A file that a command changed and whose bytes are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct UnkeptFile {
    pub path: String,
    /// Bytes; `null` where there was no file.
    #[specta(type = Option<specta_typescript::Number>)]
    pub before: Option<u64>,
    #[specta(type = Option<specta_typescript::Number>)]
    pub after: Option<u64>,
    pub command: Option<String>,
}

/// Why files were not compared before and after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum UncomparedReason {
    TooMany,
    TooSlow,
    Unreadable,
}

/// Files that were put back at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct UndoneFiles {
    /// Names it to `redo_undone`.
    pub seq: u32,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub at: i64,
    pub paths: Vec<String>,
    pub what: PutAside,
}

/// What was put aside where files were put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PutAside {
    /// What the session did.
    Changes,
    /// What the person, or another program, did over it: the session's version is there again.
    OwnEdits,
}

/// One changed file in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct FileReview {
    pub path: String,
    /// Names the two states that `diff` is between; a hunk is undone and kept by it.
    pub version: String,
    /// What the session did in the scope and the person has not kept.
    pub diff: FileDiff,
    /// How many lines the file has as the session left it; none where it is not text.
    pub lines: u32,
    /// What was done to the file since, by the person or another program.
    pub since: Option<FileDiff>,
    pub before: Option<FileSide>,
    pub after: Option<FileSide>,
    pub command: Option<String>,
    /// What became of its rights, where the session changed them.
    pub rights: Option<ChangedRights>,
}

/// A file's rights before and after, as `ls` shows them: `rw-r--r--`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChangedRights {
    pub before: String,
    pub after: String,
}

/// One state of a file that is not text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileSide {
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
    /// Names the bytes.
    pub hash: String,
    /// The media type of an image that can be shown.
    pub image: Option<String>,
}
