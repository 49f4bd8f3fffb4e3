use std::path::PathBuf;

use bosun_backend::FolderWatch;
use bosun_protocol::{FilePreview, FolderView, SessionId};

use super::Sessions;
use crate::SessionError;

/// The files of a session, as its agent sees them.
impl Sessions {
    /// What is in a folder of the session's path space.
    pub async fn folder(&self, session: &SessionId, path: &str) -> Result<FolderView, SessionError> {
        self.actor(session).await?.folder(path).await
    }

    /// A look at a file; of a text the lines from `first` on, 1-based.
    pub async fn file_preview(&self, session: &SessionId, path: &str, first: u32) -> Result<FilePreview, SessionError> {
        self.actor(session).await?.file_preview(path, first).await
    }

    /// Where a file is on this machine, for programs to open it.
    ///
    /// # Errors
    /// Where it is not on disk, or not there.
    pub async fn host_file(&self, session: &SessionId, path: &str) -> Result<PathBuf, SessionError> {
        self.actor(session).await?.host_file(path).await
    }

    /// Notices what changes in folders of the session that are on disk; at most 256 of them.
    pub async fn watch_folders(&self, session: &SessionId, folders: &[String]) -> Result<FolderWatch, SessionError> {
        self.actor(session).await?.watch_folders(folders).await
    }
}
