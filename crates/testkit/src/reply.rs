use std::time::Duration;

use bosun_model::{StopReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the scripted model answers to one request. In a script file a bare string stands for [`Reply::text`].
///
/// Parts come out in order. Without a [`stop`](Self::stop) the reason is `tool_use` when there is a call and
/// `end_turn` otherwise. Without a [`usage`](Self::usage) a small one is reported, because real servers always do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Whole")]
pub struct Reply {
    pub parts: Vec<Part>,
    pub stop: Option<StopReason>,
    pub usage: Option<Usage>,
    pub ending: Ending,
    /// Characters of text or of argument JSON per delta.
    pub delta_chars: usize,
    /// Extra response headers; a `content-type` here replaces the usual one.
    pub headers: Vec<(String, String)>,
    /// Answer with this instead of a model's reply.
    pub http: Option<Http>,
}

/// One piece of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text, split into deltas of [`Reply::delta_chars`].
    Text(String),
    /// `text`, `count` times, each its own delta; for benchmarks.
    Deltas { text: String, count: usize },
    Reasoning {
        text: String,
        #[serde(default)]
        signature: Option<String>,
    },
    /// Anthropic's redacted thinking; the Chat Completions wire has no such thing and leaves it out.
    RedactedReasoning(String),
    Call {
        name: String,
        args: Value,
        /// Made from a counter when absent.
        #[serde(default)]
        id: Option<String>,
    },
    /// A call whose argument text is sent exactly as given, JSON or not.
    RawCall {
        name: String,
        json: String,
        #[serde(default)]
        id: Option<String>,
    },
    /// Waits until the test opens the gate of this name. Everything before it has been sent by then.
    Gate(String),
    /// Waits; everything before it has been sent by then.
    PauseMs(u64),
    /// A life sign that carries nothing.
    Ping,
    /// An error event in the middle of the stream, in the wire's own shape; nothing follows it.
    Error {
        #[serde(rename = "type")]
        kind: String,
        message: String,
    },
    /// Bytes of the stream, as they are.
    Raw(String),
}

/// How the stream ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With the wire's own end.
    #[default]
    Whole,
    /// The connection breaks after so many bytes of the body.
    CutAfterBytes(usize),
    /// The connection breaks in the middle of the first call's arguments.
    CutInCall,
    /// The body ends after so many bytes as if all were well.
    EndAfterBytes(usize),
    /// Nothing more comes after so many bytes, and the connection stays open.
    HangAfterBytes(usize),
    /// Not even the response headers come.
    HangBeforeHeaders,
}

/// A plain HTTP answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Http {
    pub status: u16,
    /// Sent as it is. In a script file: a string, or any other JSON value, which is then sent as JSON.
    #[serde(default, with = "body")]
    pub body: Vec<u8>,
}

pub(crate) const DELTA_CHARS: usize = 12;

impl Reply {
    /// An empty reply to add parts to.
    pub fn new() -> Self {
        Self { delta_chars: DELTA_CHARS, ..Self::default() }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new().and_text(text)
    }

    /// One tool call.
    pub fn call(name: impl Into<String>, args: Value) -> Self {
        Self::new().and_call(name, args)
    }

    /// A plain HTTP answer with a body that is sent as it is.
    pub fn http(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { http: Some(Http { status, body: body.into() }), ..Self::new() }
    }

    /// An error status with a body that both wires' clients can read.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = serde_json::json!({ "type": "error", "error": { "type": kind, "message": message, "code": kind } });
        Self::http(status, body.to_string()).header("content-type", "application/json")
    }

    /// A redirect (307, which keeps method and body).
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::http(307, "").header("location", to)
    }

    /// A web page with status 200, as a captive portal sends.
    pub fn html(page: impl Into<String>) -> Self {
        Self::http(200, page.into()).header("content-type", "text/html; charset=utf-8")
    }

    /// Accepts the request and never answers.
    pub fn hang() -> Self {
        Self { ending: Ending::HangBeforeHeaders, ..Self::new() }
    }

    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    pub fn and_reasoning(self, text: impl Into<String>, signature: Option<&str>) -> Self {
        self.part(Part::Reasoning { text: text.into(), signature: signature.map(Into::into) })
    }

    pub fn and_call(self, name: impl Into<String>, args: Value) -> Self {
        self.part(Part::Call { name: name.into(), args, id: None })
    }

    pub fn and_call_with_id(self, id: impl Into<String>, name: impl Into<String>, args: Value) -> Self {
        self.part(Part::Call { name: name.into(), args, id: Some(id.into()) })
    }

    /// Holds the stream here until the gate of this name is opened ([`crate::ModelServer::gate`]).
    pub fn and_gate(self, name: impl Into<String>) -> Self {
        self.part(Part::Gate(name.into()))
    }

    pub fn and_pause(self, pause: Duration) -> Self {
        self.part(Part::PauseMs(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)))
    }

    pub fn and_error(self, kind: impl Into<String>, message: impl Into<String>) -> Self {
        self.part(Part::Error { kind: kind.into(), message: message.into() })
    }

    pub fn and_raw(self, bytes: impl Into<String>) -> Self {
        self.part(Part::Raw(bytes.into()))
    }

    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    pub fn delta_chars(mut self, chars: usize) -> Self {
        self.delta_chars = chars.max(1);
        self
    }

    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The header of that name, as the reply says: seconds, or an HTTP date.
    pub fn retry_after(self, value: impl ToString) -> Self {
        self.header("retry-after", value.to_string())
    }

    pub(crate) fn usage_or_default(&self) -> Usage {
        self.usage.unwrap_or(Usage { input: Some(10), output: Some(5), ..Usage::default() })
    }

    pub(crate) fn stop_or_default(&self) -> StopReason {
        let called = self.parts.iter().any(|part| matches!(part, Part::Call { .. } | Part::RawCall { .. }));
        let natural = if called { StopReason::ToolUse } else { StopReason::EndTurn };
        self.stop.clone().unwrap_or(natural)
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A reply as a script file writes it, where it is not a bare string.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stop: Option<StopReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default)]
    ending: Ending,
    #[serde(default)]
    delta_chars: Option<usize>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http: Option<Http>,
}

impl TryFrom<Value> for Reply {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        if let Value::String(text) = value {
            return Ok(Self::text(text));
        }
        let whole: Whole = serde_json::from_value(value)?;
        Ok(Self {
            parts: whole.parts,
            stop: whole.stop,
            usage: whole.usage,
            ending: whole.ending,
            delta_chars: whole.delta_chars.unwrap_or(DELTA_CHARS).max(1),
            headers: whole.headers,
            http: whole.http,
        })
    }
}

impl From<Reply> for Whole {
    fn from(reply: Reply) -> Self {
        Self {
            parts: reply.parts,
            stop: reply.stop,
            usage: reply.usage,
            ending: reply.ending,
            delta_chars: Some(reply.delta_chars),
            headers: reply.headers,
            http: reply.http,
        }
    }
}

mod body {
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(body))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Vec::new(),
            Value::String(text) => text.into_bytes(),
            other => other.to_string().into_bytes(),
        })
    }
}
