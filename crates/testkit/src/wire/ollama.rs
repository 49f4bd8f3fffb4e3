//! Ollama's own API: one JSON object a line.

use std::time::Duration;

use bosun_model::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ids, Out, call_of, pieces};
use crate::{Ending, Part, Reply};

/// Any moment will do.
const CREATED: &str = "2026-01-01T00:00:00.000000Z";

struct Stream<'a> {
    reply: &'a Reply,
    ids: &'a Ids,
    model: &'a str,
    out: Vec<Out>,
}

pub(super) fn stream(reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
    let mut stream = Stream { reply, ids, model, out: Vec::new() };
    for part in &reply.parts {
        stream.part(part);
        if matches!(part, Part::Error { .. }) {
            return stream.out;
        }
    }
    let last = finished(line(model, json!({ "role": "assistant", "content": "" })), reply);
    stream.out.push(Out::Bytes(format!("{last}\n")));
    stream.out
}

impl Stream<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.say(json!({ "role": "assistant", "content": piece }));
                }
            }
            Part::Deltas { text, count } => {
                for _ in 0..*count {
                    self.say(json!({ "role": "assistant", "content": text }));
                }
            }
            Part::Reasoning { text, .. } => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.say(json!({ "role": "assistant", "content": "", "thinking": piece }));
                }
            }
            Part::RedactedReasoning(_) => {}
            Part::Call { .. } | Part::RawCall { .. } => self.call(part),
            Part::Gate(name) => self.out.push(Out::Gate(name.clone())),
            Part::PauseMs(millis) => self.out.push(Out::Pause(Duration::from_millis(*millis))),
            Part::Ping => self.say(json!({ "role": "assistant", "content": "" })),
            Part::Error { message, .. } => {
                self.out.push(Out::Bytes(format!("{}\n", error(message))));
            }
            Part::Raw(bytes) => self.out.push(Out::Bytes(bytes.clone())),
        }
    }

    /// A call comes whole, in one line.
    fn call(&mut self, part: &Part) {
        let call = tool_call(part, self.ids);
        self.say(json!({ "role": "assistant", "content": "", "tool_calls": [call] }));
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

    fn say(&mut self, message: Value) {
        self.out.push(Out::Bytes(format!("{}\n", line(self.model, message))));
    }
}

pub(super) fn whole(reply: &Reply, model: &str, ids: &Ids) -> Value {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for part in &reply.parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Deltas { text: more, count } => text.push_str(&more.repeat(*count)),
            Part::Reasoning { text: more, .. } => thinking.push_str(more),
            Part::Call { .. } | Part::RawCall { .. } => calls.push(tool_call(part, ids)),
            _ => {}
        }
    }
    let mut message = json!({ "role": "assistant", "content": text });
    if !thinking.is_empty() {
        message["thinking"] = json!(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    finished(line(model, message), reply)
}

fn line(model: &str, message: Value) -> Value {
    json!({ "model": model, "created_at": CREATED, "message": message, "done": false })
}

fn finished(mut line: Value, reply: &Reply) -> Value {
    let usage: Usage = reply.usage_or_default();
    line["done"] = json!(true);
    line["done_reason"] = json!(stop_word(&reply.stop_or_default()));
    line["total_duration"] = json!(1_000_000);
    line["load_duration"] = json!(1_000);
    line["prompt_eval_count"] = json!(usage.input.unwrap_or(0));
    line["prompt_eval_duration"] = json!(1_000);
    line["eval_count"] = json!(usage.output.unwrap_or(0));
    line["eval_duration"] = json!(1_000);
    line
}

/// What is no JSON goes as text.
fn tool_call(part: &Part, ids: &Ids) -> Value {
    let Some(call) = call_of(part) else { return Value::Null };
    let id = call.id.map_or_else(|| format!("call_{}", ids.next()), String::from);
    let arguments = serde_json::from_str(&call.json).unwrap_or_else(|_| json!(call.json));
    json!({ "id": id, "function": { "index": 0, "name": call.name, "arguments": arguments } })
}

fn stop_word(stop: &StopReason) -> &str {
    match stop {
        StopReason::MaxTokens => "length",
        StopReason::Other(word) => word,
        _ => "stop",
    }
}

pub(super) fn models(names: &[String]) -> Value {
    let models: Vec<_> = names
        .iter()
        .map(|name| {
            json!({
                "name": name,
                "model": name,
                "modified_at": CREATED,
                "size": 1_000,
                "digest": "0".repeat(64),
                "details": { "format": "gguf", "family": "test", "parameter_size": "1M" },
            })
        })
        .collect();
    json!({ "models": models })
}

pub(super) fn error(message: &str) -> Value {
    json!({ "error": message })
}
