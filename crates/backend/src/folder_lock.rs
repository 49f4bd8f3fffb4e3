//! What keeps programs of this machine apart that look at what is in a folder and then change it.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode};
use rustix::io::Errno;

use crate::root::FOLDER;

/// No look and change takes so long. Who goes on after that is where everybody is who does not know of the lock.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(1);

/// Held from the last look at a file to its change: by this process and others like it, and by the scripts of places that
/// are this machine (`sandbox/scripts/common.sh`). It goes with whoever holds it.
#[derive(Debug)]
pub(crate) struct FolderLock(OwnedFd);

impl FolderLock {
    /// Blocks while somebody else has it. `None` where it cannot be had.
    pub(crate) fn of(folder: impl AsFd) -> Option<Self> {
        // A handle of its own: those of one opening share the lock.
        let own = rustix::fs::openat(folder, ".", FOLDER, Mode::empty()).ok()?;
        let begun = Instant::now();
        loop {
            match rustix::fs::flock(&own, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(Self(own)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < PATIENCE => std::thread::sleep(STEP),
                Err(errno) => {
                    tracing::debug!(%errno, "the lock of a folder could not be had");
                    return None;
                }
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A program that is just being started may have the handle for a moment longer.
        if let Err(errno) = rustix::fs::flock(&self.0, FlockOperation::Unlock) {
            tracing::debug!(%errno, "the lock of a folder goes with its handle");
        }
    }
}
