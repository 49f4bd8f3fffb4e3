use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::SystemTime;

use rustix::fs::{FileType, Stat};

use crate::fault::{fault, io_fault};
use crate::media::media_type;
use crate::root::{FinalLink, Links, NAME, Root, file_type, identity, modified_ns, size};
use crate::text::PageScan;
use crate::{
    BackendError, ContentHash, FileInfo, FileStamp, ReadContent, ReadResult, ReadWindow, TextPage, VirtualPath,
};

const CHUNK: usize = 256 * 1024;
/// Up to this many bytes a page's stamp carries a hash; larger files are stamped by their figures alone.
const MAX_HASHED: u64 = 16 * 1024 * 1024;
/// A write that began this long ago, in nanoseconds, is over.
pub(super) const RECENT_NS: i64 = 250_000_000;
/// Attempts to see a file that is being written in one state.
const ATTEMPTS: u32 = 8;

pub(super) fn read(
    root: &Root,
    path: &VirtualPath,
    window: ReadWindow,
    limit: u64,
) -> Result<ReadResult, BackendError> {
    let (file, stat) = root.open_file(path)?;
    let file = File::from(file);
    match path.name().and_then(media_type) {
        Some(mime) if size(&stat) > 0 => {
            let (bytes, stamp) = whole(&file, path, limit)?;
            Ok(ReadResult { content: ReadContent::Bytes { mime: mime.to_owned(), bytes: bytes.into() }, stamp })
        }
        _ => {
            let (page, stamp) = snapshot(&file, path, MAX_HASHED, || PageSink::new(window))?;
            Ok(ReadResult { content: ReadContent::Text(page.finish(path, window)?), stamp })
        }
    }
}

/// What a path names, with links followed.
pub(super) fn stat(root: &Root, path: &VirtualPath) -> Result<FileInfo, BackendError> {
    let found = root.open_path(path, NAME, Links::Follow).map_err(|errno| fault(errno, path))?;
    let stat = rustix::fs::fstat(&found).map_err(|errno| fault(errno, path))?;
    let kind = file_type(&stat);
    let named = root.place(path, FinalLink::Keep).ok().and_then(|place| place.found);
    Ok(FileInfo {
        path: path.clone(),
        is_link: named.is_some_and(|named| file_type(&named) == FileType::Symlink),
        is_dir: kind == FileType::Directory,
        size: (kind == FileType::RegularFile).then(|| size(&stat)),
        modified_ns: Some(modified_ns(&stat)),
    })
}

/// All bytes of an open file, in one state of it.
pub(super) fn whole(file: &File, path: &VirtualPath, limit: u64) -> Result<(Vec<u8>, FileStamp), BackendError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| fault(errno, path))?;
    let too_large = |size| BackendError::TooLarge { path: path.clone(), size, limit };
    if size(&stat) > limit {
        return Err(too_large(size(&stat)));
    }
    let capacity = usize::try_from(size(&stat)).map_err(|_| too_large(size(&stat)))?;
    snapshot(file, path, u64::MAX, || Vec::with_capacity(capacity))
}

/// The stamp with its hash of a file whose bytes nobody wants to hold.
pub(super) fn stamp_only(file: &File, path: &VirtualPath) -> Result<FileStamp, BackendError> {
    Ok(snapshot(file, path, u64::MAX, || Discard)?.1)
}

/// The stamp that a page of the file would have, whatever its bytes are.
pub(super) fn mark(file: &File, path: &VirtualPath) -> Result<FileStamp, BackendError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| fault(errno, path))?;
    if size(&stat) > MAX_HASHED { Ok(stamp(&stat, size(&stat), None)) } else { stamp_only(file, path) }
}

/// Takes the bytes of one pass over a file.
trait Sink {
    fn take(&mut self, chunk: &[u8]) -> Result<(), String>;
}

impl Sink for Vec<u8> {
    fn take(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.extend_from_slice(chunk);
        Ok(())
    }
}

struct Discard;

impl Sink for Discard {
    fn take(&mut self, _chunk: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

struct PageSink(PageScan);

impl PageSink {
    fn new(window: ReadWindow) -> Self {
        Self(PageScan::new(window))
    }

    fn finish(self, path: &VirtualPath, window: ReadWindow) -> Result<TextPage, BackendError> {
        self.0.finish(path, window)
    }
}

impl Sink for PageSink {
    fn take(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.0.feed(chunk)
    }
}

/// One pass whose bytes are known to have stood in the file together: its figures did not move meanwhile, or two
/// passes over the same length gave the same bytes (something is being appended). Never a mixture of two states.
///
/// A file that changed a moment ago always takes two passes: the write may still be under way, and it moved the
/// figures when it began.
fn snapshot<S: Sink>(
    file: &File,
    path: &VirtualPath,
    hash_up_to: u64,
    sink: impl Fn() -> S,
) -> Result<(S, FileStamp), BackendError> {
    let look = || rustix::fs::fstat(file).map_err(|errno| fault(errno, path));
    let mut before = look()?;
    let mut length = size(&before);
    let mut last: Option<blake3::Hash> = None;
    let mut failed = None;
    for _ in 0..ATTEMPTS {
        let recent = is_recent(&before);
        let hashed = recent || last.is_some() || length <= hash_up_to;
        let mut hasher = hashed.then(blake3::Hasher::new);
        let mut taken = sink();
        let complete = pass(file, path, length, &mut taken, hasher.as_mut());
        let after = look()?;
        let hash = hasher.map(|hasher| hasher.finalize());
        let still = figures(&before) == figures(&after) && !recent;
        match complete {
            Ok(true) if (still && size(&before) == length) || (hash.is_some() && hash == last) => {
                return Ok((taken, stamp(&before, length, hash.map(ContentHash::from_blake3))));
            }
            Ok(true) if hash.is_some() => last = hash,
            Err(error) if still => return Err(error),
            unsettled => {
                failed = unsettled.err();
                length = size(&after);
                last = None;
            }
        }
        before = after;
    }
    Err(failed.unwrap_or_else(|| BackendError::Unstable { path: path.clone() }))
}

/// Whether a write may be under way that began before the file was looked at.
fn is_recent(stat: &Stat) -> bool {
    let (_, modified, changed, changed_ns) = figures(stat);
    let changed = changed.saturating_mul(1_000_000_000).saturating_add(changed_ns);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    // A clock that is ahead says nothing about the age.
    now.saturating_sub(modified.max(changed)) < RECENT_NS
}

/// `Ok(false)`: the file became shorter.
fn pass(
    file: &File,
    path: &VirtualPath,
    length: u64,
    sink: &mut impl Sink,
    mut hasher: Option<&mut blake3::Hasher>,
) -> Result<bool, BackendError> {
    let mut buffer = vec![0; usize::try_from(length).unwrap_or(CHUNK).clamp(1, CHUNK)];
    let mut offset = 0;
    while offset < length {
        let wanted = usize::try_from(length - offset).unwrap_or(CHUNK).min(buffer.len());
        let room = buffer.get_mut(..wanted).unwrap_or_default();
        let got = match file.read_at(room, offset) {
            Ok(0) => return Ok(false),
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(io_fault(&error, path)),
        };
        let chunk = buffer.get(..got).unwrap_or_default();
        if let Some(hasher) = hasher.as_deref_mut() {
            hasher.update(chunk);
        }
        sink.take(chunk).map_err(|reason| BackendError::NotText { path: path.clone(), reason })?;
        offset += got as u64;
    }
    Ok(true)
}

/// What moves when a file is written.
#[allow(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
pub(super) fn figures(stat: &Stat) -> (u64, i64, i64, i64) {
    (size(stat), modified_ns(stat), stat.st_ctime as i64, stat.st_ctime_nsec as i64)
}

/// Of those, what a rename leaves as it is.
pub(super) fn content_figures(stat: &Stat) -> (u64, i64) {
    let (size, modified, ..) = figures(stat);
    (size, modified)
}

pub(super) fn stamp(stat: &Stat, length: u64, hash: Option<ContentHash>) -> FileStamp {
    let (device, inode) = identity(stat);
    FileStamp { device, inode, size: length, modified_ns: modified_ns(stat), hash }
}
