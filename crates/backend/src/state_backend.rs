//! Files kept in the session itself.

mod merge;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::clock::Now;
use crate::shelf::{Rows, Shelf};
use crate::{BackendError, BlobStore, BoxFuture, FileData, VirtualPath};
pub use merge::{FileConflict, FileUpdates, merge_files};

/// The files of a session's state. What a change does is seen by the next read; what lasts is what the caller merges
/// from [`Change::state`](crate::Change::state), so that a backend made from the folded journal holds the same files.
#[derive(Clone)]
pub struct StateBackend {
    files: Arc<Mutex<BTreeMap<VirtualPath, Arc<FileData>>>>,
    changing: Arc<tokio::sync::Mutex<()>>,
    now: Now,
    /// Has the content of large files.
    blobs: Option<Arc<BlobStore>>,
}

impl StateBackend {
    pub fn new(files: impl IntoIterator<Item = (VirtualPath, FileData)>) -> Self {
        Self::at(files, Now::default())
    }

    /// With another clock than the system's.
    pub fn at(files: impl IntoIterator<Item = (VirtualPath, FileData)>, now: Now) -> Self {
        let files = files.into_iter().map(|(path, data)| (path, Arc::new(data))).collect();
        Self { files: Arc::new(Mutex::new(files)), changing: Arc::default(), now, blobs: None }
    }

    /// The content of large files is in `blobs`, so that a journal only names it. Files that hold theirs are read as ever.
    #[must_use]
    pub fn keeping_in(self, blobs: Option<Arc<BlobStore>>) -> Self {
        Self { blobs, ..self }
    }

    /// The part of a session's files that lies below `prefix`, as a backend to be mounted there.
    pub fn mounted(files: &BTreeMap<VirtualPath, FileData>, prefix: &VirtualPath) -> Self {
        let below = files.iter().filter_map(|(path, data)| Some((path.strip_prefix(prefix)?, data.clone())));
        Self::new(below.filter(|(path, _)| !path.is_root()))
    }

    /// Every file as it is now.
    pub fn files(&self) -> BTreeMap<VirtualPath, FileData> {
        self.locked().iter().map(|(path, data)| (path.clone(), (**data).clone())).collect()
    }

    /// A copy that goes its own way, as a subagent with a state of its own has. Back with [`merge_files`].
    pub fn fork(&self) -> Self {
        let files = Arc::new(Mutex::new(self.locked().clone()));
        Self { files, changing: Arc::default(), now: self.now.clone(), blobs: self.blobs.clone() }
    }

    /// Takes what a merge or a rewind of the session's state made of the files; `None` removes.
    pub fn apply(&self, updates: &[(VirtualPath, Option<FileData>)]) {
        let mut files = self.locked();
        for (path, data) in updates {
            match data {
                Some(data) => files.insert(path.clone(), Arc::new(data.clone())),
                None => files.remove(path),
            };
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<VirtualPath, Arc<FileData>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn below(&self, path: &VirtualPath) -> Rows {
        let files = self.locked();
        let from = files.range(path.clone()..);
        let near = from.take_while(|(found, _)| found.as_str().starts_with(path.as_str()));
        near.filter(|(found, _)| found.starts_with(path))
            .map(|(found, data)| (found.clone(), Arc::clone(data)))
            .collect()
    }
}

impl Shelf for StateBackend {
    fn lock(&self) -> BoxFuture<'_, OwnedMutexGuard<()>> {
        Box::pin(Arc::clone(&self.changing).lock_owned())
    }

    fn rows<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move { Ok(self.below(path)) })
    }

    fn get<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<Arc<FileData>>, BackendError>> {
        Box::pin(async move { Ok(self.locked().get(path).cloned()) })
    }

    fn is_folder<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<bool, BackendError>> {
        Box::pin(async move { Ok(self.below(path).iter().any(|(found, _)| found != path)) })
    }

    fn set<'a>(
        &'a self,
        path: &'a VirtualPath,
        current: Option<&'a FileData>,
        data: Option<Arc<FileData>>,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            let mut files = self.locked();
            if files.get(path).map(|data| &**data) != current {
                return Err(BackendError::Changed { path: path.clone() });
            }
            match data {
                Some(data) => files.insert(path.clone(), data),
                None => files.remove(path),
            };
            Ok(())
        })
    }

    fn blobs(&self) -> Option<&Arc<BlobStore>> {
        self.blobs.as_ref()
    }

    fn now(&self) -> i64 {
        self.now.ms()
    }

    fn is_state(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "state_backend_tests.rs"]
mod tests;
