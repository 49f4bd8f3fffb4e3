//! The only SQLite and the only keyring: journals, sessions, projects, settings, provider accounts, the key-value store,
//! secrets.
//!
//! **Owns** the database file and everything about its safety: one writer thread with group commit, WAL with full
//! sync, migrations with a backup, refusals that never replace a file. **Must not** know a model, a tool or what an
//! entry means: a journal entry is JSON with a place. Keys are never in the database.
//!
//! Start reading at [`Database`], then [`SessionJournal`], then [`SecretStore`].
#![allow(clippy::disallowed_methods, reason = "this crate is the room for the database and its folder")]

mod accounts;
mod body;
mod data_folder;
mod database;
mod error;
mod garbage;
mod journal;
mod key_value;
mod keys;
mod migrations;
mod model_calls;
mod projects;
mod search;
mod secrets;
mod sessions;
mod settings;
mod sizes;
mod trusted;
mod versions;
mod writer;

pub use data_folder::{data_folder, default_data_folder};
pub use database::Database;
pub use error::{DatabaseError, FolderTrouble, OpenError};
pub use journal::{Append, Listed, SessionJournal};
pub use key_value::KeyValueStore;
pub use keys::{Header, Key, KeyError, Keys, PROXY_LOGIN, key_from_environment};
pub use migrations::FORMAT;
pub use model_calls::{CallSum, CallingAgent, StoredCall};
pub use projects::{ProjectMove, StoredProject};
pub use search::{FoundEntry, words_of};
pub use secrets::{KeyringSecrets, MemorySecrets, SecretError, SecretStore};
pub use sessions::{DesktopClaim, NewSession, SessionClaim, StoredSession};
pub use settings::{APP_SETTINGS, LISTED_MODELS, MODEL_SETTINGS};
pub use trusted::{StoredVerdict, Verdict};
pub use versions::{StoredValue, StoredVersion};
