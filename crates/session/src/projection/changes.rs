use std::collections::HashMap;

use bosun_backend::{ContentHash, VirtualPath};
use bosun_protocol::{ChangeKind, FileChange, SessionEvent};
use bosun_tools::{Artifact, ChangeRecord};

use super::Projection;

/// What became of each file, from its bytes before the first change.
#[derive(Default)]
pub(super) struct Changes {
    files: HashMap<VirtualPath, Changed>,
}

struct Changed {
    before: Option<ContentHash>,
    after: Option<ContentHash>,
    added: u32,
    removed: u32,
}

impl Changes {
    fn take(&mut self, record: &ChangeRecord, added: u32, removed: u32) -> FileChange {
        let file = self.files.entry(record.path.clone()).or_insert_with(|| Changed {
            before: record.before.clone(),
            after: None,
            added: 0,
            removed: 0,
        });
        file.after.clone_from(&record.after);
        file.added = file.added.saturating_add(added);
        file.removed = file.removed.saturating_add(removed);
        if file.before == file.after {
            (file.added, file.removed) = (0, 0);
        }
        let change = match (&file.before, &file.after) {
            (_, None) => ChangeKind::Deleted,
            (None, Some(_)) => ChangeKind::Created,
            (Some(_), Some(_)) => ChangeKind::Changed,
        };
        FileChange { path: record.path.to_string(), change, added: file.added, removed: file.removed }
    }

    /// The bytes of `path` before this session first changed it: outer `None` where it never did.
    pub(super) fn before(&self, path: &VirtualPath) -> Option<Option<ContentHash>> {
        self.files.get(path).map(|file| file.before.clone())
    }
}

impl Projection {
    /// The files that a call changed, in this session's own list.
    pub(super) fn changed(&mut self, artifact: &Artifact) {
        for event in self.take_changes(artifact) {
            self.emit(event);
        }
    }

    /// A subagent's changes belong to the whole tree.
    pub(crate) fn child_changed(&mut self, artifact: &Artifact) {
        self.changed(artifact);
    }

    /// See [`Changes::before`].
    pub(crate) fn bytes_before(&self, path: &VirtualPath) -> Option<Option<ContentHash>> {
        self.changes.before(path)
    }

    fn take_changes(&mut self, artifact: &Artifact) -> Vec<SessionEvent> {
        let diff = artifact.diff.as_ref().filter(|_| artifact.changes.len() == 1);
        let (added, removed) = diff.map_or((0, 0), |diff| (diff.added, diff.removed));
        let records = artifact.changes.iter();
        records.map(|record| SessionEvent::FileChanged { change: self.changes.take(record, added, removed) }).collect()
    }
}
