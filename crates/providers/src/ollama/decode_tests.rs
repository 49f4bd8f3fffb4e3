use bosun_model::{ModelErrorKind, StopReason};
use insta::assert_debug_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Family;
use crate::testing::{Decoded, decode};

fn recorded(bytes: &str) -> Decoded {
    decode(Family::Ollama, &[bytes.as_bytes()])
}

fn lines(lines: &[Value]) -> Decoded {
    recorded(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn said(message: Value) -> Value {
    json!({ "model": "m", "message": message, "done": false })
}

fn done(reason: &str) -> Value {
    json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": reason })
}

#[test]
fn text() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/ollama_text.ndjson")));
}

#[test]
fn thoughts_and_calls() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/ollama_thinking_and_calls.ndjson")));
}

#[test]
fn an_error_in_the_middle_keeps_the_servers_words() {
    let error = recorded(include_str!("../../fixtures/ollama_error.ndjson")).error.unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Unavailable, "an error was encountered"));
}

#[test]
fn reasons_and_what_they_mean() {
    let stop = |reason: &str| lines(&[said(json!({ "content": "a" })), done(reason)]).message().unwrap().stop;
    assert_eq!(stop("length"), StopReason::MaxTokens);
    assert_eq!(stop("stop"), StopReason::EndTurn);
    assert_eq!(stop("unload"), StopReason::Other("unload".into()));
    assert_eq!(lines(&[said(json!({ "content": "a" }))]).error.unwrap().kind, ModelErrorKind::StreamCut);
}

#[test]
fn arguments_come_as_objects_or_as_text() {
    let call =
        |arguments: Value| said(json!({ "tool_calls": [{ "function": { "name": "ls", "arguments": arguments } }] }));
    let all = [call(json!({ "a": 1 })), call(json!("{\"a\":1}")), call(Value::Null), call(json!([1])), done("stop")];
    let message = lines(&all).message().unwrap();
    let args: Vec<_> = message.tool_calls.iter().map(|call| call.args.clone()).collect();
    assert_eq!(args, [json!({ "a": 1 }), json!({ "a": 1 }), json!({})]);
    assert_eq!(message.invalid_tool_calls.len(), 1);
    let nameless = said(json!({ "tool_calls": [{ "function": { "arguments": {} } }] }));
    assert_eq!(lines(&[said(json!({ "content": "a" })), nameless]).error.unwrap().kind, ModelErrorKind::Protocol);
}

#[test]
fn what_is_no_reply_is_called_so() {
    assert_eq!(lines(&[json!({ "hello": 1 })]).error.unwrap().kind, ModelErrorKind::NotAModelServer);
    assert_eq!(recorded("<html>\n").error.unwrap().kind, ModelErrorKind::NotAModelServer);
    let later = lines(&[said(json!({ "content": "a" })), json!({ "hello": 1 }), done("stop")]);
    assert_eq!(later.message().unwrap().text(), "a");
    for wrong in [json!([1]), json!("text"), said(json!({ "content": 7 }))] {
        let error = lines(&[said(json!({ "content": "a" })), wrong.clone()]).error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{wrong}");
    }
}
