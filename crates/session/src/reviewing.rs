//! A person looks through what the session changed, keeps it or undoes it, file by file and place by place.
//!
//! What they keep is a state of the file by content: the base against which the rest is shown. Their own edits since are
//! told apart by content too, and stay: an undo is carried past them, or refused where it would touch them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_agent::Seq;
use bosun_backend::{BlobError, ContentHash, Namespace, StoreError, VirtualPath};
use bosun_protocol::{
    ChangeScope, ChangedFile, ChangedFiles, ChangedRights, ErrorCode, FileReview, FileSide, Problem, RestoredFile,
    ReviewState, UncomparedReason, UndoneFiles, UnkeptFile,
};
use bosun_tools::{DiffLimits, UncomparedFiles, carried, file_diff, open_since, with_hunk, without_hunk};
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::projection::{Between, Form, How, Scoped, Span, changed_rights, kind_of};
use crate::restoring::{Restore, read};
use crate::states::FileState;
use crate::{Explain, SessionError, convert};

/// Where it is kept what a person kept, by session.
const NAMESPACE: &str = "reviews";
/// Files of one list that are compared with the disk.
const COMPARED: usize = 500;
/// Only the number of lines is wanted.
const COUNT: DiffLimits = DiffLimits { lines: 0, characters: 0 };
/// Largest image that is shown, in bytes.
const IMAGE: u64 = 8 << 20;

/// States of files that the person keeps, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Kept(BTreeMap<VirtualPath, KeptState>);

/// A state that the person keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredState")]
struct KeptState {
    /// `None`: that there is no file.
    state: Option<ContentHash>,
    /// Its Unix permission bits; `None` where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    /// How much of what was done to the file between the agent's changes is in it, from the first on; `None` where an older
    /// version stored it.
    between: Option<usize>,
}

/// Older versions stored the state alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredState {
    Now {
        state: Option<ContentHash>,
        #[serde(default)]
        mode: Option<u32>,
        between: Option<usize>,
    },
    Older(Option<ContentHash>),
}

impl From<StoredState> for KeptState {
    fn from(stored: StoredState) -> Self {
        match stored {
            StoredState::Now { state, mode, between } => Self { state, mode, between },
            StoredState::Older(state) => Self { state, mode: None, between: None },
        }
    }
}

impl KeptState {
    /// What was done to the file since.
    fn since(&self, file: &Scoped) -> Vec<Between> {
        // Where nobody wrote it down, what follows right upon the state tells; what is in it already changes it no more.
        let seen = self.between.or_else(|| file.between.iter().position(|between| between.from.hash == self.state));
        let since = file.between.iter().skip(seen.unwrap_or_default());
        since.filter(|between| between.how != How::PutBackAndAgain).cloned().collect()
    }
}

/// A changed file, and the states that a look at it starts from: each has in it what others did to the file since.
pub(crate) struct Reviewed {
    pub file: Scoped,
    /// Before the scope.
    pub before: FileState,
    /// Before the session.
    first: FileState,
    /// What the person keeps of it, if anything.
    kept: Option<FileState>,
    /// From where on the changes of the scope are still to be looked at.
    pub base: FileState,
}

impl Reviewed {
    /// The person keeps all of it.
    pub(crate) fn is_kept(&self) -> bool {
        self.base.is(&self.file.span.after)
    }

    /// What is kept of the whole session's changes, or the state before them.
    fn whole(&self) -> &FileState {
        self.kept.as_ref().unwrap_or(&self.first)
    }

    fn version(&self, from: &FileState) -> String {
        let word = |hash: Option<&ContentHash>| hash.map_or_else(|| "none".to_owned(), ToString::to_string);
        format!("{}-{}", word(from.hash.as_ref()), word(self.file.span.after.hash.as_ref()))
    }
}

impl Actor {
    /// The changes of a scope.
    pub(crate) async fn changed_files(&self, scope: ChangeScope) -> Result<ChangedFiles, SessionError> {
        let kept = self.kept().await?;
        let (scoped, unkept, (more, uncompared), undone) = self.stream.read(|projection| {
            let unkept = projection.unkept(scope);
            (projection.scoped_changes(scope), unkept, projection.not_compared(), projection.undone())
        });
        let backend = self.backend().await?;
        let mut files = Vec::with_capacity(scoped.len());
        for (at, file) in scoped.into_iter().enumerate() {
            let edited_since = at < COMPARED
                && read(&*backend, &file.span.path)
                    .await
                    .is_ok_and(|now| now.as_deref().map(ContentHash::of) != file.span.after.hash);
            let reviewed = self.states_of(&kept, file, scope).await;
            // What the agent did there, others have taken back.
            if reviewed.file.restored || !reviewed.before.is(&reviewed.file.span.after) {
                files.push(self.listed(reviewed, edited_since).await);
            }
        }
        let unkept = unkept.into_iter().map(|unkept| UnkeptFile {
            path: unkept.record.path.to_string(),
            before: unkept.record.before,
            after: unkept.record.after,
            command: unkept.command,
        });
        let undone = undone.into_iter().map(|undone| UndoneFiles {
            seq: u32::try_from(undone.seq).unwrap_or(u32::MAX),
            at: undone.at,
            paths: undone.changes.iter().map(|change| change.path.to_string()).collect(),
            what: undone.what,
        });
        Ok(ChangedFiles {
            files,
            unkept: unkept.collect(),
            unkept_more: more,
            uncompared: uncompared.map(|reason| match reason {
                UncomparedFiles::TooMany => UncomparedReason::TooMany,
                UncomparedFiles::TooSlow => UncomparedReason::TooSlow,
                UncomparedFiles::Unreadable => UncomparedReason::Unreadable,
            }),
            undone: undone.collect(),
        })
    }

    async fn listed(&self, reviewed: Reviewed, edited_since: bool) -> ChangedFile {
        let Span { path, after, .. } = &reviewed.file.span;
        let state = match (reviewed.before.is(after), reviewed.is_kept()) {
            (true, _) => ReviewState::Undone,
            (false, true) => ReviewState::Kept,
            (false, false) => ReviewState::Pending,
        };
        let from = if state == ReviewState::Kept { &reviewed.before } else { &reviewed.base };
        let lines = match reviewed.file.lines.filter(|_| from.hash == reviewed.before.hash) {
            Some(lines) => lines,
            None => self.lines(path, from, after.hash.as_ref()).await.unwrap_or_default(),
        };
        ChangedFile {
            path: path.to_string(),
            change: kind_of(from.hash.as_ref(), after.hash.as_ref()),
            added: lines.0,
            removed: lines.1,
            state,
            command: reviewed.file.command.clone(),
            edited_since,
            lost: reviewed.file.lost,
        }
    }

    async fn lines(
        &self,
        path: &VirtualPath,
        from: &FileState,
        to: Option<&ContentHash>,
    ) -> Result<(u32, u32), SessionError> {
        let (from, to) = (self.bytes_in(from).await?, self.state_of(to).await?);
        let diff = file_diff(path, from.as_deref(), to.as_deref(), COUNT);
        Ok((diff.added, diff.removed))
    }

    /// One changed file in full.
    pub(crate) async fn file_review(&self, path: &str, scope: ChangeScope) -> Result<FileReview, SessionError> {
        let reviewed = self.reviewed(path, scope).await?;
        // Of a kept file everything is shown.
        let from = if reviewed.is_kept() { &reviewed.before } else { &reviewed.base };
        let version = reviewed.version(from);
        let file = &reviewed.file;
        let (before, after) = (self.bytes_in(from).await?, self.state_of(file.span.after.hash.as_ref()).await?);
        let now = read(&*self.backend().await?, &file.span.path).await?;
        let path = file.span.path.clone();
        let rights = changed_from(from.mode, file.span.after.mode);
        let side = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(|bytes| side(&path, bytes));
        let sides = (side(&before), side(&after));
        let lines =
            after.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok()).map_or(0, |text| text.lines().count());
        let (diff, since) = {
            let path = path.clone();
            let compare = move || {
                let diff = file_diff(&path, before.as_deref(), after.as_deref(), DiffLimits::PREVIEW);
                let since =
                    (now != after).then(|| file_diff(&path, after.as_deref(), now.as_deref(), DiffLimits::PREVIEW));
                (diff, since)
            };
            tokio::task::spawn_blocking(compare).await.map_err(broken)?
        };
        Ok(FileReview {
            path: path.to_string(),
            version,
            diff: convert::diff(&diff),
            lines: u32::try_from(lines).unwrap_or(u32::MAX),
            since: since.as_ref().map(convert::diff),
            before: sides.0,
            after: sides.1,
            command: file.command.clone(),
            rights,
        })
    }

    /// Undoes one place of a change; `version` says between which states it was seen.
    pub(crate) async fn undo_hunk(
        self: &Arc<Self>,
        path: &str,
        scope: ChangeScope,
        seen: &str,
        hunk: u32,
    ) -> Result<RestoredFile, SessionError> {
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let (reviewed, before, after) = self.seen(path, scope, seen).await?;
        let is_made = before.is_none() && reviewed.before.is_mixed;
        let bytes = without_hunk(&before.unwrap_or_default(), &after.unwrap_or_default(), place(hunk));
        let bytes = bytes.ok_or_else(gone)?;
        // A file that was made, or removed, has nothing else in it.
        let to = match (&reviewed.before.hash, bytes.is_empty()) {
            // The file would go with what others wrote in it.
            (None, true) => FileState { is_mixed: is_made, ..FileState::default() },
            // Its rights are none of the place.
            (_, _) if reviewed.file.span.after.hash.is_some() => FileState::made(bytes, reviewed.file.span.after.mode),
            _ => FileState::made(bytes, reviewed.before.mode),
        };
        let checked = self.check_undo(&reviewed.file, to).await?;
        if let Some(problem) = &checked.shown.problem {
            return Err(SessionError::invalid(problem.clone()));
        }
        let shown = checked.shown.clone();
        self.restore(vec![checked]).await?;
        drop(turn);
        Ok(shown)
    }

    /// Keeps one place of a change: it is no longer shown as open.
    pub(crate) async fn keep_hunk(&self, path: &str, seen: &str, hunk: u32) -> Result<(), SessionError> {
        let _keeping = self.keeping.lock().await;
        let (reviewed, before, after) = self.seen(path, ChangeScope::Session, seen).await?;
        let mode = reviewed.base.mode.or(reviewed.file.span.after.mode);
        let bytes = with_hunk(&before.unwrap_or_default(), &after.clone().unwrap_or_default(), place(hunk));
        let bytes = bytes.ok_or_else(gone)?;
        let base = match after {
            None if bytes.is_empty() => FileState::default(),
            _ => FileState::made(bytes, mode),
        };
        let mut kept = self.kept().await?;
        self.keep(&mut kept, &reviewed.file, base).await?;
        self.set_kept(&kept).await
    }

    /// Keeps what a scope shows of files, or of all of them. Gives why some of it cannot be kept.
    pub(crate) async fn keep_changes(
        &self,
        path: Option<&str>,
        scope: ChangeScope,
    ) -> Result<Vec<Problem>, SessionError> {
        let _keeping = self.keeping.lock().await;
        let scoped = self.stream.read(|projection| projection.scoped_changes(scope));
        let (mut kept, mut problems) = (self.kept().await?, Vec::new());
        for file in scoped.into_iter().filter(|file| path.is_none_or(|path| file.span.path.as_str() == path)) {
            let reviewed = self.states_of(&kept, file, scope).await;
            if reviewed.is_kept() {
                continue;
            }
            match self.kept_with(&reviewed, scope).await? {
                Some(state) => self.keep(&mut kept, &reviewed.file, state).await?,
                None => problems.push(Problem::EarlierOpen { path: reviewed.file.span.path.to_string() }),
            }
        }
        self.set_kept(&kept).await?;
        Ok(problems)
    }

    /// A state is what the person keeps of a file, with all that others did to it by now.
    async fn keep(&self, kept: &mut Kept, file: &Scoped, state: FileState) -> Result<(), SessionError> {
        let mode = state.mode;
        let state = self.keep_state(state).await?;
        kept.0.insert(file.span.path.clone(), KeptState { state, mode, between: Some(file.between.len()) });
        Ok(())
    }

    /// What is kept of a file once what the scope shows is kept too, and what is open from before it stays open. `None`
    /// where the two cannot be told apart.
    async fn kept_with(&self, reviewed: &Reviewed, scope: ChangeScope) -> Result<Option<FileState>, SessionError> {
        let after = &reviewed.file.span.after;
        let (base, whole) = (&reviewed.base, reviewed.whole());
        let mode = rights_with(whole.mode, base.mode, after.mode);
        if scope == ChangeScope::Session || after.hash.is_none() {
            return Ok(Some(FileState::of(after.clone())));
        }
        if base.hash == whole.hash {
            return Ok(Some(FileState::of(Form::of(after.hash.clone(), mode))));
        }
        if whole.is_mixed {
            return Ok(None);
        }
        let states = (self.bytes_in(base).await?, self.state_of(after.hash.as_ref()).await?);
        let (Some(from), Some(to)) = states else { return Ok(None) };
        let (Some(now), Some(first)) = (self.bytes_in(whole).await?, self.bytes_in(&reviewed.before).await?) else {
            return Ok(None);
        };
        let bytes = carried(&from, &to, &now);
        // Lines may be matched otherwise the next time: then it would not be seen as kept.
        Ok(bytes
            .filter(|bytes| open_since(&first, bytes, &to).is_some_and(|open| open == to))
            .map(|bytes| FileState::made(bytes, mode)))
    }

    /// What a person kept of what the scope shows is open again.
    pub(crate) async fn open_again(&self, path: &str, scope: ChangeScope) -> Result<(), SessionError> {
        let path = parsed(path)?;
        let _keeping = self.keeping.lock().await;
        let mut kept = self.kept().await?;
        let scoped = self.stream.read(|projection| projection.scoped_changes(scope));
        let file = scoped.into_iter().find(|file| file.span.path == path).filter(|_| scope != ChangeScope::Session);
        let reviewed = match file {
            Some(file) => Some(self.states_of(&kept, file, scope).await),
            None => None,
        };
        kept.0.remove(&path);
        if let Some(reviewed) = reviewed
            && let Some(left) = self.kept_without(&reviewed).await?
        {
            self.keep(&mut kept, &reviewed.file, left).await?;
        }
        self.set_kept(&kept).await
    }

    /// What stays kept of a file without what the scope shows; `None` where that is nothing, or the two cannot be told apart.
    async fn kept_without(&self, reviewed: &Reviewed) -> Result<Option<FileState>, SessionError> {
        let Some(whole) = reviewed.kept.as_ref().filter(|whole| !whole.is_mixed) else { return Ok(None) };
        let (before, after) = (&reviewed.before, &reviewed.file.span.after);
        if whole.is(after) {
            return Ok((!reviewed.first.is(&before.form()) && !before.is_mixed).then(|| before.clone()));
        }
        let mode = rights_with(whole.mode, after.mode, before.mode);
        let states = [self.state_of(after.hash.as_ref()).await?, self.bytes_in(before).await?];
        let ([Some(from), Some(to)], Some(now)) = (states, self.bytes_in(whole).await?) else {
            return Ok(None);
        };
        Ok(carried(&from, &to, &now).map(|bytes| FileState::made(bytes, mode)))
    }

    /// Brings back what was undone at the entry `seq`.
    pub(crate) async fn redo_undone(self: &Arc<Self>, seq: u32) -> Result<Vec<RestoredFile>, SessionError> {
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let undone = self.stream.read(|projection| projection.undone());
        let undone = undone
            .into_iter()
            .find(|undone| undone.seq == Seq::from(seq))
            .ok_or_else(|| SessionError::not_found(Problem::UndoGone))?;
        let left = self.stream.read(|projection| projection.scoped_changes(ChangeScope::Session));
        let is_last = |path: &VirtualPath, after: &Form| {
            left.iter().any(|file| file.span.path == *path && file.span.after.is(after))
        };
        if !undone.changes.iter().all(|change| is_last(&change.path, &Form::after(change))) {
            return Err(SessionError::invalid(Problem::UndoNotLast));
        }
        let mut checked = Vec::new();
        for change in undone.changes {
            checked.push(self.check_restore(Restore::again(&change)).await?);
        }
        let shown = checked.iter().map(|checked| checked.shown.clone()).collect();
        self.restore(checked).await?;
        drop(turn);
        Ok(shown)
    }

    /// One side of a changed image, as an address that holds its bytes.
    pub(crate) async fn image_of(&self, path: &str, hash: &str) -> Result<String, SessionError> {
        let path = parsed(path)?;
        let hash = ContentHash::from_hex(hash)
            .filter(|_| self.stream.read(|projection| projection.bytes_before(&path).is_some()));
        let hash = hash.ok_or_else(|| not_changed(path.as_str()))?;
        let bytes = self.state_of(Some(&hash)).await?.unwrap_or_default();
        let image = image_type(&path, bytes.len() as u64)
            .ok_or_else(|| SessionError::invalid(Problem::NoImage { path: path.to_string() }))?;
        let encode = move || format!("data:{image};base64,{}", STANDARD.encode(bytes));
        tokio::task::spawn_blocking(encode).await.map_err(broken)
    }

    /// A changed file with the states that a look at it starts from.
    pub(crate) async fn looked_at(&self, file: Scoped, scope: ChangeScope) -> Result<Reviewed, SessionError> {
        Ok(self.states_of(&self.kept().await?, file, scope).await)
    }

    async fn states_of(&self, kept: &Kept, file: Scoped, scope: ChangeScope) -> Reviewed {
        let Span { path, before, between, after } = &file.span;
        let before = self.state_with(FileState::of(before.clone()), between).await;
        let first = match scope {
            ChangeScope::Session => before.clone(),
            ChangeScope::Turn | ChangeScope::Step => {
                let edited = file.between.iter().filter(|between| between.how == How::Edited).cloned();
                self.state_with(FileState::of(file.first.clone()), &edited.collect::<Vec<_>>()).await
            }
        };
        let kept = match kept.0.get(path) {
            Some(kept) => {
                let state = FileState::of(Form::of(kept.state.clone(), kept.mode));
                Some(self.state_with(state, &kept.since(&file)).await)
            }
            None => None,
        };
        let base = match &kept {
            Some(kept) if scope == ChangeScope::Session => kept.clone(),
            Some(kept) if kept.hash == after.hash || first.hash == before.hash => {
                FileState { mode: open_rights(&before, kept, after), ..kept.clone() }
            }
            Some(kept) => self.open_within(&before, kept, after).await.unwrap_or_else(|| before.clone()),
            None => before.clone(),
        };
        Reviewed { file, before, first, kept, base }
    }

    /// What a person keeps reaches from before the session on: what of it is within a scope is told by the bytes.
    async fn open_within(&self, before: &FileState, kept: &FileState, after: &Form) -> Option<FileState> {
        let is_mixed = before.is_mixed || kept.is_mixed;
        let mode = open_rights(before, kept, after);
        let before = self.bytes_in(before).await.ok()??;
        let kept = self.bytes_in(kept).await.ok()??;
        let after = self.state_of(after.hash.as_ref()).await.ok()??;
        open_since(&before, &kept, &after).map(|bytes| FileState { is_mixed, ..FileState::made(bytes, mode) })
    }

    /// A changed file of a scope.
    async fn reviewed(&self, path: &str, scope: ChangeScope) -> Result<Reviewed, SessionError> {
        let path = parsed(path)?;
        let scoped = self.stream.read(|projection| projection.scoped_changes(scope));
        let file = scoped.into_iter().find(|file| file.span.path == path);
        let file = file.ok_or_else(|| not_changed(path.as_str()))?;
        self.looked_at(file, scope).await
    }

    /// The two states that `seen` names, while they are still those of the file.
    async fn seen(
        &self,
        path: &str,
        scope: ChangeScope,
        seen: &str,
    ) -> Result<(Reviewed, Option<Vec<u8>>, Option<Vec<u8>>), SessionError> {
        let reviewed = self.reviewed(path, scope).await?;
        let from = [&reviewed.base, &reviewed.before];
        let from = from.into_iter().find(|from| reviewed.version(from) == seen).ok_or_else(gone)?;
        let before = self.bytes_in(from).await?;
        let after = self.state_of(reviewed.file.span.after.hash.as_ref()).await?;
        Ok((reviewed, before, after))
    }

    async fn state_of(&self, hash: Option<&ContentHash>) -> Result<Option<Vec<u8>>, SessionError> {
        match hash {
            Some(hash) => Ok(Some(self.blobs()?.get(hash).await.map_err(unkept)?)),
            None => Ok(None),
        }
    }

    async fn kept(&self) -> Result<Kept, SessionError> {
        let item = self.store().get(&namespace()?, self.log.session().as_str()).await.map_err(not_stored)?;
        Ok(item.and_then(|item| serde_json::from_value(item.value).ok()).unwrap_or_default())
    }

    async fn set_kept(&self, kept: &Kept) -> Result<(), SessionError> {
        let value = serde_json::to_value(kept).unwrap_or_default();
        self.store().put(&namespace()?, self.log.session().as_str(), value).await.map_err(not_stored)
    }
}

/// What rights become of `mode` by a change from `from` to `to`, where all are known.
fn rights_with(mode: Option<u32>, from: Option<u32>, to: Option<u32>) -> Option<u32> {
    match (mode, from, to) {
        (Some(mode), Some(from), Some(to)) => Some(changed_rights(mode, from, to)),
        (mode, _, to) => mode.or(to),
    }
}

/// What became of rights, where they are known and others.
fn changed_from(before: Option<u32>, after: Option<u32>) -> Option<ChangedRights> {
    let (before, after) = before.zip(after).filter(|(before, after)| before != after)?;
    Some(ChangedRights { before: shown_rights(before), after: shown_rights(after) })
}

fn shown_rights(mode: u32) -> String {
    let letters = "rwxrwxrwx".chars().enumerate();
    letters.map(|(at, letter)| if mode & (0o400 >> at) == 0 { '-' } else { letter }).collect()
}

/// From which rights on a change is open: those after it, without the bits that it changed and that nobody kept.
fn open_rights(before: &FileState, kept: &FileState, after: &Form) -> Option<u32> {
    match (before.mode, kept.mode, after.mode) {
        (Some(before), Some(kept), Some(after)) => Some(after ^ ((before ^ after) & (kept ^ after))),
        (before, kept, _) => kept.or(before),
    }
}

fn namespace() -> Result<Namespace, SessionError> {
    Namespace::new([NAMESPACE]).map_err(not_stored)
}

fn not_stored(error: StoreError) -> SessionError {
    SessionError::of(ErrorCode::StorageUnavailable, &error)
}

/// What a change becomes where the person edited the file since: their edits stay. `None` where they meet.
pub(crate) fn past_own_edits(from: Option<&[u8]>, to: Option<&[u8]>, now: Option<&[u8]>) -> Option<Vec<u8>> {
    carried(from?, to?, now?)
}

fn side(path: &VirtualPath, bytes: &[u8]) -> FileSide {
    let size = bytes.len() as u64;
    let image = image_type(path, size).map(ToOwned::to_owned);
    FileSide { size, hash: ContentHash::of(bytes).to_string(), image }
}

/// The media type by the name of a file that the window shows as an image; never of a drawing, which may hold scripts.
pub(crate) fn image_type(path: &VirtualPath, size: u64) -> Option<&'static str> {
    let ending = path.name()?.rsplit_once('.')?.1.to_ascii_lowercase();
    let image = match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "bmp" => "image/bmp",
        "ico" => "image/x-icon",
        _ => return None,
    };
    (size <= IMAGE).then_some(image)
}

fn place(hunk: u32) -> usize {
    usize::try_from(hunk).unwrap_or(usize::MAX)
}

pub(crate) fn parsed(path: &str) -> Result<VirtualPath, SessionError> {
    VirtualPath::parse(path).map_err(|error| SessionError::invalid(error.problem()))
}

fn not_changed(path: &str) -> SessionError {
    SessionError::not_found(Problem::NotChanged { path: path.to_owned() })
}

fn gone() -> SessionError {
    SessionError::invalid(Problem::ChangedMeanwhile)
}

fn unkept(error: BlobError) -> SessionError {
    SessionError::of(ErrorCode::NotFound, &error)
}

fn broken(error: tokio::task::JoinError) -> SessionError {
    SessionError::internal(error)
}
