use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bosun_protocol::{
    AgentNode, Approval, Delta, FileChange, Item, ItemBody, ItemId, QueuedMessage, SessionEvent, SessionSummary,
    Snapshot, Todo, TodoEvidence,
};

use crate::rows::Rows;

/// How many items a snapshot carries, and more only back to the first that is at work; earlier ones are fetched in
/// pages.
pub(crate) const WINDOW: usize = 200;

/// What a session shows, changed by [`SessionEvent`]s and by nothing else: that is why a snapshot and the events after
/// it always make the snapshot at the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub seq: u32,
    pub session: SessionSummary,
    pub items: Rows,
    pub todos: Vec<Todo>,
    pub evidence: Vec<TodoEvidence>,
    pub approvals: Vec<Approval>,
    pub queue: Vec<QueuedMessage>,
    pub agents: Vec<AgentNode>,
    pub changes: Vec<FileChange>,
    places: HashMap<ItemId, usize>,
    /// For each item the event that touched it last.
    touched: Vec<u32>,
    /// The last event after which a reader had to be told all of it: rows went, or all came anew.
    anew: u32,
}

impl View {
    pub(crate) fn new(session: SessionSummary) -> Self {
        Self {
            seq: 0,
            session,
            items: Rows::default(),
            todos: Vec::new(),
            evidence: Vec::new(),
            approvals: Vec::new(),
            queue: Vec::new(),
            agents: Vec::new(),
            changes: Vec::new(),
            places: HashMap::new(),
            touched: Vec::new(),
            anew: 0,
        }
    }

    /// The view that a reader has after taking `snapshot`.
    #[cfg(test)]
    pub(crate) fn of_reader(snapshot: bosun_protocol::Snapshot) -> Self {
        let touched = vec![snapshot.seq; snapshot.items.len()];
        let places = snapshot.items.iter().enumerate().map(|(place, item)| (item.id.clone(), place)).collect();
        Self {
            seq: snapshot.seq,
            session: snapshot.session,
            items: snapshot.items.into_iter().collect(),
            todos: snapshot.todos,
            evidence: snapshot.evidence,
            approvals: snapshot.approvals,
            queue: snapshot.queue,
            agents: snapshot.agents,
            changes: snapshot.changes,
            places,
            touched,
            anew: snapshot.seq,
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        // A row at work is in it even where a window of others followed: nobody may take its end for a new row.
        let working = self.items.first_at_work().unwrap_or(self.items.len());
        let before = self.items.len().saturating_sub(WINDOW).min(working);
        Snapshot {
            items: self.items.range(before..self.items.len()),
            items_before: u32::try_from(before).unwrap_or(u32::MAX),
            ..self.beside()
        }
    }

    /// All but the items.
    fn beside(&self) -> Snapshot {
        Snapshot {
            seq: self.seq,
            session: self.session.clone(),
            items: Vec::new(),
            items_before: 0,
            todos: self.todos.clone(),
            evidence: self.evidence.clone(),
            approvals: self.approvals.clone(),
            queue: self.queue.clone(),
            agents: self.agents.clone(),
            changes: self.changes.clone(),
        }
    }

    /// A snapshot with a window of the items: the last ones, or those right before the item `end`.
    pub(crate) fn window(&self, end: Option<&ItemId>) -> Snapshot {
        let end = end.map_or(self.items.len(), |id| self.places.get(id).copied().unwrap_or(0));
        let before = end.saturating_sub(WINDOW);
        let items = self.items.range(before..end);
        Snapshot { items, items_before: u32::try_from(before).unwrap_or(u32::MAX), ..self.beside() }
    }

    /// It begins to be told of: what a reader may know was counted in another life, and says nothing of this one.
    pub(crate) fn begin(&mut self) {
        self.anew = self.seq;
    }

    /// Takes the events that are told from here on for those of another view after `seq`.
    pub(crate) fn follow(&mut self, seq: u32) {
        self.seq = seq;
        self.anew = seq;
        self.touched.fill(seq);
    }

    /// What a reader lacks who knows everything up to the event `known`; `None` where it is told best from the beginning.
    pub(crate) fn since(&self, known: u32) -> Option<Snapshot> {
        if known < self.anew || known > self.seq {
            return None;
        }
        let touched = self.touched.iter().enumerate().filter(|(_, touched)| **touched > known);
        let places: Vec<usize> = touched.take(WINDOW + 1).map(|(place, _)| place).collect();
        let is_told = places.len() <= WINDOW;
        is_told.then(|| Snapshot { items: self.items.at(&places), items_before: 0, ..self.beside() })
    }

    pub(crate) fn item(&self, id: &ItemId) -> Option<Cow<'_, Item>> {
        self.items.get(*self.places.get(id)?)
    }

    /// What `id` answers: the messages of its turn that were said before it, those that were said to it under way among
    /// them, for they are what it was to mind. A message of the person's answers nothing, and is itself the question.
    pub(crate) fn question(&self, id: &ItemId) -> Vec<Item> {
        let Some(item) = self.item(id) else { return Vec::new() };
        if is_said(&item) {
            return vec![item.into_owned()];
        }
        let before = self.items.iter().take_while(|one| one.id != *id);
        before.filter(|one| one.turn == item.turn && is_said(one)).map(Cow::into_owned).collect()
    }

    /// Up to `limit` items right before the item `id`, oldest first.
    pub(crate) fn items_before(&self, id: &ItemId, limit: usize) -> Vec<Item> {
        let end = self.places.get(id).copied().unwrap_or(0);
        let start = end.saturating_sub(limit);
        self.items.range(start..end)
    }

    /// The same for an event that nobody else wants.
    pub(crate) fn take(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::ItemStarted { item }
            | SessionEvent::ItemUpdated { item }
            | SessionEvent::ItemCompleted { item } => {
                self.seq += 1;
                self.put(item);
            }
            other => self.apply(&other),
        }
    }

    pub(crate) fn apply(&mut self, event: &SessionEvent) {
        self.seq += 1;
        match event {
            SessionEvent::SessionUpdated { session } => self.session = session.clone(),
            SessionEvent::TurnStarted { .. } | SessionEvent::TurnEnded { .. } => {}
            // It tells what already is.
            SessionEvent::Reset { .. } => self.anew = self.seq,
            SessionEvent::ItemStarted { item }
            | SessionEvent::ItemUpdated { item }
            | SessionEvent::ItemCompleted { item } => self.put(item.clone()),
            SessionEvent::ItemDelta { item, delta } => self.grow(item, delta),
            SessionEvent::ItemRemoved { item } => self.remove(item),
            SessionEvent::TodosReplaced { todos } => self.todos.clone_from(todos),
            SessionEvent::TodoWorked { evidence } => {
                match self.evidence.iter_mut().find(|known| known.todo == evidence.todo) {
                    Some(known) => *known = evidence.clone(),
                    None => self.evidence.push(evidence.clone()),
                }
            }
            SessionEvent::ApprovalRequested { approval } => {
                self.approvals.retain(|known| known.call_id != approval.call_id || known.session != approval.session);
                self.approvals.push(approval.clone());
            }
            SessionEvent::ApprovalResolved { session, call_id, .. } => {
                self.approvals.retain(|known| known.call_id != *call_id || known.session != *session);
            }
            SessionEvent::QueueReplaced { queue } => self.queue.clone_from(queue),
            SessionEvent::AgentUpdated { agent } => {
                match self.agents.iter_mut().find(|known| known.session == agent.session) {
                    Some(known) => *known = agent.clone(),
                    None => self.agents.push(agent.clone()),
                }
            }
            SessionEvent::FileChanged { change } => {
                match self.changes.iter_mut().find(|known| known.path == change.path) {
                    Some(known) => *known = change.clone(),
                    None => self.changes.push(change.clone()),
                }
            }
        }
    }

    fn put(&mut self, item: Item) {
        match self.touch(&item.id) {
            Some(known) => *known = item,
            None => {
                self.places.insert(item.id.clone(), self.items.len());
                self.items.push(item);
                self.touched.push(self.seq);
            }
        }
    }

    /// A row that the event at hand changes.
    fn touch(&mut self, id: &ItemId) -> Option<&mut Item> {
        let place = *self.places.get(id)?;
        if let Some(touched) = self.touched.get_mut(place) {
            *touched = self.seq;
        }
        self.items.get_mut(place)
    }

    /// Rows that come to nothing are among the last ones, so that few places move.
    fn remove(&mut self, id: &ItemId) {
        let Some(place) = self.places.remove(id) else { return };
        self.items.remove(place);
        self.touched.remove(place);
        self.anew = self.seq;
        // From there on none is packed.
        let unpacked = self.items.len() - self.items.last_ones().len();
        for (place, item) in (unpacked..).zip(self.items.last_ones()).skip(place - unpacked) {
            self.places.insert(item.id.clone(), place);
        }
    }

    fn grow(&mut self, id: &ItemId, delta: &Delta) {
        let Some(item) = self.touch(id) else { return };
        match (&mut item.body, delta) {
            (ItemBody::Ai { text, .. }, Delta::Text { text: more }) => Arc::make_mut(text).push_str(more),
            (ItemBody::Ai { reasoning, .. }, Delta::Reasoning { text: more }) => reasoning.push_str(more),
            (ItemBody::Tool(tool), Delta::Output { text: more }) => tool.output.push_str(more),
            _ => {}
        }
    }
}

fn is_said(item: &Item) -> bool {
    matches!(item.body, ItemBody::Human { .. })
}
