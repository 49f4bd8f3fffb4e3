use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ModelRef, SessionId};

/// What model calls used and cost, by day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct UsageReport {
    /// All days of the report together.
    pub total: UsageTotal,
    /// Today, by this machine's clock, `YYYY-MM-DD`.
    pub today: String,
    /// Days with calls, last first.
    pub days: Vec<UsageDay>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct UsageDay {
    /// `YYYY-MM-DD`, by this machine's clock.
    pub day: String,
    pub total: UsageTotal,
    /// Dearest first.
    pub models: Vec<ModelUsage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ModelUsage {
    pub model: ModelRef,
    pub total: UsageTotal,
}

/// What several calls came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct UsageTotal {
    #[specta(type = specta_typescript::Number)]
    pub calls: u64,
    /// Tokens, as far as they were reported; what was read from the cache is part of it.
    #[specta(type = specta_typescript::Number)]
    pub input_tokens: u64,
    #[specta(type = specta_typescript::Number)]
    pub output_tokens: u64,
    #[specta(type = specta_typescript::Number)]
    pub cache_read_tokens: u64,
    /// US dollars of the calls whose cost is known.
    #[specta(type = specta_typescript::Number)]
    pub cost: f64,
    /// Calls whose cost is not known.
    #[specta(type = specta_typescript::Number)]
    pub unpriced: u64,
}

/// What a session and its subagents used and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct SessionUsage {
    pub total: UsageTotal,
    /// Dearest first.
    pub models: Vec<ModelUsage>,
    /// By who made them, dearest first, without calls of which that is not known.
    pub agents: Vec<AgentUsage>,
    /// The last calls, newest first.
    pub calls: Vec<CallUsage>,
}

/// What the calls of one agent came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct AgentUsage {
    pub agent: CallAgent,
    pub total: UsageTotal,
}

/// An agent that makes model calls: the session's own or one of its subagents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct CallAgent {
    /// Its own session, the root's or a subagent's.
    pub session: SessionId,
    pub name: String,
}

/// One model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct CallUsage {
    /// When it began, in milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub at: i64,
    pub milliseconds: u32,
    pub model: ModelRef,
    pub purpose: CallPurpose,
    /// Who made it; `None` of calls that were stored before that was.
    pub agent: Option<CallAgent>,
    /// `None` where it was not reported.
    #[specta(type = Option<specta_typescript::Number>)]
    pub input_tokens: Option<u64>,
    #[specta(type = Option<specta_typescript::Number>)]
    pub output_tokens: Option<u64>,
    #[specta(type = Option<specta_typescript::Number>)]
    pub cache_read_tokens: Option<u64>,
    #[specta(type = Option<specta_typescript::Number>)]
    pub reasoning_tokens: Option<u64>,
    /// US dollars; `None` where the price or the usage is not known.
    pub cost: Option<f64>,
}

/// What a model call was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CallPurpose {
    /// A step of the session or of one of its subagents.
    Answer,
    Summary,
    Title,
}
