use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_protocol::{Storage, StorageKind, StoragePart};

use super::Sessions;
use super::exports::write_new;
use crate::SessionError;

/// What is kept on this machine, and what a person may hand to somebody who helps them.
impl Sessions {
    pub async fn storage(&self) -> Result<Storage, SessionError> {
        let database = self.database();
        let weighing = Arc::clone(&database);
        let sizes = tokio::task::spawn_blocking(move || weighing.sizes()).await.unwrap_or_default();
        let mut parts: BTreeMap<StorageKind, u64> = BTreeMap::new();
        for (name, bytes) in sizes {
            *parts.entry(kind_of(&name)).or_default() += bytes;
        }
        let mut parts: Vec<StoragePart> =
            parts.into_iter().map(|(kind, bytes)| StoragePart { kind, bytes }).filter(|part| part.bytes > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Storage {
            folder: database.folder().to_string_lossy().into_owned(),
            parts,
            projects: number(database.projects().await?.len()),
            sessions: number(database.all_sessions().await?.len()),
        })
    }

    /// Writes a text into `folder`, under a name that no file there has yet.
    pub async fn write_text(&self, folder: &Path, stem: &str, text: &str) -> Result<PathBuf, SessionError> {
        write_new(folder, stem, ".txt", text.as_bytes().to_vec()).await
    }
}

/// What a thing in the data folder is, by its name.
fn kind_of(name: &str) -> StorageKind {
    match name {
        "blobs" => StorageKind::Blobs,
        "logs" => StorageKind::Logs,
        "webview" => StorageKind::Page,
        name if name.starts_with("bosun.db.") => StorageKind::Backups,
        name if name.starts_with("bosun.db") => StorageKind::Database,
        _ => StorageKind::Other,
    }
}
