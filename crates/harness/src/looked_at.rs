//! How much of a history is what was looked at before.

use std::sync::{Arc, Weak};

use bosun_model::Message;

/// The messages that were looked at last. The next history mostly is the same with a little more at its end, and telling that
/// touches none of its messages.
#[derive(Debug, Default)]
pub(crate) struct LookedAt {
    // A weak reference keeps the place of a message from being given to another one.
    messages: Vec<Weak<Message>>,
}

impl LookedAt {
    /// How many messages at the beginning of `messages` are the very same as last time. `messages` is what was looked at from
    /// now on.
    pub(crate) fn same(&mut self, messages: &[Arc<Message>]) -> usize {
        let is_same =
            |(known, message): &(&Weak<Message>, &Arc<Message>)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(message));
        let same = self.messages.iter().zip(messages).take_while(is_same).count();
        self.messages.truncate(same);
        self.messages.extend(messages.iter().skip(same).map(Arc::downgrade));
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_messages_count() {
        let messages: Vec<_> = (0..4).map(|n| Arc::new(Message::human("h", n.to_string()))).collect();
        let mut looked_at = LookedAt::default();
        let counts = [&messages[..2], &messages, &messages[..3], &messages].map(|history| looked_at.same(history));
        assert_eq!(counts, [0, 2, 3, 3]);
        let mut changed = messages.clone();
        changed[1] = Arc::new(Message::human("h", "1"));
        assert_eq!([looked_at.same(&changed), looked_at.same(&changed), looked_at.same(&messages)], [1, 4, 1]);
    }
}
