//! What a command in the sandbox may not change although it is in the project.
//!
//! At the top every protected name is held, also one that is missing: a placeholder is made for it and goes again with
//! the last command. Below, and in repositories, it is those that are there; of a repository also its own parts that
//! are missing. A link cannot be held in its place, so that one at such a name refuses the command.

mod placeholder;

use std::fs::{self, FileType};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::fault::io_fault;
use crate::protected::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE};
use crate::{BackendError, VirtualPath};
pub(super) use placeholder::Placeholder;

/// Folders looked into for repositories and protected names.
const MAX_FOLDERS: usize = 20_000;
/// Protected names below the top that are held: each costs a mount for every command.
const MAX_BELOW: usize = 200;
/// Parts of a repository that are run or obeyed later.
const PARTS: [&str; 3] = ["hooks", "config", "info"];
/// How deep submodules' repositories lie in `.git/modules`, which is as deep as their paths.
const MAX_MODULE_DEPTH: usize = 8;

/// What is held while a command runs.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    paths: Vec<PathBuf>,
    /// What is not there and that a command must not make either.
    missing: Vec<PathBuf>,
    below: usize,
}

impl Guarded {
    /// Looks for protected names and repositories, as far as that is quick.
    ///
    /// # Errors
    /// [`BackendError::GuardIsLink`].
    pub(super) fn find(root: &Path) -> Result<Self, BackendError> {
        let mut guarded = Self::default();
        for path in at_the_top(root) {
            guarded.hold(root, path)?;
        }
        let mut waiting = std::collections::VecDeque::from([root.to_owned()]);
        for _ in 0..MAX_FOLDERS {
            let Some(folder) = waiting.pop_front() else { return Ok(guarded) };
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if name == ".git" {
                    guarded.git(root, entry.path(), kind)?;
                } else if folder != root && is_protected(&folder, &name.to_string_lossy(), kind) {
                    guarded.hold_below(entry.path());
                } else if kind.is_dir() && name != "node_modules" && name != "target" {
                    waiting.push_back(entry.path());
                }
            }
        }
        tracing::info!("not all of a large project was looked through for repositories and protected names");
        Ok(guarded)
    }

    fn hold(&mut self, root: &Path, path: PathBuf) -> Result<(), BackendError> {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => Err(is_link(root, &path)),
            // One that a command left behind when the app was killed goes with the next.
            Ok(found) if !Placeholder::is_one(&path, &found) => {
                self.paths.push(path);
                Ok(())
            }
            Ok(_) => {
                self.missing.push(path);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.missing.push(path);
                Ok(())
            }
            Err(error) => Err(io_fault(&error, &seen(root, &path))),
        }
    }

    fn hold_below(&mut self, path: PathBuf) {
        self.below += 1;
        if self.below <= MAX_BELOW {
            self.paths.push(path);
        } else if self.below == MAX_BELOW + 1 {
            tracing::info!("not every protected name below the top is held: there are more than {MAX_BELOW}");
        }
    }

    /// A repository, or the file that says where one is.
    fn git(&mut self, root: &Path, git: PathBuf, kind: FileType) -> Result<(), BackendError> {
        if kind.is_symlink() {
            return Err(is_link(root, &git));
        }
        if !kind.is_dir() {
            self.paths.push(git);
            return Ok(());
        }
        self.repository(root, &git)?;
        self.modules(root, &git.join("modules"), 0)
    }

    fn repository(&mut self, root: &Path, git: &Path) -> Result<(), BackendError> {
        PARTS.iter().try_for_each(|name| self.hold(root, git.join(name)))
    }

    fn modules(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<(), BackendError> {
        if depth > MAX_MODULE_DEPTH {
            return Ok(());
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let module = entry.path();
            if module.join("HEAD").exists() {
                self.repository(root, &module)?;
                self.modules(root, &module.join("modules"), depth + 1)?;
            } else {
                self.modules(root, &module, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Binds each of them read-only, and the folders on the way to it onto themselves: a mount point cannot be renamed,
    /// so that none can be moved aside and built anew. What stands for those that are missing is put into `made`.
    ///
    /// # Errors
    /// Where a placeholder cannot be made although a command could make what it stands for.
    pub(super) fn cover(
        self,
        root: &Path,
        program: &mut Command,
        made: &mut Vec<Placeholder>,
    ) -> Result<(), BackendError> {
        let mut stood_in = Vec::new();
        for path in self.missing {
            match Placeholder::make(root, &path, made) {
                Ok(()) => stood_in.push(path),
                // What this user may not make here, a command may not either.
                Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {}
                Err(error) => return Err(io_fault(&error, &seen(root, &path))),
            }
        }
        let mut held: Vec<&Path> = Vec::new();
        for path in self.paths.iter().chain(&stood_in) {
            let above: Vec<&Path> =
                path.ancestors().skip(1).take_while(|folder| *folder != root && folder.starts_with(root)).collect();
            for folder in above.into_iter().rev() {
                if !held.contains(&folder) {
                    held.push(folder);
                    program.arg("--bind").arg(folder).arg(folder);
                }
            }
        }
        for path in &self.paths {
            program.arg("--ro-bind").arg(path).arg(path);
        }
        for path in &stood_in {
            if Placeholder::is_read(path) {
                // Is found empty by whoever reads it, and what is written to it is lost. Mounted read-only it could not be
                // opened at all.
                program.arg("--dev-bind").arg("/dev/null").arg(path);
            } else {
                program.arg("--ro-bind").arg(path).arg(path);
            }
        }
        Ok(())
    }
}

fn at_the_top(root: &Path) -> impl Iterator<Item = PathBuf> {
    let inside = PROTECTED_INSIDE.iter().map(|(folder, name)| Path::new(folder).join(name));
    let plain = PROTECTED_FOLDERS.iter().chain(&PROTECTED_FILES).map(PathBuf::from);
    plain.chain(inside).map(|name| root.join(name))
}

fn is_protected(folder: &Path, name: &str, kind: FileType) -> bool {
    if kind.is_symlink() {
        return false;
    }
    let in_it = || PROTECTED_INSIDE.iter().any(|(outer, inner)| *inner == name && folder.ends_with(outer));
    if kind.is_dir() { PROTECTED_FOLDERS.contains(&name) || in_it() } else { PROTECTED_FILES.contains(&name) }
}

fn is_link(root: &Path, path: &Path) -> BackendError {
    BackendError::GuardIsLink { path: seen(root, path) }
}

/// The path as the agent and the person know it.
fn seen(root: &Path, path: &Path) -> VirtualPath {
    let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    VirtualPath::parse(&format!("/{below}")).unwrap_or_else(|_| VirtualPath::root())
}
