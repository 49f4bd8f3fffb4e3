//! Keys that are about to be sent to a model: what a person pasted, and what a tool read in a file like `.env`.

use std::sync::Arc;

use bosun_agent::NoteAbout;
use bosun_model::{ChatRequest, ContentBlock, Message};

use crate::ModelSource;

/// What is said about the messages that `request` sends for the first time; `is_own` says whether a person wrote them.
pub(super) fn seen(request: &ChatRequest, models: &Arc<dyn ModelSource>, is_own: bool, model: &str) -> Vec<NoteAbout> {
    let mut seen = Vec::new();
    let fresh = request.messages.iter().rev().take_while(|message| !matches!(***message, Message::Ai(_)));
    for message in fresh {
        let about = match &**message {
            Message::Human(human) if is_own && holds_key(&human.content, models) => {
                NoteAbout::KeyInMessage { model: model.to_owned() }
            }
            Message::Tool(result) if holds_key(&result.content, models) => {
                NoteAbout::KeyInResult { tool: result.name.clone(), model: model.to_owned() }
            }
            _ => continue,
        };
        if !seen.contains(&about) {
            seen.insert(0, about);
        }
    }
    seen
}

fn holds_key(content: &[ContentBlock], models: &Arc<dyn ModelSource>) -> bool {
    content.iter().filter_map(ContentBlock::as_text).any(|text| is_with_key(text, models))
}

/// Whether `text` holds a key that was met, or what looks like one.
pub(crate) fn is_with_key(text: &str, models: &Arc<dyn ModelSource>) -> bool {
    models.redacted(text) != text
}
