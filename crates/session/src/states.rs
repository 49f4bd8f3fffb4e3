//! States of a file by content, and what becomes of an earlier one by what was done to the file since.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;

use bosun_backend::{BlobError, BlobStore, ContentHash};
use bosun_protocol::ErrorCode;
use bosun_tools::imposed;

use crate::SessionError;
use crate::actor::Actor;
use crate::projection::{Between, Form, How, changed_rights};
use crate::stream::locked;

/// States that are remembered at most, and bytes of those that were made up.
const REMEMBERED: usize = 256;
const REMEMBERED_BYTES: usize = 8 << 20;

/// A state of a file.
#[derive(Clone, Default)]
pub(crate) struct FileState {
    /// `None`: there is no file.
    pub hash: Option<ContentHash>,
    /// Unix permission bits, where they are known.
    pub mode: Option<u32>,
    /// Of one that was made up here, and is kept nowhere yet.
    pub made: Option<Vec<u8>>,
    /// Others changed a part of what the agent had changed before, so that this is a state without all that the agent did,
    /// and with what they did, only as far as lines go.
    pub is_mixed: bool,
}

impl FileState {
    pub fn of(form: Form) -> Self {
        Self { hash: form.hash, mode: form.mode, made: None, is_mixed: false }
    }

    pub fn made(bytes: Vec<u8>, mode: Option<u32>) -> Self {
        Self { hash: Some(ContentHash::of(&bytes)), mode, made: Some(bytes), is_mixed: false }
    }

    pub fn form(&self) -> Form {
        Form::of(self.hash.clone(), self.mode)
    }

    /// See [`Form::is`].
    pub fn is(&self, form: &Form) -> bool {
        self.form().is(form)
    }

    /// This state with one thing that others did. `Err` is the same where bytes could not be read: not for good.
    async fn changed(self, between: &Between, blobs: &BlobStore) -> Result<Self, Self> {
        let Between { from, to, how } = between;
        let is_mixed = self.is_mixed && to.hash.is_some();
        let mode = self.rights_with(from, to);
        if from.hash == to.hash {
            return Ok(Self { mode, ..self });
        }
        if self.hash == from.hash || self.hash == to.hash {
            return Ok(Self { is_mixed, mode, ..Self::of(to.clone()) });
        }
        if self.hash.is_none() && from.hash.is_some() {
            // The agent made the file. What a person put back in it is less of that; what others wrote in it is theirs, and
            // goes with the file.
            return Ok(Self { is_mixed: is_mixed || *how == How::Edited, ..self });
        }
        // Nothing that goes by lines: it is what they made of it, and nothing of the agent's is left.
        let theirs = Self { is_mixed, mode, ..Self::of(to.clone()) };
        match self.imposed(between, blobs).await {
            Ok(Some((bytes, parted))) => {
                let is_parted = parted && *how == How::Edited;
                Ok(Self { is_mixed: is_mixed || is_parted, ..Self::made(bytes, mode) })
            }
            Ok(None) => Ok(theirs),
            Err(Unread) => Err(theirs),
        }
    }

    /// The rights with what others made of them.
    fn rights_with(&self, from: &Form, to: &Form) -> Option<u32> {
        match (self.mode, from.mode, to.mode) {
            (Some(mode), Some(from), Some(to)) => Some(changed_rights(mode, from, to)),
            // Whoever made the file gave it its rights.
            (mode, None, to) if from.hash.is_none() => to.or(mode),
            (mode, _, _) => mode,
        }
    }

    async fn imposed(&self, between: &Between, blobs: &BlobStore) -> Result<Option<(Vec<u8>, bool)>, Unread> {
        let (Some(from), Some(to)) = (&between.from.hash, &between.to.hash) else { return Ok(None) };
        let from = blobs.get(from).await.map_err(|_| Unread)?;
        let to = blobs.get(to).await.map_err(|_| Unread)?;
        let Some(now) = self.bytes(blobs).await.map_err(|_| Unread)? else { return Ok(None) };
        tokio::task::spawn_blocking(move || imposed(&from, &to, &now)).await.map_err(|_| Unread)
    }

    pub async fn bytes(&self, blobs: &BlobStore) -> Result<Option<Vec<u8>>, BlobError> {
        match (&self.made, &self.hash) {
            (Some(bytes), _) => Ok(Some(bytes.clone())),
            (None, Some(hash)) => blobs.get(hash).await.map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Bytes could not be read, this time.
struct Unread;

/// States that were made of others by what was done in between. A chain grows at its end, and is made from where it was
/// made before.
#[derive(Default)]
pub(crate) struct Folds {
    /// By what they were made of, the oldest first.
    known: Mutex<VecDeque<(ContentHash, FileState)>>,
    /// How many steps were made.
    #[cfg(test)]
    pub made: std::sync::atomic::AtomicUsize,
}

impl Folds {
    /// `state` with what was done to the file since and is none of the agent's changes.
    pub async fn with(&self, state: FileState, between: &[Between], blobs: &BlobStore) -> FileState {
        let names = names(&state, between);
        let (begun, mut state) = self.longest(&names).unwrap_or((0, state));
        let mut is_sure = true;
        for between in between.iter().skip(begun) {
            #[cfg(test)]
            self.made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            state = match state.changed(between, blobs).await {
                Ok(state) => state,
                Err(state) => {
                    is_sure = false;
                    state
                }
            };
        }
        if let Some(name) = names.last().filter(|_| is_sure && begun < between.len()) {
            let grown = begun.checked_sub(1).and_then(|at| names.get(at));
            self.remember(name.clone(), state.clone(), grown);
        }
        state
    }

    /// How much of a chain was made before, and what came of it.
    fn longest(&self, names: &[ContentHash]) -> Option<(usize, FileState)> {
        let known = locked(&self.known);
        let find = |name: &ContentHash| known.iter().rev().find(|(of, _)| of == name).map(|(_, state)| state.clone());
        names.iter().enumerate().rev().find_map(|(at, name)| Some((at + 1, find(name)?)))
    }

    /// Remembers the end of a chain, and forgets that from which it has `grown`.
    fn remember(&self, name: ContentHash, state: FileState, grown: Option<&ContentHash>) {
        let bytes = |(_, state): &(ContentHash, FileState)| state.made.as_ref().map_or(0, Vec::len);
        let mut known = locked(&self.known);
        known.retain(|(of, _)| Some(of) != grown);
        known.push_back((name, state));
        let mut held: usize = known.iter().map(bytes).sum();
        while known.len() > REMEMBERED || (held > REMEMBERED_BYTES && known.len() > 1) {
            held -= known.pop_front().as_ref().map_or(0, bytes);
        }
    }
}

/// What the states of a chain are known by, each by all that it is made of.
fn names(state: &FileState, between: &[Between]) -> Vec<ContentHash> {
    fn tell(words: &mut String, form: &Form) {
        let hash = form.hash.as_ref().map_or("none", ContentHash::as_str);
        // Writing to a text does not fail.
        write!(words, "{hash} {:?} ", form.mode).ok();
    }
    let mut words = format!("{} ", state.is_mixed);
    tell(&mut words, &state.form());
    let names = between.iter().map(|between| {
        tell(&mut words, &between.from);
        tell(&mut words, &between.to);
        write!(words, "{:?}", between.how).ok();
        let name = ContentHash::of(words.as_bytes());
        words = format!("{} ", name.as_str());
        name
    });
    names.collect()
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

    /// See [`Folds::with`].
    pub(crate) async fn state_with(&self, state: FileState, between: &[Between]) -> FileState {
        match self.blobs() {
            Ok(blobs) if !between.is_empty() => self.stream.folds.with(state, between, blobs).await,
            // Without bytes nothing is undone anyway.
            _ => state,
        }
    }
}

#[cfg(test)]
#[path = "states_tests.rs"]
mod tests;
