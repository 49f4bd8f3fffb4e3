//! Bytes under the name of their hash: previous contents of files, what a person attached.
//!
//! Layout: `ab/cdef…`, the hash's first two characters as the folder. A blob is one byte of encoding, eight bytes of
//! length (little endian) and the bytes, compressed where that makes them smaller. Written beside its name, synced and
//! renamed, so that a blob that exists is whole. Folders are 0700, files 0600.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod sweep;

use crate::ContentHash;
pub use sweep::Swept;
use sweep::Use;

/// Bytes of the part that says whether the whole is worth compressing.
const SAMPLE: usize = 256 * 1024;
/// Blobs below this size are not worth compressing.
const MIN_COMPRESSED: usize = 512;
/// Within a few per cent of the usual level on source text, at twice its speed.
const LEVEL: i32 = 1;
/// For blobs that would keep an edit waiting: still a third of the size of text, and faster than the disk.
const LARGE_LEVEL: i32 = -5;
const LARGE: usize = 1024 * 1024;
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// Content-addressed storage below one private folder. Clones are the same store.
#[derive(Clone, Debug)]
pub struct BlobStore {
    dir: Arc<Path>,
}

/// What a [`BlobStore`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobUsage {
    pub blobs: u64,
    /// Bytes on disk, after compression.
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("the stored content {hash} is missing; restore Bosun's data folder from a backup")]
    Missing { hash: ContentHash },
    #[error("the stored content {hash} is damaged ({reason}); restore Bosun's data folder from a backup")]
    Damaged { hash: ContentHash, reason: String },
    #[error("the disk is full, so content could not be stored; free some space and try again")]
    DiskFull,
    #[error("the content store at {} cannot be used: {source}; check that this folder can be read and written, then try again", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl BlobStore {
    /// Opens the store at `dir`, making it where it is missing. Blocks on the disk for a moment.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let dir = dir.into();
        private_folder(&dir, Parents::Make).map_err(|error| blob_io(&dir, error))?;
        Ok(Self { dir: dir.into() })
    }

    /// Keeps `bytes` for good when it returns; storing the same bytes again costs a look.
    pub async fn put(&self, bytes: Arc<[u8]>) -> Result<ContentHash, BlobError> {
        self.hop(move |store| store.put_now(&bytes)).await
    }

    /// The bytes of `hash`, which were checked against it.
    pub async fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let hash = hash.clone();
        self.hop(move |store| store.read(&hash)).await
    }

    pub async fn contains(&self, hash: &ContentHash) -> Result<bool, BlobError> {
        let hash = hash.clone();
        self.hop(move |store| {
            let Some(path) = store.path(&hash) else { return Ok(false) };
            path.try_exists().map_err(|error| blob_io(&path, error))
        })
        .await
    }

    /// Counts what is stored. Reads the whole folder.
    pub async fn usage(&self) -> Result<BlobUsage, BlobError> {
        self.hop(|store| store.count().map_err(|error| blob_io(&store.dir, error))).await
    }

    /// [`Self::get`] for whoever is on the blocking pool already.
    pub(crate) fn get_now(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        self.read(hash)
    }

    /// A folder of this name beside the store's own.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.parent().unwrap_or(&self.dir).join(name)
    }

    /// A file without a name on the store's own disk, gone when it is closed.
    pub(crate) fn scratch(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.dir)
    }

    async fn hop<T, F>(&self, work: F) -> Result<T, BlobError>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, BlobError> + Send + 'static,
    {
        let store = self.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(result) => result,
            Err(error) => Err(blob_io(&self.dir, io::Error::other(error))),
        }
    }

    /// `None` for text that is no hash, whatever file it might name.
    fn path(&self, hash: &ContentHash) -> Option<PathBuf> {
        let text = hash.as_str();
        let is_hash = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let (folder, name) = text.split_at_checked(2).filter(|_| is_hash)?;
        Some(self.dir.join(folder).join(name))
    }

    /// [`Self::put`] for whoever is on the blocking pool already.
    pub(crate) fn put_now(&self, bytes: &[u8]) -> Result<ContentHash, BlobError> {
        let hash = ContentHash::of(bytes);
        let Some(path) = self.path(&hash) else { return Err(BlobError::Missing { hash }) };
        let used = Use::begin(&self.dir).map_err(|error| blob_io(&self.dir, error))?;
        let stored = match path.try_exists() {
            Ok(true) => used.touch(&path),
            Ok(false) => self.write(&path, bytes),
            Err(error) => Err(error),
        };
        stored.map_err(|error| blob_io(&path, error))?;
        Ok(hash)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.dir);
        if private_folder(folder, Parents::Expect)? {
            File::open(&self.dir)?.sync_all()?;
        }
        // Made 0600 and with a name that nobody can guess.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        encode(bytes, file.as_file_mut())?;
        file.as_file().sync_all()?;
        // A second writer of the same bytes puts the same blob there.
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    }

    fn read(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let Some(path) = self.path(hash) else { return Err(BlobError::Missing { hash: hash.clone() }) };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing { hash: hash.clone() });
            }
            Err(error) => return Err(blob_io(&path, error)),
        };
        let corrupt = |reason: &str| BlobError::Damaged { hash: hash.clone(), reason: reason.to_owned() };
        let bytes = decode(file).map_err(|error| corrupt(&error.to_string()))?;
        if ContentHash::of(&bytes) != *hash {
            return Err(corrupt("its bytes do not match its name"));
        }
        Ok(bytes)
    }

    fn count(&self) -> io::Result<BlobUsage> {
        let mut usage = BlobUsage::default();
        for folder in self.dir.read_dir()? {
            let folder = folder?;
            if !folder.file_type()?.is_dir() {
                continue;
            }
            for blob in folder.path().read_dir()? {
                let blob = blob?.metadata()?;
                usage.blobs += 1;
                usage.bytes += blob.len();
            }
        }
        Ok(usage)
    }
}

fn encode(bytes: &[u8], file: &mut File) -> io::Result<()> {
    let compressed = pays(bytes)?;
    file.write_all(&[if compressed { ZSTD } else { PLAIN }])?;
    file.write_all(&(bytes.len() as u64).to_le_bytes())?;
    if !compressed {
        return file.write_all(bytes);
    }
    let mut encoder = zstd::Encoder::new(file, if bytes.len() < LARGE { LEVEL } else { LARGE_LEVEL })?;
    encoder.write_all(bytes)?;
    encoder.finish()?;
    Ok(())
}

/// Whether the first part becomes at least a tenth smaller.
fn pays(bytes: &[u8]) -> io::Result<bool> {
    if bytes.len() < MIN_COMPRESSED {
        return Ok(false);
    }
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    let smaller = zstd::bulk::compress(sample, 1)?;
    Ok(smaller.len() < sample.len() / 10 * 9)
}

fn decode(mut file: File) -> io::Result<Vec<u8>> {
    let mut encoding = [0_u8; 1];
    let mut length = [0_u8; 8];
    file.read_exact(&mut encoding)?;
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    // One byte more than promised is read at most, whatever the file holds.
    let limit = length.saturating_add(1);
    match encoding {
        [PLAIN] => file.take(limit).read_to_end(&mut bytes)?,
        [ZSTD] => zstd::Decoder::new(file)?.take(limit).read_to_end(&mut bytes)?,
        [other] => return Err(io::Error::other(format!("encoding {other} is not known"))),
    };
    if bytes.len() as u64 != length {
        return Err(io::Error::other("its length is not the one it states"));
    }
    Ok(bytes)
}

#[derive(Clone, Copy, PartialEq)]
enum Parents {
    Make,
    Expect,
}

/// Makes a folder that only this user may enter. Returns whether it was missing.
fn private_folder(path: &Path, parents: Parents) -> io::Result<bool> {
    let missing = !path.try_exists()?;
    let mut builder = DirBuilder::new();
    builder.mode(0o700).recursive(parents == Parents::Make);
    match builder.create(path) {
        Ok(()) => Ok(missing),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

fn blob_io(path: &Path, error: io::Error) -> BlobError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::DiskFull,
        _ => BlobError::Io { path: path.to_owned(), source: error },
    }
}

#[cfg(test)]
#[path = "blobs_tests.rs"]
mod tests;
