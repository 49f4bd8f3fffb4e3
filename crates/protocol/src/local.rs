use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ProviderFamily;

/// A model server that answered on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct LocalServerView {
    /// What it says that it is; its address, where it says nothing that is known.
    pub label: String,
    pub family: ProviderFamily,
    pub base_url: String,
    pub host: String,
    /// Whether it said that it runs its models itself. Any other may hand on all that it is sent.
    pub runs_itself: bool,
    /// How names of models end that it hands on, where it does not say of them who runs them.
    pub hands_on: Vec<String>,
    /// Models of which it says that it hands them on.
    pub handed_on: Vec<String>,
    /// Models of which it says that it runs them itself.
    pub runs: Vec<String>,
    /// The provider that speaks to it already; `None` where using it adds one.
    pub provider: Option<String>,
    /// What it offers; empty where it wants a key first, or has no model yet.
    pub models: Vec<LocalModel>,
    pub wants_key: bool,
}

/// A model that a server on this machine offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct LocalModel {
    pub name: String,
    /// Tokens, where the server says so.
    pub context_window: Option<u32>,
}
