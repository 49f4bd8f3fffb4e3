//! GNOME's settings, as `gsettings list-recursively` prints them: a line for each, `SCHEMA KEY VALUE`.

use std::collections::HashMap;

use super::hosts::Hosts;
use super::{Choice, Servers};
use crate::network::ProxyServer;

/// What has all about proxies below it.
pub(super) const SCHEMA: &str = "org.gnome.system.proxy";

/// What was said, by the names of its schema below [`SCHEMA`] and its key.
struct Said<'a>(HashMap<(&'a str, &'a str), &'a str>);

pub(super) fn choice(printed: &str) -> Choice {
    let said = Said(printed.lines().filter_map(line).collect());
    match said.text("", "mode").as_str() {
        "auto" => Choice::Script,
        "manual" => Choice::Servers(said.servers()),
        _ => Choice::Direct,
    }
}

fn line(line: &str) -> Option<((&str, &str), &str)> {
    let (schema, rest) = line.split_once(' ')?;
    let (key, value) = rest.split_once(' ')?;
    Some(((schema.strip_prefix(SCHEMA)?, key), value.trim()))
}

impl Said<'_> {
    fn raw(&self, schema: &str, key: &str) -> &str {
        self.0.get(&(schema, key)).copied().unwrap_or_default()
    }

    fn text(&self, schema: &str, key: &str) -> String {
        texts(self.raw(schema, key)).into_iter().next().unwrap_or_default()
    }

    /// The settings of today name each server. Those of before had one for all, which still stands in the schema.
    fn servers(&self) -> Servers {
        let http = self.server("http", ".http");
        let socks = || self.server("socks5h", ".socks");
        let same = || http.clone().filter(|_| self.raw("", "use-same-proxy") == "true");
        let https = self.server("http", ".https").or_else(same).or_else(socks);
        let ignored = texts(self.raw("", "ignore-hosts"));
        Servers { http: http.clone().or_else(socks), https, hosts: Hosts::except(ignored.iter().map(String::as_str)) }
    }

    fn server(&self, scheme: &str, schema: &str) -> Option<ProxyServer> {
        let host = self.text(schema, "host");
        let host = host.trim();
        let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
        let port = self.raw(schema, "port").parse().ok().filter(|port: &u16| *port > 0);
        let address = format!("{scheme}://{host}{}", port.map(|port| format!(":{port}")).unwrap_or_default());
        let server = ProxyServer::parse(&address).ok().filter(|_| !host.is_empty())?;
        let (user, password) =
            (self.text(".http", "authentication-user"), self.text(".http", "authentication-password"));
        let asks = self.raw(".http", "use-authentication") == "true" && scheme == "http" && !user.is_empty();
        Some(if asks { server.with_login(user, password) } else { server })
    }
}

/// The strings of a value, in the order they stand there: `'a'`, `"it's"`, `['a', 'b']`.
fn texts(value: &str) -> Vec<String> {
    let (mut texts, mut text, mut open) = (Vec::new(), String::new(), None);
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match (letter, open) {
            (letter, Some(quote)) if letter == quote => {
                texts.push(std::mem::take(&mut text));
                open = None;
            }
            ('\\', Some(_)) => text.extend(letters.next()),
            (letter, Some(_)) => text.push(letter),
            ('\'' | '"', None) => open = Some(letter),
            _ => {}
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn strings_as_they_are_printed() {
        assert_eq!(texts("['a', 'b c', \"it's\"]"), ["a", "b c", "it's"]);
        assert_eq!(texts(r"'a\'b\\'"), [r"a'b\"]);
        assert_eq!(texts("@as []"), Vec::<String>::new());
        assert_eq!(texts("'never ended"), Vec::<String>::new());
    }
}
