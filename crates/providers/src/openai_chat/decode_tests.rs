use bosun_model::{ContentBlock, ModelErrorKind, ModelEvent, StopReason, Usage};
use insta::assert_debug_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Family;
use crate::testing::{Decoded, decode, decode_chat_at};

fn recorded(bytes: &str) -> Decoded {
    decode(Family::OpenAiChat, &[bytes.as_bytes()])
}

fn data(data: &[String]) -> Decoded {
    let bytes: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    recorded(&bytes)
}

fn chunk(delta: Value, finish: Option<&str>) -> String {
    json!({ "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }).to_string()
}

/// One reply made of these tool call deltas, ended as usual.
fn calls(deltas: &[Value]) -> Vec<(String, String, String)> {
    let mut chunks: Vec<_> = deltas.iter().map(|delta| chunk(json!({ "tool_calls": [delta] }), None)).collect();
    chunks.extend([chunk(json!({}), Some("tool_calls")), "[DONE]".into()]);
    let message = data(&chunks).message().unwrap();
    assert_eq!(message.invalid_tool_calls, []);
    message.tool_calls.into_iter().map(|call| (call.id.to_string(), call.name, call.args.to_string())).collect()
}

fn call(id: &str, name: &str, args: &str) -> (String, String, String) {
    (id.into(), name.into(), args.into())
}

#[test]
fn text() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_text.sse")));
}

#[test]
fn parallel_calls() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_parallel_calls.sse")));
}

#[test]
fn ollama_numbers_every_call_0_and_stops_with_stop() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_ollama.sse")));
}

#[test]
fn deepseek_thinks_aloud() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_deepseek.sse")));
}

#[test]
fn openrouter_gives_details_for_its_next_request() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_openrouter.sse")));
}

#[test]
fn gemini_signs_a_call_beside_it() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_gemini.sse")));
}

#[test]
fn thinking_that_stands_in_the_text_is_told_apart() {
    let said = |pieces: &[&str]| {
        let mut chunks: Vec<_> = pieces.iter().map(|piece| chunk(json!({ "content": piece }), None)).collect();
        chunks.extend([chunk(json!({}), Some("stop")), "[DONE]".into()]);
        let message = data(&chunks).message().unwrap();
        (message.text(), message.content.len())
    };
    assert_eq!(said(&["<th", "ink>\nHm.", "\n</thi", "nk>\n", "\nYes."]), ("Yes.".into(), 2));
    assert_eq!(said(&["Yes, ", "<think> is a tag."]), ("Yes, <think> is a tag.".into(), 1));
    assert_eq!(said(&["<t"]), ("<t".into(), 1));
}

#[test]
fn mistral_thinks_in_parts_of_the_content() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_mistral.sse")));
}

/// As OpenRouter documents them; some upstreams number all of them 0.
#[test]
fn details_are_joined_with_their_neighbours_and_with_nothing_else() {
    let text = |text: &str, index: u32| json!({ "type": "reasoning.text", "text": text, "index": index, "format": "anthropic-claude-v1" });
    let signature = json!({ "type": "reasoning.text", "signature": "sig", "text": null, "index": 0 });
    let summary = |id: &str, text: &str| json!({ "type": "reasoning.summary", "summary": text, "id": id, "index": 0 });
    let sealed = |id: &str| json!({ "type": "reasoning.encrypted", "data": "RW5j", "id": id, "index": 0 });
    let kept = |details: &[Value]| {
        let mut chunks: Vec<_> =
            details.iter().map(|detail| chunk(json!({ "reasoning_details": [detail] }), None)).collect();
        chunks.extend([chunk(json!({ "content": "a" }), Some("stop")), "[DONE]".into()]);
        let message = data(&chunks).message().unwrap();
        let ContentBlock::Reasoning(last) = message.content.last().unwrap() else { panic!("{message:?}") };
        last.opaque.as_ref().unwrap()["details"].clone()
    };
    let whole = json!({ "type": "reasoning.text", "text": "ab", "signature": "sig", "index": 0, "format": "anthropic-claude-v1" });
    assert_eq!(kept(&[text("a", 0), text("b", 0), signature]), json!([whole]));
    assert_eq!(kept(&[whole.clone(), text("c", 0)]), json!([whole, text("c", 0)]));
    assert_eq!(kept(&[text("a", 0), text("b", 1)]), json!([text("a", 0), text("b", 1)]));
    assert_eq!(
        kept(&[summary("r1", "a"), summary("r1", "b"), sealed("r1")]),
        json!([summary("r1", "ab"), sealed("r1")])
    );
    assert_eq!(kept(&[sealed("c1"), sealed("c2")]), json!([sealed("c1"), sealed("c2")]));
    assert_eq!(kept(&[summary("r1", "a"), summary("r2", "b")]), json!([summary("r1", "a"), summary("r2", "b")]));
}

#[test]
fn thinking_that_stands_in_the_details_alone_is_shown_and_what_is_no_list_passed_over() {
    let detail = json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "hm" }] });
    let odd = [json!({ "reasoning_details": "no list" }), json!({ "reasoning_details": [7] })];
    let mut chunks = vec![chunk(detail, None)];
    chunks.extend(odd.into_iter().map(|delta| chunk(delta, None)));
    chunks.extend([chunk(json!({ "content": "a" }), Some("stop")), "[DONE]".into()]);
    let message = data(&chunks).message().unwrap();
    let ContentBlock::Reasoning(shown) = &message.content[0] else { panic!("{message:?}") };
    assert_eq!((shown.text.as_str(), &shown.opaque, message.content.len()), ("hm", &None, 3));
}

#[test]
fn arguments_as_objects_without_ids_or_indexes() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_objects.sse")));
}

#[test]
fn an_error_in_the_middle_keeps_the_providers_words() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_error.sse")));
}

#[test]
fn refusals_are_text_with_a_stop_reason() {
    assert_debug_snapshot!(recorded(include_str!("../../fixtures/openai_refusal.sse")));
}

#[test]
fn a_call_cut_by_the_length_limit_is_no_call_even_if_it_parses() {
    let message = recorded(include_str!("../../fixtures/openai_cut_by_length.sse")).message().unwrap();
    assert_eq!(
        (message.stop, message.tool_calls.len(), message.invalid_tool_calls.len()),
        (StopReason::MaxTokens, 0, 1)
    );
}

#[test]
fn ids_may_repeat_change_or_be_missing() {
    let piece = |id: Option<&str>, index: Option<u32>, args: &str| json!({ "id": id, "index": index, "function": { "arguments": args } });
    let first = |id: Option<&str>, index: Option<u32>| json!({ "id": id, "index": index, "type": "function", "function": { "name": "ls", "arguments": "{\"a\"" } });
    let whole = r#"{"a":1}"#;
    assert_eq!(calls(&[first(Some("c"), Some(0)), piece(Some("c"), Some(0), ":1}")]), [call("c", "ls", whole)]);
    assert_eq!(calls(&[first(Some("c"), Some(0)), piece(Some("other"), Some(0), ":1}")]), [call("c", "ls", whole)]);
    assert_eq!(calls(&[first(Some("c"), None), piece(None, None, ":1}")]), [call("c", "ls", whole)]);
    assert_eq!(calls(&[first(Some("c"), None), piece(Some("c"), None, ":1}")]), [call("c", "ls", whole)]);
    let made = &calls(&[first(None, Some(0)), piece(None, Some(0), ":1}")])[0].0;
    assert!(made.starts_with("call_") && made.ends_with("_0"), "{made}");
}

#[test]
fn two_calls_are_never_made_one_and_never_share_an_id() {
    let whole = |id: &str, index: Option<u32>| json!({ "id": id, "index": index, "function": { "name": "ls", "arguments": "{}" } });
    for index in [Some(0), None] {
        assert_eq!(calls(&[whole("a", index), whole("b", index)]), [call("a", "ls", "{}"), call("b", "ls", "{}")]);
    }
    let same = calls(&[whole("a", Some(0)), whole("a", Some(1))]);
    assert_eq!((same.len(), same[0].0.as_str()), (2, "a"));
    assert_ne!(same[0].0, same[1].0);
}

/// Servers that number every call 0 and give none an id.
#[test]
fn a_name_after_a_whole_object_begins_a_call_and_one_before_its_end_does_not() {
    let piece = |id: &str, name: &str, args: Value| json!({ "id": id, "index": 0, "function": { "name": name, "arguments": args } });
    let told = |deltas: &[Value]| -> Vec<(String, String)> {
        calls(deltas).into_iter().map(|(_, name, args)| (name, args)).collect()
    };
    let pair = |name: &str, args: &str| (name.to_owned(), args.to_owned());
    let (one, two) = (r#"{"a":"}\" {"}"#, r#"{"b":[{}]}"#);
    let both = [pair("ls", one), pair("read", two)];
    assert_eq!(told(&[piece("", "ls", one.into()), piece("", "read", two.into())]), both);
    assert_eq!(told(&[piece("", "ls", one.into()), piece("", "ls", one.into())]), both[..1], "said twice, wanted once");
    // The name with every piece, and at the end once more without any.
    let (begin, end) = one.split_at(7);
    let pieces = [piece("", "ls", begin.into()), piece("", "ls", end.into()), piece("", "ls", "".into())];
    assert_eq!(told(&pieces), both[..1]);
    assert_eq!(told(&[piece("c", "ls", one.into()), piece("c", "ls", "".into())]), both[..1]);
}

/// How many are run is no matter of a wire ([`bosun_model::MOST_CALLS`]).
#[test]
fn very_many_calls_are_told_apart_and_fail_nothing() {
    let whole = |index: u32| json!({ "id": format!("c{index}"), "index": index, "function": { "name": "ls", "arguments": "{}" } });
    let mut chunks: Vec<String> =
        (0..20_000).map(|index| chunk(json!({ "tool_calls": [whole(index)] }), None)).collect();
    chunks.extend([chunk(json!({}), Some("tool_calls")), "[DONE]".into()]);
    let message = data(&chunks).message().unwrap();
    assert_eq!((message.tool_calls.len(), message.invalid_tool_calls.len()), (bosun_model::MOST_CALLS, 1));
    let left_out = &message.invalid_tool_calls[0];
    assert!(left_out.reason.ends_with("and the 9999 after it were left out"), "{}", left_out.reason);
}

#[test]
fn a_name_may_come_after_the_arguments_but_must_come() {
    let late = [
        json!({ "index": 0, "id": "c", "function": { "arguments": "{\"a\"" } }),
        json!({ "index": 0, "function": { "name": "ls", "arguments": ":1}" } }),
    ];
    assert_eq!(calls(&late), [call("c", "ls", r#"{"a":1}"#)]);
    let never = chunk(json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "arguments": "{}" } }] }), None);
    let decoded = data(&[never, chunk(json!({}), Some("tool_calls")), "[DONE]".into()]);
    assert_eq!(decoded.error.unwrap().kind, ModelErrorKind::Protocol);
}

#[test]
fn the_end_may_lack_done_or_a_reason_but_not_both() {
    let text = chunk(json!({ "content": "hi" }), None);
    let called = chunk(json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "ls" } }] }), None);
    let end = chunk(json!({}), Some("stop"));
    let stop = |chunks: &[&String]| {
        let chunks: Vec<String> = chunks.iter().map(|chunk| (*chunk).clone()).collect();
        data(&chunks).message().map(|message| message.stop).map_err(|error| error.kind)
    };
    let done = "[DONE]".to_owned();
    assert_eq!(stop(&[&text, &end]), Ok(StopReason::EndTurn));
    assert_eq!(stop(&[&called, &end]), Ok(StopReason::ToolUse));
    assert_eq!(stop(&[&text, &done]), Ok(StopReason::EndTurn));
    assert_eq!(stop(&[&called, &done]), Err(ModelErrorKind::StreamCut));
    assert_eq!(stop(&[&text]), Err(ModelErrorKind::StreamCut));
    assert_eq!(stop(&[&done]), Err(ModelErrorKind::Protocol));
}

/// TGI says which of its ends it was, Mistral which of its limits.
#[test]
fn other_words_for_the_usual_ends_mean_the_same() {
    let stop = |word: &str| {
        let reply = [chunk(json!({ "content": "a" }), None), chunk(json!({}), Some(word)), "[DONE]".into()];
        data(&reply).message().unwrap().stop
    };
    assert_eq!((stop("eos_token"), stop("stop_sequence")), (StopReason::EndTurn, StopReason::StopSequence));
    assert_eq!(stop("model_length"), StopReason::MaxTokens);
    assert_eq!(stop("network_error"), StopReason::Other("network_error".into()));
}

/// Zhipu has words of its own for how a reply ended.
#[test]
fn a_full_window_ends_a_reply_and_is_an_error_where_there_is_none() {
    let full = chunk(json!({}), Some("model_context_window_exceeded"));
    let empty = data(&[full.clone(), "[DONE]".into()]);
    assert_eq!(empty.error.unwrap().kind, ModelErrorKind::ContextOverflow);
    let some = data(&[chunk(json!({ "content": "a" }), None), full, "[DONE]".into()]);
    assert_eq!(some.message().unwrap().stop, StopReason::MaxTokens);
    let refused = data(&[chunk(json!({ "content": "a" }), None), chunk(json!({}), Some("sensitive"))]);
    assert_eq!(refused.message().unwrap().stop, StopReason::Refusal);
}

#[test]
fn other_choices_and_unknown_chunks_are_passed_over() {
    let other = json!({ "choices": [{ "index": 1, "delta": { "content": "other" }, "finish_reason": "stop" }] });
    let filter = json!({ "prompt_filter_results": [] });
    let decoded = data(&[
        filter.to_string(),
        other.to_string(),
        chunk(json!({ "content": "mine", "audio": {} }), Some("")),
        chunk(json!({}), Some("stop")),
    ]);
    assert_eq!(decoded.message().unwrap().text(), "mine");
}

#[test]
fn sound_and_pictures_are_said_to_be_there_once() {
    let sound = chunk(json!({ "audio": { "id": "a1", "data": "UklGRg==" } }), Some(""));
    let picture = json!({ "content": "see", "images": [{ "image_url": { "url": "data:image/png;base64,AAAA" } }] });
    let decoded = data(&[sound.clone(), sound, chunk(picture, Some("")), chunk(json!({}), Some("stop"))]);
    let text = decoded.message().unwrap().text();
    assert_eq!(text.matches("cannot be shown: audio]").count(), 1, "{text}");
    assert!(text.contains("see") && text.contains("cannot be shown: image]") && !text.contains("AAAA"), "{text}");
}

#[test]
fn wrong_shapes_are_typed_errors() {
    let wrong = [
        "not json".to_owned(),
        "7".to_owned(),
        json!({ "choices": 7 }).to_string(),
        chunk(json!({ "content": 7 }), None),
        chunk(json!({ "tool_calls": [{ "index": -1, "id": "c", "function": { "name": "ls" } }] }), None),
        chunk(
            json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "ls", "arguments": [1] } }] }),
            None,
        ),
    ];
    for one in wrong {
        let error = data(&[chunk(json!({ "content": "a" }), None), one.clone()]).error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{one}");
    }
}

#[test]
fn errors_come_in_several_shapes() {
    let shapes = [
        r#"data: {"error":{"message":"Too long: maximum context length is 8192 tokens","code":400}}"#,
        r#"data: {"error":"Too long: maximum context length is 8192 tokens"}"#,
        r#"data: {"object":"error","message":"Too long: maximum context length is 8192 tokens","code":400}"#,
        "event: error\ndata: {\"message\":\"Too long: maximum context length is 8192 tokens\"}",
    ];
    for shape in shapes {
        let error = recorded(&format!("{shape}\n\n")).error.unwrap();
        assert_eq!(error.message, "Too long: maximum context length is 8192 tokens", "{shape}");
        assert_eq!(error.kind, ModelErrorKind::ContextOverflow, "{shape}");
    }
}

#[test]
fn usage_in_every_chunk_is_told_once_per_change() {
    let with = |tokens: u32| {
        json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": tokens } }).to_string()
    };
    let decoded = data(&[chunk(json!({ "content": "a" }), Some("stop")), with(1), with(1), with(2), "[DONE]".into()]);
    let usages = decoded.events.iter().filter(|event| matches!(event, ModelEvent::Usage(_))).count();
    assert_eq!(usages, 2);
}

#[test]
fn a_count_that_turns_absurd_is_unknown_and_one_that_is_not_told_again_stays() {
    let told = |later: Value| {
        let with = |usage: Value| json!({ "choices": [], "usage": usage }).to_string();
        let good =
            json!({ "prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": { "cached_tokens": 80 } });
        let text = chunk(json!({ "content": "a" }), Some("stop"));
        let usage = data(&[text, with(good), with(later), "[DONE]".into()]).message().unwrap().usage.unwrap();
        (usage.input, usage.output, usage.cache_read)
    };
    assert_eq!(told(json!({ "completion_tokens": 30 })), (Some(100), Some(30), Some(80)));
    assert_eq!(told(json!({ "completion_tokens": -1 })), (Some(100), None, Some(80)));
    assert_eq!(told(json!({ "prompt_tokens": 1e30, "prompt_tokens_details": null })), (None, Some(20), Some(80)));
    assert_eq!(told(json!({ "prompt_tokens_details": { "cached_tokens": "lots" } })), (Some(100), Some(20), None));
}

/// Each vendor's documented fields: what was read, written, cached and thought.
/// A reply is not lost for what stands where its usage should.
#[test]
fn usage_that_is_none_is_unknown() {
    for nonsense in [json!("n/a"), json!([]), json!(7), json!(false), json!({ "prompt_tokens_details": "none" })] {
        for last in [
            json!({ "choices": [], "usage": nonsense }),
            json!({ "choices": [], "x_groq": { "usage": nonsense } }),
            json!({ "choices": [], "x_groq": nonsense }),
            json!({ "choices": [{ "index": 0, "delta": {}, "usage": nonsense }] }),
        ] {
            let text = chunk(json!({ "content": "hi" }), Some("stop"));
            let message = data(&[text, last.to_string(), "[DONE]".into()]).message().unwrap();
            assert_eq!((message.text().as_str(), message.usage.and_then(|usage| usage.input)), ("hi", None), "{last}");
        }
    }
}

#[test]
fn usage_stands_where_each_vendor_has_it() {
    let at_top = |usage: Value| json!({ "choices": [], "usage": usage });
    let openai = json!({ "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "prompt_tokens_details": { "cached_tokens": 80 }, "completion_tokens_details": { "reasoning_tokens": 30 } });
    let deepseek = json!({ "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "prompt_cache_hit_tokens": 80, "prompt_cache_miss_tokens": 20,
        "completion_tokens_details": { "reasoning_tokens": 30 } });
    let moonshot = json!({ "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, "cached_tokens": 80 });
    // Counts reasoning beside the answer.
    let xai = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150,
        "prompt_tokens_details": { "cached_tokens": 80 }, "completion_tokens_details": { "reasoning_tokens": 30 } });
    let openrouter = json!({ "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "prompt_tokens_details": { "cached_tokens": 80, "cache_write_tokens": 15 },
        "completion_tokens_details": { "reasoning_tokens": 30 }, "cost": 0.01 });
    let known = Usage { input: Some(100), output: Some(50), cache_read: Some(80), ..Usage::default() };
    let thought = Usage { reasoning: Some(30), ..known };
    for (name, chunk, expected) in [
        ("OpenAI", at_top(openai.clone()), thought),
        ("DeepSeek", at_top(deepseek), thought),
        ("Moonshot", json!({ "choices": [{ "index": 0, "delta": {}, "usage": moonshot }] }), known),
        ("Groq", json!({ "choices": [], "x_groq": { "id": "req", "usage": openai } }), thought),
        ("xAI", at_top(xai), thought),
        ("OpenRouter", at_top(openrouter), Usage { cache_write: Some(15), ..thought }),
    ] {
        let text = self::chunk(json!({ "content": "hi" }), Some("stop"));
        let message = data(&[text, chunk.to_string(), "[DONE]".into()]).message().unwrap();
        assert_eq!(message.usage, Some(expected), "{name}");
    }
}

/// The sum that OpenRouter takes is in its reply; elsewhere the field may mean anything.
#[test]
fn what_openrouter_charged_is_what_a_call_cost() {
    let charged = |base_url: &str, usage: Value| {
        let text = chunk(json!({ "content": "hi" }), Some("stop"));
        let last = json!({ "choices": [], "usage": usage }).to_string();
        let recording = [text, last, "[DONE]".into()].map(|data| format!("data: {data}\n\n")).concat();
        decode_chat_at(base_url, &recording).message().unwrap().usage.unwrap().charged
    };
    let usage = |more: Value| {
        let mut usage = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
        usage.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        usage
    };
    let home = "https://openrouter.ai/api/v1";
    let upstream = json!({ "upstream_inference_cost": 0.19 });
    assert_eq!(charged(home, usage(json!({ "cost": 0.0004 }))), Some(0.0004));
    assert_eq!(charged(home, usage(json!({ "cost": 0 }))), Some(0.0), "of a free model");
    let own = json!({ "cost": 0.01, "is_byok": true, "cost_details": upstream });
    assert_eq!(charged(home, usage(own)), Some(0.2), "with a key of the person's own");
    let covered = json!({ "cost": 0.19, "is_byok": false, "cost_details": upstream });
    assert_eq!(charged(home, usage(covered)), Some(0.19));
    for odd in [json!({}), json!({ "cost": -1 }), json!({ "cost": "much" }), json!({ "cost": 1, "is_byok": true })] {
        assert_eq!(charged(home, usage(odd)), None);
    }
    assert_eq!(charged("https://gate.example/v1", usage(json!({ "cost": 0.0004 }))), None);
}
