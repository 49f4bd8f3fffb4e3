//! The query of a base URL: gateways want the version of their API there, and some the key.

use reqwest::Url;
use secrecy::SecretString;

use crate::redact::Redactor;

/// Names under which nobody is known by what follows.
const HARMLESS: [&str; 12] = [
    "alt",
    "api-version",
    "api_version",
    "apiversion",
    "beta",
    "deployment",
    "format",
    "location",
    "model",
    "region",
    "v",
    "version",
];

/// What stands in the query of `base_url` and may be a key, as it is written and as it is meant.
pub fn query_secrets(base_url: &str) -> Vec<SecretString> {
    let secrets = parts(base_url).filter(|part| !is_harmless(part)).flat_map(|part| {
        let (_, written) = split(part);
        let meant = Url::parse(&format!("http://host/?={written}")).ok();
        let meant = meant.and_then(|url| url.query_pairs().next().map(|(_, value)| value.into_owned()));
        [Some(written.to_owned()), meant].into_iter().flatten()
    });
    secrets.filter(|secret| !secret.is_empty()).map(SecretString::from).collect()
}

/// The name under which something in the query of `base_url` may be a key; `?` where it has none.
pub fn secret_in_query(base_url: &str) -> Option<&str> {
    parts(base_url).find(|part| !is_harmless(part)).map(|part| match split(part) {
        ("", _) => "?",
        (name, _) => name,
    })
}

/// `base_url` without what in its query may be a key, for where others read it.
pub fn without_query_secrets(base_url: &str) -> String {
    let bare = base_url.split(['?', '#']).next().unwrap_or_default();
    let kept: Vec<&str> = parts(base_url).filter(is_harmless).collect();
    if kept.is_empty() { bare.to_owned() } else { format!("{bare}?{}", kept.join("&")) }
}

fn parts(base_url: &str) -> impl Iterator<Item = &str> {
    let whole = base_url.split('#').next().unwrap_or_default();
    let query = whole.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter(|part| !part.is_empty())
}

/// A name and what follows it. What stands alone has no name.
fn split(part: &str) -> (&str, &str) {
    part.split_once('=').unwrap_or(("", part))
}

fn is_harmless(part: &&str) -> bool {
    let (name, value) = split(part);
    let is_known = HARMLESS.iter().any(|known| known.eq_ignore_ascii_case(name));
    value.is_empty() || is_known && Redactor::default().redact(value) == value
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_version_is_known_from_a_key() {
        let cases = [
            ("https://h/v1", &[][..], None, "https://h/v1"),
            ("https://h/v1?", &[], None, "https://h/v1"),
            ("https://h/v1?api-version=2024-10-21#top", &[], None, "https://h/v1?api-version=2024-10-21"),
            ("https://h?Alt=sse&key=ab%2Fcd", &["ab%2Fcd", "ab/cd"], Some("key"), "https://h?Alt=sse"),
            ("https://h/?subscription-key=0f9a8b7c", &["0f9a8b7c", "0f9a8b7c"], Some("subscription-key"), "https://h/"),
            ("https://h/?0f9a8b7c&v=2", &["0f9a8b7c", "0f9a8b7c"], Some("?"), "https://h/?v=2"),
            ("https://h/?version=sk-ant-canary-0123", &["sk-ant-canary-0123"; 2], Some("version"), "https://h/"),
            ("no address?token=0f9a8b7c", &["0f9a8b7c", "0f9a8b7c"], Some("token"), "no address"),
        ];
        for (url, secrets, name, kept) in cases {
            let found = query_secrets(url);
            assert_eq!(found.iter().map(ExposeSecret::expose_secret).collect::<Vec<_>>(), secrets, "{url}");
            assert_eq!((secret_in_query(url), without_query_secrets(url).as_str()), (name, kept), "{url}");
        }
    }
}
