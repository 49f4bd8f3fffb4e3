use bosun_model::{
    AiMessage, ChatRequest, ContentBlock, Effort, MediaKind, Message, ModelInfo, ToolChoice, ToolMessage, ToolSpec,
    ToolStatus, text_of,
};
use serde::Serialize;
use serde_json::Value;

use crate::adapter::{write_head, write_tail, write_turn};
use crate::body::Group;
use crate::media::{as_error, instruction, is_blank, placeholder};

pub(super) fn head(request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
    write_head(&Head { model: &info.name, stream: true }, "messages", out)?;
    let texts: Vec<_> = request.system.iter().map(|block| block.text.as_str()).filter(|text| !is_blank(text)).collect();
    if texts.is_empty() {
        return Ok(());
    }
    write_turn(&Turn::said("system", texts.join("\n\n")), out)
}

pub(super) fn tail(request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
    // The wire cannot force a call; it can only be left the one tool, or none.
    let offered = |tool: &&ToolSpec| match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Tool(name) => tool.name == *name,
    };
    let options = Options { num_ctx: info.context_window, num_predict: request.max_output };
    let tail = Tail {
        tools: request.tools.iter().filter(offered).map(Tool::from).collect(),
        format: request.output.as_ref().map(|output| &output.schema),
        think: request.effort.and_then(|effort| think(effort, info)),
        options: (options.num_ctx.is_some() || options.num_predict.is_some()).then_some(options),
    };
    write_tail(&tail, out)
}

/// A model that cannot think refuses to be asked to; not to think is understood by all.
fn think(effort: Effort, info: &ModelInfo) -> Option<Think> {
    let leveled = info.name.rsplit('/').next().is_some_and(|name| name.starts_with("gpt-oss"));
    match effort {
        Effort::Off | Effort::Low if leveled => Some(Think::Level("low")),
        Effort::Medium if leveled => Some(Think::Level("medium")),
        Effort::High | Effort::Max if leveled => Some(Think::Level("high")),
        Effort::Off => Some(Think::Switch(false)),
        _ => info.abilities.reasoning.then_some(Think::Switch(true)),
    }
}

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    stream: bool,
}

#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Think>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Options>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Think {
    Switch(bool),
    Level(&'static str),
}

#[derive(Serialize)]
struct Options {
    /// Tokens of the window that the server holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        let function = Function { name: &tool.name, description: &tool.description, parameters: &tool.schema };
        Self { r#type: "function", function }
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    thinking: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl Turn<'_> {
    fn said(role: &'static str, content: String) -> Self {
        let (thinking, images, tool_calls) = (String::new(), Vec::new(), Vec::new());
        Self { role, content, thinking, images, tool_calls, tool_name: None, tool_call_id: None }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: Args<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Args<'a> {
    Object(&'a Value),
    /// For calls whose arguments never were an object; the result says what was wrong.
    Empty {},
}

pub(super) fn turns(group: &Group<'_>, host: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    for message in group.messages {
        match &**message {
            Message::Ai(message) => {
                let turn = reply(message, host);
                if !is_blank(&turn.content) || !turn.tool_calls.is_empty() {
                    write_turn(&turn, out)?;
                }
            }
            Message::Tool(message) => write_turn(&result(message), out)?,
            Message::Human(_) | Message::System(_) => {}
        }
    }
    for message in group.messages {
        let turn = match &**message {
            Message::Human(message) => said(&message.content),
            Message::System(message) => Turn::said("user", instruction(&text_of(&message.content))),
            Message::Ai(_) | Message::Tool(_) => continue,
        };
        if !is_blank(&turn.content) || !turn.images.is_empty() {
            write_turn(&turn, out)?;
        }
    }
    Ok(())
}

fn reply<'a>(message: &'a AiMessage, host: &str) -> Turn<'a> {
    let tool_calls = message
        .calls()
        .map(|call| {
            let arguments = call.args().map_or(Args::Empty {}, Args::Object);
            Call { id: call.id().as_str(), function: Called { name: call.name(), arguments } }
        })
        .collect();
    let thoughts = message.content.iter().filter_map(|block| match block {
        ContentBlock::Reasoning(reasoning) => {
            let from = reasoning.opaque.as_ref()?.get("ollama")?.as_str()?;
            (from == host).then_some(reasoning.text.as_str())
        }
        ContentBlock::Text { .. } | ContentBlock::Media(_) => None,
    });
    Turn { tool_calls, thinking: thoughts.collect(), ..Turn::said("assistant", message.text()) }
}

fn result(message: &ToolMessage) -> Turn<'_> {
    let mut turn = said(&message.content);
    turn.role = "tool";
    turn.tool_name = Some(&message.name);
    turn.tool_call_id = Some(message.call_id.as_str());
    if message.status == ToolStatus::Error {
        turn.content = as_error(turn.content.into()).into_owned();
    }
    turn
}

/// Text and images; of what else there is, the name.
fn said(content: &[ContentBlock]) -> Turn<'_> {
    let mut turn = Turn::said("user", String::new());
    for block in content {
        let words = match block {
            ContentBlock::Text { text } => text.to_string(),
            ContentBlock::Media(media) if media.kind == MediaKind::Image => {
                turn.images.push(&media.data);
                continue;
            }
            ContentBlock::Media(media) => placeholder(media),
            ContentBlock::Reasoning(_) => continue,
        };
        if !is_blank(&words) {
            if !turn.content.is_empty() {
                turn.content.push('\n');
            }
            turn.content.push_str(&words);
        }
    }
    turn
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
