use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::BlobStore;

/// Fast: what is packed is rarely wanted again.
const LEVEL: i32 = -5;
/// Bytes below this are not worth compressing.
const MIN_COMPRESSED: usize = 512;

/// Bytes of many files one behind the other. What of it is needed for good becomes a blob.
#[derive(Debug)]
pub(super) struct Pack {
    file: File,
    end: AtomicU64,
    limit: u64,
}

/// Where bytes are in a [`Pack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packed {
    at: u64,
    stored: u32,
    /// Bytes as they come out; equal to `stored` where they were not compressed.
    size: u32,
}

impl Pack {
    /// In a file without a name that is gone with the process.
    pub(super) fn open(blobs: &BlobStore, limit: u64) -> io::Result<Self> {
        Self::over(blobs.scratch()?, limit)
    }

    /// In `file`, behind what it has. Takes up to `limit` bytes, and never more than a tenth of what is free on the disk.
    pub(super) fn over(file: File, limit: u64) -> io::Result<Self> {
        let disk = rustix::fs::fstatvfs(&file)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let end = file.metadata()?.len();
        Ok(Self { file, end: AtomicU64::new(end), limit: limit.min((end + free) / 10).max(end) })
    }

    /// Whether so many bytes fit, as they are.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.end.load(Ordering::Relaxed).saturating_add(bytes) <= self.limit
    }

    /// `None` where there is no room any more or the disk does not take it.
    pub(super) fn put(&self, bytes: &[u8]) -> Option<Packed> {
        let size = u32::try_from(bytes.len()).ok()?;
        let smaller = match bytes.len() {
            ..MIN_COMPRESSED => None,
            _ => zstd::bulk::compress(bytes, LEVEL).ok().filter(|smaller| smaller.len() < bytes.len()),
        };
        let stored = smaller.as_deref().unwrap_or(bytes);
        let length = u32::try_from(stored.len()).ok()?;
        let at = self.end.fetch_add(u64::from(length), Ordering::Relaxed);
        if at + u64::from(length) > self.limit {
            return None;
        }
        match self.file.write_all_at(stored, at) {
            Ok(()) => Some(Packed { at, stored: length, size }),
            Err(error) => {
                tracing::warn!(%error, "the bytes of a file could not be kept");
                None
            }
        }
    }

    pub(super) fn get(&self, packed: Packed) -> io::Result<Vec<u8>> {
        let mut stored = vec![0; usize::try_from(packed.stored).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut stored, packed.at)?;
        if packed.stored == packed.size {
            return Ok(stored);
        }
        zstd::bulk::decompress(&stored, usize::try_from(packed.size).map_err(io::Error::other)?)
    }
}
