use std::fmt;
use std::sync::Arc;

use bosun_model::CallId;
use serde::{Deserialize, Serialize};

use crate::{BoxFuture, ChangedFile, JournalEntry, LiveEvent, Recorded, Seq};

/// A session, as the journal names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

impl SessionId {
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Self(value.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for SessionId {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

/// The append-only log of one session.
pub trait Journal: Send + Sync {
    /// Appends `entries` as one unit, in order. Durable when it returns; on an error none of them is in the journal.
    fn append(&self, entries: Vec<JournalEntry>) -> BoxFuture<'_, Result<Seq, JournalError>>;
}

/// What a session gives its agent: where to record, whom to tell, and where subagents get theirs.
pub trait Host: Send + Sync {
    fn session(&self) -> &SessionId;

    fn journal(&self) -> &dyn Journal;

    /// News that is not recorded: text as it streams, output of a running command.
    fn emit(&self, event: LiveEvent);

    /// The subagent's host for a call: made on the first request, found again on every later one.
    fn child(&self, start: ChildStart) -> BoxFuture<'_, Result<OpenedChild, JournalError>>;

    /// The files that the session and its subagents changed so far, each once, in the order of its last change.
    fn changed_files(&self) -> BoxFuture<'_, Result<Vec<ChangedFile>, JournalError>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildStart {
    pub call_id: CallId,
    /// The subagent's name.
    pub name: String,
    pub description: String,
}

/// A subagent's host with everything its journal holds so far.
pub struct OpenedChild {
    pub host: Arc<dyn Host>,
    pub entries: Vec<Recorded>,
}

/// The journal could not be read or written. Nothing that was not recorded has happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    #[error("the disk is full, so this could not be saved; free some space, then continue")]
    DiskFull,
    #[error("Bosun's database is locked by another program; close that program, then continue")]
    Locked,
    #[error("Bosun's database could not be written: {reason}; check that the data folder is writable, then continue")]
    Unavailable { reason: String },
    #[error(
        "entry {seq} of the session cannot be read: {reason}; the session was left as it is. Restore the data folder \
         from a backup to read it again"
    )]
    Corrupt { seq: Seq, reason: String },
    #[error("the session is gone")]
    NotFound,
}
