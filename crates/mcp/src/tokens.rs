//! What a sign-in leaves behind: the tokens of servers, kept by whoever keeps secrets.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};

use crate::BoxFuture;

/// Keeps what servers gave for a sign-in, each under its address, and the values of headers and variables that a person
/// entered, each under its [`header_place`] or [`variable_place`]. The text is a secret: it belongs into a keyring and
/// into no log.
pub trait TokenStore: Send + Sync {
    /// `None`: nobody has signed in there.
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<String>, TokenStoreError>>;

    fn save<'a>(&'a self, server: &'a str, secret: String) -> BoxFuture<'a, Result<KeptFor, TokenStoreError>>;

    /// Removing what is not there is fine.
    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// `text` of a server without the secrets that are known to whoever keeps them: servers repeat what they were sent.
    fn masked(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// How long what was given to a [`TokenStore`] is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptFor {
    Good,
    /// No keyring took it.
    ThisRun,
}

/// How the names of variables end that hold secrets.
const SECRET_VARIABLES: [&str; 8] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PAT", "AUTH"];
/// Shorter than this, what another variable holds is a word, a number, a name.
const SHORTEST_SECRET: usize = 16;

/// The secrets in what a [`TokenStore`] keeps at `place`: the tokens of a sign-in, the value of a header, with the scheme
/// in front of it and without, or that of a variable that is not plainly something else, such as a level or a path.
pub fn secrets_in(place: &str, kept: &str) -> Vec<String> {
    if let Some(rest) = place.strip_prefix(OF_VARIABLE) {
        let variable = rest.split(" of ").next().unwrap_or_default();
        return if is_secret(variable, kept) { vec![kept.to_owned()] } else { Vec::new() };
    }
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

/// Whether a variable holds a secret by its name.
pub fn is_named_secret(variable: &str) -> bool {
    let variable = variable.to_ascii_uppercase();
    SECRET_VARIABLES.iter().any(|end| variable.ends_with(end))
}

fn is_secret(variable: &str, value: &str) -> bool {
    let has = |kind: fn(&char) -> bool| value.chars().any(|c| kind(&c));
    is_named_secret(variable)
        || value
            .split_once("://")
            .is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
        || value.len() >= SHORTEST_SECRET
            && has(char::is_ascii_digit)
            && has(char::is_ascii_alphabetic)
            && !value.contains(['/', '\\', ' '])
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

/// What begins the place of a variable; no header and no address begins with it.
const OF_VARIABLE: &str = "env:";

/// Where the value of a variable of `owner`, a server or a hook, is kept: for what is started, `command` with `args`, so
/// that nothing else is given it under the same name.
pub fn variable_place(owner: &str, command: &str, args: &[String], variable: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [command].into_iter().chain(args.iter().map(String::as_str)) {
        hasher.update(part.as_bytes()).update(&[0]);
    }
    let hash = hasher.finalize().to_hex();
    format!("{OF_VARIABLE}{variable} of {owner} for {}", hash.get(..32).unwrap_or_default())
}

/// The variables that `owner` is started with, `command` with `args`: those with their values, and those that are kept.
///
/// # Errors
/// [`VariableError`] for the first that is not to be had.
pub async fn environment(
    (owner, command, args): (&str, &str, &[String]),
    open: &BTreeMap<String, String>,
    secret: &[String],
    kept: &dyn TokenStore,
) -> Result<Vec<(String, String)>, VariableError> {
    let mut variables: Vec<(String, String)> = open.clone().into_iter().collect();
    for variable in secret {
        let value = kept.load(&variable_place(owner, command, args, variable)).await?;
        let missing = || VariableError::Missing { variable: variable.clone() };
        variables.push((variable.clone(), value.ok_or_else(missing)?));
    }
    Ok(variables)
}

/// A variable has no value to be started with. Reads as a sentence that goes on after the name of whoever is started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    #[error("could not be started: the value of its variable '{variable}' is not in the keyring; enter it again")]
    Missing { variable: String },
    #[error("could not be started: {0}")]
    Store(#[from] TokenStoreError),
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

    fn save<'a>(&'a self, server: &'a str, secret: String) -> BoxFuture<'a, Result<KeptFor, TokenStoreError>> {
        Box::pin(async move {
            self.kept().insert(server.to_owned(), secret);
            Ok(KeptFor::ThisRun)
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
            self.store.save(&self.server, text).await.map_err(failed).map(drop)
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

    use super::{secrets_in, variable_place};

    #[test]
    fn what_is_kept_is_known_in_the_forms_it_may_be_repeated_in() {
        let sign_in = r#"{"client_id":"me","token_response":{"access_token":"canary-1","token_type":"bearer","refresh_token":"canary-2"}}"#;
        assert_eq!(secrets_in("https://a", sign_in), ["canary-1", "canary-2"]);
        assert_eq!(secrets_in("x of a at https://a", "Bearer canary-3"), ["Bearer canary-3", "canary-3"]);
        assert_eq!(secrets_in("x of a at https://a", "canary-4"), ["canary-4"]);
    }

    /// What is taken for a secret is gone from every export: a word that everybody uses must not be.
    #[test]
    fn of_variables_those_are_secrets_that_are_not_plainly_something_else() {
        let table = [
            ("GITHUB_TOKEN", "short", true),
            ("api_key", "/begins-like-a-path", true),
            ("DATABASE_URL", "postgres://me:pw@db/x", true),
            ("WHATEVER", "0123456789abcdef", true),
            ("MODE", "quiet", false),
            ("LEVEL", "2", false),
            ("ROOT", "/home/me/projects/2024", false),
            ("SITE", "https://example.com/@scope/2024", false),
            ("GREETING", "good morning to all 7 of you", false),
        ];
        for (variable, value, is_secret) in table {
            let place = variable_place("docs", "docs", &[], variable);
            assert_eq!(!secrets_in(&place, value).is_empty(), is_secret, "{variable}={value}");
        }
    }

    #[test]
    fn the_value_of_a_variable_is_kept_for_what_it_was_entered_for() {
        let args = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        let place = |owner: &str, command: &str, given: &[&str]| variable_place(owner, command, &args(given), "T");
        assert_eq!(place("docs", "npx", &["docs"]), place("docs", "npx", &["docs"]));
        for other in [place("docs", "npx", &["evil"]), place("docs", "npxdocs", &[]), place("other", "npx", &["docs"])]
        {
            assert_ne!(place("docs", "npx", &["docs"]), other);
        }
    }
}
