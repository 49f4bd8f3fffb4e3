//! What backends have in common that keep whole files by path in something that is no disk: a session's state, the
//! store. Folders are there while something is in them.

mod change;
mod read;
mod search;

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use crate::fault::on_disk;
use crate::search::listed::{Completeness, Wanted, named};
use crate::search::{Budget, GLOB_TIME};
use crate::{
    Backend, BackendError, BlobStore, BoxFuture, Change, ChangeWitness, Delete, Expect, FileData, FileInfo, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Held, Listed, ReadResult, ReadWindow, Replacement, Unwitnessed, VirtualPath,
};
use change::Content;

/// Largest file kept on a shelf, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Files by path, sorted.
pub type Rows = Vec<(VirtualPath, Arc<FileData>)>;

/// Where whole files are kept. Every shelf is a [`Backend`].
///
/// Its methods fail with what keeps the place itself from answering, of which they name the path that was asked for.
pub trait Shelf: Send + Sync {
    /// Waits until no other change of this shelf is under way in this process.
    fn lock(&self) -> BoxFuture<'_, OwnedMutexGuard<()>>;

    /// What is at `path` or below it, sorted by path; nothing where there is neither.
    ///
    /// # Errors
    /// Those of the place itself.
    fn rows<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Rows, BackendError>>;

    /// The file at `path`; `None` where there is none, also where `path` is a folder.
    ///
    /// # Errors
    /// Those of the place itself.
    fn get<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<Arc<FileData>>, BackendError>>;

    /// The paths of [`Shelf::rows`].
    ///
    /// # Errors
    /// As [`Shelf::rows`].
    fn paths<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Vec<VirtualPath>, BackendError>> {
        Box::pin(async move { Ok(self.rows(path).await?.into_iter().map(|(path, _)| path).collect()) })
    }

    /// What is directly in the folder `path`, sorted by path; nothing where there is no such folder.
    ///
    /// # Errors
    /// [`BackendError::NotADirectory`] for a file.
    fn children<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Vec<FileInfo>, BackendError>> {
        Box::pin(async move { read::children(self.rows(path).await?, path) })
    }

    /// Those of `paths` that there are, sorted.
    ///
    /// # Errors
    /// As [`Shelf::get`].
    fn get_many<'a>(&'a self, paths: &'a BTreeSet<VirtualPath>) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move {
            let mut rows = Vec::new();
            for path in paths {
                rows.extend(self.get(path).await?.map(|data| (path.clone(), data)));
            }
            Ok(rows)
        })
    }

    /// The next of [`Shelf::rows`] behind `after`, in their order: about `most`, all where that is as cheap, none where there
    /// are no more.
    ///
    /// # Errors
    /// As [`Shelf::rows`].
    fn page<'a>(
        &'a self,
        path: &'a VirtualPath,
        after: Option<&'a VirtualPath>,
        _most: usize,
    ) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move { if after.is_some() { Ok(Rows::new()) } else { self.rows(path).await } })
    }

    /// Those of [`Shelf::rows`] in which `run` may stand, where `most` or fewer files hold it, wherever they are.
    ///
    /// # Errors
    /// As [`Shelf::rows`]; that no index can tell is [`Held::Unknown`].
    fn holding<'a>(
        &'a self,
        _path: &'a VirtualPath,
        _run: &'a str,
        _most: usize,
    ) -> BoxFuture<'a, Result<Held<Rows>, BackendError>> {
        Box::pin(async { Ok(Held::Unknown) })
    }

    /// Those of [`Shelf::paths`] that hold the characters `run` one after another, and perhaps others, sorted, where `most` or
    /// fewer do, wherever they are.
    ///
    /// # Errors
    /// As [`Shelf::rows`]; that no index can tell is [`Held::Unknown`].
    fn named<'a>(
        &'a self,
        _path: &'a VirtualPath,
        _run: &'a str,
        _most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<VirtualPath>>, BackendError>> {
        Box::pin(async { Ok(Held::Unknown) })
    }

    /// Whether anything is below `path`.
    ///
    /// # Errors
    /// As [`Shelf::rows`].
    fn is_folder<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<bool, BackendError>>;

    /// Keeps `data` at `path`; `None` removes it. Called with the lock held, which another process does not wait for.
    ///
    /// # Errors
    /// [`BackendError::Changed`] where something else than `current` has come to stand there, and it stays; those of the
    /// place itself.
    fn set<'a>(
        &'a self,
        path: &'a VirtualPath,
        current: Option<&'a FileData>,
        data: Option<Arc<FileData>>,
    ) -> BoxFuture<'a, Result<(), BackendError>>;

    /// Where the content of large files is. Without it they are held with the others.
    fn blobs(&self) -> Option<&Arc<BlobStore>> {
        None
    }

    /// That a file of `size` bytes, which is to stand at `path`, is more than is kept here; `None` where it fits. What
    /// stands here already is read and removed whatever its size.
    fn over(&self, path: &VirtualPath, size: u64) -> Option<BackendError> {
        (size > MAX_FILE).then(|| BackendError::TooLarge { path: path.clone(), size, limit: MAX_FILE })
    }

    /// Milliseconds since 1970.
    fn now(&self) -> i64;

    /// Whether changes are told to the files reducer, because the session's journal is what keeps them.
    fn is_state(&self) -> bool;
}

impl<S: Shelf> Backend for S {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(read::list(self, path))
    }

    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        Box::pin(read::stat(self, path))
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(read::read(self, path, window))
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(change::change(self, path, Content::Whole(bytes), expect, witness))
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(change::change(self, path, Content::Edit(replacement), expect, witness))
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(search::grep(self, query))
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(async move {
            let wanted = Wanted::by_name(&query)?;
            let budget = Budget::new(GLOB_TIME, &query.cancel);
            let listing = async {
                match search::named(self, &query, &wanted).await? {
                    Some(paths) => Ok((paths, Rows::new())),
                    None => search::paths_for(self, &query.path, &wanted.folder()).await,
                }
            };
            let Ok(listed) = tokio::time::timeout_at(budget.deadline().into(), listing).await else {
                return Ok(named(Vec::new(), Completeness { spent: true, ..Completeness::default() }));
            };
            let (paths, guides) = listed?;
            if budget.is_cancelled() {
                return Err(BackendError::Cancelled);
            }
            let guides = search::Guides::new(self, guides);
            on_disk(move || {
                let found = wanted.select(&paths, &|path| guides.text(path));
                Ok(named(found, Completeness { unreadable: guides.unreadable.get(), ..Completeness::default() }))
            })
            .await
        })
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(files.len());
            for (path, bytes) in files {
                let done = change::change(self, &path, Content::Whole(bytes), Expect::Anything, &Unwitnessed).await;
                answers.push(done.map(|_| ()));
            }
            answers
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(paths.len());
            for path in paths {
                answers.push(read::bytes(self, &path).await.map(|(bytes, _)| bytes));
            }
            answers
        })
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }
}

impl<S: Shelf> Delete for S {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(change::delete(self, path, expect, witness))
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Truncation;

    /// One that does not answer.
    struct Silent;

    impl Shelf for Silent {
        fn lock(&self) -> BoxFuture<'_, OwnedMutexGuard<()>> {
            Box::pin(pending())
        }

        fn rows<'a>(&'a self, _path: &'a VirtualPath) -> BoxFuture<'a, Result<Rows, BackendError>> {
            Box::pin(pending())
        }

        fn get<'a>(&'a self, _path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<Arc<FileData>>, BackendError>> {
            Box::pin(pending())
        }

        fn is_folder<'a>(&'a self, _path: &'a VirtualPath) -> BoxFuture<'a, Result<bool, BackendError>> {
            Box::pin(pending())
        }

        fn set<'a>(
            &'a self,
            _path: &'a VirtualPath,
            _current: Option<&'a FileData>,
            _data: Option<Arc<FileData>>,
        ) -> BoxFuture<'a, Result<(), BackendError>> {
            Box::pin(pending())
        }

        fn now(&self) -> i64 {
            0
        }

        fn is_state(&self) -> bool {
            false
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_glob_ends_when_its_time_is_over() {
        let (pattern, path) = ("*".to_owned(), VirtualPath::root());
        let query = GlobQuery { pattern, path, include_ignored: true, cancel: CancellationToken::new() };
        let found = Silent.glob(query).await.unwrap();
        assert_eq!((found.paths.len(), found.truncated), (0, Some(Truncation::Budget)));
    }
}
