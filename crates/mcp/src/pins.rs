use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bosun_model::ToolSpec;
use serde::{Deserialize, Serialize};

use crate::schema;

/// What was seen of each tool when it was let in: server, tool (both by their own names), BLAKE3 of its description and
/// its arguments. A tool that is met for the first time is let in; one that differs from its pin is off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolPins {
    servers: BTreeMap<String, BTreeMap<String, String>>,
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
            known.extend(tools.iter().map(|(tool, hash)| (tool.clone(), hash.clone())));
        }
    }

    pub(crate) fn get(&self, server: &str, tool: &str) -> Option<&str> {
        self.servers.get(server)?.get(tool).map(String::as_str)
    }

    pub(crate) fn set(&mut self, server: &str, tool: &str, hash: &str) {
        self.servers.entry(server.to_owned()).or_default().insert(tool.to_owned(), hash.to_owned());
    }
}

/// What a pin holds of a tool: everything that a model is told about it, and only that.
pub(crate) fn hash_of(spec: &ToolSpec) -> String {
    let told = serde_json::json!([spec.name, spec.description, schema::canonical(&spec.schema)]);
    blake3::hash(told.to_string().as_bytes()).to_hex().to_string()
}
