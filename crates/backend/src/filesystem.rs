//! Files below a folder of this machine.

mod aside;
mod change;
mod delete;
mod late;
mod leftovers;
mod list;
mod locks;
mod marks;
mod read;
mod stage;
mod touched;
mod transfer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType};

use crate::fault::{briefly_on_disk, fault, on_disk};
use crate::file::Told;
use crate::root::{FinalLink, Links, Mounts, NAME, READ, Root, file_type};
use crate::search::{self, Budget};
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, Expect, FileInfo, FileStamp, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Listed, ReadResult, ReadWindow, Replacement, SetMode, VirtualPath,
};
use change::Content;

pub use late::LateFolder;
pub use touched::FileMark;

/// Bounds of a [`FilesystemBackend`].
#[derive(Clone, Copy, Debug)]
pub struct FilesystemOptions {
    /// Largest file written, edited, or read as a whole (media, download), in bytes. Text pages have no limit.
    pub max_file_size: u64,
    /// Largest file whose bytes are given to the witness before they go, in bytes.
    pub max_kept_size: u64,
    /// Whether file systems that are mounted below the root are part of it; by default they are refused.
    pub mounts: Mounts,
    /// Time that one `grep` may take before it gives what it has.
    pub grep_time: Duration,
    /// The same for one `glob`.
    pub glob_time: Duration,
}

impl Default for FilesystemOptions {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            max_file_size: 64 * MIB,
            max_kept_size: 64 * MIB,
            mounts: Mounts::Refuse,
            grep_time: search::GREP_TIME,
            glob_time: search::GLOB_TIME,
        }
    }
}

/// The files below one folder. Every operation is one hop to the blocking pool, a change is two with the witness in
/// between.
#[derive(Clone, Debug)]
pub struct FilesystemBackend {
    root: Arc<Root>,
    options: FilesystemOptions,
}

impl FilesystemBackend {
    /// Takes hold of the folder at `root`. Blocks on the disk for a moment.
    ///
    /// # Errors
    /// [`BackendError::RootGone`] where there is no folder, else what keeps it from being opened.
    pub fn open(root: &Path, options: FilesystemOptions) -> Result<Self, BackendError> {
        Ok(Self { root: Arc::new(Root::open(root, options.mounts)?), options })
    }

    /// As [`Self::open`] where the kernel cannot keep a path below its root by itself, so that tests find the same there.
    ///
    /// # Errors
    /// As [`Self::open`].
    #[doc(hidden)]
    pub fn open_stepwise(root: &Path, options: FilesystemOptions) -> Result<Self, BackendError> {
        Ok(Self { root: Arc::new(Root::open_stepwise(root, options.mounts)?), options })
    }

    /// As [`Self::open`], of a folder that a person calls `names` as well: through links, which may lead elsewhere by now.
    /// A path that begins with one of them is a path in this folder, as one with its own name is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_called(root: &Path, names: &[PathBuf], options: FilesystemOptions) -> Result<Self, BackendError> {
        Ok(Self { root: Arc::new(Root::open(root, options.mounts)?.called(names)), options })
    }

    /// What tells whether these files are touched from now on; nothing is read of them.
    ///
    /// # Errors
    /// [`BackendError::RootGone`] where the folder is not there any more.
    pub async fn marks(&self, paths: Vec<VirtualPath>) -> Result<Vec<FileMark>, BackendError> {
        self.briefly_at_root(move |root| Ok(paths.iter().map(|path| FileMark::of(root, path)).collect())).await
    }

    pub(crate) fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// As [`Self::at_root`], for `work` that mostly takes a moment.
    async fn briefly_at_root<T, F>(&self, work: F) -> Result<T, BackendError>
    where
        T: Send + 'static,
        F: FnOnce(&Root) -> Result<T, BackendError> + Send + 'static,
    {
        let root = Arc::clone(&self.root);
        briefly_on_disk(move || {
            root.check_alive()?;
            work(&root)
        })
        .await
    }

    /// Runs `work` on the blocking pool with a root that is known to be there.
    async fn at_root<T, F>(&self, work: F) -> Result<T, BackendError>
    where
        T: Send + 'static,
        F: FnOnce(&Root) -> Result<T, BackendError> + Send + 'static,
    {
        let root = Arc::clone(&self.root);
        on_disk(move || {
            root.check_alive()?;
            work(&root)
        })
        .await
    }
}

impl Backend for FilesystemBackend {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        let path = path.clone();
        Box::pin(self.briefly_at_root(move |root| list::list(root, &path, Told::All)))
    }

    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        let path = path.clone();
        Box::pin(self.briefly_at_root(move |root| list::list(root, &path, Told::Names)))
    }

    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        let path = path.clone();
        Box::pin(self.briefly_at_root(move |root| read::stat(root, &path)))
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        let path = path.clone();
        let limit = self.options.max_file_size;
        Box::pin(self.briefly_at_root(move |root| read::read(root, &path, window, limit)))
    }

    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        let path = path.clone();
        Box::pin(self.briefly_at_root(move |root| read::mark(&root.open_file(&path)?.0.into(), &path)))
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(change::change(self, path, Content::Whole(bytes.into()), expect, witness))
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        let content = Content::Edit { old: replacement.old.into(), new: replacement.new.into(), all: replacement.all };
        Box::pin(change::change(self, path, content, expect, witness))
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        let budget = Budget::new(self.options.grep_time, &query.cancel).by(query.until);
        Box::pin(async move {
            let stop = budget.stop_on_drop();
            let result = self.at_root(move |root| search::grep(root, &query, &budget)).await;
            drop(stop);
            result
        })
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        let budget = Budget::new(self.options.glob_time, &query.cancel);
        Box::pin(async move {
            let stop = budget.stop_on_drop();
            let result = self.at_root(move |root| search::glob(root, &query, &budget)).await;
            drop(stop);
            result
        })
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(transfer::upload(self, files))
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(transfer::download(self, paths))
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }

    fn tidy<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, ()> {
        let path = path.clone();
        Box::pin(async move {
            let tidied = self.at_root(move |root| {
                let place = root.place(&path, FinalLink::Follow).map_err(|errno| fault(errno, &path))?;
                leftovers::remove(&place.dir);
                Ok(())
            });
            if let Err(error) = tidied.await {
                tracing::debug!(%error, "what a crash may have left was not looked for");
            }
        })
    }

    fn host_path(&self, path: &VirtualPath) -> Option<std::path::PathBuf> {
        Some(self.root.host_path(path))
    }

    fn direct(&self, path: &VirtualPath) -> VirtualPath {
        self.root.direct(path).unwrap_or_else(|_| path.clone())
    }

    /// The host path of the root, or of something below it, becomes its virtual path. Where the project itself has a
    /// top-level entry of that name the text is a path in the project: a root at `/src` may well have a `src` of its
    /// own.
    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        let path = VirtualPath::parse(text)?;
        if !text.starts_with('/') {
            return Ok(path);
        }
        let Some(below) = self.root.below(path.as_str()) else { return Ok(path) };
        let own = path
            .segments()
            .next()
            .is_some_and(|first| rustix::fs::statat(self.root.handle(), first, AtFlags::SYMLINK_NOFOLLOW).is_ok());
        if own { Ok(path) } else { Ok(VirtualPath::parse(&format!("/{below}"))?) }
    }
}

impl SetMode for FilesystemBackend {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        let (root, path) = (Arc::clone(self.root()), path.clone());
        Box::pin(on_disk(move || {
            let file = root.open_path(&path, READ, Links::Refuse).map_err(|errno| fault(errno, &path))?;
            let is_file = rustix::fs::fstat(&file).is_ok_and(|stat| file_type(&stat) == FileType::RegularFile);
            if !is_file {
                return Ok(());
            }
            let bits = rustix::fs::Mode::from_bits_truncate((mode & 0o777) as _);
            rustix::fs::fchmod(&file, bits).map_err(|errno| fault(errno, &path))
        }))
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        let (root, path) = (Arc::clone(self.root()), path.clone());
        Box::pin(on_disk(move || {
            let file = root.open_path(&path, NAME, Links::Refuse).map_err(|errno| fault(errno, &path))?;
            let stat = rustix::fs::fstat(&file).map_err(|errno| fault(errno, &path))?;
            Ok((file_type(&stat) == FileType::RegularFile).then(|| change::mode_of(&stat) & 0o777))
        }))
    }
}

impl Delete for FilesystemBackend {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(delete::delete(self, path, expect, witness))
    }
}
