//! One suite for every adapter, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use std::time::Duration;

use bosun_model::{
    ChatModel, ChatRequest, Message, ModelError, ModelErrorKind, ModelEvent, StopReason, SystemBlock, ToolMessage,
    ToolStatus, Usage,
};
use bosun_providers::{Family, Limits, ProviderConfig, connect, connect_within, list_models, test_call};
use bosun_testkit::{Ending, ModelServer, Outcome, Part, Reply, Rule, Script, Wire, events_of, message_of};
use futures_util::{StreamExt, stream};
use pretty_assertions::assert_eq;
use serde_json::json;

const KEY: &str = "sk-canary-0123456789";
const WIRES: [Wire; 8] = Wire::ALL;

fn config(server: &ModelServer, wire: Wire) -> ProviderConfig {
    let family = match wire {
        Wire::Anthropic => Family::Anthropic,
        Wire::OpenAi => Family::OpenAiChat,
        Wire::OpenAiResponses => Family::OpenAiResponses,
        Wire::Gemini => Family::Gemini,
        Wire::Ollama => Family::Ollama,
        Wire::Bedrock => Family::Bedrock,
        Wire::Vertex | Wire::VertexGemini => Family::Vertex,
    };
    ProviderConfig::new("test", family, server.base_url(wire)).with_key(KEY)
}

fn model(server: &ModelServer, wire: Wire) -> std::sync::Arc<dyn ChatModel> {
    connect(&config(server, wire), model_of(wire)).unwrap()
}

/// Vertex AI speaks two formats, by the model.
fn model_of(wire: Wire) -> &'static str {
    if wire == Wire::Vertex { "claude-test" } else { "test-model" }
}

fn hello() -> ChatRequest {
    ChatRequest { messages: vec![Message::human("h", "hello").into()].into(), ..ChatRequest::default() }
}

/// The error of one call that is answered with `reply`.
async fn error_of(wire: Wire, reply: Reply) -> ModelError {
    error_within(wire, reply, Limits::default()).await
}

async fn error_within(wire: Wire, reply: Reply, limits: Limits) -> ModelError {
    let server = ModelServer::start();
    server.once(reply);
    let model = connect_within(&config(&server, wire), model_of(wire), limits).unwrap();
    let (_, error) = events_of(&*model, hello()).await;
    error.unwrap()
}

fn short(first_byte: u64, idle: u64, total: u64) -> Limits {
    let millis = Duration::from_millis;
    Limits { first_byte: millis(first_byte), idle: millis(idle), total: millis(total) }
}

#[tokio::test]
async fn text_reasoning_and_parallel_calls_arrive_whole() {
    for wire in WIRES {
        let server = ModelServer::start();
        let usage = Usage { input: Some(100), output: Some(20), cache_read: Some(60), ..Usage::default() };
        let reply = Reply::new()
            .and_reasoning("Let me 考える.", Some("sig"))
            .and_text("Grüße, 世界 🦀 \"quoted\"\nand more")
            .and_call_with_id("call_a", "read_file", json!({ "file_path": "/ü \"x\".txt" }))
            .and_call_with_id("call_b", "ls", json!({}))
            .delta_chars(3)
            .usage(usage);
        server.once(reply);
        let message = message_of(&*model(&server, wire), hello()).await.unwrap();
        assert_eq!(message.text(), "Grüße, 世界 🦀 \"quoted\"\nand more");
        let calls: Vec<_> = message.tool_calls.iter().map(|c| (c.id.as_str(), &*c.name, c.args.clone())).collect();
        assert_eq!(
            calls,
            [("call_a", "read_file", json!({ "file_path": "/ü \"x\".txt" })), ("call_b", "ls", json!({}))]
        );
        assert_eq!((message.stop, message.model.as_deref()), (StopReason::ToolUse, Some(model_of(wire))));
        let counted = message.usage.unwrap();
        let cached = if wire == Wire::Ollama { None } else { Some(60) };
        assert_eq!((counted.input, counted.output, counted.cache_read), (Some(100), Some(20), cached));
    }
}

/// Servers behind Chat Completions each have a way of their own; the second request of a turn brings it back.
#[tokio::test]
async fn what_a_compatible_server_thought_goes_back_to_it() {
    let delta = |delta: serde_json::Value| {
        let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
        format!("data: {chunk}\n\n")
    };
    let detail = |text: &str| json!({ "type": "reasoning.text", "text": text, "index": 0 });
    let thought = |text: &str| json!({ "type": "thinking", "thinking": [{ "type": "text", "text": text }] });
    let signed = json!({ "google": { "thought_signature": "U2lnbmVk" } });
    let call =
        json!({ "index": 0, "id": "g", "function": { "name": "ls", "arguments": "{}" }, "extra_content": signed });
    let replies = [
        (vec![json!({ "reasoning_details": [detail("Let ")] }), json!({ "reasoning_details": [detail("me.")] })], "o"),
        (vec![json!({ "content": [thought("Let ")] }), json!({ "content": [thought("me.")] })], "m"),
        (vec![json!({ "tool_calls": [call] })], "g"),
    ];
    let server = ModelServer::start();
    let model = model(&server, Wire::OpenAi);
    let mut sent_back = Vec::new();
    for (deltas, id) in replies {
        let reply = deltas.into_iter().fold(Reply::new(), |reply, one| reply.and_raw(delta(one)));
        let reply = if id == "g" { reply } else { reply.and_call_with_id(id, "ls", json!({})) };
        server.once(reply).once("done");
        let asked = message_of(&*model, hello()).await.unwrap();
        let result = ToolMessage {
            call_id: id.into(),
            name: "ls".into(),
            status: ToolStatus::Success,
            content: vec!["/a".into()],
        };
        let turns = [Message::human("h", "hello"), Message::Ai(asked), Message::Tool(result)];
        let second = ChatRequest { messages: turns.into_iter().map(Into::into).collect(), ..ChatRequest::default() };
        message_of(&*model, second).await.unwrap();
        sent_back.push(server.requests().last().unwrap().json()["messages"][1].clone());
    }
    assert_eq!(sent_back[0]["reasoning_details"], json!([detail("Let me.")]));
    assert_eq!(sent_back[1]["content"], json!([thought("Let me.")]));
    assert_eq!(sent_back[2]["tool_calls"][0]["extra_content"], signed);
}

/// What stands before a thought changes from step to step. Claude's own hosts are told to drop what no longer fits; whoever
/// refuses all the same is asked once more without it.
#[tokio::test]
async fn thoughts_that_memory_no_longer_fits_stop_nobody() {
    let refused = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                   conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";
    for wire in [Wire::Anthropic, Wire::Bedrock, Wire::Vertex] {
        let server = ModelServer::start();
        server.once(Reply::new().and_reasoning("Hm.", Some("sig")).and_call_with_id("c", "ls", json!({})));
        server.once(Reply::error(400, "invalid_request_error", refused)).once("done");
        let model = connect(&config(&server, wire), "claude-opus-5-5").unwrap();
        let remember = |memory: &str, messages: Vec<Message>| ChatRequest {
            system: vec![SystemBlock::new(format!("Memory: {memory}."))],
            messages: messages.into_iter().map(Into::into).collect(),
            ..ChatRequest::default()
        };
        let said = Message::human("h", "hello");
        let thought = message_of(&*model, remember("tabs", vec![said.clone()])).await.unwrap();
        let result = ToolMessage {
            call_id: "c".into(),
            name: "ls".into(),
            status: ToolStatus::Success,
            content: vec!["/a".into()],
        };
        let next = remember("spaces", vec![said, Message::Ai(thought), Message::Tool(result)]);
        assert_eq!(message_of(&*model, next.clone()).await.unwrap().text(), "done", "{wire:?}");
        let sent: Vec<_> = server.requests().iter().skip(1).map(|request| request.json()).collect();
        let first = |body: &serde_json::Value| body["messages"][1]["content"][0]["type"].clone();
        assert_eq!([first(&sent[0]), first(&sent[1])], ["thinking", "tool_use"], "{wire:?}");
        assert_eq!(sent[1]["system"][0]["text"], "Memory: spaces.");
        let asks = |body: &serde_json::Value| body["thinking"]["block_binding"]["prefix_mismatch_behavior"].clone();
        let beta = match wire {
            Wire::Bedrock => sent[0]["anthropic_beta"][0].as_str().map(str::to_owned),
            _ => server.requests()[1].header("anthropic-beta").map(str::to_owned),
        };
        let expected = if wire == Wire::Anthropic {
            (serde_json::Value::Null, None)
        } else {
            (json!("drop_block"), Some("thinking-binding-controls-2026-08-01".to_owned()))
        };
        assert_eq!((asks(&sent[0]), beta), expected, "{wire:?}: a stranger's server may not know the field");
        assert_eq!(asks(&sent[1]), serde_json::Value::Null);
        // What was refused is not asked for again: neither by the second request nor by the next step.
        server.once("more");
        assert_eq!(message_of(&*model, next.clone()).await.unwrap().text(), "more", "{wire:?}");
        let later = &server.requests()[2..];
        assert_eq!(later.len(), 2, "{wire:?}: the refusal was forgotten");
        for request in later {
            assert_eq!(first(&request.json()), "tool_use", "{wire:?}");
            assert_eq!(
                (request.header("anthropic-beta"), request.json().get("anthropic_beta")),
                (None, None),
                "{wire:?}"
            );
        }
        // The next turn tries them again: a memory that came back, or a summary, may have made them fit.
        let mut turn = next;
        turn.messages.push(Message::human("h2", "and now?").into());
        server.once("again");
        assert_eq!(message_of(&*model, turn).await.unwrap().text(), "again", "{wire:?}");
        assert_eq!(first(&server.requests()[4].json()), "thinking", "{wire:?}");
    }
    let server = ModelServer::start();
    server.once(Reply::error(400, "invalid_request_error", "max_tokens is too large"));
    let model = connect(&config(&server, Wire::Anthropic), "claude-opus-5-5").unwrap();
    assert!(message_of(&*model, hello()).await.is_err());
    assert_eq!(server.requests().len(), 1, "another refusal is one");
}

#[tokio::test]
async fn the_key_and_nothing_else_identifies_us() {
    let server = ModelServer::start();
    server.add(Rule::any().reply("hi").order(bosun_testkit::Order::RepeatLast));
    for wire in WIRES {
        let keyed = config(&server, wire).with_header("x-team", "blue");
        let bare = ProviderConfig { key: None, ..keyed.clone() };
        for config in [keyed, bare] {
            message_of(&*connect(&config, model_of(wire)).unwrap(), hello()).await.unwrap();
        }
    }
    let requests = server.requests();
    let header = |index: usize, name| requests[index].header(name).map(str::to_owned);
    assert_eq!((header(0, "x-api-key"), header(0, "authorization")), (Some(KEY.into()), None));
    assert_eq!(header(0, "anthropic-version").as_deref(), Some("2023-06-01"));
    assert_eq!((header(2, "x-api-key"), header(2, "authorization")), (None, Some(format!("Bearer {KEY}"))));
    for index in [1, 3] {
        assert_eq!((header(index, "x-api-key"), header(index, "authorization")), (None, None));
    }
    for request in &requests {
        assert_eq!(request.header("x-team"), Some("blue"));
        assert_eq!(request.header("accept-encoding"), Some("identity"));
        assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("bosun/")));
    }
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_step() {
    for wire in WIRES {
        let server = ModelServer::start();
        server.once("one").once("two");
        let model = model(&server, wire);
        for _ in 0..2 {
            message_of(&*model, hello()).await.unwrap();
        }
        let requests = server.requests();
        assert_eq!(requests[0].connection, requests[1].connection);
    }
}

/// N01 over the network. Whatever arrives, it is the whole message or an error that may be tried again.
#[tokio::test]
async fn a_reply_cut_at_any_byte_never_makes_a_call() {
    for wire in WIRES {
        let reply = Reply::text("Hm.").and_call_with_id("c", "ls", json!({ "path": "/a" })).delta_chars(6);
        let length = wire.recording(&reply).len();
        let server = ModelServer::start();
        // Every byte is tried without the network (`driver_tests`); a long recording is cut at some hundred places here.
        let step = if length > 2_000 { length / 250 } else { 1 };
        for at in (0..length).step_by(step) {
            server.once(reply.clone().ending(Ending::CutAfterBytes(at)));
        }
        let model = model(&server, wire);
        let calls = stream::iter((0..length).step_by(step)).map(|_| message_of(&*model, hello())).buffer_unordered(16);
        let results: Vec<_> = calls.collect().await;
        for result in &results {
            match result {
                Ok(message) => assert_eq!(message.tool_calls[0].args, json!({ "path": "/a" })),
                Err(error) => assert!(error.is_retryable() || error.kind == ModelErrorKind::NotAModelServer, "{error}"),
            }
        }
        // Chat Completions says that it is complete before its last bytes; the others say it with them.
        let whole = results.iter().filter(|result| result.is_ok()).count();
        assert!(if wire == Wire::OpenAi { whole > 0 && whole < length / 2 } else { whole == 0 }, "{whole}");
    }
}

#[tokio::test]
async fn a_cut_inside_the_arguments_is_an_error() {
    for wire in WIRES {
        for ending in [Ending::CutInCall, Ending::EndAfterBytes(700)] {
            let reply = Reply::text("Hm.").and_call("write_file", json!({ "content": "x".repeat(500) })).ending(ending);
            assert_eq!(error_of(wire, reply).await.kind, ModelErrorKind::StreamCut);
        }
    }
}

#[tokio::test]
async fn statuses_keep_the_providers_words_and_their_meaning() {
    use ModelErrorKind::*;
    let table = [
        (400, "invalid_request_error", "messages: field required", InvalidRequest),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", ContextOverflow),
        (401, "authentication_error", "invalid x-api-key", Unauthorized),
        (403, "permission_error", "not for you", Unauthorized),
        (404, "not_found_error", "model: nope", NotFound),
        (408, "timeout_error", "too slow", Timeout),
        (409, "conflict", "conflict", Unavailable),
        (413, "request_too_large", "too large", ContextOverflow),
        (429, "rate_limit_error", "slow down", RateLimited),
        (429, "insufficient_quota", "no money", Billing),
        (500, "api_error", "internal", Unavailable),
        (502, "bad_gateway", "bad gateway", Unavailable),
        (503, "service_unavailable", "later", Unavailable),
        (504, "timeout_error", "gateway", Timeout),
        (529, "overloaded_error", "Overloaded", Unavailable),
    ];
    for wire in WIRES {
        for (status, kind, words, wanted) in table {
            let error = error_of(wire, Reply::error(status, kind, words)).await;
            assert_eq!((error.kind, error.status, error.message.as_str()), (wanted, Some(status), words));
            assert_eq!(error.provider, "test");
        }
        let waits = [("7", Some(7)), ("1000000000", Some(600)), ("soon", None)];
        for (header, seconds) in waits {
            let error = error_of(wire, Reply::error(429, "rate_limit_error", "slow down").retry_after(header)).await;
            assert_eq!(error.retry_after, seconds.map(Duration::from_secs));
        }
    }
}

#[tokio::test]
async fn no_error_holds_the_key() {
    let echo = format!("bad key {KEY} in x-api-key: {KEY}");
    for wire in WIRES {
        let replies = [
            Reply::error(401, "authentication_error", &echo),
            Reply::http(500, echo.clone()),
            Reply::text("a").and_error("api_error", echo.clone()),
            Reply::html(format!("<html><title>{KEY}</title>")),
            Reply::redirect(format!("https://evil.example/?key={KEY}")),
            Reply::new().and_raw(format!("data: {{\"type\": {KEY}}}\n\n")),
        ];
        for reply in replies {
            let error = error_of(wire, reply).await;
            assert!(!format!("{error:?}").contains("canary"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = ModelServer::start();
    for wire in WIRES {
        let error = error_of(wire, Reply::redirect(format!("{}/v1/messages", other.url()))).await;
        assert_eq!((error.kind, error.status), (ModelErrorKind::NotAModelServer, Some(307)));
        assert!(error.message.contains(&other.url()), "{error}");
    }
    // Whatever the status and wherever it leads: elsewhere, to no TLS, to a file, to another path of the same host.
    let server = ModelServer::start();
    let elsewhere = [other.url(), "http://models.example/v1".into(), "file:///etc/passwd".into(), "/v2".into()];
    for wire in WIRES {
        let statuses = [301, 302, 303, 307, 308].into_iter().zip(elsewhere.iter().cycle());
        for (status, to) in statuses {
            server.once(Reply::http(status, "").header("location", to));
            let before = server.requests().len();
            let (_, error) = events_of(&*model(&server, wire), hello()).await;
            let error = error.unwrap();
            assert_eq!((error.kind, error.status), (ModelErrorKind::NotAModelServer, Some(status)), "{wire}: {error}");
            assert_eq!(server.requests().len(), before + 1, "{wire} {status} {to}");
        }
    }
    assert_eq!(other.requests(), []);
}

/// N12: what nobody can have read or written is unknown; the reply counts all the same.
#[tokio::test]
async fn absurd_usage_is_unknown_and_the_reply_counts() {
    for wire in WIRES {
        let server = ModelServer::start();
        for absurd in [1_000_000_000_000, u64::MAX / 2] {
            let usage =
                Usage { input: Some(absurd), output: Some(absurd), cache_read: Some(absurd), ..Usage::default() };
            server.once(Reply::text("Here.").usage(usage));
            let message = message_of(&*model(&server, wire), hello()).await.unwrap();
            let counted = message.usage.unwrap_or_default();
            assert_eq!((message.text().as_str(), counted.input, counted.output), ("Here.", None, None), "{wire}");
            assert_eq!(counted.cache_read, None, "{wire}");
        }
    }
}

#[tokio::test]
async fn what_is_no_model_server_is_called_so() {
    for wire in WIRES {
        let replies = [
            Reply::html("<!DOCTYPE html><html><head><title>Hotel WiFi</title></head></html>"),
            Reply::http(200, "<html>").header("content-type", "text/plain"),
            Reply::http(200, r#"{"hello": "world"}"#).header("content-type", "application/json"),
            Reply::http(200, "hello"),
            Reply::new().and_raw("no events\n\n").ending(Ending::EndAfterBytes(8)),
        ];
        for reply in replies {
            let error = error_of(wire, reply).await;
            assert_eq!(error.kind, ModelErrorKind::NotAModelServer, "{error}");
        }
        let refused = Reply::http(200, r#"{"error": {"message": "no credit", "code": "insufficient_quota"}}"#);
        let error = error_of(wire, refused.header("content-type", "application/json")).await;
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Billing, "no credit"));
    }
}

#[tokio::test]
async fn bombs_are_bounded() {
    let line: &[u8] = include_bytes!("../fixtures/line.gz");
    let comments: &[u8] = include_bytes!("../fixtures/comments.br");
    // One wire for each way of framing.
    for (wire, comments_are) in
        [(Wire::Anthropic, ModelErrorKind::Protocol), (Wire::Ollama, ModelErrorKind::NotAModelServer)]
    {
        for (body, encoding, wanted) in
            [(line, "gzip", ModelErrorKind::NotAModelServer), (comments, "br", comments_are)]
        {
            let reply = Reply::http(200, body).header("content-encoding", encoding);
            let error = error_of(wire, reply.header("content-type", "text/event-stream")).await;
            assert_eq!(error.kind, wanted, "{error}");
        }
        let bomb = Reply::http(500, line).header("content-encoding", "gzip");
        assert_eq!(error_of(wire, bomb).await.kind, ModelErrorKind::Unavailable);
    }
}

#[tokio::test]
async fn spoiled_streams_are_typed_errors() {
    for wire in WIRES {
        for raw in ["data: {not json}\n\n", "data: [1]\n\n", "data: \"text\"\n\n"] {
            let error = error_of(wire, Reply::text("a").and_raw(raw)).await;
            assert_eq!(error.kind, ModelErrorKind::Protocol, "{error}");
        }
        let error = error_of(wire, Reply::text("a").and_error("overloaded_error", "Overloaded")).await;
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Unavailable, "Overloaded"));
    }
}

#[tokio::test]
async fn unknown_events_and_pings_are_passed_over() {
    for wire in WIRES {
        let server = ModelServer::start();
        let unknown = match wire {
            Wire::Ollama => "{\"type\": \"sparkle\", \"delta\": 7}\n\n  \n",
            _ => "event: sparkle\ndata: {\"type\": \"sparkle\", \"delta\": 7}\n\n: comment\n\nid: 4\nretry: 10\n\n",
        };
        server.once(Reply::text("a").and_raw(unknown).part(Part::Ping).and_text("b"));
        assert_eq!(message_of(&*model(&server, wire), hello()).await.unwrap().text(), "ab");
    }
}

#[tokio::test]
async fn silence_is_given_up() {
    for wire in WIRES {
        let hang = |ending| Reply::text("some text").ending(ending);
        let cases = [
            (hang(Ending::HangBeforeHeaders), "sent no answer for 0.3 s"),
            (hang(Ending::HangAfterBytes(0)), "sent nothing for 0.3 s"),
            (hang(Ending::HangAfterBytes(100)), "sent nothing more for 0.2 s"),
        ];
        for (reply, words) in cases {
            let error = error_within(wire, reply, short(300, 200, 60_000)).await;
            assert_eq!(error.kind, ModelErrorKind::Timeout);
            assert!(error.message.contains(words), "{error}");
        }
        let mut trickle = Reply::text("a");
        for _ in 0..100 {
            trickle = trickle.part(Part::Ping).and_pause(Duration::from_millis(20));
        }
        let error = error_within(wire, trickle, short(60_000, 60_000, 300)).await;
        assert!(error.message.contains("still sending the same reply after 0.3 s"), "{error}");
    }
}

/// N19: the clock leaps in the middle of a reply, as when a machine wakes up again.
#[tokio::test]
async fn eight_hours_of_sleep_end_a_reply_and_nothing_is_sent_twice() {
    for wire in WIRES {
        let server = ModelServer::start();
        // Some begin with an event of several hundred bytes.
        let long = "the first half of it, and the second half. ".repeat(100);
        server.once(Reply::text(long).ending(Ending::HangAfterBytes(2_000)));
        let mut events = model(&server, wire).stream(hello()).await.unwrap();
        let mut seen = vec![events.next().await.unwrap().unwrap()];
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(8 * 3_600)).await;
        let error = loop {
            match events.next().await.unwrap() {
                Ok(event) => seen.push(event),
                Err(error) => break error,
            }
        };
        tokio::time::resume();
        assert_eq!(error.kind, ModelErrorKind::Timeout, "{wire}: {error}");
        assert!(!seen.iter().any(|event| matches!(event, ModelEvent::Finished { .. })), "{wire}: {seen:?}");
        assert_eq!(server.requests().len(), 1, "{wire}");
    }
}

#[tokio::test]
async fn pings_count_as_life() {
    for wire in WIRES {
        let server = ModelServer::start();
        let mut slow = Reply::text("a");
        for _ in 0..12 {
            slow = slow.part(Part::Ping).and_pause(Duration::from_millis(100));
        }
        server.once(slow.and_text("b"));
        let model = connect_within(&config(&server, wire), model_of(wire), short(60_000, 1_000, 60_000)).unwrap();
        assert_eq!(message_of(&*model, hello()).await.unwrap().text(), "ab");
    }
}

#[tokio::test]
async fn dropping_cancels_in_every_state() {
    for wire in WIRES {
        let server = ModelServer::start();
        server.once(Reply::hang()).once(Reply::text("before").and_gate("never").and_text("after"));
        let model = model(&server, wire);
        let mut waiting = model.stream(hello());
        tokio::select! {
            _ = &mut waiting => unreachable!("the server hangs"),
            () = server.saw_requests(1) => {}
        }
        drop(waiting);
        assert_eq!(server.outcome(0).await, Outcome::ClientGone);

        let mut stream = model.stream(hello()).await.unwrap();
        while !matches!(stream.next().await, Some(Ok(ModelEvent::TextDelta { .. }))) {}
        server.gate("never").reached().await;
        drop(stream);
        assert_eq!(server.outcome(1).await, Outcome::ClientGone);
    }
}

/// However far a reply has come, the server sees the client go at once.
#[tokio::test]
async fn cancelling_closes_the_connection_at_any_byte_within_a_tenth_of_a_second() {
    let reply = Reply::text("Grüße.").and_call("ls", json!({ "path": "/a" })).delta_chars(2);
    let mut waits = Vec::new();
    for wire in WIRES {
        let length = wire.recording(&reply).len();
        let server = ModelServer::start();
        let model = model(&server, wire);
        for (number, part) in (0..12).enumerate() {
            let at = length * part / 12 + part % 3;
            server.once(reply.clone().ending(Ending::HangAfterBytes(at)));
            let mut stream = model.stream(hello()).await.unwrap();
            // All that the server lets out is read; then nothing more comes.
            while let Ok(Some(_)) = tokio::time::timeout(Duration::from_millis(10), stream.next()).await {}
            let start = std::time::Instant::now();
            drop(stream);
            assert_eq!(server.outcome(number).await, Outcome::ClientGone);
            waits.push(start.elapsed());
        }
    }
    waits.sort();
    // One busy moment of the machine is not what is promised.
    let most = waits[waits.len() * 9 / 10];
    assert!(most < Duration::from_millis(100), "{most:?} of {waits:?}");
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    let port = ModelServer::start().port();
    for family in Family::ALL {
        let path = match family {
            Family::OpenAiChat | Family::OpenAiResponses => "/v1",
            Family::Vertex => "/v1/projects/p/locations/l",
            _ => "",
        };
        let config = ProviderConfig::new("gone", family, format!("http://127.0.0.1:{port}{path}"));
        let model = connect(&config, "m").unwrap();
        let error = events_of(&*model, hello()).await.1.unwrap();
        assert_eq!((error.kind, error.is_retryable()), (ModelErrorKind::Network, true));
        assert!(error.message.starts_with("nothing answers at http://127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn models_are_listed_and_a_test_call_tells_the_truth() {
    for wire in WIRES {
        let script = Script { models: vec!["a".into(), "b".into()], key: Some(KEY.into()), ..Script::default() };
        let server = ModelServer::with(script);
        let right = config(&server, wire);
        let names: Vec<_> = list_models(&right).await.unwrap().into_iter().map(|model| model.name).collect();
        assert_eq!(names, ["a", "b"]);
        server.once("ready");
        assert_eq!(test_call(&*connect(&right, "a").unwrap()).await.unwrap(), "ready");
        let sent = server.requests().last().unwrap().json();
        // The name of a model without a vendor's beginning is one of Google's there.
        let wire = if wire == Wire::Vertex { Wire::VertexGemini } else { wire };
        let limit = match wire {
            Wire::OpenAiResponses => &sent["max_output_tokens"],
            Wire::Gemini | Wire::VertexGemini => &sent["generationConfig"]["maxOutputTokens"],
            Wire::Ollama => &sent["options"]["num_predict"],
            _ => &sent["max_tokens"],
        };
        assert_eq!(limit, 16);

        let wrong = right.clone().with_key("sk-wrong-0123456789");
        let refused = test_call(&*connect(&wrong, "a").unwrap()).await.unwrap_err();
        let errors = [list_models(&wrong).await.unwrap_err(), refused];
        for error in errors {
            assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Unauthorized, "invalid x-api-key"));
        }
        server.answer_models_with(Reply::html("<html><title>Router</title>"));
        assert_eq!(list_models(&right).await.unwrap_err().kind, ModelErrorKind::NotAModelServer);
        server.answer_models_with(Reply::http(200, r#"{"data": 7}"#));
        assert_eq!(list_models(&right).await.unwrap_err().kind, ModelErrorKind::NotAModelServer);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_it_is() {
    let server = ModelServer::start();
    for wire in WIRES {
        let good = config(&server, wire);
        let refused = |config: &ProviderConfig, name| connect(config, name).err().map(|error| error.kind);
        assert_eq!(refused(&good.clone().with_key("two\nlines"), "m"), Some(ModelErrorKind::Unauthorized));
        assert_eq!(refused(&good.clone().with_header("bad name", "x"), "m"), Some(ModelErrorKind::InvalidRequest));
        assert_eq!(refused(&good.clone().with_header("x", "a\nb"), "m"), Some(ModelErrorKind::InvalidRequest));
        assert_eq!(refused(&good, " "), Some(ModelErrorKind::NotFound));
        let nowhere = ProviderConfig { base_url: "localhost".into(), ..good };
        assert_eq!(refused(&nowhere, "m"), Some(ModelErrorKind::NotFound));
    }
    assert_eq!(server.requests(), []);
}

/// Prints what a long reply and many steps cost over HTTP; run it with `--run-ignored only --no-capture`.
#[tokio::test]
#[ignore = "a measurement"]
async fn cost_over_http() {
    for wire in WIRES {
        let server = ModelServer::with(Script { log: bosun_testkit::Log::Off, ..Script::default() });
        server.once(Reply::new().part(Part::Deltas { text: "word ".into(), count: 20_000 }));
        let model = model(&server, wire);
        let start = std::time::Instant::now();
        let (events, _) = events_of(&*model, hello()).await;
        println!("{wire}: {} events in {:?}", events.len(), start.elapsed());

        server.add(Rule::looped(400, "read_file", json!({ "file_path": "/f{n}.txt" }), "done"));
        let mut request = hello();
        for number in 0..=400 {
            if number % 100 == 0 {
                println!("{wire}: step {number} at {:?}", start.elapsed());
            }
            let reply = message_of(&*model, request.clone()).await.unwrap();
            let results: Vec<_> = reply
                .tool_calls
                .iter()
                .map(|call| bosun_model::ToolMessage {
                    call_id: call.id.clone(),
                    name: call.name.clone(),
                    status: bosun_model::ToolStatus::Success,
                    content: vec!["x".repeat(400).into()],
                })
                .collect();
            request.messages.push(Message::Ai(reply).into());
            request.messages.extend(results.into_iter().map(|result| Message::Tool(result).into()));
        }
    }
}
