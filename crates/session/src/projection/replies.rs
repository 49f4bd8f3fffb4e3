//! The rows of what a model says, from its first word to the end of the reply.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{AiMessage, ContentBlock, MessageId};
use bosun_protocol::{Item, ItemBody, ItemId, SessionEvent};

use super::Projection;

impl Projection {
    /// No reply grows any more; what was read of one that came to nothing stays.
    pub(super) fn settle_replies(&mut self) {
        // Those of earlier turns were settled when these ended.
        let turn = self.turn();
        let streaming: Vec<Item> = self
            .view
            .items
            .last_ones()
            .iter()
            .rev()
            .take_while(|item| item.turn >= turn)
            .filter(|item| matches!(item.body, ItemBody::Ai { streaming: true, .. }))
            .cloned()
            .collect();
        for mut item in streaming.into_iter().rev() {
            if let ItemBody::Ai { streaming, .. } = &mut item.body {
                *streaming = false;
            }
            self.emit(SessionEvent::ItemCompleted { item });
        }
    }

    pub(super) fn open_reply(&mut self, message: &MessageId, at: i64) {
        let id = item_of(message);
        if self.view.item(&id).is_some() {
            return;
        }
        // What a model says stands before what it calls, also where it began with a call.
        let proposed = self.lift_proposals(message);
        let body = ItemBody::Ai { text: Arc::default(), reasoning: String::new(), streaming: true };
        self.emit(SessionEvent::ItemStarted { item: Item { id, turn: self.turn(), at, body } });
        for item in proposed {
            self.emit(SessionEvent::ItemStarted { item });
        }
    }

    /// Shows what drafts hold of a reply that is not shown yet: each part with the bytes of it that stand before. While live,
    /// the row is ahead of the drafts; after a restart they are all there is.
    pub(super) fn draft(&mut self, message: &MessageId, text: (&str, usize), reasoning: (&str, usize), at: i64) {
        let id = item_of(message);
        let row = self.view.item(&id).map(Cow::into_owned);
        let (shown_text, shown_reasoning) = match row.as_ref().map(|item| &item.body) {
            Some(ItemBody::Ai { text, reasoning, .. }) => (text.as_str(), reasoning.as_str()),
            _ => ("", ""),
        };
        let whole = |shown: &str, (part, from): (&str, usize)| format!("{}{part}", shown.get(..from).unwrap_or(shown));
        let (text, reasoning) = (whole(shown_text, text), whole(shown_reasoning, reasoning));
        if shown_text.len() + shown_reasoning.len() < text.len() + reasoning.len() {
            let body = ItemBody::Ai { text: Arc::new(text), reasoning, streaming: true };
            self.emit(SessionEvent::ItemUpdated { item: Item { id, turn: self.turn(), at, body } });
        }
    }

    pub(super) fn reply(&mut self, message: &AiMessage, at: i64) {
        let id = item_of(&message.id);
        let text = message.shared_text();
        let reasoning: String = message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Reasoning(reasoning) => Some(reasoning.text.as_str()),
                ContentBlock::Text { .. } | ContentBlock::Media(_) => None,
            })
            .collect();
        // What a stop keeps of a reply has only its text: the reasoning that was read stays.
        let shown = self.shown_reasoning(&id);
        let known = shown.is_some();
        let reasoning = if reasoning.is_empty() { shown.unwrap_or_default() } else { reasoning };
        if known || !text.is_empty() || !reasoning.is_empty() {
            if !known {
                // They come again right after, from the finished message.
                self.lift_proposals(&message.id);
            }
            let body = ItemBody::Ai { text, reasoning, streaming: false };
            self.complete(id, self.turn(), at, body);
        }
    }

    /// A reply that came to nothing keeps the text that was read.
    pub(super) fn settle_reply(&mut self, message: &MessageId, partial: &str, at: i64) {
        let id = item_of(message);
        let shown = self.shown_reasoning(&id);
        if shown.is_none() && partial.is_empty() {
            return;
        }
        let reasoning = shown.unwrap_or_default();
        let body = ItemBody::Ai { text: Arc::new(partial.to_owned()), reasoning, streaming: false };
        // Where it was told live that the reply was dropped, everything is told. The row keeps its time either way.
        let known = self.view.item(&id).map(Cow::into_owned);
        let at = known.as_ref().map_or(at, |item| item.at);
        if known.is_none_or(|item| item.body != body) {
            self.complete(id, self.turn(), at, body);
        }
    }

    /// The reasoning in the row of a reply, where there is a row.
    fn shown_reasoning(&self, id: &ItemId) -> Option<String> {
        self.view.item(id).map(|item| match &item.body {
            ItemBody::Ai { reasoning, .. } => reasoning.clone(),
            ItemBody::Human { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => String::new(),
        })
    }
}

pub(super) fn item_of(message: &MessageId) -> ItemId {
    ItemId::new(message.as_str())
}
