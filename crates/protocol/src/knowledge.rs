use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ItemId, Problem, SessionId};

/// What a file kept in the database was before it was replaced or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileVersion {
    /// What it is asked for and restored by.
    #[specta(type = specta_typescript::Number)]
    pub number: i64,
    /// Bytes.
    #[specta(type = specta_typescript::Number)]
    pub size: u64,
    /// The session whose agent wrote it; `None`: the person.
    pub author: Option<SessionId>,
    /// Milliseconds since 1970, also `ended_at`, when it was replaced or deleted.
    #[specta(type = specta_typescript::Number)]
    pub written_at: i64,
    #[specta(type = specta_typescript::Number)]
    pub ended_at: i64,
}

/// The call that wrote something, in a session that is still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct WrittenBy {
    pub session: SessionId,
    pub title: String,
    /// The session in which the call stands: a subagent's, or `session` itself.
    pub found_in: SessionId,
    /// The call's row; `None` where it is not known any more.
    pub item: Option<ItemId>,
}

/// What bringing files in did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Imported {
    /// Paths or names of what is there now.
    pub added: Vec<String>,
    /// What was there with other content: it is replaced, and its history has the old one.
    pub replaced: Vec<String>,
    /// What was left out, and why.
    pub left_out: Vec<Problem>,
}
