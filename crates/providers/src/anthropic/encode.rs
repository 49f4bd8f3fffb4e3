use std::borrow::Cow;

use bosun_model::{
    AiMessage, ChatRequest, ContentBlock, Media, MediaKind, Message, ModelInfo, OutputSchema, Reasoning, ReplyPart,
    ToolChoice, ToolMessage, ToolSpec, ToolStatus,
};
use serde::Serialize;
use serde_json::Value;

use super::binding::{BlockBinding, Thoughts};
use super::dialect::{Dialect, Host};
use super::thinking::{self, Asked};
use crate::adapter::{CacheControl, standing, write_head, write_tail, write_turn};
use crate::body::Group;
use crate::config::MOST_OUTPUT;
use crate::media::{instruction, is_blank, is_silent, placeholder};

/// The wire wants a limit with every request. For models that nothing is known of. Every current one can do this; a larger figure is an error on those that cannot.
const UNKNOWN_OUTPUT: u32 = 8_192;

/// The limit of a model of which none is known. All that take a level of thinking can write more than is asked of anybody
/// (<https://platform.claude.com/docs/en/about-claude/models/overview>).
fn unknown_output(name: &str) -> u32 {
    if thinking::thinks_by_name(name) { MOST_OUTPUT } else { UNKNOWN_OUTPUT }
}

pub(super) fn head(
    dialect: &Dialect,
    request: &ChatRequest,
    info: &ModelInfo,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let host = &dialect.host;
    let head = Head {
        anthropic_version: host.version(),
        // Others read it in a header.
        anthropic_beta: if *host == Host::Bedrock { dialect.beta().map(|beta| [beta]) } else { None },
        model: host.names_model().then_some(&info.name),
        max_tokens: request.max_output.or(info.max_output).unwrap_or_else(|| unknown_output(&info.name)),
        // Bedrock's address says so, and its body must not.
        stream: (*host != Host::Bedrock).then_some(true),
        system: system(request),
    };
    write_head(&head, "messages", out)
}

pub(super) fn tail(
    dialect: &Dialect,
    request: &ChatRequest,
    info: &ModelInfo,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let mut tools: Vec<_> = request.tools.iter().map(Tool::from).collect();
    if let Some(last) = tools.last_mut().filter(|_| request.cache.tools) {
        last.cache_control = Some(CacheControl::of(request.cache.lifetime));
    }
    let (thinking, effort) = thinking::asked(request, info);
    // Who refuses to be made to call is left to choose.
    let is_taken = !thinking::is_forced(&request.tool_choice) || !thinking::refuses_force(&info.name);
    let output_config = OutputConfig { effort, format: request.output.as_ref().map(Format::from) };
    let tail = Tail {
        tool_choice: choice(&request.tool_choice).filter(|_| !tools.is_empty() && is_taken),
        tools,
        thinking: thinking.and_then(|asked| Thinking::of(asked, dialect.thoughts)),
        output_config: (!output_config.is_empty()).then_some(output_config),
    };
    write_tail(&tail, out)
}

#[derive(Serialize)]
struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    anthropic_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anthropic_beta: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct Thinking {
    #[serde(flatten)]
    asked: Asked,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_binding: Option<BlockBinding>,
}

impl Thinking {
    /// `None` for a budget where thoughts are left out: the wire wants them back with one.
    fn of(asked: Asked, thoughts: Thoughts) -> Option<Self> {
        let is_adaptive = matches!(asked, Asked::Adaptive { .. });
        let block_binding = (is_adaptive && thoughts == Thoughts::Dropped).then_some(BlockBinding::DROP);
        let is_refused = matches!(asked, Asked::Enabled { .. }) && thoughts == Thoughts::LeftOut;
        (!is_refused).then_some(Self { asked, block_binding })
    }
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a Value,
}

impl<'a> From<&'a OutputSchema> for Format<'a> {
    fn from(output: &'a OutputSchema) -> Self {
        Self { r#type: "json_schema", schema: &output.schema }
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

/// A block that borrows all its bytes from the shared message.
#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Input<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Args(&'a Value),
    /// For calls whose arguments never were an object: the wire takes nothing else, and the result says what was wrong.
    Empty {},
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    None,
    Any,
    Tool { name: &'a str },
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        Self { name: &tool.name, description: &tool.description, input_schema: &tool.schema, cache_control: None }
    }
}

fn choice(choice: &ToolChoice) -> Option<Choice<'_>> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Choice::None),
        ToolChoice::Required => Some(Choice::Any),
        ToolChoice::Tool(name) => Some(Choice::Tool { name }),
    }
}

fn system(request: &ChatRequest) -> Vec<Block<'_>> {
    standing(request).map(|(block, cache_control)| Block { cache_control, ..text(&block.text) }).collect()
}

/// One turn at most: all between two replies of the model is one message of the user, results first, as the wire demands.
/// `origin` is whose thoughts are read there.
pub(super) fn turns(group: &Group<'_>, origin: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut content = Vec::new();
    let mut role = "user";
    for message in group.messages {
        match &**message {
            Message::Ai(message) if is_silent(message) => {}
            Message::Ai(message) => {
                role = "assistant";
                assistant(message, Some(origin).filter(|_| group.variant), &mut content);
            }
            Message::Tool(message) => content.push(result(message)),
            Message::Human(_) | Message::System(_) => {}
        }
    }
    // Behind the results: whatever passes is something that is said.
    let staying = group.messages.len().saturating_sub(group.mark.map_or(0, |mark| mark.passing));
    let mut marked = content.len();
    for (index, message) in group.messages.iter().enumerate() {
        match &**message {
            Message::Human(message) => content.extend(message.content.iter().filter_map(block)),
            Message::System(message) => {
                let words = instruction(&bosun_model::text_of(&message.content));
                content.push(plain(Kind::Text { text: words.into() }));
            }
            Message::Ai(_) | Message::Tool(_) => {}
        }
        if index < staying {
            marked = content.len();
        }
    }
    // One more breakpoint at the end of the conversation: the next step reads all of this from the cache. Where nothing of
    // the turn stays, one at its end still reads what was kept before.
    let marked = if marked == 0 { content.len() } else { marked };
    let last = marked.checked_sub(1).and_then(|last| content.get_mut(last));
    if let (Some(last), Some(mark), "user") = (last, group.mark, role) {
        last.cache_control = Some(CacheControl::of(mark.lifetime));
    }
    if content.is_empty() { Ok(()) } else { write_turn(&Turn { role, content }, out) }
}

/// `origin` is whose thoughts go back, if any do. The wire refuses thoughts that nothing came of.
fn assistant<'a>(message: &'a AiMessage, origin: Option<&str>, content: &mut Vec<Block<'a>>) {
    let first = content.len();
    content.extend(message.parts().filter_map(|part| match part {
        ReplyPart::Block(ContentBlock::Reasoning(reasoning)) => thinking(reasoning, origin?).map(plain),
        ReplyPart::Block(other) => block(other),
        ReplyPart::Call(call) => {
            let input = call.args().map_or(Input::Empty {}, Input::Args);
            Some(plain(Kind::ToolUse { id: id(call.id().as_str()), name: call.name(), input }))
        }
    }));
    let is_thought = |block: &Block<'_>| matches!(block.kind, Kind::Thinking { .. } | Kind::RedactedThinking { .. });
    while content.len() > first && content.last().is_some_and(is_thought) {
        content.pop();
    }
}

fn result(message: &ToolMessage) -> Block<'_> {
    plain(Kind::ToolResult {
        tool_use_id: id(message.call_id.as_str()),
        content: message.content.iter().filter_map(block).collect(),
        is_error: message.status == ToolStatus::Error,
    })
}

/// `None` for what says nothing, and for what only a reply has.
fn block(block: &ContentBlock) -> Option<Block<'_>> {
    match block {
        ContentBlock::Text { text: words } => (!is_blank(words)).then(|| text(words)),
        ContentBlock::Reasoning(_) => None,
        ContentBlock::Media(media) => Some(plain(attachment(media))),
    }
}

/// The block, if its host or another of the same models made it; `decode` marked it. Journals from before the mark have
/// none at what can only be of this wire.
fn thinking<'a>(reasoning: &'a Reasoning, origin: &str) -> Option<Kind<'a>> {
    let opaque = reasoning.opaque.as_ref();
    let from = opaque.and_then(|opaque| opaque.get("anthropic")).and_then(Value::as_str);
    if from.is_some_and(|from| from != origin) {
        return None;
    }
    if opaque.and_then(|opaque| opaque.get("type")).and_then(Value::as_str) == Some("redacted_thinking") {
        return Some(Kind::RedactedThinking { data: opaque?.get("data")?.as_str()? });
    }
    let signature = reasoning.signature.as_deref().filter(|_| opaque.is_none() || from.is_some())?;
    Some(Kind::Thinking { thinking: &reasoning.text, signature })
}

fn attachment(media: &Media) -> Kind<'_> {
    let source = Source { r#type: "base64", media_type: &media.mime, data: &media.data };
    match (media.kind, media.mime.as_str()) {
        (MediaKind::Image, "image/png" | "image/jpeg" | "image/gif" | "image/webp") => Kind::Image { source },
        (MediaKind::Document, "application/pdf") => Kind::Document { source, title: media.name.as_deref() },
        _ => Kind::Text { text: placeholder(media).into() },
    }
}

fn text(words: &str) -> Block<'_> {
    plain(Kind::Text { text: words.into() })
}

fn plain(kind: Kind<'_>) -> Block<'_> {
    Block { kind, cache_control: None }
}

/// The wire takes letters, digits, `_` and `-` only; ids of other servers hold more.
fn id(id: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(allowed) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(|c| if allowed(c) { c } else { '_' }).collect())
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
