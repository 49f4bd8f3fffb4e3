use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ModelRef;

/// What the user set about models, apart from accounts and keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct ModelSettings {
    /// What the user knows better than the catalogue.
    pub known: Vec<KnownModel>,
    /// How much single models think in new sessions; a session may choose for itself.
    pub efforts: Vec<ModelEffort>,
    /// Answers the rest of a turn where the session's model is overloaded.
    pub fallback: Option<ModelRef>,
    /// Writes titles and summaries.
    pub small: Option<ModelRef>,
    pub budgets: Budgets,
    pub network: NetworkSettings,
}

/// What is said of one model; what is `None` stays as it was known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct KnownModel {
    pub model: ModelRef,
    /// Tokens the model can read and write in one call.
    pub context_window: Option<u32>,
    pub max_output: Option<u32>,
    pub images: Option<bool>,
    pub documents: Option<bool>,
    pub audio: Option<bool>,
    pub video: Option<bool>,
    pub reasoning: Option<bool>,
    pub price: Option<PriceView>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct PriceView {
    #[specta(type = specta_typescript::Number)]
    pub input: f64,
    #[specta(type = specta_typescript::Number)]
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
    /// What is kept for an hour; at the price of `cache_write` where it is not set.
    pub cache_write_hour: Option<f64>,
    /// Sound that goes in; what a call with sound costs is unknown where it is not set.
    #[serde(default)]
    pub audio: Option<f64>,
}

/// How much a model should think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all, where the model can do without.
    Off,
    Low,
    Medium,
    High,
    /// As much as the model can.
    Max,
}

/// What the levels of thinking come to for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ThinkingLevels {
    /// Whether it thinks also where it is told not to, as far as its name says: off is the least of it.
    pub always: bool,
    /// The levels that its server is told; none where it is told nothing, or the model does not think.
    pub levels: Vec<ToldLevel>,
}

/// A level that a server is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToldLevel {
    pub level: Effort,
    /// The level that is offered and comes to the same; itself where it is offered.
    pub offered: Effort,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ModelEffort {
    pub model: ModelRef,
    pub effort: Effort,
}

/// What may be spent. Calls whose price is not known cannot be counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct Budgets {
    pub session: Budget,
    /// From midnight to midnight, of this machine's clock.
    pub day: Budget,
}

/// US dollars; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct Budget {
    /// The person is told once.
    pub warn: Option<f64>,
    /// No model is called beyond it. Everything is kept; a higher limit and "continue" go on.
    pub stop: Option<f64>,
}

/// How the network is used; what is `None` is as the system has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct NetworkSettings {
    pub proxy: Option<String>,
    /// Certificates to trust beside the system's, in PEM.
    pub certificates: Option<String>,
    pub connect_seconds: Option<u32>,
    pub first_byte_seconds: Option<u32>,
    pub idle_seconds: Option<u32>,
    pub total_seconds: Option<u32>,
}

/// Which proxy is asked where the settings name none. Addresses are without a name and a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum SystemProxy {
    None,
    /// A variable of the environment.
    Environment {
        variable: String,
        address: String,
    },
    /// The desktop's settings.
    Desktop {
        desktop: String,
        address: String,
    },
    /// The desktop's settings name a script, which is not run.
    Script {
        desktop: String,
    },
    /// Whatever this system is set to.
    System,
}
