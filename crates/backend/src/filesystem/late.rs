use std::sync::OnceLock;

use super::FilesystemBackend;
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, Expect, FileInfo, FileStamp, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Listed, ReadResult, ReadWindow, Replacement, SetMode, VirtualPath,
};

/// Opens a folder, where it is there by now.
type Opening = Box<dyn Fn() -> Option<FilesystemBackend> + Send + Sync>;

/// The files below a folder that need not be there yet, as that of a disk which is not plugged in. Until it is,
/// everything is answered with [`BackendError::RootGone`]; from then on it is held as any other.
pub struct LateFolder {
    opening: Opening,
    there: OnceLock<FilesystemBackend>,
}

impl LateFolder {
    /// `opening` is asked with every operation until it opens the folder.
    pub fn new(opening: impl Fn() -> Option<FilesystemBackend> + Send + Sync + 'static) -> Self {
        Self { opening: Box::new(opening), there: OnceLock::new() }
    }

    fn there(&self) -> Result<&FilesystemBackend, BackendError> {
        match self.there.get() {
            Some(there) => Ok(there),
            None => {
                let there = (self.opening)().ok_or(BackendError::RootGone)?;
                Ok(self.there.get_or_init(|| there))
            }
        }
    }
}

impl Backend for LateFolder {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move { self.there()?.ls(path).await })
    }

    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move { self.there()?.names(path).await })
    }

    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        Box::pin(async move { self.there()?.stat(path).await })
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(async move { self.there()?.read(path, window).await })
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move { self.there()?.write(path, bytes, expect, witness).await })
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move { self.there()?.edit(path, replacement, expect, witness).await })
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(async move { self.there()?.grep(query).await })
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(async move { self.there()?.glob(query).await })
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move {
            match self.there() {
                Ok(there) => there.upload(files).await,
                Err(error) => files.iter().map(|_| Err(error.clone())).collect(),
            }
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            match self.there() {
                Ok(there) => there.download(paths).await,
                Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
            }
        })
    }

    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        Box::pin(async move { self.there()?.stamp(path).await })
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }

    fn tidy<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Ok(there) = self.there() {
                there.tidy(path).await;
            }
        })
    }

    fn host_path(&self, path: &VirtualPath) -> Option<std::path::PathBuf> {
        self.there().ok()?.host_path(path)
    }

    fn direct(&self, path: &VirtualPath) -> VirtualPath {
        self.there().map_or_else(|_| path.clone(), |there| there.direct(path))
    }

    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        match self.there() {
            Ok(there) => there.resolve(text),
            Err(_) => Ok(VirtualPath::parse(text)?),
        }
    }
}

impl SetMode for LateFolder {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move { self.there()?.set_mode(path, mode).await })
    }
}

impl Delete for LateFolder {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(async move { self.there()?.delete(path, expect, witness).await })
    }
}
