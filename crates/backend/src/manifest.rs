//! What commands do to files: the files of a project that are not ignored are looked at before and after each.
//!
//! | at | a file that is new or has other figures |
//! |---|---|
//! | a look while no command runs | is seen for the first time: its bytes are packed away |
//! | a look while one runs, or when it ends | was changed by that command: both states become blobs |
//!
//! Figures are size, times and inode; a file that was written as it was looked at is compared by its bytes the next time.
//! What other tools did meanwhile is noted by them and is not the command's. What a person did meanwhile cannot be told
//! from the command's work.

mod look;
mod pack;
mod settle;
mod trail;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio_util::sync::CancellationToken;

use crate::fault::on_disk;
use crate::root::Root;
use crate::search::Budget;
use crate::{BackendError, BlobStore, ContentHash, VirtualPath};
use look::{Looked, Seen};
use pack::Pack;
use trail::{Left, Trail};

/// Bounds of what [`Sightings`] look at and keep.
#[derive(Clone, Copy, Debug)]
pub struct SightingLimits {
    /// Files of a project; with more nothing is compared.
    pub files: usize,
    /// Largest file whose bytes are kept.
    pub file_bytes: u64,
    /// Bytes of all files together, compressed.
    pub kept_bytes: u64,
    /// One look at all files; what takes longer is not compared.
    pub look_time: Duration,
    /// Of that, how long bytes are packed away.
    pub keep_time: Duration,
    /// Files changed by one command whose bytes are kept.
    pub changes: usize,
    /// Files whose bytes are not kept that are named for one command; the rest is counted.
    pub named: usize,
}

impl Default for SightingLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            files: 200_000,
            file_bytes: 4 * MIB,
            kept_bytes: 1024 * MIB,
            look_time: Duration::from_secs(20),
            keep_time: Duration::from_secs(10),
            changes: 2_000,
            named: 200,
        }
    }
}

/// What a command did to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandChanges {
    /// Those whose bytes are kept, before and after; by path.
    pub changes: Vec<CommandChange>,
    /// Those that cannot be undone; by path.
    pub unkept: Vec<UnkeptChange>,
    /// How many more cannot be undone.
    pub more: usize,
    /// Why nothing was compared.
    pub uncompared: Option<Uncompared>,
}

/// A file that a command changed. Both states are blobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandChange {
    pub path: VirtualPath,
    /// `None` where there was no file.
    pub before: Option<ContentHash>,
    pub after: Option<ContentHash>,
    /// Unix permission bits before; `None` where there was no file.
    pub mode: Option<u32>,
    /// The same afterwards. They may be all that was changed.
    pub mode_after: Option<u32>,
}

impl CommandChange {
    /// Whether anything is not as it was.
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after || (self.after.is_some() && self.mode != self.mode_after)
    }
}

/// A file that a command changed and whose bytes before or after are not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnkeptChange {
    pub path: VirtualPath,
    /// Bytes; `None` where there was no file.
    pub before: Option<u64>,
    pub after: Option<u64>,
}

/// Why files were not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncompared {
    TooMany {
        limit: usize,
    },
    TooSlow {
        limit: Duration,
    },
    /// The project or the store of bytes cannot be read now.
    Unreadable,
}

/// What was seen of a project's files. One for all sessions of a project: they see the same files.
#[derive(Debug)]
pub struct Sightings {
    blobs: Arc<BlobStore>,
    limits: SightingLimits,
    /// Held over each look.
    order: AsyncMutex<()>,
    known: RwLock<Known>,
    commands: Mutex<Commands>,
    /// The folder in which what was seen outlives the app.
    folder: Option<PathBuf>,
    trail: OnceLock<Option<Trail>>,
    /// What a command did under which the app ended, until somebody asks.
    left: Mutex<Option<CommandChanges>>,
}

#[derive(Debug, Default)]
struct Known {
    files: HashMap<VirtualPath, Seen>,
    pack: Option<Arc<Pack>>,
    /// Number of the last look.
    look: u32,
    off: Option<Uncompared>,
}

#[derive(Debug, Default)]
struct Commands {
    last: u64,
    /// The running ones, in the order in which they began.
    running: Vec<Running>,
    /// What tools other than commands made of files while one ran; `None` for a delete.
    noted: HashMap<VirtualPath, Option<ContentHash>>,
}

/// The number of the command under which the app ended.
const LEFT: u64 = 0;

#[derive(Debug)]
struct Running {
    number: u64,
    /// Nanoseconds since 1970.
    since: i64,
    found: CommandChanges,
}

/// A command that runs. Dropped without [`Self::ended`] it is forgotten by this life of the app.
#[derive(Debug)]
pub(crate) struct Command {
    sightings: Arc<Sightings>,
    number: u64,
}

impl Sightings {
    pub fn new(blobs: Arc<BlobStore>, limits: SightingLimits) -> Self {
        Self {
            blobs,
            limits,
            order: AsyncMutex::default(),
            known: RwLock::default(),
            commands: Mutex::default(),
            folder: None,
            trail: OnceLock::new(),
            left: Mutex::default(),
        }
    }

    /// As [`Self::new`]; what a command does is found out also where the app ends under it, by what is kept in `folder`.
    pub fn kept_in(blobs: Arc<BlobStore>, limits: SightingLimits, folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..Self::new(blobs, limits) }
    }

    /// What the command did under which an earlier life of the app ended, and whatever came after it; told once.
    pub(crate) async fn left_over(self: &Arc<Self>, root: &Arc<Root>) -> CommandChanges {
        let order = self.order.lock().await;
        self.take_up_left(root).await;
        drop(order);
        self.left.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }

    /// Finds out what was left before anything else is seen.
    async fn take_up_left(self: &Arc<Self>, root: &Arc<Root>) {
        if self.folder.is_none() || self.trail.get().is_some() {
            return;
        }
        let sightings = Arc::clone(self);
        let left = on_disk(move || {
            let left = sightings.trail().and_then(|trail| {
                let left = trail.left(sightings.limits.kept_bytes);
                left.inspect_err(|error| tracing::warn!(%error, "what a command did cannot be told")).ok().flatten()
            });
            Ok(left)
        });
        let Ok(Some(Left { files, pack, since })) = left.await else { return };
        {
            let mut known = self.write();
            known.files = files;
            known.pack = Some(Arc::new(pack));
        }
        self.commands().running.push(Running { number: LEFT, since, found: CommandChanges::default() });
        let command = Command { sightings: Arc::clone(self), number: LEFT };
        self.look(root, &CancellationToken::new()).await;
        let found = command.take();
        self.none_runs();
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// A command has ended and was found out. One that is dropped before that is found out by the app's next life.
    fn none_runs(&self) {
        if let Some(trail) = self.trail().filter(|_| self.commands().running.is_empty()) {
            trail.ended();
        }
    }

    /// The folder of what was seen, where there is one that is ours. Blocks when it is first asked for.
    fn trail(&self) -> Option<&Trail> {
        let folder = self.folder.as_deref()?;
        let open = || match Trail::open(folder) {
            Ok(trail) => trail,
            Err(error) => {
                tracing::warn!(%error, "what commands do is not noted beyond this run");
                None
            }
        };
        self.trail.get_or_init(open).as_ref()
    }

    /// Looks at the files below `root` before a command changes them.
    pub(crate) async fn command(self: &Arc<Self>, root: &Arc<Root>, cancel: &CancellationToken) -> Command {
        let order = self.order.lock().await;
        self.take_up_left(root).await;
        self.look(root, cancel).await;
        let mut commands = self.commands();
        commands.last += 1;
        let (number, since) = (commands.last, look::now_ns());
        if let Some(trail) = self.trail().filter(|_| commands.running.is_empty()) {
            trail.runs(since);
        }
        commands.running.push(Running { number, since, found: CommandChanges::default() });
        drop(commands);
        drop(order);
        Command { sightings: Arc::clone(self), number }
    }

    /// A tool made `after` of a file: whatever command runs meanwhile, it was not that.
    pub(crate) fn note(&self, path: &VirtualPath, after: Option<&ContentHash>) {
        let mut commands = self.commands();
        if !commands.running.is_empty() {
            commands.noted.insert(path.clone(), after.cloned());
        }
    }

    /// Sees what there is now. While commands run, what is found is told by the one that began first.
    async fn look(self: &Arc<Self>, root: &Arc<Root>, cancel: &CancellationToken) {
        let (sightings, root) = (Arc::clone(self), Arc::clone(root));
        let budget = Budget::new(self.limits.look_time, cancel);
        let stop = budget.stop_on_drop();
        let looked = on_disk(move || {
            root.check_alive()?;
            match sightings.look_now(&root, &budget)? {
                Looked::All(found) => sightings.settle(&root, found),
                Looked::Off(reason) => sightings.write().off = Some(reason),
            }
            Ok(())
        })
        .await;
        drop(stop);
        // A stop before the command began: what was seen stays seen.
        if let Err(error) =
            looked.or_else(|error| if matches!(error, BackendError::Cancelled) { Ok(()) } else { Err(error) })
        {
            tracing::debug!(%error, "the files of a project were not compared");
            // What changes until the next look is nobody's.
            self.forget();
            for running in &mut self.commands().running {
                running.found.uncompared = Some(Uncompared::Unreadable);
            }
        }
    }

    fn forget(&self) {
        let mut known = self.write();
        known.files = HashMap::new();
        known.pack = None;
    }

    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Command {
    /// The command has ended: what it did.
    pub(crate) async fn ended(self, root: &Arc<Root>) -> CommandChanges {
        let order = self.sightings.order.lock().await;
        // Also what a stopped command did is to be undone.
        self.sightings.look(root, &CancellationToken::new()).await;
        let found = self.take();
        self.sightings.none_runs();
        drop(order);
        let mut found = found.unwrap_or_default();
        found.uncompared = self.sightings.read().off.or(found.uncompared);
        found
    }

    fn take(&self) -> Option<CommandChanges> {
        let mut commands = self.sightings.commands();
        let at = commands.running.iter().position(|running| running.number == self.number)?;
        let found = commands.running.remove(at).found;
        if commands.running.is_empty() {
            commands.noted.clear();
        }
        Some(found)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        self.take();
    }
}

impl CommandChanges {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.unkept.is_empty() && self.more == 0 && self.uncompared.is_none()
    }
}

/// The sightings of all projects at work, by folder: those who hold one share it.
#[derive(Debug, Default)]
pub struct SightingsByRoot(Mutex<HashMap<PathBuf, std::sync::Weak<Sightings>>>);

impl SightingsByRoot {
    /// The folder `from` is at `to` now. What a command did to its files under which the app ended is told there.
    pub fn moved(&self, from: &Path, to: &Path, blobs: &BlobStore) {
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        roots.remove(from);
        let all = blobs.beside(SEEN);
        trail::hand_on(&all.join(name_of(from)), &all.join(name_of(to)));
    }

    pub fn of(&self, root: &Path, blobs: &Arc<BlobStore>) -> Arc<Sightings> {
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = roots.get(root).and_then(std::sync::Weak::upgrade) {
            return known;
        }
        roots.retain(|_, known| known.strong_count() > 0);
        let all = blobs.beside(SEEN);
        if roots.is_empty() {
            trail::clear(&all);
        }
        let folder = all.join(name_of(root));
        let made = Arc::new(Sightings::kept_in(Arc::clone(blobs), SightingLimits::default(), folder));
        roots.insert(root.to_owned(), Arc::downgrade(&made));
        made
    }
}

/// What the folder of what was seen below `root` is called.
fn name_of(root: &Path) -> String {
    ContentHash::of(root.as_os_str().as_encoded_bytes()).as_str().chars().take(32).collect()
}

/// The folder beside the blobs in which what was seen is kept while it may be needed.
const SEEN: &str = "seen";

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
