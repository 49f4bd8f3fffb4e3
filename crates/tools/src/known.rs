//! Read before change (behaviour.md A4): what a call may assume of the file it is about to change.

mod below;

use bosun_backend::{Backend, BackendError, FileStamp, ReadWindow, VirtualPath};

use crate::ToolContext;
pub(crate) use below::KnownBelow;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File,
    Directory,
    /// A name without content to know: a link that is broken or leads out, a pipe, a device, a file whose content is
    /// lost. Reading it gives this error.
    Hollow(BackendError),
    Nothing,
}

/// The file as this agent knows it.
///
/// # Errors
/// [`BackendError::NotRead`] for a file it has not read; what is there instead where it is no file.
pub(crate) async fn known(cx: &ToolContext, path: &VirtualPath) -> Result<FileStamp, BackendError> {
    if let Some(stamp) = cx.state.read_stamp(path) {
        return Ok(stamp);
    }
    Err(match look(&*cx.backend, path).await? {
        Found::File => BackendError::NotRead { path: path.clone() },
        Found::Directory => BackendError::IsADirectory { path: path.clone() },
        Found::Hollow(error) => error,
        Found::Nothing => BackendError::NotFound { path: path.clone() },
    })
}

/// What is at `path`, without reading more of it than needed.
pub(crate) async fn look(backend: &dyn Backend, path: &VirtualPath) -> Result<Found, BackendError> {
    if backend.ls(path).await.is_ok_and(|entries| !entries.is_empty()) {
        return Ok(Found::Directory);
    }
    let error = match backend.read(path, ReadWindow { offset: 0, limit: 1 }).await {
        Ok(_) => return Ok(Found::File),
        Err(error) => error,
    };
    match error {
        BackendError::IsADirectory { .. } => Ok(Found::Directory),
        BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. } | BackendError::LinkLoop { .. } => {
            Ok(if is_listed(backend, path).await { Found::Hollow(error) } else { Found::Nothing })
        }
        BackendError::NotRegular { .. } | BackendError::ContentLost { .. } => Ok(Found::Hollow(error)),
        BackendError::OutsideRoot { .. } if leads_out(backend, path).await => Ok(Found::Hollow(error)),
        BackendError::NotText { .. }
        | BackendError::Binary { .. }
        | BackendError::TooLarge { .. }
        | BackendError::Unstable { .. } => Ok(Found::File),
        error => Err(error),
    }
}

/// Whether `path`, which was refused because it leads out, is itself the link that does: its folder is inside and does not
/// show it (behaviour.md A10), as it would a folder that is a mount.
async fn leads_out(backend: &dyn Backend, path: &VirtualPath) -> bool {
    let Some(parent) = path.parent() else { return false };
    let listed = backend.names(&parent).await;
    listed.is_ok_and(|listed| !listed.cut && !listed.iter().any(|entry| entry.path == *path))
}

async fn is_listed(backend: &dyn Backend, path: &VirtualPath) -> bool {
    let Some(parent) = path.parent() else { return false };
    backend.ls(&parent).await.is_ok_and(|entries| entries.iter().any(|entry| entry.path == *path))
}

/// The whole bytes of one file.
pub(crate) async fn bytes_of(backend: &dyn Backend, path: &VirtualPath) -> Result<Vec<u8>, BackendError> {
    match backend.download(vec![path.clone()]).await.pop() {
        Some(answer) => answer,
        None => Err(BackendError::NotFound { path: path.clone() }),
    }
}

/// The bytes that are there now, if they are those this agent knows.
///
/// # Errors
/// As [`known`], and [`BackendError::Changed`].
pub(crate) async fn known_bytes(cx: &ToolContext, path: &VirtualPath) -> Result<Vec<u8>, BackendError> {
    let stamp = known(cx, path).await?;
    let bytes = match bytes_of(&*cx.backend, path).await {
        Err(BackendError::NotFound { .. }) => return Err(BackendError::Changed { path: path.clone() }),
        other => other?,
    };
    let now = stamp_like(&stamp, &*cx.backend, path, &bytes).await?;
    if stamp.same_content(&now) { Ok(bytes) } else { Err(BackendError::Changed { path: path.clone() }) }
}

/// The stamp of what has `bytes` now, to be compared with `stamp`.
async fn stamp_like(
    stamp: &FileStamp,
    backend: &dyn Backend,
    path: &VirtualPath,
    bytes: &[u8],
) -> Result<FileStamp, BackendError> {
    match stamp.hash {
        Some(_) => Ok(FileStamp::of_bytes(bytes)),
        // Too large to have been hashed when a page of it was read: the object's own figures decide.
        None => stamp_now(backend, path).await,
    }
}

/// The stamp that reading gives, also for what is no text or cannot be had whole.
async fn stamp_now(backend: &dyn Backend, path: &VirtualPath) -> Result<FileStamp, BackendError> {
    match backend.read(path, ReadWindow { offset: 0, limit: 1 }).await {
        Err(BackendError::NotText { .. } | BackendError::Binary { .. } | BackendError::TooLarge { .. }) => {
            backend.stamp(path).await
        }
        read => Ok(read?.stamp),
    }
}

/// Whether what is there is what this agent knows, also where it is too large to be had whole.
///
/// # Errors
/// As [`known_bytes`].
pub(crate) async fn still_known(cx: &ToolContext, path: &VirtualPath) -> Result<(), BackendError> {
    match known_bytes(cx, path).await {
        Err(BackendError::TooLarge { .. }) => {
            let (stamp, now) = (known(cx, path).await?, stamp_now(&*cx.backend, path).await?);
            if stamp.same_content(&now) { Ok(()) } else { Err(BackendError::Changed { path: path.clone() }) }
        }
        known => known.map(drop),
    }
}
