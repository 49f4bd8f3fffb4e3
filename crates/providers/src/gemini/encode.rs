use std::borrow::Cow;

use bosun_model::{
    AiMessage, CallId, ChatRequest, ContentBlock, Media, MediaKind, Message, ModelInfo, ReplyCall, ReplyPart,
    ToolChoice, ToolMessage, ToolSpec, ToolStatus, text_of,
};
use serde::Serialize;
use serde_json::Value;

use super::Signer;
use super::thinking::{self, ThinkingConfig};
use crate::adapter::{CallIds, write_head, write_tail, write_turn};
use crate::body::Group;
use crate::media::{instruction, is_blank, placeholder};

/// What the vendor documents for calls that it did not sign.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn head(request: &ChatRequest, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let texts = request.system.iter().map(|block| block.text.as_str()).filter(|text| !is_blank(text));
    let parts: Vec<_> = texts.map(|text| Part::text(text.into())).collect();
    let head = Head { system_instruction: (!parts.is_empty()).then_some(Instruction { parts }) };
    write_head(&head, "contents", out)
}

pub(super) fn tail(
    request: &ChatRequest,
    info: &ModelInfo,
    leveled: bool,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let function_declarations: Vec<_> = request.tools.iter().map(Declaration::from).collect();
    let calling = if function_declarations.is_empty() { None } else { calling(&request.tool_choice) };
    let generation_config = GenerationConfig {
        max_output_tokens: request.max_output,
        thinking_config: thinking::asked(request, info, leveled),
        response_mime_type: request.output.as_ref().map(|_| "application/json"),
        response_json_schema: request.output.as_ref().map(|output| &output.schema),
    };
    let tail = Tail {
        tools: if function_declarations.is_empty() { vec![] } else { vec![Tools { function_declarations }] },
        tool_config: calling.map(|function_calling_config| ToolConfig { function_calling_config }),
        generation_config: generation_config.asks().then_some(generation_config),
    };
    write_tail(&tail, out)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<GenerationConfig<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

impl<'a> From<&'a ToolSpec> for Declaration<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        Self { name: &tool.name, description: &tool.description, parameters_json_schema: &tool.schema }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: Calling<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Calling<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

fn calling(choice: &ToolChoice) -> Option<Calling<'_>> {
    let (mode, allowed_function_names) = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Tool(name) => ("ANY", Some([name.as_str()])),
    };
    Some(Calling { mode, allowed_function_names })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl GenerationConfig<'_> {
    fn asks(&self) -> bool {
        self.max_output_tokens.is_some() || self.thinking_config.is_some() || self.response_json_schema.is_some()
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Kind<'a> {
    Text(Cow<'a, str>),
    InlineData(Blob<'a>),
    FunctionCall(Call<'a>),
    FunctionResponse(Response<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct Call<'a> {
    /// Only one that a server gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Args<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Args<'a> {
    Object(&'a Value),
    /// For calls whose arguments never were an object; the result says what was wrong.
    Empty {},
}

#[derive(Serialize)]
struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Outcome,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Output(String),
    Error(String),
}

impl<'a> Part<'a> {
    fn new(kind: Kind<'a>) -> Self {
        Self { kind, thought_signature: None }
    }

    fn text(text: Cow<'a, str>) -> Self {
        Self::new(Kind::Text(text))
    }

    fn is_said(&self) -> bool {
        matches!(self.kind, Kind::Text(_))
    }
}

/// One turn at most: the wire wants the two sides to take turns, and results before what was said beside them.
/// `signer` is whose signatures go back, if any do.
pub(super) fn turns(group: &Group<'_>, signer: Option<&Signer>, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut parts = Vec::new();
    let mut role = "user";
    for message in group.messages {
        match &**message {
            Message::Ai(message) => {
                role = "model";
                reply(message, signer, group.variant, &mut parts);
            }
            Message::Tool(message) => parts.push(result(message)),
            Message::Human(_) | Message::System(_) => {}
        }
    }
    for message in group.messages {
        match &**message {
            Message::Tool(message) => shown(message, &mut parts),
            Message::Human(message) => parts.extend(message.content.iter().filter_map(part)),
            Message::System(message) => parts.push(Part::text(instruction(&text_of(&message.content)).into())),
            Message::Ai(_) => {}
        }
    }
    if parts.is_empty() { Ok(()) } else { write_turn(&Turn { role, parts }, out) }
}

fn reply<'a>(message: &'a AiMessage, signer: Option<&Signer>, wants_signatures: bool, parts: &mut Vec<Part<'a>>) {
    let start = parts.len();
    let mut is_first_call = true;
    for part in message.parts() {
        let block = match part {
            ReplyPart::Block(block) => block,
            ReplyPart::Call(call) => {
                let unsigned = (wants_signatures && is_first_call).then_some(UNSIGNED);
                is_first_call = false;
                parts.push(called(call, message, signer, unsigned));
                continue;
            }
        };
        match block {
            ContentBlock::Text { text } if !text.is_empty() => parts.push(Part::text(text.as_str().into())),
            ContentBlock::Reasoning(_) => {
                let Some((signature, Signed::Text)) = signature(block, signer) else { continue };
                match parts.get_mut(start..).and_then(<[_]>::last_mut) {
                    Some(last) if last.thought_signature.is_none() && last.is_said() => {
                        last.thought_signature = Some(signature)
                    }
                    _ => parts.push(Part { thought_signature: Some(signature), ..Part::text("".into()) }),
                }
            }
            ContentBlock::Text { .. } | ContentBlock::Media(_) => {}
        }
    }
}

/// Of calls made at once, the first carries a signature: its own, or what stands in for one.
fn called<'a>(
    call: ReplyCall<'a>,
    message: &'a AiMessage,
    signer: Option<&Signer>,
    stand_in: Option<&'a str>,
) -> Part<'a> {
    let (id, name, args) = (call.id(), call.name(), call.args().map_or(Args::Empty {}, Args::Object));
    let signed = message.content.iter().find_map(|block| match signature(block, signer)? {
        (signature, Signed::Call(of)) if of == id.as_str() => Some(signature),
        _ => None,
    });
    let kind = Kind::FunctionCall(Call { id: given(id), name, args });
    Part { kind, thought_signature: signed.or(stand_in) }
}

/// What a signature was put on.
enum Signed<'a> {
    Text,
    /// The call of this id.
    Call(&'a str),
}

/// The signature in a block, if this very host and model made it; `decode` marked it. Older journals do not say which model.
fn signature<'a>(block: &'a ContentBlock, signer: Option<&Signer>) -> Option<(&'a str, Signed<'a>)> {
    let ContentBlock::Reasoning(reasoning) = block else { return None };
    let (signer, opaque) = (signer?, reasoning.opaque.as_ref()?);
    let mark = |name: &str| opaque.get(name).and_then(Value::as_str);
    let is_own = mark("gemini") == Some(&signer.host) && mark("model").is_none_or(|model| model == signer.model);
    let signature = reasoning.signature.as_deref().filter(|_| is_own)?;
    let of = opaque.get("call").and_then(Value::as_str).map_or(Signed::Text, Signed::Call);
    Some((signature, of))
}

fn given(id: &CallId) -> Option<&str> {
    Some(id.as_str()).filter(|id| !CallIds::made(id))
}

fn result(message: &ToolMessage) -> Part<'_> {
    let mut text = text_of(&message.content);
    if is_blank(&text) && message.content.iter().any(|block| matches!(block, ContentBlock::Media(_))) {
        text = "[see the attachment below]".into();
    }
    let response = if message.status == ToolStatus::Error { Outcome::Error(text) } else { Outcome::Output(text) };
    let (id, name) = (given(&message.call_id), message.name.as_str());
    Part::new(Kind::FunctionResponse(Response { id, name, response }))
}

/// What a result shows goes beside it: only newer models take it inside.
fn shown<'a>(message: &'a ToolMessage, parts: &mut Vec<Part<'a>>) {
    let mut media = message.content.iter().filter(|block| matches!(block, ContentBlock::Media(_))).peekable();
    if media.peek().is_some() {
        parts.push(Part::text(format!("Attached by {} ({}):", message.name, message.call_id).into()));
    }
    parts.extend(media.filter_map(part));
}

fn part(block: &ContentBlock) -> Option<Part<'_>> {
    match block {
        ContentBlock::Text { text } => (!is_blank(text)).then(|| Part::text(text.as_str().into())),
        ContentBlock::Reasoning(_) => None,
        ContentBlock::Media(media) => Some(attachment(media)),
    }
}

fn attachment(media: &Media) -> Part<'_> {
    let taken = match media.kind {
        MediaKind::Image => media.mime != "image/gif" && media.mime != "image/svg+xml",
        MediaKind::Document => media.mime == "application/pdf" || media.mime.starts_with("text/"),
        MediaKind::Audio | MediaKind::Video => true,
    };
    if taken {
        return Part::new(Kind::InlineData(Blob { mime_type: own_name(&media.mime), data: &media.data }));
    }
    Part::text(placeholder(media).into())
}

/// What the vendor's list of formats calls one that others call `mime`.
fn own_name(mime: &str) -> &str {
    match mime {
        "audio/mpeg" => "audio/mp3",
        "video/quicktime" => "video/mov",
        "video/x-msvideo" => "video/avi",
        "video/x-ms-wmv" => "video/wmv",
        other => other,
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
