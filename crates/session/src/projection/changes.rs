use std::collections::HashMap;

use bosun_backend::{ContentHash, VirtualPath};
use bosun_protocol::{ChangeKind, FileChange, SessionEvent};
use bosun_tools::{Artifact, ChangeRecord};

use super::Projection;

/// What became of each file, from its bytes before the first change to those after the last.
#[derive(Default)]
pub(super) struct Changes {
    files: HashMap<VirtualPath, Changed>,
    /// Whether someone compares the bytes and says so with [`Projection::counted`]. Else lines are summed over the edits.
    compared: bool,
}

struct Changed {
    before: Option<ContentHash>,
    after: Option<ContentHash>,
    /// Lines of the edits one by one, for where the bytes cannot be compared.
    summed: (u32, u32),
    lines: Lines,
}

#[derive(Clone, Copy, PartialEq)]
enum Lines {
    Unknown,
    Counted(u32, u32),
}

/// A file's first and last state in a session, whose lines are to be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub path: VirtualPath,
    pub before: Option<ContentHash>,
    pub after: Option<ContentHash>,
}

impl Changes {
    /// Takes a change; `None` until its lines are counted.
    fn take(&mut self, record: &ChangeRecord, (added, removed): (u32, u32)) -> Option<FileChange> {
        let compared = self.compared;
        let file = self.files.entry(record.path.clone()).or_insert_with(|| Changed {
            before: record.before.clone(),
            after: None,
            summed: (0, 0),
            lines: Lines::Unknown,
        });
        file.after.clone_from(&record.after);
        file.summed = (file.summed.0.saturating_add(added), file.summed.1.saturating_add(removed));
        file.lines = if file.before == file.after {
            file.summed = (0, 0);
            Lines::Counted(0, 0)
        } else if compared {
            Lines::Unknown
        } else {
            Lines::Counted(file.summed.0, file.summed.1)
        };
        file.shown(&record.path)
    }
}

impl Changed {
    fn shown(&self, path: &VirtualPath) -> Option<FileChange> {
        let Lines::Counted(added, removed) = self.lines else { return None };
        let change = match (&self.before, &self.after) {
            (Some(_), None) => ChangeKind::Deleted,
            (None, Some(_)) => ChangeKind::Created,
            (Some(_), Some(_)) | (None, None) => ChangeKind::Changed,
        };
        Some(FileChange { path: path.to_string(), change, added, removed })
    }
}

impl Projection {
    /// From now on the lines of changes are counted from bytes, by whoever calls [`Self::counted`].
    pub(crate) fn compare_changes(&mut self) {
        self.changes.compared = true;
    }

    /// The files that a call changed, in this session's own list.
    pub(super) fn changed(&mut self, artifact: &Artifact) {
        let diff = artifact.diff.as_ref().filter(|_| artifact.changes.len() == 1);
        let lines = diff.map_or((0, 0), |diff| (diff.added, diff.removed));
        for record in &artifact.changes {
            if let Some(change) = self.changes.take(record, lines) {
                self.emit(SessionEvent::FileChanged { change });
            }
        }
    }

    /// Files that were put back; whatever that changed is counted like any change.
    pub(super) fn restored(&mut self, changes: &[ChangeRecord]) {
        for record in changes {
            if let Some(change) = self.changes.take(record, (0, 0)) {
                self.emit(SessionEvent::FileChanged { change });
            }
        }
    }

    /// Takes all changes of the session and its subagents anew, in the order in which they happened: read journal by
    /// journal, they stand in another.
    pub(crate) fn replay_changes(&mut self, changes: &[ChangeRecord]) {
        self.changes.files.clear();
        self.restored(changes);
    }

    /// The files that are not as they were before the session, with their first and last bytes, by path.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let changed = self.changes.files.iter().filter(|(_, file)| file.before != file.after);
        let mut spans: Vec<Span> = changed
            .map(|(path, file)| Span { path: path.clone(), before: file.before.clone(), after: file.after.clone() })
            .collect();
        spans.sort_by(|a, b| a.path.cmp(&b.path));
        spans
    }

    /// A subagent's changes belong to the whole tree.
    pub(crate) fn child_changed(&mut self, artifact: &Artifact) {
        self.changed(artifact);
    }

    /// The bytes of `path` before this session first changed it: outer `None` where it never did.
    pub(crate) fn bytes_before(&self, path: &VirtualPath) -> Option<Option<ContentHash>> {
        self.changes.files.get(path).map(|file| file.before.clone())
    }

    /// The changes whose lines nobody has counted yet, in the order of their paths.
    pub(crate) fn uncounted(&self) -> Vec<Span> {
        let open = self.changes.files.iter().filter(|(_, file)| file.lines == Lines::Unknown);
        let mut spans: Vec<Span> = open
            .map(|(path, file)| Span { path: path.clone(), before: file.before.clone(), after: file.after.clone() })
            .collect();
        spans.sort_by(|a, b| a.path.cmp(&b.path));
        spans
    }

    /// Takes the lines of a change, added and removed; `None` where its bytes cannot be read any more. A change that
    /// went on meanwhile is counted again.
    pub(crate) fn counted(&mut self, span: &Span, lines: Option<(u32, u32)>) {
        let Some(file) = self.changes.files.get_mut(&span.path) else { return };
        if file.lines != Lines::Unknown || file.before != span.before || file.after != span.after {
            return;
        }
        let (added, removed) = lines.unwrap_or(file.summed);
        file.lines = Lines::Counted(added, removed);
        if let Some(change) = file.shown(&span.path) {
            self.emit(SessionEvent::FileChanged { change });
        }
    }
}
