use std::sync::Arc;

use bosun_agent::Clock;
use bosun_backend::{
    Backend, BackendError, ContentHash, Expect, FileData, FileStamp, Namespace, Store, StoreBackend, StoreScope,
    Unwitnessed, VirtualPath,
};
use bosun_protocol::{ErrorCode, FileVersion, Problem, SessionId};
use bosun_store::{Database, KeyValueStore, StoredVersion};

use crate::{Explain, SessionError};

/// Files of one namespace of the store as the person's own hand changes them: memories, skills, subagents.
pub(crate) struct StoredFiles {
    database: Arc<Database>,
    store: Arc<dyn Store>,
    namespace: Namespace,
}

/// A file with who wrote it.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub path: VirtualPath,
    pub data: FileData,
    /// The session whose agent wrote it; `None`: the person.
    pub author: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    pub updated_at: i64,
}

impl StoredFile {
    pub(crate) fn text(&self) -> Option<String> {
        text_of(&self.data)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.data.bytes().unwrap_or_default()
    }

    pub(crate) fn revision(&self) -> String {
        ContentHash::of(&self.bytes()).to_string()
    }
}

impl StoredFiles {
    pub(crate) fn new(
        database: Arc<Database>,
        clock: Arc<dyn Clock>,
        scope: &StoreScope,
        kind: &str,
    ) -> Result<Self, SessionError> {
        let namespace = scope.namespace(kind).map_err(|error| SessionError::invalid(error.problem()))?;
        let store = Arc::new(KeyValueStore::new(Arc::clone(&database), clock));
        Ok(Self { database, store, namespace })
    }

    pub(crate) fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(crate) fn backend(&self) -> StoreBackend {
        StoreBackend::new(Arc::clone(&self.store), self.namespace.clone())
    }

    /// Everything there is, by path. Values that are no files are passed over, as the agent's tools do.
    pub(crate) async fn all(&self) -> Result<Vec<StoredFile>, SessionError> {
        let values = self.database.values(&self.namespace).await?;
        let file = |value: bosun_store::StoredValue| {
            Some(StoredFile {
                path: VirtualPath::parse(&value.name).ok().filter(|path| path.as_str() == value.name)?,
                data: serde_json::from_value(value.value).ok()?,
                author: value.author,
                created_at: value.created_at,
                updated_at: value.updated_at,
            })
        };
        Ok(values.into_iter().filter_map(file).collect())
    }

    pub(crate) async fn find(&self, path: &VirtualPath) -> Result<Option<StoredFile>, SessionError> {
        Ok(self.all().await?.into_iter().find(|file| file.path == *path))
    }

    pub(crate) async fn get(&self, path: &VirtualPath) -> Result<StoredFile, SessionError> {
        self.find(path).await?.ok_or_else(|| gone(path))
    }

    /// Keeps `bytes` under `path`.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where something else than `base` is there (an agent may have written meanwhile), or it is
    /// over [`StoreBackend::LARGEST_FILE`].
    pub(crate) async fn save(
        &self,
        path: &VirtualPath,
        bytes: Vec<u8>,
        base: Option<&str>,
    ) -> Result<(), SessionError> {
        let expect = match base {
            None => Expect::Absent,
            Some(base) => Expect::Unchanged(self.stamp(path, base).await?),
        };
        self.backend().write(path, bytes, expect, &Unwitnessed).await.map_err(refused)?;
        Ok(())
    }

    /// Keeps `bytes` whatever is there: an import, or an earlier version that comes back. History has what was there.
    pub(crate) async fn replace(&self, path: &VirtualPath, bytes: Vec<u8>) -> Result<(), SessionError> {
        self.backend().write(path, bytes, Expect::Anything, &Unwitnessed).await.map_err(refused)?;
        Ok(())
    }

    /// # Errors
    /// [`ErrorCode::Invalid`] where it is not what `base` says.
    async fn stamp(&self, path: &VirtualPath, base: &str) -> Result<FileStamp, SessionError> {
        let now = self.get(path).await?;
        let hash = ContentHash::of(&now.bytes());
        if hash.as_str() != base {
            return Err(changed(path));
        }
        Ok(FileStamp {
            device: 0,
            inode: 0,
            size: now.data.size(),
            modified_ns: now.data.modified_ns(),
            hash: Some(hash),
        })
    }

    pub(crate) async fn delete(&self, path: &VirtualPath) -> Result<(), SessionError> {
        let deleted = self.store.delete(&self.namespace, path.as_str()).await.map_err(unavailable)?;
        if deleted { Ok(()) } else { Err(gone(path)) }
    }

    /// The earlier versions of a file, newest first.
    pub(crate) async fn versions(&self, path: &VirtualPath) -> Result<Vec<StoredVersion>, SessionError> {
        Ok(self.database.versions(&self.namespace, path.as_str()).await?)
    }

    /// The text of an earlier version; `None` where it is no text.
    pub(crate) async fn version_text(&self, path: &VirtualPath, number: i64) -> Result<Option<String>, SessionError> {
        let version = self.version(path, number).await?;
        Ok(data_of(&version).and_then(|data| text_of(&data)))
    }

    /// Puts an earlier version in place, of a deleted file too.
    pub(crate) async fn restore(&self, path: &VirtualPath, number: i64) -> Result<(), SessionError> {
        let version = self.version(path, number).await?;
        let bytes = data_of(&version).and_then(|data| data.bytes().ok());
        let bytes = bytes.ok_or_else(|| SessionError::invalid(Problem::VersionUnreadable))?;
        self.replace(path, bytes).await
    }

    /// The last version of what was deleted, the last deleted first.
    pub(crate) async fn deleted(&self) -> Result<Vec<(VirtualPath, StoredVersion)>, SessionError> {
        let versions = self.database.deleted_values(&self.namespace).await?;
        Ok(versions
            .into_iter()
            .filter_map(|version| Some((VirtualPath::parse(&version.name).ok()?, version)))
            .collect())
    }

    async fn version(&self, path: &VirtualPath, number: i64) -> Result<StoredVersion, SessionError> {
        let versions = self.versions(path).await?;
        let unknown = || SessionError::not_found(Problem::VersionGone);
        versions.into_iter().find(|version| version.number == number).ok_or_else(unknown)
    }
}

/// The file that a version was; `None` where it was no file.
pub(crate) fn data_of(version: &StoredVersion) -> Option<FileData> {
    serde_json::from_value(version.value.clone()).ok()
}

/// Versions as the window shows them.
pub(crate) fn shown(versions: &[StoredVersion]) -> Vec<FileVersion> {
    let version = |version: &StoredVersion| FileVersion {
        number: version.number,
        size: data_of(version).map_or(0, |data| data.size()),
        author: version.author.as_deref().map(SessionId::new),
        written_at: version.written_at,
        ended_at: version.ended_at,
    };
    versions.iter().map(version).collect()
}

/// The words of a file; `None` where it is no text.
pub(crate) fn text_of(data: &FileData) -> Option<String> {
    String::from_utf8(data.bytes().ok()?).ok().filter(|text| !text.contains('\0'))
}

/// A path as a person or the window gives it.
pub(crate) fn path_of(path: &str) -> Result<VirtualPath, SessionError> {
    let path = VirtualPath::parse(path).map_err(|error| SessionError::invalid(error.problem()))?;
    if path.is_root() || path.name().is_some_and(|name| name.chars().any(char::is_control)) {
        return Err(SessionError::invalid(Problem::NameMissing));
    }
    Ok(path)
}

fn refused(error: BackendError) -> SessionError {
    match error {
        BackendError::AlreadyExists { path } => SessionError::invalid(Problem::NameTaken { path: path.to_string() }),
        BackendError::Changed { path, .. } => changed(&path),
        error @ BackendError::TooLargeToKeep { .. } => SessionError::invalid(error.problem()),
        error => SessionError::of(ErrorCode::StorageUnavailable, &error),
    }
}

fn changed(path: &VirtualPath) -> SessionError {
    SessionError::invalid(Problem::EditedMeanwhile { path: path.to_string() })
}

fn gone(path: &VirtualPath) -> SessionError {
    SessionError::not_found(Problem::Gone { path: path.to_string() })
}

fn unavailable(error: bosun_backend::StoreError) -> SessionError {
    SessionError::of(ErrorCode::StorageUnavailable, &error)
}
