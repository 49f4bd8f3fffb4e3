//! How the network is used where the system's own settings do not do: a proxy, certificates, limits on waiting.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::{Certificate, Proxy, Url};
use secrecy::{ExposeSecret, SecretString};

use crate::Limits;
use crate::redact::{Redactor, percent_encoded};

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
    proxy: Option<ProxyServer>,
    certificates: Vec<Certificate>,
}

/// A proxy, and as whom it is asked.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ProxyServer {
    /// Without a name and a password.
    pub(crate) address: String,
    login: Option<(String, String)>,
}

impl fmt::Debug for ProxyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ProxyServer {
    /// A name and a password in the address are taken out of it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) fn parse(address: &str) -> Result<Self, ModelTrouble> {
        let shown = || Redactor::default().redact(address);
        let mut url = Url::parse(address.trim()).map_err(|_| ModelTrouble::ProxyAddress { address: shown() })?;
        if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") {
            return Err(ModelTrouble::ProxyScheme { scheme: url.scheme().to_owned() });
        }
        let login = (!url.username().is_empty() || url.password().is_some())
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        let bare = url.set_username("").and_then(|()| url.set_password(None));
        let unusable = || ModelTrouble::ProxyUnusable { address: shown() };
        if bare.is_err() || url.host_str().is_none_or(str::is_empty) {
            return Err(unusable());
        }
        Proxy::all(url.clone()).map_err(|_| unusable())?;
        Ok(Self { address: url.as_str().trim_end_matches('/').to_owned(), login })
    }

    pub(crate) fn with_login(self, user: String, password: String) -> Self {
        Self { login: Some((user, password)), ..self }
    }

    /// Whatever of the name and the password must be in no error, in each form in which one may echo it.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = SecretString> {
        self.login.iter().flat_map(|(user, password)| [SecretString::from(password.as_str()), basic(user, password)])
    }

    /// The proxy for all that a client asks. Its `Debug` may show the password.
    pub(crate) fn proxy(&self) -> reqwest::Result<Proxy> {
        let Some((user, password)) = &self.login else { return Proxy::all(self.address.as_str()) };
        let (scheme, rest) = self.address.split_once("://").unwrap_or(("http", &self.address));
        Proxy::all(format!("{scheme}://{}:{}@{rest}", percent_encoded(user), percent_encoded(password)))
    }
}

/// A proxy's name and password as one text, for where keys are kept. No character of either can end it early.
pub fn proxy_login(user: &str, password: &SecretString) -> SecretString {
    SecretString::from(format!("{}:{}", percent_encoded(user), percent_encoded(password.expose_secret())))
}

/// What of a kept login must stand nowhere: the password, and the forms in which both go to the proxy and into the keyring.
pub fn login_secrets(login: &SecretString) -> impl Iterator<Item = SecretString> {
    let (user, password) = halves(login);
    let (password, basic) = (SecretString::from(password.as_str()), basic(&user, &password));
    [login.clone(), password, basic].into_iter()
}

fn halves(login: &SecretString) -> (String, String) {
    let (user, password) = login.expose_secret().split_once(':').unwrap_or_default();
    (decoded(user), decoded(password))
}

fn basic(user: &str, password: &str) -> SecretString {
    SecretString::from(STANDARD.encode(format!("{user}:{password}")))
}

/// The address of a proxy that a login is kept for; `None` for one that cannot be used.
pub(crate) fn proxy_address(address: &str) -> Option<String> {
    proxy(address).ok().map(|server| server.address)
}

/// What `%XX` stands for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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

    /// The same, with what [`proxy_login`] made for its proxy.
    pub(crate) fn with_login(&self, login: &SecretString) -> Self {
        let Parts { options, proxy, certificates } = &*self.parts;
        let proxy = proxy.clone().map(|server| {
            let (user, password) = halves(login);
            server.with_login(user, password)
        });
        Self { parts: Arc::new(Parts { options: options.clone(), proxy, certificates: certificates.clone() }) }
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

    pub(crate) fn proxy(&self) -> Option<&ProxyServer> {
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

fn proxy(address: &str) -> Result<ProxyServer, ModelTrouble> {
    let server = ProxyServer::parse(address)?;
    if server.login.is_some() { Err(ModelTrouble::ProxySecret) } else { Ok(server) }
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
            ("proxy:3128", "uses proxy"),
            ("nonsense", "not an address"),
            ("ftp://proxy", "uses ftp"),
            ("http://me:canary@proxy:3128", "in their own fields"),
        ] {
            let message = proxied(address).unwrap_err();
            assert!(message.contains(word) && !message.contains("canary"), "{message}");
        }
        assert!(proxied("socks5h://127.0.0.1:1080").is_ok());
        let pem = NetworkOptions { certificates: Some("hello".into()), ..NetworkOptions::default() };
        assert!(Network::new(pem).unwrap_err().message.contains("no certificate"));
    }

    /// In the form that is asked with, nothing of it stands as it was given.
    #[test]
    fn a_name_and_a_password_are_taken_out_of_an_address_and_never_shown() {
        let server = ProxyServer::parse("http://a%40b:can%3Aary%25@proxy.example:3128/").unwrap();
        assert_eq!(server.address, "http://proxy.example:3128");
        assert_eq!(server.login, Some(("a@b".into(), "can:ary%".into())));
        assert!(!format!("{server:?}").contains("ary"), "{server:?}");
        assert!(server.proxy().is_ok());
        assert_eq!(decoded("%4x%"), "%4x%");
    }

    #[test]
    fn a_kept_login_comes_back_as_it_was_and_is_shown_nowhere() {
        let login = proxy_login("me@work:a", &"can:ary%/ 密".into());
        let options = NetworkOptions { proxy: Some("http://proxy.example:3128/".into()), ..NetworkOptions::default() };
        let network = Network::new(options).unwrap().with_login(&login);
        let server = network.proxy().unwrap();
        assert_eq!(server.login, Some(("me@work:a".into(), "can:ary%/ 密".into())));
        assert!(!format!("{network:?}").contains("ary"), "{network:?}");
        assert_eq!(proxy_address("http://proxy.example:3128/").as_deref(), Some("http://proxy.example:3128"));
        assert_eq!(proxy_address("http://me:canary@proxy.example"), None);
        let secrets: Vec<_> = server.secrets().map(|secret| secret.expose_secret().to_owned()).collect();
        assert_eq!(secrets, ["can:ary%/ 密", "bWVAd29yazphOmNhbjphcnklLyDlr4Y="]);
    }

    #[test]
    fn limits_that_are_not_set_are_the_usual_ones() {
        let minute = Duration::from_secs(60);
        let network = Network::new(NetworkOptions { total: Some(minute), ..NetworkOptions::default() }).unwrap();
        assert_eq!(network.limits(Limits::default()), Limits { total: minute, ..Limits::default() });
    }
}
