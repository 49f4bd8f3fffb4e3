use std::collections::BTreeMap;

use bosun_backend::BoxFuture;
use bosun_protocol::{
    AgentNode, Approval, AttachmentContent, ErrorCode, FileChange, Item, ItemBody, SessionId, SessionSummary, Todo,
};
use serde::{Deserialize, Serialize};

use crate::{SessionError, Sessions};

/// Items fetched at a time.
const PAGE: u32 = 1_000;

/// Everything a session shows, subagents included: what `export --format json` writes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Archive {
    pub session: SessionSummary,
    pub items: Vec<Item>,
    pub todos: Vec<Todo>,
    /// Calls that wait for a person.
    pub approvals: Vec<Approval>,
    pub changes: Vec<FileChange>,
    pub agents: Vec<AgentNode>,
    /// What stands with messages, by [`bosun_protocol::Attachment::blob`]: texts, and pictures that can be drawn.
    pub attachments: BTreeMap<String, AttachmentContent>,
    /// The sessions of the subagents, in the order they were sent out.
    pub subagents: Vec<Archive>,
}

impl Archive {
    /// Reads all of a session; reading its subagents takes as many levels as there are.
    pub(crate) fn read<'a>(sessions: &'a Sessions, id: &'a SessionId) -> BoxFuture<'a, Result<Self, SessionError>> {
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
            let attachments = attachments(sessions, id, &items).await;
            let mut subagents = Vec::new();
            for child in items.iter().filter_map(child) {
                match Self::read(sessions, child).await {
                    Ok(subagent) => subagents.push(subagent),
                    // A fork shows the subagents of the session that it came from, as long as that one is there.
                    Err(error) if error.code == ErrorCode::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(Self {
                session: snapshot.session,
                items,
                todos: snapshot.todos,
                approvals: snapshot.approvals,
                changes: snapshot.changes,
                agents: snapshot.agents,
                attachments,
                subagents,
            })
        })
    }
}

/// What is kept of the things that stand with messages; what is not there any more is left out.
async fn attachments(sessions: &Sessions, id: &SessionId, items: &[Item]) -> BTreeMap<String, AttachmentContent> {
    let mut found = BTreeMap::new();
    for item in items {
        let ItemBody::Human { attachments, .. } = &item.body else { continue };
        for blob in attachments.iter().filter_map(|one| one.blob.as_ref()) {
            if !found.contains_key(blob)
                && let Ok(content) = sessions.attachment(id, blob).await
            {
                found.insert(blob.clone(), content);
            }
        }
    }
    found
}

fn child(item: &Item) -> Option<&SessionId> {
    match &item.body {
        ItemBody::Tool(tool) => tool.child.as_ref(),
        ItemBody::Human { .. } | ItemBody::Ai { .. } | ItemBody::Notice(_) => None,
    }
}
