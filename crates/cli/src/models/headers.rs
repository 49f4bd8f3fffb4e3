//! Headers of the person's own: as they are written, and kept in the keyring.

use bosun_providers::{Account, check_own_header};
use bosun_session::SessionError;
use bosun_store::{Key, Keys};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;

use super::keys::secret_line;
use super::{Models, wrong};
use crate::failure::Failure;
use crate::terminal::one_line;

/// A header as it was written or asked for; one without a value is to go.
pub(super) struct OwnHeader {
    pub name: String,
    pub value: Zeroizing<String>,
}

/// A header as it is written, or with its value asked for.
pub(super) fn read(header: &str) -> Result<OwnHeader, Failure> {
    let (name, value) = match header.split_once('=') {
        Some((name, value)) => (name, Zeroizing::new(value.to_owned())),
        None => (header, secret_line(&format!("Value of the header {}", one_line(header)))?),
    };
    let (name, value) = (name.trim().to_owned(), Zeroizing::new(value.trim().to_owned()));
    if value.is_empty() && !header.contains('=') {
        return Err(Failure::HeaderEmpty { header: name });
    }
    check_own_header(&[], &name, &value).map_err(wrong)?;
    Ok(OwnHeader { name, value })
}

/// Keeps a header for `account`, or takes it away. Where the keyring does not take it, what it said; one that was not
/// there before is not there then either.
pub(super) async fn keep(
    models: &Models,
    kept: &Keys,
    account: &Account,
    OwnHeader { name, value }: OwnHeader,
) -> Result<Option<String>, Failure> {
    let host = account.host();
    let shown = kept.shown_headers(&account.id, &host).await?;
    check_own_header(&shown, &name, &value).map_err(wrong)?;
    let value = SecretString::from(value.as_str());
    models.secrets.learn(&value);
    let place = kept.set_header(&account.id, &host, &name, value).await.map_err(SessionError::from)?;
    let refused = refusal(&place);
    if refused.is_some() && !shown.iter().any(|shown| shown.eq_ignore_ascii_case(&name)) {
        // A keyring that may have it after all does not let go of it now: its name stays, to be taken away by.
        kept.set_header(&account.id, &host, &name, SecretString::from("")).await.ok();
    }
    Ok(refused)
}

/// What the keyring said where it did not take a secret.
pub(super) fn refusal(place: &Key) -> Option<String> {
    match place {
        Key::InMemory { reason, .. } | Key::Locked { reason } => Some(reason.to_string()),
        Key::InKeyring(_) | Key::Missing => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bosun_backend::BoxFuture;
    use bosun_providers::{EnvironmentKeys, Family};
    use bosun_store::{Database, MemorySecrets, SecretError, SecretStore};

    use super::*;

    struct LockedSecrets;

    impl SecretStore for LockedSecrets {
        fn get<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
            Box::pin(async { Err(SecretError::Locked) })
        }

        fn set<'a>(&'a self, _: &'a str, _: &'a str, _: SecretString) -> BoxFuture<'a, Result<(), SecretError>> {
            Box::pin(async { Err(SecretError::Locked) })
        }

        fn remove<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
            Box::pin(async { Err(SecretError::Locked) })
        }
    }

    /// The window shows none of them after a restart, and counts none.
    #[tokio::test]
    async fn headers_of_an_earlier_run_that_no_keyring_took_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let account = Account::new("gate", "Gate", Family::OpenAiChat, "https://gate.example/v1");
        let earlier = Keys::new(Arc::new(LockedSecrets), Some(Arc::clone(&database)));
        for number in 0..20 {
            earlier.set_header("gate", "gate.example", &format!("X-{number}"), "on".into()).await.unwrap();
        }
        let keys = Keys::new(Arc::new(MemorySecrets::default()), Some(Arc::clone(&database)));
        let models = Models::new(Some(database), EnvironmentKeys::default());
        let header = |number: usize| OwnHeader { name: format!("X-New-{number}"), value: "on".to_owned().into() };
        for number in 0..20 {
            assert!(keep(&models, &keys, &account, header(number)).await.is_ok_and(|refused| refused.is_none()));
        }
        let full = keep(&models, &keys, &account, header(20)).await.unwrap_err().to_string();
        assert!(full.contains("at most 20 headers"), "{full}");
    }
}
