//! OpenAI Responses.

use std::time::Duration;

use bosun_model::{StopReason, Usage};
use serde_json::{Value, json};

use super::{CallText, Ids, Out, argument_pieces, call_of, pieces};
use crate::{Part, Reply};

/// Any second will do; real servers send when the reply was made.
const CREATED: u64 = 1_760_000_000;

struct Stream<'a> {
    reply: &'a Reply,
    ids: &'a Ids,
    out: Vec<Out>,
    /// Number of the next event.
    sequence: u64,
    /// What is complete already.
    items: Vec<Value>,
    /// The message that text goes to: its id and its text so far.
    message: Option<(String, String)>,
}

pub(super) fn stream(reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
    let id = format!("resp_{}", ids.next());
    let mut stream = Stream { reply, ids, out: Vec::new(), sequence: 0, items: Vec::new(), message: None };
    let begun = response(&id, model, "in_progress", &[], &Value::Null);
    stream.event("response.created", json!({ "response": begun }));
    stream.event("response.in_progress", json!({ "response": begun }));
    for part in &reply.parts {
        stream.part(part);
        if matches!(part, Part::Error { .. }) {
            return stream.out;
        }
    }
    stream.close_message();
    let (kind, status) = match ending(reply) {
        None => ("response.completed", "completed"),
        Some(_) => ("response.incomplete", "incomplete"),
    };
    let mut whole = response(&id, model, status, &stream.items, &usage(&reply.usage_or_default()));
    whole["incomplete_details"] = ending(reply).map_or(Value::Null, |reason| json!({ "reason": reason }));
    stream.event(kind, json!({ "response": whole }));
    stream.out
}

impl Stream<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => {
                for piece in pieces(text, self.reply.delta_chars) {
                    self.text(piece);
                }
            }
            Part::Deltas { text, count } => {
                for _ in 0..*count {
                    self.text(text);
                }
            }
            Part::Reasoning { text, signature } => self.reasoning(text, signature.as_deref()),
            Part::RedactedReasoning(data) => self.reasoning("", Some(data)),
            Part::Call { .. } | Part::RawCall { .. } => self.call(part),
            Part::Gate(name) => self.out.push(Out::Gate(name.clone())),
            Part::PauseMs(millis) => self.out.push(Out::Pause(Duration::from_millis(*millis))),
            Part::Ping => self.out.push(Out::Bytes(": ping\n\n".into())),
            Part::Error { kind, message } => {
                self.event("error", json!({ "code": kind, "message": message, "param": null }));
            }
            Part::Raw(bytes) => self.out.push(Out::Bytes(bytes.clone())),
        }
    }

    fn text(&mut self, piece: &str) {
        if self.message.is_none() {
            let id = format!("msg_{}", self.ids.next());
            self.message = Some((id.clone(), String::new()));
            self.event(
                "response.output_item.added",
                json!({ "output_index": self.items.len(), "item": message(&id, None) }),
            );
            let at = self.at(&id, "content_index");
            self.event("response.content_part.added", with(at, "part", output_text("")));
        }
        let Some((id, text)) = &mut self.message else { return };
        text.push_str(piece);
        let id = id.clone();
        let at = with(self.at(&id, "content_index"), "logprobs", json!([]));
        self.event("response.output_text.delta", with(at, "delta", json!(piece)));
    }

    fn close_message(&mut self) {
        let Some((id, text)) = self.message.take() else { return };
        let at = self.at(&id, "content_index");
        let done = with(with(at.clone(), "logprobs", json!([])), "text", json!(text));
        self.event("response.output_text.done", done);
        self.event("response.content_part.done", with(at, "part", output_text(&text)));
        self.item_done(message(&id, Some(&text)));
    }

    fn reasoning(&mut self, text: &str, encrypted: Option<&str>) {
        self.close_message();
        let id = format!("rs_{}", self.ids.next());
        self.event(
            "response.output_item.added",
            json!({ "output_index": self.items.len(), "item": reasoning_item(&id, "", None) }),
        );
        if !text.is_empty() {
            let at = self.at(&id, "summary_index");
            self.event("response.reasoning_summary_part.added", with(at.clone(), "part", summary_text("")));
            for piece in pieces(text, self.reply.delta_chars) {
                self.event("response.reasoning_summary_text.delta", with(at.clone(), "delta", json!(piece)));
            }
            self.event("response.reasoning_summary_text.done", with(at.clone(), "text", json!(text)));
            self.event("response.reasoning_summary_part.done", with(at, "part", summary_text(text)));
        }
        self.item_done(reasoning_item(&id, text, encrypted));
    }

    fn call(&mut self, part: &Part) {
        self.close_message();
        let Some(call) = call_of(part) else { return };
        let item = format!("fc_{}", self.ids.next());
        let id = call.id.map_or_else(|| format!("call_{}", self.ids.next()), String::from);
        self.event(
            "response.output_item.added",
            json!({ "output_index": self.items.len(), "item": call_item(&item, &id, call.name, None) }),
        );
        let at = json!({ "item_id": item, "output_index": self.items.len() });
        let (pieces, cut) = argument_pieces(&call.json, self.reply);
        for piece in pieces {
            self.event("response.function_call_arguments.delta", with(at.clone(), "delta", json!(piece)));
        }
        if cut {
            self.out.push(Out::Cut);
        }
        let done = with(with(at, "name", json!(call.name)), "arguments", json!(call.json));
        self.event("response.function_call_arguments.done", done);
        self.item_done(call_item(&item, &id, call.name, Some(&call.json)));
    }

    fn at(&self, id: &str, inner: &str) -> Value {
        with(json!({ "item_id": id, "output_index": self.items.len() }), inner, json!(0))
    }

    fn item_done(&mut self, item: Value) {
        self.event("response.output_item.done", json!({ "output_index": self.items.len(), "item": item }));
        self.items.push(item);
    }

    fn event(&mut self, kind: &str, data: Value) {
        let data = with(with(data, "type", json!(kind)), "sequence_number", json!(self.sequence));
        self.sequence += 1;
        self.out.push(Out::Bytes(format!("event: {kind}\ndata: {data}\n\n")));
    }
}

pub(super) fn whole(reply: &Reply, model: &str, ids: &Ids) -> Value {
    let mut items = Vec::new();
    for part in &reply.parts {
        let number = ids.next();
        match part {
            Part::Text(text) => items.push(message(&format!("msg_{number}"), Some(text))),
            Part::Deltas { text, count } => {
                items.push(message(&format!("msg_{number}"), Some(&text.repeat(*count))));
            }
            Part::Reasoning { text, signature } => {
                items.push(reasoning_item(&format!("rs_{number}"), text, signature.as_deref()));
            }
            Part::Call { .. } | Part::RawCall { .. } => {
                if let Some(CallText { name, json, id }) = call_of(part) {
                    let id = id.map_or_else(|| format!("call_{number}"), String::from);
                    items.push(call_item(&format!("fc_{number}"), &id, name, Some(&json)));
                }
            }
            _ => {}
        }
    }
    let status = if ending(reply).is_some() { "incomplete" } else { "completed" };
    let mut whole = response(&format!("resp_{}", ids.next()), model, status, &items, &usage(&reply.usage_or_default()));
    whole["incomplete_details"] = ending(reply).map_or(Value::Null, |reason| json!({ "reason": reason }));
    whole
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

fn response(id: &str, model: &str, status: &str, items: &[Value], usage: &Value) -> Value {
    json!({
        "id": id,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": model,
        "output": items,
        "parallel_tool_calls": true,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": usage,
    })
}

fn message(id: &str, text: Option<&str>) -> Value {
    let (status, content) = match text {
        Some(text) => ("completed", json!([output_text(text)])),
        None => ("in_progress", json!([])),
    };
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

fn output_text(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

fn summary_text(text: &str) -> Value {
    json!({ "type": "summary_text", "text": text })
}

fn reasoning_item(id: &str, text: &str, encrypted: Option<&str>) -> Value {
    let summary = if text.is_empty() { json!([]) } else { json!([summary_text(text)]) };
    json!({ "id": id, "type": "reasoning", "summary": summary, "encrypted_content": encrypted })
}

fn call_item(item: &str, id: &str, name: &str, arguments: Option<&str>) -> Value {
    let status = if arguments.is_some() { "completed" } else { "in_progress" };
    let arguments = arguments.unwrap_or_default();
    json!({ "id": item, "type": "function_call", "status": status, "call_id": id, "name": name, "arguments": arguments })
}

fn usage(usage: &Usage) -> Value {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    json!({
        "input_tokens": input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read.unwrap_or(0),
            "cache_write_tokens": usage.cache_write.unwrap_or(0),
        },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning.unwrap_or(0) },
        "total_tokens": input + output,
    })
}

/// Why the response is not complete.
fn ending(reply: &Reply) -> Option<String> {
    match reply.stop_or_default() {
        StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse => None,
        StopReason::MaxTokens => Some("max_output_tokens".into()),
        StopReason::Refusal | StopReason::RefusalFor(_) => Some("content_filter".into()),
        StopReason::Other(word) => Some(word),
    }
}
