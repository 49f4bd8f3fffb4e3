//! What a server wants back of a reply's thinking, beside the thinking that a person reads.
//!
//! The wire's vendor sends none of it, so every server has a way of its own. All of it is kept in the opaque value of a
//! reasoning block, with the host it came from: it goes back to that host alone, since others refuse it.
//!
//! | what comes | from | how it goes back |
//! |---|---|---|
//! | `reasoning_content` | DeepSeek, Moonshot, Zhipu, Qwen, many more | as it came, with messages that called tools |
//! | `content` parts of type `thinking` | Mistral | as such parts, in front of the text |
//! | `reasoning_details` | OpenRouter and gateways after it | the list, its pieces joined, as it came |
//! | `extra_content` of a call | Gemini behind this wire, with its signature | beside the call, as it came |
//! | `reasoning` | OpenRouter, Groq, Ollama | not at all |
//! | `<think>` in the text | servers that do not read what their model says | not at all |

use std::borrow::Cow;

use bosun_model::{AiMessage, ContentBlock, Message, ModelEvent};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::driver::Events;

/// Under which name the server sends what the model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// `reasoning_content`.
    Aloud,
    /// `reasoning`.
    Plain,
    /// Parts of the content.
    Parts,
}

/// The thinking of one reply as it comes.
#[derive(Debug)]
pub(super) struct Thoughts {
    host: String,
    open: Option<Source>,
    details: Vec<Map<String, Value>>,
}

impl Thoughts {
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), open: None, details: Vec::new() }
    }

    pub(super) fn say(&mut self, source: Source, text: String, out: &mut Events) {
        if !text.is_empty() {
            self.open = Some(source);
            out.push_back(ModelEvent::ReasoningDelta { text });
        }
    }

    /// Ends the block that is open.
    pub(super) fn close(&mut self, out: &mut Events) {
        let name = match self.open.take() {
            None => return,
            Some(Source::Aloud) => Some("reasoning_content"),
            Some(Source::Parts) => Some("thinking"),
            Some(Source::Plain) => None,
        };
        let opaque = name.map(|name| json!({ name: self.host }));
        out.push_back(ModelEvent::ReasoningDone { signature: None, opaque });
    }

    /// Takes pieces of `reasoning_details` and gives their text, for servers that send it nowhere else. What is no list of
    /// objects is passed over.
    pub(super) fn detail(&mut self, raw: &RawValue) -> String {
        let pieces: Vec<Map<String, Value>> = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut text = String::new();
        for piece in pieces {
            let said = SPOKEN.iter().find_map(|name| piece.get(*name)?.as_str());
            text.push_str(said.unwrap_or_default());
            match self.details.last_mut().filter(|last| goes_on(last, &piece)) {
                Some(last) => join(last, piece),
                None => self.details.push(piece),
            }
        }
        text
    }

    /// Details come up to the end of a reply, with the calls too, and are told as one.
    pub(super) fn finish(&mut self, out: &mut Events) {
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            let opaque = Some(json!({ "reasoning_details": self.host, "details": details }));
            out.push_back(ModelEvent::ReasoningDone { signature: None, opaque });
        }
    }

    /// Keeps what came beside the call `id`.
    pub(super) fn beside_call(&self, id: &str, extra: &Value, out: &mut Events) {
        let opaque = Some(json!({ "extra_content": self.host, "call": id, "extra": extra }));
        out.push_back(ModelEvent::ReasoningDone { signature: None, opaque });
    }
}

/// The fields of a detail that come in pieces.
const SPOKEN: [&str; 2] = ["text", "summary"];

/// Whether a piece belongs to the detail before it. Some servers number all details 0, so that only neighbours are joined,
/// and nothing follows a signature.
fn goes_on(last: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let field = |of: &Map<String, Value>, name: &str| of.get(name).filter(|value| !value.is_null()).cloned();
    let agree = |name: &str| match (field(last, name), field(piece, name)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    let kind = piece.get("type").and_then(Value::as_str);
    let comes_in_pieces = matches!(kind, Some("reasoning.text" | "reasoning.summary"));
    comes_in_pieces
        && last.get("type") == piece.get("type")
        && agree("index")
        && agree("id")
        && field(last, "signature").is_none()
}

fn join(last: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, value) in piece {
        match (last.get_mut(&name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if SPOKEN.contains(&name.as_str()) => text.push_str(&more),
            (_, value) => drop(last.insert(name, value)),
        }
    }
}

/// What this host made, under `name`.
fn made<'a>(block: &'a ContentBlock, name: &str, host: &str) -> Option<(&'a str, &'a Value)> {
    let ContentBlock::Reasoning(reasoning) = block else { return None };
    let opaque = reasoning.opaque.as_ref()?;
    let from = opaque.get(name)?.as_str()?;
    (from == host).then_some((reasoning.text.as_str(), opaque))
}

/// Whether `message` has thinking that this host wants back as `reasoning_content`.
pub(super) fn is_aloud(message: &Message, host: &str) -> bool {
    let Message::Ai(message) = message else { return false };
    message.content.iter().any(|block| made(block, "reasoning_content", host).is_some())
}

/// All thinking that goes back as `reasoning_content`; may be empty.
pub(super) fn aloud<'a>(message: &'a AiMessage, host: &str) -> Cow<'a, str> {
    let mut found = message.content.iter().filter_map(|block| made(block, "reasoning_content", host));
    let first = found.next().map(|(text, _)| text).unwrap_or_default();
    found.fold(Cow::Borrowed(first), |mut all, (more, _)| {
        all.to_mut().push_str(more);
        all
    })
}

/// The text of a block that goes back as a part of the content.
pub(super) fn part<'a>(block: &'a ContentBlock, host: &str) -> Option<&'a str> {
    made(block, "thinking", host).map(|(text, _)| text)
}

pub(super) fn details<'a>(message: &'a AiMessage, host: &str) -> Vec<&'a Value> {
    let lists = message.content.iter().filter_map(|block| made(block, "reasoning_details", host)?.1.get("details"));
    lists.filter_map(Value::as_array).flatten().collect()
}

/// What came beside the call `id`.
pub(super) fn beside_call<'a>(message: &'a AiMessage, id: &str, host: &str) -> Option<&'a Value> {
    let mut kept = message.content.iter().filter_map(|block| Some(made(block, "extra_content", host)?.1));
    kept.find(|kept| kept.get("call").and_then(Value::as_str) == Some(id))?.get("extra")
}
