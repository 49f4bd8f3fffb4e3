use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{GrepMatch, VirtualPath};

/// Bytes of what one search holds: many times what any result shows.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What takes memory.
pub(super) trait Weigh {
    /// Bytes, roughly.
    fn weight(&self) -> usize;
}

impl Weigh for VirtualPath {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.as_str().len()
    }
}

/// The path is shared between the matches of a file.
impl Weigh for GrepMatch {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.text.len()
    }
}

/// The first `limit` of all that is offered, in their order, whichever thread comes first; fewer where these are more than
/// is held.
pub(super) struct Top<T> {
    limit: usize,
    most_bytes: usize,
    kept: Mutex<Kept<T>>,
    full: AtomicBool,
}

struct Kept<T> {
    /// One more than the limit, to tell "exactly all" from "more than that".
    items: BinaryHeap<T>,
    bytes: usize,
    /// What came behind these was let go.
    cut: bool,
}

impl<T: Ord + Weigh> Top<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self::within(limit, MOST_BYTES)
    }

    fn within(limit: usize, most_bytes: usize) -> Self {
        let kept = Kept { items: BinaryHeap::new(), bytes: 0, cut: false };
        Self { limit, most_bytes, kept: Mutex::new(kept), full: AtomicBool::new(false) }
    }

    /// Returns whether it was kept. Once it was not, nothing that comes later in the order will be.
    pub(super) fn offer(&self, item: T) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = kept.cut || kept.items.len() > self.limit;
        if is_full && kept.items.peek().is_some_and(|last| item >= *last) {
            return false;
        }
        kept.bytes += item.weight();
        kept.items.push(item);
        while kept.items.len() > self.limit + 1 || kept.bytes > self.most_bytes && kept.items.len() > 1 {
            let Some(last) = kept.items.pop() else { break };
            kept.bytes -= last.weight();
            kept.cut = true;
        }
        self.full.store(kept.cut || kept.items.len() > self.limit, Ordering::Release);
        true
    }

    /// Whether something that `comes_before` the last one kept can still be of use.
    pub(super) fn may_take(&self, comes_before: impl FnOnce(&T) -> bool) -> bool {
        if !self.full.load(Ordering::Acquire) {
            return true;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.items.peek().is_none_or(comes_before)
    }

    /// The items in order, and whether there were more.
    pub(super) fn into_sorted(self) -> (Vec<T>, bool) {
        let Kept { items, cut, .. } = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut items = items.into_sorted_vec();
        let more = cut || items.len() > self.limit;
        items.truncate(self.limit);
        (items, more)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    impl Weigh for u32 {
        fn weight(&self) -> usize {
            10
        }
    }

    #[test]
    fn the_first_stay_within_the_number_and_the_bytes() {
        let all = 0..100;
        let orders: [Vec<u32>; 3] =
            [all.clone().collect(), all.clone().rev().collect(), all.clone().map(|number| number * 37 % 100).collect()];
        for (limit, most_bytes, kept) in [(5, 1000, 5), (0, 1000, 0), (100, 1000, 100), (50, 105, 10), (50, 3, 1)] {
            for order in &orders {
                let top = Top::within(limit, most_bytes);
                for number in order {
                    let was_kept = top.offer(*number);
                    assert!(was_kept || !top.may_take(|last| number < last));
                }
                let (found, more) = top.into_sorted();
                assert_eq!((found, more), ((0..kept).collect(), kept < 100), "{limit} {most_bytes}");
            }
        }
    }
}
