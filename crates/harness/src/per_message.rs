//! What follows from a message alone, remembered for as long as the message lives.

use std::sync::{Arc, Weak};

use bosun_model::Message;
use rustc_hash::FxHashMap;

/// Entries from which on those of messages that are gone are looked for.
const FEW: usize = 1_024;

/// One value for each message, by its place in memory. It is derived from the messages, so that it is no state of a session.
///
/// Messages that are gone are swept out whenever the number of entries has doubled: a conversation of any length costs the
/// same for each message.
#[derive(Debug)]
pub(crate) struct PerMessage<V> {
    // The weak reference keeps the place from being given to another message.
    known: FxHashMap<usize, (Weak<Message>, V)>,
    sweep_at: usize,
}

impl<V> Default for PerMessage<V> {
    fn default() -> Self {
        Self { known: FxHashMap::default(), sweep_at: FEW }
    }
}

impl<V: Clone> PerMessage<V> {
    pub(crate) fn get(&self, message: &Arc<Message>) -> Option<V> {
        self.known.get(&place(message)).map(|(_, value)| value.clone())
    }

    /// What is known of `message`, made now where it is met for the first time.
    pub(crate) fn of(&mut self, message: &Arc<Message>, make: impl FnOnce() -> V) -> V {
        self.get(message).unwrap_or_else(|| {
            let value = make();
            self.insert(message, value.clone());
            value
        })
    }

    pub(crate) fn insert(&mut self, message: &Arc<Message>, value: V) {
        if self.known.len() >= self.sweep_at {
            self.known.retain(|_, (message, _)| message.strong_count() > 0);
            self.sweep_at = FEW.max(self.known.len() * 2);
        }
        self.known.insert(place(message), (Arc::downgrade(message), value));
    }
}

fn place(message: &Arc<Message>) -> usize {
    Arc::as_ptr(message) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(count: usize) -> Vec<Arc<Message>> {
        (0..count).map(|number| Arc::new(Message::human("h", number.to_string()))).collect()
    }

    #[test]
    fn a_message_is_looked_at_once_and_forgotten_when_it_is_gone() {
        let mut known = PerMessage::default();
        for round in 0..5 {
            let messages = messages(FEW);
            let mut made = 0;
            for message in messages.iter().chain(&messages) {
                known.of(message, || made += 1);
            }
            assert_eq!(made, FEW);
            assert!(known.known.len() <= 2 * FEW, "{round}");
        }
    }

    #[test]
    fn a_long_conversation_is_swept_now_and_then_alone() {
        let mut known = PerMessage::default();
        let messages = messages(20 * FEW);
        let mut sweeps = 0;
        for (number, message) in messages.iter().enumerate() {
            let before = known.sweep_at;
            known.insert(message, number);
            sweeps += usize::from(known.sweep_at != before);
        }
        assert_eq!(sweeps, 5, "at 1, 2, 4, 8 and 16 times the few");
        assert_eq!(known.get(&messages[7]), Some(7));
    }
}
