use bosun_model::{ModelErrorKind, StopReason};
use insta::assert_debug_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Family;
use crate::testing::{Decoded, decode};

fn recorded(bytes: &str) -> Decoded {
    decode(Family::Gemini, &[bytes.as_bytes()])
}

fn chunks(chunks: &[Value]) -> Decoded {
    recorded(&chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect::<String>())
}

fn parts(parts: Value, finish: Option<&str>) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": finish }] })
}

#[test]
fn text() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/gemini_text.sse")));
}

#[test]
fn thoughts_and_signed_calls() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/gemini_thinking_and_calls.sse")));
}

#[test]
fn a_blocked_prompt_is_a_refusal() {
    let message = recorded(include_str!("../../fixtures/gemini_blocked.sse")).message().unwrap();
    assert_eq!((message.text().as_str(), message.stop), ("", StopReason::Refusal));
}

#[test]
fn an_error_in_the_middle_keeps_the_providers_words() {
    let error = recorded(include_str!("../../fixtures/gemini_error.sse")).error.unwrap();
    assert_eq!((error.kind, error.status), (ModelErrorKind::Unavailable, Some(503)));
    assert_eq!(error.message, "The model is overloaded. Please try again later.");
}

#[test]
fn a_reply_without_its_reason_is_cut() {
    let text = parts(json!([{ "text": "hi" }]), None);
    assert_eq!(chunks(std::slice::from_ref(&text)).error.unwrap().kind, ModelErrorKind::StreamCut);
    let stopped = parts(json!([]), Some("STOP"));
    assert_eq!(chunks(&[text, stopped]).message().unwrap().stop, StopReason::EndTurn);
}

#[test]
fn pictures_and_what_it_ran_itself_are_said_to_be_there() {
    let all = json!([
        { "inlineData": { "mimeType": "image/png", "data": "AAAA" } },
        { "executableCode": { "language": "PYTHON", "code": "1" } },
        { "codeExecutionResult": { "outcome": "OUTCOME_OK" } },
        { "text": "there" },
    ]);
    let text = chunks(&[parts(all, Some("STOP"))]).message().unwrap().text();
    for kind in ["image/png", "executable_code", "code_execution_result"] {
        assert!(text.contains(&format!("[a part of this reply cannot be shown: {kind}]")), "{text}");
    }
    assert!(text.ends_with("there") && !text.contains("AAAA"), "{text}");
}

#[test]
fn reasons_and_what_they_mean() {
    let stop = |reason: &str| {
        let decoded = chunks(&[parts(json!([{ "text": "a" }]), Some(reason))]);
        decoded.message().map(|message| message.stop).map_err(|error| (error.kind, error.is_retryable()))
    };
    assert_eq!(stop("MAX_TOKENS"), Ok(StopReason::MaxTokens));
    assert_eq!(stop("RECITATION"), Ok(StopReason::Refusal));
    let with_words = |reason: &str| {
        let mut chunk = parts(json!([{ "text": "a" }]), Some(reason));
        chunk["candidates"][0]["finishMessage"] = json!("It looks like a recipe for harm.");
        chunks(&[chunk]).message().unwrap().stop
    };
    assert_eq!(with_words("SAFETY"), StopReason::RefusalFor("It looks like a recipe for harm.".into()));
    let other = "NEW_REASON: It looks like a recipe for harm.";
    assert_eq!(with_words("NEW_REASON"), StopReason::Other(other.into()));
    assert_eq!(stop("NEW_REASON"), Ok(StopReason::Other("NEW_REASON".into())));
    for slip in ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE"] {
        assert_eq!(stop(slip), Err((ModelErrorKind::Unavailable, true)), "{slip}");
    }
    for refusal in ["MODEL_ARMOR", "PUP_LIMITED_DISABLED", "ESCALATION"] {
        assert_eq!(stop(refusal), Ok(StopReason::RefusalFor(refusal.into())), "who refused is told");
    }
    assert_eq!(with_words("MODEL_ARMOR"), StopReason::RefusalFor("It looks like a recipe for harm.".into()));
}

#[test]
fn calls_need_a_name_and_get_ids_of_their_own() {
    let call = |id: Option<&str>, args: Value| json!({ "functionCall": { "id": id, "name": "ls", "args": args } });
    let all = json!([call(Some("a"), json!({})), call(Some("a"), Value::Null), call(None, json!("no object"))]);
    let message = chunks(&[parts(all, Some("STOP"))]).message().unwrap();
    assert_eq!((message.tool_calls.len(), message.invalid_tool_calls.len()), (2, 1));
    assert_eq!(message.tool_calls[0].id.as_str(), "a");
    let made = message.tool_calls[1].id.as_str();
    assert!(crate::adapter::CallIds::made(made) && made.ends_with("_1"), "{made}");
    let nameless = parts(json!([{ "functionCall": { "args": {} } }]), None);
    assert_eq!(chunks(&[nameless]).error.unwrap().kind, ModelErrorKind::Protocol);
}

#[test]
fn wrong_shapes_are_typed_errors() {
    let start = parts(json!([{ "text": "a" }]), None);
    for wrong in [json!([1]), json!("text"), json!({ "candidates": 7 }), parts(json!([{ "text": 7 }]), None)] {
        let error = chunks(&[start.clone(), wrong.clone()]).error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{wrong}");
    }
}

#[test]
fn a_count_that_turns_absurd_is_unknown_and_one_that_is_not_told_again_stays() {
    let chunk = |usage: Value| {
        let mut chunk = parts(json!([{ "text": "a" }]), Some("STOP"));
        chunk["usageMetadata"] = usage;
        chunk
    };
    let good = json!({ "promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 5 });
    let usage = |later: Value| chunks(&[chunk(good.clone()), chunk(later)]).message().unwrap().usage.unwrap();
    let told = |usage: bosun_model::Usage| (usage.input, usage.output, usage.reasoning);
    assert_eq!(told(usage(json!({ "candidatesTokenCount": 30 }))), (Some(100), Some(35), Some(5)));
    assert_eq!(told(usage(json!({ "candidatesTokenCount": -1 }))), (Some(100), None, Some(5)));
    assert_eq!(told(usage(json!({ "promptTokenCount": 1e30, "candidatesTokenCount": 30 }))), (None, Some(35), Some(5)));
}

/// Only sound has a price of its own.
#[test]
fn sound_is_counted_by_itself() {
    let told = |usage: Value| {
        let mut chunk = parts(json!([{ "text": "a" }]), Some("STOP"));
        chunk["usageMetadata"] = usage;
        let usage = chunks(&[chunk]).message().unwrap().usage.unwrap();
        (usage.input, usage.audio, usage.audio_read)
    };
    let of = |kind: &str, count: u32| json!({ "modality": kind, "tokenCount": count });
    let heard = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 1,
        "promptTokensDetails": [of("TEXT", 30), of("AUDIO", 70)],
        "cacheTokensDetails": [of("AUDIO", 25), of("TEXT", 15)],
    });
    assert_eq!(told(heard), (Some(100), Some(70), Some(25)));
    let read = json!({ "promptTokenCount": 100, "promptTokensDetails": [of("TEXT", 100)] });
    assert_eq!(told(read), (Some(100), None, None));
    for odd in [json!("many"), json!([{ "tokenCount": 3 }, 7]), Value::Null] {
        assert_eq!(told(json!({ "promptTokenCount": 5, "promptTokensDetails": odd })), (Some(5), None, None));
    }
}
