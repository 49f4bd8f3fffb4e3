//! States of a file by content, and what becomes of an earlier one when others changed the file since.

use bosun_backend::{BlobError, BlobStore, ContentHash};
use bosun_protocol::ErrorCode;
use bosun_tools::carried;

use crate::SessionError;
use crate::actor::Actor;
use crate::projection::Edit;

/// A state of a file.
#[derive(Clone)]
pub(crate) struct FileState {
    /// `None`: there is no file.
    pub hash: Option<ContentHash>,
    /// Of one that was made up here, and is kept nowhere yet.
    pub made: Option<Vec<u8>>,
    /// What others did to the file meets what the agent did, so that this is a state without either.
    pub is_mixed: bool,
}

impl FileState {
    pub const fn left(hash: Option<ContentHash>) -> Self {
        Self { hash, made: None, is_mixed: false }
    }

    pub fn made(bytes: Vec<u8>) -> Self {
        Self { hash: Some(ContentHash::of(&bytes)), made: Some(bytes), is_mixed: false }
    }

    /// This state with the edits of others in it, as it would be had nobody else changed the file. Where that cannot be told
    /// it stays as it is, and says so.
    pub async fn with(self, edits: &[Edit], blobs: &BlobStore) -> Self {
        let mut state = self.clone();
        for edit in edits {
            match state.edited(edit, blobs).await {
                Some(edited) => state = edited,
                None => return Self { is_mixed: true, ..self },
            }
        }
        state
    }

    async fn edited(&self, edit: &Edit, blobs: &BlobStore) -> Option<Self> {
        if self.hash == edit.from {
            return Some(Self::left(edit.to.clone()));
        }
        if self.hash == edit.to {
            return Some(self.clone());
        }
        let (from, to) = (blobs.get(edit.from.as_ref()?).await.ok()?, blobs.get(edit.to.as_ref()?).await.ok()?);
        let now = self.bytes(blobs).await.ok()??;
        let carry = move || carried(&from, &to, &now);
        tokio::task::spawn_blocking(carry).await.ok()?.map(Self::made)
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

    /// A state with the edits of others in it; see [`FileState::with`].
    pub(crate) async fn with_edits(&self, state: FileState, edits: &[Edit]) -> FileState {
        match self.blobs() {
            Ok(blobs) => state.with(edits, blobs).await,
            Err(_) => FileState { is_mixed: state.is_mixed || !edits.is_empty(), ..state },
        }
    }
}
