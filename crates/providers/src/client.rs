use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::{Client, redirect};

use crate::config::Endpoint;
use crate::failure;
use crate::network::{Network, NetworkOptions, ProxyServer};
use crate::origin::Origin;

/// How long a server may take to accept a connection, TLS included, unless the user set another time.
const CONNECT: Duration = Duration::from_secs(10);

/// What tells clients apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    plain: bool,
    loopback: bool,
    network: NetworkOptions,
    /// What the desktop's settings name.
    desktop: Option<ProxyServer>,
}

/// More kinds than a person has settings of are not kept.
const MOST: usize = 16;

static CLIENTS: LazyLock<Mutex<HashMap<Kind, Client>>> = LazyLock::new(Mutex::default);

/// The process's client for addresses of this kind, made when first needed.
///
/// Several, because their costs and their trust differ. One for `https` reads the system's certificates; one for plain
/// `http` must not pay for that (see the crate's docs for what was measured), and one for this machine must never speak
/// to a proxy. None follows redirects: the key was entered for this host alone. The proxy of the `desktop` is asked where
/// the user's own network names none.
pub(crate) fn client(
    origin: &Origin,
    endpoint: &Endpoint,
    network: &Network,
    desktop: Option<ProxyServer>,
) -> Result<Client, ModelError> {
    let kind = Kind { plain: endpoint.is_plain(), loopback: endpoint.loopback, network: network.of_client(), desktop };
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(client) = clients.get(&kind) {
        return Ok(client.clone());
    }
    let built = build(&kind, network).map_err(|error| {
        let detail = failure::innermost(&error);
        origin.trouble(ModelErrorKind::Network, ModelTrouble::NetworkUnusable { detail })
    })?;
    if clients.len() >= MOST {
        clients.clear();
    }
    clients.insert(kind, built.clone());
    Ok(built)
}

fn build(kind: &Kind, network: &Network) -> reqwest::Result<Client> {
    install_crypto();
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(network.connect().unwrap_or(CONNECT))
        .tcp_nodelay(true)
        .user_agent(concat!("bosun/", env!("CARGO_PKG_VERSION")));
    if kind.plain {
        builder = builder.tls_certs_only([]).http1_only();
    } else if !network.certificates().is_empty() {
        builder = builder.tls_certs_merge(network.certificates().iter().cloned());
    }
    if kind.loopback {
        builder = builder.no_proxy();
    } else if let Some(server) = network.proxy().or(kind.desktop.as_ref()) {
        builder = builder.proxy(server.proxy()?);
    }
    builder.build()
}

/// `ring` as the process's cryptography, unless something else was chosen before.
pub(crate) fn install_crypto() {
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

    use super::*;

    /// Prints what the crate's docs say about the cost of a client; run it with `--no-capture --run-ignored only`.
    #[test]
    #[ignore = "a measurement"]
    fn cost_of_a_client() {
        for (what, plain, loopback) in
            [("first", true, true), ("plain, loopback", true, true), ("plain", true, false), ("tls", false, false)]
        {
            let start = Instant::now();
            let kind = Kind { plain, loopback, network: NetworkOptions::default(), desktop: None };
            super::build(&kind, &Network::default()).unwrap();
            println!("{what}: {:?}", start.elapsed());
        }
    }
}
