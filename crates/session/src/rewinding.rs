use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq, State};
use bosun_backend::{FileData, FileUpdates, VirtualPath};
use bosun_protocol::{
    Checkpoint, FileDiff, Item, ItemBody, Problem, Problems, RestoredFile, RewindPreview, RewindWhat,
};
use bosun_store::{Append, Listed};
use bosun_tools::{ChangeRecord, DiffLimits, file_diff};

use crate::actor::Actor;
use crate::journals::Journals;
use crate::projection::{Projection, Span};
use crate::restoring::{Checked, Restore, files_kept, read};
use crate::reviewing::parsed;
use crate::states::FileState;
use crate::timeline::{last_rewind, place, short};
use crate::view::WINDOW;
use crate::{SessionError, convert};

/// Going back to an earlier place of a session, and forth again. The journal keeps everything: what is rewound is only
/// left out (see `bosun_agent::effective`), and the bytes of every file before and after are kept.
impl Actor {
    /// What going back to the checkpoint `seq` would do.
    pub(crate) async fn preview_rewind(&self, seq: u32) -> Result<RewindPreview, SessionError> {
        let (journals, place) = self.journals_at(seq).await?;
        let files = self.check_back(&journals, Seq::from(seq), &BTreeSet::new()).await?;
        let files: Vec<RestoredFile> = files.into_iter().map(|checked| checked.shown).collect();
        let lost: BTreeSet<String> =
            journals.unkept_after(Seq::from(seq)).into_iter().map(|path| path.to_string()).collect();
        let unkept = lost.into_iter().filter(|path| files.iter().all(|file| file.path != *path)).collect();
        let rows_then = crate::past::view(self, &journals.entries, Seq::from(seq)).items.len();
        let (rows, first) = self.stream.read(|projection| {
            let items = &projection.view().items;
            let pages = (rows_then..items.len()).step_by(WINDOW);
            let first = pages.flat_map(|from| items.range(from..from + WINDOW)).find_map(|item| said(&item).map(short));
            (items.len().saturating_sub(rows_then), first)
        });
        Ok(RewindPreview {
            place,
            rows: u32::try_from(rows).unwrap_or(u32::MAX),
            first: first.filter(|words| !words.is_empty()),
            files,
            unkept,
        })
    }

    /// What going back to the checkpoint `seq` would make of a file; of one that stands in the way, what it would be made
    /// if it did not.
    pub(crate) async fn preview_rewind_file(&self, seq: u32, path: &str) -> Result<FileDiff, SessionError> {
        let path = parsed(path)?;
        let (journals, _) = self.journals_at(seq).await?;
        let spans = Projection::changed_by(&journals.deeds_after(Seq::from(seq)));
        let span = spans.into_iter().find(|span| span.path == path);
        let not_changed = || SessionError::not_found(Problem::NotChanged { path: path.to_string() });
        let restore = self.back(span.ok_or_else(not_changed)?).await;
        let to = restore.to.clone();
        let checked = self.check_restore(restore).await?;
        let now = read(&*self.backend().await?, &path).await?;
        let then = match checked.shown.problem {
            None => checked.bytes,
            Some(_) if to.made.is_some() => to.made,
            Some(_) => self.bytes_of(&path, to.hash).await?,
        };
        let compare = move || file_diff(&path, now.as_deref(), then.as_deref(), DiffLimits::PREVIEW);
        let diff = tokio::task::spawn_blocking(compare).await.map_err(SessionError::internal)?;
        Ok(convert::diff(&diff))
    }

    /// Goes back to the checkpoint `seq`. The files `leave` stay as they are.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] while a turn runs, or where another file that would be put back was changed since; nothing
    /// was changed then.
    pub(crate) async fn rewind(
        self: &Arc<Self>,
        seq: u32,
        what: RewindWhat,
        leave: &[String],
    ) -> Result<(), SessionError> {
        let leave = leave.iter().map(|path| parsed(path)).collect::<Result<BTreeSet<_>, _>>()?;
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let (journals, _) = self.journals_at(seq).await?;
        let mut files = Vec::new();
        if what != RewindWhat::Conversation {
            let checked = self.check_back(&journals, Seq::from(seq), &leave).await?;
            refuse_problems(&checked)?;
            files = self.restore(checked).await?;
        }
        let conversation = what != RewindWhat::Files;
        self.record_past(EntryBody::Rewound { to: Seq::from(seq), conversation, files }, conversation).await?;
        drop(turn);
        Ok(())
    }

    /// Takes the last rewind back, where nothing has happened since.
    pub(crate) async fn undo_rewind(self: &Arc<Self>) -> Result<(), SessionError> {
        let turn = self.turn().await;
        self.refuse_running(&turn)?;
        let entries = self.tree.database.entries(self.log.session(), 0).await?;
        let Some((rewind, conversation, files)) = last_rewind(&entries).and_then(rewound) else {
            return Err(SessionError::invalid(Problem::NoRewind));
        };
        let mut checked = Vec::new();
        for change in &files {
            checked.push(self.check_restore(Restore::again(change)).await?);
        }
        refuse_problems(&checked)?;
        self.restore(checked).await?;
        self.record_past(EntryBody::RewindUndone { rewind }, conversation).await?;
        drop(turn);
        Ok(())
    }

    /// Records that the conversation is another one now. Files are put back one by one, and those that are kept in the
    /// session are no exception: whatever the journal makes of them from here on, they stay as they are.
    async fn record_past(self: &Arc<Self>, body: EntryBody, conversation: bool) -> Result<(), SessionError> {
        if !conversation {
            return Ok(self.log.record(vec![body]).await?);
        }
        let mut entries = self.tree.database.entries(self.log.session(), 0).await?;
        let seq = entries.last().map_or(1, |last| last.seq + 1);
        entries.push(Recorded { seq, entry: JournalEntry { at: self.tree.clock.now_ms(), body: body.clone() } });
        let then = State::of_journal(&entries).files;
        let kept = self.log.with_state(|state| files_kept(difference(&then, &state.files)));
        self.log.record([body].into_iter().chain(kept).collect()).await?;
        self.show_anew().await
    }

    async fn journals_at(&self, seq: u32) -> Result<(Journals, Checkpoint), SessionError> {
        let journals = Journals::read(&self.tree.database, self.log.session()).await?;
        let place = refuse_elsewhere(&journals.entries, seq)?;
        Ok((journals, place))
    }

    /// The files that were changed behind `seq`, looked at; without those that are left.
    async fn check_back(
        &self,
        journals: &Journals,
        seq: Seq,
        leave: &BTreeSet<VirtualPath>,
    ) -> Result<Vec<Checked>, SessionError> {
        let mut checked = Vec::new();
        let spans = Projection::changed_by(&journals.deeds_after(seq)).into_iter();
        for span in spans.filter(|span| !leave.contains(&span.path)) {
            let restore = self.back(span).await;
            if !restore.to.is(&restore.from) {
                checked.push(self.check_restore(restore).await?);
            }
        }
        Ok(checked)
    }

    /// What would put a file back to before some changes, and leaves what others did in between.
    async fn back(&self, span: Span) -> Restore {
        let Span { path, before, between, after } = span;
        let to = self.state_with(FileState::of(before), &between).await;
        Restore { path, from: after, to }
    }

    /// Shows the session from its journal anew, to those who watch too.
    async fn show_anew(self: &Arc<Self>) -> Result<(), SessionError> {
        let entries = self.tree.database.entries(self.log.session(), 0).await?;
        self.log.rebuild(&entries);
        self.rebuild();
        let projection = crate::past::projection(self, &entries, Seq::MAX);
        crate::stream::locked(&self.tree.streams).clear();
        self.stream.reset(projection);
        self.open_children().await?;
        self.replay_changes().await?;
        let summary = self.stream.read(|projection| projection.summary().clone());
        let listed =
            Listed { updated_at: summary.updated_at, summary: serde_json::to_value(&summary).unwrap_or_default() };
        let append = Append {
            session: self.log.session().clone(),
            entries: Vec::new(),
            listed: Some(listed),
            texts: Vec::new(),
        };
        self.tree.database.append_all(vec![append]).await?;
        Ok(())
    }
}

/// What makes `to` of `from`.
fn difference(from: &BTreeMap<VirtualPath, FileData>, to: &BTreeMap<VirtualPath, FileData>) -> FileUpdates {
    let set = to.iter().filter(|(path, data)| from.get(*path) != Some(*data));
    let gone = from.keys().filter(|path| !to.contains_key(*path));
    let set = set.map(|(path, data)| (path.clone(), Some(data.clone())));
    set.chain(gone.map(|path| (path.clone(), None))).collect()
}

/// Only what is a checkpoint can be gone back to: between them calls are open.
pub(crate) fn refuse_elsewhere(entries: &[Recorded], seq: u32) -> Result<Checkpoint, SessionError> {
    place(entries, seq).ok_or_else(|| SessionError::not_found(Problem::PlaceGone))
}

/// What a person said.
fn said(item: &Item) -> Option<&str> {
    match &item.body {
        ItemBody::Human { text, .. } => Some(text),
        _ => None,
    }
}

fn refuse_problems(checked: &[Checked]) -> Result<(), SessionError> {
    let problems: Vec<Problem> = checked.iter().filter_map(|checked| checked.shown.problem.clone()).collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(SessionError::invalid(Problem::NothingTakenBack { why: Problems(problems) }))
}

fn rewound(recorded: &Recorded) -> Option<(Seq, bool, Vec<ChangeRecord>)> {
    match &recorded.entry.body {
        EntryBody::Rewound { conversation, files, .. } => Some((recorded.seq, *conversation, files.clone())),
        _ => None,
    }
}
