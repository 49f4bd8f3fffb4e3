use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::Wire;

mod clouds;
mod foreign;

/// A model request in one shape for all wires; what rules match on.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub wire: Wire,
    pub model: String,
    /// The system prompt, its blocks joined by a blank line.
    pub system: String,
    /// Everything after the system prompt. A message that carries results and text gives one entry for each.
    pub said: Vec<Said>,
    /// Names of the tools on offer, in order.
    pub tools: Vec<String>,
    pub stream: bool,
}

/// One piece of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub by: Speaker,
    pub text: String,
    /// The calls of an assistant message.
    pub calls: Vec<AskedCall>,
    /// The call that a tool result answers.
    pub call_id: Option<String>,
}

/// A tool call as it stands in a request's history.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedCall {
    pub id: String,
    pub name: String,
    pub args: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    System,
    Human,
    Ai,
    Tool,
}

impl Asked {
    /// Reads a request to `path`. Fails with a sentence when it is not one of this wire's requests.
    pub fn parse(wire: Wire, path: &str, body: &[u8]) -> Result<Self, String> {
        match wire {
            Wire::Anthropic | Wire::OpenAi => Self::parse_chat(wire, body),
            Wire::Bedrock | Wire::Vertex => clouds::claude(wire, path, body),
            Wire::VertexGemini => Ok(Self { wire, ..foreign::gemini(path, body)? }),
            Wire::OpenAiResponses => foreign::responses(body),
            Wire::Gemini => foreign::gemini(path, body),
            Wire::Ollama => foreign::ollama(body),
        }
    }

    fn parse_chat(wire: Wire, body: &[u8]) -> Result<Self, String> {
        let body: Body<'_> = serde_json::from_slice(body).map_err(|error| format!("not a {wire} request: {error}"))?;
        let mut asked = Self {
            wire,
            model: body.model.into_owned(),
            system: body.system.map(|system| system.text("\n\n")).unwrap_or_default(),
            said: Vec::with_capacity(body.messages.len()),
            tools: body.tools.unwrap_or_default().into_iter().map(ToolName::into_name).collect(),
            stream: body.stream.unwrap_or(false),
        };
        for message in body.messages {
            asked.add(message)?;
        }
        Ok(asked)
    }

    /// The text of the last piece, whoever said it.
    pub fn last(&self) -> &str {
        self.said.last().map_or("", |said| said.text.as_str())
    }

    /// The text of the last human message; what Bosun tells in a person's place of files is none.
    pub fn last_human(&self) -> &str {
        self.after_human().0
    }

    /// How many replies the assistant gave since the last human message.
    pub fn step(&self) -> usize {
        self.after_human().1.iter().filter(|said| said.by == Speaker::Ai).count()
    }

    /// How many tool results came since the last human message.
    pub fn tool_results(&self) -> usize {
        self.after_human().1.iter().filter(|said| said.by == Speaker::Tool).count()
    }

    fn after_human(&self) -> (&str, &[Said]) {
        let is_said = |said: &Said| said.by == Speaker::Human && !said.text.starts_with("<files_changed>");
        match self.said.iter().rposition(is_said) {
            Some(at) => (self.said[at].text.as_str(), &self.said[at + 1..]),
            None => ("", &self.said),
        }
    }

    fn add(&mut self, message: Message<'_>) -> Result<(), String> {
        let by = match message.role.as_ref() {
            "system" | "developer" => Speaker::System,
            "user" => Speaker::Human,
            "assistant" => Speaker::Ai,
            "tool" => Speaker::Tool,
            other => return Err(format!("a message with the unknown role {other:?}")),
        };
        let mut calls = Vec::new();
        for call in message.tool_calls.unwrap_or_default() {
            let args = serde_json::from_str(&call.function.arguments)
                .map_err(|error| format!("the arguments of call {} are not JSON: {error}", call.id))?;
            calls.push(AskedCall { id: call.id.into_owned(), name: call.function.name.into_owned(), args });
        }
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        match message.content {
            Some(Content::Text(text)) => texts.push(text),
            Some(Content::Parts(parts)) => {
                for part in parts {
                    self.add_part(part, &mut texts, &mut calls);
                }
            }
            None => {}
        }
        let only_results = by == Speaker::Human && texts.is_empty();
        if by == Speaker::System && self.said.is_empty() {
            self.system.push_str(&texts.join("\n\n"));
        } else if !only_results {
            let call_id = message.tool_call_id.map(Cow::into_owned);
            self.said.push(Said { by, text: texts.join("\n"), calls, call_id });
        }
        Ok(())
    }

    fn add_part<'a>(&mut self, part: Part<'a>, texts: &mut Vec<Cow<'a, str>>, calls: &mut Vec<AskedCall>) {
        match part.kind.as_ref() {
            "text" => texts.push(part.text.unwrap_or_default()),
            "tool_use" => {
                calls.push(AskedCall {
                    id: part.id.unwrap_or_default().into_owned(),
                    name: part.name.unwrap_or_default().into_owned(),
                    args: part.input.unwrap_or_default(),
                });
            }
            "tool_result" => self.said.push(Said {
                by: Speaker::Tool,
                text: part.content.map(|content| content.text("\n")).unwrap_or_default(),
                calls: Vec::new(),
                call_id: part.tool_use_id.map(Cow::into_owned),
            }),
            // Thinking, images and documents are not matched on; their bytes are in the recorded body.
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    system: Option<Content<'a>>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    #[serde(borrow)]
    tools: Option<Vec<ToolName<'a>>>,
    stream: Option<bool>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Parts(#[serde(borrow)] Vec<Part<'a>>),
}

impl Content<'_> {
    fn text(self, joint: &str) -> String {
        match self {
            Self::Text(text) => text.into_owned(),
            Self::Parts(parts) => {
                let texts: Vec<_> = parts.into_iter().filter_map(|part| part.text).collect();
                texts.join(joint)
            }
        }
    }
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    input: Option<Value>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<Box<Content<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ToolName<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: Option<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

impl ToolName<'_> {
    fn into_name(self) -> String {
        self.name.or(self.function.map(|function| function.name)).unwrap_or_default().into_owned()
    }
}
