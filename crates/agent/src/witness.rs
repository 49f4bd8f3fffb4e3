use std::sync::Arc;

use bosun_backend::{BackendError, BlobStore, ChangeWitness, ContentHash, PlannedChange};
use bosun_model::CallId;

use crate::{BoxFuture, ChangeIntent, EntryBody, SessionLog};

/// Keeps the bytes before a change as a blob and records the intent, both before the change happens.
pub(crate) struct JournalWitness {
    pub log: Arc<SessionLog>,
    pub blobs: Option<Arc<BlobStore>>,
    pub call_id: CallId,
}

impl ChangeWitness for JournalWitness {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            let not_recorded = |reason: String| BackendError::NotRecorded { path: change.path.clone(), reason };
            let before = match (&change.before, &self.blobs) {
                (None, _) => None,
                (Some(bytes), None) => Some(ContentHash::of(bytes)),
                (Some(bytes), Some(blobs)) => {
                    let hash = blobs.put(Arc::clone(bytes)).await.map_err(|error| not_recorded(error.to_string()))?;
                    Some(hash)
                }
            };
            let after = change.after.as_deref().map(ContentHash::of);
            let intent = ChangeIntent { path: change.path.clone(), before, after, mode: change.mode };
            let entry = EntryBody::ChangeIntended { call_id: self.call_id.clone(), intent };
            self.log.record(vec![entry]).await.map_err(|error| not_recorded(error.to_string()))
        })
    }
}
