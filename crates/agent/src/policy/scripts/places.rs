//! The folders in which a shell may be.

/// Folders that are followed at once.
const MOST: usize = 8;
/// Longest path that is followed, in bytes.
const LONGEST: usize = 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// Without `.` and `..`, each once.
    pub folders: Vec<String>,
    /// It may be in one that cannot be told.
    pub is_open: bool,
}

impl Places {
    pub fn only(folder: &str) -> Self {
        let folder = below(folder, ".");
        Self { is_open: folder.is_none(), folders: folder.into_iter().collect() }
    }

    pub fn unknown() -> Self {
        Self { folders: Vec::new(), is_open: true }
    }

    /// What `word` names from here.
    pub fn below(&self, word: &str) -> Self {
        if word.starts_with('/') {
            return Self::only(word);
        }
        let mut found = Self { folders: Vec::new(), is_open: self.is_open };
        self.folders.iter().for_each(|folder| found.add(below(folder, word)));
        found
    }

    /// It may be there as well.
    pub fn or(&mut self, other: Self) {
        self.is_open |= other.is_open;
        other.folders.into_iter().for_each(|folder| self.add(Some(folder)));
    }

    fn add(&mut self, folder: Option<String>) {
        match folder {
            Some(folder) if self.folders.contains(&folder) => {}
            Some(folder) if self.folders.len() < MOST => self.folders.push(folder),
            _ => self.is_open = true,
        }
    }
}

/// `word` as it is found from `folder`, without `.` and `..`; `None` where that cannot be told.
fn below(folder: &str, word: &str) -> Option<String> {
    let is_absolute = word.starts_with('/') || folder.starts_with('/');
    let folder = if word.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(word.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.is_empty() && is_absolute => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    let path = format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"));
    Some(path).filter(|path| path.len() <= LONGEST)
}

/// The folders above `folder`, up to `root` where that is one of them.
pub(super) fn above<'f>(folder: &'f str, root: &str) -> Vec<&'f str> {
    let mut found = Vec::new();
    let mut at = folder;
    while at != root && !at.is_empty() && at != "/" {
        at = match at.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((above, _)) => above,
            None => "",
        };
        found.push(at);
    }
    found
}
