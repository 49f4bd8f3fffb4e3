use crate::{FileData, FileInfo, VirtualPath};

/// The files and folders directly below a prefix of keys, from keys that come in their order. Of a folder one key is enough.
pub struct ChildRows {
    /// Ends in a slash.
    prefix: String,
    limit: usize,
    rows: Vec<FileInfo>,
}

/// Which key a [`ChildRows`] wants after the one it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextKey {
    Following,
    /// The first at or behind this one: what lies between is in a folder that is known.
    From(String),
    None,
}

impl ChildRows {
    pub fn new(prefix: &str, limit: usize) -> Self {
        Self { prefix: prefix.to_owned(), limit, rows: Vec::new() }
    }

    /// `data` is the file under the key, `None` where its value is no file.
    pub fn take(&mut self, key: &str, data: impl FnOnce() -> Option<FileData>) -> NextKey {
        let Some(name) = key.strip_prefix(&self.prefix) else { return NextKey::Following };
        let (Some(path), Some(data)) = (path_of(key), data()) else { return NextKey::Following };
        let (row, next) = match name.split_once('/') {
            None => (FileInfo::stored(path, &data), NextKey::Following),
            Some((name, _)) => {
                let Ok(folder) = VirtualPath::parse(&format!("{}{name}", self.prefix)) else {
                    return NextKey::Following;
                };
                // '0' is what comes behind '/'.
                let behind = format!("{folder}0");
                (FileInfo::folder(folder), NextKey::From(behind))
            }
        };
        self.rows.push(row);
        if self.rows.len() < self.limit { next } else { NextKey::None }
    }

    /// By path. A name that is both is the file.
    pub fn finish(mut self) -> Vec<FileInfo> {
        self.rows.sort_by(|a, b| a.path.cmp(&b.path));
        self.rows.dedup_by(|a, b| a.path == b.path);
        self.rows
    }
}

/// The path that a key is.
pub(crate) fn path_of(key: &str) -> Option<VirtualPath> {
    VirtualPath::parse(key).ok().filter(|path| path.as_str() == key)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{ChildRows, NextKey};
    use crate::FileData;

    #[test]
    fn of_each_folder_one_key_is_enough() {
        let keys =
            ["/m/a", "/m/a-b", "/m/a/x", "/m/a/y", "/m/a0", "/m/b/", "/m/c/deep/x", "/m/c/deep/y", "/m/d", "/other"];
        let (mut rows, mut seen, mut at) = (ChildRows::new("/m/", 100), Vec::new(), String::new());
        for key in keys {
            if key < at.as_str() {
                continue;
            }
            seen.push(key);
            let data = || (key != "/m/d").then(|| FileData::of(b"text", None, 0));
            if let NextKey::From(next) = rows.take(key, data) {
                at = next;
            }
        }
        assert_eq!(seen, ["/m/a", "/m/a-b", "/m/a/x", "/m/a0", "/m/b/", "/m/c/deep/x", "/m/d", "/other"]);
        let rows = rows.finish();
        let rows: Vec<_> = rows.iter().map(|row| (row.path.as_str(), row.is_dir, row.size)).collect();
        let file = Some(4);
        assert_eq!(
            rows,
            [("/m/a", false, file), ("/m/a-b", false, file), ("/m/a0", false, file), ("/m/c", true, None)]
        );
        let mut few = ChildRows::new("/m/", 1);
        assert_eq!(few.take("/m/a", || Some(FileData::of(b"", None, 0))), NextKey::None);
    }
}
