use std::io;
use std::path::{Path, PathBuf};

use bosun_agent::JournalError;

/// The database was not opened. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the data folder {path} cannot be used: {trouble}. Choose another with BOSUN_DATA_DIR")]
    Folder { path: PathBuf, trouble: FolderTrouble },
    #[error(
        "{path} was written by a newer Bosun (format {found}; this version reads up to {known}). Nothing was changed; \
         update Bosun to open it"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is not a database. It was left as it is; move it elsewhere to start with a new one")]
    NotADatabase { path: PathBuf },
    #[error("{path} belongs to another program. It was left as it is; choose another folder with BOSUN_DATA_DIR")]
    OtherApplication { path: PathBuf },
    #[error(
        "{path} is read-only, so nothing could be saved. Make it writable or choose another folder with BOSUN_DATA_DIR"
    )]
    ReadOnly { path: PathBuf },
    #[error("{path} is locked by another program. Close it (it may be a second Bosun) and try again")]
    Locked { path: PathBuf },
    #[error("{path} cannot be opened: {reason}. Check that file, or choose another data folder with BOSUN_DATA_DIR")]
    Unusable { path: PathBuf, reason: String },
}

/// What is wrong with a data folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderTrouble {
    #[error("it does not exist and could not be created")]
    Missing,
    #[error("you have no permission to write there")]
    Forbidden,
    #[error("a file is in its place")]
    FileInPlace,
    #[error("the disk is read-only")]
    ReadOnly,
    #[error("the disk is full")]
    DiskFull,
    /// Anything else, in the system's words.
    #[error("{detail}")]
    System { detail: String },
}

impl OpenError {
    /// A data folder that could not be made or looked into, without the number that the system gives its errors.
    pub(crate) fn folder(path: &Path, error: &io::Error) -> Self {
        let trouble = match error.kind() {
            io::ErrorKind::NotFound => FolderTrouble::Missing,
            io::ErrorKind::PermissionDenied => FolderTrouble::Forbidden,
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => FolderTrouble::FileInPlace,
            io::ErrorKind::ReadOnlyFilesystem => FolderTrouble::ReadOnly,
            io::ErrorKind::StorageFull => FolderTrouble::DiskFull,
            _ => FolderTrouble::System { detail: without_number(&error.to_string()).to_owned() },
        };
        Self::Folder { path: path.to_owned(), trouble }
    }
}

/// "Input/output error (os error 5)" without what is in brackets.
fn without_number(text: &str) -> &str {
    text.split(" (os error ").next().unwrap_or(text)
}

/// An operation on an open database that did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    #[error("the disk is full, so this could not be saved; free some space, then continue")]
    DiskFull,
    #[error("Bosun's database is locked by another program; close that program, then continue")]
    Locked,
    #[error(
        "Bosun's database is damaged: {reason}. Nothing was overwritten; restore it from a backup in the data folder"
    )]
    Damaged { reason: String },
    #[error("{what} is not in Bosun's database; it may have been deleted")]
    NotFound { what: String },
    #[error(
        "entry {seq} of the session cannot be read: {reason}; the session was left as it is. Restore the data folder \
         from a backup to read it again"
    )]
    CorruptEntry { seq: u64, reason: String },
    #[error("Bosun's database could not be used: {reason}; check that the data folder is writable, then restart Bosun")]
    Unavailable { reason: String },
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { reason: error.to_string() },
            _ => Self::Unavailable { reason: error.to_string() },
        }
    }
}

impl From<DatabaseError> for JournalError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::DiskFull => Self::DiskFull,
            DatabaseError::Locked => Self::Locked,
            DatabaseError::CorruptEntry { seq, reason } => Self::Corrupt { seq, reason },
            DatabaseError::NotFound { .. } => Self::NotFound,
            DatabaseError::Unavailable { reason } => Self::Unavailable { reason },
            DatabaseError::Damaged { .. } => Self::Unavailable { reason: error.to_string() },
        }
    }
}
