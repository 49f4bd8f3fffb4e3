//! Telling when files that the agent has read change on disk.
//!
//! Only the folders of followed files and those they are in are watched, never the tree, so that a checkout of 100,000
//! files costs no more than what of it was read. What comes is collected until somebody asks, who may wait until it has been quiet for a moment;
//! too much of it becomes "many". A notice is a hint to look again: whether a file changed is settled by its stamp.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::time::Instant;

use crate::root::{identity, modified_ns, size};
use crate::{FileStamp, VirtualPath};

mod folders;
mod places;

pub use folders::FolderWatch;
pub use places::PlaceWatch;

/// Quiet that ends a burst of changes.
const QUIET: Duration = Duration::from_millis(150);
/// A burst that does not end is told after this long all the same.
const LONGEST: Duration = Duration::from_secs(2);
/// Paths in one notice.
const MAX_PATHS: usize = 1_000;
/// Folders watched at a time.
const MAX_FOLDERS: usize = 4_096;

/// Files that are no longer as they were, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// These, made, changed, replaced or removed.
    Paths(BTreeSet<VirtualPath>),
    /// So many, or so fast, that they are not told apart: any followed file may have changed.
    Many,
}

/// Why files cannot be watched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    #[error("changes on disk cannot be noticed here: {reason}; files are checked when they are next used")]
    Unavailable { reason: String },
    #[error("'{path}' cannot be watched: {reason}; it is checked when it is next used")]
    Path { path: VirtualPath, reason: String },
    #[error("no more than {limit} folders can be watched; '{path}' is checked when it is next used")]
    TooMany { path: VirtualPath, limit: usize },
}

/// Follows files of this machine. One subscriber: what [`FileWatch::noticed`] gives is given once.
pub struct FileWatch {
    watcher: RecommendedWatcher,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Followed files by their names on this machine.
    followed: HashMap<PathBuf, VirtualPath>,
    /// Watched folders, and how many followed files are in each or below it.
    folders: HashMap<PathBuf, usize>,
    waiting: BTreeSet<VirtualPath>,
    /// Those that are no longer followed because a folder that they were in moved or went.
    astray: BTreeSet<VirtualPath>,
    /// Folders that moved or went, which the system may be watching still.
    moved: Vec<PathBuf>,
    many: bool,
    /// How often something was noticed of a followed file, and when it last was.
    heard: u64,
    last: Option<Instant>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called on the watcher's own thread, once for every event there is.
    fn take(&self, event: notify::Result<notify::Event>) {
        let mut state = self.state();
        let heard = state.heard;
        match event {
            Ok(event) if event.need_rescan() => state.lose(),
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => {
                let stays = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
                for path in &event.paths {
                    state.note(path, stays);
                }
            }
            Err(error) => {
                tracing::debug!(%error, "the watcher lost something");
                state.lose();
            }
        }
        if state.heard != heard {
            state.last = Some(Instant::now());
        }
    }
}

impl State {
    fn lose(&mut self) {
        self.many = true;
        self.heard += 1;
    }

    fn note(&mut self, path: &Path, stays: bool) {
        if let Some(followed) = self.followed.get(path).cloned() {
            self.waiting.insert(followed);
            self.heard += 1;
        } else if self.folders.contains_key(path) && !stays {
            // The folder itself moved or went, and everything in it did: the system goes on watching what is elsewhere now.
            let gone: Vec<VirtualPath> =
                self.followed.extract_if(|file, _| file.starts_with(path)).map(|(_, followed)| followed).collect();
            let moved = self.folders.extract_if(|folder, _| folder.starts_with(path)).map(|(folder, _)| folder);
            self.moved.extend(moved);
            self.waiting.extend(gone.iter().cloned());
            self.astray.extend(gone);
            self.heard += 1;
        }
        if self.waiting.len() > MAX_PATHS {
            self.waiting.clear();
            self.many = true;
        }
    }

    fn taken(&mut self) -> Option<Changed> {
        let paths = std::mem::take(&mut self.waiting);
        if std::mem::take(&mut self.many) {
            return Some(Changed::Many);
        }
        (!paths.is_empty()).then_some(Changed::Paths(paths))
    }
}

impl FileWatch {
    /// # Errors
    /// [`WatchError::Unavailable`] where the system gives no notices.
    pub fn open() -> Result<Self, WatchError> {
        let shared = Arc::new(Shared::default());
        let heard = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| heard.take(event))
            .map_err(|error| WatchError::Unavailable { reason: error.to_string() })?;
        Ok(Self { watcher, shared })
    }

    /// Follows the file that is `path` here and `host` on this machine ([`Backend::host_path`]), there or not.
    ///
    /// [`Backend::host_path`]: crate::Backend::host_path
    ///
    /// # Errors
    /// [`WatchError::Path`], [`WatchError::TooMany`]; the others are followed still.
    pub fn follow(&mut self, path: &VirtualPath, host: &Path) -> Result<(), WatchError> {
        self.let_go_of_moved();
        let failed = |reason: String| WatchError::Path { path: path.clone(), reason };
        if host.parent().is_none() {
            return Err(failed("it is the root of the file system".to_owned()));
        }
        let folders = folders_of(path, host);
        let new: Vec<&Path> = {
            let state = self.shared.state();
            if state.followed.contains_key(host) {
                return Ok(());
            }
            let new: Vec<&Path> =
                folders.iter().copied().filter(|folder| !state.folders.contains_key(*folder)).collect();
            if state.folders.len() + new.len() > MAX_FOLDERS {
                return Err(WatchError::TooMany { path: path.clone(), limit: MAX_FOLDERS });
            }
            new
        };
        for folder in new {
            self.watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| failed(error.to_string()))?;
        }
        let mut state = self.shared.state();
        for folder in folders {
            *state.folders.entry(folder.to_owned()).or_default() += 1;
        }
        state.followed.insert(host.to_owned(), path.clone());
        Ok(())
    }

    /// What is elsewhere now is not watched any more: the same name may come to be another folder's.
    fn let_go_of_moved(&mut self) {
        let moved = std::mem::take(&mut self.shared.state().moved);
        moved.iter().for_each(|folder| self.let_go(folder));
    }

    fn let_go(&mut self, folder: &Path) {
        if let Err(error) = self.watcher.unwatch(folder) {
            tracing::debug!(%error, "a folder that is gone was not watched any more");
        }
    }

    /// No longer follows what is `host` on this machine.
    pub fn forget(&mut self, host: &Path) {
        self.let_go_of_moved();
        let left: Vec<PathBuf> = {
            let mut state = self.shared.state();
            let Some(path) = state.followed.remove(host) else { return };
            let folders = folders_of(&path, host).into_iter();
            let is_last = |folder: &&Path| match state.folders.get_mut(*folder) {
                Some(count) if *count > 1 => {
                    *count -= 1;
                    false
                }
                _ => state.folders.remove(*folder).is_some(),
            };
            folders.filter(is_last).map(Path::to_owned).collect()
        };
        left.iter().for_each(|folder| self.let_go(folder));
    }

    /// Files that came to be no longer followed since this was last asked: a folder that they were in moved or went.
    pub fn astray(&self) -> BTreeSet<VirtualPath> {
        std::mem::take(&mut self.shared.state().astray)
    }

    /// What was noticed since this was last asked.
    pub fn noticed(&self) -> Option<Changed> {
        self.shared.state().taken()
    }

    /// Waits until nothing was noticed for a moment; not at all where that is so already, and not for ever.
    pub fn settled(&self) -> impl Future<Output = ()> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async move {
            let end = Instant::now() + LONGEST;
            loop {
                let last = shared.state().last;
                let quiet_at = last.map(|last| (last + QUIET).min(end)).filter(|at| *at > Instant::now());
                let Some(quiet_at) = quiet_at else { return };
                tokio::time::sleep_until(quiet_at).await;
            }
        }
    }
}

/// The folder that `host` is in, and those above it that have a name in `path` too: where one of them is renamed, nobody
/// is told so who watches what is below.
fn folders_of<'a>(path: &VirtualPath, host: &'a Path) -> Vec<&'a Path> {
    let names: Vec<&str> = path.segments().collect();
    let alike = host.ancestors().zip(names.iter().rev());
    let inside = alike.take_while(|(at, name)| at.file_name().is_some_and(|own| own == **name));
    let mut folders: Vec<&Path> = inside.skip(1).map(|(at, _)| at).collect();
    // The root of all of them, or the folder that is mounted there.
    folders.extend(host.parent().filter(|_| folders.is_empty()));
    folders
}

/// Whether the file that is `host` on this machine has the figures of `stamp` still. It is not opened for that; where
/// the answer is no, its content may be the same all the same.
pub fn looks_the_same(host: &Path, stamp: &FileStamp) -> bool {
    let Ok(stat) = rustix::fs::stat(host) else { return false };
    (identity(&stat), size(&stat), modified_ns(&stat)) == ((stamp.device, stamp.inode), stamp.size, stamp.modified_ns)
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
