//! Each provider that signs or seals thoughts gets a reply back in the order in which it came: thoughts stand before the call
//! that came of them, also where a reply has several.

use bosun_model::{ChatRequest, Message};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Family;
use crate::adapter::adapter;
use crate::testing::{body, config, decode, endpoint, hello, info};

/// The body of the request after a reply of these events.
fn replayed(family: Family, model: &str, events: &[Value]) -> Value {
    let recording: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let reply = decode(family, &[recording.as_bytes()]).message().unwrap();
    let mut messages = hello().messages;
    messages.push(Message::Ai(reply).into());
    let adapter = adapter(&endpoint(&config(family)), family, model, None);
    body(&*adapter, &ChatRequest { messages, ..ChatRequest::default() }, &info(model))
}

#[test]
fn anthropic_gets_signed_thoughts_between_calls() {
    let start =
        |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index: u32| json!({ "type": "content_block_stop", "index": index });
    let thought = |index: u32, signature: &str| {
        [
            start(index, json!({ "type": "thinking", "thinking": "", "signature": "" })),
            delta(index, json!({ "type": "thinking_delta", "thinking": signature })),
            delta(index, json!({ "type": "signature_delta", "signature": signature })),
            stop(index),
        ]
    };
    let call = |index: u32, id: &str| {
        [start(index, json!({ "type": "tool_use", "id": id, "name": "ls", "input": {} })), stop(index)]
    };
    let mut events = vec![json!({ "type": "message_start", "message": { "model": "m" } })];
    events.extend(thought(0, "s0"));
    events.extend(call(1, "t1"));
    events.extend(thought(2, "s2"));
    let said = json!({ "type": "text", "text": "" });
    events.extend([start(3, said), delta(3, json!({ "type": "text_delta", "text": "And on." })), stop(3)]);
    events.extend(call(4, "t4"));
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }));
    events.push(json!({ "type": "message_stop" }));
    let body = replayed(Family::Anthropic, "claude-sonnet-4-6", &events);
    let tool = |id: &str| json!({ "type": "tool_use", "id": id, "name": "ls", "input": {} });
    let thinking = |signature: &str| json!({ "type": "thinking", "thinking": signature, "signature": signature });
    let content =
        json!([thinking("s0"), tool("t1"), thinking("s2"), { "type": "text", "text": "And on." }, tool("t4")]);
    assert_eq!(body["messages"][1]["content"], content);
}

#[test]
fn responses_gets_each_sealed_thought_before_its_call() {
    let done =
        |index: u32, item: &Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let added =
        |index: u32, item: &Value| json!({ "type": "response.output_item.added", "output_index": index, "item": item });
    let thought = |id: &str| json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": id });
    let call = |id: &str| json!({ "type": "function_call", "call_id": id, "name": "ls", "arguments": "{}" });
    let items = [thought("rs_1"), call("c1"), thought("rs_2"), call("c2")];
    let mut events = vec![json!({ "type": "response.created", "response": { "model": "m" } })];
    for (index, item) in (0..).zip(&items) {
        events.extend([added(index, item), done(index, item)]);
    }
    events.push(json!({ "type": "response.completed", "response": { "model": "m" } }));
    let body = replayed(Family::OpenAiResponses, "gpt-5.4", &events);
    assert_eq!(body["input"].as_array().unwrap()[1..], items);
}

#[test]
fn gemini_gets_its_parts_as_they_came() {
    let call = |name: &str| json!({ "functionCall": { "name": name, "args": {} } });
    let signed = |name: &str, signature: &str| json!({ "functionCall": { "name": name, "args": {} }, "thoughtSignature": signature });
    let parts = json!([signed("first", "s1"), { "text": "And on." }, call("second")]);
    let chunk = json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] });
    let body = replayed(Family::Gemini, "gemini-3-pro-preview", &[chunk]);
    assert_eq!(body["contents"][1]["parts"], parts);
}
