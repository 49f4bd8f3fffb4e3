use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use crate::VirtualPath;
use crate::root::Root;

/// One file of one folder, whatever the folder is called.
type Key = ((u64, u64), VirtualPath);
type Lock = tokio::sync::Mutex<()>;

/// Shared by all backends of the process: two sessions may work in one project.
static LOCKS: LazyLock<Mutex<HashMap<Key, Weak<Lock>>>> = LazyLock::new(Mutex::default);

/// Above this many entries, those that nobody holds any more are swept out.
const SWEEP_AT: usize = 256;

/// Waits until no other change of `path` is under way. `path` has no links in it, or two names of one file would pass
/// each other.
pub(super) async fn lock(root: &Root, path: &VirtualPath) -> OwnedMutexGuard<()> {
    let lock = {
        let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.len() > SWEEP_AT {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let entry = locks.entry((root.identity(), path.clone())).or_default();
        entry.upgrade().unwrap_or_else(|| {
            let lock = Arc::new(Lock::default());
            *entry = Arc::downgrade(&lock);
            lock
        })
    };
    lock.lock_owned().await
}
