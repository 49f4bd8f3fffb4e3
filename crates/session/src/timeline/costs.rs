use std::collections::HashMap;

use bosun_model::{AiMessage, Dropped, Usage};
use bosun_store::StoredCall;

/// What the model calls of a session and its subagents cost. A journal has a reply and its tokens, the book of calls has
/// the price that was paid then: a reply is found there by its tokens and its time.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// By what was reported; when each began, and what it cost, in the order of time.
    calls: HashMap<[Option<u64>; 5], Vec<(i64, f64)>>,
}

/// What a reply used, and when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paid {
    usage: Usage,
    /// Of the calls before it.
    dropped: Option<Dropped>,
    at: i64,
}

impl Paid {
    /// `None` where nothing was told of what the reply itself used.
    pub(super) fn of(message: &AiMessage, at: i64) -> Option<Self> {
        message.usage.map(|usage| Self { usage, dropped: message.dropped, at })
    }
}

impl Costs {
    pub(crate) fn new(calls: &[StoredCall]) -> Self {
        let mut costs = Self::default();
        for call in calls {
            if let Some(cost) = call.cost {
                costs.calls.entry(key(&call.usage)).or_default().push((call.at, cost));
            }
        }
        costs.calls.values_mut().for_each(|calls| calls.sort_by_key(|(at, _)| *at));
        costs
    }

    /// What a reply cost: its call is the last that began until it was recorded and used as much.
    pub(super) fn of(&self, Paid { usage, dropped, at }: Paid) -> Option<f64> {
        let calls = self.calls.get(&key(&usage))?;
        let until = calls.partition_point(|(began, _)| *began <= at);
        let (_, own) = until.checked_sub(1).and_then(|last| calls.get(last))?;
        dropped.map_or(Some(*own), |dropped| dropped.cost.map(|cost| cost + own))
    }
}

fn key(usage: &Usage) -> [Option<u64>; 5] {
    [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning]
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
