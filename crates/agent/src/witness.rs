use std::sync::Arc;

use bosun_backend::{BackendError, BlobError, BlobStore, ChangeWitness, ContentHash, PlannedChange};
use bosun_model::CallId;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::{BoxFuture, ChangeIntent, EntryBody, SessionLog};

/// Contents of files written at the same time: the disk syncs several at the price of few.
const KEPT_AT_ONCE: usize = 16;

/// Keeps the bytes before and after a change as blobs and records the intent, all before the change happens: what a
/// session did can be counted, undone and done again from blobs alone.
pub(crate) struct JournalWitness {
    pub log: Arc<SessionLog>,
    pub blobs: Option<Arc<BlobStore>>,
    pub call_id: CallId,
    /// After a stop no change begins any more, so that what the call changed can be told.
    pub cancel: CancellationToken,
}

impl JournalWitness {
    async fn keep(&self, bytes: Option<&Arc<[u8]>>) -> Result<Option<ContentHash>, BlobError> {
        match (bytes, &self.blobs) {
            (None, _) => Ok(None),
            (Some(bytes), None) => Ok(Some(ContentHash::of(bytes))),
            (Some(bytes), Some(blobs)) => Ok(Some(blobs.put(Arc::clone(bytes)).await?)),
        }
    }
}

impl JournalWitness {
    async fn intent(&self, change: PlannedChange) -> Result<ChangeIntent, BackendError> {
        let not_recorded = |reason: String| BackendError::NotRecorded { path: change.path.clone(), reason };
        let (before, after) = tokio::try_join!(self.keep(change.before.as_ref()), self.keep(change.after.as_ref()))
            .map_err(|error| not_recorded(error.to_string()))?;
        // Too large to be kept, but known by its name.
        let before = before.or_else(|| change.unkept.and_then(|stamp| stamp.hash));
        Ok(ChangeIntent { path: change.path.clone(), before, after, mode: change.mode })
    }
}

impl ChangeWitness for JournalWitness {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        self.intend_all(vec![change])
    }

    fn intend_all(&self, changes: Vec<PlannedChange>) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            let Some(path) = changes.first().map(|change| change.path.clone()) else { return Ok(()) };
            if self.cancel.is_cancelled() {
                return Err(BackendError::Cancelled);
            }
            let intents = stream::iter(changes).map(|change| self.intent(change)).buffered(KEPT_AT_ONCE);
            let intents: Vec<ChangeIntent> = intents.try_collect().await?;
            let entry = |intent| EntryBody::ChangeIntended { call_id: self.call_id.clone(), intent };
            let entries = intents.into_iter().map(entry).collect();
            let recorded = self.log.record(entries).await;
            recorded.map_err(|error| BackendError::NotRecorded { path, reason: error.to_string() })
        })
    }
}
