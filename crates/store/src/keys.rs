mod headers;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use crate::{Database, DatabaseError, MemorySecrets, SecretError, SecretStore};

pub use headers::Header;

/// Names of the accounts whose key was put into the keyring, as `account@host`. Not secret, and what tells a locked
/// keyring, which answers "no such key", from one that never had it.
const KEPT: &str = "keys_in_keyring";

/// Those of [`KEPT`] that the keyring was asked to keep and never showed to have. What it says of one of them counts: one
/// that it does not know was never there.
const UNSURE: &str = "keys_unsure";

/// The keys of the provider accounts: the keyring first, memory for this run where no keyring answers.
pub struct Keys {
    database: Option<Arc<Database>>,
    keyring: Arc<dyn SecretStore>,
    memory: MemorySecrets,
    /// What the keyring said when it did not take a key that is in memory now, by `account@host`.
    refusals: Mutex<HashMap<String, SecretError>>,
    /// When the keyring let itself be waited for in vain, and what is said of that.
    hung: Mutex<Option<(Instant, SecretError)>>,
}

/// How long a keyring that did not answer in time is not asked for another key: each would take as long again.
const REST: Duration = Duration::from_secs(30);

/// What is known of an account's key.
#[derive(Clone, Debug)]
pub enum Key {
    Missing,
    InKeyring(SecretString),
    /// For this run only; `reason` is what the keyring said.
    InMemory {
        key: SecretString,
        reason: SecretError,
    },
    /// One is kept, but the keyring does not give it out now.
    Locked {
        reason: SecretError,
    },
}

/// What is put into a keyring and taken out again to see whether it is open; no account is called so.
const TRIED: &str = "#tried";

/// What the name and the password of the settings' proxy are kept under; the host is the proxy's address.
pub const PROXY_LOGIN: &str = "#proxy";

impl Key {
    pub fn secret(&self) -> Option<&SecretString> {
        match self {
            Self::InKeyring(key) | Self::InMemory { key, .. } => Some(key),
            Self::Missing | Self::Locked { .. } => None,
        }
    }
}

/// Why a key was not kept or removed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeyError {
    /// What was to be removed is still there, and still known to be.
    #[error("the key is still in the keyring: {0}")]
    Stays(SecretError),
    /// Everything else went; what was to go with it is still there, and forgotten.
    #[error("Bosun no longer uses its key, but could not remove it from the keyring ({0}); remove it there")]
    Left(SecretError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Why a keyring is not counted on for a key.
enum NotKept {
    /// It did not take it.
    Refused(SecretError),
    /// It may have it, or get it yet.
    Unsure(SecretError),
}

impl Keys {
    pub fn new(keyring: Arc<dyn SecretStore>, database: Option<Arc<Database>>) -> Self {
        let (memory, refusals, hung) = (MemorySecrets::default(), Mutex::default(), Mutex::default());
        Self { database, keyring, memory, refusals, hung }
    }

    /// The key of `account` for `host`; one entered for another host is not found.
    pub async fn get(&self, account: &str, host: &str) -> Result<Key, DatabaseError> {
        if let Ok(Some(key)) = self.memory.get(account, host).await {
            let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
            // Nothing is in memory that the keyring took.
            let reason = refusals.get(&name(account, host)).cloned().unwrap_or(SecretError::Locked);
            return Ok(Key::InMemory { key, reason });
        }
        if !self.kept(account, host).await? {
            return Ok(Key::Missing);
        }
        Ok(match self.asked(account, host).await {
            Ok(Some(key)) => {
                if self.is_in(UNSURE, account, host).await? {
                    self.tidy(UNSURE, account, host).await;
                }
                Key::InKeyring(key)
            }
            Ok(None) if self.is_in(UNSURE, account, host).await? => Key::Missing,
            Ok(None) => Key::Locked { reason: SecretError::Locked },
            Err(reason) => Key::Locked { reason },
        })
    }

    /// What the keyring says, or said of another key a moment ago where it hung.
    async fn asked(&self, account: &str, host: &str) -> Result<Option<SecretString>, SecretError> {
        let hung = || self.hung.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reason)) = hung().as_ref().filter(|(since, _)| since.elapsed() < REST) {
            return Err(reason.clone());
        }
        let answer = self.keyring.get(account, host).await;
        *hung() = match &answer {
            Err(reason @ SecretError::Slow { .. }) => Some((Instant::now(), reason.clone())),
            _ => None,
        };
        answer
    }

    /// Keeps a key; one that is empty is removed. What comes back says where it is now.
    pub async fn set(&self, account: &str, host: &str, key: SecretString) -> Result<Key, KeyError> {
        if key.expose_secret().trim().is_empty() {
            self.remove(account, host).await?;
            return Ok(Key::Missing);
        }
        // Before the keyring is asked: it may take a key later than it is waited for, and what is not known to be there
        // could not be taken out.
        let was_there = self.kept(account, host).await?;
        if !was_there {
            self.mark(UNSURE, account, host, true).await?;
            self.mark(KEPT, account, host, true).await?;
        }
        let (reason, was_refused) = match self.kept_as_given(account, host, &key).await {
            Ok(()) => {
                *self.hung.lock().unwrap_or_else(PoisonError::into_inner) = None;
                // A key from before the keyring came back would otherwise win over this one.
                self.forget_memory(account, host).await;
                self.tidy(UNSURE, account, host).await;
                return Ok(Key::InKeyring(key));
            }
            Err(NotKept::Refused(reason)) => (reason, true),
            Err(NotKept::Unsure(reason)) => (reason, false),
        };
        // First: whatever else fails, what was typed is there for this run.
        if let Err(error) = self.memory.set(account, host, key.clone()).await {
            tracing::warn!(%error, "memory refused a key");
        }
        let refusals = || self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals().insert(name(account, host), reason.clone());
        if was_refused && !was_there {
            self.tidy(KEPT, account, host).await;
            self.tidy(UNSURE, account, host).await;
        }
        Ok(Key::InMemory { key, reason })
    }

    /// Puts a key into the keyring and looks whether it is there: some keyrings go on giving out the one before.
    async fn kept_as_given(&self, account: &str, host: &str, key: &SecretString) -> Result<(), NotKept> {
        match self.keyring.set(account, host, key.clone()).await {
            Ok(()) => {}
            // Its question may still be answered.
            Err(reason @ SecretError::Slow { .. }) => return Err(NotKept::Unsure(reason)),
            Err(reason) => return Err(NotKept::Refused(reason)),
        }
        match self.keyring.get(account, host).await.map_err(NotKept::Unsure)? {
            Some(kept) if kept.expose_secret() == key.expose_secret() => Ok(()),
            Some(_) => Err(NotKept::Unsure(SecretError::Other)),
            // Locked meanwhile.
            None => Err(NotKept::Unsure(SecretError::Locked)),
        }
    }

    /// Removes a key; one that is not there is removed.
    ///
    /// # Errors
    /// [`KeyError::Stays`] where the keyring does not let go of it: it stays, and stays known.
    pub async fn remove(&self, account: &str, host: &str) -> Result<(), KeyError> {
        // First: one that is in memory is in use.
        self.forget_memory(account, host).await;
        if self.kept(account, host).await? {
            self.taken_out(account, host).await.map_err(KeyError::Stays)?;
        }
        Ok(self.forget_mark(account, host).await?)
    }

    /// Takes the key and the headers of an account that is gone, or has moved on from `host`.
    ///
    /// # Errors
    /// [`KeyError::Left`], after everything, where the keyring does not let go of something. It is not used again.
    pub async fn let_go(&self, account: &str, host: &str) -> Result<(), KeyError> {
        let mut left = None;
        let mut slots = self.slots(account, host).await?;
        slots.push(account.to_owned());
        for slot in slots {
            self.forget_memory(&slot, host).await;
            // One that refused, or hung, is not asked about each.
            if left.is_none() && self.kept(&slot, host).await? {
                left = self.taken_out(&slot, host).await.err();
            }
            self.forget_mark(&slot, host).await?;
        }
        self.forget_headers(account, host).await?;
        left.map_or(Ok(()), |reason| Err(KeyError::Left(reason)))
    }

    /// Takes a key out of the keyring. One that is locked may say that it has none, but it takes none either: that is tried
    /// with nobody's, beside the key's own place, where nothing must stand that could be taken for one.
    async fn taken_out(&self, account: &str, host: &str) -> Result<(), SecretError> {
        if self.keyring.get(account, host).await?.is_none() {
            self.keyring.set(TRIED, host, SecretString::from(TRIED)).await?;
            self.keyring.remove(TRIED, host).await?;
        }
        self.keyring.remove(account, host).await?;
        match self.keyring.get(account, host).await? {
            None => Ok(()),
            Some(_) => Err(SecretError::Unremoved { reason: "it still gives the key out".to_owned() }),
        }
    }

    async fn forget_memory(&self, account: &str, host: &str) {
        if let Err(error) = self.memory.remove(account, host).await {
            tracing::warn!(%error, "memory kept a key that was to be removed");
        }
    }

    async fn kept(&self, account: &str, host: &str) -> Result<bool, DatabaseError> {
        self.is_in(KEPT, account, host).await
    }

    async fn is_in(&self, marks: &'static str, account: &str, host: &str) -> Result<bool, DatabaseError> {
        let Some(database) = &self.database else { return Ok(false) };
        let marked: Vec<String> = database.setting(marks).await?.unwrap_or_default();
        Ok(marked.contains(&name(account, host)))
    }

    async fn forget_mark(&self, account: &str, host: &str) -> Result<(), DatabaseError> {
        self.mark(KEPT, account, host, false).await?;
        self.mark(UNSURE, account, host, false).await
    }

    /// Takes a mark away that says more than is known. Where it stays, a key is looked for in vain, and nothing is lost.
    async fn tidy(&self, marks: &'static str, account: &str, host: &str) {
        if let Err(error) = self.mark(marks, account, host, false).await {
            tracing::warn!(%error, marks, "what is known of a key could not be written down");
        }
    }

    async fn mark(&self, marks: &'static str, account: &str, host: &str, there: bool) -> Result<(), DatabaseError> {
        let Some(database) = &self.database else { return Ok(()) };
        let name = name(account, host);
        // In one piece: keys of several accounts may come at once.
        let change = move |marked: &mut Vec<String>| -> Result<(), std::convert::Infallible> {
            marked.retain(|entry| *entry != name);
            if there {
                marked.push(name);
            }
            Ok(())
        };
        match database.change_setting(marks, change).await? {
            Ok(_) => Ok(()),
            Err(never) => match never {},
        }
    }
}

fn name(account: &str, host: &str) -> String {
    format!("{account}@{host}")
}

/// A key in the environment under the first of `variables` that is set, with the variable's name.
pub fn key_from_environment<'a>(
    variables: &[&'a str],
    variable: impl Fn(&str) -> Option<String>,
) -> Option<(&'a str, SecretString)> {
    variables.iter().find_map(|name| {
        let value = variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())?;
        Some((*name, SecretString::from(value)))
    })
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
