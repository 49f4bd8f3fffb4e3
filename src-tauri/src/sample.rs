#![allow(
    clippy::disallowed_methods,
    reason = "the tour's sample project is put into a folder that no agent works in yet"
)]

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder that is made, and how many may stand beside each other.
const NAME: &str = "bosun-tour";
const MOST: u32 = 999;

/// Why there is no sample project.
#[derive(Debug)]
pub(crate) enum SampleError {
    /// So many stand beside each other already.
    TooMany { most: u32 },
    /// What the system said.
    System(io::Error),
}

impl From<io::Error> for SampleError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Puts `files` (relative path, content) into a new folder in `parent` and returns it. What exists is never touched: where
/// there is a `bosun-tour`, the next is `bosun-tour-2`.
pub(crate) fn place<'a>(
    parent: &Path,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<PathBuf, SampleError> {
    let folder = new_folder(parent)?;
    for (path, content) in files {
        let path = folder.join(path);
        if let Some(around) = path.parent() {
            DirBuilder::new().recursive(true).create(around)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(content.as_bytes())?;
    }
    Ok(folder)
}

fn new_folder(parent: &Path) -> Result<PathBuf, SampleError> {
    let numbered = (2..=MOST).map(|number| format!("{NAME}-{number}"));
    for name in std::iter::once(NAME.to_owned()).chain(numbered) {
        let folder = parent.join(name);
        match DirBuilder::new().create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(SampleError::TooMany { most: MOST })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_never_lands_in_a_folder_that_exists() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::write(parent.path().join("bosun-tour"), "a file of the user's").unwrap();
        std::fs::create_dir(parent.path().join("bosun-tour-2")).unwrap();
        let files = [("README.md", "# Hello\n"), ("src/a.py", "print(1)\n")];
        let folder = place(parent.path(), files).unwrap();
        assert_eq!(folder, parent.path().join("bosun-tour-3"));
        assert_eq!(std::fs::read_to_string(folder.join("src/a.py")).unwrap(), "print(1)\n");
        assert_eq!(std::fs::read_dir(parent.path().join("bosun-tour-2")).unwrap().count(), 0);
        assert_eq!(std::fs::read_to_string(parent.path().join("bosun-tour")).unwrap(), "a file of the user's");
    }

    #[test]
    fn a_place_that_does_not_exist_is_an_error() {
        let parent = tempfile::tempdir().unwrap();
        let missing = place(&parent.path().join("gone"), [("a", "b")]).unwrap_err();
        assert!(
            matches!(&missing, SampleError::System(error) if error.kind() == io::ErrorKind::NotFound),
            "{missing:?}"
        );
    }
}
