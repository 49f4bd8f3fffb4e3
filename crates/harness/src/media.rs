//! Pictures, documents, sound and film, for models and providers that cannot take them. The state keeps them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_agent::{AgentError, EntryBody, State, TurnContext};
use bosun_backend::ContentHash;
use bosun_model::{Abilities, AiMessage, Asked, ContentBlock, Kept, Media, MediaKind, Message, ModelErrorKind, Origin};
use bosun_tools::StateUpdate;
use serde::Deserialize;

/// Words by which a refusal of each kind says what it is about, as whole words: `view_image` is a tool, and a `provisioned`
/// throughput has no vision.
const ABOUT: [(MediaKind, &[&str]); 4] = [
    (MediaKind::Image, &["image", "images", "image_url", "input_image", "vision"]),
    (MediaKind::Document, &["document", "documents", "pdf", "input_file"]),
    (MediaKind::Audio, &["audio", "input_audio"]),
    (MediaKind::Video, &["video", "videos", "video_url"]),
];

/// Words that are about any of them.
const ABOUT_ANY: [&str; 8] =
    ["multimodal", "mime", "mime_type", "mimetype", "media_type", "inline_data", "inlinedata", "base64"];

/// Sentences that are about what stands beside the text without naming it: each is all the pieces of a row. Servers of
/// text alone want what a message holds to be a string.
const SENTENCES: [&[&str]; 8] = [
    &["content must be a string"],
    &["content", "should be a valid string"],
    &["payload size"],
    &["no endpoints found", "file"],
    &["content part", "'file'"],
    &["variant `file`"],
    &["invalid value", "file", "supported values"],
    &["must have a file_id or file_data"],
];

/// The state field with the place before which media were refused, by whom ([`key`]). Journals from before have one number
/// for whatever model.
const FIELD: &str = "media_refused_before";

pub(crate) fn takes_all(abilities: Abilities) -> bool {
    abilities.images && abilities.documents && abilities.audio && abilities.video
}

/// A message with the media named that the model cannot take; `None` where there are none.
pub(crate) fn without_unsupported(message: &Message, abilities: Abilities) -> Option<Message> {
    let supported = |media: &Media| match media.kind {
        MediaKind::Image => abilities.images,
        MediaKind::Document => abilities.documents,
        MediaKind::Audio => abilities.audio,
        MediaKind::Video => abilities.video,
    };
    replaced(message, |media| !supported(media), "this model cannot take it")
}

pub(crate) fn has_media(message: &Message) -> bool {
    message.content().iter().any(|block| matches!(block, ContentBlock::Media(_)))
}

/// A message with all its media named; `None` where there are none.
pub(crate) fn refused(message: &Message) -> Option<Message> {
    replaced(message, |_| true, "the provider refused it")
}

fn replaced(message: &Message, wanted: impl Fn(&Media) -> bool, reason: &str) -> Option<Message> {
    let is_wanted = |block: &ContentBlock| matches!(block, ContentBlock::Media(media) if wanted(media));
    if !message.content().iter().any(is_wanted) {
        return None;
    }
    let mut message = message.clone();
    let content = match &mut message {
        Message::System(message) => &mut message.content,
        Message::Human(message) => &mut message.content,
        Message::Ai(message) => &mut message.content,
        Message::Tool(message) => &mut message.content,
    };
    for block in content.iter_mut() {
        if let ContentBlock::Media(media) = block
            && wanted(media)
        {
            let name = media.name.as_deref().unwrap_or("a file");
            *block = ContentBlock::text(format!("[{name} ({}) is left out: {reason}]", media.mime));
        }
    }
    Some(message)
}

/// The kinds of media that stand in `messages`.
pub(crate) fn kinds(messages: &[Arc<Message>]) -> Vec<MediaKind> {
    let mut kinds = Vec::new();
    for block in messages.iter().flat_map(|message| message.content()) {
        match block {
            ContentBlock::Media(media) if !kinds.contains(&media.kind) => kinds.push(media.kind),
            ContentBlock::Media(_) | ContentBlock::Text { .. } | ContentBlock::Reasoning(_) => {}
        }
    }
    kinds
}

/// Whether a request failed because of the media that were `sent` with it. They may be old: another model may have answered
/// to them.
pub(crate) fn is_refusal(error: &AgentError, sent: &[MediaKind]) -> bool {
    let AgentError::Model(error) = error else { return false };
    let said = error.message.to_lowercase();
    !sent.is_empty()
        && match error.kind {
            ModelErrorKind::InvalidRequest => is_about(&said, sent),
            // Too many bytes, of which media are most; too many words are counted in tokens.
            ModelErrorKind::ContextOverflow => error.status == Some(413) && !said.contains("token"),
            _ => false,
        }
}

fn is_about(said: &str, kinds: &[MediaKind]) -> bool {
    let named = ABOUT.iter().filter(|(kind, _)| kinds.contains(kind)).flat_map(|(_, words)| *words);
    let words: Vec<&str> = named.chain(&ABOUT_ANY).copied().collect();
    said.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| words.contains(&word))
        || SENTENCES.iter().any(|pieces| pieces.iter().all(|piece| said.contains(piece)))
}

/// The place before which `model` refused media.
pub(crate) fn refused_before(state: &State, model: &Asked) -> usize {
    memory(state).get(&key(model)).copied().unwrap_or(0)
}

/// Remembers that the media of the first `messages` are not to be sent to `model` again.
pub(crate) async fn refuse(cx: &TurnContext, model: &Asked, messages: usize) -> Result<(), AgentError> {
    let mut places = cx.log().with_state(memory);
    places.insert(key(model), messages);
    let fields = vec![(FIELD.to_owned(), places.into_iter().collect())];
    let update = StateUpdate { fields, ..StateUpdate::default() };
    cx.log().record(vec![EntryBody::Updated { by: "Filesystem".into(), update }]).await?;
    Ok(())
}

fn memory(state: &State) -> BTreeMap<String, usize> {
    let Some(known) = state.fields.get(FIELD) else { return BTreeMap::new() };
    let Some(place) = known.as_u64().and_then(|place| usize::try_from(place).ok()) else {
        return BTreeMap::deserialize(known).unwrap_or_default();
    };
    // The reply at this place is that to the request without them, and came from whom had refused.
    match state.messages.get(place).map(|message| &**message) {
        Some(Message::Ai(AiMessage { asked: Some(asked), .. })) => BTreeMap::from([(key(asked), place)]),
        _ => BTreeMap::new(),
    }
}

fn key(model: &Asked) -> String {
    format!("{}:{}", model.provider, model.model)
}

/// Keeps the bytes of all media in `content` by their hash. What cannot be kept stays as it is.
pub(crate) async fn offload(cx: &TurnContext, content: &mut [ContentBlock]) {
    let Some(blobs) = &cx.agent().blobs else { return };
    for block in content {
        let ContentBlock::Media(media) = block else { continue };
        let Some(bytes) = bytes_of(media).filter(|bytes| !bytes.is_empty()) else { continue };
        let size = bytes.len() as u64;
        match blobs.put(bytes.into()).await {
            Ok(hash) => {
                media.kept = Some(Kept { blob: hash.to_string(), size, origin: Origin::Read });
                media.data = "".into();
            }
            Err(error) => tracing::warn!(%error, "what a tool brought could not be kept beside the session"),
        }
    }
}

/// The bytes that stand in `media` itself.
fn bytes_of(media: &Media) -> Option<Vec<u8>> {
    STANDARD.decode(media.data.as_bytes()).ok().filter(|_| media.kept.is_none())
}

/// The bytes of `media`, wherever they are.
pub(crate) async fn read(cx: &TurnContext, media: &Media) -> Option<Vec<u8>> {
    let Some(kept) = &media.kept else { return bytes_of(media) };
    let hash = ContentHash::from_hex(&kept.blob)?;
    match cx.agent().blobs.as_ref()?.get(&hash).await {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            tracing::warn!(%error, "a picture of the conversation cannot be read");
            None
        }
    }
}

/// What is the same for the same bytes.
pub(crate) fn key_of(media: &Media) -> &str {
    media.kept.as_ref().map_or(&*media.data, |kept| &kept.blob)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn refusals_of_media_are_known_by_their_words_where_some_were_sent() {
        let message = |content| Arc::new(Message::Human(bosun_model::HumanMessage { id: "h".into(), content }));
        let picture =
            Media { kind: MediaKind::Image, mime: "image/png".into(), data: "AA==".into(), name: None, kept: None };
        let (seen, plain) = ([message(vec![ContentBlock::Media(picture)])], [message(vec!["look".into()])]);
        let refused = |kind, words: &str, messages: &[Arc<Message>]| {
            let error = bosun_model::ModelError::new(kind, "p", words);
            is_refusal(&AgentError::Model(error), &kinds(messages))
        };
        for words in [
            "image input is not supported",
            "Unknown variant `image_url`, expected `text`",
            "this is not a multimodal model",
            "messages[0].content must be a string",
            "body.messages[0].content: Input should be a valid string",
            "unknown content part type 'file'",
            "Invalid value: file. Supported values are: 'text','image_url','video_url' and 'video'.",
            "messages.1.content.0.image.source.base64.media_type: unknown",
            "No endpoints found that support image input",
        ] {
            assert!(refused(ModelErrorKind::InvalidRequest, words, &seen), "{words}");
            assert!(!refused(ModelErrorKind::InvalidRequest, words, &plain), "{words}");
        }
        for words in [
            "unknown field `strict`",
            "tools[3].function.description must be a string",
            "tools.4.name: `read_file` is defined twice",
            "the tool view_image has a schema that is not valid",
            "Invalid JSON payload received. Unknown name \"strict\" at 'tools[0]'",
            "this model needs provisioned throughput; see the documentation",
            "your profile may not use this model",
            "audio output is not offered for this voice",
        ] {
            assert!(!refused(ModelErrorKind::InvalidRequest, words, &seen), "{words}");
        }
        assert!(!refused(ModelErrorKind::Unavailable, "image input is not supported", &seen));
    }

    /// A gateway with a limit on bytes is told by its status: its words are any page's.
    #[test]
    fn too_many_bytes_are_those_of_media_and_too_many_tokens_are_not() {
        let refused = |status: u16, words: &str, sent: &[MediaKind]| {
            let error = bosun_model::ModelError::new(ModelErrorKind::ContextOverflow, "p", words).with_status(status);
            is_refusal(&AgentError::Model(error), sent)
        };
        let pictures = [MediaKind::Image];
        assert!(refused(413, "413 Request Entity Too Large", &pictures));
        assert!(refused(413, "Request exceeds the maximum size", &pictures));
        assert!(!refused(413, "413 Request Entity Too Large", &[]));
        assert!(!refused(413, "Request too large: tokens per minute (TPM)", &pictures));
        assert!(!refused(400, "prompt is too long", &pictures));
    }

    #[test]
    fn only_what_the_model_cannot_take_is_named() {
        let media = |kind, mime: &str| {
            ContentBlock::Media(Media {
                kind,
                mime: mime.into(),
                data: "AA==".into(),
                name: Some("/p".into()),
                kept: None,
            })
        };
        let content = vec![
            media(MediaKind::Image, "image/png"),
            media(MediaKind::Document, "application/pdf"),
            media(MediaKind::Audio, "audio/wav"),
            media(MediaKind::Video, "video/mp4"),
        ];
        let message = Message::Human(bosun_model::HumanMessage { id: "h".into(), content: content.clone() });
        let blind = Abilities { documents: true, ..Abilities::default() };
        let shown = without_unsupported(&message, blind).unwrap();
        assert_eq!(shown.content()[0], "[/p (image/png) is left out: this model cannot take it]".into());
        assert_eq!(shown.content()[1], content[1]);
        assert_eq!(shown.content()[2], "[/p (audio/wav) is left out: this model cannot take it]".into());
        assert_eq!(shown.content()[3], "[/p (video/mp4) is left out: this model cannot take it]".into());
        let able = Abilities { images: true, documents: true, audio: true, ..Abilities::default() };
        let shown = without_unsupported(&message, able).unwrap();
        assert_eq!(shown.content()[..3], content[..3]);
        assert!(!takes_all(able));
        let able = Abilities { video: true, ..able };
        assert_eq!(without_unsupported(&message, able), None);
        assert!(takes_all(able));
    }
}
