use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A project folder that lives as long as the value.
///
/// ```
/// use bosun_testkit::Project;
///
/// let project = Project::new().file("src/a.txt", "one\n").dir("empty");
/// assert_eq!(project.read("src/a.txt"), "one\n");
/// ```
#[derive(Debug)]
pub struct Project {
    dir: TempDir,
    root: PathBuf,
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

impl Project {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("project-").tempdir().unwrap();
        // The system's folder for such things may itself be a link, and paths are compared.
        let root = dir.path().canonicalize().unwrap();
        Self { dir, root }
    }

    /// Writes a file, with its folders.
    pub fn file(self, path: &str, contents: impl AsRef<[u8]>) -> Self {
        self.write(path, contents);
        self
    }

    /// Makes a folder.
    pub fn dir(self, path: &str) -> Self {
        std::fs::create_dir_all(self.at(path)).unwrap();
        self
    }

    /// Writes a file, with its folders; for changes in the middle of a test.
    pub fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.at(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).unwrap();
        }
        std::fs::write(path, contents).unwrap();
    }

    /// The folder, with links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder as text, for arguments and settings.
    pub fn root_str(&self) -> &str {
        self.root.to_str().unwrap()
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.at(path)).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    /// Every file and folder below the root, sorted, folders with a final `/`. Links are not followed.
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.root, "", &mut found);
        found.sort();
        found
    }

    /// Removes the folder now and reports a failure, instead of when the value is dropped.
    pub fn close(self) {
        self.dir.close().unwrap();
    }
}

fn walk(dir: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{name}/"), found);
            found.push(format!("{name}/"));
        } else {
            found.push(name);
        }
    }
}
