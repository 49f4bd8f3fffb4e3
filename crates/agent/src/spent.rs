use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bosun_model::Usage;

/// What a turn and its subagents have cost since the turn began or was continued. Shared by the whole tree, so that a
/// limit cannot be got round by delegating.
#[derive(Debug, Default)]
pub struct Spent {
    steps: AtomicU64,
    tokens: AtomicU64,
    /// Millionths of a US dollar.
    money: AtomicU64,
    told_uncounted: AtomicBool,
}

impl Spent {
    /// Counts one model call. What it cost counts as nothing where it is unknown.
    pub fn add(&self, usage: Option<Usage>, dollars: Option<f64>) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let Some(usage) = usage else { return };
        let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
        if let Some(dollars) = dollars {
            self.money.fetch_add((dollars * 1e6).round() as u64, Ordering::Relaxed);
        }
    }

    /// Whether nobody was told yet that some of the money is not counted. From now on somebody was.
    pub fn tell_uncounted(&self) -> bool {
        !self.told_uncounted.swap(true, Ordering::Relaxed)
    }

    /// Model calls.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// US dollars, as far as prices are known.
    pub fn dollars(&self) -> f64 {
        self.money.load(Ordering::Relaxed) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn calls_count_with_and_without_a_cost() {
        let usage = Usage { input: Some(1_000), output: Some(100), cache_read: Some(600), ..Usage::default() };
        let spent = Spent::default();
        spent.add(Some(usage), Some(0.002_88));
        spent.add(Some(usage), None);
        spent.add(None, None);
        assert_eq!((spent.steps(), spent.tokens()), (3, 2_200));
        assert_eq!(spent.dollars(), 0.002_88);
    }
}
