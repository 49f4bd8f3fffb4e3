//! What the encoders need of content blocks.

use std::borrow::Cow;

use bosun_model::{AiMessage, ContentBlock, Media, MediaKind};
use serde::{Serialize, Serializer};

/// A `data:` URL, written without building it first.
pub(crate) struct DataUrl<'a>(pub(crate) &'a Media);

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.0.mime, self.0.data))
    }
}

/// What the model reads in place of bytes that the wire cannot carry.
pub(crate) fn placeholder(media: &Media) -> String {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
    };
    let name = media.name.as_deref().unwrap_or("without a name");
    format!("[{kind} left out: {name} ({}) cannot be sent to this model]", media.mime)
}

/// An instruction in the middle of a conversation. Neither wire has a place for one that all its servers accept, so it
/// goes as marked text of the user's side.
pub(crate) fn instruction(text: &str) -> String {
    format!("<system>\n{text}\n</system>")
}

/// The text of a failed call on wires that have no mark for errors.
pub(crate) fn as_error(text: Cow<'_, str>) -> Cow<'_, str> {
    let marked = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if marked { text } else { Cow::Owned(format!("Error: {text}")) }
}

/// Whether text says anything; some servers refuse messages that hold only white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether a reply neither says nor does anything, whatever it thought.
pub(crate) fn is_silent(message: &AiMessage) -> bool {
    let is_thought = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => is_blank(text),
        ContentBlock::Reasoning(_) => true,
        ContentBlock::Media(_) => false,
    };
    message.calls().next().is_none() && message.content.iter().all(is_thought)
}
