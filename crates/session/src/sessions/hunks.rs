use bosun_protocol::{ChangeScope, ChangedFiles, FileReview, Problem, RestoredFile, SessionId};

use super::Sessions;
use crate::SessionError;

/// Looking through what a session changed.
impl Sessions {
    /// The files that the session changed in `scope`, with what the person made of them.
    pub async fn changed_files(&self, session: &SessionId, scope: ChangeScope) -> Result<ChangedFiles, SessionError> {
        self.actor(session).await?.changed_files(scope).await
    }

    /// What happened to one file: by the session, and since.
    pub async fn file_review(
        &self,
        session: &SessionId,
        path: &str,
        scope: ChangeScope,
    ) -> Result<FileReview, SessionError> {
        self.actor(session).await?.file_review(path, scope).await
    }

    /// Undoes one hunk of the diff of [`Self::file_review`], from 0; the person's own edits stay.
    ///
    /// # Errors
    /// Where they meet the hunk, the file became another meanwhile, or a turn runs: nothing was changed then.
    pub async fn undo_hunk(
        &self,
        session: &SessionId,
        path: &str,
        scope: ChangeScope,
        version: &str,
        hunk: u32,
    ) -> Result<RestoredFile, SessionError> {
        self.actor(session).await?.undo_hunk(path, scope, version, hunk).await
    }

    /// Keeps one hunk of the whole session's diff: it is no longer open.
    pub async fn keep_hunk(
        &self,
        session: &SessionId,
        path: &str,
        version: &str,
        hunk: u32,
    ) -> Result<(), SessionError> {
        self.actor(session).await?.keep_hunk(path, version, hunk).await
    }

    /// Keeps what `scope` shows of a file; `None`: of every file. What is open from before the scope stays open: where the
    /// two stand in the same places nothing of that file is kept, and the reason given.
    pub async fn keep_changes(
        &self,
        session: &SessionId,
        path: Option<&str>,
        scope: ChangeScope,
    ) -> Result<Vec<Problem>, SessionError> {
        self.actor(session).await?.keep_changes(path, scope).await
    }

    /// Opens what `scope` shows of a kept file again.
    pub async fn reopen_change(&self, session: &SessionId, path: &str, scope: ChangeScope) -> Result<(), SessionError> {
        self.actor(session).await?.open_again(path, scope).await
    }

    /// Brings back what was undone, by its place.
    pub async fn redo_undone(&self, session: &SessionId, seq: u32) -> Result<Vec<RestoredFile>, SessionError> {
        self.actor(session).await?.redo_undone(seq).await
    }

    /// One side of a changed image, by its hash, as an address that holds its bytes.
    pub async fn changed_image(&self, session: &SessionId, path: &str, hash: &str) -> Result<String, SessionError> {
        self.actor(session).await?.image_of(path, hash).await
    }
}
