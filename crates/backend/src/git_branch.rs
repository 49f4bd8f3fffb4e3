use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{FileType, Mode};

use crate::root::{READ, file_type};

/// What a file of git's that holds one line may have, in bytes.
const MAX_LINE: u64 = 4096;

/// The branch that is checked out in `root`, read from `.git/HEAD` without running git: a project's own configuration
/// could make git run something. `None` without a repository and with a detached head.
pub fn git_branch(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let folder = if git.is_dir() {
        git
    } else {
        // A worktree or submodule: a file that says where its repository's folder is.
        root.join(line_of(&git)?.strip_prefix("gitdir:")?.trim())
    };
    let head = line_of(&folder.join("HEAD"))?;
    Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

/// The text of a small regular file. A project can put anything under these names: a pipe that never answers, a
/// device that never ends.
fn line_of(path: &Path) -> Option<String> {
    let file = rustix::fs::open(path, READ, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let mut text = String::new();
    let regular = file_type(&stat) == FileType::RegularFile;
    regular.then(|| File::from(file).take(MAX_LINE).read_to_string(&mut text).ok())??;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_branch_is_read_from_a_folder_and_from_a_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(git_branch(root), None);
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(git_branch(root).as_deref(), Some("feature/x"));
        fs::create_dir(root.join("tree")).unwrap();
        fs::write(root.join("tree/.git"), "gitdir: ../.git\n").unwrap();
        assert_eq!(git_branch(&root.join("tree")).as_deref(), Some("feature/x"));
        fs::write(root.join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(git_branch(root), None);
    }
    #[test]
    fn what_is_no_file_is_no_branch() {
        let folder = tempfile::tempdir().unwrap();
        let head = folder.path().join(".git/HEAD");
        fs::create_dir(folder.path().join(".git")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &head, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert_eq!(git_branch(folder.path()), None);
        fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &head).unwrap();
        assert_eq!(git_branch(folder.path()), None);
    }
}
