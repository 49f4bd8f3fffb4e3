//! What each provider's wire carries, found out by writing requests and reading recorded replies with its own adapter, and
//! kept as a table in `docs/models.md`. Tests only: a table that is written by hand is wrong the day after.

use std::sync::Arc;

use bosun_model::{
    Abilities, AiMessage, CacheMarks, ChatRequest, ContentBlock, Effort, HumanMessage, Media, MediaKind, Message,
    MessageBuilder, ModelEvent, ModelInfo, OutputSchema, StopReason, SystemBlock, ToolCall, ToolChoice, ToolMessage,
    ToolSpec, ToolStatus, Usage,
};
use serde_json::{Value, json};

use crate::adapter::{Adapter, CallIds, adapter};
use crate::driver::{Driver, Events};
use crate::endpoint::Endpoint;
use crate::fuzzing::framed;
use crate::origin::Origin;
use crate::sse::Sizes;
use crate::testing::{body, info};
use crate::{Family, PRESETS, Preset, ProviderConfig};

/// What stands for the bytes of an attachment.
const BYTES: &str = "UHJvYmU=";
const CALL: &str = "toolu_probe";

/// How an ability is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Works,
    /// With what happens instead.
    Degraded(&'static str),
    NotOffered,
}

use Mark::{Degraded, NotOffered, Works};

const BESIDE: &str = "shown beside the result, which does not take it";
const NAMED: &str = "its name is sent in its place";
const UNSURE: &str = "sent in OpenAI's way; a server that does not know it refuses it";
const PROSE: &str = "JSON is asked for and its shape told in words; nobody checks it";
const ONLY_TOOL: &str = "only that tool is offered";
const QUIET: &str = "a model that thinks is told not to for that call; one that always thinks is left to choose";
const CHOOSES: &str = "the model is left to choose";
const SWITCH: &str = "on and off, where every level is on, or the levels that the line of the model has";
const LEAST: &str = "for models of OpenAI's that think, as they are called; others are told nothing";
const ITSELF: &str = "nothing is marked: the provider caches by itself where it does. Claude behind such a gateway does not: ask it \
                      at the gateway's Anthropic address, as a provider of your own";
const OF_CLAUDE: &str = "marked for Claude; other models are cached by themselves where they are";
const KEYED: &str = "by itself; requests say which conversation they belong to";
const REPORTED: &str = "where the server reports it";
const NAMELESS: &str = "where it comes as `reasoning_content`, as `reasoning_details`, in parts of type `thinking`, or signed beside a call \
                        (Gemini); a bare `reasoning` is shown and not sent back";
const SENT: &str = "where the server sends it";

/// A provider, and for clouds one of its publishers.
pub(super) struct Row {
    pub(super) name: String,
    preset: &'static Preset,
    /// A model of it that thinks.
    model: &'static str,
}

pub(super) fn rows() -> Vec<Row> {
    PRESETS.iter().flat_map(of_preset).collect()
}

fn of_preset(preset: &'static Preset) -> Vec<Row> {
    let row = |name: String, model| Row { name, preset, model };
    match preset.family {
        Family::Anthropic => vec![row(preset.id.to_owned(), "claude-sonnet-4-6")],
        Family::Bedrock => vec![row(preset.id.to_owned(), "anthropic.claude-sonnet-4-6")],
        Family::Gemini => vec![row(preset.id.to_owned(), "gemini-3-pro")],
        Family::Vertex => {
            let of = |who| format!("{} ({who})", preset.id);
            vec![row(of("Claude"), "claude-sonnet-4-6"), row(of("Gemini"), "gemini-3-pro")]
        }
        Family::Ollama => vec![row(preset.id.to_owned(), "qwen3")],
        Family::OpenAiResponses => vec![row(preset.id.to_owned(), "gpt-5.4")],
        Family::OpenAiChat => vec![row(preset.id.to_owned(), "model")],
    }
}

type Probe = fn(&Row) -> Mark;

/// The columns, with their heads.
pub(super) const ABILITIES: [(&str, Probe); 19] = [
    ("text, streamed", |row| works(row.heard().iter().filter(|event| is_text(event)).count() > 1)),
    ("tools", |row| works(row.offers_tool() && !row.replied().tool_calls.is_empty())),
    ("several calls at once", |row| works(row.replied().tool_calls.len() > 1)),
    ("a tool that must be called", forced),
    ("reasoning shown", reasoning_shown),
    ("reasoning sent back", reasoning_sent_back),
    ("effort", effort),
    ("images", |row| said(row, MediaKind::Image, "image/png")),
    ("images in results", |row| in_result(row, MediaKind::Image, "image/png")),
    ("PDF", |row| documents(row, said(row, MediaKind::Document, "application/pdf"))),
    ("PDF in results", |row| documents(row, in_result(row, MediaKind::Document, "application/pdf"))),
    ("audio", |row| unsure(row, said(row, MediaKind::Audio, "audio/mpeg"))),
    ("video", |row| said(row, MediaKind::Video, "video/mp4")),
    ("JSON of a given shape", shaped),
    ("prompt cache", cached),
    ("usage", |row| reported(row, |usage| usage.input.is_some() && usage.output.is_some())),
    ("cached tokens", |row| reported(row, |usage| usage.cache_read.is_some())),
    ("reasoning tokens", |row| reported(row, |usage| usage.reasoning.is_some())),
    ("refusals", refusal),
];

impl Row {
    fn endpoint(&self) -> Endpoint {
        Endpoint::parse(self.preset.id, self.preset.family, self.preset.base_url).unwrap()
    }

    fn adapter(&self) -> Arc<dyn Adapter> {
        adapter(&self.endpoint(), self.preset.family, self.model, Some("project"))
    }

    fn info(&self) -> ModelInfo {
        let abilities = Abilities { images: true, documents: true, audio: true, video: true, reasoning: true };
        ModelInfo { abilities, ..info(self.model) }
    }

    fn sent(&self, request: &ChatRequest) -> Value {
        body(&*self.adapter(), request, &self.info())
    }

    /// Which wire its replies come on.
    fn wire(&self) -> Family {
        match self.preset.family {
            Family::Vertex if self.model.starts_with("gemini") => Family::Gemini,
            Family::Vertex => Family::Anthropic,
            family => family,
        }
    }

    fn read(&self, bytes: &[u8]) -> Vec<ModelEvent> {
        let config = ProviderConfig::new(self.preset.id, self.preset.family, self.preset.base_url);
        let origin = Arc::new(Origin::new(&config, &self.endpoint()));
        let adapter = self.adapter();
        let decoder = adapter.decoder(CallIds::of(&ChatRequest::default()));
        let mut driver = Driver::new(origin, adapter.framing(), decoder, Sizes::default());
        let mut events = Events::new();
        driver.feed(bytes, &mut events).unwrap();
        driver.end(None, &mut events).unwrap();
        events.into()
    }

    /// A recorded reply with reasoning, text and calls, and where there is none with all of it, one with the rest.
    fn recordings(&self) -> Vec<Vec<u8>> {
        let texts: &[&str] = match self.wire() {
            Family::Anthropic => &[include_str!("../fixtures/anthropic_thinking_and_calls.sse")],
            Family::OpenAiResponses => &[include_str!("../fixtures/responses_thinking_and_calls.sse")],
            Family::Gemini => &[include_str!("../fixtures/gemini_thinking_and_calls.sse")],
            Family::Ollama => &[include_str!("../fixtures/ollama_thinking_and_calls.ndjson")],
            Family::OpenAiChat => &[
                include_str!("../fixtures/openai_parallel_calls.sse"),
                include_str!("../fixtures/openai_deepseek.sse"),
                include_str!("../fixtures/openai_openrouter.sse"),
                include_str!("../fixtures/openai_mistral.sse"),
                include_str!("../fixtures/openai_text.sse"),
            ],
            Family::Bedrock => {
                let events = include_bytes!("../fixtures/bedrock_events.ndjson").split(|byte| *byte == b'\n');
                return vec![events.filter(|event| !event.is_empty()).flat_map(framed).collect()];
            }
            Family::Vertex => &[],
        };
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    fn heard(&self) -> Vec<ModelEvent> {
        self.recordings().iter().flat_map(|recording| self.read(recording)).collect()
    }

    fn replies(&self) -> Vec<AiMessage> {
        let replies = self.recordings().into_iter().map(|recording| {
            let mut builder = MessageBuilder::new();
            self.read(&recording).iter().for_each(|event| builder.push(event).unwrap());
            builder.finish("a1".into(), "probe").unwrap()
        });
        replies.collect()
    }

    /// The first of its recorded replies.
    fn replied(&self) -> AiMessage {
        self.replies().remove(0)
    }

    fn offers_tool(&self) -> bool {
        has_text(&self.sent(&with_tools(ToolChoice::Auto)), &|text| text == "probe_tool")
    }

    /// Whether it speaks the wire as one of many, which all know a little less of it.
    fn is_compatible(&self) -> bool {
        self.preset.family == Family::OpenAiChat
    }
}

fn works(works: bool) -> Mark {
    if works { Works } else { NotOffered }
}

fn unsure(row: &Row, mark: Mark) -> Mark {
    if mark == Works && row.is_compatible() { Degraded(UNSURE) } else { mark }
}

/// A part for documents is one that the row says the server has; what stands in front of others takes what they do.
fn documents(row: &Row, mark: Mark) -> Mark {
    if row.preset.id == "litellm" { unsure(row, mark) } else { mark }
}

fn is_text(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::TextDelta { .. } | ModelEvent::ToolCallDelta { .. })
}

/// Whether `is` holds for a text somewhere in `value`.
fn has_text(value: &Value, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(values) => values.iter().any(|value| has_text(value, is)),
        Value::Object(fields) => fields.values().any(|value| has_text(value, is)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether `is` holds for an object somewhere in `value`.
fn has_object(value: &Value, is: &dyn Fn(&serde_json::Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| has_object(value, is)),
        Value::Object(fields) => is(fields) || fields.values().any(|value| has_object(value, is)),
        _ => false,
    }
}

fn asking(messages: Vec<Message>) -> ChatRequest {
    ChatRequest { messages: messages.into_iter().map(Arc::new).collect(), ..ChatRequest::default() }
}

fn hello() -> ChatRequest {
    asking(vec![Message::human("h", "hello")])
}

fn with_tools(tool_choice: ToolChoice) -> ChatRequest {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "Probes.".into(),
        schema: json!({ "type": "object", "properties": {} }),
    };
    ChatRequest { tools: vec![tool("probe_tool"), tool("other_tool")].into(), tool_choice, ..hello() }
}

fn forced(row: &Row) -> Mark {
    let asked = |choice, effort| row.sent(&ChatRequest { effort, ..with_tools(choice) });
    let bound = asked(ToolChoice::Tool("probe_tool".into()), None);
    let off = asked(ToolChoice::Auto, Some(Effort::Off));
    // What tells a model not to think, that the same request without a forced call has not.
    let quiet = ["thinking", "enable_thinking"]
        .iter()
        .any(|field| bound.get(*field).is_some_and(|value| off.get(*field) == Some(value)));
    let has_other = |value: &Value| has_text(value, &|text| text == "other_tool");
    match (asked(ToolChoice::Auto, None) == bound, has_other(&bound)) {
        (true, _) => Degraded(CHOOSES),
        (false, true) if quiet => Degraded(QUIET),
        (false, true) => Works,
        // Gemini names the tools that may be called beside all of them; who drops the others has no such word.
        (false, false) => Degraded(ONLY_TOOL),
    }
}

fn reasoning_shown(row: &Row) -> Mark {
    let shown = row.heard().iter().any(|event| matches!(event, ModelEvent::ReasoningDelta { .. }));
    if shown && row.is_compatible() { Degraded(SENT) } else { works(shown) }
}

fn reasoning_sent_back(row: &Row) -> Mark {
    let kept = row.replies().into_iter().any(|reply| {
        let thoughts: Vec<String> = reply.content.iter().filter_map(proof).collect();
        let results = reply.tool_calls.iter().map(|call| {
            let content = vec!["done".into()];
            let status = ToolStatus::Success;
            Message::Tool(ToolMessage { call_id: call.id.clone(), name: call.name.clone(), status, content })
        });
        let results: Vec<Message> = results.collect();
        let turns = [vec![Message::human("h", "hello"), Message::Ai(reply)], results].concat();
        let sent = row.sent(&asking(turns));
        thoughts.iter().any(|thought| has_text(&sent, &|text| text == thought))
    });
    if kept && row.is_compatible() { Degraded(NAMELESS) } else { works(kept) }
}

/// What of a thought its provider wants to see again.
fn proof(block: &ContentBlock) -> Option<String> {
    let ContentBlock::Reasoning(reasoning) = block else { return None };
    let sealed = reasoning.opaque.as_ref().and_then(|opaque| opaque.get("item")?.get("encrypted_content")?.as_str());
    let proof = reasoning.signature.as_deref().or(sealed).unwrap_or(&reasoning.text);
    Some(proof.to_owned()).filter(|proof| !proof.is_empty())
}

fn effort(row: &Row) -> Mark {
    let at = |effort| row.sent(&ChatRequest { effort: Some(effort), max_output: Some(60_000), ..hello() });
    let named = Row { name: row.name.clone(), preset: row.preset, model: "gpt-5.4" };
    let of_named = |effort| named.sent(&ChatRequest { effort: Some(effort), ..hello() });
    match (at(Effort::Low) == at(Effort::High), at(Effort::Off) == at(Effort::High)) {
        (false, _) => Works,
        (true, false) => Degraded(SWITCH),
        (true, true) if row.is_compatible() && of_named(Effort::Low) != of_named(Effort::High) => Degraded(LEAST),
        (true, true) => NotOffered,
    }
}

fn media(kind: MediaKind, mime: &str) -> ContentBlock {
    ContentBlock::Media(Media { kind, mime: mime.into(), data: BYTES.into(), name: Some("probe".into()), kept: None })
}

fn holds_bytes(value: &Value) -> bool {
    has_text(value, &|text| text.ends_with(BYTES))
}

fn said(row: &Row, kind: MediaKind, mime: &str) -> Mark {
    let message = Message::Human(HumanMessage { id: "h".into(), content: vec![media(kind, mime)] });
    let sent = row.sent(&asking(vec![message]));
    match (holds_bytes(&sent), has_text(&sent, &|text| text.contains("left out: probe"))) {
        (true, _) => Works,
        (false, true) => Degraded(NAMED),
        (false, false) => NotOffered,
    }
}

fn in_result(row: &Row, kind: MediaKind, mime: &str) -> Mark {
    let call = ToolCall { id: CALL.into(), name: "probe_tool".into(), args: json!({}) };
    let asked = AiMessage {
        id: "a".into(),
        content: vec![],
        tool_calls: vec![call],
        invalid_tool_calls: vec![],
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::ToolUse,
        model: None,
        asked: None,
    };
    let content = vec![media(kind, mime)];
    let (call_id, name, status) = (CALL.into(), "probe_tool".into(), ToolStatus::Success);
    let result = Message::Tool(ToolMessage { call_id, name, status, content });
    let sent = row.sent(&asking(vec![Message::human("h", "look"), Message::Ai(asked), result]));
    let inside = has_object(&sent, &|fields| {
        let is_result = fields.values().any(|value| value == CALL);
        is_result && fields.values().any(holds_bytes)
    });
    match (inside, holds_bytes(&sent), has_text(&sent, &|text| text.contains("left out: probe"))) {
        (true, ..) => Works,
        (false, true, _) => Degraded(BESIDE),
        (false, false, true) => Degraded(NAMED),
        (false, false, false) => NotOffered,
    }
}

fn shaped(row: &Row) -> Mark {
    let schema = json!({ "type": "object", "properties": { "probe_field": { "type": "string" } } });
    let output = Some(OutputSchema { name: "probe".into(), schema });
    let sent = row.sent(&ChatRequest { output, ..hello() });
    let is_checked = has_object(&sent, &|fields| fields.contains_key("probe_field"));
    match (is_checked, has_text(&sent, &|text| text.contains("probe_field"))) {
        (true, _) => Works,
        (false, true) => Degraded(PROSE),
        (false, false) => NotOffered,
    }
}

fn cached(row: &Row) -> Mark {
    let system = vec![SystemBlock { text: "Stand by.".into(), cache: true }];
    let cache = CacheMarks { tools: true, conversation: true, ..CacheMarks::default() };
    let request = ChatRequest { system, cache, conversation: Some("probe".into()), ..with_tools(ToolChoice::Auto) };
    let is_marked = |row: &Row| has_object(&row.sent(&request), &|fields| fields.contains_key("cache_control"));
    let claude = Row { name: row.name.clone(), preset: row.preset, model: "anthropic/claude-sonnet-4.6" };
    match (is_marked(row), row.is_compatible() && is_marked(&claude)) {
        (true, _) => Works,
        (false, true) => Degraded(OF_CLAUDE),
        _ if has_text(&row.sent(&request), &|text| text == "probe") => Degraded(KEYED),
        (false, false) => Degraded(ITSELF),
    }
}

fn reported(row: &Row, is: fn(&Usage) -> bool) -> Mark {
    let reported = row.heard().iter().any(|event| matches!(event, ModelEvent::Usage(usage) if is(usage)));
    if reported && row.is_compatible() { Degraded(REPORTED) } else { works(reported) }
}

fn refusal(row: &Row) -> Mark {
    let bytes: Vec<u8> = match row.wire() {
        Family::Anthropic | Family::Bedrock => {
            let events = [
                json!({ "type": "message_start", "message": { "model": "m" } }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "refusal" } }),
                json!({ "type": "message_stop" }),
            ];
            let events = events.iter().map(Value::to_string);
            match row.wire() {
                Family::Bedrock => events.flat_map(|event| framed(event.as_bytes())).collect(),
                _ => events.flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect(),
            }
        }
        Family::OpenAiChat => include_bytes!("../fixtures/openai_refusal.sse").to_vec(),
        Family::Gemini => include_bytes!("../fixtures/gemini_blocked.sse").to_vec(),
        Family::OpenAiResponses => {
            let part = json!({ "type": "response.refusal.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "No." });
            let message = json!({ "type": "message", "id": "m", "role": "assistant", "content": [{ "type": "refusal", "refusal": "No." }] });
            let events = [
                json!({ "type": "response.created", "response": { "id": "r", "model": "m" } }),
                json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "id": "m", "role": "assistant", "content": [] } }),
                part,
                json!({ "type": "response.output_item.done", "output_index": 0, "item": message.clone() }),
                json!({ "type": "response.completed", "response": { "id": "r", "model": "m", "status": "completed", "output": [message] } }),
            ];
            events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
        }
        // The wire has no word for it.
        Family::Ollama | Family::Vertex => return NotOffered,
    };
    let refused = |event: &ModelEvent| {
        matches!(event, ModelEvent::Finished { stop: StopReason::Refusal | StopReason::RefusalFor(_) })
    };
    works(row.read(&bytes).iter().any(refused))
}

#[cfg(test)]
#[path = "abilities_tests.rs"]
mod tests;
