use std::collections::BTreeMap;

use bosun_backend::{BackendError, ChangeWitness, FileStamp, ObjectKind, PlannedChange, VirtualPath};
use futures_util::future::try_join_all;

use super::{bytes_of, stamp_like, stamp_now};
use crate::{BoxFuture, ToolContext};

/// Files that an error names.
const MOST_NAMED: usize = 10;
/// Files that are had at a time to be compared.
const AT_ONCE: usize = 4;

/// What this agent knows of the files in a folder, which go with it: each by its name there, with the one it was read by.
#[derive(Default)]
pub(crate) struct KnownBelow {
    files: BTreeMap<VirtualPath, (VirtualPath, FileStamp)>,
}

impl KnownBelow {
    /// Of what was read by way of a link it counts where that leads: the file goes, whatever it was called.
    pub(crate) fn of(cx: &ToolContext, folder: &VirtualPath) -> Self {
        let direct = cx.backend.direct(folder);
        let file = |(path, stamp): (VirtualPath, FileStamp)| {
            let below = cx.backend.direct(&path).strip_prefix(&direct)?;
            Some((folder.join(below.relative()).ok()?, (path, stamp)))
        };
        Self { files: cx.state.reads().into_iter().filter_map(file).collect() }
    }

    /// # Errors
    /// [`BackendError::ChangedBelow`] where one of them is no longer what was read, and what keeps one from being looked at.
    pub(crate) async fn still_known(&self, cx: &ToolContext, folder: &VirtualPath) -> Result<(), BackendError> {
        let files: Vec<&(VirtualPath, FileStamp)> = self.files.values().collect();
        let mut changed = Vec::new();
        for some in files.chunks(AT_ONCE) {
            let looks = some.iter().map(|(path, stamp)| async move {
                Ok::<_, BackendError>(is_another(cx, path, stamp).await?.then(|| path.clone()))
            });
            changed.extend(try_join_all(looks).await?.into_iter().flatten());
        }
        if changed.is_empty() {
            return Ok(());
        }
        let more = changed.len().saturating_sub(MOST_NAMED);
        changed.truncate(MOST_NAMED);
        Err(BackendError::ChangedBelow { path: folder.clone(), files: changed, more })
    }

    /// `witness`, which also refuses what was changed after the last look.
    pub(crate) fn guarding<'a>(&'a self, witness: &'a dyn ChangeWitness) -> Guard<'a> {
        Guard { known: self, witness }
    }
}

/// Whether there is content at `path` that is not what `stamp` is of. What is gone, is no file any more or is only a link
/// has none to lose.
async fn is_another(cx: &ToolContext, path: &VirtualPath, stamp: &FileStamp) -> Result<bool, BackendError> {
    let backend = &*cx.backend;
    let now = match bytes_of(backend, path).await {
        Ok(bytes) => stamp_like(stamp, backend, path, &bytes).await,
        Err(BackendError::TooLarge { .. }) => stamp_now(backend, path).await,
        Err(error) => Err(error),
    };
    match now {
        Ok(now) if stamp.same_content(&now) => Ok(false),
        Ok(_) => Ok(!backend.stat(path).await.is_ok_and(|found| found.is_link)),
        Err(
            BackendError::NotFound { .. }
            | BackendError::DirectoryNotFound { .. }
            | BackendError::NotADirectory { .. }
            | BackendError::IsADirectory { .. }
            | BackendError::NotRegular { .. }
            | BackendError::OutsideRoot { .. }
            | BackendError::LinkLoop { .. }
            | BackendError::ContentLost { .. },
        ) => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) struct Guard<'a> {
    known: &'a KnownBelow,
    witness: &'a dyn ChangeWitness,
}

impl Guard<'_> {
    fn look(&self, change: &PlannedChange) -> Result<(), BackendError> {
        let Some((_, stamp)) = self.known.files.get(&change.path) else { return Ok(()) };
        let now = change.unkept.clone().or_else(|| change.before.as_deref().map(FileStamp::of_bytes));
        let differ = |now: FileStamp| matches!((&stamp.hash, &now.hash), (Some(read), Some(now)) if read != now);
        let changed = change.object == ObjectKind::File && now.is_some_and(differ);
        if changed { Err(BackendError::Changed { path: change.path.clone() }) } else { Ok(()) }
    }
}

impl ChangeWitness for Guard<'_> {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            self.look(&change)?;
            self.witness.intend(change).await
        })
    }

    fn intend_all(&self, changes: Vec<PlannedChange>) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            changes.iter().try_for_each(|change| self.look(change))?;
            self.witness.intend_all(changes).await
        })
    }
}
