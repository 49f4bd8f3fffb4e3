use std::path::Path;

use crate::Database;

/// What the things in the data folder weigh: the first part of each file's path in it, and its bytes.
pub type FolderSizes = Vec<(String, u64)>;

/// Files that are looked at; a folder with more is weighed up to here.
const MOST_FILES: usize = 1_000_000;

impl Database {
    /// Weighs the data folder. Blocks: it looks at every file.
    pub fn sizes(&self) -> FolderSizes {
        let mut left = MOST_FILES;
        let Ok(entries) = std::fs::read_dir(self.folder()) else { return Vec::new() };
        let entries = entries.filter_map(Result::ok);
        entries
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), weigh(&entry.path(), &mut left)))
            .collect()
    }
}

fn weigh(path: &Path, left: &mut usize) -> u64 {
    let mut open = vec![path.to_owned()];
    let mut bytes = 0;
    while let Some(path) = open.pop() {
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        if *left == 0 {
            break;
        }
        *left -= 1;
        if metadata.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok);
            open.extend(entries.map(|entry| entry.path()));
        } else if metadata.is_file() {
            bytes += metadata.len();
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_weighed_by_its_parts_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        std::fs::create_dir_all(folder.path().join("blobs/a")).unwrap();
        std::fs::write(folder.path().join("blobs/a/b"), [0; 1_000]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/usr", folder.path().join("blobs/link")).unwrap();
        let blobs = database.sizes().into_iter().find(|(name, _)| name == "blobs");
        assert_eq!(blobs, Some(("blobs".to_owned(), 1_000)));
    }
}
