use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{LONGEST, QUIET, WatchError};

/// Follows whether folders of this machine are where they were. What is in them is not followed, but for the way to them: a
/// folder goes with any that it is in.
pub struct PlaceWatch {
    /// Ends the notices when it goes.
    _watcher: RecommendedWatcher,
    news: Arc<Notify>,
    /// Of something that nobody has had to its end.
    is_told: bool,
}

impl PlaceWatch {
    /// Follows `places`, there or not, from the folders on the way to them that are there now: open it anew after every
    /// change. Blocks for a moment.
    ///
    /// # Errors
    /// [`WatchError::Unavailable`] where the system gives no notices.
    pub fn open(places: &[PathBuf]) -> Result<Self, WatchError> {
        let ways: BTreeSet<PathBuf> = places.iter().flat_map(|place| place.ancestors()).map(Path::to_owned).collect();
        let news = Arc::new(Notify::new());
        let (heard, followed) = (Arc::clone(&news), ways.clone());
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let is_news = match event {
                Ok(event) => event.need_rescan() || tells_of_places(&event, &followed),
                Err(error) => {
                    tracing::debug!(%error, "the watcher lost something");
                    true
                }
            };
            if is_news {
                heard.notify_one();
            }
        })
        .map_err(|error| WatchError::Unavailable { reason: error.to_string() })?;
        for way in &ways {
            // One that is not there is seen coming by the folder that it is in.
            if let Err(error) = watcher.watch(way, RecursiveMode::NonRecursive) {
                tracing::debug!(%error, "a folder on the way to a project is not watched");
            }
        }
        Ok(Self { _watcher: watcher, news, is_told: false })
    }

    /// Waits until one of them, or a folder on the way to one, came, went or changed its rights, and then until it has been
    /// quiet for a moment. Losing this future loses no change.
    pub async fn changed(&mut self) {
        if !self.is_told {
            self.news.notified().await;
            // Whoever drops this from here on is told once more.
            self.is_told = true;
        }
        let until = Instant::now() + LONGEST;
        while tokio::time::timeout_at(until.min(Instant::now() + QUIET), self.news.notified()).await.is_ok() {}
        self.is_told = false;
    }
}

fn tells_of_places(event: &notify::Event, places: &BTreeSet<PathBuf>) -> bool {
    let is_content = matches!(event.kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_)));
    !is_content && event.paths.iter().any(|path| places.contains(path))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn is_told(watch: &mut PlaceWatch) -> bool {
        tokio::time::timeout(Duration::from_secs(5), watch.changed()).await.is_ok()
    }

    #[tokio::test]
    async fn a_folder_that_goes_or_comes_with_any_it_is_in_is_told_and_what_is_in_it_is_not() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        let place = at("a/b/project");
        std::fs::create_dir_all(&place).unwrap();
        let open = || PlaceWatch::open(std::slice::from_ref(&place)).unwrap();
        let mut watch = open();
        std::fs::write(place.join("file"), "x").unwrap();
        std::fs::create_dir(at("a/b/other")).unwrap();
        let silent = tokio::time::timeout(Duration::from_millis(500), watch.changed()).await.is_err();
        assert!(silent, "neither what is in it nor what is beside it");

        std::fs::rename(&place, at("away")).unwrap();
        assert!(is_told(&mut watch).await, "it went");
        let mut watch = open();
        std::fs::rename(at("away"), &place).unwrap();
        assert!(is_told(&mut watch).await, "it came back");
        let mut watch = open();
        std::fs::rename(at("a"), at("elsewhere")).unwrap();
        assert!(is_told(&mut watch).await, "it went with one that it is in");
        let mut watch = open();
        std::fs::rename(at("elsewhere"), at("a")).unwrap();
        assert!(is_told(&mut watch).await, "and came back with it");
    }
}
