use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::Message;

/// A conversation that several hold: a copy shares the list, whatever its length. Whoever changes one has a list of its own
/// from then on, unless nobody else has that list any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Messages(Arc<Vec<Arc<Message>>>);

impl Deref for Messages {
    type Target = Vec<Arc<Message>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Messages {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Arc<Message>>> for Messages {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        Self(Arc::new(messages))
    }
}

impl FromIterator<Arc<Message>> for Messages {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Self {
        messages.into_iter().collect::<Vec<_>>().into()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Arc<Message>;
    type IntoIter = std::slice::Iter<'a, Arc<Message>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_the_list_until_one_of_the_two_is_changed() {
        let said = |text: &str| Arc::new(Message::human("h", text));
        let mut messages: Messages = ["a", "b"].map(said).into_iter().collect();
        let sent = messages.clone();
        assert!(std::ptr::eq(sent.as_ptr(), messages.as_ptr()));
        messages.push(said("c"));
        assert_eq!((sent.len(), messages.len()), (2, 3));
        assert!(Arc::ptr_eq(&sent[1], &messages[1]), "the messages are shared all the same");
        drop(sent);
        messages.reserve(1);
        let list = messages.as_ptr();
        messages.push(said("d"));
        assert!(std::ptr::eq(list, messages.as_ptr()), "nobody else has it");
    }
}
