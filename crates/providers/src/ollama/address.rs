use std::net::IpAddr;

use crate::endpoint::Endpoint;
use crate::{Family, preset};

const PORT: u16 = 11_434;

/// The base URL that `OLLAMA_HOST` means, read as Ollama reads it: `HOST`, `HOST:PORT` or `:PORT`, with or without a scheme,
/// quoted or not. An address that stands for all of this machine's own is one to listen at; it is asked as `localhost`, and
/// so is the one that Ollama has by itself. `None` for that of the preset, and for what is none.
pub(crate) fn address_of(variable: &str) -> Option<String> {
    let text = variable.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let port_of_scheme = match scheme {
        "http" => 80,
        "https" => 443,
        _ => PORT,
    };
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let is_whole_address = place.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let (host, port) = match place.rsplit_once(':').filter(|_| !is_whole_address) {
        Some((host, port)) => (host, port.parse().unwrap_or(port_of_scheme)),
        None => (place, port_of_scheme),
    };
    let host = host.trim_matches(['[', ']']);
    let is_own = |ip: IpAddr| ip.is_unspecified() || ip == IpAddr::from([127, 0, 0, 1]);
    let host = match host.parse::<IpAddr>() {
        Ok(ip) if is_own(ip.to_canonical()) => "localhost".to_owned(),
        Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
        _ if host.is_empty() => "localhost".to_owned(),
        _ => host.to_owned(),
    };
    let scheme = if scheme == "https" { "https" } else { "http" };
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    let base_url = format!("{scheme}://{host}:{port}{slash}{path}");
    let is_other = preset("ollama").is_none_or(|preset| preset.base_url != base_url);
    (is_other && Endpoint::parse("ollama", Family::Ollama, &base_url).is_ok()).then_some(base_url)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn it_is_read_as_ollama_reads_it() {
        for (variable, base_url) in [
            ("", None),
            ("0.0.0.0", None),
            ("127.0.0.1:11434", None),
            ("[::]:11434", None),
            ("localhost", None),
            (":11500", Some("http://localhost:11500")),
            ("0.0.0.0:11500", Some("http://localhost:11500")),
            ("\"127.0.0.1:11500\" ", Some("http://localhost:11500")),
            ("gpu-box", Some("http://gpu-box:11434")),
            ("gpu-box:8080", Some("http://gpu-box:8080")),
            ("http://gpu-box", Some("http://gpu-box:80")),
            ("https://gpu.example", Some("https://gpu.example:443")),
            ("https://gpu.example/ollama/", Some("https://gpu.example:443/ollama")),
            ("192.168.1.4", Some("http://192.168.1.4:11434")),
            ("[::1]:11500", Some("http://[::1]:11500")),
            ("::1", Some("http://[::1]:11434")),
            ("gpu-box:none", Some("http://gpu-box:11434")),
            ("a b", None),
        ] {
            assert_eq!(address_of(variable).as_deref(), base_url, "{variable:?}");
        }
    }
}
