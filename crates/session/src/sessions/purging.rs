use bosun_backend::{BlobUsage, ContentHash, Swept};

use super::Sessions;
use super::lists::summary_of;
use crate::SessionError;

/// How long a deleted session can be brought back.
const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

impl Sessions {
    /// Removes for good what was deleted long enough ago. The bytes that only that had go afterwards, beside everything
    /// else.
    pub(super) async fn purge(&self) -> Result<(), SessionError> {
        let long_ago = self.inner.clock.now_ms() - KEPT_MS;
        for stored in self.inner.database.all_sessions().await? {
            let deleted_at = summary_of(stored.summary).and_then(|summary| summary.deleted_at);
            if deleted_at.is_some_and(|at| at < long_ago) {
                self.inner.database.purge_session(&stored.id).await?;
            }
        }
        let sessions = self.clone();
        self.inner.tasks.spawn(async move {
            match sessions.sweep().await {
                Ok(freed) if freed.blobs > 0 => tracing::info!(freed.blobs, freed.bytes, "kept bytes were removed"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "kept bytes that nothing names any more stay for now"),
            }
        });
        Ok(())
    }

    /// Removes the kept bytes that only purged sessions named. What was cut is done at the next start.
    pub(crate) async fn sweep(&self) -> Result<BlobUsage, SessionError> {
        let Some(blobs) = &self.inner.blobs else { return Ok(BlobUsage::default()) };
        let unnamed = self.inner.database.unnamed_content().await?;
        let hashes: Vec<ContentHash> = unnamed.iter().filter_map(|hash| ContentHash::from_hex(hash)).collect();
        let swept = blobs.sweep(hashes).await;
        let unavailable =
            |error: bosun_backend::BlobError| SessionError::of(bosun_protocol::ErrorCode::StorageUnavailable, &error);
        let Swept { freed, young } = swept.map_err(unavailable)?;
        self.inner.database.content_swept(young.iter().map(ToString::to_string).collect()).await?;
        Ok(freed)
    }
}
