use std::sync::Arc;

use bosun_backend::BlobStore;
use bosun_session::{Limits, ModelSource, PermissionRule, Policy, Sessions, SessionsParts, SystemClock, UuidSource};
use bosun_store::{Database, KeyringSecrets, Keys};

use crate::failure::Failure;

/// The data folder, opened.
pub(crate) struct Stored {
    pub database: Arc<Database>,
    pub blobs: Arc<BlobStore>,
}

impl Stored {
    /// Opens the data folder, making it where it is missing. Blocks for a few milliseconds.
    pub(crate) fn open() -> Result<Self, Failure> {
        let folder = bosun_store::data_folder().ok_or(Failure::NoDataFolder)?;
        let database = Database::open(&folder)?;
        let blobs = Arc::new(BlobStore::open(database.blobs_folder())?);
        Ok(Self { database, blobs })
    }
}

/// The system's keyring, as far as the data folder knows what is in it.
pub(crate) fn keyring(database: &Arc<Database>) -> Arc<Keys> {
    Arc::new(Keys::new(Arc::new(KeyringSecrets), Some(Arc::clone(database))))
}

/// The sessions over `stored`, or over nothing that lasts.
pub(crate) async fn open_sessions(
    stored: Option<&Stored>,
    models: Arc<dyn ModelSource>,
    policy: Policy,
    limits: Limits,
) -> Result<Sessions, Failure> {
    let parts = SessionsParts {
        database: stored.map(|stored| Arc::clone(&stored.database)),
        blobs: stored.map(|stored| Arc::clone(&stored.blobs)),
        models,
        policy,
        limits,
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidSource),
    };
    Ok(Sessions::open(parts).await?)
}

/// A rule under the name that the record keeps of it.
pub(crate) fn allow(name: &str) -> PermissionRule {
    PermissionRule::Allow { name: name.to_owned() }
}

pub(crate) fn allow_all(name: &str) -> PermissionRule {
    PermissionRule::AllowAll { name: name.to_owned() }
}

pub(crate) fn reject(name: &str) -> PermissionRule {
    PermissionRule::Reject { name: name.to_owned() }
}
