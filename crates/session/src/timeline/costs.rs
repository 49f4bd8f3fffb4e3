use std::collections::HashMap;

use bosun_model::{AiMessage, Usage};
use bosun_store::StoredCall;

/// What the model calls of a session and its subagents cost. A journal has a reply and its tokens, the book of calls has
/// the price that was paid then: a reply is found there by its tokens and its time.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// By what was reported; when each began, and what it cost, in the order of time.
    calls: HashMap<[Option<u64>; 5], Vec<(i64, f64)>>,
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

    /// What a reply that was recorded at `at` cost: its call is the last that began until then and used as much.
    pub(super) fn of(&self, message: &AiMessage, at: i64) -> Option<f64> {
        let calls = self.calls.get(&key(&message.usage?))?;
        let until = calls.partition_point(|(began, _)| *began <= at);
        until.checked_sub(1).and_then(|last| calls.get(last)).map(|(_, cost)| *cost)
    }
}

fn key(usage: &Usage) -> [Option<u64>; 5] {
    [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning]
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
