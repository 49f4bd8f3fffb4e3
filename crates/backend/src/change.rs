use std::sync::Arc;

use crate::{BackendError, BoxFuture, ContentHash, FileData, FileStamp, VirtualPath};

/// What a change may assume about the file it meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The file does not exist.
    Absent,
    /// The file is as it was when this stamp was taken.
    Unchanged(FileStamp),
    /// Whatever is there: restores, internal writes, and what has no content that could be known first.
    Anything,
}

/// Whether what the caller expects is what is there.
pub(crate) fn check(expect: &Expect, found: Option<&FileStamp>, path: &VirtualPath) -> Result<(), BackendError> {
    match (expect, found) {
        (Expect::Anything, _) | (Expect::Absent, None) => Ok(()),
        (Expect::Absent, Some(_)) => Err(BackendError::AlreadyExists { path: path.clone() }),
        (Expect::Unchanged(read), Some(found)) if read.same_content(found) => Ok(()),
        (Expect::Unchanged(_), _) => Err(BackendError::Changed { path: path.clone() }),
    }
}

/// A change that is about to happen: everything needed to settle it after a crash and to undo it later.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    pub path: VirtualPath,
    pub object: ObjectKind,
    /// The bytes before; for a link, its target's text. `None`: there was no file, or it is in `unkept`.
    pub before: Option<Arc<[u8]>>,
    /// The file before, where its bytes were too many to be kept or are lost: undo cannot bring it back and has to say so.
    pub unkept: Option<FileStamp>,
    /// `None`: the file does not exist afterwards.
    pub after: Option<Arc<[u8]>>,
    /// Unix permission bits before, where there are any.
    pub mode: Option<u32>,
}

/// What a change is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    File,
    /// A symbolic link itself, never what it points to. Only a delete meets one.
    Link,
    /// A pipe, socket or device node. Only a delete meets one; it has no bytes to keep.
    Special,
}

/// Makes the intent of a change durable *before* the change happens (architecture.md 5.3).
pub trait ChangeWitness: Send + Sync {
    /// Durable when it returns. An error keeps the change from happening.
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>>;

    /// The same for several changes, all of them durable when it returns. An error keeps every one from happening.
    fn intend_all(&self, changes: Vec<PlannedChange>) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            for change in changes {
                self.intend(change).await?;
            }
            Ok(())
        })
    }
}

/// Records nothing. For callers that keep no journal, such as `bosun tools`.
pub struct Unwitnessed;

impl ChangeWitness for Unwitnessed {
    fn intend(&self, _change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async { Ok(()) })
    }
}

/// A change that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: VirtualPath,
    pub before: Option<ContentHash>,
    /// The file as it is now; `None` after a delete.
    pub after: Option<FileStamp>,
    /// Unix permission bits before and now, where there is a file that has any and they are known.
    pub mode: Option<u32>,
    pub mode_after: Option<u32>,
    /// Number of replacements made by an edit.
    pub occurrences: usize,
    /// The file had other names (hard links), which keep the bytes before: under this name it is one of its own now.
    pub parted: bool,
    /// The file belongs to another user or group than before: the rights here do not let them be kept. `false` also
    /// where that cannot be told.
    pub handed_over: bool,
    /// Bits of the file's mode or extended attributes of it could not be kept. `false` also where nobody can tell whether it
    /// had any.
    pub stripped: bool,
    /// For backends that keep files in the session's state: what the files reducer has to merge.
    pub state: Vec<(VirtualPath, Option<FileData>)>,
}
