use bosun_protocol::SessionSummary;

use super::Sessions;
use super::lists::summary_in;
use crate::SessionError;

impl Sessions {
    /// The sessions of every project that were deleted and can still be brought back, the last deleted first.
    pub async fn deleted(&self) -> Result<Vec<SessionSummary>, SessionError> {
        let stored = self.inner.database.all_sessions().await?;
        let mut deleted: Vec<SessionSummary> = stored
            .into_iter()
            .filter_map(|stored| match self.inner.actors.get(&stored.id) {
                Some(actor) => Some(actor.stream.read(|projection| projection.view().session.clone())),
                None => summary_in(stored),
            })
            .filter(|summary| summary.deleted_at.is_some() && summary.parent.is_none())
            .collect();
        deleted.sort_by_key(|summary| std::cmp::Reverse(summary.deleted_at));
        Ok(deleted)
    }
}
