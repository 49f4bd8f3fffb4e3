use std::time::Duration;

use bosun_model::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ids, Out, argument_pieces, call_of, pieces};
use crate::{Part, Reply};

/// What kind of block the deltas go to.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    Text,
}

struct Stream<'a> {
    reply: &'a Reply,
    ids: &'a Ids,
    out: Vec<Out>,
    block: usize,
    open: Open,
}

pub(super) fn stream(reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
    let mut stream = Stream { reply, ids, out: Vec::new(), block: 0, open: Open::Nothing };
    let usage = reply.usage_or_default();
    let mut begin = message(model, ids, &usage);
    begin["usage"]["output_tokens"] = json!(1);
    stream.event("message_start", json!({ "message": begin }));
    stream.event("ping", json!({}));
    for part in &reply.parts {
        stream.part(part);
        if matches!(part, Part::Error { .. }) {
            return stream.out;
        }
    }
    stream.close();
    let delta = json!({ "stop_reason": stop_word(&reply.stop_or_default()), "stop_sequence": null });
    stream.event("message_delta", json!({ "delta": delta, "usage": { "output_tokens": usage.output.unwrap_or(0) } }));
    stream.event("message_stop", json!({}));
    stream.out
}

impl Stream<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => {
                self.open_text();
                for piece in pieces(text, self.reply.delta_chars) {
                    self.delta(json!({ "type": "text_delta", "text": piece }));
                }
            }
            Part::Deltas { text, count } => {
                self.open_text();
                for _ in 0..*count {
                    self.delta(json!({ "type": "text_delta", "text": text }));
                }
            }
            Part::Reasoning { text, signature } => self.reasoning(text, signature.as_deref()),
            Part::RedactedReasoning(data) => {
                self.close();
                self.start(json!({ "type": "redacted_thinking", "data": data }));
                self.stop();
            }
            Part::Call { .. } | Part::RawCall { .. } => self.call(part),
            Part::Gate(name) => self.out.push(Out::Gate(name.clone())),
            Part::PauseMs(millis) => self.out.push(Out::Pause(Duration::from_millis(*millis))),
            Part::Ping => self.event("ping", json!({})),
            Part::Error { kind, message } => {
                let body = json!({ "error": { "type": kind, "message": message } });
                self.event("error", body);
            }
            Part::Raw(bytes) => self.out.push(Out::Bytes(bytes.clone())),
        }
    }

    fn reasoning(&mut self, text: &str, signature: Option<&str>) {
        self.close();
        self.start(json!({ "type": "thinking", "thinking": "", "signature": "" }));
        for piece in pieces(text, self.reply.delta_chars) {
            self.delta(json!({ "type": "thinking_delta", "thinking": piece }));
        }
        if let Some(signature) = signature {
            self.delta(json!({ "type": "signature_delta", "signature": signature }));
        }
        self.stop();
    }

    fn call(&mut self, part: &Part) {
        let Some(call) = call_of(part) else { return };
        self.close();
        let id = call.id.map_or_else(|| format!("toolu_{}", self.ids.next()), String::from);
        self.start(json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} }));
        self.delta(json!({ "type": "input_json_delta", "partial_json": "" }));
        let (pieces, cut) = argument_pieces(&call.json, self.reply);
        for piece in pieces {
            self.delta(json!({ "type": "input_json_delta", "partial_json": piece }));
        }
        if cut {
            self.out.push(Out::Cut);
        }
        self.stop();
    }

    fn open_text(&mut self) {
        if self.open == Open::Nothing {
            self.start(json!({ "type": "text", "text": "" }));
            self.open = Open::Text;
        }
    }

    fn close(&mut self) {
        if self.open == Open::Text {
            self.stop();
            self.open = Open::Nothing;
        }
    }

    fn start(&mut self, block: Value) {
        self.event("content_block_start", json!({ "index": self.block, "content_block": block }));
    }

    fn delta(&mut self, delta: Value) {
        self.event("content_block_delta", json!({ "index": self.block, "delta": delta }));
    }

    fn stop(&mut self) {
        self.event("content_block_stop", json!({ "index": self.block }));
        self.block += 1;
    }

    fn event(&mut self, name: &str, fields: Value) {
        self.out.push(Out::Bytes(event(name, &fields)));
    }
}

/// One event with its type first, as the vendor's servers write it.
fn event(name: &str, fields: &Value) -> String {
    let fields = fields.to_string();
    let inner = fields.trim_start_matches('{');
    let comma = if inner == "}" { "" } else { "," };
    format!("event: {name}\ndata: {{\"type\":\"{name}\"{comma}{inner}\n\n")
}

pub(super) fn whole(reply: &Reply, model: &str, ids: &Ids) -> Value {
    let mut content = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Text(text) => content.push(json!({ "type": "text", "text": text })),
            Part::Deltas { text, count } => content.push(json!({ "type": "text", "text": text.repeat(*count) })),
            Part::Reasoning { text, signature } => {
                let signature = signature.as_deref().unwrap_or("");
                content.push(json!({ "type": "thinking", "thinking": text, "signature": signature }));
            }
            Part::RedactedReasoning(data) => content.push(json!({ "type": "redacted_thinking", "data": data })),
            Part::Call { name, args, id } => {
                let id = id.clone().unwrap_or_else(|| format!("toolu_{}", ids.next()));
                content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": args }));
            }
            _ => {}
        }
    }
    let mut message = message(model, ids, &reply.usage_or_default());
    message["content"] = json!(content);
    message["stop_reason"] = json!(stop_word(&reply.stop_or_default()));
    message
}

fn message(model: &str, ids: &Ids, usage: &Usage) -> Value {
    let read = usage.cache_read.unwrap_or(0);
    let written = usage.cache_write.unwrap_or(0);
    let for_an_hour = usage.cache_write_hour.unwrap_or(0);
    json!({
        "id": format!("msg_{}", ids.next()),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input.unwrap_or(0).saturating_sub(read + written),
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written.saturating_sub(for_an_hour),
                "ephemeral_1h_input_tokens": for_an_hour,
            },
            "cache_read_input_tokens": read,
            "output_tokens": usage.output.unwrap_or(0),
        },
    })
}

fn stop_word(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal | StopReason::RefusalFor(_) => "refusal",
        StopReason::Other(word) => word,
    }
}

pub(super) fn models(names: &[String]) -> Value {
    let data: Vec<_> = names
        .iter()
        .map(|name| json!({ "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z" }))
        .collect();
    json!({ "data": data, "first_id": names.first(), "last_id": names.last(), "has_more": false })
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}
