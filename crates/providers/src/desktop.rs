//! The proxy of the person's desktop, for where neither Bosun's settings nor the environment name one.
//!
//! KDE keeps it in a file; GNOME, and the desktops that share its settings, are asked with their own program, by whoever may
//! start one. On macOS and Windows the HTTP library asks the system by itself. Both are read again after a while, so that a
//! change counts without a restart. A proxy that a script chooses (PAC) is not followed, and said to be there.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bosun_model::BoxFuture;
use reqwest::Url;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::network::ProxyServer;

mod gnome;
mod hosts;
mod kde;

/// How long what was read counts.
const FRESH: Duration = Duration::from_secs(30);

/// Who names a proxy before the desktop does. The library that asks proxies goes by them.
const VARIABLES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;
type ReadSchema = dyn Fn(&'static str) -> BoxFuture<'static, Option<String>> + Send + Sync;

/// The desktop's settings about proxies. Cheap to clone; clones share what was read.
#[derive(Clone)]
pub struct DesktopSettings {
    variables: Arc<Variables>,
    gsettings: Arc<ReadSchema>,
    read: Arc<Mutex<Option<Reading>>>,
}

impl fmt::Debug for DesktopSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DesktopSettings").finish_non_exhaustive()
    }
}

/// What was read, and when.
type Reading = (Instant, Arc<Set>);

/// What is set, and where.
#[derive(Debug)]
struct Set {
    desktop: &'static str,
    choice: Choice,
}

/// What a desktop is told about proxies.
#[derive(Debug, PartialEq, Eq)]
enum Choice {
    Direct,
    /// A script, which may have to be found first.
    Script,
    Servers(Servers),
}

#[derive(Debug, PartialEq, Eq)]
struct Servers {
    http: Option<ProxyServer>,
    https: Option<ProxyServer>,
    hosts: hosts::Hosts,
}

/// How an address is reached, as far as the desktop has a say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the environment has it, or directly.
    Unsaid,
    Through(ProxyServer),
    /// Directly, though a script of that desktop may name a proxy.
    Script(&'static str),
}

/// Which proxy is used where Bosun's settings name none, for people. Addresses are without a name and a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxySource {
    None,
    Environment {
        variable: String,
        address: String,
    },
    Desktop {
        desktop: String,
        address: String,
    },
    /// The desktop names a script, which is not followed.
    Script {
        desktop: String,
    },
    /// Whatever this system is set to.
    System,
}

impl DesktopSettings {
    /// `variables` gives what stands in a variable of the environment, `gsettings` what `gsettings list-recursively` prints
    /// of a schema.
    pub fn new<R>(
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
        gsettings: impl Fn(&'static str) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Option<String>> + Send + 'static,
    {
        let gsettings = move |schema| -> BoxFuture<'static, Option<String>> { Box::pin(gsettings(schema)) };
        Self { variables: Arc::new(variables), gsettings: Arc::new(gsettings), read: Arc::default() }
    }

    /// How `url` is reached. It is no address of this machine.
    pub(crate) async fn way(&self, url: &Url) -> Way {
        if self.in_environment().is_some() {
            return Way::Unsaid;
        }
        let Some(set) = self.set().await else { return Way::Unsaid };
        match &set.choice {
            Choice::Direct => Way::Unsaid,
            Choice::Script => Way::Script(set.desktop),
            Choice::Servers(servers) => {
                servers.of(url).filter(|_| !self.is_excepted(url)).map_or(Way::Unsaid, Way::Through)
            }
        }
    }

    /// What is used where Bosun's settings name no proxy.
    pub async fn source(&self) -> ProxySource {
        if let Some((variable, _)) = self.in_environment() {
            let address = self.environment_server().map(|server| server.address).unwrap_or_default();
            return ProxySource::Environment { variable: variable.to_owned(), address };
        }
        let Some(set) = self.set().await else { return ProxySource::System };
        let desktop = set.desktop.to_owned();
        match &set.choice {
            Choice::Direct => ProxySource::None,
            Choice::Script => ProxySource::Script { desktop },
            Choice::Servers(servers) => match servers.https.as_ref().or(servers.http.as_ref()) {
                Some(server) => ProxySource::Desktop { desktop, address: server.address.clone() },
                None => ProxySource::None,
            },
        }
    }

    /// The proxy that the environment names.
    pub(crate) fn environment_server(&self) -> Option<ProxyServer> {
        let (_, value) = self.in_environment()?;
        // The library that asks it takes one without a scheme for http.
        ProxyServer::parse(&value).or_else(|_| ProxyServer::parse(&format!("http://{value}"))).ok()
    }

    fn in_environment(&self) -> Option<(&'static str, String)> {
        VARIABLES.into_iter().find_map(|name| Some((name, self.variable(name)?)))
    }

    /// Whether `NO_PROXY` names it, which counts for whoever named the proxy.
    fn is_excepted(&self, url: &Url) -> bool {
        let named = self.variable("NO_PROXY").or_else(|| self.variable("no_proxy"));
        named.is_some_and(|named| !hosts::Hosts::except(named.split(',')).may_be_proxied(url))
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// What is set; `None` where the HTTP library asks the system by itself.
    async fn set(&self) -> Option<Arc<Set>> {
        if cfg!(any(windows, target_os = "macos")) {
            return None;
        }
        let mut read = self.read.lock().await;
        if let Some((_, set)) = read.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Some(Arc::clone(set));
        }
        let set = Arc::new(self.read_now().await);
        *read = Some((Instant::now(), Arc::clone(&set)));
        Some(set)
    }

    /// Of a session without a desktop (over SSH, in a timer), whichever has a proxy.
    async fn read_now(&self) -> Set {
        let desktops = self.variable("XDG_CURRENT_DESKTOP");
        let is_kde = desktops.as_ref().is_some_and(|names| names.split(':').any(|name| name == "KDE"));
        if is_kde || desktops.is_none() {
            let choice = kde::choice(&self.kde_files());
            if is_kde || choice != Choice::Direct {
                return Set { desktop: "KDE", choice };
            }
        }
        let said = (self.gsettings)(gnome::SCHEMA).await;
        Set { desktop: "GNOME", choice: said.map_or(Choice::Direct, |said| gnome::choice(&said)) }
    }

    /// The texts of KDE's file, the person's own last: what stands in a later one counts.
    fn kde_files(&self) -> Vec<String> {
        let shared = self.variable("XDG_CONFIG_DIRS").unwrap_or_else(|| "/etc/xdg".to_owned());
        let own = self.variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let own = own.or_else(|| Some(PathBuf::from(self.variable("HOME")?).join(".config")));
        let folders = shared.rsplit(':').map(PathBuf::from).chain(own);
        folders.filter_map(|folder| std::fs::read_to_string(folder.join("kioslaverc")).ok()).collect()
    }
}

impl Servers {
    fn of(&self, url: &Url) -> Option<ProxyServer> {
        let server = if url.scheme() == "https" { &self.https } else { &self.http };
        server.clone().filter(|_| self.hosts.may_be_proxied(url))
    }
}

#[cfg(test)]
#[path = "desktop_tests.rs"]
mod tests;
