//! Servers that are reached over HTTP: one client per server, bound to its address.

use std::collections::HashMap;
use std::sync::{Arc, Once};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationManager};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::counted::Counted;
use crate::failure::Failure;
use crate::guarded::{Guard, LONGEST_MESSAGE};
use crate::tokens::Place;
use crate::{ServerConfig, TokenStore, header_place};

/// How long a server may take to accept a connection, TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// Time without a byte while an answer is read; the time limit of the call is the other bound.
const SILENCE: Duration = Duration::from_secs(300);

/// What speaks to `server` at `url`. Redirects are not followed: the headers were written down for this address.
///
/// What it says is counted by `guard`. Where somebody has signed in, requests carry their token, and a token that has run out is renewed.
pub(crate) async fn transport(
    server: &str,
    url: &str,
    config: &ServerConfig,
    tokens: Arc<dyn TokenStore>,
    guard: Arc<Guard>,
) -> Result<StreamableHttpClientTransport<AuthClient<Counted<Client>>>, Failure> {
    let failed = |reason: String| Failure::Start { reason };
    let is_near = Url::parse(url).ok().and_then(|url| url.host_str().map(crate::config::is_this_machine));
    let client = client(is_near == Some(true))
        .map_err(|error| failed(format!("this system's network settings cannot be used: {error}")))?;
    let mut given = config.headers.clone();
    for header in &config.secret_headers {
        given.insert(header.clone(), secret(server, url, header, tokens.as_ref()).await?);
    }
    let mut headers = HashMap::new();
    for (name, value) in &given {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| failed(error.to_string()))?;
        let mut value = HeaderValue::from_str(value).map_err(|error| failed(error.to_string()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let most = usize::try_from(LONGEST_MESSAGE).unwrap_or(usize::MAX);
    let settings = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_sse_event_size(most)
        .reinit_on_expired_session(true);
    let manager = authorization(url, tokens).await.map_err(|error| failed(error.to_string()))?;
    Ok(StreamableHttpClientTransport::with_client(AuthClient::new(Counted::new(client, guard), manager), settings))
}

/// The value that was kept for `header` of `server` at the host of `url`.
async fn secret(server: &str, url: &str, header: &str, kept: &dyn TokenStore) -> Result<String, Failure> {
    let missing = || Failure::HeaderMissing { header: header.to_owned() };
    let place = header_place(server, url, header).ok_or_else(missing)?;
    let value = kept.load(&place).await.map_err(|error| Failure::Start { reason: error.reason })?;
    value.ok_or_else(missing)
}

/// What knows of sign-ins at `url`, with those that were kept.
pub(crate) async fn authorization(url: &str, tokens: Arc<dyn TokenStore>) -> Result<AuthorizationManager, AuthError> {
    install_crypto();
    let mut manager = AuthorizationManager::new(url).await?;
    manager.set_credential_store(Place { store: tokens, server: url.to_owned() });
    if let Err(error) = manager.initialize_from_store().await {
        // It goes on without them, and the server says whether it wants any.
        tracing::warn!(%error, "what a sign-in left could not be used");
    }
    Ok(manager)
}

fn client(near: bool) -> reqwest::Result<Client> {
    install_crypto();
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .user_agent(concat!("bosun/", env!("CARGO_PKG_VERSION")));
    if near {
        // What is meant for this machine never goes to a proxy.
        builder = builder.no_proxy();
    }
    builder.build()
}

/// `ring` as the process's cryptography, unless something else was chosen before.
fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if rustls::crypto::ring::default_provider().install_default().is_err() {
            tracing::debug!("another cryptography provider was installed before");
        }
    });
}
