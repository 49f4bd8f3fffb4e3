use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::CallId;

use crate::{
    BoxFuture, ChangedFile, ChildStart, EntryBody, Host, Journal, JournalEntry, JournalError, LiveEvent, OpenedChild,
    Recorded, Seq, SessionId,
};

type Listener = Arc<dyn Fn(&SessionId, &LiveEvent) + Send + Sync>;

/// A host that keeps its journal in memory: for runs that are not to be stored, and for tests.
pub struct MemoryHost {
    session: SessionId,
    entries: Mutex<Vec<Recorded>>,
    children: Mutex<HashMap<CallId, Arc<MemoryHost>>>,
    listener: Option<Listener>,
}

impl MemoryHost {
    pub fn new(session: SessionId) -> Self {
        Self::with_entries(session, Vec::new())
    }

    /// A host whose journal already holds `entries`, as after a restart.
    pub fn with_entries(session: SessionId, entries: Vec<Recorded>) -> Self {
        Self { session, entries: Mutex::new(entries), children: Mutex::default(), listener: None }
    }

    /// Hands every live event of this session and its subagents to `listener`.
    pub fn on_live(mut self, listener: impl Fn(&SessionId, &LiveEvent) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Everything recorded so far.
    pub fn entries(&self) -> Vec<Recorded> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What this session and its subagents changed, with when.
    fn changes(&self) -> Vec<(i64, ChangedFile)> {
        let mut changes = Vec::new();
        for recorded in self.entries() {
            if let EntryBody::ToolResult { artifact, .. } = &recorded.entry.body {
                changes.extend(ChangedFile::of_call(artifact).map(|file| (recorded.entry.at, file)));
            }
        }
        let children: Vec<Arc<Self>> =
            self.children.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        changes.extend(children.iter().flat_map(|child| child.changes()));
        changes.sort_by_key(|(at, _)| *at);
        changes
    }

    /// The host of the subagent that a call started.
    pub fn child_of(&self, call_id: &CallId) -> Option<Arc<Self>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).get(call_id).cloned()
    }
}

impl Journal for MemoryHost {
    fn append(&self, entries: Vec<JournalEntry>) -> BoxFuture<'_, Result<Seq, JournalError>> {
        Box::pin(async move {
            let mut recorded = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            for entry in entries {
                let seq = recorded.len() as Seq + 1;
                recorded.push(Recorded { seq, entry });
            }
            Ok(recorded.len() as Seq)
        })
    }
}

impl Host for MemoryHost {
    fn session(&self) -> &SessionId {
        &self.session
    }

    fn journal(&self) -> &dyn Journal {
        self
    }

    fn emit(&self, event: LiveEvent) {
        if let Some(listener) = &self.listener {
            listener(&self.session, &event);
        }
    }

    fn child(&self, start: ChildStart) -> BoxFuture<'_, Result<OpenedChild, JournalError>> {
        Box::pin(async move {
            let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
            let child = children.entry(start.call_id.clone()).or_insert_with(|| {
                let session = SessionId::new(format!("{}/{}", self.session, start.call_id));
                let mut child = Self::new(session);
                child.listener.clone_from(&self.listener);
                Arc::new(child)
            });
            Ok(OpenedChild { entries: child.entries(), host: Arc::clone(child) as Arc<dyn Host> })
        })
    }

    fn changed_files(&self) -> BoxFuture<'_, Result<Vec<ChangedFile>, JournalError>> {
        Box::pin(async { Ok(ChangedFile::each_once(self.changes().into_iter().map(|(_, file)| file))) })
    }
}
