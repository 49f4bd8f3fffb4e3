use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bosun_agent::BoxFuture;
use keyring::{Entry, Error};
use secrecy::{ExposeSecret, SecretString};
use tokio::task::JoinError;

/// The service that Bosun's entries in the system's keyring are under.
const SERVICE: &str = "app.bosun.desktop";

/// Where provider keys are kept. A key is bound to the host it was entered for: for another host it is not found.
pub trait SecretStore: Send + Sync {
    /// `None`: nothing is kept under this account and host, as far as the store says.
    fn get<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>>;

    fn set<'a>(
        &'a self,
        account: &'a str,
        host: &'a str,
        secret: SecretString,
    ) -> BoxFuture<'a, Result<(), SecretError>>;

    /// Removing what is not there is fine.
    fn remove<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<(), SecretError>>;
}

/// A keyring that did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error(
        "no keyring responds on this system ({reason}); unlock or install one (for example gnome-keyring) to keep keys"
    )]
    Missing { reason: String },
    #[error("the keyring is locked; unlock it and try again")]
    Locked,
    #[error("the keyring did not answer within {seconds} seconds; answer its prompt or unlock it, then try again")]
    Slow { seconds: u64 },
    #[error(
        "the keyring returned a different key from the one it was given; enter the key again, or check the keyring"
    )]
    Other,
    #[error("the keyring did not accept the key: {reason}; unlock it and enter the key again")]
    Refused { reason: String },
    #[error("the keyring did not remove the entry: {reason}; unlock it and try again, or remove the entry there")]
    Unremoved { reason: String },
}

/// How long a keyring may take: a person may have to type a password first.
const PATIENCE: Duration = Duration::from_secs(90);

/// The system's keyring: Secret Service, macOS Keychain, Windows Credential Manager.
#[derive(Debug, Default)]
pub struct KeyringSecrets;

impl SecretStore for KeyringSecrets {
    fn get<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
        on_keyring(account, host, |entry| match entry.get_password() {
            Ok(secret) => Ok(Some(SecretString::from(secret))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn set<'a>(
        &'a self,
        account: &'a str,
        host: &'a str,
        secret: SecretString,
    ) -> BoxFuture<'a, Result<(), SecretError>> {
        on_keyring(account, host, move |entry| entry.set_password(secret.expose_secret()))
    }

    fn remove<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
        let removing = on_keyring(account, host, |entry| match entry.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(error),
        });
        Box::pin(async move {
            removing.await.map_err(|error| match error {
                SecretError::Refused { reason } => SecretError::Unremoved { reason },
                other => other,
            })
        })
    }
}

/// Runs `work` where it may block: a desktop may ask the user to unlock the keyring.
fn on_keyring<T: Send + 'static>(
    account: &str,
    host: &str,
    work: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
) -> BoxFuture<'static, Result<T, SecretError>> {
    let user = format!("{account}@{host}");
    Box::pin(async move {
        let run = move || {
            if let Err(error) = Entry::store_status() {
                return Err(SecretError::Missing { reason: error.to_string() });
            }
            Entry::new(SERVICE, &user).and_then(|entry| work(&entry)).map_err(|error| failure(&error))
        };
        patient(tokio::task::spawn_blocking(run)).await
    })
}

/// What a keyring answers in time. One that hangs keeps its thread and nobody else.
async fn patient<T>(answer: impl Future<Output = Result<Result<T, SecretError>, JoinError>>) -> Result<T, SecretError> {
    let late = |_| SecretError::Slow { seconds: PATIENCE.as_secs() };
    let answer = tokio::time::timeout(PATIENCE, answer).await.map_err(late)?;
    answer.map_err(|error| SecretError::Missing { reason: error.to_string() })?
}

fn failure(error: &Error) -> SecretError {
    match error {
        Error::NoStorageAccess(_) => SecretError::Locked,
        Error::NoDefaultStore | Error::PlatformFailure(_) => SecretError::Missing { reason: error.to_string() },
        other => SecretError::Refused { reason: other.to_string() },
    }
}

/// Keys for this run only. Never a file.
#[derive(Default)]
pub struct MemorySecrets {
    secrets: Mutex<HashMap<(String, String), SecretString>>,
}

impl MemorySecrets {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<(String, String), SecretString>) -> T) -> T {
        work(&mut self.secrets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SecretStore for MemorySecrets {
    fn get<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
        let found = self.with(|secrets| secrets.get(&(account.to_owned(), host.to_owned())).cloned());
        Box::pin(async move { Ok(found) })
    }

    fn set<'a>(
        &'a self,
        account: &'a str,
        host: &'a str,
        secret: SecretString,
    ) -> BoxFuture<'a, Result<(), SecretError>> {
        self.with(|secrets| secrets.insert((account.to_owned(), host.to_owned()), secret));
        Box::pin(async { Ok(()) })
    }

    fn remove<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
        self.with(|secrets| secrets.remove(&(account.to_owned(), host.to_owned())));
        Box::pin(async { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_of_a_keyring_says_what_to_do_about_it() {
        let words = || "the system's words".into();
        let missing = |reason: &str| SecretError::Missing { reason: reason.into() };
        let refused = |reason: &str| SecretError::Refused { reason: reason.into() };
        let cases = [
            (Error::NoStorageAccess(words()), SecretError::Locked),
            (Error::PlatformFailure(words()), missing("Platform failure: the system's words")),
            (Error::NoDefaultStore, missing(&Error::NoDefaultStore.to_string())),
            // The bytes of what was kept are in no sentence.
            (Error::BadEncoding(b"sk-canary".to_vec()), refused("Password data is not valid UTF-8")),
            (Error::TooLong("user".into(), 9), refused(&Error::TooLong("user".into(), 9).to_string())),
            (Error::Ambiguous(Vec::new()), refused(&Error::Ambiguous(Vec::new()).to_string())),
        ];
        for (error, expected) in cases {
            assert_eq!(failure(&error), expected, "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_keyring_that_hangs_is_given_up_and_one_that_is_slow_is_not() {
        let hung = patient(std::future::pending::<Result<Result<(), SecretError>, JoinError>>()).await;
        assert_eq!(hung, Err(SecretError::Slow { seconds: 90 }));
        let slow = patient(async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(Ok("key"))
        });
        assert_eq!(slow.await, Ok("key"));
    }
}
