use std::borrow::Cow;

use bosun_model::{
    AiMessage, ChatRequest, ContentBlock, Effort, Media, MediaKind, Message, ModelInfo, OutputSchema, Reasoning,
    ReplyPart, ToolChoice, ToolMessage, ToolSpec, ToolStatus,
};
use serde::Serialize;
use serde_json::Value;

use crate::adapter::{Arguments, LeftOut, write_head, write_tail, write_turn};
use crate::body::Group;
use crate::media::{DataUrl, as_error, is_blank, placeholder};
use crate::openai_chat::{effort_word, takes_strictly};
use crate::preset::{Quirks, ResultPart};

/// The wire takes no smaller limit.
const LEAST_OUTPUT: u32 = 16;

pub(super) fn head(
    request: &ChatRequest,
    info: &ModelInfo,
    quirks: Quirks,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let texts: Vec<_> = request.system.iter().map(|block| block.text.as_str()).filter(|text| !is_blank(text)).collect();
    let head = Head {
        model: &info.name,
        stream: true,
        store: false,
        prompt_cache_key: quirks.cache_key(request),
        include: if info.abilities.reasoning { &["reasoning.encrypted_content"] } else { &[] },
        instructions: (!texts.is_empty()).then(|| texts.join("\n\n")),
    };
    write_head(&head, "input", out)
}

pub(super) fn tail(
    request: &ChatRequest,
    info: &ModelInfo,
    left_out: LeftOut,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let tail = Tail {
        tools: request.tools.iter().map(Tool::from).collect(),
        tool_choice: if request.tools.is_empty() { None } else { choice(&request.tool_choice) },
        max_output_tokens: request.max_output.map(|most| most.max(LEAST_OUTPUT)),
        reasoning: if info.abilities.reasoning { Thinking::of(request.effort, info, left_out) } else { None },
        text: request.output.as_ref().map(|output| Text { format: Format::from(output) }),
    };
    write_tail(&tail, out)
}

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
}

#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
}

#[derive(PartialEq, Serialize)]
struct Thinking {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

impl Thinking {
    /// A summary is asked for whenever there may be thoughts: without a word of it nothing of them comes back.
    fn of(effort: Option<Effort>, info: &ModelInfo, left_out: LeftOut) -> Option<Self> {
        let effort = effort.and_then(|effort| effort_word(&info.name, effort));
        let asked = Self { effort, summary: (!left_out.summaries && effort != Some("none")).then_some("auto") };
        (asked != Self { effort: None, summary: None }).then_some(asked)
    }
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

impl<'a> From<&'a OutputSchema> for Format<'a> {
    fn from(output: &'a OutputSchema) -> Self {
        let strict = takes_strictly(&output.schema);
        Self { r#type: "json_schema", name: &output.name, schema: &output.schema, strict }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// The wire's own default would change what schemas may say.
    strict: bool,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        let (name, description) = (&tool.name, &tool.description);
        Self { r#type: "function", name, description, parameters: &tool.schema, strict: false }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Tool { r#type: &'static str, name: &'a str },
}

fn choice(choice: &ToolChoice) -> Option<Choice<'_>> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Choice::Word("none")),
        ToolChoice::Required => Some(Choice::Word("required")),
        ToolChoice::Tool(name) => Some(Choice::Tool { r#type: "function", name }),
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    /// Replayed as it came.
    Reasoning(&'a Value),
    Own(Own<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Own<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
        /// Of what the model said itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a str>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: Arguments<'a>,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Content<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Part<'a> {
    #[serde(rename = "input_text")]
    Text { text: Cow<'a, str> },
    #[serde(rename = "input_image")]
    Image { image_url: DataUrl<'a>, detail: &'static str },
    #[serde(rename = "input_file")]
    File { filename: &'a str, file_data: DataUrl<'a> },
}

pub(super) fn turns(
    group: &Group<'_>,
    host: &str,
    results: ResultPart,
    left_out: LeftOut,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let mut items = Vec::new();
    for message in group.messages {
        match &**message {
            Message::Ai(message) => {
                let first = items.len();
                assistant(message, host, group.variant, &mut items);
                if left_out.thoughts {
                    items.extract_if(first.., |item| matches!(item, Item::Reasoning(_))).for_each(drop);
                }
            }
            Message::Tool(message) => items.push(Item::Own(result(message, results))),
            Message::Human(_) | Message::System(_) => {}
        }
    }
    let beside: Vec<_> = group.messages.iter().flat_map(|message| beside(message, results)).collect();
    if !beside.is_empty() {
        items.push(Item::Own(Own::Message { role: "user", content: Content::Parts(beside), phase: None }));
    }
    for message in group.messages {
        let (role, content) = match &**message {
            Message::Human(message) => ("user", &message.content),
            Message::System(message) => ("developer", &message.content),
            Message::Ai(_) | Message::Tool(_) => continue,
        };
        let parts: Vec<_> = content.iter().filter_map(part).collect();
        if !parts.is_empty() {
            items.push(Item::Own(Own::Message { role, content: Content::Parts(parts), phase: None }));
        }
    }
    items.iter().try_for_each(|item| write_turn(item, out))
}

fn assistant<'a>(message: &'a AiMessage, host: &str, thinks: bool, items: &mut Vec<Item<'a>>) {
    let first = items.len();
    for part in message.parts() {
        let block = match part {
            ReplyPart::Block(block) => block,
            ReplyPart::Call(call) => {
                let arguments = Arguments(call.args());
                items.push(Item::Own(Own::FunctionCall { call_id: call.id().as_str(), name: call.name(), arguments }));
                continue;
            }
        };
        match block {
            ContentBlock::Text { text } if !is_blank(text) => {
                let content = Content::Text(text.as_str().into());
                items.push(Item::Own(Own::Message { role: "assistant", content, phase: None }));
            }
            ContentBlock::Reasoning(reasoning) if thinks => {
                let Some(opaque) = own(reasoning, host) else { continue };
                let said = items.get_mut(first..).and_then(<[_]>::last_mut);
                if let Some(Item::Own(Own::Message { phase, .. })) = said {
                    *phase = opaque.get("phase").and_then(Value::as_str).or(*phase);
                }
                items.extend(reasoning_of(opaque));
            }
            ContentBlock::Text { .. } | ContentBlock::Reasoning(_) | ContentBlock::Media(_) => {}
        }
    }
    // The wire refuses thoughts that nothing came of.
    while matches!(items.last(), Some(Item::Reasoning(_))) {
        items.pop();
    }
}

/// What this very host gave along; `decode` marked it.
fn own<'a>(reasoning: &'a Reasoning, host: &str) -> Option<&'a Value> {
    reasoning.opaque.as_ref().filter(|opaque| opaque.get("responses").and_then(Value::as_str) == Some(host))
}

/// Without its encrypted part the host knows nothing of an item.
fn reasoning_of(opaque: &Value) -> Option<Item<'_>> {
    let item = opaque.get("item")?;
    item.get("encrypted_content").and_then(Value::as_str)?;
    Some(Item::Reasoning(item))
}

fn result(message: &ToolMessage, results: ResultPart) -> Own<'_> {
    let inside = message.content.iter().filter(|block| !goes_beside(block, results));
    let mut parts: Vec<_> = inside.filter_map(part).collect();
    if parts.is_empty() && message.content.iter().any(|block| goes_beside(block, results)) {
        parts.push(Part::Text { text: "[see the attachment below]".into() });
    }
    let plain = parts.iter().all(|part| matches!(part, Part::Text { .. }));
    let output = if plain {
        // What stands for media is no text of the result's own.
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(&**text),
            Part::Image { .. } | Part::File { .. } => None,
        });
        let is_own = message.content.iter().all(|block| !matches!(block, ContentBlock::Media(_)));
        let text = if is_own { bosun_model::text_of(&message.content) } else { texts.collect::<Vec<_>>().join("\n\n") };
        let text = text.into();
        Content::Text(if message.status == ToolStatus::Error { as_error(text) } else { text })
    } else {
        Content::Parts(parts)
    };
    Own::FunctionCallOutput { call_id: message.call_id.as_str(), output }
}

/// Whether a block of a result cannot stand in it.
fn goes_beside(block: &ContentBlock, results: ResultPart) -> bool {
    let ContentBlock::Media(media) = block else { return false };
    results == ResultPart::Images && matches!(attachment(media), Part::File { .. })
}

/// What of a result goes beside it, with whose it is.
fn beside(message: &Message, results: ResultPart) -> Vec<Part<'_>> {
    let Message::Tool(message) = message else { return Vec::new() };
    let blocks = message.content.iter().filter(|block| goes_beside(block, results));
    let mut parts: Vec<_> = blocks.filter_map(part).collect();
    if !parts.is_empty() {
        let whose = format!("Attached by {} ({}):", message.name, message.call_id);
        parts.insert(0, Part::Text { text: whose.into() });
    }
    parts
}

fn part(block: &ContentBlock) -> Option<Part<'_>> {
    match block {
        ContentBlock::Text { text } => (!is_blank(text)).then(|| Part::Text { text: text.as_str().into() }),
        ContentBlock::Reasoning(_) => None,
        ContentBlock::Media(media) => Some(attachment(media)),
    }
}

fn attachment(media: &Media) -> Part<'_> {
    match (media.kind, media.mime.as_str()) {
        (MediaKind::Image, "image/png" | "image/jpeg" | "image/gif" | "image/webp") => {
            Part::Image { image_url: DataUrl(media), detail: "auto" }
        }
        (MediaKind::Document, "application/pdf") => {
            let filename = media.name.as_deref().unwrap_or("document.pdf");
            Part::File { filename, file_data: DataUrl(media) }
        }
        _ => Part::Text { text: placeholder(media).into() },
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
