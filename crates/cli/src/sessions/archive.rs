use bosun_backend::BoxFuture;
use bosun_protocol::{AgentNode, Approval, FileChange, Item, ItemBody, SessionId, SessionSummary, Todo};
use bosun_session::{SessionError, Sessions};
use serde::Serialize;

/// Items fetched at a time.
const PAGE: u32 = 1_000;

/// Everything a session shows, subagents included: what `export --format json` writes.
#[derive(Debug, Serialize)]
pub(super) struct Archive {
    pub session: SessionSummary,
    pub items: Vec<Item>,
    pub todos: Vec<Todo>,
    /// Calls that wait for a person.
    pub approvals: Vec<Approval>,
    pub changes: Vec<FileChange>,
    pub agents: Vec<AgentNode>,
    /// The sessions of the subagents, in the order they were sent out.
    pub subagents: Vec<Archive>,
}

impl Archive {
    pub(super) fn read<'a>(sessions: &'a Sessions, id: &'a SessionId) -> BoxFuture<'a, Result<Self, SessionError>> {
        Box::pin(async move {
            let snapshot = sessions.subscribe(id).await?.snapshot;
            let mut items = snapshot.items;
            while let Some(first) = items.first().map(|item| item.id.clone()) {
                let mut page = sessions.items_before(id, &first, PAGE).await?;
                if page.is_empty() {
                    break;
                }
                page.append(&mut items);
                items = page;
            }
            let mut subagents = Vec::new();
            for child in items.iter().filter_map(child) {
                subagents.push(Self::read(sessions, child).await?);
            }
            Ok(Self {
                session: snapshot.session,
                items,
                todos: snapshot.todos,
                approvals: snapshot.approvals,
                changes: snapshot.changes,
                agents: snapshot.agents,
                subagents,
            })
        })
    }
}

fn child(item: &Item) -> Option<&SessionId> {
    match &item.body {
        ItemBody::Tool(tool) => tool.child.as_ref(),
        ItemBody::Human { .. } | ItemBody::Ai { .. } | ItemBody::Notice(_) => None,
    }
}
