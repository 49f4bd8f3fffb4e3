use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The first `limit` of all that is offered, in their order, whichever thread comes first.
pub(super) struct Top<T> {
    limit: usize,
    /// One more than the limit, to tell "exactly all" from "more than that".
    kept: Mutex<BinaryHeap<T>>,
    full: AtomicBool,
}

impl<T: Ord> Top<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::new(BinaryHeap::new()), full: AtomicBool::new(false) }
    }

    /// Returns whether it was kept. Once it was not, nothing that comes later in the order will be.
    pub(super) fn offer(&self, item: T) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() <= self.limit {
            kept.push(item);
            self.full.store(kept.len() > self.limit, Ordering::Release);
            return true;
        }
        match kept.peek_mut() {
            Some(mut last) if item < *last => {
                *last = item;
                true
            }
            _ => false,
        }
    }

    /// Whether something that `comes_before` the last one kept can still be of use.
    pub(super) fn may_take(&self, comes_before: impl FnOnce(&T) -> bool) -> bool {
        if !self.full.load(Ordering::Acquire) {
            return true;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.peek().is_none_or(comes_before)
    }

    /// The items in order, and whether there were more.
    pub(super) fn into_sorted(self) -> (Vec<T>, bool) {
        let mut items = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner).into_sorted_vec();
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        (items, more)
    }
}
