//! What a command in the sandbox may not change although it is in the project.
//!
//! At the top every protected name is held, also one that is missing: a placeholder is made for it and goes again with
//! the last command. So is `.git`, where the project is no repository. Below, it is those that are there; of a repository
//! also its own parts that are missing, where git takes what stands for them for nothing. A link cannot be held in its
//! place, so that one at such a name refuses the command. What a command makes of such names below the top, repositories
//! among them, is told with its result, and so is that a large project was not looked through. Folders of programs that
//! were built or installed are not looked into: what is in them is run anyway. One that nobody can list is held as a whole.
//!
//! Other commands run meanwhile and may put a link wherever they can write: everything is looked at and made below the
//! root's handle, and what is found is told from what takes its place by its identity.

mod git;
mod placeholder;
mod survey;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::fault::fault;
use crate::protected::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE};
use crate::root::{FOLDER, NAME, Root, file_type, identity};
use crate::{BackendError, VirtualPath};
pub(super) use placeholder::Placeholder;
use placeholder::Stand;
use survey::Survey;

/// Protected names below the top that are held: each costs a mount for every command.
const MAX_BELOW: usize = 200;

/// What is to be held while a command runs, by paths below the root.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    paths: Vec<PathBuf>,
    /// What is not there and that a command must not make either.
    missing: Vec<(PathBuf, Stand)>,
    armed: Armed,
    /// There is more than is looked through or held.
    cut: bool,
}

/// What there is in a project that runs later and that a command can make: what was there before is told from what it made.
#[derive(Clone, Debug, Default)]
pub(super) struct Armed(BTreeSet<(PathBuf, String)>);

impl Armed {
    /// What has come since, and whether there is more than was looked through.
    pub(super) fn since(&self, root: &Root) -> (Vec<VirtualPath>, bool) {
        let survey = Survey::of(root);
        let made = survey.armed(root).into_iter().filter(|now| !self.0.contains(now));
        (made.map(|(path, _)| seen(&path)).collect(), survey.cut)
    }
}

/// Something that a command meets otherwise than it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cover {
    /// Below the root.
    pub(super) path: PathBuf,
    /// The object that was found there, by device and inode.
    pub(super) identity: (u64, u64),
    pub(super) kind: CoverKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoverKind {
    /// As it is, but in its place: a mount point cannot be renamed, so that none can be moved aside and built anew.
    InPlace,
    /// It cannot be changed, nor what is in it.
    ReadOnly,
    /// It is found empty by whoever reads it, and what is written to it is lost. A placeholder that is read could not be
    /// opened at all if it were mounted read-only.
    Empty,
}

impl Guarded {
    /// Looks for protected names and repositories, as far as that is quick.
    ///
    /// # Errors
    /// [`BackendError::GuardIsLink`].
    pub(super) fn find(root: &Root) -> Result<Self, BackendError> {
        let mut guarded = Self::default();
        for (path, stand) in at_the_top() {
            guarded.hold(root, path, Some(stand))?;
        }
        let survey = Survey::of(root);
        guarded.armed = Armed(survey.armed(root));
        guarded.cut = survey.cut || survey.protected.len() > MAX_BELOW;
        if let Some(link) = survey.links.first() {
            return Err(is_link(link));
        }
        if survey.closed.iter().any(|folder| is_top(folder)) {
            return Err(fault(Errno::ACCESS, &VirtualPath::root()));
        }
        guarded.top_git(root)?;
        guarded.cut |= survey.closed.len() > MAX_BELOW;
        guarded.paths.extend(survey.protected.into_iter().take(MAX_BELOW));
        // As a whole: what is in it cannot be known.
        guarded.paths.extend(survey.closed.into_iter().take(MAX_BELOW));
        for pointer in survey.pointers {
            for hooks in git::hooks_from_outside(root, &pointer) {
                guarded.hold(root, hooks, None)?;
            }
            guarded.paths.push(pointer);
        }
        for repository in survey.repositories {
            let (parts, cut) = repository.parts(root);
            guarded.cut |= cut;
            for (path, stand) in parts {
                guarded.hold(root, path, stand)?;
            }
        }
        Ok(guarded)
    }

    /// Whether there may be more to hold than is held: a project that is too large is not looked through to its end.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(super) fn armed(&mut self) -> Armed {
        std::mem::take(&mut self.armed)
    }

    /// Holds `path`; where it is missing, what stands for it.
    fn hold(&mut self, root: &Root, path: PathBuf, stand: Option<Stand>) -> Result<(), BackendError> {
        match look(root, &path) {
            Ok(found) if file_type(&found) == FileType::Symlink => Err(is_link(&path)),
            // One that a command left behind when the app was killed goes with the next. Where none is ever made there is none.
            Ok(found) if stand.is_none() || !Placeholder::is_one(root, &path, &found) => {
                self.paths.push(path);
                Ok(())
            }
            Ok(_) | Err(Errno::NOENT) => {
                self.missing.extend(stand.map(|stand| (path, stand)));
                Ok(())
            }
            Err(Errno::LOOP) => Err(is_link(&link_above(root, &path))),
            // A file is where its folder would be: nothing can come below it for as long as that stays in its place.
            Err(Errno::NOTDIR) => {
                self.paths.extend(path.parent().filter(|above| !is_top(above)).map(Path::to_owned));
                Ok(())
            }
            Err(errno) => Err(fault(errno, &seen(&path))),
        }
    }

    /// A project that is no repository is made none: whoever looks at it with git, as a shell's prompt does, would run what
    /// is in its settings.
    fn top_git(&mut self, root: &Root) -> Result<(), BackendError> {
        let path = PathBuf::from(".git");
        match look(root, &path) {
            Ok(found) if !Placeholder::is_one(root, &path, &found) => Ok(()),
            Ok(_) | Err(Errno::NOENT) => {
                self.missing.push((path, Stand::Folder));
                Ok(())
            }
            Err(errno) => Err(fault(errno, &seen(&path))),
        }
    }

    /// What covers all of them, each behind the folders on the way to it. What stands for those that are missing is put
    /// into `made`.
    ///
    /// # Errors
    /// Where a placeholder cannot be made although a command could make what it stands for.
    pub(super) fn covers(self, root: &Root, made: &mut Vec<Placeholder>) -> Result<Vec<Cover>, BackendError> {
        let mut held: BTreeMap<PathBuf, CoverKind> = BTreeMap::new();
        for (path, stand) in self.missing {
            match Placeholder::make(root, &path, stand, made) {
                Ok(()) => {
                    let kind = if stand == Stand::Unread { CoverKind::Empty } else { CoverKind::ReadOnly };
                    held.insert(path, kind);
                }
                // What this user may not make here, a command may not either.
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {}
                Err(Errno::LOOP) => return Err(is_link(&link_above(root, &path))),
                Err(errno) => return Err(fault(errno, &seen(&path))),
            }
        }
        held.extend(self.paths.into_iter().map(|path| (path, CoverKind::ReadOnly)));
        let leaves: Vec<PathBuf> = held.keys().cloned().collect();
        for above in leaves.iter().flat_map(|path| path.ancestors().skip(1)).filter(|above| !is_top(above)) {
            held.entry(above.to_owned()).or_insert(CoverKind::InPlace);
        }
        let mut covers: Vec<Cover> = Vec::with_capacity(held.len());
        let mut whole: Option<PathBuf> = None;
        // A path stands behind those above it, and nothing else between them.
        for (path, kind) in held {
            if whole.as_ref().is_some_and(|above| path.starts_with(above)) {
                continue;
            }
            let found = match look(root, &path) {
                Ok(found) => found,
                Err(Errno::LOOP) => return Err(is_link(&link_above(root, &path))),
                // Somebody took it away meanwhile.
                Err(Errno::NOENT | Errno::NOTDIR) => continue,
                Err(errno) => return Err(fault(errno, &seen(&path))),
            };
            if file_type(&found) == FileType::Symlink {
                return Err(is_link(&path));
            }
            if kind == CoverKind::ReadOnly {
                whole = Some(path.clone());
            }
            covers.push(Cover { path, identity: identity(&found), kind });
        }
        Ok(covers)
    }
}

/// What is at `path`; of a link, the link.
fn look(root: &Root, path: &Path) -> Result<Stat, Errno> {
    let (above, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().ok_or(Errno::INVAL)?);
    let folder = root.open_direct(above, NAME | OFlags::DIRECTORY)?;
    rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// What is in a folder: nothing where there is none, and `None` where it cannot be listed.
fn entries(root: &Root, folder: &Path) -> Option<Vec<(PathBuf, FileType)>> {
    let listed = root.open_direct(folder, FOLDER).and_then(|handle| Ok((Dir::read_from(&handle)?, handle)));
    let (listed, handle) = match listed {
        Ok(listed) => listed,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Some(Vec::new()),
        Err(_) => return None,
    };
    let found = listed.flatten().filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."));
    let kinds = found.filter_map(|entry| {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let kind = match entry.file_type() {
            FileType::Unknown => file_type(&rustix::fs::statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?),
            known => known,
        };
        Some((PathBuf::from(name), kind))
    });
    Some(kinds.collect())
}

fn is_top(folder: &Path) -> bool {
    folder.as_os_str().is_empty()
}

fn at_the_top() -> impl Iterator<Item = (PathBuf, Stand)> {
    let inside = PROTECTED_INSIDE.iter().map(|(folder, name)| Path::new(folder).join(name));
    let names = PROTECTED_FOLDERS.iter().chain(&PROTECTED_FILES).map(PathBuf::from).chain(inside);
    names.map(|path| {
        let stand = if path.as_os_str() == ".npmrc" { Stand::Unread } else { Stand::Folder };
        (path, stand)
    })
}

fn is_protected(folder: &Path, name: &str, kind: FileType) -> bool {
    let in_it = || PROTECTED_INSIDE.iter().any(|(outer, inner)| *inner == name && folder.ends_with(outer));
    let is_folder = || PROTECTED_FOLDERS.contains(&name) || in_it();
    match kind {
        FileType::Directory => is_folder(),
        FileType::Symlink => is_folder() || PROTECTED_FILES.contains(&name),
        _ => PROTECTED_FILES.contains(&name),
    }
}

fn is_link(path: &Path) -> BackendError {
    BackendError::GuardIsLink { path: seen(path) }
}

/// The outermost link on the way to `path`; itself where that is gone again.
fn link_above(root: &Root, path: &Path) -> PathBuf {
    let mut above: Vec<&Path> = path.ancestors().filter(|above| !is_top(above)).collect();
    above.reverse();
    let is_link = |path: &&&Path| look(root, path).is_ok_and(|found| file_type(&found) == FileType::Symlink);
    above.iter().find(is_link).map_or_else(|| path.to_owned(), |link| link.to_path_buf())
}

/// The path as the agent and the person know it.
fn seen(path: &Path) -> VirtualPath {
    VirtualPath::parse(&format!("/{}", path.to_string_lossy())).unwrap_or_else(|_| VirtualPath::root())
}
