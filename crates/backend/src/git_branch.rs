use std::fs;
use std::path::Path;

/// The branch that is checked out in `root`, read from `.git/HEAD` without running git: a project's own configuration
/// could make git run something. `None` without a repository and with a detached head.
pub fn git_branch(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let folder = if git.is_dir() {
        git
    } else {
        // A worktree or submodule: a file that says where its repository's folder is.
        let text = fs::read_to_string(&git).ok()?;
        root.join(text.strip_prefix("gitdir:")?.trim())
    };
    let head = fs::read_to_string(folder.join("HEAD")).ok()?;
    Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

#[cfg(test)]
mod tests {
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
}
