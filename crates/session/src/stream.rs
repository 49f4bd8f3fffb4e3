use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bosun_agent::{JournalEntry, LiveEvent, Recorded};
use bosun_protocol::{Delta, Envelope, ItemId, SessionEvent, SessionSummary, Snapshot};
use tokio::sync::Notify;

use crate::projection::Projection;
use crate::states::Folds;

/// A session's projection and those who watch it. A subagent's stream also feeds its parent's.
pub(crate) struct Stream {
    projection: Mutex<Projection>,
    watchers: Mutex<Vec<Weak<Inbox<Envelope>>>>,
    parent: Option<Arc<Stream>>,
    summaries: Arc<Summaries>,
    pub(crate) folds: Folds,
}

impl Stream {
    pub(crate) fn new(projection: Projection, parent: Option<Arc<Self>>, summaries: Arc<Summaries>) -> Self {
        let projection = Mutex::new(projection);
        Self { projection, watchers: Mutex::default(), parent, summaries, folds: Folds::default() }
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&Projection) -> T) -> T {
        read(&locked(&self.projection))
    }

    /// Takes what the journal made durable.
    pub(crate) fn recorded(&self, entries: &[Recorded]) {
        self.update(|projection| entries.iter().for_each(|entry| projection.apply(entry)));
        let commands: Vec<Option<String>> = self.read(|projection| {
            let command = |entry: &Recorded| match &entry.entry.body {
                bosun_agent::EntryBody::ToolResult { call_id, .. } => projection.command(call_id),
                _ => None,
            };
            entries.iter().map(command).collect()
        });
        let id = self.read(|projection| projection.id().clone());
        let mut ancestor = self.parent.as_ref();
        while let Some(stream) = ancestor {
            stream.update(|projection| {
                for (entry, command) in entries.iter().zip(&commands) {
                    bubble_changes(projection, &entry.entry, command.as_ref());
                    projection.child_worked(&id, entry);
                }
                projection.tell_evidence();
            });
            ancestor = stream.parent.as_ref();
        }
    }

    /// This stream and those above it.
    pub(crate) fn lineage(self: &Arc<Self>) -> Vec<Arc<Self>> {
        let mut lineage = vec![Arc::clone(self)];
        while let Some(parent) = lineage.last().and_then(|stream| stream.parent.clone()) {
            lineage.push(parent);
        }
        lineage
    }

    pub(crate) fn live(&self, event: &LiveEvent, at: i64) {
        self.update(|projection| projection.live(event, at));
    }

    /// Changes the projection and tells everyone. Telling happens under the projection's lock, so that nobody sees
    /// events out of order or subscribes between an event and its telling.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Projection)) {
        let mut projection = locked(&self.projection);
        change(&mut projection);
        let events = projection.drain();
        if events.is_empty() {
            return;
        }
        let mut watchers = locked(&self.watchers);
        watchers.retain(|watcher| match watcher.upgrade() {
            Some(inbox) => {
                events.iter().for_each(|event| inbox.push(event.clone()));
                true
            }
            None => false,
        });
        drop(watchers);
        drop(projection);
        self.pass_up(&events);
    }

    /// Shows `projection` from now on, to those who watch too.
    pub(crate) fn reset(&self, projection: Projection) {
        self.update(|known| projection.take_over(known));
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        self.resume(None)
    }

    /// For a reader that may know the session up to the event `known` already.
    pub(crate) fn resume(&self, known: Option<u32>) -> Subscription {
        let projection = locked(&self.projection);
        let inbox = Arc::new(Inbox::default());
        locked(&self.watchers).push(Arc::downgrade(&inbox));
        let view = projection.view();
        let missed = known.and_then(|seq| Some((view.since(seq)?, known)));
        let (snapshot, since) = missed.unwrap_or_else(|| (view.snapshot(), None));
        Subscription { snapshot, since, events: EventStream { inbox } }
    }

    /// Tells someone who was shown something of the session before it was opened all of it, and what follows.
    pub(crate) fn join(&self, early: &Arc<Inbox<Envelope>>) {
        let projection = locked(&self.projection);
        locked(&self.watchers).push(Arc::downgrade(early));
        let snapshot = projection.view().snapshot();
        early.push(Envelope { seq: snapshot.seq, event: SessionEvent::Reset { snapshot: Box::new(snapshot) } });
    }

    fn pass_up(&self, events: &[Envelope]) {
        let Some(parent) = &self.parent else {
            let updated = events.iter().rev().find_map(|envelope| match &envelope.event {
                SessionEvent::SessionUpdated { session } => Some(session.clone()),
                SessionEvent::Reset { snapshot } => Some(snapshot.session.clone()),
                _ => None,
            });
            if let Some(session) = updated {
                self.summaries.tell(session);
            }
            return;
        };
        for envelope in events {
            match &envelope.event {
                SessionEvent::ApprovalRequested { approval } => {
                    parent.update(|projection| projection.child_asked(approval.clone()));
                }
                SessionEvent::ApprovalResolved { .. } => {
                    parent.update(|projection| projection.child_resolved(envelope.event.clone()));
                }
                SessionEvent::AgentUpdated { agent } => {
                    parent.update(|projection| projection.child_node(agent.clone()));
                }
                _ => {}
            }
        }
    }
}

fn bubble_changes(projection: &mut Projection, entry: &JournalEntry, command: Option<&String>) {
    if let bosun_agent::EntryBody::ToolResult { artifact, .. } = &entry.body {
        projection.child_changed(artifact, command.cloned());
    }
}

/// What waits for one reader. Bounded by what there is to show, not by how long the reader sleeps: what grows one row
/// is joined, and what a row was before it is told whole again goes.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    waiting: Mutex<VecDeque<T>>,
    news: Notify,
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), news: Notify::new() }
    }
}

impl<T> Inbox<T> {
    async fn take(&self) -> Vec<T> {
        loop {
            let news = self.news.notified();
            let waiting: Vec<T> = locked(&self.waiting).drain(..).collect();
            if !waiting.is_empty() {
                return waiting;
            }
            news.await;
        }
    }
}

impl Inbox<Envelope> {
    pub(crate) fn push(&self, envelope: Envelope) {
        let mut waiting = locked(&self.waiting);
        if let SessionEvent::ItemUpdated { item } = &envelope.event {
            waiting.retain(|earlier| !is_of(&earlier.event, &item.id));
        }
        let grown = waiting.back_mut().filter(|last| joins(&last.event, &envelope.event));
        match grown {
            Some(last) => {
                join(&mut last.event, envelope.event);
                last.seq = envelope.seq;
            }
            None => waiting.push_back(envelope),
        }
        drop(waiting);
        self.news.notify_one();
    }
}

/// Whether it changes the row `id`, which was begun before.
fn is_of(event: &SessionEvent, id: &ItemId) -> bool {
    match event {
        SessionEvent::ItemDelta { item, .. } => item == id,
        SessionEvent::ItemUpdated { item } => item.id == *id,
        _ => false,
    }
}

/// Whether `next` is growth of the same kind of the same row as `last`.
fn joins(last: &SessionEvent, next: &SessionEvent) -> bool {
    match (last, next) {
        (SessionEvent::ItemDelta { item: known, delta: before }, SessionEvent::ItemDelta { item, delta }) => {
            known == item && std::mem::discriminant(before) == std::mem::discriminant(delta)
        }
        _ => false,
    }
}

fn join(last: &mut SessionEvent, next: SessionEvent) {
    if let (SessionEvent::ItemDelta { delta: before, .. }, SessionEvent::ItemDelta { delta, .. }) = (last, next)
        && let (
            Delta::Text { text } | Delta::Reasoning { text } | Delta::Output { text },
            Delta::Text { text: more } | Delta::Reasoning { text: more } | Delta::Output { text: more },
        ) = (before, delta)
    {
        text.push_str(&more);
    }
}

/// A session as it is, and what happens to it from now on.
pub struct Subscription {
    pub snapshot: Snapshot,
    /// As in [`bosun_protocol::Opening`].
    pub since: Option<u32>,
    pub events: EventStream,
}

/// The events of one session for one reader. Dropping it ends the subscription.
pub struct EventStream {
    inbox: Arc<Inbox<Envelope>>,
}

impl EventStream {
    /// Of a session that is not open yet: what `inbox` is given.
    pub(crate) fn early(inbox: Arc<Inbox<Envelope>>) -> Self {
        Self { inbox }
    }

    /// Everything that piled up since the last call; waits until there is something.
    pub async fn next(&mut self) -> Vec<Envelope> {
        self.inbox.take().await
    }

    /// Everything that piled up since the last call, without waiting.
    pub fn now(&mut self) -> Vec<Envelope> {
        locked(&self.inbox.waiting).drain(..).collect()
    }
}

/// The summaries of all sessions for those who show lists.
#[derive(Default)]
pub(crate) struct Summaries {
    watchers: Mutex<Vec<Weak<Inbox<SessionSummary>>>>,
}

impl Summaries {
    pub(crate) fn tell(&self, session: SessionSummary) {
        locked(&self.watchers).retain(|watcher| match watcher.upgrade() {
            Some(inbox) => {
                let mut waiting = locked(&inbox.waiting);
                waiting.retain(|known| known.id != session.id);
                waiting.push_back(session.clone());
                drop(waiting);
                inbox.news.notify_one();
                true
            }
            None => false,
        });
    }

    pub(crate) fn watch(&self) -> SummaryStream {
        let inbox = Arc::new(Inbox::default());
        locked(&self.watchers).push(Arc::downgrade(&inbox));
        SummaryStream { inbox }
    }
}

/// Changed summaries for one reader, the last of each session.
pub struct SummaryStream {
    inbox: Arc<Inbox<SessionSummary>>,
}

impl SummaryStream {
    /// Every summary that changed since the last call; waits until there is one.
    pub async fn next(&mut self) -> Vec<SessionSummary> {
        self.inbox.take().await
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
