use std::time::Instant;

use bosun_model::{ModelErrorKind, ModelEvent, StopReason};
use bosun_testkit::{Part, Reply, Wire};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use crate::Family;
use crate::sse::Sizes;
use crate::testing::{Decoded, KEY, decode, decode_within};

const FAMILIES: [Family; 7] = Family::ALL;

fn wire(family: Family) -> Wire {
    match family {
        Family::Anthropic => Wire::Anthropic,
        Family::OpenAiChat => Wire::OpenAi,
        Family::OpenAiResponses => Wire::OpenAiResponses,
        Family::Gemini => Wire::Gemini,
        Family::Ollama => Wire::Ollama,
        Family::Bedrock => Wire::Bedrock,
        // Without the name of a model, Gemini is spoken.
        Family::Vertex => Wire::VertexGemini,
    }
}

fn rich() -> Reply {
    Reply::new()
        .and_reasoning("Erst 考える.", Some("sig"))
        .and_text("Grüße \"世界\" 🦀\n")
        .and_call("read_file", json!({ "file_path": "/ü.txt", "limit": 3 }))
        .part(Part::Ping)
        .and_call("ls", json!({}))
        .delta_chars(5)
}

const FIXTURES: [(Family, &str); 28] = [
    (Family::Anthropic, include_str!("../fixtures/anthropic_text.sse")),
    (Family::Anthropic, include_str!("../fixtures/anthropic_thinking_and_calls.sse")),
    (Family::Anthropic, include_str!("../fixtures/anthropic_unknown.sse")),
    (Family::Anthropic, include_str!("../fixtures/anthropic_overloaded.sse")),
    (Family::Anthropic, include_str!("../fixtures/anthropic_cut_by_length.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_text.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_parallel_calls.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_ollama.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_deepseek.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_openrouter.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_gemini.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_mistral.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_objects.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_error.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_cut_by_length.sse")),
    (Family::OpenAiChat, include_str!("../fixtures/openai_refusal.sse")),
    (Family::OpenAiResponses, include_str!("../fixtures/responses_text.sse")),
    (Family::OpenAiResponses, include_str!("../fixtures/responses_thinking_and_calls.sse")),
    (Family::OpenAiResponses, include_str!("../fixtures/responses_unknown.sse")),
    (Family::OpenAiResponses, include_str!("../fixtures/responses_failed.sse")),
    (Family::OpenAiResponses, include_str!("../fixtures/responses_cut_by_length.sse")),
    (Family::Gemini, include_str!("../fixtures/gemini_text.sse")),
    (Family::Gemini, include_str!("../fixtures/gemini_thinking_and_calls.sse")),
    (Family::Gemini, include_str!("../fixtures/gemini_blocked.sse")),
    (Family::Gemini, include_str!("../fixtures/gemini_error.sse")),
    (Family::Ollama, include_str!("../fixtures/ollama_text.ndjson")),
    (Family::Ollama, include_str!("../fixtures/ollama_thinking_and_calls.ndjson")),
    (Family::Ollama, include_str!("../fixtures/ollama_error.ndjson")),
];

/// The fixtures, and replies of the test server in each family.
fn recorded_replies() -> Vec<(Family, Vec<u8>)> {
    let args = json!({ "file_path": "/ü \"x\".txt" });
    let kinds = [
        Reply::text("Grüße, 世界 🦀"),
        Reply::new().and_reasoning("Erst 考える.", Some("sig")).and_text("So."),
        Reply::new().and_call("read_file", args).and_call("ls", json!({})),
        Reply::text("Hm.").and_error("overloaded_error", "Overloaded"),
    ];
    let fixtures = FIXTURES.iter().map(|(family, text)| (*family, text.as_bytes().to_vec()));
    // In few and large pieces: every byte of every reply is a cut.
    let of = |family: Family| {
        kinds.iter().map(move |reply| (family, wire(family).recording(&reply.clone().delta_chars(64))))
    };
    fixtures.chain(FAMILIES.into_iter().flat_map(of)).collect()
}

/// The words that a person saw.
fn shown(decoded: &Decoded) -> String {
    let words = decoded.events.iter().filter_map(|event| match event {
        ModelEvent::TextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}

/// N01 without the network (the conformance suite does it over HTTP): whatever is missing at the end, either the message
/// is an error or it is the whole one.
#[test]
fn a_cut_at_any_byte_never_makes_another_message() {
    let replies = recorded_replies();
    assert!(replies.len() >= 50, "{}", replies.len());
    for (family, bytes) in replies {
        let whole = decode(family, &[&bytes]);
        let words = shown(&whole);
        for at in 0..bytes.len() {
            let cut = decode(family, &[&bytes[..at]]);
            // What was shown before the cut stays, and nothing else was shown.
            assert!(words.starts_with(&shown(&cut)), "{family:?} at {at}");
            match cut.message() {
                // Usage may be missing: a finish reason is the end for Chat Completions and Gemini.
                Ok(message) => {
                    let whole = whole.message().unwrap();
                    assert_eq!((message.tool_calls, message.content), (whole.tool_calls, whole.content), "{at}");
                }
                Err(error) => assert!(
                    matches!(error.kind, ModelErrorKind::StreamCut | ModelErrorKind::Unavailable)
                        || (error.kind == ModelErrorKind::NotAModelServer && cut.events.is_empty()),
                    "{at}: {error}"
                ),
            }
        }
    }
}

/// N01 for AWS's binary frames: there is no end before the last one, and no call before the end.
#[test]
fn binary_frames_cut_at_any_byte_make_no_message() {
    let reply = Reply::text("Hm.").and_call("ls", json!({ "path": "/a" })).and_call("ls", json!({}));
    let bytes = Wire::Bedrock.recording(&reply);
    for at in 0..bytes.len() {
        let cut = decode(Family::Bedrock, &[&bytes[..at]]);
        let error = cut.message().unwrap_err();
        let nothing = cut.events.is_empty() && error.kind == ModelErrorKind::NotAModelServer;
        assert!(nothing || error.kind == ModelErrorKind::StreamCut, "{at}: {error}");
    }
    let whole = decode(Family::Bedrock, &[&bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(Family::Bedrock, &single), whole);
    assert_eq!(whole.message().unwrap().tool_calls.len(), 2);
}

#[test]
fn what_the_test_server_writes_is_read_back() {
    for family in FAMILIES {
        let decoded = decode(family, &[&wire(family).recording(&rich())]);
        let message = decoded.message().unwrap();
        assert_eq!(message.text(), "Grüße \"世界\" 🦀\n");
        let calls: Vec<_> = message.tool_calls.iter().map(|call| (call.name.as_str(), call.args.clone())).collect();
        assert_eq!(calls, [("read_file", json!({ "file_path": "/ü.txt", "limit": 3 })), ("ls", json!({}))]);
        assert_eq!(message.usage.and_then(|usage| usage.output), Some(5));
    }
}

#[test]
fn pages_and_other_things_without_an_event_are_no_model_server() {
    let cases = [
        ("<!DOCTYPE html><html><head><title>Sign  in</title>", "(\"Sign in\")"),
        ("{\"hello\": 1}", "JSON that is not a model's reply"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "something else"),
    ];
    for family in FAMILIES {
        for (bytes, words) in cases {
            let error = decode(family, &[bytes.as_bytes()]).error.unwrap();
            assert_eq!(error.kind, ModelErrorKind::NotAModelServer);
            assert!(error.message.contains(words), "{error}");
        }
        let page = format!("<html>{}", "x".repeat(100));
        let sizes = Sizes { event: 50, stream: 1_000 };
        assert_eq!(
            decode_within(family, &[page.as_bytes()], sizes).error.unwrap().kind,
            ModelErrorKind::NotAModelServer
        );
        let refused = decode(family, &[br#"{"error": {"message": "no such key", "type": "authentication_error"}}"#]);
        assert_eq!(refused.error.unwrap().kind, ModelErrorKind::Unauthorized);
        assert_eq!(decode(family, &[b"\n\n"]).error.unwrap().kind, ModelErrorKind::StreamCut);
    }
}

#[test]
fn sizes_end_a_reply_after_what_was_understood() {
    for family in FAMILIES {
        let bytes = wire(family).recording(&Reply::new().part(Part::Deltas { text: "word ".into(), count: 500 }));
        let decoded = decode_within(family, &[&bytes], Sizes { event: 4_000, stream: 20_000 });
        assert_eq!(decoded.error.map(|error| error.kind), Some(ModelErrorKind::Protocol));
        assert!(decoded.events.len() > 50);
    }
}

#[test]
fn an_error_event_that_echoes_the_key_is_redacted() {
    for family in FAMILIES {
        let reply = Reply::text("a").and_error("authentication_error", format!("invalid key {KEY}"));
        let error = decode(family, &[&wire(family).recording(&reply)]).error.unwrap();
        // Ollama's errors are a sentence without a kind.
        let kind = if family == Family::Ollama { ModelErrorKind::Unavailable } else { ModelErrorKind::Unauthorized };
        assert_eq!((error.kind, error.message.as_str()), (kind, "invalid key [redacted]"));
    }
}

#[test]
fn words_about_the_end_of_a_message_that_echo_the_key_are_redacted() {
    let told = format!("the key {KEY} may not ask this");
    let chat = json!({ "choices": [{ "index": 0, "delta": { "content": "a" }, "finish_reason": told }] });
    let gemini = json!({ "candidates": [{ "finishReason": "SAFETY", "finishMessage": told }] });
    let clean = "the key [redacted] may not ask this".to_owned();
    for (family, chunk, stop) in [
        (Family::OpenAiChat, chat, StopReason::Other(clean.clone())),
        (Family::Gemini, gemini, StopReason::RefusalFor(clean)),
    ] {
        let decoded = decode(family, &[format!("data: {chunk}\n\n").as_bytes()]);
        assert_eq!(decoded.message().unwrap().stop, stop);
    }
}

/// Prints deltas per second of CPU; run it with `--run-ignored only --no-capture`, optimised for a figure that counts.
#[test]
#[ignore = "a measurement"]
fn throughput() {
    for family in FAMILIES {
        let bytes = wire(family).recording(&Reply::new().part(Part::Deltas { text: "word ".into(), count: 200_000 }));
        let chunks: Vec<&[u8]> = bytes.chunks(8 << 10).collect();
        let start = Instant::now();
        let decoded = decode(family, &chunks);
        let seconds = start.elapsed().as_secs_f64();
        let deltas = decoded.events.iter().filter(|event| matches!(event, ModelEvent::TextDelta { .. })).count();
        println!("{family:?}: {:.0} deltas/s, {} bytes", deltas as f64 / seconds, bytes.len());
    }
}

/// Words of all wires, so that what is made of them gets past the first look.
const WORDS: [&str; 60] = [
    "type",
    "message",
    "content",
    "delta",
    "index",
    "text",
    "id",
    "name",
    "input",
    "usage",
    "stop_reason",
    "model",
    "choices",
    "finish_reason",
    "tool_calls",
    "function",
    "arguments",
    "role",
    "error",
    "content_block",
    "partial_json",
    "thinking",
    "signature",
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "text_delta",
    "input_json_delta",
    "tool_use",
    "response",
    "item",
    "output_index",
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "response.completed",
    "function_call",
    "call_id",
    "reasoning",
    "summary",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "finishReason",
    "STOP",
    "thoughtSignature",
    "usageMetadata",
    "promptFeedback",
    "done",
    "done_reason",
    "stop",
    "status",
    "code",
    "ls",
];

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let word = || prop::sample::select(WORDS.to_vec());
    let leaf = prop_oneof![
        4 => word().prop_map(serde_json::Value::from),
        2 => (-1..3_i64).prop_map(serde_json::Value::from),
        1 => any::<bool>().prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
        1 => ".{0,4}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
            4 => prop::collection::btree_map(word().prop_map(String::from), inner, 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Law 1: any split of the same bytes gives the same events and the same error, spoiled bytes included.
    #[test]
    fn any_split_gives_the_same_events(
        fixture in 0..FIXTURES.len(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        spoil in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let (family, text) = FIXTURES[fixture];
        let mut bytes = text.as_bytes().to_vec();
        if let Some((at, byte)) = spoil {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let chunks: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(decode(family, &chunks), decode(family, &[&bytes]));
    }

    /// N02 from the other side: frames of any JSON, built of the words that the wires use, give events or a typed error,
    /// whatever their order; and however they are cut, the same.
    #[test]
    fn frames_of_any_json_never_panic(
        family in prop::sample::select(FAMILIES.to_vec()),
        frames in prop::collection::vec(json_value(), 1..8),
        chunk in 1..64_usize,
    ) {
        let bytes: String = frames
            .iter()
            .map(|frame| if family == Family::Ollama { format!("{frame}\n") } else { format!("data: {frame}\n\n") })
            .collect();
        let whole = decode(family, &[bytes.as_bytes()]);
        let pieces: Vec<&[u8]> = bytes.as_bytes().chunks(chunk).collect();
        prop_assert_eq!(&decode(family, &pieces), &whole);
        if let Ok(message) = whole.message() {
            prop_assert!(message.tool_calls.iter().all(|call| call.args.is_object()));
        }
    }

    /// N02: frames that come twice, in another order or not at all never make a call whose arguments are no object.
    #[test]
    fn frames_in_any_order_never_panic(
        fixture in 0..FIXTURES.len(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..24),
    ) {
        let (family, text) = FIXTURES[fixture];
        let end = if family == Family::Ollama { "\n" } else { "\n\n" };
        let text = text.replace("\r\n", "\n");
        let frames: Vec<&str> = text.split_inclusive(end).collect();
        let bytes: String = order.iter().map(|at| frames[at.index(frames.len())]).collect();
        if let Ok(message) = decode(family, &[bytes.as_bytes()]).message() {
            prop_assert!(message.tool_calls.iter().all(|call| call.args.is_object()));
        }
    }

    /// N02: arbitrary changes never panic, and never make a call whose arguments were not in the stream.
    #[test]
    fn spoiled_bytes_never_panic(
        fixture in 0..FIXTURES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (family, text) = FIXTURES[fixture];
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let decoded = decode(family, &[&bytes]);
        if let Ok(message) = decoded.message() {
            prop_assert!(message.tool_calls.iter().all(|call| call.args.is_object()));
        }
    }
}
