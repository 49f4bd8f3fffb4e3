//! A long session that rests is shown from its end before its journal was read: opening it costs what is seen of it. All
//! of it comes as one event as soon as it is there.

use std::sync::Arc;

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq};
use bosun_protocol::{
    Envelope, Item, ItemBody, ItemId, Notice, NoticeCode, SessionEvent, SessionId, SessionStatus, SessionSummary,
    Snapshot,
};
use bosun_store::StoredSession;

use super::Sessions;
use super::lists::summary_in;
use crate::SessionError;
use crate::projection::{Projection, Subject};
use crate::stream::{EventStream, Inbox, Subscription};

/// Journals up to this length are read at once: nobody notices.
const SHORT: Seq = 1_500;
/// Entries at the end that are enough for what a window shows at first.
const END: u32 = 500;

impl Sessions {
    /// As [`Self::subscribe`], for someone who looks. Of a long session that rests and is not open yet the snapshot has the
    /// last rows and what lists show; a [`SessionEvent::Reset`] with everything follows. Where that cannot be had, a row
    /// says why.
    /// Of one that is open, a reader who knows it up to the event `known` is told only what is new.
    pub async fn look(&self, session: &SessionId, known: Option<u32>) -> Result<Subscription, SessionError> {
        let Some(snapshot) = self.glimpse(session).await? else {
            return Ok(self.stream(session).await?.resume(known));
        };
        let inbox: Arc<Inbox<Envelope>> = Arc::default();
        let (sessions, id, early) = (self.clone(), session.clone(), Arc::clone(&inbox));
        let at = snapshot.session.updated_at;
        self.inner.tasks.spawn(async move {
            match sessions.stream(&id).await {
                Ok(stream) => stream.join(&early),
                Err(error) => early.push(not_opened(&error, at)),
            }
        });
        Ok(Subscription { snapshot, since: None, events: EventStream::early(inbox) })
    }

    /// The end of a session; `None` where all of it is at hand, or its end alone would not be true.
    async fn glimpse(&self, session: &SessionId) -> Result<Option<Snapshot>, SessionError> {
        let id = bosun_agent::SessionId::new(session.as_str());
        let database = &self.inner.database;
        if self.inner.actors.get(&id).is_some() {
            return Ok(None);
        }
        let Some(stored) = database.session(&id).await? else { return Ok(None) };
        let summary = summary_in(stored.clone()).filter(rests);
        let (Some(summary), None) = (summary, &stored.parent) else { return Ok(None) };
        // Another process may be at work in it; to find out takes the claim.
        if database.is_claimed(&id) {
            return Ok(None);
        }
        let end = database.last_entries(&id, END).await?;
        Ok(self.shown_end(&stored, summary, &end))
    }

    fn shown_end(&self, stored: &StoredSession, summary: SessionSummary, end: &[Recorded]) -> Option<Snapshot> {
        let first = end.first()?.seq;
        if first + Seq::from(END) <= SHORT || end.iter().any(|entry| reaches_back(&entry.entry.body)) {
            return None;
        }
        let subject: Subject = self.subject_of(stored);
        let mut projection = Projection::new(subject);
        projection.read([&begun(end)?].into_iter().chain(end));
        projection.recall(summary);
        projection.settle();
        let snapshot = projection.view().snapshot();
        let before = u32::try_from(first - 1).unwrap_or(u32::MAX);
        Some(Snapshot { seq: 0, items_before: snapshot.items_before.saturating_add(before), ..snapshot })
    }
}

/// Whether nothing goes on in a session and nothing in it waits for anybody.
fn rests(summary: &SessionSummary) -> bool {
    let over = matches!(summary.status, SessionStatus::Idle | SessionStatus::Failed | SessionStatus::Stopped);
    over && summary.waiting == 0
}

/// What an entry means depends on those long before it.
fn reaches_back(body: &EntryBody) -> bool {
    matches!(body, EntryBody::Rewound { .. } | EntryBody::RewindUndone { .. } | EntryBody::RestoreIntended { .. })
}

/// The turn that the first entries of `end` belong to, as if it began with them; `None` where none of them tells.
fn begun(end: &[Recorded]) -> Option<Recorded> {
    let first = end.first()?;
    let turn = end.iter().find_map(|entry| match entry.entry.body {
        EntryBody::TurnStarted { turn, .. } => Some(turn.saturating_sub(1)),
        EntryBody::TurnContinued { turn } | EntryBody::TurnEnded { turn, .. } => Some(turn),
        _ => None,
    })?;
    let entry = JournalEntry { at: first.entry.at, body: EntryBody::TurnContinued { turn } };
    Some(Recorded { seq: first.seq, entry })
}

fn not_opened(error: &SessionError, at: i64) -> Envelope {
    let notice = Notice {
        code: NoticeCode::Failed,
        detail: error.to_string(),
        problem: Some(error.problem.clone()),
        model: None,
    };
    let item = Item { id: ItemId::new("not-opened"), turn: u32::MAX, at, body: ItemBody::Notice(notice) };
    Envelope { seq: 1, event: SessionEvent::ItemCompleted { item } }
}

#[cfg(test)]
#[path = "glimpse_tests.rs"]
mod tests;
