//! How a file changes (architecture.md 5.5): at every instant it is wholly old or wholly new.
//!
//! 1. Under the file's lock: read what is there, check what the caller expects, work out the new bytes, write and sync
//!    them beside the file. Whatever can fail by itself fails here.
//! 2. The witness makes the intent durable.
//! 3. Look once more that nothing changed, rename, sync the folder.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, Mode, Stat};
use rustix::io::Errno;

use super::aside::Kept;
use super::leftovers;
use super::locks::lock;
use super::marks::require_unmarked;
use super::read::{content_figures, figures, stamp, stamp_only, whole};
use super::stage::{Outdated, Replaced, Staged};
use super::{FilesystemBackend, FilesystemOptions};
use crate::change::check;
use crate::fault::{fault, io_fault, on_disk};
use crate::folder_lock::FolderLock;
use crate::replace::replace;
use crate::root::{FOLDER, FinalLink, Place, READ, Root, identity, require_regular, size};
use crate::{
    BackendError, Change, ChangeWitness, ContentHash, Expect, FileStamp, ObjectKind, PlannedChange, Replacement,
    VirtualPath,
};

/// What the file shall hold.
#[derive(Clone)]
pub(super) enum Content {
    Whole(Arc<[u8]>),
    Edit { old: Arc<str>, new: Arc<str>, all: bool },
}

/// Links moved while their target was locked.
const TRIES: u32 = 8;

pub(super) async fn change(
    backend: &FilesystemBackend,
    path: &VirtualPath,
    content: Content,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Change, BackendError> {
    if let Content::Whole(bytes) = &content {
        let (size, limit) = (bytes.len() as u64, backend.options.max_file_size);
        if size > limit {
            return Err(BackendError::TooLarge { path: path.clone(), size, limit });
        }
    }
    let mut locked = path.clone();
    for _ in 0..TRIES {
        let guard = lock(&backend.root, &locked).await;
        let order = Order {
            root: Arc::clone(&backend.root),
            path: path.clone(),
            content: content.clone(),
            expect: expect.clone(),
            options: backend.options,
        };
        let under = locked.clone();
        match on_disk(move || order.prepare(&under)).await? {
            Prepared::Elsewhere(direct) => locked = direct,
            Prepared::Ready(ready) => {
                witness.intend(ready.planned()).await?;
                return on_disk(move || {
                    let done = ready.commit();
                    // Also where nobody waits for the answer any more, the lock lasts until the change is done.
                    drop(guard);
                    done
                })
                .await;
            }
        }
    }
    Err(BackendError::LinkLoop { path: path.clone() })
}

struct Order {
    root: Arc<Root>,
    path: VirtualPath,
    content: Content,
    expect: Expect,
    options: FilesystemOptions,
}

enum Prepared {
    Ready(Box<Ready>),
    /// Links lead to this path, which is the one to lock.
    Elsewhere(VirtualPath),
}

/// A change with nothing left to do but to happen.
struct Ready {
    root: Arc<Root>,
    path: VirtualPath,
    place: Place,
    current: Option<Current>,
    expect: Expect,
    after: Arc<[u8]>,
    after_hash: ContentHash,
    occurrences: usize,
    staged: Staged,
}

/// A file as it stands before its change.
pub(super) struct Current {
    file: File,
    stat: Stat,
    /// `None` where it is too large to hold.
    pub(super) bytes: Option<Arc<[u8]>>,
    pub(super) stamp: FileStamp,
}

impl Order {
    fn prepare(self, locked: &VirtualPath) -> Result<Prepared, BackendError> {
        let Self { root, path, content, expect, options } = self;
        root.check_alive()?;
        if path.is_root() {
            return Err(BackendError::IsADirectory { path });
        }
        let place = root.place(&path, FinalLink::Follow).map_err(|errno| fault(errno, &path))?;
        if place.path != *locked {
            return Ok(Prepared::Elsewhere(place.path));
        }
        let current = match place.found {
            Some(_) => Some(Current::open(&root, &place, &path, options.max_kept_size)?),
            None => None,
        };
        if current.is_none() && matches!(content, Content::Edit { .. }) {
            return Err(BackendError::NotFound { path });
        }
        check(&expect, current.as_ref().map(|current| &current.stamp), &path)?;
        let (after, occurrences) = match content {
            Content::Whole(bytes) => (bytes, 0),
            Content::Edit { old, new, all } => {
                let before = current.as_ref().map(|current| current.required(&path, options)).transpose()?;
                let replacement = Replacement { old: &old, new: &new, all };
                let (after, count) = replace(before.unwrap_or_default(), replacement, options.max_file_size, &path)?;
                (after.into(), count)
            }
        };
        require_writable(&place, &path)?;
        let replaced = current.as_ref().map(Current::as_replaced);
        let staged = Staged::write(&place.dir, &after, replaced).map_err(|error| io_fault(&error, &path))?;
        let after_hash = ContentHash::of(&after);
        let ready = Ready { root, path, place, current, expect, after, after_hash, occurrences, staged };
        Ok(Prepared::Ready(Box::new(ready)))
    }
}

impl Current {
    pub(super) fn open(root: &Root, place: &Place, path: &VirtualPath, max_kept: u64) -> Result<Self, BackendError> {
        let file = root.open_child(place.dir.as_fd(), &place.name, READ).map_err(|errno| match errno {
            // It was no link a moment ago.
            Errno::LOOP => BackendError::Changed { path: path.clone() },
            other => fault(other, path),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| fault(errno, path))?;
        require_regular(&stat, path)?;
        let file = File::from(file);
        if size(&stat) > max_kept {
            let stamp = stamp_only(&file, path)?;
            return Ok(Self { file, stat, bytes: None, stamp });
        }
        let (bytes, stamp) = whole(&file, path, max_kept)?;
        // Taken again: the bytes may be those of a moment later.
        let stat = rustix::fs::fstat(&file).map_err(|errno| fault(errno, path))?;
        Ok(Self { file, stat, bytes: Some(bytes.into()), stamp })
    }

    fn required(&self, path: &VirtualPath, options: FilesystemOptions) -> Result<&[u8], BackendError> {
        let limit = options.max_file_size.min(options.max_kept_size);
        match &self.bytes {
            Some(bytes) if bytes.len() as u64 <= limit => Ok(bytes),
            _ => Err(BackendError::TooLarge { path: path.clone(), size: self.stamp.size, limit }),
        }
    }

    pub(super) fn mode(&self) -> u32 {
        mode_of(&self.stat)
    }

    /// Whether hard links lead to it from elsewhere.
    fn has_other_names(&self) -> bool {
        self.stat.st_nlink > 1
    }

    fn has_owner_of(&self, other: &Stat) -> bool {
        (self.stat.st_uid, self.stat.st_gid) == (other.st_uid, other.st_gid)
    }

    /// For a planned change: the stamp of a file whose bytes are not kept.
    pub(super) fn unkept(&self) -> Option<FileStamp> {
        self.bytes.is_none().then(|| self.stamp.clone())
    }

    fn as_replaced(&self) -> Replaced<'_> {
        Replaced { file: &self.file, stat: &self.stat }
    }

    /// Whether the file of this name is this one and holds these bytes.
    pub(super) fn still_at(&self, dir: impl AsFd, name: &str, path: &VirtualPath) -> Result<(), BackendError> {
        // Clocks of file systems tick slowly enough to hide a write; the bytes do not.
        let same = self.is_at(dir, name).map_err(|errno| fault(errno, path))?
            && self.holds_its_bytes().map_err(|error| io_fault(&error, path))?;
        if same { Ok(()) } else { Err(BackendError::Changed { path: path.clone() }) }
    }

    /// Whether the file of this name is this one, as far as its figures say.
    pub(super) fn is_at(&self, dir: impl AsFd, name: &str) -> Result<bool, Errno> {
        let there = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(false),
            there => there?,
        };
        let now = rustix::fs::fstat(&self.file)?;
        Ok(identity(&there) == identity(&self.stat) && figures(&now) == figures(&self.stat))
    }

    /// Whether `taken`, which got another name just now, is this file with these bytes.
    pub(super) fn is_same(&self, taken: &Stat) -> std::io::Result<bool> {
        let now = rustix::fs::fstat(&self.file)?;
        let same = identity(taken) == identity(&self.stat) && content_figures(&now) == content_figures(&self.stat);
        Ok(same && self.holds_its_bytes()?)
    }

    fn holds_its_bytes(&self) -> std::io::Result<bool> {
        self.bytes.as_ref().map_or(Ok(true), |bytes| holds(&self.file, bytes))
    }
}

/// Permission bits.
#[allow(clippy::useless_conversion, reason = "the field's type differs between systems")]
pub(super) fn mode_of(stat: &Stat) -> u32 {
    Mode::from_raw_mode(stat.st_mode).bits().into()
}

fn holds(file: &File, bytes: &[u8]) -> std::io::Result<bool> {
    use std::os::unix::fs::FileExt;
    let mut buffer = vec![0; bytes.len().clamp(1, 256 * 1024)];
    for (index, chunk) in bytes.chunks(buffer.len()).enumerate() {
        let offset = (index * buffer.len()) as u64;
        let room = buffer.get_mut(..chunk.len()).unwrap_or_default();
        match file.read_exact_at(room, offset) {
            Ok(()) if room == chunk => {}
            Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => return Err(error),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Renaming needs no right to the file itself, so that its own rights are asked here: what its owner made read-only is
/// refused, for the superuser too.
fn require_writable(place: &Place, path: &VirtualPath) -> Result<(), BackendError> {
    require_writable_folder(&place.dir, path)?;
    if let Some(stat) = &place.found {
        if stat.st_mode & 0o222 == 0 {
            return Err(BackendError::ReadOnly { path: path.clone() });
        }
        require_unmarked(&place.dir, &place.name, path)?;
        allowed(rustix::fs::accessat(&place.dir, &*place.name, Access::WRITE_OK, AtFlags::EACCESS), path)?;
    }
    Ok(())
}

pub(super) fn require_writable_folder(dir: &OwnedFd, path: &VirtualPath) -> Result<(), BackendError> {
    let folder = rustix::fs::fstat(dir).map_err(|errno| fault(errno, path))?;
    if folder.st_mode & 0o222 == 0 {
        return Err(BackendError::ReadOnly { path: path.clone() });
    }
    require_unmarked(dir, ".", path)?;
    allowed(rustix::fs::accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS), path)
}

fn allowed(access: Result<(), Errno>, path: &VirtualPath) -> Result<(), BackendError> {
    match access {
        // A system that cannot be asked will say so when it comes to the act.
        Ok(()) | Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(errno) => Err(fault(errno, path)),
    }
}

impl Ready {
    fn planned(&self) -> PlannedChange {
        let current = self.current.as_ref();
        PlannedChange {
            path: self.path.clone(),
            object: ObjectKind::File,
            before: current.and_then(|current| current.bytes.clone()),
            unkept: current.and_then(Current::unkept),
            after: Some(Arc::clone(&self.after)),
            mode: current.map(Current::mode),
        }
    }

    /// Gives a new file its name, in folders that another writer may be making, or taking back, at the same moment.
    fn create(&mut self) -> Result<(), BackendError> {
        for _ in 0..TRIES {
            let made = match MadeFolders::make(&self.root, &self.place) {
                Err(Errno::NOENT) => continue,
                made => made.map_err(|errno| fault(errno, &self.path))?,
            };
            match self.staged.create(made.innermost(&self.place), &self.place.name) {
                Err(Errno::NOENT) => {}
                Err(Errno::EXIST) if self.expect == Expect::Anything => break,
                created => {
                    return created.and_then(|()| made.keep(&self.place)).map_err(|errno| fault(errno, &self.path));
                }
            }
        }
        Err(BackendError::Changed { path: self.path.clone() })
    }

    fn commit(mut self) -> Result<Change, BackendError> {
        self.root.check_alive()?;
        match &self.current {
            None => self.create()?,
            Some(current) => {
                let dir = self.place.dir.as_fd();
                let held = FolderLock::of(dir);
                current.still_at(dir, &self.place.name, &self.path)?;
                let recorded: Vec<_> = current.stamp.hash.iter().chain([&self.after_hash]).collect();
                let replaced = self.staged.replace(dir, &self.place.name, current.as_replaced(), &recorded);
                drop(held);
                replaced.map_err(|outdated| told(outdated, &self.path))?;
                sync_folder(&self.place.dir).map_err(|errno| fault(errno, &self.path))?;
            }
        }
        leftovers::remove_once(&self.place.dir);
        let stat = rustix::fs::fstat(self.staged.file()).map_err(|errno| fault(errno, &self.path))?;
        Ok(Change {
            path: self.path.clone(),
            before: self.current.as_ref().and_then(|current| current.stamp.hash.clone()),
            after: Some(stamp(&stat, self.after.len() as u64, Some(self.after_hash.clone()))),
            mode: self.current.as_ref().map(Current::mode),
            mode_after: Some(mode_of(&stat)),
            occurrences: self.occurrences,
            parted: self.current.as_ref().is_some_and(Current::has_other_names),
            handed_over: self.current.as_ref().is_some_and(|current| !current.has_owner_of(&stat)),
            stripped: self.staged.is_stripped(),
            state: Vec::new(),
        })
    }
}

/// Why a file was not replaced, and what there is now.
fn told(outdated: Outdated, path: &VirtualPath) -> BackendError {
    let (errno, reason) = match outdated {
        Outdated::Changed => return BackendError::Changed { path: path.clone() },
        Outdated::Fault(errno) => return fault(errno, path),
        Outdated::Kept(Kept { name, errno }) => (
            errno,
            format!(
                "somebody saved it at the same moment; what they saved could not be put back and is kept beside it as \
                 '{name}', and the new content may be in its place"
            ),
        ),
        Outdated::Unknown(Kept { name, errno }) => (
            errno,
            format!(
                "the new content is in its place, and whether somebody saved it at the same moment could not be told; \
                 look for what was there beside it, as '{name}'"
            ),
        ),
    };
    BackendError::Io { path: path.clone(), kind: std::io::Error::from(errno).kind(), reason }
}

/// Folders made for a new file; removed again unless the file gets there.
struct MadeFolders {
    /// Outermost first, each with its name in the one before it.
    folders: Vec<MadeFolder>,
    base: Arc<OwnedFd>,
    kept: bool,
}

struct MadeFolder {
    folder: OwnedFd,
    name: String,
    /// Not one that another writer made a moment before.
    is_own: bool,
}

impl MadeFolders {
    fn make(root: &Root, place: &Place) -> Result<Self, Errno> {
        let mut made = Self { folders: Vec::new(), base: Arc::clone(&place.dir), kept: false };
        for name in &place.missing {
            let within = made.innermost(place);
            let is_own = match rustix::fs::mkdirat(within, &**name, Mode::from_raw_mode(0o777)) {
                Err(Errno::EXIST) => false,
                result => result.map(|()| true)?,
            };
            let folder = root.open_child(within, name, FOLDER)?;
            made.folders.push(MadeFolder { folder, name: name.clone(), is_own });
        }
        Ok(made)
    }

    fn innermost<'a>(&'a self, place: &'a Place) -> std::os::fd::BorrowedFd<'a> {
        self.folders.last().map_or(place.dir.as_fd(), |made| made.folder.as_fd())
    }

    fn keep(mut self, place: &Place) -> Result<(), Errno> {
        self.kept = true;
        for made in self.folders.iter().rev() {
            sync_folder(&made.folder)?;
        }
        sync_folder(&place.dir)
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        while !self.kept
            && let Some(MadeFolder { name, is_own: true, .. }) = self.folders.pop()
        {
            let within = self.folders.last().map_or(self.base.as_fd(), |made| made.folder.as_fd());
            if let Err(errno) = rustix::fs::unlinkat(within, &*name, AtFlags::REMOVEDIR) {
                tracing::debug!(%name, %errno, "a folder made for a file that did not come stays behind");
                return;
            }
        }
    }
}

/// Makes a rename durable. Some network file systems cannot and say so; they sync by themselves.
pub(super) fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    match rustix::fs::fsync(folder) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::BADF) => Ok(()),
        result => result,
    }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
