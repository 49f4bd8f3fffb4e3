//! Files kept in the store, in one namespace of it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use crate::clock::Now;
use crate::shelf::{Rows, Shelf};
use crate::store::path_of;
use crate::{
    BackendError, BoxFuture, FileData, FileInfo, Held, Listed, Namespace, Store, StoreError, StoreHit, StoreItem,
    StoreQuery, Swap, VirtualPath,
};

/// Files of one namespace that a listing or a search looks at.
const MAX_ROWS: usize = 1_000_000;

/// Whose files they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreScope {
    /// The person's, in every project.
    User,
    /// Those of one project, by its id.
    Project(String),
    /// Those of one kind of agent, by its name, wherever it works.
    Assistant(String),
}

impl StoreScope {
    /// The namespace of files of this `kind` (`memories`, `skills`).
    ///
    /// # Errors
    /// [`StoreError::BadNamespace`] for an id with characters that a namespace cannot have.
    pub fn namespace(&self, kind: &str) -> Result<Namespace, StoreError> {
        match self {
            Self::User => Namespace::new([kind, "user"]),
            Self::Project(id) => Namespace::new([kind, "project", id]),
            Self::Assistant(name) => Namespace::new([kind, "assistant", name]),
        }
    }
}

/// The files in a namespace of a [`Store`]. The key is the path, the value a [`FileData`]; values of another shape are
/// no files and are passed over.
#[derive(Clone)]
pub struct StoreBackend {
    store: Arc<dyn Store>,
    namespace: Namespace,
    now: Now,
}

type Changing = tokio::sync::Mutex<()>;

/// By namespace, whichever backend it is that changes something there.
static CHANGING: LazyLock<Mutex<HashMap<Namespace, Weak<Changing>>>> = LazyLock::new(Mutex::default);

/// Above this many entries, those that nobody holds any more are swept out.
const SWEEP_AT: usize = 256;

impl StoreBackend {
    /// The largest file that is taken in, in bytes. Every word and every run of three characters of it goes into the indices
    /// of the store while whatever else is written waits, and up to a hundred of its earlier versions stay.
    pub const LARGEST_FILE: u64 = 1024 * 1024;

    pub fn new(store: Arc<dyn Store>, namespace: Namespace) -> Self {
        Self::at(store, namespace, Now::default())
    }

    /// With another clock than the system's.
    pub fn at(store: Arc<dyn Store>, namespace: Namespace, now: Now) -> Self {
        Self { store, namespace, now }
    }

    async fn search(&self, prefix: String, limit: usize) -> Result<Vec<StoreHit>, BackendError> {
        let query =
            StoreQuery { namespace: self.namespace.clone(), key_prefix: Some(prefix), text: None, limit, offset: 0 };
        self.store.search(query).await.map_err(|error| fault(&error, &VirtualPath::root()))
    }
}

fn fault(error: &StoreError, path: &VirtualPath) -> BackendError {
    BackendError::Io { path: path.clone(), kind: std::io::ErrorKind::Other, reason: error.to_string() }
}

/// What every key below `path` begins with.
fn prefix_of(path: &VirtualPath) -> String {
    if path.is_root() { "/".to_owned() } else { format!("{path}/") }
}

fn file(item: StoreItem) -> Option<(VirtualPath, Arc<FileData>)> {
    Some((path_of(&item.key)?, Arc::new(serde_json::from_value(item.value).ok()?)))
}

fn data_of(value: &Value) -> Option<FileData> {
    FileData::deserialize(value).ok()
}

fn sorted(items: Vec<StoreItem>) -> Rows {
    let mut rows: Rows = items.into_iter().filter_map(file).collect();
    rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    rows
}

impl Shelf for StoreBackend {
    fn lock(&self) -> BoxFuture<'_, OwnedMutexGuard<()>> {
        let lock = {
            let mut locks = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
            if locks.len() > SWEEP_AT {
                locks.retain(|_, lock| lock.strong_count() > 0);
            }
            let entry = locks.entry(self.namespace.clone()).or_default();
            entry.upgrade().unwrap_or_else(|| {
                let lock = Arc::new(Changing::default());
                *entry = Arc::downgrade(&lock);
                lock
            })
        };
        Box::pin(lock.lock_owned())
    }

    fn rows<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move {
            let hits = self.search(prefix_of(path), MAX_ROWS).await?;
            let mut rows: Rows = hits.into_iter().filter_map(|hit| file(hit.item)).collect();
            if let Some(data) = self.get(path).await? {
                rows.push((path.clone(), data));
            }
            rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            Ok(rows)
        })
    }

    fn paths<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Vec<VirtualPath>, BackendError>> {
        Box::pin(async move {
            let keys = self.store.keys(&self.namespace, &prefix_of(path), MAX_ROWS).await;
            let keys = keys.map_err(|error| fault(&error, path))?;
            let mut paths: Vec<VirtualPath> = keys.iter().filter_map(|key| path_of(key)).collect();
            if self.get(path).await?.is_some() {
                paths.push(path.clone());
            }
            paths.sort_unstable();
            Ok(paths)
        })
    }

    fn children<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Vec<FileInfo>, BackendError>> {
        Box::pin(async move {
            let rows = self.store.children(&self.namespace, &prefix_of(path), Listed::MOST + 1).await;
            let rows = rows.map_err(|error| fault(&error, path))?;
            if rows.is_empty() && self.get(path).await?.is_some() {
                return Err(BackendError::NotADirectory { path: path.clone() });
            }
            Ok(rows)
        })
    }

    fn get_many<'a>(&'a self, paths: &'a BTreeSet<VirtualPath>) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move {
            let keys: Vec<String> = paths.iter().map(|path| path.as_str().to_owned()).collect();
            let items = self.store.get_many(&self.namespace, &keys).await;
            Ok(sorted(items.map_err(|error| fault(&error, &VirtualPath::root()))?))
        })
    }

    fn page<'a>(
        &'a self,
        path: &'a VirtualPath,
        after: Option<&'a VirtualPath>,
        most: usize,
    ) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move {
            if after.is_none()
                && let Some(data) = self.get(path).await?
            {
                return Ok(vec![(path.clone(), data)]);
            }
            let prefix = prefix_of(path);
            let mut after = after.filter(|after| *after != path).map_or_else(String::new, VirtualPath::to_string);
            // Values that are no files can fill whole pages.
            loop {
                let items = self.store.files(&self.namespace, &prefix, &after, most).await;
                let items = items.map_err(|error| fault(&error, path))?;
                let Some((last, _)) = items.last() else { return Ok(Rows::new()) };
                after.clone_from(last);
                let file = |(key, data): (String, Option<FileData>)| Some((path_of(&key)?, Arc::new(data?)));
                let mut rows: Rows = items.into_iter().filter_map(file).collect();
                rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
                if !rows.is_empty() {
                    return Ok(rows);
                }
            }
        })
    }

    fn holding<'a>(
        &'a self,
        path: &'a VirtualPath,
        run: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Held<Rows>, BackendError>> {
        Box::pin(async move {
            let held = self.store.holding(&self.namespace, &prefix_of(path), run, most).await;
            let items = match held.map_err(|error| fault(&error, path))? {
                Held::These(items) => items,
                Held::Many => return Ok(Held::Many),
                Held::Unknown => return Ok(Held::Unknown),
            };
            let mut rows = sorted(items);
            if let Some(data) = self.get(path).await? {
                rows.push((path.clone(), data));
                rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            }
            Ok(Held::These(rows))
        })
    }

    fn named<'a>(
        &'a self,
        path: &'a VirtualPath,
        run: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<VirtualPath>>, BackendError>> {
        Box::pin(async move {
            let held = self.store.named(&self.namespace, &prefix_of(path), run, most).await;
            Ok(match held.map_err(|error| fault(&error, path))? {
                Held::These(keys) => {
                    let mut paths: Vec<VirtualPath> = keys.iter().filter_map(|key| path_of(key)).collect();
                    if self.get(path).await?.is_some() {
                        paths.push(path.clone());
                    }
                    paths.sort_unstable();
                    Held::These(paths)
                }
                Held::Many => Held::Many,
                Held::Unknown => Held::Unknown,
            })
        })
    }

    fn get<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<Arc<FileData>>, BackendError>> {
        Box::pin(async move {
            if path.is_root() {
                return Ok(None);
            }
            let item = self.store.get(&self.namespace, path.as_str()).await.map_err(|error| fault(&error, path))?;
            Ok(item.and_then(|item| serde_json::from_value(item.value).ok()).map(Arc::new))
        })
    }

    fn is_folder<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<bool, BackendError>> {
        Box::pin(async move {
            // As in a listing: what is no file is no reason for a folder.
            let first = self.store.children(&self.namespace, &prefix_of(path), 1).await;
            Ok(!first.map_err(|error| fault(&error, path))?.is_empty())
        })
    }

    fn set<'a>(
        &'a self,
        path: &'a VirtualPath,
        current: Option<&'a FileData>,
        data: Option<Arc<FileData>>,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            let changed = || BackendError::Changed { path: path.clone() };
            let next = data.map(|data| serde_json::to_value(&*data)).transpose().map_err(|error| {
                let kind = std::io::ErrorKind::InvalidData;
                BackendError::Io { path: path.clone(), kind, reason: error.to_string() }
            })?;
            // The value itself is what is compared: files of older agents are not written as they are read.
            let item = self.store.get(&self.namespace, path.as_str()).await.map_err(|error| fault(&error, path))?;
            let standing = item.map(|item| item.value);
            if standing.as_ref().and_then(data_of).as_ref() != current {
                return Err(changed());
            }
            let swap = self.store.compare_and_swap(&self.namespace, path.as_str(), standing, next).await;
            match swap.map_err(|error| fault(&error, path))? {
                Swap::Done => Ok(()),
                Swap::Changed => Err(changed()),
            }
        })
    }

    fn over(&self, path: &VirtualPath, size: u64) -> Option<BackendError> {
        let limit = Self::LARGEST_FILE;
        (size > limit).then(|| BackendError::TooLargeToKeep { path: path.clone(), size, limit })
    }

    fn now(&self) -> i64 {
        self.now.ms()
    }

    fn is_state(&self) -> bool {
        false
    }
}
