use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::time::Instant;

use super::{LONGEST, QUIET, WatchError};
use crate::VirtualPath;

/// Follows what is directly in some folders of this machine, for someone who looks at them. What is below their folders
/// is not followed.
pub struct FolderWatch {
    /// Ends the notices when it goes.
    _watcher: RecommendedWatcher,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    folders: HashMap<PathBuf, VirtualPath>,
    waiting: Mutex<BTreeSet<VirtualPath>>,
    news: tokio::sync::Notify,
}

impl Shared {
    /// Called on the watcher's own thread.
    fn take(&self, event: notify::Result<notify::Event>) {
        let touched: Vec<&VirtualPath> = match &event {
            Ok(event) if event.need_rescan() => self.folders.values().collect(),
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => {
                let places = event.paths.iter().flat_map(|path| [Some(path.as_path()), path.parent()]).flatten();
                places.filter_map(|place| self.folders.get(place)).collect()
            }
            Err(error) => {
                tracing::debug!(%error, "the watcher lost something");
                self.folders.values().collect()
            }
        };
        if touched.is_empty() {
            return;
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).extend(touched.into_iter().cloned());
        self.news.notify_one();
    }
}

impl FolderWatch {
    /// Folders by their paths here and on this machine; those that cannot be watched are passed over. Blocks for a moment.
    ///
    /// # Errors
    /// [`WatchError::Unavailable`] where the system gives no notices.
    pub fn open(folders: Vec<(VirtualPath, PathBuf)>) -> Result<Self, WatchError> {
        let hosts: Vec<PathBuf> = folders.iter().map(|(_, host)| host.clone()).collect();
        let folders = folders.into_iter().map(|(path, host)| (host, path)).collect();
        let shared = Arc::new(Shared { folders, ..Shared::default() });
        let heard = Arc::clone(&shared);
        let mut watcher = notify::recommended_watcher(move |event| heard.take(event))
            .map_err(|error| WatchError::Unavailable { reason: error.to_string() })?;
        for host in hosts {
            if let Err(error) = watcher.watch(&host, RecursiveMode::NonRecursive) {
                tracing::debug!(%error, "a folder is not watched");
            }
        }
        Ok(Self { _watcher: watcher, shared })
    }

    /// Waits until something in the folders changed, and then until it has been quiet for a moment: those in which it did.
    /// Losing this future loses no change.
    pub async fn changed(&mut self) -> BTreeSet<VirtualPath> {
        loop {
            if self.waiting().is_empty() {
                self.shared.news.notified().await;
            }
            let until = Instant::now() + LONGEST;
            while tokio::time::timeout_at(until.min(Instant::now() + QUIET), self.shared.news.notified()).await.is_ok()
            {
            }
            let touched = std::mem::take(&mut *self.waiting());
            if !touched.is_empty() {
                return touched;
            }
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeSet<VirtualPath>> {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn next(watch: &mut FolderWatch) -> Vec<String> {
        let touched = tokio::time::timeout(Duration::from_secs(20), watch.changed()).await.unwrap();
        touched.into_iter().map(|path| path.to_string()).collect()
    }

    #[tokio::test]
    async fn a_flood_in_watched_folders_is_told_once_by_folder_and_what_is_elsewhere_is_not() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let host = root.path().join(name);
            std::fs::create_dir_all(&host).unwrap();
            (VirtualPath::parse(name).unwrap(), host)
        };
        let (one, two) = (folder("one"), folder("two"));
        let (_, below) = folder("one/below");
        let mut watch = FolderWatch::open(vec![one.clone(), two.clone(), folder("one/below/gone")]).unwrap();
        std::fs::write(below.join("x"), "x").unwrap();
        for at in 0..2_000 {
            std::fs::write(one.1.join(format!("f{at}")), "x").unwrap();
        }
        assert_eq!(next(&mut watch).await, ["/one"]);
        std::fs::write(two.1.join("a"), "x").unwrap();
        std::fs::remove_file(one.1.join("f1")).unwrap();
        assert_eq!(next(&mut watch).await, ["/one", "/two"]);
    }
}
