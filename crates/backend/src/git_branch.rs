use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::VirtualPath;
use crate::root::{Mounts, Root};

/// What a file of git's that holds one line may have, in bytes.
const MAX_LINE: u64 = 4096;

/// The branch that is checked out in `root`, read from `.git/HEAD` without running git: a project's own configuration
/// could make git run something. `None` without a repository and with a detached head.
///
/// A `.git` that is a file can name any folder of the machine. One outside the project is believed only where it names
/// the project in turn, as git has it do for a worktree. That of a submodule opened by itself does not, so that its
/// branch is not shown.
pub fn git_branch(root: &Path) -> Option<String> {
    let root = Root::open(root, Mounts::Cross).ok()?;
    let head = line_of(&root, "/.git/HEAD").or_else(|| linked_head(&root))?;
    Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

/// The `HEAD` of a worktree, whose `.git` is a file that says where its repository's folder is.
fn linked_head(root: &Root) -> Option<String> {
    let text = line_of(root, "/.git")?;
    let folder = plain(&root.real().join(text.strip_prefix("gitdir:")?.trim()))?;
    if let Some(inside) = root.below(folder.to_str()?) {
        return line_of(root, &format!("/{inside}/HEAD"));
    }
    let outside = Root::open(&folder, Mounts::Cross).ok()?;
    let named = plain(&folder.join(line_of(&outside, "/gitdir")?.trim()))?;
    if root.below(named.to_str()?)? == ".git" { line_of(&outside, "/HEAD") } else { None }
}

/// `path` without `.` and `..`, by its text alone.
pub(crate) fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => plain.pop().then_some(())?,
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// The text of a small regular file. A project can put anything under these names: a pipe that never answers, a
/// device that never ends, a link that leads out.
fn line_of(root: &Root, path: &str) -> Option<String> {
    let (file, _) = root.open_file(&VirtualPath::parse(path).ok()?).ok()?;
    let mut text = String::new();
    File::from(file).take(MAX_LINE).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{FileType, Mode};

    use super::*;

    #[test]
    fn the_branch_is_read_from_the_projects_own_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(git_branch(root), None);
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(git_branch(root).as_deref(), Some("feature/x"));
        fs::write(root.join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(git_branch(root), None);
    }

    /// As `git worktree add` lays it out, with whole paths and with relative ones.
    #[test]
    fn the_branch_of_a_worktree_is_read_where_its_repository_names_it() {
        let top = tempfile::tempdir().unwrap();
        let (tree, own) = (top.path().join("tree"), top.path().join("main/.git/worktrees/tree"));
        fs::create_dir(&tree).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        let whole = (format!("{}", own.display()), format!("{}", tree.join(".git").display()));
        let relative = ("../main/.git/worktrees/tree".to_owned(), "../../../../tree/.git".to_owned());
        for (there, back) in [whole, relative] {
            fs::write(tree.join(".git"), format!("gitdir: {there}\n")).unwrap();
            fs::write(own.join("gitdir"), format!("{back}\n")).unwrap();
            assert_eq!(git_branch(&tree).as_deref(), Some("side"), "{there}");
        }
    }

    /// A project says where to look, and what is there is not its own.
    #[test]
    fn a_project_does_not_lead_to_the_head_of_another() {
        let top = tempfile::tempdir().unwrap();
        let (project, other) = (top.path().join("project"), top.path().join("other/.git"));
        fs::create_dir(&project).unwrap();
        fs::create_dir_all(other.join("worktrees/their")).unwrap();
        for at in [&other, &other.join("worktrees/their")] {
            fs::write(at.join("HEAD"), "ref: refs/heads/secret-name\n").unwrap();
        }
        fs::write(other.join("worktrees/their/gitdir"), "/elsewhere/their/.git\n").unwrap();
        for there in ["../other/.git", "../other/.git/worktrees/their", other.to_str().unwrap(), "nowhere", "/../.."] {
            fs::write(project.join(".git"), format!("gitdir: {there}\n")).unwrap();
            assert_eq!(git_branch(&project), None, "{there}");
        }
        fs::remove_file(project.join(".git")).unwrap();
        std::os::unix::fs::symlink("../other/.git", project.join(".git")).unwrap();
        assert_eq!(git_branch(&project), None);
        fs::remove_file(project.join(".git")).unwrap();
        fs::create_dir(project.join(".git")).unwrap();
        std::os::unix::fs::symlink("../../other/.git/HEAD", project.join(".git/HEAD")).unwrap();
        assert_eq!(git_branch(&project), None);
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
