//! KDE's settings, in the file `kioslaverc`.

use std::collections::HashMap;

use super::hosts::Hosts;
use super::{Choice, Servers};
use crate::network::ProxyServer;

/// What `texts` say, the last of them first.
pub(super) fn choice(texts: &[String]) -> Choice {
    let said: HashMap<&str, &str> = texts.iter().flat_map(|text| settings(text)).collect();
    let get = |name: &str| said.get(name).copied().unwrap_or_default();
    match get("ProxyType") {
        "1" => {
            let socks = || server(get("socksProxy"));
            let of = |name: &str| server(get(name)).or_else(socks);
            let listed = get("NoProxyFor").split([',', ' ']);
            let hosts = match get("ReversedException") {
                "true" | "1" => Hosts::only(listed),
                _ => Hosts::except(listed),
            };
            Choice::Servers(Servers { http: of("httpProxy"), https: of("httpsProxy"), hosts })
        }
        // With an address, or found by itself.
        "2" | "3" => Choice::Script,
        // None, or the environment, which counts before anyway.
        _ => Choice::Direct,
    }
}

/// What stands in the section about proxies. A name may have marks behind it (`[$i]`: it must not be changed).
fn settings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line.starts_with("[Proxy Settings]");
            return None;
        }
        let (name, value) = line.split_once('=').filter(|_| inside && !line.starts_with('#'))?;
        Some((name.split('[').next()?.trim(), value.trim()))
    })
}

/// `http://proxy.example 3128`, as KDE writes it, or with a colon.
fn server(text: &str) -> Option<ProxyServer> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(":");
    let text = match text.split_once("://") {
        Some(("socks" | "socks5", rest)) => format!("socks5h://{rest}"),
        Some(_) => text,
        None if text.is_empty() => return None,
        None => format!("http://{text}"),
    };
    ProxyServer::parse(&text).ok()
}
