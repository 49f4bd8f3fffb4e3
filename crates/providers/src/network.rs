//! How the network is used where the system's own settings do not do: a proxy, certificates, limits on waiting.

use std::sync::Arc;
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::{Certificate, Proxy, Url};

use crate::Limits;
use crate::redact::Redactor;

/// What the user set about the network, checked. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Network {
    parts: Arc<Parts>,
}

/// What [`Network::new`] is told; everything that is missing is as the system has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NetworkOptions {
    /// `http://`, `https://` or `socks5://` address of a proxy. Addresses of this machine never go through it.
    pub proxy: Option<String>,
    /// Certificates to trust beside the system's, in PEM.
    pub certificates: Option<String>,
    /// To accept a connection, TLS included.
    pub connect: Option<Duration>,
    pub first_byte: Option<Duration>,
    pub idle: Option<Duration>,
    pub total: Option<Duration>,
}

#[derive(Debug, Default)]
struct Parts {
    options: NetworkOptions,
    proxy: Option<Proxy>,
    certificates: Vec<Certificate>,
}

impl Network {
    /// # Errors
    /// [`ModelErrorKind::InvalidRequest`], with a sentence for the user, for a proxy or certificates that cannot be used.
    pub fn new(options: NetworkOptions) -> Result<Self, ModelError> {
        let wrong = |trouble| ModelError::own(ModelErrorKind::InvalidRequest, "network", trouble);
        let proxy = match &options.proxy {
            None => None,
            Some(address) => Some(proxy(address).map_err(wrong)?),
        };
        let certificates = match &options.certificates {
            None => Vec::new(),
            Some(pem) => certificates(pem).map_err(wrong)?,
        };
        Ok(Self { parts: Arc::new(Parts { options, proxy, certificates }) })
    }

    /// The limits on waiting, over those that are usual there.
    pub(crate) fn limits(&self, usual: Limits) -> Limits {
        let NetworkOptions { first_byte, idle, total, .. } = &self.parts.options;
        Limits {
            first_byte: first_byte.unwrap_or(usual.first_byte),
            idle: idle.unwrap_or(usual.idle),
            total: total.unwrap_or(usual.total),
        }
    }

    pub(crate) fn connect(&self) -> Option<Duration> {
        self.parts.options.connect
    }

    pub(crate) fn proxy(&self) -> Option<&Proxy> {
        self.parts.proxy.as_ref()
    }

    pub(crate) fn certificates(&self) -> &[Certificate] {
        &self.parts.certificates
    }

    /// What tells clients apart: limits on replies are not theirs.
    pub(crate) fn of_client(&self) -> NetworkOptions {
        let NetworkOptions { proxy, certificates, connect, .. } = &self.parts.options;
        NetworkOptions {
            proxy: proxy.clone(),
            certificates: certificates.clone(),
            connect: *connect,
            ..NetworkOptions::default()
        }
    }
}

fn proxy(address: &str) -> Result<Proxy, ModelTrouble> {
    let shown = || Redactor::default().redact(address);
    let url = Url::parse(address.trim()).map_err(|_| ModelTrouble::ProxyAddress { address: shown() })?;
    if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") {
        return Err(ModelTrouble::ProxyScheme { scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ModelTrouble::ProxySecret);
    }
    Proxy::all(url).map_err(|_| ModelTrouble::ProxyUnusable { address: shown() })
}

fn certificates(pem: &str) -> Result<Vec<Certificate>, ModelTrouble> {
    let read = Certificate::from_pem_bundle(pem.as_bytes()).map_err(|_| ModelTrouble::CertificatesUnreadable)?;
    if read.is_empty() {
        return Err(ModelTrouble::CertificatesNone);
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn proxied(address: &str) -> Result<Network, String> {
        let options = NetworkOptions { proxy: Some(address.to_owned()), ..NetworkOptions::default() };
        Network::new(options).map_err(|error| error.message)
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for (address, word) in [
            ("proxy:3128", "speaks proxy"),
            ("nonsense", "no address"),
            ("ftp://proxy", "speaks ftp"),
            ("http://me:canary@proxy:3128", "user name or password"),
        ] {
            let message = proxied(address).unwrap_err();
            assert!(message.contains(word) && !message.contains("canary"), "{message}");
        }
        assert!(proxied("socks5h://127.0.0.1:1080").is_ok());
        let pem = NetworkOptions { certificates: Some("hello".into()), ..NetworkOptions::default() };
        assert!(Network::new(pem).unwrap_err().message.contains("hold none"));
    }

    #[test]
    fn limits_that_are_not_set_are_the_usual_ones() {
        let minute = Duration::from_secs(60);
        let network = Network::new(NetworkOptions { total: Some(minute), ..NetworkOptions::default() }).unwrap();
        assert_eq!(network.limits(Limits::default()), Limits { total: minute, ..Limits::default() });
    }
}
