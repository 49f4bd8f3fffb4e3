use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bosun_agent::{
    BoxFuture, ChangedFile, ChildStart, Clock, EntryBody, Host, IdSource, Journal, JournalEntry, JournalError,
    LiveEvent, OpenedChild, Recorded, Seq, SessionId,
};
use bosun_backend::BlobStore;
use bosun_model::ModelInfo;
use bosun_protocol::ProjectId;
use bosun_store::{Database, NewSession, StoredSession};

use tokio::sync::Mutex as AsyncMutex;

use crate::journals::Journals;
use crate::projection::{Deed, Projection, Subject};
use crate::recording::{Batch, record};
use crate::stream::{Stream, Summaries, locked};

/// What the hosts of one session and its subagents share.
pub(crate) struct Tree {
    pub database: Arc<Database>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub project: ProjectId,
    pub summaries: Arc<Summaries>,
    /// Where the bytes of changed files are kept.
    pub blobs: Option<Arc<BlobStore>>,
    /// The streams of the subagents opened so far, by session.
    pub streams: Mutex<HashMap<SessionId, Arc<Stream>>>,
    /// Held while what lists show of the tree is stored.
    pub summary_order: AsyncMutex<()>,
    /// The model that answers in this tree, for figures.
    pub model: Mutex<Option<ModelInfo>>,
}

/// The host of one session's agent: records first, then shows.
pub(crate) struct SessionHost {
    pub tree: Arc<Tree>,
    pub session: SessionId,
    pub stream: Arc<Stream>,
}

impl Journal for SessionHost {
    fn append(&self, entries: Vec<JournalEntry>) -> BoxFuture<'_, Result<Seq, JournalError>> {
        Box::pin(async move {
            let begins = |entry: &JournalEntry| {
                matches!(entry.body, EntryBody::TurnStarted { .. } | EntryBody::TurnContinued { .. })
            };
            if entries.iter().any(begins) && self.stream.read(|projection| projection.path().len() > 1) {
                // A subagent that is asked more is at work again.
                self.stream.update(|projection| projection.set_running(true));
            }
            let batch = Batch {
                tree: Arc::clone(&self.tree),
                stream: Arc::clone(&self.stream),
                session: self.session.clone(),
                entries,
            };
            Ok(record(vec![batch]).await?.into_iter().next().unwrap_or_default())
        })
    }
}

impl Host for SessionHost {
    fn session(&self) -> &SessionId {
        &self.session
    }

    fn journal(&self) -> &dyn Journal {
        self
    }

    fn emit(&self, event: LiveEvent) {
        self.stream.live(&event, self.tree.clock.now_ms());
    }

    fn child(&self, start: ChildStart) -> BoxFuture<'_, Result<OpenedChild, JournalError>> {
        Box::pin(async move {
            let new = NewSession {
                id: SessionId::new(self.tree.ids.next()),
                project: self.tree.project.to_string(),
                parent: Some((self.session.clone(), start.call_id.clone())),
                created_at: self.tree.clock.now_ms(),
                summary: serde_json::json!({ "name": start.name, "description": start.description }),
            };
            let made = new.id.clone();
            let stored = self.tree.database.create_session(new).await?;
            // One that was made just now has none yet.
            let is_new = stored.id == made;
            let entries = if is_new { Vec::new() } else { self.tree.database.entries(&stored.id, 0).await? };
            let stream = child_stream(&self.tree, &self.stream, &stored, &entries);
            // One that has ended is only looked at.
            if !self.stream.read(|projection| projection.has_ended(&stored.id)) {
                stream.update(|projection| projection.set_running(true));
            }
            let host = Self { tree: Arc::clone(&self.tree), session: stored.id.clone(), stream };
            Ok(OpenedChild { host: Arc::new(host), entries })
        })
    }

    fn changed_files(&self) -> BoxFuture<'_, Result<Vec<ChangedFile>, JournalError>> {
        Box::pin(async move {
            let journals = Journals::read(&self.tree.database, &self.session).await?;
            Ok(ChangedFile::each_once(journals.deeds().iter().flat_map(Deed::changed_files)))
        })
    }
}

/// The stream of a subagent's session: made from its journal once, then shared.
pub(crate) fn child_stream(
    tree: &Arc<Tree>,
    parent: &Arc<Stream>,
    stored: &StoredSession,
    entries: &[Recorded],
) -> Arc<Stream> {
    if let Some(known) = locked(&tree.streams).get(&stored.id) {
        return Arc::clone(known);
    }
    let word = |name: &str| stored.summary.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    let mut path = parent.read(|projection| projection.path().to_vec());
    path.push(word("name"));
    let mut projection = Projection::new(Subject {
        id: stored.id.clone(),
        project: tree.project.clone(),
        parent: stored.parent.as_ref().map(|(parent, _)| parent.clone()),
        path,
        task: stored.parent.as_ref().map(|(_, call)| (call.clone(), word("description"))),
        created_at: stored.created_at,
        model: parent.read(|projection| projection.view().session.model.clone()),
    });
    if tree.blobs.is_some() {
        projection.compare_changes();
    }
    if let Some(model) = locked(&tree.model).clone() {
        projection.set_model(model);
    }
    // Told to the parent too, so that its inbox and its tree of agents know what was there before.
    let stream = Arc::new(Stream::new(projection, Some(Arc::clone(parent)), Arc::clone(&tree.summaries)));
    stream.update(Projection::introduce);
    stream.recorded(entries);
    stream.update(Projection::settle);
    locked(&tree.streams).insert(stored.id.clone(), Arc::clone(&stream));
    stream
}
