use bosun_agent::EntryBody;
use bosun_protocol::{ErrorCode, SessionId, SessionSummary};
use serde_json::{Value, json};

use super::Sessions;
use crate::SessionError;

/// How long a deleted session can be brought back.
const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Longest title, in characters.
const TITLE: usize = 200;

/// A session's place in lists.
impl Sessions {
    /// Gives a session a title of the person's own.
    pub async fn rename(&self, session: &SessionId, title: &str) -> Result<(), SessionError> {
        let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect();
        if title.is_empty() {
            return Err(SessionError::new(ErrorCode::Invalid, "a title needs some letters"));
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

    /// Deletes a session, a turn that runs in it is stopped. For 30 days [`Self::restore`] brings it back.
    pub async fn delete(&self, session: &SessionId) -> Result<(), SessionError> {
        self.actor(session).await?.stop().await?;
        let at = Some(self.inner.clock.now_ms());
        self.record(session, EntryBody::Discarded { at }).await
    }

    /// Brings a deleted session back as it was.
    pub async fn restore(&self, session: &SessionId) -> Result<(), SessionError> {
        self.record(session, EntryBody::Discarded { at: None }).await
    }

    async fn record(&self, session: &SessionId, entry: EntryBody) -> Result<(), SessionError> {
        Ok(self.actor(session).await?.log.record(vec![entry]).await?)
    }

    /// Removes for good what was deleted long enough ago.
    pub(super) async fn purge(&self) -> Result<(), SessionError> {
        let long_ago = self.inner.clock.now_ms() - KEPT_MS;
        for stored in self.inner.database.all_sessions().await? {
            let deleted_at = summary_of(stored.summary).and_then(|summary| summary.deleted_at);
            if deleted_at.is_some_and(|at| at < long_ago) {
                self.inner.database.purge_session(&stored.id).await?;
            }
        }
        Ok(())
    }
}

/// A summary as some version of Bosun stored it: what that one did not know is as by default.
pub(super) fn summary_of(mut stored: Value) -> Option<SessionSummary> {
    let fields = stored.as_object_mut()?;
    for (name, value) in [("pinned", json!(false)), ("archived", json!(false)), ("deleted_at", Value::Null)] {
        fields.entry(name).or_insert(value);
    }
    serde_json::from_value(stored).ok()
}
