use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::{Client, Url, redirect};

use crate::desktop::{DesktopSettings, Way};
use crate::endpoint::is_loopback;
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
    /// What the settings name, with the login for it, else what the desktop's do.
    proxy: Option<ProxyServer>,
}

/// More kinds than a person has settings of are not kept.
const MOST: usize = 16;

static CLIENTS: LazyLock<Mutex<HashMap<Kind, Client>>> = LazyLock::new(Mutex::default);

/// How addresses are reached: by what the person set, else by what their desktop has.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    network: Network,
    desktop: Option<DesktopSettings>,
}

impl Reach {
    pub(crate) fn new(network: Network, desktop: Option<DesktopSettings>) -> Self {
        Self { network, desktop }
    }

    /// The client for `address`, and how it gets there. The desktop is asked for a proxy by nobody for what is on this
    /// machine, or where the network names one.
    pub(crate) async fn client(&self, address: &Url, origin: &Origin) -> Result<(Client, Way), ModelError> {
        let loopback = address.host_str().is_some_and(is_loopback);
        let asked = self.desktop.as_ref().filter(|_| !loopback && self.network.proxy().is_none());
        let way = match asked {
            Some(desktop) => desktop.way(address).await,
            None => Way::Unsaid,
        };
        let proxy = match &way {
            Way::Through(server) => Some(server.clone()),
            Way::Unsaid | Way::Script(_) => self.network.proxy().cloned(),
        };
        // What an error about the way quotes may have the login of whichever proxy it was.
        let of_environment = asked.and_then(DesktopSettings::environment_server);
        let servers = proxy.iter().chain(&of_environment);
        servers.flat_map(ProxyServer::secrets).for_each(|secret| origin.learn(&secret));
        let kind = Kind { plain: address.scheme() == "http", loopback, network: self.network.of_client(), proxy };
        Ok((client(kind, origin, &self.network)?, way))
    }
}

/// The process's client for addresses of this kind, made when first needed.
///
/// Several, because their costs and their trust differ. One for `https` reads the system's certificates; one for plain
/// `http` must not pay for that (see the crate's docs for what was measured), and one for this machine must never speak
/// to a proxy. None follows redirects: the key was entered for this host alone. The proxy of the desktop is asked where
/// the user's own network names none.
fn client(kind: Kind, origin: &Origin, network: &Network) -> Result<Client, ModelError> {
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
    } else if let Some(server) = &kind.proxy {
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
    use crate::ProviderConfig;
    use crate::config::Family;
    use crate::endpoint::Endpoint;

    #[tokio::test]
    async fn the_login_of_the_environments_proxy_is_in_no_error() {
        let proxy = "me:canary-0123456789@proxy.example:3128";
        let variables = move |name: &str| (name == "HTTPS_PROXY").then(|| proxy.to_owned());
        let desktop = DesktopSettings::new(variables, |_| std::future::ready(None));
        let config = ProviderConfig::new("far", Family::OpenAiChat, "https://models.example/v1");
        let endpoint = Endpoint::parse(&config.id, config.family, &config.base_url).unwrap();
        let origin = Origin::new(&config, &endpoint);
        let far = "https://models.example/v1".parse().unwrap();
        Reach::new(Network::default(), Some(desktop)).client(&far, &origin).await.unwrap();
        let told = origin.error(ModelErrorKind::Network, "refused for canary-0123456789");
        assert_eq!(told.message, "refused for [redacted]");
    }

    /// Prints what the crate's docs say about the cost of a client; run it with `--no-capture --run-ignored only`.
    #[test]
    #[ignore = "a measurement"]
    fn cost_of_a_client() {
        for (what, plain, loopback) in
            [("first", true, true), ("plain, loopback", true, true), ("plain", true, false), ("tls", false, false)]
        {
            let start = Instant::now();
            let kind = Kind { plain, loopback, network: NetworkOptions::default(), proxy: None };
            super::build(&kind, &Network::default()).unwrap();
            println!("{what}: {:?}", start.elapsed());
        }
    }
}
