use std::sync::{Once, OnceLock};
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind};
use reqwest::{Client, redirect};

use crate::config::Endpoint;
use crate::failure;
use crate::origin::Origin;

/// How long a server may take to accept a connection, TLS included.
const CONNECT: Duration = Duration::from_secs(10);

static PLAIN_LOOPBACK: OnceLock<Client> = OnceLock::new();
static PLAIN: OnceLock<Client> = OnceLock::new();
static TLS_LOOPBACK: OnceLock<Client> = OnceLock::new();
static TLS: OnceLock<Client> = OnceLock::new();

/// The process's client for addresses of this kind, made when first needed.
///
/// Four, because their costs and their trust differ. One for `https` reads the system's certificates; one for plain `http`
/// must not pay for that (see the crate's docs for what was measured), and one for this machine must never speak to a
/// proxy. None follows redirects: the key was entered for this host alone.
pub(crate) fn client(origin: &Origin, endpoint: &Endpoint) -> Result<&'static Client, ModelError> {
    let cell = match (endpoint.is_plain(), endpoint.loopback) {
        (true, true) => &PLAIN_LOOPBACK,
        (true, false) => &PLAIN,
        (false, true) => &TLS_LOOPBACK,
        (false, false) => &TLS,
    };
    if let Some(client) = cell.get() {
        return Ok(client);
    }
    let built = build(endpoint.is_plain(), endpoint.loopback).map_err(|error| {
        let reason = failure::innermost(&error);
        origin.error(ModelErrorKind::Network, format!("this system's network settings cannot be used: {reason}"))
    })?;
    Ok(cell.get_or_init(|| built))
}

fn build(plain: bool, loopback: bool) -> reqwest::Result<Client> {
    install_crypto();
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .user_agent(concat!("bosun/", env!("CARGO_PKG_VERSION")));
    if plain {
        builder = builder.tls_certs_only([]).http1_only();
    }
    if loopback {
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    /// Prints what the crate's docs say about the cost of a client; run it with `--no-capture --run-ignored only`.
    #[test]
    #[ignore = "a measurement"]
    fn cost_of_a_client() {
        for (what, plain, loopback) in
            [("first", true, true), ("plain, loopback", true, true), ("plain", true, false), ("tls", false, false)]
        {
            let start = Instant::now();
            super::build(plain, loopback).unwrap();
            println!("{what}: {:?}", start.elapsed());
        }
    }
}
