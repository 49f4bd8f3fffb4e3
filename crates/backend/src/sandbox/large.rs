//! Text files that are too large to go over whole. They come part by part, and no more than one part is held.

use std::io::{self, Read};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Executor;
use super::answer::Figures;
use super::script::{self, READ_PART};
use crate::text::PageScan;
use crate::{BackendError, ContentHash, FileStamp, ReadContent, ReadResult, ReadWindow, VirtualPath};

/// Blocks of one part, and bytes of a block.
const BLOCKS: u64 = 32;
const BLOCK: u64 = 1024 * 1024;
const PART: u64 = BLOCKS * BLOCK;
/// What a part's answer has besides its bytes.
const FRAME: usize = 4096;
/// Passes over a file that is being written.
const PASSES: u32 = 4;

/// The window's lines of a file that was `size` bytes when it was looked at.
pub(super) async fn page(
    executor: &dyn Executor,
    path: &VirtualPath,
    window: ReadWindow,
    size: u64,
) -> Result<ReadResult, BackendError> {
    let (scan, stamp) = settled(executor, path, size, || PageScan::new(window), PageScan::feed).await?;
    Ok(ReadResult { content: ReadContent::Text(scan.finish(path, window)?), stamp })
}

/// The stamp that [`page`] gives, for a file whose lines nobody wants.
pub(super) async fn stamp(executor: &dyn Executor, path: &VirtualPath, size: u64) -> Result<FileStamp, BackendError> {
    Ok(settled(executor, path, size, || (), |(), _| Ok(())).await?.1)
}

/// How a pass over a file ended.
enum Pass {
    /// All of it went through; whether the file stayed as it was meanwhile.
    Whole { hash: blake3::Hash, modified_ns: i64, still: bool },
    /// The file became shorter, or what was not text was met while it was written: it has so many bytes now.
    Broken { size: u64, reason: BackendError },
}

/// One pass whose bytes are known to have stood in the file together: nothing about it moved meanwhile, or two passes over
/// the same length gave the same bytes (something is being appended). Never a mixture of two states.
async fn settled<S>(
    executor: &dyn Executor,
    path: &VirtualPath,
    size: u64,
    fresh: impl Fn() -> S,
    take: impl Fn(&mut S, &[u8]) -> Result<(), String>,
) -> Result<(S, FileStamp), BackendError> {
    let mut length = size;
    let mut last = None;
    let mut failed = BackendError::Unstable { path: path.clone() };
    for _ in 0..PASSES {
        let mut taken = fresh();
        match pass(executor, path, length, |bytes| take(&mut taken, bytes)).await? {
            Pass::Whole { hash, modified_ns, still } if still || last == Some(hash) => {
                let hash = Some(ContentHash::from_blake3(hash));
                return Ok((taken, FileStamp { device: 0, inode: 0, size: length, modified_ns, hash }));
            }
            Pass::Whole { hash, .. } => last = Some(hash),
            Pass::Broken { size, reason } => (length, last, failed) = (size, None, reason),
        }
    }
    Err(failed)
}

async fn pass(
    executor: &dyn Executor,
    path: &VirtualPath,
    length: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<Pass, BackendError> {
    let unstable = || BackendError::Unstable { path: path.clone() };
    let mut hasher = blake3::Hasher::new();
    let (mut offset, mut still) = (0, true);
    let mut state: Option<Vec<u8>> = None;
    loop {
        let answer = script::run(executor, script_for(path, offset), path).await?;
        let part = Part::of(&answer).ok_or_else(unstable)?;
        still &= part.before == part.after && state.is_none_or(|state| state == part.before);
        state = Some(part.after.to_vec());
        let wanted = PART.min(length - offset);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let Some(bytes) = part.bytes.get(..wanted) else {
            return Ok(Pass::Broken { size: part.figures.size, reason: unstable() });
        };
        hasher.update(bytes);
        if let Err(reason) = take(bytes) {
            let reason = BackendError::NotText { path: path.clone(), reason };
            return if still { Err(reason) } else { Ok(Pass::Broken { size: part.figures.size, reason }) };
        }
        offset += wanted as u64;
        if offset >= length {
            let (modified_ns, still) = (part.figures.modified_ns, still && part.figures.size == length);
            return Ok(Pass::Whole { hash: hasher.finalize(), modified_ns, still });
        }
    }
}

/// Hands the parts of the file at `path` on as they come, until nobody takes them, in the time that is left.
pub(super) async fn feed(
    executor: &dyn Executor,
    path: &VirtualPath,
    to: mpsc::Sender<Vec<u8>>,
    time: impl Fn() -> Duration,
    cancel: &CancellationToken,
) -> Result<(), BackendError> {
    let unstable = || BackendError::Unstable { path: path.clone() };
    let mut offset = 0;
    loop {
        let mut script = script_for(path, offset);
        (script.time, script.cancel) = (time(), cancel.clone());
        let answer = script::run(executor, script, path).await?;
        let part = Part::of(&answer).ok_or_else(unstable)?;
        let taken = part.bytes.len() as u64;
        if taken > 0 && to.send(part.bytes.to_vec()).await.is_err() || taken < PART {
            return Ok(());
        }
        offset += taken;
    }
}

/// A file whose parts come one by one: where they are put, and where they are read. One part waits while another is read.
pub(super) fn parts() -> (mpsc::Sender<Vec<u8>>, Parts) {
    let (to, from) = mpsc::channel(1);
    (to, Parts { from, part: Vec::new(), at: 0 })
}

/// Blocks while the next part is on its way.
pub(super) struct Parts {
    from: mpsc::Receiver<Vec<u8>>,
    part: Vec<u8>,
    at: usize,
}

impl Read for Parts {
    /// As of a file: less than was asked for comes at its end alone.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            let mut rest = self.part.get(self.at..).unwrap_or_default();
            let got = rest.read(room)?;
            (filled, self.at) = (filled + got, self.at + got);
            if got == 0 {
                let Some(next) = self.from.blocking_recv() else { break };
                (self.part, self.at) = (next, 0);
            }
        }
        Ok(filled)
    }
}

fn script_for(path: &VirtualPath, offset: u64) -> super::Script<'static> {
    let (before, blocks) = ((offset / BLOCK).to_string(), BLOCKS.to_string());
    let mut script = script::about(READ_PART, path, &[&before, &blocks]);
    script.limit = usize::try_from(PART).unwrap_or(usize::MAX).saturating_add(FRAME);
    script
}

/// What the script told.
struct Part<'a> {
    figures: Figures,
    /// Which object it was and when it last changed, in words that are only compared.
    before: &'a [u8],
    after: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Part<'a> {
    fn of(answer: &'a [u8]) -> Option<Self> {
        let mut ends = memchr::memchr_iter(b'\n', answer);
        let (first, second) = (ends.next()?, ends.next()?);
        let last = memchr::memrchr(b'\n', answer.strip_suffix(b"\n")?)?;
        let (figures, _) = Figures::parse(std::str::from_utf8(answer.get(..first)?).ok()?)?;
        let (before, after) = (answer.get(first + 1..second)?, answer.get(last + 1..answer.len() - 1)?);
        Some(Self { figures, before, after, bytes: answer.get(second + 1..last)? })
    }
}

#[cfg(test)]
#[path = "large_tests.rs"]
mod tests;
