use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bosun_backend::FolderWatch;
use bosun_protocol::{FilePreview, FolderView, FoundFiles, SessionId, TextPlace};
use tokio::time::Instant;

use super::Sessions;
use super::exports::write_new;
use super::mentions::ranking::score;
use crate::SessionError;
use crate::browsing::{Paths, Spot};
use crate::stream::locked;

/// Most files and folders that are found at once.
const MOST_FOUND: usize = 200;
/// How long what a session has is taken as it was.
const FRESH: Duration = Duration::from_secs(5);

/// The paths of the session that was looked through last, so that a letter typed costs no walk.
#[derive(Default)]
pub(super) struct PathIndex {
    last: Mutex<Option<Walk>>,
    /// Grows when somebody wants all to be looked through anew: a walk that began before tells nothing of it.
    age: AtomicU64,
}

impl PathIndex {
    fn known(&self, session: &SessionId) -> Option<Arc<Paths>> {
        let known = locked(&self.last).clone();
        Some(known.filter(|walk| walk.session == *session && walk.at.elapsed() < FRESH)?.paths)
    }

    fn know(&self, walk: Walk, age: u64) {
        let mut last = locked(&self.last);
        if self.age.load(Ordering::Acquire) == age {
            *last = Some(walk);
        }
    }

    /// The next look is a new one.
    pub(super) fn forget(&self) {
        let mut last = locked(&self.last);
        self.age.fetch_add(1, Ordering::AcqRel);
        *last = None;
    }
}

#[derive(Clone)]
struct Walk {
    session: SessionId,
    at: Instant,
    paths: Arc<Paths>,
}

/// The files of a session, as its agent sees them.
impl Sessions {
    /// What is in a folder of the session's path space.
    pub async fn folder(&self, session: &SessionId, path: &str) -> Result<FolderView, SessionError> {
        self.actor(session).await?.folder(path).await
    }

    /// A look at a file; of a text the rows from `from` on.
    pub async fn file_preview(
        &self,
        session: &SessionId,
        path: &str,
        from: TextPlace,
    ) -> Result<FilePreview, SessionError> {
        self.actor(session).await?.file_preview(path, from).await
    }

    /// Files and folders of the whole path space whose names fit the letters of `text`.
    pub async fn find_files(&self, session: &SessionId, text: &str) -> Result<FoundFiles, SessionError> {
        let actor = self.actor(session).await?;
        let index = &self.inner.paths;
        let paths = match index.known(session) {
            Some(paths) => paths,
            None => {
                let age = index.age.load(Ordering::Acquire);
                let paths = Arc::new(actor.paths().await?);
                let walk = Walk { session: session.clone(), at: Instant::now(), paths: Arc::clone(&paths) };
                index.know(walk, age);
                paths
            }
        };
        let (typed, partial) = (text.to_owned(), paths.partial);
        // Thousands of names are ranked: not on a thread that others wait for.
        let ranked = tokio::task::spawn_blocking(move || best(&typed, &paths.spots));
        let (spots, more) = ranked.await.map_err(SessionError::internal)?;
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        Ok(FoundFiles { entries: actor.entries(spots).await?, more, partial })
    }

    /// Looks through all anew with the next search for a file, of any session and project, or for what a message names.
    pub fn look_anew(&self) {
        self.inner.paths.forget();
        self.inner.files.forget();
    }

    /// A whole text, to be copied.
    ///
    /// # Errors
    /// Where it is too large for that, or not text.
    pub async fn file_text(&self, session: &SessionId, path: &str) -> Result<String, SessionError> {
        self.actor(session).await?.file_text(path).await
    }

    /// A file's name and all its bytes, wherever it is kept.
    ///
    /// # Errors
    /// Where it is not there, no file, or larger than what can be handed on.
    pub async fn file_bytes(&self, session: &SessionId, path: &str) -> Result<(String, Vec<u8>), SessionError> {
        self.actor(session).await?.file_bytes(path).await
    }

    /// Writes bytes into `folder` under `name`, or under one like it that no file there has yet.
    pub async fn write_file(&self, folder: &Path, name: &str, bytes: Vec<u8>) -> Result<PathBuf, SessionError> {
        let dot = name.rfind('.').filter(|dot| *dot > 0).unwrap_or(name.len());
        let (stem, ending) = name.split_at(dot);
        write_new(folder, stem, ending, bytes).await
    }

    /// Where a file is on this machine, for programs to open it.
    ///
    /// # Errors
    /// Where it is not on disk, or not there.
    pub async fn host_file(&self, session: &SessionId, path: &str) -> Result<PathBuf, SessionError> {
        self.actor(session).await?.host_file(path).await
    }

    /// Notices what changes in folders of the session that are on disk; at most 256 of them.
    pub async fn watch_folders(&self, session: &SessionId, folders: &[String]) -> Result<FolderWatch, SessionError> {
        self.actor(session).await?.watch_folders(folders).await
    }
}

/// What fits the letters, best first, and how many more do.
fn best(typed: &str, spots: &[Spot]) -> (Vec<Spot>, usize) {
    let fit = |spot: &Spot| score(typed, spot.path.as_str().trim_start_matches('/'));
    let mut found: Vec<(i64, &Spot)> = spots.iter().filter_map(|spot| Some((fit(spot)?, spot))).collect();
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.path.cmp(&other.path)));
    let more = found.len().saturating_sub(MOST_FOUND);
    (found.into_iter().take(MOST_FOUND).map(|(_, spot)| spot.clone()).collect(), more)
}
