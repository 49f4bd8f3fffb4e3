//! Operating-system errors in the crate's own words, and the one hop to the blocking pool.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use rustix::io::Errno;
use tokio::sync::Semaphore;

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

/// Short operations that run side by side, for each processor. More would each take a thread, which costs more than they do.
const SIDE_BY_SIDE: usize = 2;
/// How long a short operation waits for others. A disk that does not answer keeps all of them; what is on another goes on.
const PATIENCE: Duration = Duration::from_millis(50);

/// As [`on_disk`], for `work` that mostly takes a moment: where many come at once, some wait for a while.
pub(crate) async fn briefly_on_disk<T, F>(work: F) -> Result<T, BackendError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, BackendError> + Send + 'static,
{
    static SHORT: OnceLock<Arc<Semaphore>> = OnceLock::new();
    let places = SHORT.get_or_init(|| Arc::new(Semaphore::new(side_by_side())));
    let place = match Arc::clone(places).try_acquire_owned() {
        Ok(place) => Some(place),
        Err(_) => tokio::time::timeout(PATIENCE, Arc::clone(places).acquire_owned()).await.ok().and_then(Result::ok),
    };
    on_disk(move || {
        // Not before the work is done, even if nobody waits for it any more.
        let _place = place;
        work()
    })
    .await
}

fn side_by_side() -> usize {
    SIDE_BY_SIDE * available_parallelism().map_or(1, usize::from).max(2)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread::sleep;

    use super::*;

    // The clock stands, so that nobody's patience ends.
    #[tokio::test(start_paused = true)]
    async fn a_burst_of_short_operations_takes_few_threads() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let operations = (0..200).map(|number| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            briefly_on_disk(move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(Duration::from_millis(1));
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(number)
            })
        });
        let done: Vec<_> = futures_util::future::join_all(operations).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(done, Vec::from_iter(0..200));
        let most = most.load(Ordering::SeqCst);
        assert!((1..=side_by_side()).contains(&most), "{most}");
    }

    #[tokio::test]
    async fn operations_that_stand_still_hold_nobody_up() {
        let mut stuck = Vec::new();
        for _ in 0..side_by_side() {
            let (go_on, waits) = mpsc::channel::<()>();
            let operation = tokio::spawn(briefly_on_disk(move || Ok(waits.recv().is_err())));
            stuck.push((go_on, operation));
        }
        tokio::task::yield_now().await;
        assert_eq!(briefly_on_disk(|| Ok(1)).await.unwrap(), 1);
        for (go_on, operation) in stuck {
            drop(go_on);
            assert!(operation.await.unwrap().unwrap());
        }
    }
}
