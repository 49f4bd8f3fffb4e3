use std::sync::Arc;

use bosun_backend::{BlobError, BlobStore};
use bosun_tools::{DiffLimits, file_diff};

use crate::projection::Span;
use crate::states::FileState;
use crate::stream::Stream;

/// Only the number of lines is wanted.
const NOTHING: DiffLimits = DiffLimits { lines: 0, characters: 0 };

impl Stream {
    /// Counts what the changes of this session, and of those above it, come to: from the bytes before the first change
    /// to the bytes after the last, so that what was edited and edited back counts as nothing, and what others did in between
    /// neither.
    pub(crate) async fn count_changes(self: &Arc<Self>, blobs: &BlobStore) {
        for stream in self.lineage() {
            loop {
                let spans = stream.read(|projection| projection.uncounted());
                if spans.is_empty() {
                    break;
                }
                for span in spans {
                    let lines = match stream.lines_of(&span, blobs).await {
                        Ok(lines) => Some(lines),
                        Err(error) => {
                            tracing::warn!(%error, path = %span.path, "the lines of a change could not be counted");
                            None
                        }
                    };
                    stream.update(|projection| projection.counted(&span, lines));
                }
            }
        }
    }
}

impl Stream {
    async fn lines_of(&self, span: &Span, blobs: &BlobStore) -> Result<(u32, u32), CountError> {
        let before = FileState::of(span.before.clone());
        let before = self.folds.with(before, &span.between, blobs).await.bytes(blobs).await?;
        let after = FileState::of(span.after.clone()).bytes(blobs).await?;
        let path = span.path.clone();
        let count = move || {
            let diff = file_diff(&path, before.as_deref(), after.as_deref(), NOTHING);
            (diff.added, diff.removed)
        };
        Ok(tokio::task::spawn_blocking(count).await?)
    }
}

#[derive(Debug, thiserror::Error)]
enum CountError {
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("comparing ended early: {0}")]
    Comparing(#[from] tokio::task::JoinError),
}
