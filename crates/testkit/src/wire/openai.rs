use std::time::Duration;

use bosun_model::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ids, Out, argument_pieces, call_of, pieces};
use crate::{Part, Reply};

/// Any second will do; real servers send when the reply was made.
const CREATED: u64 = 1_760_000_000;

struct Stream<'a> {
    reply: &'a Reply,
    ids: &'a Ids,
    id: String,
    model: &'a str,
    out: Vec<Out>,
    calls: usize,
}

pub(super) fn stream(reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
    let id = format!("chatcmpl-{}", ids.next());
    let mut stream = Stream { reply, ids, id, model, out: Vec::new(), calls: 0 };
    stream.delta(json!({ "role": "assistant", "content": "" }));
    for part in &reply.parts {
        stream.part(part);
        if matches!(part, Part::Error { .. }) {
            return stream.out;
        }
    }
    let stop = json!(stop_word(&reply.stop_or_default()));
    stream.chunk(json!([{ "index": 0, "delta": {}, "finish_reason": stop }]), &Value::Null);
    stream.chunk(json!([]), &usage(&reply.usage_or_default()));
    stream.out.push(Out::Bytes("data: [DONE]\n\n".into()));
    stream.out
}

impl Stream<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.delta(json!({ "content": piece }));
                }
            }
            Part::Deltas { text, count } => {
                for _ in 0..*count {
                    self.delta(json!({ "content": text }));
                }
            }
            Part::Reasoning { text, .. } => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.delta(json!({ "reasoning_content": piece }));
                }
            }
            Part::RedactedReasoning(_) => {}
            Part::Call { .. } | Part::RawCall { .. } => self.call(part),
            Part::Gate(name) => self.out.push(Out::Gate(name.clone())),
            Part::PauseMs(millis) => self.out.push(Out::Pause(Duration::from_millis(*millis))),
            Part::Ping => self.out.push(Out::Bytes(": ping\n\n".into())),
            Part::Error { kind, message } => {
                self.out.push(Out::Bytes(format!("data: {}\n\n", error(kind, message))));
            }
            Part::Raw(bytes) => self.out.push(Out::Bytes(bytes.clone())),
        }
    }

    fn call(&mut self, part: &Part) {
        let Some(call) = call_of(part) else { return };
        let index = self.calls;
        self.calls += 1;
        let id = call.id.map_or_else(|| format!("call_{}", self.ids.next()), String::from);
        let function = json!({ "name": call.name, "arguments": "" });
        self.delta(json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }));
        let (pieces, cut) = argument_pieces(&call.json, self.reply);
        for piece in pieces {
            self.delta(json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }));
        }
        if cut {
            self.out.push(Out::Cut);
        }
    }

    fn delta(&mut self, delta: Value) {
        self.chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), &Value::Null);
    }

    fn chunk(&mut self, choices: Value, usage: &Value) {
        let chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.model,
            "choices": choices,
            "usage": usage,
        });
        self.out.push(Out::Bytes(format!("data: {chunk}\n\n")));
    }
}

pub(super) fn whole(reply: &Reply, model: &str, ids: &Ids) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Deltas { text: more, count } => text.push_str(&more.repeat(*count)),
            Part::Call { .. } | Part::RawCall { .. } => {
                if let Some(call) = call_of(part) {
                    let id = call.id.map_or_else(|| format!("call_{}", ids.next()), String::from);
                    let function = json!({ "name": call.name, "arguments": call.json });
                    calls.push(json!({ "id": id, "type": "function", "function": function }));
                }
            }
            _ => {}
        }
    }
    let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": format!("chatcmpl-{}", ids.next()),
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": stop_word(&reply.stop_or_default()),
        }],
        "usage": usage(&reply.usage_or_default()),
    })
}

/// Nothing where nothing is known, as of servers that do not count.
fn usage(usage: &Usage) -> Value {
    if *usage == Usage::default() {
        return Value::Null;
    }
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read.unwrap_or(0) },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning.unwrap_or(0) },
    })
}

fn stop_word(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn | StopReason::StopSequence => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal | StopReason::RefusalFor(_) => "content_filter",
        StopReason::Other(word) => word,
    }
}

pub(super) fn models(names: &[String]) -> Value {
    let data: Vec<_> = names
        .iter()
        .map(|name| json!({ "id": name, "object": "model", "created": CREATED, "owned_by": "testkit" }))
        .collect();
    json!({ "object": "list", "data": data })
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
}
