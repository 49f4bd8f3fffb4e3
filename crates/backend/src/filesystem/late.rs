use std::sync::{Arc, OnceLock};

use super::FilesystemBackend;
use crate::fault::on_disk;
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, Expect, FileInfo, FileStamp, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Listed, ReadResult, ReadWindow, Replacement, SetMode, VirtualPath,
};

/// Opens a folder, where it is there by now.
type Opening = Arc<dyn Fn() -> Option<FilesystemBackend> + Send + Sync>;

/// The files below a folder that need not be there yet, as that of a disk which is not plugged in. Until it is,
/// everything is answered with [`BackendError::RootGone`]; from then on it is held as any other.
pub struct LateFolder {
    opening: Opening,
    there: OnceLock<FilesystemBackend>,
}

impl LateFolder {
    /// `opening` is asked with every operation until it opens the folder. It may block.
    pub fn new(opening: impl Fn() -> Option<FilesystemBackend> + Send + Sync + 'static) -> Self {
        Self { opening: Arc::new(opening), there: OnceLock::new() }
    }

    async fn there(&self) -> Result<&FilesystemBackend, BackendError> {
        if let Some(there) = self.there.get() {
            return Ok(there);
        }
        let opening = Arc::clone(&self.opening);
        let there = on_disk(move || opening().ok_or(BackendError::RootGone)).await?;
        Ok(self.there.get_or_init(|| there))
    }

    /// As [`Self::there`], for what is answered at once.
    fn there_now(&self) -> Option<&FilesystemBackend> {
        match self.there.get() {
            Some(there) => Some(there),
            None => {
                let there = (self.opening)()?;
                Some(self.there.get_or_init(|| there))
            }
        }
    }
}

impl Backend for LateFolder {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move { self.there().await?.ls(path).await })
    }

    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move { self.there().await?.names(path).await })
    }

    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        Box::pin(async move { self.there().await?.stat(path).await })
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(async move { self.there().await?.read(path, window).await })
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move { self.there().await?.write(path, bytes, expect, witness).await })
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move { self.there().await?.edit(path, replacement, expect, witness).await })
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(async move { self.there().await?.grep(query).await })
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(async move { self.there().await?.glob(query).await })
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move {
            match self.there().await {
                Ok(there) => there.upload(files).await,
                Err(error) => files.iter().map(|_| Err(error.clone())).collect(),
            }
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            match self.there().await {
                Ok(there) => there.download(paths).await,
                Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
            }
        })
    }

    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        Box::pin(async move { self.there().await?.stamp(path).await })
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }

    fn tidy<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Ok(there) = self.there().await {
                there.tidy(path).await;
            }
        })
    }

    fn host_path(&self, path: &VirtualPath) -> Option<std::path::PathBuf> {
        self.there_now()?.host_path(path)
    }

    fn direct(&self, path: &VirtualPath) -> VirtualPath {
        self.there_now().map_or_else(|| path.clone(), |there| there.direct(path))
    }

    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        match self.there_now() {
            Some(there) => there.resolve(text),
            None => Ok(VirtualPath::parse(text)?),
        }
    }
}

impl SetMode for LateFolder {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move { self.there().await?.set_mode(path, mode).await })
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        Box::pin(async move { self.there().await?.mode(path).await })
    }
}

impl Delete for LateFolder {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(async move { self.there().await?.delete(path, expect, witness).await })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// A disk that does not answer keeps nothing else waiting.
    #[tokio::test]
    async fn a_folder_that_takes_its_time_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let (go_on, waits) = mpsc::channel();
        let (host, waits) = (folder.path().to_owned(), Mutex::new(waits));
        let late = LateFolder::new(move || {
            waits.lock().unwrap().recv_timeout(Duration::from_secs(20)).ok()?;
            FilesystemBackend::open(&host, crate::FilesystemOptions::default()).ok()
        });
        let root = VirtualPath::root();
        let (listed, ()) = tokio::join!(late.ls(&root), async { go_on.send(()).unwrap() });
        assert!(listed.is_ok());
    }
}
