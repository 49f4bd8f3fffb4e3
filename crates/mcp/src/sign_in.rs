//! Signing in at a server: the person does it in a browser, whose last step comes back to a port of this machine.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationRequest, AuthorizationSession};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::server::Server;
use crate::{http, text};

/// How long a person may take in the browser: so long, at most, a port of this machine listens (security.md, I10).
const LONGEST: Duration = Duration::from_secs(300);
/// How long one connection to the port may take to say what it wants, and how much it may say.
const ONE_REQUEST: Duration = Duration::from_secs(10);
const MOST_BYTES: u64 = 16 * 1024;
const CALLBACK: &str = "/callback";

/// A sign-in that has begun.
pub struct SignIn {
    /// What the person's browser has to open.
    pub url: String,
    server: Arc<Server>,
    listener: TcpListener,
    session: AuthorizationSession,
}

/// Why nobody is signed in. Reads as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    #[error("there is no tool server called '{name}' here; check its name where servers are declared")]
    Unknown { name: String },
    #[error("'{name}' is a program on this machine, which needs no sign-in")]
    NoAddress { name: String },
    #[error("the server does not say how to sign in: {reason}; give it a token as a header instead")]
    Unsupported { reason: String },
    #[error(
        "the server asked to open a page that does not use https ({url}), so it was not opened; give the server a \
         token as a header instead"
    )]
    Unsafe { url: String },
    #[error(
        "no local port could be opened for the reply of the sign-in: {reason}; try again, or give the server a token \
         as a header"
    )]
    Port { reason: String },
    #[error("the sign-in was refused: {reason}; sign in again, or give the server a token as a header")]
    Refused { reason: String },
    #[error("nobody signed in within {minutes} minutes; sign in again when you are ready")]
    TooLate { minutes: u64 },
    #[error("the tokens could not be saved: {reason}; unlock the keyring and sign in again")]
    NotKept { reason: String },
    #[error("you are still signed in: {reason}; unlock the keyring and sign out again")]
    NotForgotten { reason: String },
}

impl SignIn {
    pub(crate) async fn begin(server: Arc<Server>) -> Result<Self, SignInError> {
        let Some(address) = server.address() else {
            return Err(SignInError::NoAddress { name: server.name.clone() });
        };
        let mut manager = http::authorization(address, server.tokens()).await.map_err(unsupported)?;
        let known = manager.resolve_metadata().await.map_err(unsupported)?;
        manager.set_metadata(known.metadata);
        let port = |error: std::io::Error| SignInError::Port { reason: error.to_string() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(port)?;
        let back = format!("http://127.0.0.1:{}{CALLBACK}", listener.local_addr().map_err(port)?.port());
        let request = AuthorizationRequest::new(back).with_client_name("Bosun").with_initial_scope_selection();
        let session =
            AuthorizationSession::new(manager, request).await.map_err(|(_manager, error)| unsupported(error))?;
        let url = opened_safely(session.get_authorization_url())?;
        Ok(Self { url, server, listener, session })
    }

    /// The server's own address, under which its tokens are kept.
    pub fn address(&self) -> &str {
        self.server.address().unwrap_or_default()
    }

    /// Whose page a browser would open, with its port where it is not the usual one.
    pub fn host(&self) -> String {
        let Ok(url) = Url::parse(&self.url) else { return String::new() };
        let host = url.host_str().unwrap_or_default();
        url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Waits until the person has signed in, keeps what the server gave, and connects to it anew. Dropping it gives up.
    ///
    /// # Errors
    /// [`SignInError`]; what was kept before stays.
    pub async fn finished(self) -> Result<(), SignInError> {
        let late = SignInError::TooLate { minutes: LONGEST.as_secs() / 60 };
        tokio::time::timeout(LONGEST, self.come_back()).await.unwrap_or(Err(late))?;
        self.server.anew().await;
        Ok(())
    }

    /// Answers the browser until it brings the answer of the sign-in; a browser asks for other things too.
    async fn come_back(&self) -> Result<(), SignInError> {
        loop {
            let port = |error: std::io::Error| SignInError::Port { reason: error.to_string() };
            let (stream, _from) = self.listener.accept().await.map_err(port)?;
            let heard = tokio::time::timeout(ONE_REQUEST, wanted(stream)).await;
            let Ok(Some((mut stream, target))) = heard else { continue };
            let Some(query) = target.strip_prefix(CALLBACK).filter(|rest| rest.starts_with('?')) else {
                say(&mut stream, "404 Not Found", "Nothing is here.").await;
                continue;
            };
            let taken = self.take(query).await;
            let (status, words) = match &taken {
                Ok(()) => ("200 OK", "You are signed in. You can close this page and go back to Bosun."),
                Err(_) => ("400 Bad Request", "Signing in did not work. Bosun says why."),
            };
            say(&mut stream, status, words).await;
            return taken;
        }
    }

    async fn take(&self, query: &str) -> Result<(), SignInError> {
        let refused = |reason: &str| SignInError::Refused { reason: text::line(reason, 300) };
        let address = format!("{}{query}", self.session.redirect_uri);
        let url = Url::parse(&address).map_err(|error| refused(&error.to_string()))?;
        let said = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if let Some(error) = said("error") {
            return Err(refused(&said("error_description").unwrap_or(error)));
        }
        match self.session.handle_callback_url(&address).await {
            Ok(_tokens) => Ok(()),
            Err(AuthError::CredentialStoreError(reason)) => Err(SignInError::NotKept { reason }),
            Err(error) => Err(refused(&error.to_string())),
        }
    }
}

fn unsupported(error: AuthError) -> SignInError {
    SignInError::Unsupported { reason: text::line(&error.to_string(), 300) }
}

/// The server chooses what a browser opens: only a page, and only one that nobody on the way can change.
fn opened_safely(url: &str) -> Result<String, SignInError> {
    let refused = || SignInError::Unsafe { url: text::line(url, 200) };
    let parsed = Url::parse(url).map_err(|_| refused())?;
    let is_near = parsed.host_str().is_some_and(crate::config::is_this_machine);
    match parsed.scheme() {
        "https" => Ok(parsed.into()),
        "http" if is_near => Ok(parsed.into()),
        _ => Err(refused()),
    }
}

/// What a connection asks for: the target of a GET.
async fn wanted(stream: TcpStream) -> Option<(TcpStream, String)> {
    let mut reader = BufReader::new(stream).take(MOST_BYTES);
    let mut first = String::new();
    reader.read_line(&mut first).await.ok()?;
    let mut line = String::new();
    // To the end of its head, so that it is not cut off while it still speaks.
    while reader.read_line(&mut line).await.ok()? > 0 && !line.trim().is_empty() {
        line.clear();
    }
    let target = first.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    Some((reader.into_inner().into_inner(), target))
}

/// A small page. A browser that does not listen any more misses nothing.
async fn say(stream: &mut TcpStream, status: &str, words: &str) {
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>Bosun</title><p>{words}</p>\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: \
         no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    if let Err(error) = stream.write_all(answer.as_bytes()).await {
        tracing::debug!(%error, "the browser did not wait for its page");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_opened() {
        for url in ["https://a.example/authorize?x=1", "http://127.0.0.1:9/authorize", "http://localhost/a"] {
            assert!(opened_safely(url).is_ok(), "{url}");
        }
        for url in
            ["http://a.example/authorize", "file:///etc/passwd", "javascript:alert(1)", "calc:", "", "vscode://x"]
        {
            assert!(matches!(opened_safely(url), Err(SignInError::Unsafe { .. })), "{url}");
        }
    }
}
