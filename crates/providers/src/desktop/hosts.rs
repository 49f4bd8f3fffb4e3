//! The hosts that a list of exceptions names.

use std::net::IpAddr;

use reqwest::Url;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hosts {
    entries: Vec<Entry>,
    only: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Every,
    /// Names without a dot.
    Plain,
    /// Addresses that begin with so many of these bits.
    Addresses(IpAddr, u32),
    /// A name and all below it, at every port where none is said.
    Name(String, Option<u16>),
}

impl Hosts {
    /// All but those of `list` go through the proxy.
    pub(super) fn except<'a>(list: impl IntoIterator<Item = &'a str>) -> Self {
        Self { entries: list.into_iter().filter_map(entry).collect(), only: false }
    }

    /// Those of `list` alone go through the proxy.
    pub(super) fn only<'a>(list: impl IntoIterator<Item = &'a str>) -> Self {
        Self { only: true, ..Self::except(list) }
    }

    pub(super) fn may_be_proxied(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        self.entries.iter().any(|entry| entry.names(host, url.port_or_known_default())) == self.only
    }
}

impl Entry {
    fn names(&self, host: &str, port: Option<u16>) -> bool {
        match self {
            Self::Every => true,
            Self::Plain => !host.contains(['.', ':']),
            Self::Addresses(first, bits) => {
                host.trim_matches(['[', ']']).parse().is_ok_and(|address| begins(address, *first, *bits))
            }
            Self::Name(name, at) => {
                let below = host.strip_suffix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                below && at.is_none_or(|at| port == Some(at))
            }
        }
    }
}

fn begins(address: IpAddr, first: IpAddr, bits: u32) -> bool {
    match (address, first) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (u32::from(one) ^ u32::from(other)).checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            (u128::from(one) ^ u128::from(other)).checked_shr(128 - bits).unwrap_or(0) == 0
        }
        _ => false,
    }
}

fn entry(text: &str) -> Option<Entry> {
    let text = text.trim().to_lowercase();
    match text.as_str() {
        "" => return None,
        "*" => return Some(Entry::Every),
        "<local>" => return Some(Entry::Plain),
        _ => {}
    }
    if let Some(addresses) = addresses(&text) {
        return Some(addresses);
    }
    let (name, port) = match text.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?))) {
        Some((name, port)) => (name, Some(port)),
        None => (text.as_str(), None),
    };
    let name = name.trim_start_matches('*').trim_matches('.');
    (!name.is_empty()).then(|| Entry::Name(name.to_owned(), port))
}

fn addresses(text: &str) -> Option<Entry> {
    let (first, bits) = match text.split_once('/') {
        Some((first, bits)) => (first, Some(bits.parse().ok()?)),
        None => (text, None),
    };
    let first: IpAddr = first.trim_matches(['[', ']']).parse().ok()?;
    let most = if first.is_ipv4() { 32 } else { 128 };
    Some(Entry::Addresses(first, bits.unwrap_or(most).min(most)))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn named(list: &str, url: &str) -> bool {
        !Hosts::except(list.split(' ')).may_be_proxied(&url.parse().unwrap())
    }

    #[test]
    fn names_hold_all_below_them() {
        for list in ["example.com", ".example.com", "*.example.com", "EXAMPLE.com."] {
            assert!(named(list, "https://example.com/v1") && named(list, "https://a.b.example.com"), "{list}");
            assert!(!named(list, "https://notexample.com") && !named(list, "https://example.com.evil"), "{list}");
        }
        assert!(named("a.b:8443", "https://a.b:8443") && !named("a.b:8443", "https://a.b"));
        assert!(named("a.b:443", "https://a.b"));
        assert!(named("<local>", "http://nas:9000") && !named("<local>", "http://nas.lan"));
        assert!(named("x *", "http://any.where") && !named(" ", "http://any.where"));
    }

    #[test]
    fn addresses_go_by_their_bits() {
        assert!(named("10.0.0.0/8", "http://10.200.3.4:11434") && !named("10.0.0.0/8", "http://11.0.0.1"));
        assert!(named("192.168.1.7", "http://192.168.1.7") && !named("192.168.1.7", "http://192.168.1.70"));
        assert!(named("fd00::/8", "http://[fd12::1]:80") && !named("fd00::/8", "http://[fe80::1]"));
        assert!(named("[fd12::1]", "http://[fd12::1]"));
        assert!(named("0.0.0.0/0", "http://8.8.8.8") && !named("0.0.0.0/0", "http://[fd12::1]"));
        assert_eq!(addresses("10.0.0.0/x"), None);
    }

    #[test]
    fn a_list_can_say_who_alone_goes_through() {
        let only = Hosts::only(["example.com"]);
        let may = |url: &str| only.may_be_proxied(&url.parse().unwrap());
        assert_eq!((may("https://api.example.com"), may("https://other.com")), (true, false));
    }
}
