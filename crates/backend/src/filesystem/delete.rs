use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use super::FilesystemBackend;
use super::aside::{Aside, Kept};
use super::change::{Current, require_writable_folder, sync_folder};
use super::locks::lock;
use super::marks::require_unmarked;
use crate::change::check;
use crate::fault::{fault, io_fault, on_disk};
use crate::folder_lock::FolderLock;
use crate::root::{FOLDER, FinalLink, Links, Place, Root, file_type, identity};
use crate::{BackendError, Change, ChangeWitness, ContentHash, Expect, ObjectKind, PlannedChange, VirtualPath};

/// Largest tree deleted in one call: every file of it is recorded for undo first.
const MAX_ENTRIES: usize = 100_000;
/// Objects that are recorded together and then removed; each holds two handles meanwhile.
const BATCH: usize = 100;
/// Bytes of files held for recording at a time; one file alone may be larger.
const BATCH_BYTES: usize = 32 * 1024 * 1024;

pub(super) async fn delete(
    backend: &FilesystemBackend,
    path: &VirtualPath,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Vec<Change>, BackendError> {
    if path.is_root() {
        return Err(BackendError::ProtectedRoot { path: path.clone() });
    }
    let (asked, expected) = (path.clone(), expect.clone());
    let tree = backend.at_root(move |root| survey(root, &asked, &expected)).await?;
    // Within a tree every object was found by this call; what the caller knows is the tree.
    let each = if tree.folders.is_empty() { expect } else { Expect::Anything };
    let mut changes = Vec::with_capacity(tree.objects.len());
    let name = |object: VirtualPath| {
        let shown = object.strip_prefix(&tree.direct).map_or_else(|| path.clone(), |rest| below(path, &rest));
        Name { direct: object, shown }
    };
    let mut names: Vec<Name> = tree.objects.into_iter().map(name).collect();
    // Everyone takes locks in this order.
    names.sort_by(|a, b| a.direct.cmp(&b.direct));
    while let Some(rest) = names.get(changes.len()..).filter(|rest| !rest.is_empty()) {
        let batch = rest.iter().take(BATCH).cloned().collect();
        changes.extend(remove(backend, batch, each.clone(), witness).await?);
    }
    let folders = tree.folders;
    let path = path.clone();
    backend.at_root(move |root| folders.iter().rev().try_for_each(|folder| remove_folder(root, folder, &path))).await?;
    Ok(changes)
}

fn below(path: &VirtualPath, rest: &VirtualPath) -> VirtualPath {
    path.join(rest.relative()).unwrap_or_else(|_| path.clone())
}

/// What a delete will remove, by names without links.
struct Tree {
    direct: VirtualPath,
    /// Files, links and special files.
    objects: Vec<VirtualPath>,
    /// Folders, each after the one it is in. Empty unless the path itself is a folder.
    folders: Vec<VirtualPath>,
}

/// Finds everything below `path` and whether it may be removed, before anything is.
fn survey(root: &Root, path: &VirtualPath, expect: &Expect) -> Result<Tree, BackendError> {
    let place = root.place(path, FinalLink::Keep).map_err(|errno| fault(errno, path))?;
    let Some(stat) = &place.found else { return Err(BackendError::NotFound { path: path.clone() }) };
    require_writable_folder(&place.dir, path)?;
    let direct = place.path;
    if file_type(stat) != FileType::Directory {
        require_unmarked(&place.dir, &place.name, path)?;
        return Ok(Tree { objects: vec![direct.clone()], direct, folders: Vec::new() });
    }
    match expect {
        Expect::Absent => return Err(BackendError::AlreadyExists { path: path.clone() }),
        // A folder has no content of its own: the stamp says only which one it is.
        Expect::Unchanged(seen) if (seen.device, seen.inode) != identity(stat) => {
            return Err(BackendError::Changed { path: path.clone() });
        }
        Expect::Unchanged(_) | Expect::Anything => {}
    }
    let mut tree = Tree { folders: Vec::new(), objects: Vec::new(), direct: direct.clone() };
    let mut waiting = vec![direct];
    while let Some(folder) = waiting.pop() {
        let handle = root.open_path(&folder, FOLDER, Links::Refuse).map_err(|errno| fault(errno, &folder))?;
        // Also an empty one could not go.
        require_unmarked(&handle, ".", &folder)?;
        survey_folder(&handle, &folder, &mut tree.objects, &mut waiting)?;
        tree.folders.push(folder);
        if tree.objects.len() + tree.folders.len() > MAX_ENTRIES {
            return Err(BackendError::TooManyEntries { path: path.clone(), most: MAX_ENTRIES });
        }
    }
    Ok(tree)
}

fn survey_folder(
    handle: &OwnedFd,
    folder: &VirtualPath,
    objects: &mut Vec<VirtualPath>,
    folders: &mut Vec<VirtualPath>,
) -> Result<(), BackendError> {
    let mut empty = true;
    for entry in rustix::fs::Dir::read_from(handle).map_err(|errno| fault(errno, folder))? {
        let entry = entry.map_err(|errno| fault(errno, folder))?;
        let Ok(name) = entry.file_name().to_str() else {
            return Err(BackendError::NameNotText { path: folder.clone() });
        };
        if matches!(name, "." | "..") {
            continue;
        }
        empty = false;
        let path = folder.join(name)?;
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(handle, name, AtFlags::SYMLINK_NOFOLLOW);
                file_type(&stat.map_err(|errno| fault(errno, &path))?)
            }
            known => known,
        };
        if kind == FileType::Directory {
            folders.push(path);
        } else {
            require_unmarked(handle, name, &path)?;
            objects.push(path);
        }
    }
    if empty { Ok(()) } else { require_writable_folder(handle, folder) }
}

/// An object that is not a folder, by its name without links and by the one it was asked for with.
#[derive(Clone)]
struct Name {
    direct: VirtualPath,
    shown: VirtualPath,
}

/// Removes the first of `names`, as many as are held at a time, at least one.
async fn remove(
    backend: &FilesystemBackend,
    names: Vec<Name>,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Vec<Change>, BackendError> {
    let mut guards = Vec::with_capacity(names.len());
    for name in &names {
        guards.push(lock(&backend.root, &name.direct).await);
    }
    let kept = backend.options.max_kept_size;
    let doomed = backend.at_root(move |root| find(root, names, &expect, kept)).await?;
    witness.intend_all(doomed.iter().map(Doomed::planned).collect()).await?;
    on_disk(move || {
        let done = remove_all(doomed);
        // Also where nobody waits for the answer any more, the locks last until the changes are done.
        drop(guards);
        done
    })
    .await
}

fn find(root: &Root, names: Vec<Name>, expect: &Expect, max_kept: u64) -> Result<Vec<Doomed>, BackendError> {
    let mut doomed = Vec::with_capacity(names.len());
    let mut held = 0;
    for name in names {
        let found = Doomed::find(root, &name.direct, name.shown, expect, max_kept)?;
        held += found.planned().before.map_or(0, |bytes| bytes.len());
        doomed.push(found);
        if held > BATCH_BYTES {
            break;
        }
    }
    Ok(doomed)
}

/// One sync for each folder, also where a removal in between fails.
fn remove_all(doomed: Vec<Doomed>) -> Result<Vec<Change>, BackendError> {
    let mut folders = BTreeMap::new();
    let changes: Result<Vec<Change>, BackendError> =
        doomed.into_iter().map(|object| object.remove(&mut folders)).collect();
    for (path, folder) in &folders {
        sync_folder(folder).map_err(|errno| fault(errno, path))?;
    }
    changes
}

/// An object about to be removed.
struct Doomed {
    place: Place,
    shown: VirtualPath,
    object: Object,
}

enum Object {
    File(Current),
    Link { target: Arc<[u8]>, stat: Stat },
    Special(Stat),
}

impl Doomed {
    fn find(
        root: &Root,
        direct: &VirtualPath,
        shown: VirtualPath,
        expect: &Expect,
        max_kept: u64,
    ) -> Result<Self, BackendError> {
        let place = root.place(direct, FinalLink::Keep).map_err(|errno| fault(errno, &shown))?;
        let Some(stat) = &place.found else { return Err(BackendError::NotFound { path: shown }) };
        let object = match file_type(stat) {
            FileType::RegularFile => {
                let current = Current::open(root, &place, &shown, max_kept)?;
                check(expect, Some(&current.stamp), &shown)?;
                Object::File(current)
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&place.dir, &*place.name, Vec::new());
                Object::Link { target: target.map_err(|errno| fault(errno, &shown))?.into_bytes().into(), stat: *stat }
            }
            FileType::Directory => return Err(BackendError::Changed { path: shown }),
            _ => Object::Special(*stat),
        };
        Ok(Self { place, shown, object })
    }

    fn planned(&self) -> PlannedChange {
        let planned = PlannedChange {
            path: self.shown.clone(),
            object: ObjectKind::Special,
            before: None,
            unkept: None,
            after: None,
            mode: None,
        };
        match &self.object {
            Object::File(current) => PlannedChange {
                object: ObjectKind::File,
                before: current.bytes.clone(),
                unkept: current.unkept(),
                mode: Some(current.mode()),
                ..planned
            },
            Object::Link { target, .. } => {
                PlannedChange { object: ObjectKind::Link, before: Some(Arc::clone(target)), ..planned }
            }
            Object::Special(_) => planned,
        }
    }

    /// The folder it was in is left in `folders`, to be synced.
    fn remove(self, folders: &mut BTreeMap<VirtualPath, Arc<OwnedFd>>) -> Result<Change, BackendError> {
        let held = FolderLock::of(&self.place.dir);
        // What has changed already is not moved for a moment, which others would notice.
        if !self.is_there().map_err(|errno| fault(errno, &self.shown))? {
            return Err(BackendError::Changed { path: self.shown });
        }
        let before = self.take_away();
        drop(held);
        let mode = match &self.object {
            Object::File(current) => Some(current.mode()),
            Object::Link { .. } | Object::Special(_) => None,
        };
        let Self { place, shown, .. } = self;
        folders.entry(place.path.parent().unwrap_or_else(VirtualPath::root)).or_insert(place.dir);
        Ok(Change {
            path: shown,
            before: before?,
            after: None,
            mode,
            mode_after: None,
            occurrences: 0,
            parted: false,
            handed_over: false,
            stripped: false,
            state: Vec::new(),
        })
    }

    fn is_there(&self) -> Result<bool, Errno> {
        let (dir, name) = (&self.place.dir, &*self.place.name);
        let found = match &self.object {
            Object::File(current) => return current.is_at(dir, name),
            Object::Link { stat, .. } | Object::Special(stat) => stat,
        };
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok(is_same_object(&there, found)),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Ends what has the name, if it is the object, whatever was done to the name since somebody looked. Gives the hash
    /// of what went.
    fn take_away(&self) -> Result<Option<ContentHash>, BackendError> {
        let before = match &self.object {
            Object::File(current) => current.stamp.hash.clone(),
            Object::Link { target, .. } => Some(ContentHash::of(target)),
            Object::Special(_) => None,
        };
        let aside = match Aside::take(self.place.dir.as_fd(), &self.place.name, before.as_ref()) {
            Err(Errno::NOENT) => return Err(BackendError::Changed { path: self.shown.clone() }),
            taken => taken.map_err(|errno| fault(errno, &self.shown))?,
        };
        let ended = match self.object.is(&aside) {
            Ok(true) => aside.remove().map_err(|errno| fault(errno, &self.shown)),
            Ok(false) => Err(BackendError::Changed { path: self.shown.clone() }),
            Err(error) => Err(io_fault(&error, &self.shown)),
        };
        let Err(error) = ended else { return Ok(before) };
        Err(aside.put_back().map_or_else(|kept| told(&kept, &self.shown), |()| error))
    }
}

impl Object {
    /// Whether it is this that was taken.
    fn is(&self, taken: &Aside<'_>) -> std::io::Result<bool> {
        let there = taken.stat()?;
        Ok(match self {
            Self::File(current) => current.is_same(&there)?,
            Self::Link { target, stat } => is_same_object(&there, stat) && taken.target()? == **target,
            Self::Special(stat) => is_same_object(&there, stat),
        })
    }
}

/// An object that is gone may have left its number to another; not one of another kind.
fn is_same_object(there: &Stat, found: &Stat) -> bool {
    identity(there) == identity(found) && file_type(there) == file_type(found)
}

/// What is to be said of what was taken, did not go, and has its name no more.
fn told(kept: &Kept, path: &VirtualPath) -> BackendError {
    let Kept { name, errno } = kept;
    let reason = format!(
        "what was found there at the last moment was not deleted and could not be put back; it is kept beside it as \
         '{name}'"
    );
    BackendError::Io { path: path.clone(), kind: std::io::Error::from(*errno).kind(), reason }
}

fn remove_folder(root: &Root, folder: &VirtualPath, asked: &VirtualPath) -> Result<(), BackendError> {
    let place = root.place(folder, FinalLink::Keep).map_err(|errno| fault(errno, asked))?;
    match rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::REMOVEDIR) {
        Ok(()) => sync_folder(&place.dir).map_err(|errno| fault(errno, asked)),
        // Something was put into it meanwhile.
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err(BackendError::Changed { path: asked.clone() }),
        Err(errno) => Err(fault(errno, asked)),
    }
}

#[cfg(test)]
#[path = "delete_tests.rs"]
mod tests;
