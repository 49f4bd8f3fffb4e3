use std::collections::BTreeMap;

use crate::{ContentHash, FileContent, FileData, VirtualPath};

/// Files that become this; `None`: that are removed.
pub type FileUpdates = Vec<(VirtualPath, Option<FileData>)>;

/// One path that two writers changed from the same version, each without seeing the other's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileConflict {
    /// Holds the first writer's version still.
    pub path: VirtualPath,
    /// Where the second writer's version is; `None` where that one removed the file.
    pub kept_at: Option<VirtualPath>,
}

/// What merging `theirs` into `files` does, where both began from `base`: the updates for the files reducer, and every
/// path that was changed on both sides (behaviour.md A17). The first version stays, the second is kept beside it under
/// a name made from its content, so that no order of merging loses one or overwrites one silently.
pub fn merge_files(
    files: &BTreeMap<VirtualPath, FileData>,
    base: &BTreeMap<VirtualPath, FileData>,
    theirs: FileUpdates,
) -> (FileUpdates, Vec<FileConflict>) {
    let (mut updates, mut conflicts) = (Vec::new(), Vec::new());
    for (path, their) in theirs {
        let (ours, seen) = (files.get(&path), base.get(&path));
        if same(ours, their.as_ref()) || same(seen, their.as_ref()) {
            // Both did the same, or they did nothing.
            continue;
        }
        if same(ours, seen) {
            updates.push((path, their));
            continue;
        }
        let kept_at = their.as_ref().and_then(|their| beside(&path, their));
        if let (Some(at), Some(their)) = (&kept_at, their) {
            updates.push((at.clone(), Some(their)));
        }
        conflicts.push(FileConflict { path, kept_at });
    }
    (updates, conflicts)
}

/// The same content, whenever it was written.
fn same(a: Option<&FileData>, b: Option<&FileData>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is_same(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn beside(path: &VirtualPath, data: &FileData) -> Option<VirtualPath> {
    let hash = match &data.content {
        FileContent::Held(text) => ContentHash::of(text.as_bytes()),
        FileContent::Kept { blob, .. } => blob.clone(),
    };
    let mark = format!(".conflict-{}", hash.as_str().get(..8)?);
    let name = path.name()?;
    // Within the longest name a file may have, cut where a character ends.
    let mut room = 255_usize.saturating_sub(mark.len()).min(name.len());
    while !name.is_char_boundary(room) {
        room -= 1;
    }
    let beside = path.parent()?.join(&format!("{}{mark}", name.get(..room)?));
    // With all that is above it that may be too long for a path.
    beside.or_else(|_| VirtualPath::root().join(mark.trim_start_matches('.'))).ok()
}
