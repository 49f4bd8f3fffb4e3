use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::git::{self, Found, Kind, Repository};
use super::{Placeholder, at_the_top, entries, is_protected, is_top, look};
use crate::root::{Root, file_type};

/// Folders looked into for repositories and protected names.
const MAX_FOLDERS: usize = 20_000;
/// Repositories that are held, those of submodules and work trees among them: each costs up to a dozen mounts for every
/// command.
const MAX_REPOSITORIES: usize = 400;

/// What a project has of names that are run or obeyed later, as far as that is found quickly.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Protected names below the top.
    pub(super) protected: Vec<PathBuf>,
    pub(super) repositories: Vec<Repository>,
    /// Files that say where a repository is.
    pub(super) pointers: Vec<PathBuf>,
    /// Links where a repository would be.
    pub(super) links: Vec<PathBuf>,
    /// Other links at protected names.
    other_links: Vec<PathBuf>,
    /// Folders that nobody can list, but whoever knows a name in them may go there.
    pub(super) closed: Vec<PathBuf>,
    /// There is more than was looked through.
    pub(super) cut: bool,
}

impl Survey {
    pub(super) fn of(root: &Root) -> Self {
        let mut survey = Self::default();
        let mut waiting = VecDeque::from([PathBuf::new()]);
        let top = PathBuf::from(".git");
        // Before all others, so that there is always room for it.
        if let Ok(found) = look(root, &top) {
            survey.git(root, top.clone(), file_type(&found));
        }
        for _ in 0..MAX_FOLDERS {
            let Some(folder) = waiting.pop_front() else { return survey };
            let Some(found) = entries(root, &folder) else {
                survey.close(root, folder);
                continue;
            };
            if is_bare(&found) {
                survey.repository(root, folder.clone());
            }
            for (name, kind) in found {
                let path = folder.join(&name);
                if path == top {
                    // It was the first.
                } else if name.as_os_str() == ".git" {
                    survey.git(root, path, kind);
                } else if is_at_the_top(&path) {
                    // Held whatever it is, and nothing that a command makes.
                } else if is_protected(&folder, &name.to_string_lossy(), kind) {
                    let is_link = kind == FileType::Symlink;
                    if is_link {
                        survey.other_links.push(path)
                    } else {
                        survey.protected.push(path)
                    };
                } else if kind == FileType::Directory && !is_built(root, &path) {
                    waiting.push_back(path);
                }
            }
        }
        survey.cut |= !waiting.is_empty();
        survey
    }

    /// A repository, or the file that says where one is.
    fn git(&mut self, root: &Root, git: PathBuf, kind: FileType) {
        match kind {
            FileType::Symlink => self.links.push(git),
            FileType::Directory => {
                // Another command's, or one that was left behind.
                if !look(root, &git).is_ok_and(|found| Placeholder::is_one(root, &git, &found)) {
                    self.repository(root, git);
                }
            }
            _ => self.pointers.push(git),
        }
    }

    /// A folder that cannot be listed. One that nobody can even look at, as of a disk that is gone, cannot be held either.
    fn close(&mut self, root: &Root, folder: PathBuf) {
        if is_top(&folder) || look(root, &folder).is_ok() {
            self.closed.push(folder);
        } else {
            self.cut = true;
        }
    }

    fn repository(&mut self, root: &Root, folder: PathBuf) {
        let room = MAX_REPOSITORIES - self.repositories.len();
        let Found { repositories, links, closed, cut, .. } = Found::at(root, folder, room);
        self.repositories.extend(repositories);
        self.links.extend(links);
        closed.into_iter().for_each(|folder| self.close(root, folder));
        self.cut |= cut;
    }

    /// What there is that runs later, by the path to name it with, and what tells whether it is still the same.
    pub(super) fn armed(&self, root: &Root) -> BTreeSet<(PathBuf, String)> {
        let as_it_is = |path: &PathBuf| (path.clone(), String::new());
        let named = self.protected.iter().chain(&self.pointers).chain(&self.links).chain(&self.other_links);
        let named = named.chain(&self.closed);
        let mut armed: BTreeSet<(PathBuf, String)> = named.map(as_it_is).collect();
        let hooks = self.pointers.iter().flat_map(|pointer| git::hooks_from_outside(root, pointer));
        armed.extend(hooks.filter_map(|path| git::met(root, &path)).map(|path| (path, String::new())));
        for repository in &self.repositories {
            let Repository { folder, kind } = repository;
            if *kind == Kind::Whole {
                let config = folder.join("config");
                let path = if git::is_there(root, &config) { config } else { folder.clone() };
                armed.insert((path, String::new()));
            }
            armed.extend(git::todo(root, folder));
            armed.extend(repository.unheld(root).iter().map(as_it_is));
        }
        armed
    }
}

/// Whether a folder is one of programs, which whoever starts them runs anyway: an installation of npm's, or one that
/// cargo says is its own.
fn is_built(root: &Root, folder: &Path) -> bool {
    folder.ends_with("node_modules") || folder.ends_with("target") && look(root, &folder.join("CACHEDIR.TAG")).is_ok()
}

/// Whether a path is one of those that are always held.
fn is_at_the_top(path: &Path) -> bool {
    path.components().count() <= 2 && at_the_top().any(|(held, _)| held == path)
}

/// Whether git takes a folder with these in it for a repository wherever it meets it.
fn is_bare(entries: &[(PathBuf, FileType)]) -> bool {
    let has = |part: &str| entries.iter().any(|(name, _)| name.as_os_str() == part);
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
