use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{PriceView, Problem};

/// A model at a provider, written `provider:name` on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
pub struct ModelRef {
    pub provider: String,
    pub name: String,
}

/// A model the user can choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ModelChoice {
    pub model: ModelRef,
    /// Tokens, as the user, the provider's list or the catalogue says.
    pub context_window: Option<u32>,
    pub max_output: Option<u32>,
    /// What it is known to take; `false` where nothing is known of it.
    pub images: bool,
    pub documents: bool,
    pub audio: bool,
    pub video: bool,
    /// Whether it is known to think.
    pub reasoning: bool,
    /// `None` where it is not known.
    pub price: Option<PriceView>,
    /// Its replies are written down beforehand (the tour).
    pub scripted: bool,
}

/// A provider as the settings show it. Keys never cross in this direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ProviderView {
    pub id: String,
    pub label: String,
    pub family: ProviderFamily,
    /// Whether the person chose the family: the address has no say in it then.
    pub chosen: bool,
    pub base_url: String,
    /// Where its requests go, as people know it; empty for the tour, which sends nothing.
    pub host: String,
    /// Whether its server is on this machine.
    pub local: bool,
    /// Whether that server said that it runs its models itself. Any other may hand on all that it is sent.
    pub runs_itself: bool,
    /// How names of models end that it hands on, where it does not say of them who runs them.
    pub hands_on: Vec<String>,
    /// Models of which it says that it hands them on.
    pub handed_on: Vec<String>,
    /// Models of which it says that it runs them itself.
    pub runs: Vec<String>,
    pub key: KeySource,
    /// Where the vendor gives out keys.
    pub key_page: Option<String>,
    /// Whether it works without a key (servers on this machine).
    pub key_optional: bool,
    /// Whether it was added by the user and can be removed.
    pub custom: bool,
    /// Whether a built-in one has another name or address than it came with, and can go back to them.
    pub changed: bool,
    /// Names of the headers that the user had added to every request; their values are where keys are.
    pub headers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ProviderFamily {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
    Ollama,
    Bedrock,
    Vertex,
    Tour,
}

/// Where the key in use comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum KeySource {
    Missing,
    Keyring,
    Environment {
        variable: String,
    },
    /// The cloud's own credentials on this machine; `from` names the variable, or the profile or file.
    Cloud {
        from: String,
    },
    /// Kept for this run only, because no keyring took it.
    Memory {
        why: Problem,
    },
    /// A key is stored, but the keyring is locked or did not answer.
    Locked {
        why: Problem,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SaveProvider {
    /// `None` adds a custom provider.
    pub id: Option<String>,
    pub label: String,
    pub family: ProviderFamily,
    /// Whether the person chose the family: the address has no say in it then.
    pub chosen: bool,
    pub base_url: String,
    /// `None` keeps the key, an empty text removes it.
    pub key: Option<String>,
}

/// What a small call to the provider said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum TestCall {
    /// `model` is the one that was called; `None` where only the list could be looked at, whose first names are `reply`.
    Works { model: Option<String>, reply: String, milliseconds: u32 },
    /// `model` is the one that was called; `None` where nothing came so far.
    Fails { model: Option<String>, problem: Problem },
}

/// When and from where the program has what it knows of models beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct CatalogueView {
    /// As `2026-01-31`.
    pub date: String,
    /// In English, as the catalogue itself says it.
    pub source: String,
}

/// Tokens and money; `None` means unknown, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct UsageSummary {
    #[specta(type = specta_typescript::Number)]
    pub input_tokens: u64,
    #[specta(type = specta_typescript::Number)]
    pub output_tokens: u64,
    #[specta(type = specta_typescript::Number)]
    pub cache_read_tokens: u64,
    /// US dollars; `None` where a price or a usage report is missing.
    pub cost: Option<f64>,
    /// Tokens in the model's window at the last call.
    #[specta(type = Option<specta_typescript::Number>)]
    pub context_tokens: Option<u64>,
    pub context_window: Option<u32>,
}
