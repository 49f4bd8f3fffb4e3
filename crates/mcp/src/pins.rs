use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bosun_model::ToolSpec;
use serde::{Deserialize, Serialize};

use crate::schema;

/// What was seen of each tool when it was let in, by server and tool (both by their own names). A tool that is met for the
/// first time is let in; one that differs from its pin is off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolPins {
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
}

/// BLAKE3 of a tool's description and arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Pin {
    Seen(String),
    /// Of a tool that the server did not have when it was first met: what a person said of all its tools was not said of
    /// this one.
    Later {
        later: String,
    },
}

/// Keeps pins beyond the life of the app.
pub trait PinStore: Send + Sync {
    /// The pins as they were kept last.
    fn load(&self) -> ToolPins;

    /// Keeps them. Called with everything whenever something changed; a failure is the keeper's to report.
    fn save(&self, pins: &ToolPins);
}

/// Keeps pins no longer than it lives: what a single run without storage uses.
#[derive(Debug, Default)]
pub struct Unkept(Mutex<ToolPins>);

impl PinStore for Unkept {
    fn load(&self) -> ToolPins {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn save(&self, pins: &ToolPins) {
        pins.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl ToolPins {
    /// Takes over everything `newer` holds.
    pub fn merge(&mut self, newer: &Self) {
        for (server, tools) in &newer.servers {
            let known = self.servers.entry(server.clone()).or_default();
            known.extend(tools.iter().map(|(tool, pin)| (tool.clone(), pin.clone())));
        }
    }

    pub(crate) fn get(&self, server: &str, tool: &str) -> Option<&str> {
        self.servers.get(server)?.get(tool).map(|pin| match pin {
            Pin::Seen(hash) | Pin::Later { later: hash } => hash.as_str(),
        })
    }

    pub(crate) fn set(&mut self, server: &str, tool: &str, hash: &str) {
        let pin = |hash: String| if self.is_later(server, tool) { Pin::Later { later: hash } } else { Pin::Seen(hash) };
        let pin = pin(hash.to_owned());
        self.servers.entry(server.to_owned()).or_default().insert(tool.to_owned(), pin);
    }

    /// Lets in those of a server's tools that were never met.
    pub(crate) fn meet<'a>(&mut self, server: &str, tools: impl Iterator<Item = (&'a str, &'a str)>) {
        let is_known = self.servers.get(server).is_some_and(|known| !known.is_empty());
        let known = self.servers.entry(server.to_owned()).or_default();
        for (tool, hash) in tools {
            let pin = |hash: String| if is_known { Pin::Later { later: hash } } else { Pin::Seen(hash) };
            known.entry(tool.to_owned()).or_insert_with(|| pin(hash.to_owned()));
        }
    }

    /// Whether a tool came after its server was first met.
    pub(crate) fn is_later(&self, server: &str, tool: &str) -> bool {
        self.servers.get(server).and_then(|tools| tools.get(tool)).is_some_and(|pin| matches!(pin, Pin::Later { .. }))
    }
}

/// What a pin holds of a tool: everything that a model is told about it, and only that.
pub(crate) fn hash_of(spec: &ToolSpec) -> String {
    let told = serde_json::json!([spec.name, spec.description, schema::canonical(&spec.schema)]);
    blake3::hash(told.to_string().as_bytes()).to_hex().to_string()
}
