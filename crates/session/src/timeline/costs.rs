use std::collections::HashMap;

use bosun_model::{AiMessage, Dropped, Usage};
use bosun_store::StoredCall;

/// What the model calls of a session and its subagents cost, for journals from before a reply said what it had: the book
/// of calls has that, and a reply is found there by its tokens and its time.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// By what was reported; when each began, and what it cost, in the order of time.
    calls: HashMap<[Option<u64>; 5], Vec<(i64, f64)>>,
}

/// What is known of the cost of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is looked at and gone: a box for each would cost more than its place"
)]
pub(super) enum Paid {
    /// US dollars, as the journal has them.
    Said(f64),
    /// The journal is from before that; what the reply used is.
    Unsaid {
        usage: Usage,
        /// Of the calls before it.
        dropped: Option<Dropped>,
        /// When it was recorded.
        at: i64,
    },
}

impl Paid {
    /// Of a reply whose entry has `cost`; `None` where that is not known.
    pub(super) fn of(message: &AiMessage, cost: Option<f64>, at: i64) -> Option<Self> {
        // Who was asked came into journals together with the cost.
        match cost {
            Some(cost) => Some(Self::Said(cost)),
            None if message.asked.is_some() => None,
            None => message.usage.map(|usage| Self::Unsaid { usage, dropped: message.dropped, at }),
        }
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

    /// What a reply cost. Where its entry does not say so, its call is the last that began until it was recorded and used as
    /// much.
    pub(super) fn of(&self, paid: Paid) -> Option<f64> {
        let (usage, dropped, at) = match paid {
            Paid::Said(cost) => return Some(cost),
            Paid::Unsaid { usage, dropped, at } => (usage, dropped, at),
        };
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
