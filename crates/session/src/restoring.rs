use std::sync::Arc;

use bosun_agent::{EntryBody, SessionLog};
use bosun_backend::{
    Backend, BackendError, BlobStore, ContentHash, Expect, FileStamp, FileUpdates, Unwitnessed, VirtualPath,
};
use bosun_protocol::{ChangeKind, ChangeScope, ErrorCode, Problem, RestoredFile};
use bosun_tools::{ChangeRecord, DiffLimits, StateUpdate, file_diff};

use crate::actor::Actor;
use crate::projection::{Form, Scoped, Span, changed_rights};
use crate::reviewing::{parsed, past_own_edits};
use crate::states::FileState;
use crate::{Explain, SessionError};

/// By whom the state's files are set when something is put back.
pub(crate) const KEPT: &str = "restoring";

/// Only the number of lines is wanted.
const NOTHING: DiffLimits = DiffLimits { lines: 0, characters: 0 };

/// A file that is to be put back: from the bytes that the session left there to earlier ones.
pub(crate) struct Restore {
    pub path: VirtualPath,
    pub from: Form,
    pub to: FileState,
}

impl Restore {
    /// What takes `change` back.
    pub(crate) fn again(change: &ChangeRecord) -> Self {
        let to = FileState::of(Form::before(change));
        Self { path: change.path.clone(), from: Form::after(change), to }
    }
}

/// A file that was looked at before it is put back.
pub(crate) struct Checked {
    /// What becomes of the session's own change.
    record: ChangeRecord,
    /// What happens on disk: the same, unless the person's own edits stay.
    disk: ChangeRecord,
    /// What it is to be made.
    pub bytes: Option<Vec<u8>>,
    /// What the session's own change becomes, where that is kept nowhere yet.
    made: Option<Vec<u8>>,
    /// What is there now.
    now: Option<Vec<u8>>,
    pub shown: RestoredFile,
}

impl Actor {
    /// Puts one file back to what the person kept of it; where they kept it whole, to what it was before the scope.
    pub(crate) async fn undo_file(
        self: &Arc<Self>,
        path: &str,
        scope: ChangeScope,
    ) -> Result<RestoredFile, SessionError> {
        let path = parsed(path)?;
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let scoped = self.stream.read(|projection| projection.scoped_changes(scope)).into_iter();
        let as_before = || SessionError::not_found(Problem::AsBefore { path: path.to_string() });
        let file = scoped.into_iter().find(|file| file.span.path == path).ok_or_else(as_before)?;
        let reviewed = self.looked_at(file, scope).await?;
        if reviewed.before.is(&reviewed.file.span.after) {
            return Err(as_before());
        }
        let is_kept = reviewed.is_kept();
        let to = if is_kept { reviewed.before } else { reviewed.base };
        let checked = self.check_undo(&reviewed.file, to).await?;
        if let Some(problem) = &checked.shown.problem {
            return Err(SessionError::invalid(problem.clone()));
        }
        let shown = checked.shown.clone();
        self.restore(vec![checked]).await?;
        drop(turn);
        Ok(shown)
    }

    /// Puts every file of a scope back to what the person kept of it, else to what it was before the scope. Those that were
    /// changed since in the same places are left and named.
    pub(crate) async fn undo_changes(self: &Arc<Self>, scope: ChangeScope) -> Result<Vec<RestoredFile>, SessionError> {
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let mut checked = Vec::new();
        for file in self.stream.read(|projection| projection.scoped_changes(scope)) {
            let reviewed = self.looked_at(file, scope).await?;
            if !reviewed.is_kept() && !reviewed.before.is(&reviewed.file.span.after) {
                checked.push(self.check_undo(&reviewed.file, reviewed.base).await?);
            }
        }
        let shown = checked.iter().map(|checked| checked.shown.clone()).collect();
        self.restore(checked).await?;
        drop(turn);
        Ok(shown)
    }

    /// Makes a file again what the session left, over what the person or another program did to it since; that is kept,
    /// and can come again.
    pub(crate) async fn restore_version(self: &Arc<Self>, path: &str) -> Result<RestoredFile, SessionError> {
        let path = parsed(path)?;
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let spans = self.stream.read(|projection| projection.spans());
        let span = spans.into_iter().find(|span| span.path == path);
        let span = span.ok_or_else(|| SessionError::not_found(Problem::NotChanged { path: path.to_string() }))?;
        let now = read(&*self.backend().await?, &path).await?;
        let from = now.as_deref().map(ContentHash::of);
        let is_left = from == span.after.hash;
        // The rights of a file that is there are those that somebody gave it.
        let to = Form::of(span.after.hash, span.after.mode.filter(|_| from.is_none()));
        let checked = self.check_restore(Restore { path, from: Form::of(from, None), to: FileState::of(to) }).await?;
        if let Some(problem) = &checked.shown.problem {
            return Err(SessionError::invalid(problem.clone()));
        }
        let shown = checked.shown.clone();
        if !is_left {
            self.restore(vec![checked]).await?;
        }
        drop(turn);
        Ok(shown)
    }

    /// As [`Self::check_restore`], where what a scope shows is undone. What an older version kept tells no rights: then they
    /// are those before the scope.
    pub(crate) async fn check_undo(&self, file: &Scoped, to: FileState) -> Result<Checked, SessionError> {
        let Span { path, before, after, .. } = file.span.clone();
        let to = FileState { mode: to.mode.or(before.mode), ..to };
        self.check_restore(Restore { path, from: after, to }).await
    }

    /// The rights of the file that is there now, where it can be told, and those that it is to be given: what others did to
    /// them since stays.
    async fn rights(&self, restore: &Restore, is_there: bool) -> Result<(Option<u32>, Option<u32>), SessionError> {
        let Restore { path, from, to } = restore;
        if !is_there {
            let before = || self.stream.read(|projection| projection.mode_before(path));
            return Ok((None, to.mode.or_else(before)));
        }
        let now = match self.backend().await?.modes() {
            // A file that is reached through a link has rights that nobody gives it from here.
            Some(modes) => modes.mode(path).await.unwrap_or_default(),
            None => None,
        };
        let then = match (to.mode, from.mode, now) {
            (Some(to), Some(from), Some(now)) => Some(changed_rights(to, from, now)),
            (Some(_), Some(_), None) => None,
            // Of the rights that the session left an older version told nothing.
            (to, _, now) => to.or(now),
        };
        Ok((now, then))
    }

    /// Looks at a file that is to be put back: it has to be as the session left it, or changed in other places only, and
    /// its bytes have to be kept.
    pub(crate) async fn check_restore(&self, restore: Restore) -> Result<Checked, SessionError> {
        let blobs = self.blobs()?;
        let now = read(&*self.backend().await?, &restore.path).await;
        let is_there = now.as_ref().is_ok_and(Option::is_some);
        let rights = self.rights(&restore, is_there).await?;
        let Restore { path, from, to } = restore;
        let mut problem = now.as_ref().err().map(|error| Problem::LeftAsItIs { why: Box::new(error.problem()) });
        if to.is_mixed {
            problem.get_or_insert(Problem::ChangedBetween { path: path.to_string() });
        }
        let now = now.unwrap_or_default();
        let found = now.as_deref().map(ContentHash::of);
        let mut bytes = match to.bytes(blobs).await {
            Ok(bytes) => bytes,
            Err(error) => {
                let why = Box::new(error.problem());
                problem.get_or_insert(Problem::CannotPutBack { path: path.to_string(), why });
                None
            }
        };
        if found != from.hash && problem.is_none() {
            let left = match &from.hash {
                Some(hash) => blobs.get(hash).await.ok(),
                None => None,
            };
            bytes = past_own_edits(left.as_deref(), bytes.as_deref(), now.as_deref());
            if bytes.is_none() {
                problem = Some(Problem::ChangedSince { path: path.to_string() });
            }
        }
        let diff = file_diff(&path, now.as_deref(), bytes.as_deref(), NOTHING);
        let left = to.form();
        let FileState { hash: to, made, .. } = to;
        let change = match (&from.hash, &to) {
            (_, None) => ChangeKind::Deleted,
            (None, Some(_)) => ChangeKind::Created,
            (Some(_), Some(_)) => ChangeKind::Changed,
        };
        let shown = RestoredFile { path: path.to_string(), change, added: diff.added, removed: diff.removed, problem };
        let after = bytes.as_deref().map(ContentHash::of);
        let (mode, mode_after) = rights;
        let disk = ChangeRecord { path: path.clone(), before: found, after, mode, mode_after };
        let record = ChangeRecord { path, before: from.hash, after: to, mode: from.mode, mode_after: left.mode };
        Ok(Checked { record, disk, bytes, made, now, shown })
    }

    /// Puts the files back that nothing speaks against: intent, effect, what became of it. Gives what was done.
    pub(crate) async fn restore(self: &Arc<Self>, checked: Vec<Checked>) -> Result<Vec<ChangeRecord>, SessionError> {
        let mut sound: Vec<Checked> = checked.into_iter().filter(|checked| checked.shown.problem.is_none()).collect();
        if sound.is_empty() {
            return Ok(Vec::new());
        }
        let backend = self.backend().await?;
        for checked in &mut sound {
            // The person's own edits, what an older version of Bosun left, and states that were made up are not kept yet. Not
            // before this: of what is only looked at no entry names the bytes, and they would stay for good.
            // What goes to the disk is named by an entry where the app ends in the middle of this.
            let written = checked.bytes.clone().filter(|_| checked.disk.after != checked.record.after);
            for bytes in [checked.now.take(), checked.made.take(), written].into_iter().flatten() {
                self.keep_bytes(bytes).await?;
            }
        }
        let intended = sound.iter().map(|checked| checked.disk.clone()).collect();
        self.log.record(vec![EntryBody::RestoreIntended { changes: intended }]).await?;
        let (mut done, mut failed, mut files) = (Vec::new(), None, Vec::new());
        for Checked { record, disk, bytes, .. } in sound {
            match put(&*backend, &disk, bytes, record.mode).await {
                Ok(Put { kept, without_rights }) => {
                    done.push(record);
                    files.extend(kept);
                    failed = without_rights.or(failed);
                }
                Err(error) => failed = Some(error),
            }
        }
        let mut entries = vec![EntryBody::Restored { changes: done.clone() }];
        entries.extend(files_kept(files));
        self.log.record(entries).await?;
        // The agent's own files of the session are not those that were put back.
        self.rebuild();
        match failed {
            Some(error) => Err(SessionError::invalid(Problem::OthersPutBack { why: Box::new(error.problem()) })),
            None => Ok(done),
        }
    }

    pub(crate) fn blobs(&self) -> Result<&Arc<BlobStore>, SessionError> {
        let none = || SessionError::new(ErrorCode::StorageUnavailable, Problem::NothingKept);
        self.setting.blobs.as_ref().ok_or_else(none)
    }
}

/// Settles files that were being put back when the app ended: those that have the bytes they were to get are done, and
/// those that have not are as closed as they were.
pub(crate) async fn settle_restoring(log: &SessionLog, backend: &dyn Backend) -> Result<(), SessionError> {
    let Some(intended) = log.with_state(|state| state.restoring.clone()) else { return Ok(()) };
    let mut done = Vec::new();
    for record in intended {
        let Ok(now) = read(backend, &record.path).await else { continue };
        let now = now.as_deref().map(ContentHash::of);
        if now == record.after {
            if let Err(error) = give_rights(backend, &record).await {
                tracing::warn!(%error, "a file that was put back has not got its rights");
            }
            done.push(record);
        } else if now == record.before {
            close_again(backend, &record).await;
        }
    }
    Ok(log.record(vec![EntryBody::Restored { changes: done }]).await?)
}

/// Files of the session's state that are as given, where there are any.
pub(crate) fn files_kept(files: FileUpdates) -> Option<EntryBody> {
    let update = StateUpdate { files, ..StateUpdate::default() };
    (!update.is_empty()).then(|| EntryBody::Updated { by: KEPT.to_owned(), update })
}

/// A file that has the bytes it was to get.
struct Put {
    /// What of it the session's state has to take over.
    kept: FileUpdates,
    /// Why it has not got its rights.
    without_rights: Option<BackendError>,
}

/// Puts one file back, to which the session gave the rights `left`, where they are known. What fails leaves it as it is.
async fn put(
    backend: &dyn Backend,
    record: &ChangeRecord,
    bytes: Option<Vec<u8>>,
    left: Option<u32>,
) -> Result<Put, BackendError> {
    let path = &record.path;
    if bytes.is_some() && record.before == record.after {
        give_rights(backend, record).await?;
        return Ok(Put { kept: FileUpdates::default(), without_rights: None });
    }
    let expect = match &record.before {
        None => Expect::Absent,
        // By its content alone: whoever looks compares hashes where both have one.
        Some(hash) => {
            Expect::Unchanged(FileStamp { device: 0, inode: 0, size: 0, modified_ns: 0, hash: Some(hash.clone()) })
        }
    };
    match bytes {
        Some(bytes) => {
            // What nobody may write is not written, unless the session met it so, or made it so: who closed it since is to
            // find it as it is.
            let opens = is_closed(record.mode) && (!is_closed(record.mode_after) || is_closed(left));
            if let Some(mode) = record.mode.filter(|_| opens) {
                set_mode(backend, path, opened(mode)).await?;
            }
            match backend.write(path, bytes, expect, &Unwitnessed).await {
                Ok(change) => Ok(Put { kept: change.state, without_rights: give_rights(backend, record).await.err() }),
                Err(error) => {
                    if opens {
                        close_again(backend, record).await;
                    }
                    Err(error)
                }
            }
        }
        None => {
            let deleter = backend.deleter().ok_or_else(|| BackendError::CannotDelete { path: path.clone() })?;
            let changes = deleter.delete(path, expect, &Unwitnessed).await?;
            let kept = changes.into_iter().flat_map(|change| change.state).collect();
            Ok(Put { kept, without_rights: None })
        }
    }
}

/// Whether nobody may write a file with these rights.
fn is_closed(mode: Option<u32>) -> bool {
    mode.is_some_and(|mode| mode & 0o222 == 0)
}

/// The rights of a closed file while it is written.
fn opened(mode: u32) -> u32 {
    mode | 0o200
}

/// Gives a file that was opened to be written, and was not, the rights that it had.
async fn close_again(backend: &dyn Backend, record: &ChangeRecord) {
    let (Some(mode), Some(modes)) = (record.mode.filter(|mode| is_closed(Some(*mode))), backend.modes()) else {
        return;
    };
    if modes.mode(&record.path).await.is_ok_and(|now| now == Some(opened(mode)))
        && let Err(error) = modes.set_mode(&record.path, mode).await
    {
        tracing::warn!(%error, path = %record.path, "a file that was not put back stays open to writing");
    }
}

/// Gives a file the rights that it is to have.
async fn give_rights(backend: &dyn Backend, record: &ChangeRecord) -> Result<(), BackendError> {
    // One that was closed was opened to be written.
    let has_them = record.before.is_some() && record.mode == record.mode_after && !is_closed(record.mode);
    match record.mode_after.filter(|_| record.after.is_some() && !has_them) {
        Some(mode) => set_mode(backend, &record.path, mode).await,
        None => Ok(()),
    }
}

async fn set_mode(backend: &dyn Backend, path: &VirtualPath, mode: u32) -> Result<(), BackendError> {
    let Some(modes) = backend.modes() else { return Ok(()) };
    match modes.set_mode(path, mode).await {
        // What comes back through a link has the rights of any new file.
        Err(BackendError::LinkLoop { path }) => tracing::warn!(%path, "a file behind a link keeps the rights it has"),
        given => given?,
    }
    Ok(())
}

/// A file's bytes; `None` where there is none.
pub(crate) async fn read(backend: &dyn Backend, path: &VirtualPath) -> Result<Option<Vec<u8>>, BackendError> {
    match backend.download(vec![path.clone()]).await.pop() {
        Some(Ok(bytes)) => Ok(Some(bytes)),
        Some(Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. })) | None => Ok(None),
        Some(Err(error)) => Err(error),
    }
}
