use std::sync::Arc;

use bosun_agent::{EntryBody, Restoring, SessionLog};
use bosun_backend::{
    Backend, BackendError, BlobStore, ContentHash, Expect, FileStamp, FileUpdates, Unwitnessed, VirtualPath,
};
use bosun_protocol::{ChangeKind, ChangeScope, ErrorCode, Problem, RestoredFile};
use bosun_tools::{ChangeRecord, DiffLimits, StateUpdate, file_diff};

use crate::actor::Actor;
use crate::projection::{Form, RIGHTS, Scoped, Span, changed_rights};
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

impl Checked {
    /// Whether it is opened to be written. What nobody may write is not written, unless the session met it so, or made it
    /// so: who closed it since is to find it as it is.
    fn is_opened(&self) -> bool {
        let disk = &self.disk;
        let is_own = !is_closed(disk.mode_after) || is_closed(self.record.mode);
        self.bytes.is_some() && disk.before != disk.after && is_closed(disk.mode) && is_own
    }
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
        // The rights of a file that is there stay those that somebody gave it: the session's are as it left them.
        let from = Form::of(from, span.after.mode);
        let checked = self.check_restore(Restore { path, from, to: FileState::of(span.after) }).await?;
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
        let changes = sound.iter().map(|checked| checked.disk.clone()).collect();
        let opened = sound.iter().filter(|checked| checked.is_opened());
        let opened = opened.map(|checked| checked.disk.path.clone()).collect();
        self.log.record(vec![EntryBody::RestoreIntended { changes, opened }]).await?;
        let (mut done, mut failed, mut files) = (Vec::new(), None, Vec::new());
        for checked in sound {
            match put(&*backend, checked).await {
                Ok(Put { record, kept, without_rights }) => {
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
/// the one at which it ended is closed again where it was opened.
pub(crate) async fn settle_restoring(log: &SessionLog, backend: &dyn Backend) -> Result<(), SessionError> {
    let Some(Restoring { changes, opened }) = log.with_state(|state| state.restoring.clone()) else { return Ok(()) };
    let (mut done, mut left) = (Vec::new(), Vec::new());
    for record in changes {
        let is_opened = opened.contains(&record.path);
        let now = read(backend, &record.path).await;
        if now.is_ok_and(|now| now.as_deref().map(ContentHash::of) == record.after) {
            done.extend(settled(backend, record, is_opened).await);
            // It came here: what failed before was closed again then.
            left.clear();
        } else if is_opened {
            left.push(record);
        }
    }
    // It came no further than the first that is open: behind it none was opened but by somebody else.
    for record in left {
        if close_again(backend, &record).await {
            break;
        }
    }
    Ok(log.record(vec![EntryBody::Restored { changes: done }]).await?)
}

/// What is recorded of a file that has the bytes it was to get; `None` where it was about rights alone, and it has not got
/// them.
async fn settled(backend: &dyn Backend, disk: ChangeRecord, is_opened: bool) -> Option<ChangeRecord> {
    let Some(modes) = backend.modes().filter(|_| disk.after.is_some() && disk.mode_after.is_some()) else {
        return Some(disk);
    };
    let is_alone = disk.before == disk.after && disk.mode != disk.mode_after;
    let failed = match modes.mode(&disk.path).await {
        Ok(now) if now == disk.mode_after => None,
        Ok(now) if is_without(&disk, is_opened, now) => give_rights(backend, &disk, now).await.err(),
        // Somebody has given it others since: they stay.
        Ok(_) if is_alone => return None,
        // As in `set_mode`.
        Ok(_) | Err(BackendError::LinkLoop { .. }) => None,
        Err(error) => Some(error),
    };
    let Some(error) = failed else { return Some(disk) };
    tracing::warn!(%error, path = %disk.path, "a file that was put back has not got its rights");
    if is_alone {
        return None;
    }
    Some(without_rights(backend, &disk, disk.clone(), is_opened).await)
}

/// Whether the rights that a file has are those it had before it was to get its own.
fn is_without(disk: &ChangeRecord, is_opened: bool, now: Option<u32>) -> bool {
    match (&disk.before, now) {
        // Those of any new file: its owner may read and write it, and nobody may run it.
        (None, Some(now)) => now & 0o711 == 0o600,
        (_, now) => now == disk.mode || (is_opened && now == disk.mode.map(opened)),
    }
}

/// Files of the session's state that are as given, where there are any.
pub(crate) fn files_kept(files: FileUpdates) -> Option<EntryBody> {
    let update = StateUpdate { files, ..StateUpdate::default() };
    (!update.is_empty()).then(|| EntryBody::Updated { by: KEPT.to_owned(), update })
}

/// A file that has the bytes it was to get.
struct Put {
    record: ChangeRecord,
    /// What of it the session's state has to take over.
    kept: FileUpdates,
    /// Why it has not got its rights.
    without_rights: Option<BackendError>,
}

impl Put {
    fn whole(record: ChangeRecord, kept: FileUpdates) -> Self {
        Self { record, kept, without_rights: None }
    }
}

/// Puts one file back. What fails leaves it as it is.
async fn put(backend: &dyn Backend, checked: Checked) -> Result<Put, BackendError> {
    let is_opened = checked.is_opened();
    let Checked { record, disk, bytes, .. } = checked;
    let path = &disk.path;
    if bytes.is_some() && disk.before == disk.after {
        give_rights(backend, &disk, disk.mode).await?;
        return Ok(Put::whole(record, FileUpdates::default()));
    }
    let expect = match &disk.before {
        None => Expect::Absent,
        // By its content alone: whoever looks compares hashes where both have one.
        Some(hash) => {
            Expect::Unchanged(FileStamp { device: 0, inode: 0, size: 0, modified_ns: 0, hash: Some(hash.clone()) })
        }
    };
    let Some(bytes) = bytes else {
        let deleter = backend.deleter().ok_or_else(|| BackendError::CannotDelete { path: path.clone() })?;
        let changes = deleter.delete(path, expect, &Unwitnessed).await?;
        return Ok(Put::whole(record, changes.into_iter().flat_map(|change| change.state).collect()));
    };
    if let Some(mode) = disk.mode.filter(|_| is_opened) {
        set_mode(backend, path, opened(mode)).await?;
    }
    let written = match backend.write(path, bytes, expect, &Unwitnessed).await {
        Ok(written) => written,
        Err(error) => {
            if is_opened {
                close_again(backend, &disk).await;
            }
            return Err(error);
        }
    };
    // A file that is there keeps its rights while it is written.
    let keeps = disk.before.is_some() && !is_opened;
    let now = if keeps { disk.mode } else { written.mode_after.map(|mode| mode & RIGHTS) };
    match give_rights(backend, &disk, now).await {
        Ok(()) => Ok(Put::whole(record, written.state)),
        Err(error) => {
            let record = without_rights(backend, &disk, record, is_opened).await;
            Ok(Put { record, kept: written.state, without_rights: Some(error) })
        }
    }
}

/// What is recorded of a file that has its bytes and could not be given its rights: of those that the session left only
/// what came of it on disk is changed, so that nobody else's are taken for the session's.
async fn without_rights(
    backend: &dyn Backend,
    disk: &ChangeRecord,
    record: ChangeRecord,
    is_opened: bool,
) -> ChangeRecord {
    if is_opened {
        close_again(backend, disk).await;
    }
    let now = match backend.modes() {
        Some(modes) => modes.mode(&disk.path).await.unwrap_or_default(),
        None => None,
    };
    let mode_after = match (record.mode, disk.mode, now) {
        (Some(mode), Some(before), Some(now)) => Some(changed_rights(mode, before, now)),
        // Whoever made the file gave it its rights.
        (None, None, now) if disk.before.is_none() => now,
        (mode, ..) => mode,
    };
    ChangeRecord { mode_after, ..record }
}

/// Whether nobody may write a file with these rights.
fn is_closed(mode: Option<u32>) -> bool {
    mode.is_some_and(|mode| mode & 0o222 == 0)
}

/// The rights of a closed file while it is written.
fn opened(mode: u32) -> u32 {
    mode | 0o200
}

/// Gives a file that was opened to be written, and was not, the rights that it had. False where it is not open.
async fn close_again(backend: &dyn Backend, disk: &ChangeRecord) -> bool {
    let (Some(mode), Some(modes)) = (disk.mode, backend.modes()) else { return false };
    let is_open = modes.mode(&disk.path).await.is_ok_and(|now| now == Some(opened(mode)));
    if is_open && let Err(error) = modes.set_mode(&disk.path, mode).await {
        tracing::warn!(%error, path = %disk.path, "a file that was not put back stays open to writing");
    }
    is_open
}

/// Gives a file that has the rights `now` those that it is to have.
async fn give_rights(backend: &dyn Backend, disk: &ChangeRecord, now: Option<u32>) -> Result<(), BackendError> {
    match disk.mode_after.filter(|mode| now != Some(*mode)) {
        Some(mode) => set_mode(backend, &disk.path, mode).await,
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

#[cfg(all(test, unix))]
#[path = "restoring_tests.rs"]
mod tests;
