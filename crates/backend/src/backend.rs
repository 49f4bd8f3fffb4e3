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
    /// What is directly in a folder, sorted by path; links under their own names, those that lead out left out.
    ///
    /// # Errors
    /// [`BackendError::DirectoryNotFound`], [`BackendError::NotADirectory`] for a file, [`BackendError::OutsideRoot`] for a
    /// way out through a link, and what keeps the folder from being read.
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>>;

    /// The same, for who wants names and which of them are folders: sizes and times may be left out, where telling them
    /// costs a look at each.
    ///
    /// # Errors
    /// As [`Self::ls`].
    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        self.ls(path)
    }

    /// What a path names, with links followed, as [`Self::ls`] lists it. No content is read.
    ///
    /// # Errors
    /// [`BackendError::NotFound`], and what keeps the folder above from being listed.
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

    /// A window of a text, or the whole bytes of what is media by its name, whatever the window is. With it comes the stamp
    /// by which a later change knows whether the file is still the one that was read.
    ///
    /// # Errors
    /// [`BackendError::NotFound`], [`BackendError::IsADirectory`], [`BackendError::NotText`] for bytes that are no UTF-8,
    /// [`BackendError::OffsetPastEnd`], [`BackendError::TooLarge`] for media over the backend's limit,
    /// [`BackendError::Unstable`] for a file that never keeps still, and what keeps it from being opened.
    fn read<'a>(&'a self, path: &'a VirtualPath, window: ReadWindow)
    -> BoxFuture<'a, Result<ReadResult, BackendError>>;

    /// Creates or replaces a file, parents included. Wholly done or not at all.
    ///
    /// # Errors
    /// Nothing was changed: [`BackendError::AlreadyExists`] and [`BackendError::Changed`] where what is there is not what
    /// `expect` says, [`BackendError::IsADirectory`] or [`BackendError::DirectoryInTheWay`], [`BackendError::TooLarge`],
    /// [`BackendError::NotRecorded`] from the witness, and what keeps the place from being written.
    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>>;

    /// Replaces `old` by `new` literally; an LF `old` matches CRLF text and the replacement takes the file's line
    /// ends (behaviour.md A5).
    ///
    /// # Errors
    /// Nothing was changed: those of [`crate::replace`], [`BackendError::NotFound`], and those of [`Self::write`].
    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>>;

    /// The first lines that hold a text or match an expression, in the order of paths and lines, of every file that the
    /// search meets (behaviour.md A9). A start that does not exist holds nothing. Where there may be more the result says
    /// why: too many matches, no more time, or something that could not be read.
    ///
    /// # Errors
    /// [`BackendError::BadPattern`], also for the filter, [`BackendError::OutsideRoot`] for a start that leads out,
    /// [`BackendError::Cancelled`], and what keeps the start from being opened.
    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>>;

    /// The files whose names match, sorted by path, of those that [`Self::grep`] would look into. A start that is a file is
    /// met by its own name.
    ///
    /// # Errors
    /// As [`Self::grep`].
    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>>;

    /// Whole files in, in the given order, one answer each. Existing files are replaced; no witness hears of it.
    ///
    /// # Errors
    /// In each answer by itself: as [`Self::write`].
    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>>;

    /// Whole files out, in the given order, one answer each.
    ///
    /// # Errors
    /// In each answer by itself: as [`Self::read`], with [`BackendError::TooLarge`] for any file.
    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>>;

    /// What tells the content of a file from any other, also of one whose bytes cannot be had whole.
    ///
    /// # Errors
    /// [`BackendError::NotFound`], [`BackendError::IsADirectory`], and what keeps the file from being opened.
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
    ///
    /// # Errors
    /// [`BackendError::Path`] for text that is no path, [`BackendError::AmbiguousPath`] for one that means two things.
    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        Ok(VirtualPath::parse(text)?)
    }
}

/// Tells the permission bits of files, and gives them back.
pub trait SetMode: Send + Sync {
    /// Gives the regular file at `path` the lowest nine bits of `mode`; anything else there stays as it is.
    ///
    /// # Errors
    /// [`BackendError::NotFound`], and what keeps the bits from being set.
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>>;

    /// The lowest nine bits of the mode of the regular file at `path`; `None` for anything else, and where nobody can tell.
    ///
    /// # Errors
    /// [`BackendError::NotFound`], and what keeps the file from being looked at.
    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>>;
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
    ///
    /// # Errors
    /// [`BackendError::ProtectedRoot`] for the root and for mounts, [`BackendError::NotFound`], [`BackendError::Changed`],
    /// [`BackendError::TooManyEntries`], [`BackendError::NameNotText`], [`BackendError::Immutable`],
    /// [`BackendError::NotRecorded`] from the witness, and what keeps an entry from being removed.
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>>;
}
