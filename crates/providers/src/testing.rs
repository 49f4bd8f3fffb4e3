//! What the unit tests of this crate share.

use std::sync::Arc;

use bosun_model::{
    AiMessage, ChatRequest, ContentBlock, HumanMessage, InvalidToolCall, Media, MediaKind, Message, MessageBuilder,
    ModelError, ModelEvent, ModelInfo, Reasoning, StopReason, SystemBlock, SystemMessage, ToolCall, ToolChoice,
    ToolMessage, ToolSpec, ToolStatus,
};
use serde_json::{Value, json};

use crate::adapter::{Adapter, CallIds, adapter};
use crate::body::Memo;
use crate::config::MOST_OUTPUT;
use crate::driver::{Driver, Events};
use crate::endpoint::Endpoint;
use crate::origin::Origin;
use crate::sse::Sizes;
use crate::{Family, ProviderConfig, catalogue};

pub(crate) const KEY: &str = "sk-canary-0123456789";

pub(crate) fn config(family: Family) -> ProviderConfig {
    ProviderConfig::new("test", family, family.default_base_url()).with_key(KEY)
}

pub(crate) fn origin(family: Family) -> Arc<Origin> {
    let config = config(family);
    Arc::new(Origin::new(&config, &endpoint(&config)))
}

pub(crate) fn endpoint(config: &ProviderConfig) -> Endpoint {
    Endpoint::parse(&config.id, config.family, &config.base_url).unwrap()
}

/// What a connection knows of a model.
pub(crate) fn info(name: &str) -> ModelInfo {
    let info = catalogue::info("test", "nowhere", name);
    ModelInfo { max_output: info.max_output.map(|most| most.min(MOST_OUTPUT)), ..info }
}

/// What a connection of `family` knows of a model, and what its name says.
pub(crate) fn ready(family: Family, name: &str) -> ModelInfo {
    config(family).ready(info(name))
}

pub(crate) fn hello() -> ChatRequest {
    ChatRequest { messages: vec![Message::human("h", "hello").into()].into(), ..ChatRequest::default() }
}

/// A schema that the vendor of structured output takes as a strict one.
pub(crate) fn strict() -> serde_json::Value {
    serde_json::json!({
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"],
        "additionalProperties": false,
    })
}

/// A conversation with all that messages can hold.
pub(crate) fn conversation() -> ChatRequest {
    let system = vec![
        SystemBlock { text: "You are Bosun.".into(), cache: true },
        SystemBlock::new("  "),
        SystemBlock::new("Memory: tabs."),
    ];
    let png = |name: Option<&str>| {
        ContentBlock::Media(Media {
            kind: MediaKind::Image,
            mime: "image/png".into(),
            data: "iVBORw0KGgo=".into(),
            name: name.map(Into::into),
            kept: None,
        })
    };
    let pdf = ContentBlock::Media(Media {
        kind: MediaKind::Document,
        mime: "application/pdf".into(),
        data: "JVBERi0xLjQK".into(),
        name: Some("b.pdf".into()),
        kept: None,
    });
    let human = |id: &str, content: Vec<ContentBlock>| Message::Human(HumanMessage { id: id.into(), content });
    let tool = |id: &str, name: &str, status, content: Vec<ContentBlock>| {
        Message::Tool(ToolMessage { call_id: id.into(), name: name.into(), status, content })
    };
    let signed = Reasoning { text: "Signed.".into(), signature: Some("sig".into()), opaque: None };
    let hidden = json!({ "type": "redacted_thinking", "data": "b3BhcXVl" });
    let aloud = json!({ "reasoning_content": "api.openai.com" });
    let item = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j" });
    let sealed = json!({ "responses": "api.openai.com", "item": item });
    let messages = [
        human("h1", vec!["Look at \"this\":".into(), png(Some("a.png")), " ".into()]),
        Message::Ai(AiMessage {
            id: "a1".into(),
            content: vec![
                ContentBlock::Reasoning(signed),
                ContentBlock::Reasoning(Reasoning { opaque: Some(hidden), ..Reasoning::default() }),
                ContentBlock::Reasoning(Reasoning { text: "Aloud.".into(), signature: None, opaque: Some(aloud) }),
                ContentBlock::Reasoning(Reasoning { opaque: Some(sealed), ..Reasoning::default() }),
                "Looking.".into(),
            ],
            tool_calls: vec![
                ToolCall { id: "functions.ls:0".into(), name: "ls".into(), args: json!({ "path": "/ü" }) },
                ToolCall { id: "c2".into(), name: "read_file".into(), args: json!({ "file_path": "/b.png" }) },
            ],
            invalid_tool_calls: vec![InvalidToolCall {
                id: "c3".into(),
                name: "write_file".into(),
                args: "{\"file".into(),
                reason: "cut".into(),
                place: 2,
            }],
            call_places: vec![],
            dropped: None,
            usage: None,
            stop: StopReason::ToolUse,
            model: None,
            asked: None,
        }),
        tool("functions.ls:0", "ls", ToolStatus::Success, vec!["/b.png".into(), "(1 entry)".into()]),
        tool("c2", "read_file", ToolStatus::Success, vec![png(None), pdf]),
        tool("c3", "write_file", ToolStatus::Error, vec!["the arguments are not valid JSON".into()]),
        Message::System(SystemMessage { content: vec!["Be brief.".into()] }),
        human("h2", vec!["And now?".into()]),
        Message::Ai(AiMessage {
            id: "a2".into(),
            content: vec![],
            tool_calls: vec![ToolCall { id: "c4".into(), name: "ls".into(), args: json!({}) }],
            invalid_tool_calls: vec![],
            call_places: vec![],
            dropped: None,
            usage: None,
            stop: StopReason::ToolUse,
            model: None,
            asked: None,
        }),
        tool("c4", "ls", ToolStatus::Error, vec!["Error: no such folder".into()]),
    ];
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let ls = ToolSpec { name: "ls".into(), description: "List a folder.".into(), schema };
    ChatRequest {
        system,
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: vec![ls].into(),
        tool_choice: ToolChoice::Auto,
        ..ChatRequest::default()
    }
}

/// Documents, sound and film, which each wire can carry in part.
pub(crate) fn attachments() -> ChatRequest {
    let media = |kind, mime: &str, name: &str| {
        ContentBlock::Media(Media { kind, mime: mime.into(), data: "QUJD".into(), name: Some(name.into()), kept: None })
    };
    let content = vec![
        media(MediaKind::Document, "application/pdf", "a.pdf"),
        media(MediaKind::Document, "application/msword", "a.doc"),
        media(MediaKind::Image, "image/heic", "a.heic"),
        media(MediaKind::Audio, "audio/mpeg", "a.mp3"),
        media(MediaKind::Video, "video/mp4", "a.mp4"),
    ];
    let message = Message::Human(HumanMessage { id: "h".into(), content });
    ChatRequest { messages: vec![Arc::new(message)].into(), ..ChatRequest::default() }
}

/// The body that an adapter makes of `request`, as JSON.
pub(crate) fn body(adapter: &dyn Adapter, request: &ChatRequest, info: &ModelInfo) -> Value {
    serde_json::from_slice(&Memo::default().body(adapter, request, info).unwrap()).unwrap()
}

/// What came out of a stream, and what ended it.
#[derive(Debug, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) events: Vec<ModelEvent>,
    pub(crate) error: Option<ModelError>,
}

impl Decoded {
    /// The message that the loop would get.
    pub(crate) fn message(&self) -> Result<AiMessage, ModelError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let mut builder = MessageBuilder::new();
        for event in &self.events {
            builder.push(event)?;
        }
        builder.finish("m".into(), "test")
    }
}

/// Feeds `chunks` to the family's adapter through the driver.
pub(crate) fn decode(family: Family, chunks: &[&[u8]]) -> Decoded {
    decode_within(family, chunks, Sizes::default())
}

pub(crate) fn decode_within(family: Family, chunks: &[&[u8]], sizes: Sizes) -> Decoded {
    decode_from(&config(family), chunks, sizes)
}

/// A reply of the server at `base_url`, which speaks Chat Completions.
pub(crate) fn decode_chat_at(base_url: &str, recording: &str) -> Decoded {
    let config = ProviderConfig::new("test", Family::OpenAiChat, base_url);
    decode_from(&config, &[recording.as_bytes()], Sizes::default())
}

fn decode_from(config: &ProviderConfig, chunks: &[&[u8]], sizes: Sizes) -> Decoded {
    let endpoint = endpoint(config);
    // Of Gemini's, the only ones that mark which model made a reply.
    let adapter = adapter(&endpoint, config.family, "gemini-3-pro-preview", None);
    let decoder = adapter.decoder(CallIds::of(&ChatRequest::default()));
    let mut driver = Driver::new(Arc::new(Origin::new(config, &endpoint)), adapter.framing(), decoder, sizes);
    let mut events = Events::new();
    let fed = chunks.iter().try_for_each(|chunk| driver.feed(chunk, &mut events));
    let error = fed.and_then(|()| driver.end(None, &mut events)).err();
    Decoded { events: events.into(), error }
}
