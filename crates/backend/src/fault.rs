//! Operating-system errors in the crate's own words, and the one hop to the blocking pool.

use std::io;

use rustix::io::Errno;

use crate::{BackendError, PathError, VirtualPath, quoted};

/// What `errno` means for `path`.
pub(crate) fn fault(errno: Errno, path: &VirtualPath) -> BackendError {
    let path = path.clone();
    match errno {
        Errno::NOENT => BackendError::NotFound { path },
        Errno::NOTDIR => BackendError::NotADirectory { path },
        Errno::ISDIR => BackendError::IsADirectory { path },
        Errno::EXIST => BackendError::AlreadyExists { path },
        Errno::XDEV => BackendError::OutsideRoot { path },
        Errno::LOOP => BackendError::LinkLoop { path },
        // The kernel gave up following a path that others keep renaming.
        Errno::AGAIN => BackendError::Unstable { path },
        Errno::ACCESS | Errno::PERM => BackendError::PermissionDenied { path },
        Errno::ROFS => BackendError::ReadOnly { path },
        Errno::NOSPC | Errno::DQUOT => BackendError::DiskFull { path },
        // Only sockets and device nodes without a driver refuse to open like this.
        Errno::NXIO => BackendError::NotRegular { path, kind: "socket or device" },
        Errno::NAMETOOLONG => {
            PathError::TooLong { given: quoted(path.as_str()).into_owned(), limit: VirtualPath::MAX_LENGTH }.into()
        }
        other => {
            let error = io::Error::from(other);
            BackendError::Io { path, kind: error.kind(), reason: error.to_string() }
        }
    }
}

/// The same for an error of the standard library.
pub(crate) fn io_fault(error: &io::Error, path: &VirtualPath) -> BackendError {
    match Errno::from_io_error(error) {
        Some(errno) => fault(errno, path),
        None => BackendError::Io { path: path.clone(), kind: error.kind(), reason: error.to_string() },
    }
}

/// A whole place does not answer; whoever mounts it says where it is.
pub(crate) fn unreachable(reason: String) -> BackendError {
    BackendError::Unreachable { path: VirtualPath::root(), reason }
}

/// Runs `work` on the blocking pool. A panic in it fails this one operation.
pub(crate) async fn on_disk<T, F>(work: F) -> Result<T, BackendError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, BackendError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(BackendError::Io {
            path: VirtualPath::root(),
            kind: io::ErrorKind::Other,
            reason: format!("the operation broke off, which is a defect of the app ({error})"),
        }),
    }
}
