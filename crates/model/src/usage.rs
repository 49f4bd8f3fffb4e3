use serde::{Deserialize, Serialize};

use crate::{AiMessage, ModelInfo};

/// Tokens of one model call, as the provider counts them, and what it charged, where it says so. `None` means "not reported", never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens, cached ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The part of `input` read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// The part of `input` written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The part of `cache_write` that is kept for an hour, which costs more than the usual five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<u64>,
    /// The part of `output` spent on reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The part of `input` that was sound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<u64>,
    /// The part of `cache_read` that was sound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_read: Option<u64>,
    /// US dollars that the provider says it charged for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<f64>,
}

impl Usage {
    /// That of two calls, either of which may have told none.
    pub fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.plus(other)),
            (one, other) => one.or(other),
        }
    }

    /// Adds another call's usage; a field unknown on one side keeps the other's figure. What was charged for both is known
    /// where it is for each.
    pub fn plus(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            input: add(self.input, other.input),
            output: add(self.output, other.output),
            cache_read: add(self.cache_read, other.cache_read),
            cache_write: add(self.cache_write, other.cache_write),
            cache_write_hour: add(self.cache_write_hour, other.cache_write_hour),
            reasoning: add(self.reasoning, other.reasoning),
            audio: add(self.audio, other.audio),
            audio_read: add(self.audio_read, other.audio_read),
            charged: self.charged.zip(other.charged).map(|(one, other)| one + other),
        }
    }
}

/// What calls came to whose replies were dropped.
///
/// Their cost is kept with them: a price may go by the length of one call, and each may have been made by another model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Of those that told; tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// US dollars; `None` where that of one of them is not known, and in journals from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Dropped {
    /// `before`, and `reply` of `model`, which is dropped too.
    pub fn with(before: Option<Self>, reply: &AiMessage, model: &ModelInfo) -> Self {
        let cost = reply.cost(model);
        let Some(before) = before else { return Self { usage: reply.spent().unwrap_or_default(), cost } };
        let usage = reply.spent().map_or(before.usage, |usage| before.usage.plus(usage));
        Self { usage, cost: before.cost.zip(cost).map(|(sum, cost)| sum + cost) }
    }
}
