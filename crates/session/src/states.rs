//! States of a file by content, and what becomes of an earlier one by what was done to the file since.

use bosun_backend::{BlobError, BlobStore, ContentHash};
use bosun_protocol::ErrorCode;
use bosun_tools::imposed;

use crate::SessionError;
use crate::actor::Actor;
use crate::projection::{Between, How};

/// A state of a file.
#[derive(Clone)]
pub(crate) struct FileState {
    /// `None`: there is no file.
    pub hash: Option<ContentHash>,
    /// Of one that was made up here, and is kept nowhere yet.
    pub made: Option<Vec<u8>>,
    /// Others changed a part of what the agent had changed before, so that this is a state without all that the agent did,
    /// and with what they did, only as far as lines go.
    pub is_mixed: bool,
}

impl FileState {
    pub const fn of(hash: Option<ContentHash>) -> Self {
        Self { hash, made: None, is_mixed: false }
    }

    pub fn made(bytes: Vec<u8>) -> Self {
        Self { hash: Some(ContentHash::of(&bytes)), made: Some(bytes), is_mixed: false }
    }

    /// This state with what was done to the file since and is none of the agent's changes.
    pub async fn with(self, between: &[Between], blobs: &BlobStore) -> Self {
        let mut state = self;
        for between in between {
            state = state.changed(between, blobs).await;
        }
        state
    }

    async fn changed(self, between: &Between, blobs: &BlobStore) -> Self {
        let is_mixed = self.is_mixed && between.to.is_some();
        if self.hash == between.from || self.hash == between.to {
            return Self { is_mixed, ..Self::of(between.to.clone()) };
        }
        if self.hash.is_none() && between.from.is_some() {
            // The agent made the file. What a person put back in it is less of that; what others wrote in it is theirs, and
            // goes with the file.
            return Self { is_mixed: is_mixed || between.how == How::Edited, ..self };
        }
        match self.imposed(between, blobs).await {
            Some((bytes, parted)) => {
                let is_parted = parted && between.how == How::Edited;
                Self { is_mixed: is_mixed || is_parted, ..Self::made(bytes) }
            }
            // Nothing that goes by lines: it is what they made of it, and nothing of the agent's is left.
            None => Self { is_mixed, ..Self::of(between.to.clone()) },
        }
    }

    async fn imposed(&self, between: &Between, blobs: &BlobStore) -> Option<(Vec<u8>, bool)> {
        let from = blobs.get(between.from.as_ref()?).await.ok()?;
        let to = blobs.get(between.to.as_ref()?).await.ok()?;
        let now = self.bytes(blobs).await.ok()??;
        let impose = move || imposed(&from, &to, &now);
        tokio::task::spawn_blocking(impose).await.ok()?
    }

    pub async fn bytes(&self, blobs: &BlobStore) -> Result<Option<Vec<u8>>, BlobError> {
        match (&self.made, &self.hash) {
            (Some(bytes), _) => Ok(Some(bytes.clone())),
            (None, Some(hash)) => blobs.get(hash).await.map(Some),
            (None, None) => Ok(None),
        }
    }
}

impl Actor {
    pub(crate) async fn bytes_in(&self, state: &FileState) -> Result<Option<Vec<u8>>, SessionError> {
        if state.made.is_none() && state.hash.is_none() {
            return Ok(None);
        }
        let bytes = state.bytes(self.blobs()?).await;
        bytes.map_err(|error| SessionError::of(ErrorCode::NotFound, &error))
    }

    pub(crate) async fn keep_state(&self, state: FileState) -> Result<Option<ContentHash>, SessionError> {
        match state.made {
            Some(bytes) => self.keep_bytes(bytes).await.map(Some),
            None => Ok(state.hash),
        }
    }

    pub(crate) async fn keep_bytes(&self, bytes: Vec<u8>) -> Result<ContentHash, SessionError> {
        let kept = self.blobs()?.put(bytes.into()).await;
        kept.map_err(|error| SessionError::of(ErrorCode::StorageUnavailable, &error))
    }

    /// See [`FileState::with`].
    pub(crate) async fn state_with(&self, state: FileState, between: &[Between]) -> FileState {
        match self.blobs() {
            Ok(blobs) if !between.is_empty() => state.with(between, blobs).await,
            // Without bytes nothing is undone anyway.
            _ => state,
        }
    }
}
