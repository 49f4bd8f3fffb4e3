use std::net::{IpAddr, Ipv4Addr};

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::Url;

use crate::Family;
use crate::query::without_query_secrets;
use crate::redact::Redactor;

/// The host a base URL speaks to, with the port unless it is the usual one of `https`: what a key is bound to.
///
/// `https://api.anthropic.com/` gives `api.anthropic.com`; the same over plain `http` gives `api.anthropic.com:80`, so
/// that a key entered for the one is not sent in the clear to the other.
///
/// # Errors
/// [`ModelErrorKind::NotFound`], with a sentence for the user, when the URL is not `http` or `https` or cannot be parsed.
pub fn host_of(base_url: &str) -> Result<String, ModelError> {
    Ok(Endpoint::parse("provider", Family::OpenAiChat, base_url)?.host)
}

/// A base URL that was understood.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    base: Url,
    /// As [`host_of`] gives it.
    pub(crate) host: String,
    /// Whether it is on this machine.
    pub(crate) loopback: bool,
}

impl Endpoint {
    pub(crate) fn parse(provider: &str, family: Family, base_url: &str) -> Result<Self, ModelError> {
        let wrong = |trouble| ModelError::own(ModelErrorKind::NotFound, provider, trouble);
        let example = || family.default_base_url().to_owned();
        // People paste keys into the wrong field.
        let url = || Redactor::default().redact(&without_query_secrets(base_url));
        let mut base = Url::parse(base_url.trim()).map_err(|error| match error.to_string() {
            reason if reason == "relative URL without a base" => {
                wrong(ModelTrouble::BaseUrlScheme { url: url(), example: example() })
            }
            detail => wrong(ModelTrouble::BaseUrlUnreadable { url: url(), detail, example: example() }),
        })?;
        if !matches!(base.scheme(), "http" | "https") {
            let scheme = base.scheme().to_owned();
            return Err(wrong(ModelTrouble::BaseUrlOther { url: url(), scheme, example: example() }));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong(ModelTrouble::BaseUrlSecret));
        }
        let Some(name) = base.host_str().map(str::to_owned) else {
            return Err(wrong(ModelTrouble::BaseUrlHostless { url: url(), example: example() }));
        };
        base.set_fragment(None);
        let mut path = base.path().trim_end_matches('/').to_owned();
        // These are added to each request, but people paste them.
        let own: &[&str] = match family {
            Family::Anthropic => &["/v1"],
            Family::Gemini => &["/v1beta", "/v1"],
            Family::Ollama => &["/api", "/v1"],
            Family::Vertex => &["/publishers/google", "/publishers/anthropic", "/v1"],
            Family::Bedrock => &[],
            Family::OpenAiChat => &["/chat/completions"],
            Family::OpenAiResponses => &["/responses"],
        };
        if let Some(version) = own.iter().find(|version| path.ends_with(**version)) {
            path.truncate(path.len() - version.len());
        }
        base.set_path(&path);
        let host = match base.port_or_known_default() {
            Some(443) if base.scheme() == "https" => name.clone(),
            Some(port) => format!("{name}:{port}"),
            None => name.clone(),
        };
        Ok(Self { loopback: is_loopback(&name), base, host })
    }

    /// The address of `path` (without a slash in front) below the base URL; a query stays.
    pub(crate) fn join(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&joined);
        url
    }

    /// The address of `path` (without a slash in front) at its host.
    pub(crate) fn at_root(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("/{path}"));
        url
    }

    /// The name of its host, without a port.
    pub(crate) fn name(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// The path of the base URL.
    pub(crate) fn path(&self) -> &str {
        self.base.path()
    }

    #[cfg(test)]
    pub(crate) fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    /// For people: the base URL without a query, which may hold a key.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.base.clone();
        url.set_query(None);
        url.as_str().trim_end_matches('/').to_owned()
    }

    /// Whether the address has the version in it that OpenAI-compatible servers expect.
    pub(crate) fn has_version(&self) -> bool {
        self.base
            .path()
            .split('/')
            .any(|part| part.strip_prefix('v').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit())))
    }
}

/// Whether a host is this machine. An address that stands for all of a machine's own is taken for it where it is asked.
pub(crate) fn is_loopback(host: &str) -> bool {
    match ip(host) {
        Some(ip) => ip.is_loopback() || ip.is_unspecified(),
        None => matches!(plain(host), "localhost") || plain(host).ends_with(".localhost"),
    }
}

/// How names end that only the network around a machine knows: mDNS, what home routers give out, RFC 8375, and what ICANN
/// has set aside for private networks.
const NEARBY: [&str; 4] = [".local", ".lan", ".home.arpa", ".internal"];

/// Whether a host is one of the network around this machine: a private address, or a name that only such a network knows.
pub(crate) fn is_nearby(host: &str) -> bool {
    match ip(host) {
        Some(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local() || is_shared(ip),
        Some(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
        None => !plain(host).contains('.') || NEARBY.iter().any(|end| plain(host).ends_with(end)),
    }
}

/// 100.64.0.0/10: behind a provider's NAT, and what overlay networks such as Tailscale give their machines.
fn is_shared(ip: Ipv4Addr) -> bool {
    let [first, second, ..] = ip.octets();
    first == 100 && (64..128).contains(&second)
}

/// A name without the dot that may end it.
fn plain(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// A host that is an address; one of the old kind that stands in one of the new is itself.
fn ip(host: &str) -> Option<IpAddr> {
    plain(host).trim_matches(['[', ']']).parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_host_of_a_key_tells_plain_and_port_apart() {
        let hosts = [
            ("https://api.anthropic.com", "api.anthropic.com"),
            ("https://api.anthropic.com:443/", "api.anthropic.com"),
            ("http://api.anthropic.com", "api.anthropic.com:80"),
            (" https://API.OpenAI.com/v1/ ", "api.openai.com"),
            ("http://localhost:11434/v1", "localhost:11434"),
            ("http://[::1]:8080", "[::1]:8080"),
        ];
        for (url, host) in hosts {
            assert_eq!(host_of(url).as_deref(), Ok(host), "{url}");
        }
    }

    #[test]
    fn hosts_are_here_near_or_elsewhere() {
        let near = |url: &str| {
            let endpoint = Endpoint::parse("p", Family::OpenAiChat, url).unwrap();
            (endpoint.loopback, is_nearby(endpoint.name()))
        };
        for (host, here, nearby) in [
            ("localhost", true, true),
            ("localhost.", true, true),
            ("models.localhost", true, false),
            ("127.0.0.1", true, false),
            ("127.8.8.8", true, false),
            ("0.0.0.0", true, false),
            ("[::]", true, false),
            ("[::1]", true, false),
            ("[::ffff:127.0.0.1]", true, false),
            ("10.0.0.7", false, true),
            ("172.20.0.1", false, true),
            ("192.168.1.4", false, true),
            ("[::ffff:192.168.1.4]", false, true),
            ("[fd00::1]", false, true),
            ("[fe80::1]", false, true),
            ("gpu-box", false, true),
            ("gpu.local", false, true),
            ("gpu.lan", false, true),
            ("gpu.home.arpa.", false, true),
            ("gpu.internal", false, true),
            ("100.64.0.1", false, true),
            ("100.127.255.254", false, true),
            ("169.254.7.7", false, true),
            ("[fc00::1]", false, true),
            ("100.63.255.255", false, false),
            ("100.128.0.1", false, false),
            ("[fe00::1]", false, false),
            ("notlan", false, true),
            ("gpu.notlan", false, false),
            ("local.example.com", false, false),
            ("172.32.0.1", false, false),
            ("8.8.8.8", false, false),
            ("[2606:4700::1]", false, false),
            ("localhost.example.com", false, false),
            ("0.0.0.1", false, false),
        ] {
            assert_eq!(near(&format!("http://{host}:11434")), (here, nearby), "{host}");
        }
    }

    #[test]
    fn wrong_base_urls_say_what_is_wrong() {
        let wrong = [
            ("localhost:11434", "neither http nor https but localhost"),
            ("api.openai.com/v1", "no http:// or https:// in front"),
            ("file:///etc/passwd", "neither http nor https but file"),
            ("http://", "cannot be read (empty host)"),
            ("", "no http:// or https:// in front"),
            ("https://user:pass@host/v1", "user name or password"),
            ("sk-canary-0123456789", "no http:// or https:// in front"),
        ];
        for (url, reason) in wrong {
            let error = host_of(url).unwrap_err();
            assert!(error.message.contains(reason), "{url}: {error}");
            assert!(!error.message.contains("pass@") && !error.message.contains("canary"));
        }
    }

    #[test]
    fn paths_join_with_and_without_slashes_versions_and_queries() {
        let join = |family, base: &str| Endpoint::parse("p", family, base).unwrap().join("v1/messages").to_string();
        assert_eq!(join(Family::Anthropic, "https://h"), "https://h/v1/messages");
        assert_eq!(join(Family::Anthropic, "https://h/v1/"), "https://h/v1/messages");
        assert_eq!(join(Family::Anthropic, "https://h/gate//?k=v#f"), "https://h/gate/v1/messages?k=v");
        let openai = Endpoint::parse("p", Family::OpenAiChat, "http://127.0.0.1:1/v1/").unwrap();
        assert_eq!(openai.join("chat/completions").as_str(), "http://127.0.0.1:1/v1/chat/completions");
        let whole = Endpoint::parse("a", Family::OpenAiResponses, "https://h/v1/responses/").unwrap();
        assert_eq!(whole.join("responses").as_str(), "https://h/v1/responses");
        assert!(openai.loopback && openai.has_version() && openai.is_plain());
    }
}
