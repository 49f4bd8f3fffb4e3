use std::sync::Arc;

use bosun_agent::{JournalEntry, JournalError, Recorded, Seq, SessionId};
use bosun_store::{Append, Listed};

use crate::host::Tree;
use crate::projection::{Projection, changes_summary};
use crate::search::searchable;
use crate::stream::Stream;

/// Entries of one session that are to be recorded.
pub(crate) struct Batch {
    pub tree: Arc<Tree>,
    pub stream: Arc<Stream>,
    pub session: SessionId,
    pub entries: Vec<JournalEntry>,
}

/// Records entries, of several sessions as one unit, then shows them. What lists show of the sessions at the root is
/// stored in the same transaction, so that a list read after a crash is right also where a subagent asks.
///
/// # Errors
/// [`JournalError`]; nothing was recorded.
pub(crate) async fn record(mut batches: Vec<Batch>) -> Result<Vec<Seq>, JournalError> {
    let Some(database) = batches.first().map(|batch| Arc::clone(&batch.tree.database)) else { return Ok(Vec::new()) };
    let roots = changed_roots(&batches);
    // Two who ask at once would each store a summary without the other. In the order of the roots' ids, like everyone.
    let mut order = Vec::with_capacity(roots.len());
    for root in &roots {
        order.push(root.tree.summary_order.lock().await);
    }
    let mut appends: Vec<Append> = batches
        .iter()
        .map(|batch| Append {
            session: batch.session.clone(),
            entries: batch.entries.clone(),
            listed: batch.stream.read(|projection| own_summary(projection, batch)),
            texts: texts(&batch.entries),
        })
        .collect();
    for root in &roots {
        let listed = root.stream.read(|projection| root_summary(projection, &batches));
        match appends.iter_mut().find(|append| append.session == root.id) {
            Some(append) => append.listed = listed,
            None => appends.push(Append { session: root.id.clone(), entries: Vec::new(), listed, texts: Vec::new() }),
        }
    }
    let last = database.append_all(appends).await?;
    for (batch, last) in batches.iter_mut().zip(&last) {
        let first = last + 1 - batch.entries.len() as Seq;
        let entries = (first..).zip(std::mem::take(&mut batch.entries));
        let recorded: Vec<Recorded> = entries.map(|(seq, entry)| Recorded { seq, entry }).collect();
        batch.stream.recorded(&recorded);
    }
    drop(order);
    for batch in &batches {
        if let Some(blobs) = &batch.tree.blobs {
            batch.stream.count_changes(blobs).await;
        }
    }
    Ok(last.into_iter().take(batches.len()).collect())
}

/// What can be searched, by place.
pub(crate) fn texts(entries: &[JournalEntry]) -> Vec<(usize, String)> {
    let texts = entries.iter().enumerate();
    texts.filter_map(|(place, entry)| Some((place, searchable(&entry.body)?.1))).collect()
}

/// A session at the root of a tree, with its stream.
struct Root {
    tree: Arc<Tree>,
    stream: Arc<Stream>,
    id: SessionId,
}

/// The roots whose summary the entries change, by id. Whether they do hangs on what their own sessions recorded before
/// and on nobody else, so that it can be asked before anyone is waited for.
fn changed_roots(batches: &[Batch]) -> Vec<Root> {
    let changing = batches.iter().filter(|batch| batch.entries.iter().any(|entry| changes_summary(&entry.body)));
    let mut roots: Vec<Root> = changing
        .filter_map(|batch| {
            let stream = batch.stream.lineage().pop()?;
            let id = SessionId::new(stream.read(|projection| projection.view().session.id.to_string()));
            Some(Root { tree: Arc::clone(&batch.tree), stream, id })
        })
        .collect();
    roots.sort_by(|a, b| a.id.cmp(&b.id));
    roots.dedup_by(|a, b| a.id == b.id);
    roots.retain(|root| root.stream.read(|projection| root_summary(projection, batches)).is_some());
    roots
}

fn root_summary(root: &Projection, batches: &[Batch]) -> Option<Listed> {
    let entries: Vec<_> = batches.iter().map(|batch| (&batch.session, batch.entries.as_slice())).collect();
    let summary = root.summary_after(&entries)?;
    Some(Listed { summary: serde_json::to_value(&summary).ok()?, updated_at: summary.updated_at })
}

/// What is stored of a subagent: the name and the task it was made with stand nowhere else once the app was restarted.
fn own_summary(projection: &Projection, batch: &Batch) -> Option<Listed> {
    let summary = projection.summary_after(&[(&batch.session, &batch.entries)])?;
    summary.parent.as_ref()?;
    let mut stored = serde_json::to_value(&summary).ok()?;
    if let (Some(agent), Some(fields)) = (projection.view().agents.first(), stored.as_object_mut()) {
        fields.insert("name".into(), agent.name.clone().into());
        fields.insert("description".into(), agent.description.clone().into());
    }
    Some(Listed { summary: stored, updated_at: summary.updated_at })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bosun_agent::{ChildStart, EntryBody, Host, SystemClock, UuidSource};
    use bosun_model::HumanMessage;
    use bosun_protocol::ProjectId;
    use bosun_store::{Database, NewSession};
    use futures_util::poll;

    use super::*;
    use crate::host::SessionHost;
    use crate::projection::Subject;
    use crate::stream::Summaries;

    /// The host of a session that is new.
    async fn root() -> SessionHost {
        let database = Database::in_memory().unwrap();
        let (id, project) = (SessionId::new("root"), ProjectId::new("p"));
        let new = NewSession {
            id: id.clone(),
            project: project.to_string(),
            parent: None,
            created_at: 1,
            summary: serde_json::json!({}),
        };
        database.create_session(new).await.unwrap();
        let summaries = Arc::new(Summaries::default());
        let tree = Tree {
            database,
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidSource),
            project: project.clone(),
            summaries: Arc::clone(&summaries),
            blobs: None,
            streams: Mutex::default(),
            summary_order: tokio::sync::Mutex::default(),
            model: Mutex::default(),
        };
        let path = vec!["main".into()];
        let subject = Subject { id: id.clone(), project, parent: None, path, task: None, created_at: 1, model: None };
        let stream = Arc::new(Stream::new(Projection::new(subject), None, summaries));
        SessionHost { tree: Arc::new(tree), session: id, stream }
    }

    fn begun() -> Vec<JournalEntry> {
        let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
        vec![JournalEntry { at: 2, body: EntryBody::TurnStarted { turn: 1, message } }]
    }

    #[tokio::test]
    async fn a_subagent_waits_for_what_lists_show_of_its_root_only_where_it_changes_that() {
        let root = root().await;
        let start = ChildStart { call_id: "c".into(), name: "a".into(), description: "d".into() };
        let child = root.child(start.clone()).await.unwrap();
        assert!(child.entries.is_empty());
        let others = root.tree.summary_order.lock().await;
        child.host.journal().append(begun()).await.unwrap();
        let mut own = root.journal().append(begun());
        for _ in 0..10 {
            assert!(poll!(&mut own).is_pending(), "its own is what lists show");
            tokio::task::yield_now().await;
        }
        drop(others);
        own.await.unwrap();
        assert_eq!(root.child(start).await.unwrap().entries.len(), 1, "one that was made before is read");
    }
}
