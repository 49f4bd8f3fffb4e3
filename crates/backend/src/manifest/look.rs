use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use rustix::fs::Stat;

use super::pack::{Pack, Packed};
use super::{Sightings, Uncompared};
use crate::root::{Root, identity, modified_ns, size};
use crate::search::{Budget, Seeing, SeenFile, every_file};
use crate::{BackendError, ContentHash, Truncation, VirtualPath};

/// Two writes closer together than this, in nanoseconds, may leave a file with the same times.
pub(super) const GRAIN: i64 = 50_000_000;

/// What tells that a file was written, replaced or touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    pub size: u64,
    pub modified: i64,
    /// When anything about the file was changed last.
    pub changed: i64,
    pub inode: u64,
    /// Unix permission bits.
    pub mode: u32,
}

impl Figures {
    #[allow(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
    pub(super) fn of(stat: &Stat) -> Self {
        let changed = (stat.st_ctime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_ctime_nsec as i64);
        Self { size: size(stat), modified: modified_ns(stat), changed, inode: identity(stat).1, mode: mode_of(stat) }
    }

    /// Whether a file that has the figures `now` is this one, and only its rights were changed, as far as they tell.
    pub(super) fn is_unwritten(&self, now: &Self) -> bool {
        (self.size, self.modified, self.inode) == (now.size, now.modified, now.inode) && self.mode != now.mode
    }

    /// Whether it may be written again without its figures telling.
    pub(super) fn is_fresh(&self) -> bool {
        self.changed.max(self.modified) > now_ns().saturating_sub(GRAIN)
    }
}

#[cfg_attr(target_os = "linux", expect(clippy::useless_conversion, reason = "macOS has modes of 16 bits"))]
fn mode_of(stat: &Stat) -> u32 {
    rustix::fs::Mode::from_raw_mode(stat.st_mode & 0o777).bits().into()
}

/// A file as it was seen last.
#[derive(Debug)]
pub(super) struct Seen {
    pub figures: Figures,
    pub kept: Option<Kept>,
    /// It was written as it was looked at.
    pub fresh: bool,
    /// The last look that met it.
    pub look: AtomicU32,
}

/// Where the bytes of a file are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Packed(Packed),
    Stored(ContentHash),
}

/// What a look came to.
pub(super) enum Looked {
    All(Differences),
    Off(Uncompared),
}

/// What is not as it was seen last.
#[derive(Default)]
pub(super) struct Differences {
    /// Whether commands run, which did this.
    pub told: bool,
    /// Files that are new or have other figures.
    pub met: Vec<Met>,
    /// Files that were not met any more.
    pub gone: Vec<VirtualPath>,
}

pub(super) struct Met {
    pub path: VirtualPath,
    pub figures: Figures,
    pub kept: Option<Kept>,
    pub fresh: bool,
}

impl Sightings {
    /// Walks all files. Blocks.
    pub(super) fn look_now(&self, root: &Root, budget: &Budget) -> Result<Looked, BackendError> {
        let told = !self.commands().running.is_empty();
        let pack = self.pack();
        let known = self.read();
        if let Some(off) = known.off {
            return Ok(Looked::Off(off));
        }
        let looking = Looking {
            sightings: self,
            known: &known,
            pack,
            number: known.look.wrapping_add(1),
            told,
            budget,
            keep_until: Instant::now() + self.limits.keep_time,
            count: AtomicUsize::new(0),
            too_many: AtomicBool::new(false),
            met: Mutex::default(),
        };
        let walked = every_file(root, budget, &looking);
        if looking.too_many.load(Ordering::Relaxed) {
            return Ok(Looked::Off(Uncompared::TooMany { limit: self.limits.files }));
        }
        if walked? == Some(Truncation::Budget) {
            return Ok(Looked::Off(Uncompared::TooSlow { limit: self.limits.look_time }));
        }
        let number = looking.number;
        let met = looking.met.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_gone = |seen: &Seen| seen.look.load(Ordering::Relaxed) != number;
        let gone = known.files.iter().filter(|(_, seen)| is_gone(seen)).map(|(path, _)| path.clone()).collect();
        drop(known);
        self.write().look = number;
        Ok(Looked::All(Differences { told, met, gone }))
    }

    fn pack(&self) -> Option<Arc<Pack>> {
        let mut known = self.write();
        if known.pack.is_none() && known.off.is_none() {
            let limit = self.limits.kept_bytes;
            match self.trail().map_or_else(|| Pack::open(&self.blobs, limit), |trail| trail.begin(limit)) {
                Ok(pack) => known.pack = Some(Arc::new(pack)),
                Err(error) => tracing::warn!(%error, "the bytes of files cannot be kept now"),
            }
        }
        known.pack.clone()
    }
}

struct Looking<'a> {
    sightings: &'a Sightings,
    known: &'a super::Known,
    pack: Option<Arc<Pack>>,
    number: u32,
    told: bool,
    budget: &'a Budget,
    keep_until: Instant,
    count: AtomicUsize,
    too_many: AtomicBool,
    met: Mutex<Vec<Met>>,
}

impl Seeing for Looking<'_> {
    fn see(&self, file: &SeenFile<'_>) {
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.sightings.limits.files {
            self.too_many.store(true, Ordering::Relaxed);
            self.budget.stop();
            return;
        }
        let figures = Figures::of(&file.stat);
        if let Some(seen) = self.known.files.get(&file.path) {
            seen.look.store(self.number, Ordering::Relaxed);
            if seen.figures == figures && !seen.fresh && !self.could_keep_now(seen) {
                return;
            }
        }
        let kept = if self.told { None } else { self.keep(file, &figures) };
        let met = Met { path: file.path.clone(), figures, kept, fresh: figures.is_fresh() };
        self.met.lock().unwrap_or_else(PoisonError::into_inner).push(met);
    }
}

impl Looking<'_> {
    /// Whether the bytes of a file that could not be kept when it was met may be kept this time.
    fn could_keep_now(&self, seen: &Seen) -> bool {
        let small = seen.figures.size <= self.sightings.limits.file_bytes;
        let has_room = self.pack.as_ref().is_some_and(|pack| pack.has_room(seen.figures.size));
        seen.kept.is_none() && !self.told && small && has_room && Instant::now() < self.keep_until
    }

    fn keep(&self, file: &SeenFile<'_>, figures: &Figures) -> Option<Kept> {
        if figures.size > self.sightings.limits.file_bytes || Instant::now() >= self.keep_until {
            return None;
        }
        let bytes = whole(file.open()?, figures)?;
        self.pack.as_ref()?.put(&bytes).map(Kept::Packed)
    }
}

/// The bytes of a file that has these figures before and after they were read.
pub(super) fn whole(file: File, figures: &Figures) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(figures.size).ok()?.saturating_add(1));
    let read = (&file).take(figures.size.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    let after = Figures::of(&rustix::fs::fstat(&file).ok()?);
    (u64::try_from(read).ok()? == figures.size && after == *figures).then_some(bytes)
}

/// Nanoseconds since 1970.
pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
