//! Blobs that nothing names any more are removed. Whoever stores bytes that are there already makes the blob young again,
//! and a young one stays: what names it may be written a moment later.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{BlobError, BlobStore, BlobUsage, blob_io};
use crate::ContentHash;

/// Between storing bytes and the entry that names them no more than this passes.
const YOUNG: Duration = Duration::from_secs(60 * 60);
/// Making a blob young again is worth a write only after this.
const STALE: Duration = Duration::from_secs(10 * 60);
const LOCK: &str = ".lock";

/// The store is being written: nothing is removed meanwhile, by this process or another.
pub(super) struct Use {
    _lock: File,
}

impl Use {
    pub(super) fn begin(dir: &Path) -> io::Result<Self> {
        let lock = lock(dir)?;
        lock.lock_shared()?;
        Ok(Self { _lock: lock })
    }

    /// These bytes are wanted again.
    pub(super) fn touch(&self, path: &Path) -> io::Result<()> {
        if age(path)? < STALE {
            return Ok(());
        }
        match OpenOptions::new().write(true).open(path).and_then(|blob| blob.set_modified(now())) {
            // Another user's, or on a disk that is read only: nobody removes anything there.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            touched => touched,
        }
    }
}

/// What came of [`BlobStore::sweep`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub freed: BlobUsage,
    /// Stored so lately that they stay for now.
    pub young: Vec<ContentHash>,
}

impl BlobStore {
    /// Removes those of `unnamed` that nobody stored lately.
    pub async fn sweep(&self, unnamed: Vec<ContentHash>) -> Result<Swept, BlobError> {
        self.hop(move |store| store.remove(&unnamed).map_err(|error| blob_io(&store.dir, error))).await
    }

    fn remove(&self, unnamed: &[ContentHash]) -> io::Result<Swept> {
        let lock = lock(&self.dir)?;
        let mut swept = Swept::default();
        for (hash, path) in unnamed.iter().filter_map(|hash| Some((hash, self.path(hash)?))) {
            // Held for one blob only, so that nobody who stores something waits long.
            lock.lock()?;
            match fs::metadata(&path) {
                Ok(blob) if age(&path)? >= YOUNG => {
                    fs::remove_file(&path)?;
                    swept.freed.blobs += 1;
                    swept.freed.bytes += blob.len();
                }
                Ok(_) => swept.young.push(hash.clone()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            lock.unlock()?;
        }
        Ok(swept)
    }
}

fn lock(dir: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(dir.join(LOCK))
}

/// Zero for one that is from the future.
fn age(path: &Path) -> io::Result<Duration> {
    Ok(now().duration_since(fs::metadata(path)?.modified()?).unwrap_or_default())
}

/// By the disk's clock, which has nothing to do with the session's.
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;

    use super::*;

    fn aged(store: &BlobStore, hash: &ContentHash, age: Duration) {
        let blob = OpenOptions::new().write(true).open(store.path(hash).unwrap()).unwrap();
        blob.set_modified(now() - age).unwrap();
    }

    #[tokio::test]
    async fn what_nobody_wants_goes_and_what_was_stored_lately_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = BlobStore::open(folder.path().join("blobs")).unwrap();
        let put = async |text: &str| store.put(Arc::from(text.as_bytes())).await.unwrap();
        let (old, young, again, kept) = (put("old").await, put("young").await, put("again").await, put("kept").await);
        for hash in [&old, &again, &kept] {
            aged(&store, hash, 2 * YOUNG);
        }
        // Whoever stores it again will name it in a moment.
        assert_eq!(put("again").await, again);
        let gone = ContentHash::of(b"never there");
        let swept = store.sweep(vec![old.clone(), young.clone(), again.clone(), gone]).await.unwrap();
        assert_eq!((swept.freed.blobs, swept.young), (1, vec![young.clone(), again.clone()]));
        assert!(!store.contains(&old).await.unwrap());
        for hash in [&young, &again, &kept] {
            assert!(store.contains(hash).await.unwrap());
        }
        assert_eq!(store.usage().await.unwrap().blobs, 3);
    }

    #[tokio::test]
    async fn storing_and_removing_the_same_bytes_at_once_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = BlobStore::open(folder.path().join("blobs")).unwrap();
        let bytes: Arc<[u8]> = Arc::from(&b"wanted"[..]);
        let hash = store.put(Arc::clone(&bytes)).await.unwrap();
        for _ in 0..100 {
            aged(&store, &hash, 2 * YOUNG);
            let (put, swept) = tokio::join!(store.put(Arc::clone(&bytes)), store.sweep(vec![hash.clone()]));
            put.unwrap();
            swept.unwrap();
            assert!(store.contains(&hash).await.unwrap());
        }
    }
}
