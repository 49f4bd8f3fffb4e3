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

/// Where in a history the messages are that have something. Of the next history only what is new is looked at.
#[derive(Debug, Default)]
pub(crate) struct Places {
    looked_at: LookedAt,
    places: Vec<usize>,
}

impl Places {
    /// The places of the messages that have it; `has` is the same each time.
    pub(crate) fn of(&mut self, messages: &[Arc<Message>], has: impl Fn(&Message) -> bool) -> &[usize] {
        let same = self.looked_at.same(messages);
        self.places.truncate(self.places.partition_point(|place| *place < same));
        let fresh = messages.iter().enumerate().skip(same).filter(|(_, message)| has(message));
        self.places.extend(fresh.map(|(place, _)| place));
        &self.places
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

    #[test]
    fn the_places_follow_what_is_new_and_what_is_gone() {
        let mut messages: Vec<_> = [0, 1, 1, 0].map(|n| Arc::new(Message::human("h", n.to_string()))).into();
        let looked_at = std::cell::Cell::new(0);
        let has = |message: &Message| {
            looked_at.set(looked_at.get() + 1);
            message.content()[0].as_text() == Some("1")
        };
        let mut places = Places::default();
        assert_eq!(places.of(&messages[..2], has), [1]);
        assert_eq!(places.of(&messages, has), [1, 2]);
        assert_eq!(looked_at.get(), 4, "each message once");
        messages[1] = Arc::new(Message::human("h", "0"));
        assert_eq!(places.of(&messages, has), [2]);
        assert_eq!(places.of(&messages[..2], has), [0; 0]);
    }
}
