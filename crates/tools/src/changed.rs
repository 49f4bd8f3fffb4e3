//! Changes to files: what was done, for the model, the state and the row.

use std::sync::{Arc, Mutex, PoisonError};

use bosun_backend::{BackendError, Change, ChangeWitness, CommandChanges, PlannedChange, Uncompared, VirtualPath};

use crate::diff::{DiffLimits, file_diff};
use crate::limits::figure;
use crate::{
    Artifact, BoxFuture, ChangeRecord, Figure, FileDiff, StateUpdate, ToolOutput, UncomparedFiles, UnkeptRecord,
};

/// Passes intents on and keeps the bytes of the first one, so that a diff of exactly what happened can be shown.
pub(crate) struct Recorder<'a> {
    witness: &'a dyn ChangeWitness,
    first: Mutex<Option<Bytes>>,
}

struct Bytes {
    path: VirtualPath,
    before: Option<Arc<[u8]>>,
    after: Option<Arc<[u8]>>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(witness: &'a dyn ChangeWitness) -> Self {
        Self { witness, first: Mutex::new(None) }
    }

    fn keep_first(&self, change: &PlannedChange) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() && change.unkept.is_none() {
            let (before, after) = (change.before.clone(), change.after.clone());
            *first = Some(Bytes { path: change.path.clone(), before, after });
        }
    }

    /// The first change as a diff, where its bytes were given.
    pub(crate) async fn diff(self) -> Option<FileDiff> {
        let Bytes { path, before, after } = self.first.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Some(diff_of(path, before, after, DiffLimits::ROW).await)
    }
}

impl ChangeWitness for Recorder<'_> {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        self.keep_first(&change);
        self.witness.intend(change)
    }

    fn intend_all(&self, changes: Vec<PlannedChange>) -> BoxFuture<'_, Result<(), BackendError>> {
        if let Some(change) = changes.first() {
            self.keep_first(change);
        }
        self.witness.intend_all(changes)
    }
}

/// Bytes from which on a diff is made on the blocking pool.
const LARGE: usize = 128 * 1024;

/// [`file_diff`] that does not hold up other tasks.
pub(crate) async fn diff_of(
    path: VirtualPath,
    before: Option<Arc<[u8]>>,
    after: Option<Arc<[u8]>>,
    limits: DiffLimits,
) -> FileDiff {
    let size = before.as_ref().map_or(0, |bytes| bytes.len()) + after.as_ref().map_or(0, |bytes| bytes.len());
    let shown = path.clone();
    let make = move || file_diff(&path, before.as_deref(), after.as_deref(), limits);
    if size < LARGE {
        return make();
    }
    tokio::task::spawn_blocking(make).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a diff could not be made");
        FileDiff { truncated: true, ..FileDiff::empty(&shown) }
    })
}

/// The result of changes that happened: what the agent now knows of the files, what to undo, what the row shows.
pub(crate) fn changed(text: String, changes: &[Change], diff: Option<FileDiff>) -> ToolOutput {
    let mut figures: Vec<Figure> = match &diff {
        Some(diff) if !diff.binary => {
            [(diff.added, Figure::Added(diff.added)), (diff.removed, Figure::Removed(diff.removed))]
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(_, figure)| figure)
                .collect()
        }
        Some(_) => Vec::new(),
        None => vec![Figure::Files(figure(changes.len()))],
    };
    let mut text = text;
    if changes.iter().any(|change| change.parted) {
        figures.push(Figure::LinkBroken);
        text.push_str(". It was one of several hard links to one file; its other names keep what it held before");
    }
    if changes.iter().any(|change| change.handed_over) {
        text.push_str(
            ". Its owner or group could not be kept with the rights there are: it belongs to the account that Bosun runs \
             as now",
        );
    }
    if changes.iter().any(|change| change.stripped) {
        text.push_str(". Bits of its mode or extended attributes that it had could not be kept");
    }
    ToolOutput {
        update: StateUpdate {
            files: changes.iter().flat_map(|change| change.state.iter().cloned()).collect(),
            reads: changes.iter().map(|change| (change.path.clone(), change.after.clone())).collect(),
            ..StateUpdate::default()
        },
        artifact: Artifact {
            figures,
            diff,
            changes: changes.iter().map(ChangeRecord::from).collect(),
            ..Artifact::default()
        },
        ..ToolOutput::text(text)
    }
}

/// What is said of a command under which the app ended, with what it did to files as far as that can be told.
pub fn left_by_command(text: impl Into<String>, files: Option<CommandChanges>) -> ToolOutput {
    let files = files.unwrap_or_default();
    let count = files.changes.len() + files.unkept.len() + files.more;
    let mut artifact = commanded(files);
    if count > 0 {
        artifact.figures.push(Figure::Files(figure(count)));
    }
    ToolOutput { artifact, ..ToolOutput::error(text) }
}

/// What a command did to files, as its row and its undo need it. The agent does not know these files: it reads them
/// before it changes them.
pub(crate) fn commanded(files: CommandChanges) -> Artifact {
    let change = |change: bosun_backend::CommandChange| ChangeRecord {
        path: change.path,
        before: change.before,
        after: change.after,
        mode: change.mode,
        mode_after: change.mode_after,
    };
    let unkept = |change: bosun_backend::UnkeptChange| UnkeptRecord {
        path: change.path,
        before: change.before,
        after: change.after,
    };
    Artifact {
        changes: files.changes.into_iter().map(change).collect(),
        unkept: files.unkept.into_iter().map(unkept).collect(),
        unkept_more: figure(files.more),
        uncompared: files.uncompared.map(|reason| match reason {
            Uncompared::TooMany { .. } => UncomparedFiles::TooMany,
            Uncompared::TooSlow { .. } => UncomparedFiles::TooSlow,
            Uncompared::Unreadable => UncomparedFiles::Unreadable,
        }),
        ..Artifact::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_hands_is_said() {
        let mut change = Change {
            path: VirtualPath::root(),
            before: None,
            after: None,
            mode: None,
            mode_after: None,
            occurrences: 0,
            parted: false,
            handed_over: false,
            stripped: false,
            state: Vec::new(),
        };
        let said =
            |change: &Change| bosun_model::text_of(&changed("Done".into(), std::slice::from_ref(change), None).content);
        assert_eq!(said(&change), "Done");
        change.handed_over = true;
        assert!(said(&change).starts_with("Done. Its owner or group could not be kept"), "{}", said(&change));
        change.stripped = true;
        assert!(said(&change).ends_with("that it had could not be kept"), "{}", said(&change));
    }
}
