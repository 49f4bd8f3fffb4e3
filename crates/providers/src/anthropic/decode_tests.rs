use bosun_model::{ModelErrorKind, ModelEvent, StopReason, Usage};
use insta::assert_debug_snapshot;
use pretty_assertions::assert_eq;

use crate::Family;
use crate::testing::{Decoded, decode};

const START: &str = r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const CALL: &str =
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"ls","input":{}}}"#;
const END: &str = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn recorded(bytes: &str) -> Decoded {
    decode(Family::Anthropic, &[bytes.as_bytes()])
}

/// Without `event:` lines, as some compatible servers send.
fn events(data: &[&str]) -> Decoded {
    let bytes: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    recorded(&bytes)
}

fn kind(data: &[&str]) -> Option<ModelErrorKind> {
    events(data).error.map(|error| error.kind)
}

#[test]
fn text() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/anthropic_text.sse")));
}

#[test]
fn thinking_and_calls() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/anthropic_thinking_and_calls.sse")));
}

#[test]
fn unknown_events_and_deltas_are_passed_over_and_unknown_blocks_named() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/anthropic_unknown.sse")));
}

#[test]
fn an_error_event_keeps_the_providers_words() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/anthropic_overloaded.sse")));
}

#[test]
fn a_call_cut_by_the_length_limit_is_no_call() {
    let message = recorded(include_str!("../../fixtures/anthropic_cut_by_length.sse")).message().unwrap();
    assert_eq!((message.stop, message.tool_calls.len()), (StopReason::MaxTokens, 0));
    assert_eq!(message.invalid_tool_calls[0].name, "write_file");
}

/// A server that forgets the one says the other; without both, the arguments may have been cut.
#[test]
fn a_call_without_an_end_in_a_message_without_a_reason_is_cut() {
    const CLOSE: &str = r#"{"type":"content_block_stop","index":1}"#;
    let cases: [(&[&str], Option<ModelErrorKind>); 4] = [
        (&[START, CALL, STOP], Some(ModelErrorKind::StreamCut)),
        (&[START, CALL, CLOSE, STOP], None),
        (&[START, CALL, END, STOP], None),
        (&[START, TEXT, STOP], None),
    ];
    for (data, error) in cases {
        assert_eq!(kind(data), error, "{data:?}");
    }
}

#[test]
fn a_refusal_has_the_words_about_it_where_there_are_some() {
    let stop = |details: &str| {
        let delta =
            format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"refusal","stop_details":{details}}}}}"#);
        events(&[START, &delta, STOP]).message().unwrap().stop
    };
    let words = "It asks for a weapon.";
    let told = format!(r#"{{"type":"refusal","category":"bio","explanation":"{words}"}}"#);
    assert_eq!(stop(&told), StopReason::RefusalFor(words.into()));
    for silent in ["null", r#"{"explanation":null}"#, r#""of some other shape""#] {
        assert_eq!(stop(silent), StopReason::Refusal, "{silent}");
    }
}

#[test]
fn calls_may_be_interleaved_and_prose_ends_where_a_block_begins() {
    let second = CALL.replace(r#""index":1"#, r#""index":2"#).replace("t1", "t2");
    let delta = |index: u32, json: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":"{json}"}}}}"#
        )
    };
    let (a1, b1, a2, b2) = (delta(1, "{"), delta(2, r#"{\"a\":"#), delta(1, "}"), delta(2, "1}"));
    let decoded = events(&[START, TEXT, CALL, &second, &a1, &b1, &a2, &b2, END, STOP]);
    let calls = decoded.message().unwrap().tool_calls;
    let calls: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.args.to_string())).collect();
    assert_eq!(calls, [("t1", "{}".into()), ("t2", r#"{"a":1}"#.into())]);
}

#[test]
fn arguments_in_the_first_event_count() {
    let whole = CALL.replace(r#""input":{}"#, r#""input":{"path":"/"}"#);
    let message = events(&[START, &whole, END, STOP]).message().unwrap();
    assert_eq!(message.tool_calls[0].args, serde_json::json!({ "path": "/" }));
}

#[test]
fn usage_is_cumulative_and_absurd_figures_are_unknown() {
    let end = END.replace("2}", r#"-5,"cache_read_input_tokens":1000000000000000}"#);
    let usage: Vec<_> = events(&[START, &end, STOP])
        .events
        .into_iter()
        .filter_map(|event| if let ModelEvent::Usage(usage) = event { Some(usage) } else { None })
        .collect();
    // What cannot be one takes what was told before it along: the call would look cheaper than it was.
    assert_eq!(usage, [Usage { input: Some(1), ..Usage::default() }, Usage::default()]);
}

#[test]
fn what_is_written_to_the_cache_is_told_by_how_long_it_is_kept() {
    let last = |usage: &str| {
        let start = START.replace(r#"{"input_tokens":1}"#, usage);
        let usages = events(&[&start, END, STOP]).events.into_iter();
        usages.rev().find_map(|event| if let ModelEvent::Usage(usage) = event { Some(usage) } else { None }).unwrap()
    };
    let split = r#"{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":70}"#;
    let whole = format!(r#"{{"input_tokens":1,"cache_creation_input_tokens":100,"cache_creation":{split}}}"#);
    let wanted = Usage {
        input: Some(101),
        output: Some(2),
        cache_write: Some(100),
        cache_write_hour: Some(70),
        ..Usage::default()
    };
    assert_eq!(last(&whole), wanted);
    assert_eq!(last(&format!(r#"{{"input_tokens":1,"cache_creation":{split}}}"#)), wanted, "without the sum");
    let minutes = last(
        r#"{"input_tokens":1,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":0}}"#,
    );
    assert_eq!((minutes.cache_write, minutes.cache_write_hour), (Some(5), None));
    assert_eq!(last(r#"{"input_tokens":1,"cache_creation":null}"#).cache_write, None);
}

#[test]
fn what_breaks_the_protocol_is_a_typed_error_and_never_a_call() {
    let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let wrong: [&[&str]; 12] = [
        &["not json"],
        &[r#""a string""#],
        &[r#"{"type":"message_start"}"#],
        &[START, START],
        &[TEXT],
        &[START, TEXT, TEXT],
        &[START, delta],
        &[START, TEXT, stop, delta],
        &[START, CALL, &delta.replace(r#""index":0"#, r#""index":1"#)],
        &[START, r#"{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"x"}}"#],
        &[START, TEXT, &delta.replace(r#""x""#, "7")],
        &[START, r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"","name":"ls"}}"#],
    ];
    for data in wrong {
        assert_eq!(kind(data), Some(ModelErrorKind::Protocol), "{data:?}");
    }
}

#[test]
fn nothing_counts_before_the_end_and_nothing_after_it() {
    assert_eq!(kind(&[START, TEXT, END]), Some(ModelErrorKind::StreamCut));
    let after = events(&[START, STOP, TEXT, "not json"]);
    assert_eq!(after.events.last(), Some(&ModelEvent::Finished { stop: StopReason::EndTurn }));
    assert_eq!(after.error, None);
}
