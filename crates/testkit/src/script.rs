use serde::{Deserialize, Serialize};

use crate::Rule;

/// A script file: everything a [`crate::ModelServer`] answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub rules: Vec<Rule>,
    /// What `GET /v1/models` lists.
    pub models: Vec<String>,
    /// Requests without this key (`x-api-key` or a bearer token) are refused with 401.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether requests are kept for [`crate::ModelServer::requests`]. Off for benchmarks, where bodies add up.
    pub log: Log,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Log {
    #[default]
    On,
    Off,
}

impl Script {
    /// Reads a script file's text.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}
