//! Google's Gemini API.

use std::time::Duration;

use bosun_model::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ids, Out, call_of, pieces};
use crate::{Ending, Part, Reply};

struct Stream<'a> {
    reply: &'a Reply,
    id: String,
    model: &'a str,
    out: Vec<Out>,
    /// What the next part is signed with.
    signature: Option<String>,
}

pub(super) fn stream(reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
    let id = format!("r{}", ids.next());
    let mut stream = Stream { reply, id, model, out: Vec::new(), signature: None };
    for part in &reply.parts {
        stream.part(part);
        if matches!(part, Part::Error { .. }) {
            return stream.out;
        }
    }
    let signed = stream.signature.take().map(|signature| json!({ "text": "", "thoughtSignature": signature }));
    let last = json!({
        "content": { "role": "model", "parts": [signed.unwrap_or_else(|| json!({ "text": "" }))] },
        "finishReason": stop_word(&reply.stop_or_default()),
        "index": 0,
    });
    stream.chunk(last, true);
    stream.out
}

impl Stream<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.say(json!({ "text": piece }));
                }
            }
            Part::Deltas { text, count } => {
                for _ in 0..*count {
                    self.say(json!({ "text": text }));
                }
            }
            Part::Reasoning { text, signature } => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.say(json!({ "text": piece, "thought": true }));
                }
                self.signature = signature.clone();
            }
            Part::RedactedReasoning(data) => self.signature = Some(data.clone()),
            Part::Call { .. } | Part::RawCall { .. } => self.call(part),
            Part::Gate(name) => self.out.push(Out::Gate(name.clone())),
            Part::PauseMs(millis) => self.out.push(Out::Pause(Duration::from_millis(*millis))),
            // The vendor's client takes no comments.
            Part::Ping => {
                self.chunk(json!({ "content": { "role": "model", "parts": [{ "text": "" }] }, "index": 0 }), false);
            }
            Part::Error { kind, message } => {
                self.out.push(Out::Bytes(format!("data: {}\r\n\r\n", error(kind, message))));
            }
            Part::Raw(bytes) => self.out.push(Out::Bytes(bytes.clone())),
        }
    }

    /// A call comes whole, in one event.
    fn call(&mut self, part: &Part) {
        self.say(json!({ "functionCall": function_call(part) }));
        if self.reply.ending == Ending::CutInCall
            && let Some(Out::Bytes(bytes)) = self.out.last_mut()
        {
            let mut end = bytes.len() / 2;
            while !bytes.is_char_boundary(end) {
                end -= 1;
            }
            bytes.truncate(end);
            self.out.push(Out::Cut);
        }
    }

    fn say(&mut self, mut part: Value) {
        if part["thought"] != json!(true)
            && let Some(signature) = self.signature.take()
        {
            part["thoughtSignature"] = json!(signature);
        }
        self.chunk(json!({ "content": { "role": "model", "parts": [part] }, "index": 0 }), false);
    }

    fn chunk(&mut self, candidate: Value, last: bool) {
        let chunk = json!({
            "candidates": [candidate],
            "usageMetadata": usage(&self.reply.usage_or_default(), last),
            "modelVersion": self.model,
            "responseId": self.id,
        });
        self.out.push(Out::Bytes(format!("data: {chunk}\r\n\r\n")));
    }
}

pub(super) fn whole(reply: &Reply, model: &str, ids: &Ids) -> Value {
    let mut parts = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Text(text) => parts.push(json!({ "text": text })),
            Part::Deltas { text, count } => parts.push(json!({ "text": text.repeat(*count) })),
            Part::Reasoning { text, .. } => parts.push(json!({ "text": text, "thought": true })),
            Part::Call { .. } | Part::RawCall { .. } => parts.push(json!({ "functionCall": function_call(part) })),
            _ => {}
        }
    }
    json!({
        "candidates": [{
            "content": { "role": "model", "parts": parts },
            "finishReason": stop_word(&reply.stop_or_default()),
            "index": 0,
        }],
        "usageMetadata": usage(&reply.usage_or_default(), true),
        "modelVersion": model,
        "responseId": format!("r{}", ids.next()),
    })
}

/// The id only where the reply names one: the API leaves it out as a rule. What is no JSON goes as text.
fn function_call(part: &Part) -> Value {
    let Some(call) = call_of(part) else { return Value::Null };
    let args = serde_json::from_str(&call.json).unwrap_or_else(|_| json!(call.json));
    let mut value = json!({ "name": call.name, "args": args });
    if let Some(id) = call.id {
        value["id"] = json!(id);
    }
    value
}

fn usage(usage: &Usage, last: bool) -> Value {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let thoughts = usage.reasoning.unwrap_or(0).min(output);
    let mut counts = json!({ "promptTokenCount": input, "totalTokenCount": input });
    if let Some(cached) = usage.cache_read {
        counts["cachedContentTokenCount"] = json!(cached);
    }
    if last {
        counts["candidatesTokenCount"] = json!(output - thoughts);
        counts["totalTokenCount"] = json!(input + output);
        if usage.reasoning.is_some() {
            counts["thoughtsTokenCount"] = json!(thoughts);
        }
    }
    counts
}

fn stop_word(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse => "STOP",
        StopReason::MaxTokens => "MAX_TOKENS",
        StopReason::Refusal | StopReason::RefusalFor(_) => "SAFETY",
        StopReason::Other(word) => word,
    }
}

pub(super) fn models(names: &[String]) -> Value {
    let models: Vec<_> = names
        .iter()
        .map(|name| {
            json!({
                "name": format!("models/{name}"),
                "version": "001",
                "displayName": name,
                "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent"],
            })
        })
        .collect();
    json!({ "models": models })
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    let (code, status) = match kind {
        "authentication_error" => (401, "UNAUTHENTICATED"),
        "permission_error" => (403, "PERMISSION_DENIED"),
        "not_found_error" => (404, "NOT_FOUND"),
        "rate_limit_error" => (429, "RESOURCE_EXHAUSTED"),
        "overloaded_error" => (503, "UNAVAILABLE"),
        "invalid_request_error" => (400, "INVALID_ARGUMENT"),
        _ => (500, "INTERNAL"),
    };
    json!({ "error": { "code": code, "message": message, "status": status } })
}
