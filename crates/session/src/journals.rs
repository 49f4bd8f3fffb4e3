use std::collections::HashSet;

use bosun_agent::{BoxFuture, EntryBody, Recorded, Seq, SessionId};
use bosun_store::Database;
use bosun_tools::ChangeRecord;

use crate::SessionError;

/// The journals of a session and of all subagents below it.
pub(crate) struct Journals {
    pub id: SessionId,
    /// Names of the agents from the root's to this one.
    pub path: Vec<String>,
    pub entries: Vec<Recorded>,
    pub children: Vec<Journals>,
}

impl Journals {
    pub(crate) async fn read(database: &Database, root: &SessionId) -> Result<Self, SessionError> {
        Self::below(database, root.clone(), vec!["main".into()]).await
    }

    fn below(database: &Database, id: SessionId, path: Vec<String>) -> BoxFuture<'_, Result<Self, SessionError>> {
        Box::pin(async move {
            let entries = database.entries(&id, 0).await?;
            let mut children = Vec::new();
            for stored in database.children(&id).await? {
                let name = stored.summary.get("name").and_then(|name| name.as_str()).unwrap_or_default();
                let path = path.iter().cloned().chain([name.to_owned()]).collect();
                children.push(Self::below(database, stored.id, path).await?);
            }
            Ok(Self { id, path, entries, children })
        })
    }

    /// Every change of a file behind the entry `after` of the root, in the order in which they happened. A subagent
    /// belongs to the step that sent it out.
    pub(crate) fn changes_after(&self, after: Seq) -> Vec<ChangeRecord> {
        let mut dated: Vec<(i64, ChangeRecord)> = Vec::new();
        self.collect(after, &mut dated);
        dated.sort_by_key(|(at, _)| *at);
        dated.into_iter().map(|(_, record)| record).collect()
    }

    fn collect(&self, after: Seq, dated: &mut Vec<(i64, ChangeRecord)>) {
        let mut sent: HashSet<&SessionId> = HashSet::new();
        for recorded in self.entries.iter().filter(|recorded| recorded.seq > after) {
            match &recorded.entry.body {
                EntryBody::ToolResult { artifact, .. } => {
                    dated.extend(artifact.changes.iter().map(|change| (recorded.entry.at, change.clone())));
                }
                EntryBody::Restored { changes } => {
                    dated.extend(changes.iter().map(|change| (recorded.entry.at, change.clone())));
                }
                EntryBody::SubagentStarted { child, .. } => {
                    sent.insert(child);
                }
                _ => {}
            }
        }
        for child in self.children.iter().filter(|child| sent.contains(&child.id)) {
            child.collect(0, dated);
        }
    }
}
