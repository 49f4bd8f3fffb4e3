use bosun_model::{ModelErrorKind, Price, StopReason};
use insta::assert_debug_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Family;
use crate::testing::{Decoded, decode};

fn recorded(bytes: &str) -> Decoded {
    decode(Family::OpenAiResponses, &[bytes.as_bytes()])
}

fn events(events: &[Value]) -> Decoded {
    let started = json!({ "type": "response.created", "response": { "model": "m" } });
    let bytes: String = [&started].into_iter().chain(events).map(|event| format!("data: {event}\n\n")).collect();
    recorded(&bytes)
}

fn added(index: u32, item: Value) -> Value {
    json!({ "type": "response.output_item.added", "output_index": index, "item": item })
}

fn done(index: u32, item: Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn completed() -> Value {
    json!({ "type": "response.completed", "response": { "model": "m" } })
}

fn call(arguments: &str) -> Value {
    json!({ "type": "function_call", "call_id": "c", "name": "ls", "arguments": arguments })
}

#[test]
fn text() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/responses_text.sse")));
}

#[test]
fn thinking_and_calls() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/responses_thinking_and_calls.sse")));
}

/// Both counts are parts of the input: each token costs once, and more where it was written to the cache.
#[test]
fn what_was_written_to_the_cache_is_counted_once() {
    let usage = json!({
        "input_tokens": 2_600, "output_tokens": 100,
        "input_tokens_details": { "cached_tokens": 2_000, "cache_write_tokens": 400 },
    });
    let completed = json!({ "type": "response.completed", "response": { "model": "m", "usage": usage } });
    let usage = events(&[completed]).message().unwrap().usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.cache_write), (Some(2_600), Some(2_000), Some(400)));
    let price = Price { input: 5.0, output: 30.0, cache_read: Some(0.5), cache_write: Some(6.25), ..Price::FREE };
    let dollars = (200.0 * 5.0 + 2_000.0 * 0.5 + 400.0 * 6.25 + 100.0 * 30.0) / 1e6;
    assert!(price.cost(&usage).is_some_and(|cost| (cost - dollars).abs() < 1e-9), "{:?}", price.cost(&usage));
}

#[test]
fn unknown_events_are_passed_over_and_unknown_items_named() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/responses_unknown.sse")));
}

#[test]
fn a_failure_keeps_the_providers_words() {
    let decoded = recorded(include_str!("../../fixtures/responses_failed.sse"));
    let error = decoded.error.unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Unavailable, "The model failed inside."));
}

#[test]
fn a_call_cut_by_the_length_limit_is_no_call_even_if_it_parses() {
    let message = recorded(include_str!("../../fixtures/responses_cut_by_length.sse")).message().unwrap();
    assert_eq!(
        (message.stop, message.tool_calls.len(), message.invalid_tool_calls.len()),
        (StopReason::MaxTokens, 0, 1)
    );
}

#[test]
fn an_item_may_come_without_deltas_or_without_its_beginning() {
    let whole = events(&[added(0, call("")), done(0, call(r#"{"a":1}"#)), completed()]).message().unwrap();
    assert_eq!((whole.stop, &whole.tool_calls[0].args), (StopReason::ToolUse, &json!({ "a": 1 })));
    let sudden = events(&[done(0, call(r#"{"a":1}"#)), completed()]).message().unwrap();
    assert_eq!(sudden.tool_calls, whole.tool_calls);
    let nameless = json!({ "type": "function_call", "arguments": "{}" });
    assert_eq!(events(&[added(0, nameless)]).error.unwrap().kind, ModelErrorKind::Protocol);
    let without_id = json!({ "type": "function_call", "name": "ls", "arguments": "{}" });
    let made = events(&[done(0, without_id), completed()]).message().unwrap().tool_calls[0].id.to_string();
    assert!(made.starts_with("call_") && made.ends_with("_0"), "{made}");
}

#[test]
fn a_refusal_is_text_with_a_stop_reason() {
    let message = json!({ "type": "message", "content": [] });
    let refusal = json!({ "type": "response.refusal.delta", "output_index": 0, "delta": "I can't." });
    let message = events(&[added(0, message.clone()), refusal, done(0, message), completed()]).message().unwrap();
    assert_eq!((message.text().as_str(), message.stop), ("I can't.", StopReason::Refusal));
}

#[test]
fn a_response_that_is_not_complete_without_a_reason_is_said_to_be_so() {
    let message = json!({ "type": "message", "content": [] });
    let incomplete = json!({ "type": "response.incomplete", "response": { "model": "m" } });
    let message = events(&[added(0, message.clone()), done(0, message), incomplete]).message().unwrap();
    assert_eq!(message.stop, StopReason::Other("incomplete".into()));
}

#[test]
fn what_contradicts_itself_is_an_error() {
    let delta = |index: u32| json!({ "type": "response.output_text.delta", "output_index": index, "delta": "x" });
    let arguments = json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{" });
    let message = json!({ "type": "message" });
    let wrong = [
        vec![delta(0)],
        vec![added(0, message.clone()), added(0, message.clone())],
        vec![added(0, message.clone()), done(0, message.clone()), delta(0)],
        vec![added(0, message.clone()), arguments],
        vec![added(0, call("")), completed()],
        vec![json!({ "type": "response.output_text.delta", "output_index": -1, "delta": "x" })],
        vec![json!({ "type": "response.completed" })],
    ];
    for one in wrong {
        assert_eq!(events(&one).error.map(|error| error.kind), Some(ModelErrorKind::Protocol), "{one:?}");
    }
}

#[test]
fn errors_come_flat_and_nested() {
    let flat = json!({ "type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": null });
    let nested = json!({ "type": "error", "error": { "type": "rate_limit_exceeded", "message": "Slow down" } });
    for event in [flat, nested] {
        let error = events(&[event]).error.unwrap();
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::RateLimited, "Slow down"));
    }
}

#[test]
fn which_part_of_a_reply_a_message_is_stands_behind_its_text() {
    let message = |phase: &str, text: &str| {
        let content = [json!({ "type": "output_text", "text": text })];
        json!({ "type": "message", "role": "assistant", "phase": phase, "content": content })
    };
    let replied = events(&[done(0, message("commentary", "I look.")), done(1, message("", "So.")), completed()]);
    let content = serde_json::to_value(replied.message().unwrap().content).unwrap();
    let marked = json!({ "responses": "api.openai.com", "phase": "commentary" });
    let expected = json!([
        { "type": "text", "text": "I look." },
        { "type": "reasoning", "text": "", "opaque": marked },
        { "type": "text", "text": "So." },
    ]);
    assert_eq!(content, expected);
}
