use std::collections::HashMap;

use bosun_agent::{EntryBody, Seq, SessionId as CoreId};
use bosun_model::CallId;
use bosun_protocol::{ItemId, Problem, ProjectId, SearchHit, SearchSessions, SessionId, SessionSummary};
use bosun_store::{FoundEntry, StoredSession};
use serde_json::{Value, json};

use super::Sessions;
use crate::SessionError;
use crate::projection::row_of_call;
use crate::search::{searchable, snippet};

/// Most places that one search gives.
const MOST_HITS: u32 = 200;

/// Longest title, in characters.
const TITLE: usize = 200;

/// A session's place in lists.
impl Sessions {
    /// Gives a session a title of the person's own.
    pub async fn rename(&self, session: &SessionId, title: &str) -> Result<(), SessionError> {
        let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect();
        if title.is_empty() {
            return Err(SessionError::invalid(Problem::EmptyTitle));
        }
        self.record(session, EntryBody::Titled { title }).await
    }

    /// Puts a session at the top of lists, or back into its place.
    pub async fn pin(&self, session: &SessionId, pinned: bool) -> Result<(), SessionError> {
        self.record(session, EntryBody::Pinned { pinned }).await
    }

    /// Takes a session out of sight, or brings it back.
    pub async fn archive(&self, session: &SessionId, archived: bool) -> Result<(), SessionError> {
        self.record(session, EntryBody::Archived { archived }).await
    }

    /// Deletes a session; a turn that runs in it and subagents that work beside it are stopped. For 30 days
    /// [`Self::restore`] brings it back.
    pub async fn delete(&self, session: &SessionId) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        actor.stop().await?;
        actor.log.background().end_all().await;
        let at = Some(self.inner.clock.now_ms());
        self.record(session, EntryBody::Discarded { at }).await
    }

    /// Brings a deleted session back as it was.
    pub async fn restore(&self, session: &SessionId) -> Result<(), SessionError> {
        self.record(session, EntryBody::Discarded { at: None }).await
    }

    /// Where the words of `query` were said, best first; sessions that were deleted are left out.
    pub async fn search(&self, query: &SearchSessions) -> Result<Vec<SearchHit>, SessionError> {
        self.index_older().await?;
        let limit = query.limit.clamp(1, MOST_HITS);
        let project = query.project.as_ref().map(ProjectId::as_str);
        // Some are of sessions that are not shown.
        let found = self.inner.database.search_entries(&query.text, project, limit.saturating_mul(2)).await?;
        let mut roots: HashMap<CoreId, Option<SessionSummary>> = HashMap::new();
        let mut hits = Vec::new();
        for FoundEntry { session, recorded } in found {
            let Some((item, text)) = searchable(&recorded.entry.body) else { continue };
            if !roots.contains_key(&session) {
                let stored = self.root_session(&session).await?;
                roots.insert(session.clone(), self.summaries_of(vec![stored]).await?.pop());
            }
            let Some(Some(summary)) = roots.get(&session) else { continue };
            if hits.len() >= limit as usize {
                break;
            }
            let item = match &recorded.entry.body {
                EntryBody::ToolResult { call_id, .. } => self.row_of(&session, recorded.seq, call_id).await?,
                _ => item,
            };
            hits.push(SearchHit {
                session: summary.clone(),
                found_in: SessionId::new(session.as_str()),
                item,
                at: recorded.entry.at,
                snippet: snippet(&text, &query.text),
            });
        }
        Ok(hits)
    }

    /// The row of a call whose result stands at `seq`.
    async fn row_of(&self, session: &CoreId, seq: Seq, call: &CallId) -> Result<Option<ItemId>, SessionError> {
        let id = call.clone();
        let proposed = self.inner.database.entry_before(session, seq, move |body| row_of_call(body, &id).is_some());
        Ok(proposed.await?.and_then(|recorded| row_of_call(&recorded.entry.body, call)))
    }

    /// Sessions from before there was an index get theirs now.
    async fn index_older(&self) -> Result<(), SessionError> {
        for session in self.inner.database.unindexed_sessions().await? {
            let entries = match self.inner.database.entries(&session, 0).await {
                Ok(entries) => entries,
                Err(error) => {
                    tracing::warn!(%error, %session, "a session cannot be searched");
                    Vec::new()
                }
            };
            let texts = entries.iter().filter_map(|entry| Some((entry.seq, searchable(&entry.entry.body)?.1)));
            self.inner.database.index_session(&session, texts.collect()).await?;
        }
        Ok(())
    }

    async fn record(&self, session: &SessionId, entry: EntryBody) -> Result<(), SessionError> {
        Ok(self.actor(session).await?.log.record(vec![entry]).await?)
    }
}

/// What lists show of a stored session. Its project is the one whose it is now: another one may have given way to that.
pub(super) fn summary_in(stored: StoredSession) -> Option<SessionSummary> {
    Some(SessionSummary { project: ProjectId::new(stored.project), ..summary_of(stored.summary)? })
}

/// A summary as some version of Bosun stored it: what that one did not know is as by default.
pub(super) fn summary_of(mut stored: Value) -> Option<SessionSummary> {
    let fields = stored.as_object_mut()?;
    for (name, value) in [("pinned", json!(false)), ("archived", json!(false)), ("deleted_at", Value::Null)] {
        fields.entry(name).or_insert(value);
    }
    serde_json::from_value(stored).ok()
}
