//! What a sign-in leaves behind: the tokens of servers, kept by whoever keeps secrets.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};

use crate::BoxFuture;

/// Keeps what servers gave for a sign-in, each under its address, and the values of headers that a person entered, each
/// under its [`header_place`]. The text is a secret: it belongs into a keyring and
/// into no log.
pub trait TokenStore: Send + Sync {
    /// `None`: nobody has signed in there.
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<String>, TokenStoreError>>;

    fn save<'a>(&'a self, server: &'a str, secret: String) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Removing what is not there is fine.
    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// `text` of a server without the secrets that are known to whoever keeps them: servers repeat what they were sent.
    fn masked(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// The secrets in what a [`TokenStore`] keeps: the tokens of a sign-in, or the value of a header, with the scheme in front
/// of it and without.
pub fn secrets_in(kept: &str) -> Vec<String> {
    if let Ok(serde_json::Value::Object(sign_in)) = serde_json::from_str(kept) {
        let mut secrets = Vec::new();
        tokens_in(sign_in, &mut secrets);
        return secrets;
    }
    let (_scheme, secret) = kept.split_once(' ').unwrap_or(("", kept));
    let mut secrets = vec![kept.to_owned(), secret.trim().to_owned()];
    secrets.dedup();
    secrets
}

fn tokens_in(sign_in: serde_json::Map<String, serde_json::Value>, secrets: &mut Vec<String>) {
    for (name, value) in sign_in {
        match value {
            serde_json::Value::String(secret) if ["token", "secret"].iter().any(|end| name.ends_with(end)) => {
                secrets.push(secret);
            }
            serde_json::Value::Object(inner) => tokens_in(inner, secrets),
            _ => {}
        }
    }
}

/// Where the value of a server's header is kept: for the host it was entered for, whatever the path there. `None` where
/// `url` is no address.
pub fn header_place(server: &str, url: &str, header: &str) -> Option<String> {
    let origin = reqwest::Url::parse(url).ok()?.origin().ascii_serialization();
    Some(format!("{} of {server} at {origin}", header.to_ascii_lowercase()))
}

/// Tokens could not be read or kept, with the reason as half a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct TokenStoreError {
    pub reason: String,
}

/// Keeps tokens no longer than it lives.
#[derive(Default)]
pub struct UnkeptTokens(Mutex<BTreeMap<String, String>>);

impl UnkeptTokens {
    fn kept(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenStore for UnkeptTokens {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<String>, TokenStoreError>> {
        Box::pin(async move { Ok(self.kept().get(server).cloned()) })
    }

    fn save<'a>(&'a self, server: &'a str, secret: String) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async move {
            self.kept().insert(server.to_owned(), secret);
            Ok(())
        })
    }

    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async move {
            self.kept().remove(server);
            Ok(())
        })
    }
}

/// One server's place in a store, as the protocol's library wants it.
pub(crate) struct Place {
    pub store: Arc<dyn TokenStore>,
    pub server: String,
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

fn failed(error: impl std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

impl CredentialStore for Place {
    fn load<'a, 'b>(&'a self) -> Answer<'b, Option<StoredCredentials>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let Some(text) = self.store.load(&self.server).await.map_err(failed)? else { return Ok(None) };
            // What cannot be read is as good as nothing: signing in again mends it.
            Ok(serde_json::from_str(&text).ok())
        })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> Answer<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let text = serde_json::to_string(&credentials).map_err(failed)?;
            self.store.save(&self.server, text).await.map_err(failed)
        })
    }

    fn clear<'a, 'b>(&'a self) -> Answer<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move { self.store.remove(&self.server).await.map_err(failed) })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::secrets_in;

    #[test]
    fn what_is_kept_is_known_in_the_forms_it_may_be_repeated_in() {
        let sign_in = r#"{"client_id":"me","token_response":{"access_token":"canary-1","token_type":"bearer","refresh_token":"canary-2"}}"#;
        assert_eq!(secrets_in(sign_in), ["canary-1", "canary-2"]);
        assert_eq!(secrets_in("Bearer canary-3"), ["Bearer canary-3", "canary-3"]);
        assert_eq!(secrets_in("canary-4"), ["canary-4"]);
    }
}
