use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::Message;

use crate::per_message::PerMessage;

/// Messages as they are sent, where that is not as they are stored: the same message is rewritten once, so that the
/// requests of two steps share what they have in common and its bytes are not made again.
#[derive(Default)]
pub(crate) struct Rewrites {
    /// What a message is sent as, where that is something else.
    known: Mutex<PerMessage<Option<Arc<Message>>>>,
}

impl Rewrites {
    /// `message` as `rewrite` has it; `None` from it leaves the message as it is. `rewrite` must be pure.
    pub(crate) fn of(&self, message: &Arc<Message>, rewrite: impl FnOnce(&Message) -> Option<Message>) -> Arc<Message> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.of(message, || rewrite(message).map(Arc::new)).unwrap_or_else(|| Arc::clone(message))
    }
}

/// The few values made last, by what they were made from.
pub(crate) struct Recent<T> {
    kept: Mutex<Vec<(String, T)>>,
}

const KEPT: usize = 8;

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<T: Clone> Recent<T> {
    pub(crate) fn of(&self, key: &str, make: impl FnOnce() -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = kept.iter().find(|(known, _)| known == key) {
            return value.clone();
        }
        let value = make();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((key.to_owned(), value.clone()));
        value
    }
}
