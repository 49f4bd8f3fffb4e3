//! The wire formats, from the server's side.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Ending, Part, Reply};

mod anthropic;
mod bedrock;
mod gemini;
mod ollama;
mod openai;
mod responses;
mod vertex;

/// A model API's format on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages, `POST /v1/messages`.
    Anthropic,
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    OpenAi,
    /// OpenAI Responses, `POST /v1/responses`.
    OpenAiResponses,
    /// Gemini, `POST /v1beta/models/MODEL:streamGenerateContent`.
    Gemini,
    /// Ollama's own API, `POST /api/chat`.
    Ollama,
    /// Claude at Amazon Bedrock, `POST /model/MODEL/invoke-with-response-stream`: Anthropic's events, each in a binary frame.
    Bedrock,
    /// Claude on Vertex AI, `POST /v1/projects/P/locations/L/publishers/anthropic/models/MODEL:streamRawPredict`.
    Vertex,
    /// Gemini on Vertex AI, `POST /v1/projects/P/locations/L/publishers/google/models/MODEL:streamGenerateContent`.
    VertexGemini,
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::OpenAiResponses => "OpenAI Responses",
            Self::Gemini => "Gemini",
            Self::Ollama => "Ollama",
            Self::Bedrock => "Bedrock",
            Self::Vertex => "Vertex AI",
            Self::VertexGemini => "Gemini on Vertex AI",
        })
    }
}

/// One thing to do with the body of a response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Out {
    Bytes(String),
    /// Bytes that are no text.
    Frame(Vec<u8>),
    Gate(String),
    Pause(Duration),
    /// Break the connection.
    Cut,
}

/// Numbers for message and call ids, so that they never repeat within one server.
#[derive(Debug, Default)]
pub(crate) struct Ids(AtomicU64);

impl Ids {
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Wire {
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::Ollama,
        Self::Bedrock,
        Self::Vertex,
        Self::VertexGemini,
    ];

    /// The reply as this wire streams it.
    pub(crate) fn stream(self, reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
        let mut out = match self {
            Self::Anthropic | Self::Vertex => anthropic::stream(reply, model, ids),
            Self::Bedrock => bedrock::stream(reply, model, ids),
            Self::OpenAi => openai::stream(reply, model, ids),
            Self::OpenAiResponses => responses::stream(reply, model, ids),
            Self::Gemini | Self::VertexGemini => gemini::stream(reply, model, ids),
            Self::Ollama => ollama::stream(reply, model, ids),
        };
        if let Some(cut) = out.iter().position(|item| *item == Out::Cut) {
            out.truncate(cut + 1);
        }
        out
    }

    /// The reply as this wire gives it to a client that did not ask for a stream.
    pub(crate) fn whole(self, reply: &Reply, model: &str, ids: &Ids) -> Value {
        match self {
            Self::Anthropic | Self::Bedrock | Self::Vertex => anthropic::whole(reply, model, ids),
            Self::OpenAi => openai::whole(reply, model, ids),
            Self::OpenAiResponses => responses::whole(reply, model, ids),
            Self::Gemini | Self::VertexGemini => gemini::whole(reply, model, ids),
            Self::Ollama => ollama::whole(reply, model, ids),
        }
    }

    /// The list of models.
    pub(crate) fn models(self, names: &[String]) -> Value {
        match self {
            Self::Anthropic => anthropic::models(names),
            Self::OpenAi | Self::OpenAiResponses => openai::models(names),
            Self::Gemini => gemini::models(names),
            Self::Ollama => ollama::models(names),
            Self::Bedrock => bedrock::models(names),
            Self::Vertex => vertex::models("anthropic", names),
            Self::VertexGemini => vertex::models("google", names),
        }
    }

    /// An error body.
    pub(crate) fn error(self, kind: &str, message: &str) -> Value {
        match self {
            Self::Anthropic | Self::Vertex => anthropic::error(kind, message),
            Self::Bedrock => bedrock::error(message),
            Self::OpenAi | Self::OpenAiResponses => openai::error(kind, message),
            Self::Gemini | Self::VertexGemini => gemini::error(kind, message),
            Self::Ollama => ollama::error(message),
        }
    }

    /// The type of a streamed reply.
    pub(crate) fn mime(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            Self::Bedrock => "application/vnd.amazon.eventstream",
            _ => "text/event-stream; charset=utf-8",
        }
    }

    /// The bytes of a stream that plays whole, for fixtures. Gates and pauses leave no trace.
    pub fn recording(self, reply: &Reply) -> Vec<u8> {
        let items = self.stream(reply, "test-model", &Ids::default());
        let bytes = items.into_iter().map(|item| match item {
            Out::Bytes(text) => text.into_bytes(),
            Out::Frame(bytes) => bytes,
            Out::Gate(_) | Out::Pause(_) | Out::Cut => Vec::new(),
        });
        bytes.flatten().collect()
    }
}

/// The argument text of a call, and its name and id.
struct CallText<'a> {
    name: &'a str,
    json: String,
    id: Option<&'a str>,
}

fn call_of(part: &Part) -> Option<CallText<'_>> {
    match part {
        Part::Call { name, args, id } => Some(CallText { name, json: args.to_string(), id: id.as_deref() }),
        Part::RawCall { name, json, id } => Some(CallText { name, json: json.clone(), id: id.as_deref() }),
        _ => None,
    }
}

/// `text` in pieces of `chars` characters.
fn pieces(text: &str, chars: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(chars.max(1)).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}

/// The pieces of a call's arguments; with [`Ending::CutInCall`] only the first half, at least one byte short.
fn argument_pieces(json: &str, reply: &Reply) -> (Vec<String>, bool) {
    let cut = reply.ending == Ending::CutInCall;
    let mut end = if cut { json.len() / 2 } else { json.len() };
    while !json.is_char_boundary(end) {
        end -= 1;
    }
    (pieces(&json[..end], reply.delta_chars).map(String::from).collect(), cut)
}
