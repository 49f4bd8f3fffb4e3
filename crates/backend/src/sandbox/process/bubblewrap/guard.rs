use std::fs;
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// Folders looked into for repositories.
const MAX_FOLDERS: usize = 20_000;
/// Parts of a repository that are run or obeyed later.
const GUARDED: [&str; 3] = ["hooks", "config", "info"];
/// Bosun's own settings of the project, and those of editors that run things.
const SETTINGS: [&str; 4] = [".bosun", ".vscode", ".idea", ".envrc"];

/// What a command may not change although it is in the project.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    paths: Vec<PathBuf>,
    /// Names in repositories that nothing has yet, and that a command must not take either.
    missing: Vec<PathBuf>,
}

impl Guarded {
    /// Looks for repositories as far as that is quick, and for settings at the top.
    pub(super) fn find(root: &Path) -> Self {
        let mut guarded = Self::default();
        guarded.paths.extend(SETTINGS.iter().map(|name| root.join(name)).filter(|path| is_own(path)));
        let mut waiting = std::collections::VecDeque::from([root.to_owned()]);
        for _ in 0..MAX_FOLDERS {
            let Some(folder) = waiting.pop_front() else { return guarded };
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                if entry.file_name() == ".git" {
                    guarded.repository(&entry.path());
                } else if entry.file_name() != "node_modules" && entry.file_name() != "target" {
                    waiting.push_back(entry.path());
                }
            }
        }
        tracing::info!("not all of a large project was looked through for repositories");
        guarded
    }

    fn repository(&mut self, git: &Path) {
        for path in GUARDED.iter().map(|name| git.join(name)) {
            match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_symlink() => self.paths.push(path),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.missing.push(path),
                _ => {}
            }
        }
        for module in fs::read_dir(git.join("modules")).into_iter().flatten().flatten() {
            let parts = GUARDED.iter().map(|name| module.path().join(name));
            self.paths.extend(parts.filter(|path| is_own(path)));
        }
    }

    /// Binds each of them read-only, and the folders on the way to it onto themselves: a mount point cannot be renamed,
    /// so that none can be moved aside and built anew.
    pub(super) fn cover(&self, root: &Path, program: &mut Command) {
        let mut held: Vec<&Path> = Vec::new();
        for path in self.paths.iter().chain(&self.missing) {
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
        for path in &self.missing {
            if is_config(path) {
                program.arg("--ro-bind").arg("/dev/null").arg(path);
            } else {
                program.arg("--tmpfs").arg(path).arg("--remount-ro").arg(path);
            }
        }
    }

    /// What covering a missing name leaves on the disk: something empty of that name.
    pub(super) fn placeholders(self) -> Vec<PathBuf> {
        self.missing
    }
}

/// Removes what stands where there was nothing, unless somebody put something into it.
pub(super) fn remove_placeholder(path: &Path) {
    let is_empty = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
    let removed = match is_config(path) {
        true if is_empty => fs::remove_file(path),
        true => Ok(()),
        // Goes only where it is empty.
        false => fs::remove_dir(path),
    };
    if let Err(error) = removed {
        tracing::debug!(%error, path = %path.display(), "a placeholder was gone or is one no more");
    }
}

fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "config")
}

/// There, and no link: a link is what it leads to, which is guarded by its own name or is outside.
fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink())
}
