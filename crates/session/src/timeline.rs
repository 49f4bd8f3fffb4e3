mod before;
mod costs;
mod ledger;
mod places;

use std::sync::{Arc, Mutex};

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq, SessionId, ToolOutcome, effective, stays};
use bosun_model::{Message, ToolStatus};
use bosun_protocol::{Checkpoint, ItemId, RowId, TimelineList, TimelinePage, TimelineQuery, ToolState};
use bosun_store::{Database, DatabaseError};
use tokio::sync::Mutex as AsyncMutex;

pub(crate) use self::before::Before;
pub(crate) use self::costs::Costs;
use self::ledger::Ledger;
use self::places::Places;
pub(crate) use self::places::short;
use crate::restoring::KEPT;
use crate::stream::locked;

/// What a session and its subagents did, as far as their journals were read. What they record later is read on to.
pub(crate) struct Chronicle {
    /// The session's own first, then those of its subagents as they were met.
    journals: Vec<Followed>,
    places: Places,
    ledger: Ledger,
    /// How often the session was taken back, or forth again.
    rewinds: u32,
    can_undo_rewind: bool,
}

/// A journal that was read up to an entry.
struct Followed {
    id: SessionId,
    /// Names of the agents from the root's to this one.
    path: Vec<String>,
    seen: Seq,
}

/// The chronicle of the session that was asked about last: what was read for one question is not read for the next, nor
/// for one that is asked meanwhile.
#[derive(Default)]
pub(crate) struct LastRead(Mutex<Option<(SessionId, Arc<AsyncMutex<Chronicle>>)>>);

impl LastRead {
    pub(crate) fn of(&self, session: &SessionId) -> Arc<AsyncMutex<Chronicle>> {
        let mut last = locked(&self.0);
        if let Some((_, chronicle)) = last.as_ref().filter(|(known, _)| known == session) {
            return Arc::clone(chronicle);
        }
        let chronicle = Arc::new(AsyncMutex::new(Chronicle::of(session.clone())));
        *last = Some((session.clone(), Arc::clone(&chronicle)));
        chronicle
    }
}

impl Chronicle {
    fn of(session: SessionId) -> Self {
        Self {
            journals: vec![Followed { id: session, path: vec!["main".to_owned()], seen: 0 }],
            places: Places::default(),
            ledger: Ledger::default(),
            rewinds: 0,
            can_undo_rewind: false,
        }
    }

    /// Reads on to the end of the journals. Dropped, or where one cannot be read, it goes on from there the next time.
    pub(crate) async fn follow(&mut self, database: &Database) -> Result<(), DatabaseError> {
        // Subagents of subagents come to stand behind them, and so are met on the way.
        let mut at = 0;
        while let Some(Followed { id, path, seen }) = self.journals.get(at) {
            let (id, path, seen) = (id.clone(), path.clone(), *seen);
            let entries = database.entries(&id, seen).await?;
            let children = database.children(&id).await?;
            if at == 0 {
                self.take_root(&id, &entries, database).await?;
            }
            // From here on nothing is waited for: what was read is taken whole.
            entries.iter().for_each(|recorded| self.ledger.take(&id, &path, recorded));
            for child in children {
                if self.journals.iter().all(|known| known.id != child.id) {
                    let name = child.summary.get("name").and_then(|name| name.as_str()).unwrap_or_default();
                    let path = path.iter().cloned().chain([name.to_owned()]).collect();
                    self.journals.push(Followed { id: child.id, path, seen: 0 });
                }
            }
            if let (Some(journal), Some(last)) = (self.journals.get_mut(at), entries.last()) {
                journal.seen = last.seq;
            }
            at += 1;
        }
        self.ledger.sort();
        Ok(())
    }

    async fn take_root(
        &mut self,
        id: &SessionId,
        entries: &[Recorded],
        database: &Database,
    ) -> Result<(), DatabaseError> {
        let rewinds = entries.iter().filter(|recorded| is_rewind(&recorded.entry.body)).count();
        // Places that were are none any more, or are again.
        let mut whole = if rewinds == 0 { Vec::new() } else { database.entries(id, 0).await? };
        // What was recorded in the meantime comes the next time.
        whole.truncate(whole.partition_point(|recorded| entries.last().is_some_and(|last| recorded.seq <= last.seq)));
        self.rewinds += u32::try_from(rewinds).unwrap_or(u32::MAX);
        self.can_undo_rewind = entries.iter().fold(self.can_undo_rewind, |can, recorded| match &recorded.entry.body {
            EntryBody::Rewound { .. } => true,
            body if leaves_rewind(body) => can,
            _ => false,
        });
        if rewinds == 0 {
            entries.iter().for_each(|recorded| self.places.take(recorded));
        } else {
            self.places = Places::read(effective(&whole));
        }
        Ok(())
    }

    /// What `query` asks for; `costs` has the model calls that were made for the session.
    pub(crate) async fn page(
        &self,
        query: &TimelineQuery,
        costs: &Costs,
        database: &Database,
    ) -> Result<TimelinePage, DatabaseError> {
        let total = match query.list {
            TimelineList::Places => self.places.len(),
            TimelineList::Ledger => self.ledger.len(),
        };
        let before = |row: &RowId| match query.list {
            TimelineList::Places => self.places.before(row),
            TimelineList::Ledger => self.ledger.before(row),
        };
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let span = match query.from.as_ref().and_then(before) {
            Some(from) => from..from.saturating_add(limit).min(total),
            None => {
                let end = query.before.as_ref().and_then(before).unwrap_or(total);
                end.saturating_sub(limit)..end
            }
        };
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut page = TimelinePage {
            from: number(span.start),
            total: number(total),
            checkpoints: Vec::new(),
            ledger: Vec::new(),
            can_undo_rewind: self.can_undo_rewind,
            rewinds: self.rewinds,
        };
        match query.list {
            TimelineList::Places => page.checkpoints = self.places.page(span, costs),
            TimelineList::Ledger => page.ledger = self.ledger.page(span, costs, database).await?,
        }
        Ok(page)
    }
}

fn is_rewind(body: &EntryBody) -> bool {
    matches!(body, EntryBody::Rewound { .. } | EntryBody::RewindUndone { .. })
}

/// Whether a rewind can still be undone behind such an entry.
fn leaves_rewind(body: &EntryBody) -> bool {
    match body {
        EntryBody::RewindUndone { .. } | EntryBody::RestoreIntended { .. } | EntryBody::Restored { .. } => false,
        EntryBody::Updated { by, .. } => by == KEPT,
        body => stays(body),
    }
}

/// The last rewind, where nothing but what stays has happened since.
pub(crate) fn last_rewind(entries: &[Recorded]) -> Option<&Recorded> {
    let last =
        entries.iter().rev().find(|recorded| !leaves_rewind(&recorded.entry.body) || is_rewind(&recorded.entry.body));
    last.filter(|recorded| matches!(recorded.entry.body, EntryBody::Rewound { .. }))
}

/// The place `seq`, where it is one that one can return to; what its step cost is not looked up.
pub(crate) fn place(entries: &[Recorded], seq: u32) -> Option<Checkpoint> {
    Places::read(effective(entries)).at(seq)
}

/// What comes before the message `item` of the person's.
pub(crate) fn before_message(entries: &[Recorded], item: &ItemId) -> Option<Before> {
    Places::read(effective(entries)).before_message(item)
}

/// The place where the last turn begins.
pub(crate) fn last_turn(entries: &[Recorded]) -> Option<u32> {
    Places::read(effective(entries)).last_turn()
}

fn changed(entry: &JournalEntry) -> Vec<String> {
    let changes = match &entry.body {
        EntryBody::ToolResult { artifact, .. } => &artifact.changes,
        EntryBody::Restored { changes } => changes,
        _ => return Vec::new(),
    };
    changes.iter().map(|change| change.path.to_string()).collect()
}

/// How a call that has a result is shown.
pub(crate) fn state_of(outcome: ToolOutcome, message: &Message) -> ToolState {
    let failed = matches!(message, Message::Tool(message) if message.status == ToolStatus::Error);
    match outcome {
        ToolOutcome::Ran if failed => ToolState::Failed,
        // Its subagent did not finish; a turn that is continued opens it again.
        ToolOutcome::Paused => ToolState::Failed,
        ToolOutcome::Ran => ToolState::Done,
        ToolOutcome::Refused => ToolState::Failed,
        ToolOutcome::Rejected => ToolState::Rejected,
        ToolOutcome::Answered => ToolState::Answered,
        ToolOutcome::Cancelled => ToolState::Cancelled,
        ToolOutcome::Unknown => ToolState::Unknown,
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
