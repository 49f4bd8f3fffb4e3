//! Limits as TOML and the command line name them. What is left out stays as it was, so that of several places that name
//! limits each changes only those it names.

use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Deserializer, Serialize};

use super::set;
use crate::DeepAgentConfig;

/// `[limits]`: of each agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredLimits {
    /// Model calls of a turn.
    pub max_steps: Option<NonZeroU32>,
    pub max_depth: Option<u32>,
    pub max_subagents: Option<usize>,
}

/// `[guards]`: of a turn with all its subagents; the fields of [`crate::GuardOptions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredGuards {
    pub max_steps: Option<NonZeroU64>,
    pub max_tokens: Option<NonZeroU64>,
    #[serde(deserialize_with = "dollars")]
    pub max_dollars: Option<f64>,
    pub max_seconds: Option<NonZeroU64>,
    pub same_failures: Option<usize>,
}

impl DeclaredLimits {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn apply(&self, config: &mut DeepAgentConfig) {
        set(&mut config.limits.max_steps, self.max_steps.map(NonZeroU32::get));
        set(&mut config.limits.max_depth, self.max_depth);
        set(&mut config.limits.max_subagents, self.max_subagents);
    }
}

impl DeclaredGuards {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn apply(&self, config: &mut DeepAgentConfig) {
        let guards = &mut config.guards;
        guards.max_steps = self.max_steps.map(NonZeroU64::get).or(guards.max_steps);
        guards.max_tokens = self.max_tokens.map(NonZeroU64::get).or(guards.max_tokens);
        guards.max_dollars = self.max_dollars.or(guards.max_dollars);
        guards.max_seconds = self.max_seconds.map(NonZeroU64::get).or(guards.max_seconds);
        set(&mut guards.same_failures, self.same_failures);
    }
}

/// An amount that a turn can reach: one of nothing would end every turn before its first call, and no number none.
fn dollars<'de, D: Deserializer<'de>>(given: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(given)? {
        Some(amount) if !amount.is_finite() || amount <= 0.0 => {
            Err(serde::de::Error::custom(format!("{amount} is no amount of US dollars above 0")))
        }
        amount => Ok(amount),
    }
}
