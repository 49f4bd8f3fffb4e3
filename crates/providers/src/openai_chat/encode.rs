use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{
    AiMessage, ChatRequest, ContentBlock, Effort, Media, MediaKind, Message, ModelInfo, OutputSchema, ToolChoice,
    ToolMessage, ToolSpec, ToolStatus,
};
use serde::Serialize;
use serde_json::Value;

use super::effort::{self, Asked, Force};
use super::levels::is_newer;
use super::{Ids, Manner, thoughts};
use crate::adapter::{Arguments, CacheControl, standing, write_head, write_tail, write_turn};
use crate::body::Group;
use crate::media::{DataUrl, as_error, instruction, is_blank, placeholder};
use crate::openai_chat::takes_strictly;
use crate::preset::{DocumentPart, LimitField, SchemaField, ThoughtsBack, UsageReport};

pub(super) fn head(
    request: &ChatRequest,
    info: &ModelInfo,
    manner: Manner,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let Manner { quirks, marks, .. } = manner;
    let stream_options = (quirks.usage == UsageReport::Asked).then_some(StreamOptions { include_usage: true });
    let prompt_cache_key = quirks.cache_key(request);
    write_head(&Head { model: &info.name, stream: true, prompt_cache_key, stream_options }, "messages", out)?;
    let described = request.output.as_ref().filter(|_| quirks.schema == SchemaField::JsonObject);
    match system(request, described.map(as_prose).as_deref(), marks) {
        Some(turn) => write_turn(&turn, out),
        None => Ok(()),
    }
}

pub(super) fn tail(
    request: &ChatRequest,
    info: &ModelInfo,
    manner: Manner,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let Manner { quirks, marks, .. } = manner;
    // A gateway passes the field on to the vendor, whose models that think refuse the old name.
    let newer = quirks.limit == LimitField::MaxCompletionTokens || is_newer(&info.name);
    let mut tools: Vec<_> = request.tools.iter().map(Tool::from).collect();
    if let Some(last) = tools.last_mut().filter(|_| marks && request.cache.tools) {
        last.cache_control = Some(CacheControl::of(request.cache.lifetime));
    }
    let is_forced = !tools.is_empty() && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
    let force = if is_forced { effort::force(info, quirks) } else { Force::Taken };
    let effort = if force == Force::Unthinking { Some(Effort::Off) } else { request.effort };
    let tail = Tail {
        tool_choice: choice(&request.tool_choice).filter(|_| !tools.is_empty() && force != Force::Free),
        tools,
        max_tokens: request.max_output.filter(|_| !newer),
        max_completion_tokens: request.max_output.filter(|_| newer),
        effort: effort::asked(effort, info, quirks.effort),
        response_format: request.output.as_ref().map(|output| ResponseFormat::of(output, quirks.schema)),
    };
    write_tail(&tail, out)
}

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(flatten)]
    effort: Asked,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: JsonSchema<'a> },
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

impl<'a> ResponseFormat<'a> {
    fn of(output: &'a OutputSchema, field: SchemaField) -> Self {
        match field {
            SchemaField::JsonObject => Self::JsonObject,
            SchemaField::JsonSchema => {
                let strict = takes_strictly(&output.schema);
                let json_schema = JsonSchema { name: &output.name, schema: &output.schema, strict };
                Self::JsonSchema { json_schema }
            }
        }
    }
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Turn<'a> {
    System {
        content: Content<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<&'a Value>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Content<'a>,
    },
}

impl Turn<'_> {
    /// Between results and a message of the user, for servers that do not take the one behind the other.
    fn bridge() -> Self {
        let content = Some(Content::Text("OK.".into()));
        Self::Assistant { content, reasoning_content: None, reasoning_details: Vec::new(), tool_calls: Vec::new() }
    }
}

/// Text alone goes as a string, which every server takes; parts only where there is something to look at, or where what is to
/// be kept in the cache is marked: there always, as a beginning is only found again in the form that it was kept in.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Thinking {
        thinking: [Thought<'a>; 1],
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
    File {
        file: File<'a>,
    },
    DocumentUrl {
        document_url: DataUrl<'a>,
    },
    InputAudio {
        input_audio: Audio<'a>,
    },
}

#[derive(Serialize)]
struct Thought<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: DataUrl<'a>,
}

#[derive(Serialize)]
struct Audio<'a> {
    data: &'a str,
    format: &'static str,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: CalledFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Tool { r#type: &'static str, function: ChosenFunction<'a> },
}

#[derive(Serialize)]
struct ChosenFunction<'a> {
    name: &'a str,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        let function = Function { name: &tool.name, description: &tool.description, parameters: &tool.schema };
        Self { r#type: "function", function, cache_control: None }
    }
}

fn choice(choice: &ToolChoice) -> Option<Choice<'_>> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Choice::Word("none")),
        ToolChoice::Required => Some(Choice::Word("required")),
        ToolChoice::Tool(name) => Some(Choice::Tool { r#type: "function", function: ChosenFunction { name } }),
    }
}

pub(super) fn turns(group: &Group<'_>, host: &str, manner: Manner, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let Manner { quirks, marks, ids, bridges } = manner;
    let passing = group.mark.map_or(0, |mark| mark.passing);
    let staying = group.messages.len().saturating_sub(passing);
    let (mut parts, staying) = said(group.messages, staying, quirks.documents, ids);
    let mut mark = group.mark.filter(|_| marks).map(|mark| CacheControl::of(mark.lifetime));
    put(&mut mark, parts.get_mut(..staying).unwrap_or_default());
    let is_result = |message: &&Arc<Message>| matches!(&***message, Message::Tool(tool) if !is_blank(&shown(tool)));
    // Results stand before what is said. A breakpoint takes a text.
    let last = group.messages.iter().rfind(is_result).filter(|_| mark.is_some());
    for message in group.messages {
        match &**message {
            Message::Ai(message) => {
                if let Some(turn) = assistant(message, host, ids, group.variant.then_some(quirks.thoughts)) {
                    write_turn(&turn, out)?;
                }
            }
            Message::Tool(tool) => {
                let mark = if last.is_some_and(|last| Arc::ptr_eq(last, message)) { mark.take() } else { None };
                write_turn(&result(tool, ids, marks, mark), out)?;
            }
            Message::Human(_) | Message::System(_) => {}
        }
    }
    // Where nothing of the turn stays, one at its end still reads what was kept before.
    put(&mut mark, &mut parts);
    if parts.is_empty() {
        return Ok(());
    }
    if bridges && group.messages.iter().any(|message| matches!(**message, Message::Tool(_))) {
        write_turn(&Turn::bridge(), out)?;
    }
    write_turn(&Turn::User { content: if marks { Content::Parts(parts) } else { content(parts) } }, out)
}

/// Puts the mark behind the last text of `parts`; it stays where there is none.
fn put(mark: &mut Option<CacheControl>, parts: &mut [Part<'_>]) {
    let last = parts.iter_mut().rev().find_map(|part| match part {
        Part::Text { cache_control, .. } => Some(cache_control),
        _ => None,
    });
    if let Some(last) = last.filter(|_| mark.is_some()) {
        *last = mark.take();
    }
}

/// The shape of a reply for servers that take no schema.
fn as_prose(output: &OutputSchema) -> String {
    format!("Reply with one JSON object and nothing else. It must fit this JSON Schema:\n{}", output.schema)
}

fn system<'a>(request: &'a ChatRequest, more: Option<&'a str>, marks: bool) -> Option<Turn<'a>> {
    let blocks = standing(request).map(|(block, mark)| (block.text.as_str(), mark.filter(|_| marks)));
    let parts: Vec<_> = blocks.chain(more.map(|more| (more, None))).map(|(text, mark)| words(text, mark)).collect();
    if parts.is_empty() {
        return None;
    }
    Some(Turn::System { content: if marks { Content::Parts(parts) } else { content(parts) } })
}

/// `None` for a message that says nothing, which servers refuse. `back` says where what was thought is wanted back, if it is.
fn assistant<'a>(message: &'a AiMessage, host: &str, ids: Ids, back: Option<ThoughtsBack>) -> Option<Turn<'a>> {
    let content = spoken(message, host);
    let tool_calls: Vec<_> = message
        .calls()
        .map(|call| Call {
            id: ids.written(call.id().as_str()),
            r#type: "function",
            function: CalledFunction { name: call.name(), arguments: Arguments(call.args()) },
            extra_content: thoughts::beside_call(message, call.id().as_str(), host),
        })
        .collect();
    if content.is_none() && tool_calls.is_empty() {
        return None;
    }
    // A server that thinks aloud wants its thoughts back with every message that called tools, even empty ones.
    let reasoning_content = match back {
        Some(ThoughtsBack::Always(none)) => {
            let aloud = thoughts::aloud(message, host);
            Some(if aloud.is_empty() { none.into() } else { aloud })
        }
        Some(ThoughtsBack::OfCalls) => (!tool_calls.is_empty()).then(|| thoughts::aloud(message, host)),
        None => None,
    };
    let reasoning_details = thoughts::details(message, host);
    Some(Turn::Assistant { content, reasoning_content, reasoning_details, tool_calls })
}

/// What a reply said, and where its server wants that as parts, what it thought.
fn spoken<'a>(message: &'a AiMessage, host: &str) -> Option<Content<'a>> {
    let mut thinks = false;
    let parts = message.content.iter().filter_map(|block| match thoughts::part(block, host) {
        Some(text) => {
            thinks = true;
            Some(Part::Thinking { thinking: [Thought { r#type: "text", text }] })
        }
        None => block.as_text().filter(|text| !is_blank(text)).map(|text| words(text, None)),
    });
    let parts: Vec<_> = parts.collect();
    if thinks {
        return Some(Content::Parts(parts));
    }
    let text = match joined(&message.content) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(_) => Cow::Owned(message.text()),
    };
    (!is_blank(&text)).then_some(Content::Text(text))
}

fn result(message: &ToolMessage, ids: Ids, marks: bool, mark: Option<CacheControl>) -> Turn<'_> {
    let text = shown(message);
    // An empty part is refused where an empty result is not.
    let is_part = marks && !is_blank(&text);
    let content = if is_part { Content::Parts(vec![words(text, mark)]) } else { Content::Text(text) };
    Turn::Tool { tool_call_id: ids.written(message.call_id.as_str()), content }
}

/// A result as this wire has it: text only.
fn shown(message: &ToolMessage) -> Cow<'_, str> {
    let mut content = joined(&message.content);
    if message.status == ToolStatus::Error {
        content = as_error(content);
    }
    if is_blank(&content) && message.content.iter().any(|block| matches!(block, ContentBlock::Media(_))) {
        content = Cow::Borrowed("[see the attachment below]");
    }
    content
}

/// One message of the user for all that is not a result: what the results show, then what was said. With it, how many parts
/// come from the first `staying` messages.
fn said(group: &[Arc<Message>], staying: usize, documents: DocumentPart, ids: Ids) -> (Vec<Part<'_>>, usize) {
    let mut parts = Vec::new();
    for message in group {
        if let Message::Tool(message) = &**message {
            let mut shown = message.content.iter().filter_map(|block| attachment(block, documents)).peekable();
            if shown.peek().is_some() {
                let id = ids.written(message.call_id.as_str());
                parts.push(words(format!("Attached by {} ({id}):", message.name), None));
            }
            parts.extend(shown);
        }
    }
    let mut stays = parts.len();
    for (index, message) in group.iter().enumerate() {
        match &**message {
            Message::Human(message) => parts.extend(message.content.iter().filter_map(|block| part(block, documents))),
            Message::System(message) => {
                parts.push(words(instruction(&bosun_model::text_of(&message.content)), None));
            }
            Message::Ai(_) | Message::Tool(_) => {}
        }
        if index < staying {
            stays = parts.len();
        }
    }
    (parts, stays)
}

fn words<'a>(text: impl Into<Cow<'a, str>>, cache_control: Option<CacheControl>) -> Part<'a> {
    Part::Text { text: text.into(), cache_control }
}

fn content(parts: Vec<Part<'_>>) -> Content<'_> {
    if !parts.iter().all(|part| matches!(part, Part::Text { .. })) {
        return Content::Parts(parts);
    }
    let mut texts =
        parts.into_iter().filter_map(|part| if let Part::Text { text, .. } = part { Some(text) } else { None });
    let first = texts.next().unwrap_or_default();
    Content::Text(texts.fold(first, |mut all, more| {
        let joined = all.to_mut();
        joined.push_str("\n\n");
        joined.push_str(&more);
        all
    }))
}

fn part(block: &ContentBlock, documents: DocumentPart) -> Option<Part<'_>> {
    match block {
        ContentBlock::Text { text } => (!is_blank(text)).then(|| words(text.as_str(), None)),
        ContentBlock::Reasoning(_) => None,
        ContentBlock::Media(_) => attachment(block, documents),
    }
}

fn attachment(block: &ContentBlock, documents: DocumentPart) -> Option<Part<'_>> {
    let ContentBlock::Media(media) = block else { return None };
    let is_pdf = media.kind == MediaKind::Document && media.mime == "application/pdf";
    Some(match (media.kind, documents) {
        (MediaKind::Image, _) => Part::ImageUrl { image_url: ImageUrl { url: DataUrl(media) } },
        (_, DocumentPart::File) if is_pdf => {
            let filename = media.name.as_deref().unwrap_or("document.pdf");
            Part::File { file: File { filename, file_data: DataUrl(media) } }
        }
        (_, DocumentPart::DocumentUrl) if is_pdf => Part::DocumentUrl { document_url: DataUrl(media) },
        (MediaKind::Audio, _) if audio_format(media).is_some() => {
            let format = audio_format(media).unwrap_or("wav");
            Part::InputAudio { input_audio: Audio { data: &media.data, format } }
        }
        _ => words(placeholder(media), None),
    })
}

fn audio_format(media: &Media) -> Option<&'static str> {
    match media.mime.as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

/// The text of a message, borrowed where it is one piece.
fn joined(content: &[ContentBlock]) -> Cow<'_, str> {
    let mut texts = content.iter().filter_map(ContentBlock::as_text);
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(text), None) => Cow::Borrowed(text),
        (Some(_), Some(_)) => Cow::Owned(bosun_model::text_of(content)),
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
