use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ContentHash;

/// Content-addressed bytes beside the database: file contents before a change, large outputs.
///
/// A blob's name is the BLAKE3 of its bytes, so writing one twice is writing it once. Blobs are written whole (temporary
/// file, sync, rename, sync of the folder) and checked when they are read. Folders are 0700 and files 0600.
#[derive(Debug)]
pub struct BlobStore {
    root: PathBuf,
}

/// A blob that could not be kept or given back.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("the disk is full, so the bytes before the change could not be kept; free some space and go on")]
    DiskFull,
    #[error("blob {hash} is not there; it may have been removed with its session")]
    Missing { hash: ContentHash },
    #[error("blob {hash} is damaged on the disk and was not used")]
    Damaged { hash: ContentHash },
    #[error("the blob store could not be used: {0}")]
    Io(#[source] io::Error),
}

/// Compression pays from here on, and below it the frame would cost more than it saves.
const COMPRESS_FROM: usize = 256;
/// Fast, and within a few per cent of the default's size on source text.
const LEVEL: i32 = 1;
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

impl BlobStore {
    /// Opens the store in `root`, making the folder where it is missing.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let root = root.into();
        make_private_folder(&root).map_err(failed)?;
        Ok(Self { root })
    }

    /// Keeps `bytes`; on stable storage when it returns.
    pub async fn put(self: &Arc<Self>, bytes: Arc<[u8]>) -> Result<ContentHash, BlobError> {
        let store = Arc::clone(self);
        run(move || store.put_blocking(&bytes)).await
    }

    /// The bytes named `hash`, checked against their name.
    pub async fn get(self: &Arc<Self>, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let (store, hash) = (Arc::clone(self), hash.clone());
        run(move || store.get_blocking(&hash)).await
    }

    pub fn contains(&self, hash: &ContentHash) -> bool {
        self.place(hash).exists()
    }

    fn put_blocking(&self, bytes: &[u8]) -> Result<ContentHash, BlobError> {
        let hash = ContentHash::of(bytes);
        let place = self.place(&hash);
        if place.exists() {
            return Ok(hash);
        }
        let folder = place.parent().unwrap_or(&self.root);
        make_private_folder(folder).map_err(failed)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder).map_err(failed)?;
        file.write_all(&packed(bytes)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&place).map_err(|error| failed(error.error))?;
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(hash)
    }

    fn get_blocking(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let packed = match fs::read(self.place(hash)) {
            Ok(packed) => packed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing { hash: hash.clone() });
            }
            Err(error) => return Err(failed(error)),
        };
        let bytes = unpacked(&packed).filter(|bytes| ContentHash::of(bytes) == *hash);
        bytes.ok_or_else(|| BlobError::Damaged { hash: hash.clone() })
    }

    /// `ab/cdef…`: 256 folders keep each one short.
    fn place(&self, hash: &ContentHash) -> PathBuf {
        let (shard, rest) = hash.as_str().split_at_checked(2).unwrap_or(("", hash.as_str()));
        self.root.join(shard).join(rest)
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() >= COMPRESS_FROM
        && let Ok(mut small) = zstd::bulk::compress(bytes, LEVEL)
        && small.len() < bytes.len()
    {
        small.insert(0, ZSTD);
        return small;
    }
    let mut plain = Vec::with_capacity(bytes.len() + 1);
    plain.push(PLAIN);
    plain.extend_from_slice(bytes);
    plain
}

fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    match packed.split_first()? {
        (&PLAIN, bytes) => Some(bytes.to_vec()),
        (&ZSTD, bytes) => zstd::stream::decode_all(bytes).ok(),
        _ => None,
    }
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn failed(error: io::Error) -> BlobError {
    if error.kind() == io::ErrorKind::StorageFull { BlobError::DiskFull } else { BlobError::Io(error) }
}

async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| BlobError::Io(io::Error::other(error)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Arc<BlobStore>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(BlobStore::open(folder.path().join("blobs")).unwrap());
        (folder, store)
    }

    #[tokio::test]
    async fn bytes_come_back_as_they_went() {
        let (_folder, store) = store();
        for bytes in [Vec::new(), b"short".to_vec(), b"long enough to pack ".repeat(100), vec![0xA7; 3]] {
            let hash = store.put(bytes.clone().into()).await.unwrap();
            assert_eq!(store.put(bytes.clone().into()).await.unwrap(), hash);
            assert_eq!(store.get(&hash).await.unwrap(), bytes);
        }
    }

    #[tokio::test]
    async fn a_damaged_or_missing_blob_is_said_and_not_used() {
        let (_folder, store) = store();
        let hash = store.put(b"kept".to_vec().into()).await.unwrap();
        fs::write(store.place(&hash), b"\0kepT").unwrap();
        assert!(matches!(store.get(&hash).await, Err(BlobError::Damaged { .. })));
        let other = ContentHash::of(b"never");
        assert!(matches!(store.get(&other).await, Err(BlobError::Missing { .. })));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_the_owner_can_look_in() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, store) = store();
        let hash = store.put(b"kept".to_vec().into()).await.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&store.root), mode(&store.place(&hash))), (0o700, 0o600));
    }
}
