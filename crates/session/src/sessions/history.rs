use bosun_agent::SessionId as CoreId;
use bosun_protocol::{
    ChangeScope, ErrorCode, FileAt, FileDiff, ForkedBefore, ItemId, Problem, RestoredFile, RewindPreview, RewindWhat,
    SessionId, SessionSummary, Snapshot, TimelinePage, TimelineQuery,
};

use super::Sessions;
use crate::SessionError;
use crate::export::redacting::redact;
use crate::timeline::Costs;

/// Model calls of a session whose cost is looked up.
const MOST_CALLS: u32 = 200_000;

/// Looking back, going back, and going another way from there.
impl Sessions {
    /// Undoes what `scope` shows of a file. What the person kept of it stays, unless they kept all of it.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where it was changed since, or while a turn runs.
    pub async fn undo_file(
        &self,
        session: &SessionId,
        path: &str,
        scope: ChangeScope,
    ) -> Result<RestoredFile, SessionError> {
        self.actor(session).await?.undo_file(path, scope).await
    }

    /// Undoes what `scope` shows of every file and the person has not kept; those that were changed since are left, with the
    /// reason.
    pub async fn undo_changes(
        &self,
        session: &SessionId,
        scope: ChangeScope,
    ) -> Result<Vec<RestoredFile>, SessionError> {
        self.actor(session).await?.undo_changes(scope).await
    }

    /// Makes a file again what the session left, over what was done to it since. That is kept, and comes again with
    /// [`Self::redo_undone`].
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] while a turn runs, [`ErrorCode::NotFound`] where the session did not change the file.
    pub async fn restore_version(&self, session: &SessionId, path: &str) -> Result<RestoredFile, SessionError> {
        self.actor(session).await?.restore_version(path).await
    }

    /// A part of the session's checkpoints, or of the ledger of its calls, in which no key is shown. What was read for
    /// the session that was asked about last is not read again.
    pub async fn timeline(&self, query: &TimelineQuery) -> Result<TimelinePage, SessionError> {
        let actor = self.actor(&query.session).await?;
        let (session, database) = (actor.log.session(), &self.inner.database);
        // Who asks meanwhile waits, and has less to read.
        let chronicle = self.inner.chronicle.of(session);
        let mut chronicle = chronicle.lock().await;
        chronicle.follow(database).await?;
        self.inner.book.settle().await?;
        let calls = database.calls_of_session(session, MOST_CALLS).await?;
        let mut page = chronicle.page(query, &Costs::new(&calls), database).await?;
        drop(chronicle);
        let mask = |text: &str| self.inner.models.redacted(text);
        for entry in &mut page.ledger {
            redact(&mut entry.proposed, &mask);
            if let Some(ran) = &mut entry.ran {
                redact(ran, &mask);
            }
        }
        Ok(page)
    }

    /// The session as it was at a checkpoint, with the last rows of then or those right before the row `before`.
    pub async fn snapshot_at(
        &self,
        session: &SessionId,
        seq: u32,
        before: Option<&ItemId>,
    ) -> Result<Snapshot, SessionError> {
        self.actor(session).await?.snapshot_at(seq, before).await
    }

    /// A file as it was at a checkpoint: as the session met it with its next change, or as it left it with its last.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where its bytes of then were not kept.
    pub async fn file_at(&self, session: &SessionId, seq: u32, path: &str) -> Result<FileAt, SessionError> {
        self.actor(session).await?.file_at(seq, path).await
    }

    /// A new session that has everything up to a checkpoint.
    pub async fn fork(&self, session: &SessionId, seq: u32) -> Result<SessionSummary, SessionError> {
        let id: CoreId = self.actor(session).await?.fork(seq).await?;
        self.tell_forked(&id).await
    }

    /// A new session that has everything before a message of the person's, and that message; before the turn of a reply, and
    /// all that was said to that turn before it.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where the row was rewound, or nobody said anything for it.
    pub async fn fork_before(&self, session: &SessionId, item: &ItemId) -> Result<ForkedBefore, SessionError> {
        let (id, said) = self.actor(session).await?.fork_before(item).await?;
        Ok(ForkedBefore { session: self.tell_forked(&id).await?, said })
    }

    async fn tell_forked(&self, id: &CoreId) -> Result<SessionSummary, SessionError> {
        let stored = self.inner.database.session(id).await?.into_iter().collect();
        let summary = self.summaries_of(stored).await?.pop();
        let summary = summary.ok_or_else(|| SessionError::new(ErrorCode::Internal, Problem::ForkUnreadable))?;
        self.inner.summaries.tell(summary.clone());
        Ok(summary)
    }

    /// The place that [`Self::rewind`] goes back to before a message of the person's; before the last turn without one.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where the message was rewound, or nothing was said yet.
    pub async fn place_before(&self, session: &SessionId, item: Option<&ItemId>) -> Result<u32, SessionError> {
        self.actor(session).await?.place_before(item).await
    }

    /// What [`Self::rewind`] to a checkpoint would do.
    pub async fn preview_rewind(&self, session: &SessionId, seq: u32) -> Result<RewindPreview, SessionError> {
        self.actor(session).await?.preview_rewind(seq).await
    }

    /// What [`Self::rewind`] to a checkpoint would make of a file, or would if the file did not stand in the way.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where it would not touch the file, or its bytes of then cannot be had.
    pub async fn preview_rewind_file(
        &self,
        session: &SessionId,
        seq: u32,
        path: &str,
    ) -> Result<FileDiff, SessionError> {
        self.actor(session).await?.preview_rewind_file(seq, path).await
    }

    /// Goes back to a checkpoint: the conversation, the files without those of `leave`, or both.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] while a turn runs, or where a file that would be put back was changed since.
    pub async fn rewind(
        &self,
        session: &SessionId,
        seq: u32,
        what: RewindWhat,
        leave: &[String],
    ) -> Result<(), SessionError> {
        self.actor(session).await?.rewind(seq, what, leave).await
    }

    /// Takes the last rewind back, as long as nothing has happened since.
    pub async fn undo_rewind(&self, session: &SessionId) -> Result<(), SessionError> {
        self.actor(session).await?.undo_rewind().await
    }
}
