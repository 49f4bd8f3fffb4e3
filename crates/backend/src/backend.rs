use crate::{
    BackendError, BoxFuture, Change, ChangeWitness, Expect, FileInfo, FileStamp, GlobQuery, GlobResult, GrepQuery,
    GrepResult, Listed, ReadResult, ReadWindow, Shell, VirtualPath,
};

/// Files behind one path space.
///
/// Every error names the path as the caller wrote it (a composite re-adds its prefix). Mutations take a witness and
/// call it exactly once per changed file, after everything that can fail by itself and before the first effect. A
/// future that is dropped leaves the file as it was or as it was to become.
pub trait Backend: Send + Sync {
    /// Direct children.
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>>;

    /// The same, for who wants names and which of them are folders: sizes and times may be left out, where telling them
    /// costs a look at each.
    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        self.ls(path)
    }

    /// What a path names, with links followed, as [`Self::ls`] lists it. No content is read.
    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        Box::pin(async move {
            let Some(folder) = path.parent() else {
                return Ok(FileInfo::folder(path.clone()));
            };
            let listed = self.ls(&folder).await.map_err(|error| match error {
                BackendError::NotADirectory { path: at } if at == folder => {
                    BackendError::NotADirectory { path: path.clone() }
                }
                BackendError::DirectoryNotFound { path: at } if at == folder => {
                    BackendError::NotFound { path: path.clone() }
                }
                error => error,
            })?;
            let listed = listed.into_iter().find(|entry| entry.path == *path);
            listed.ok_or_else(|| BackendError::NotFound { path: path.clone() })
        })
    }

    fn read<'a>(&'a self, path: &'a VirtualPath, window: ReadWindow)
    -> BoxFuture<'a, Result<ReadResult, BackendError>>;

    /// Creates or replaces a file, parents included. Wholly done or not at all.
    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>>;

    /// Replaces `old` by `new` literally; an LF `old` matches CRLF text and the replacement takes the file's line
    /// ends (behaviour.md A5).
    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>>;

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>>;

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>>;

    /// Whole files in, in the given order, one answer each. Existing files are replaced.
    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>>;

    /// Whole files out, in the given order, one answer each.
    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>>;

    /// What tells the content of a file from any other, also of one whose bytes cannot be had whole.
    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        Box::pin(async move {
            let bytes = self.download(vec![path.clone()]).await.pop();
            let bytes = bytes.unwrap_or_else(|| Err(BackendError::NotFound { path: path.clone() }))?;
            Ok(FileStamp::of_bytes(&bytes))
        })
    }

    /// Commands, where the backend can run them.
    fn shell(&self) -> Option<&dyn Shell> {
        None
    }

    /// Deleting, where the backend can.
    fn deleter(&self) -> Option<&dyn Delete> {
        None
    }

    /// Setting permission bits, where files have them.
    fn modes(&self) -> Option<&dyn SetMode> {
        None
    }

    /// Takes away what a change of `path` that a crash broke off left beside it, where a backend leaves such things.
    fn tidy<'a>(&'a self, _path: &'a VirtualPath) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// The path on this machine's disk, where there is one; for showing and opening, never for file access.
    fn host_path(&self, _path: &VirtualPath) -> Option<std::path::PathBuf> {
        None
    }

    /// `path` with its links replaced by where they lead now; itself where there are none or nobody can tell. For rules
    /// about names, which are asked about both, never for file access.
    fn direct(&self, path: &VirtualPath) -> VirtualPath {
        path.clone()
    }

    /// Reads `text` as this backend's path: a host path at or below the root becomes its virtual path
    /// (behaviour.md A26).
    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        Ok(VirtualPath::parse(text)?)
    }
}

/// Gives files their permission bits back.
pub trait SetMode: Send + Sync {
    /// Gives the regular file at `path` the lowest nine bits of `mode`.
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>>;
}

/// A literal replacement in a text file.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub all: bool,
}

/// Removes files, links (never their targets) and directory trees.
pub trait Delete: Send + Sync {
    /// Gives one change for each file and link that went; an empty directory gives none. The witness hears of each
    /// before it goes. What cannot be deleted as a whole is found before anything is; where something changes
    /// meanwhile, the call stops there and what went is gone.
    ///
    /// `expect` is about a file's content. Of a directory [`Expect::Unchanged`] says only which one it is, of a link
    /// nothing is expected.
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>>;
}
