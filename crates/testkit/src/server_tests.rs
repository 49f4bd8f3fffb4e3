use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{Asked, Ending, Http, ModelServer, Order, Outcome, Pattern, Reply, Rule, Script, Speaker, When, Wire};

/// Sends one request and gives all that comes back until the server closes or says that the body is over.
fn post(server: &ModelServer, path: &str, body: &str) -> String {
    let mut socket = send(server, path, body);
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read) = socket.read(&mut buffer)
        && read > 0
    {
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer);
        if text.ends_with("0\r\n\r\n") || (text.contains("content-length:") && text.ends_with('}')) {
            break;
        }
    }
    String::from_utf8(answer).unwrap()
}

fn send(server: &ModelServer, path: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    write!(socket, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    socket
}

fn human(text: &str) -> String {
    json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": text }] }).to_string()
}

const OPENAI: &str = "/v1/chat/completions";
const ANTHROPIC: &str = "/v1/messages";

#[test]
fn rules_answer_in_order_and_are_spent() {
    let server = ModelServer::start();
    server.add(Rule::last_contains("b").reply("first b").reply("second b")).once("anything");
    let texts = ["b", "a", "b"].map(|text| post(&server, OPENAI, &human(text)));
    assert!(texts[0].contains("first b"));
    assert!(texts[1].contains("anything"));
    assert!(texts[2].contains("second b"));
    assert!(post(&server, OPENAI, &human("b")).starts_with("HTTP/1.1 500"));
    assert!(server.take_unmatched()[0].contains("OpenAI"));
}

#[test]
#[should_panic(expected = "no rule for 1 request(s)")]
fn a_request_without_a_rule_fails_the_test() {
    let server = ModelServer::start();
    post(&server, ANTHROPIC, &human("surprise"));
}

#[tokio::test]
async fn a_gate_holds_what_follows_it() {
    let server = ModelServer::start();
    server.once(Reply::text("before").and_gate("g").and_text("after").delta_chars(99));
    let mut socket = send(&server, OPENAI, &human("x"));
    let gate = server.gate("g");
    gate.reached().await;
    let mut buffer = [0; 4096];
    let read = socket.read(&mut buffer).unwrap();
    let begun = String::from_utf8_lossy(&buffer[..read]).into_owned();
    assert!(begun.contains("before") && !begun.contains("after"));
    gate.open();
    assert_eq!(server.outcome(0).await, Outcome::Answered);
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    let server = ModelServer::start();
    server.once(Reply::hang()).once(Reply::text("a").and_gate("never"));
    for index in 0..2 {
        let socket = send(&server, OPENAI, &human("x"));
        server.saw_requests(index + 1).await;
        drop(socket);
        assert_eq!(server.outcome(index).await, Outcome::ClientGone);
    }
}

#[test]
fn a_cut_breaks_the_body_and_an_early_end_does_not() {
    let server = ModelServer::start();
    server
        .once(Reply::text("text").ending(Ending::CutAfterBytes(40)))
        .once(Reply::text("text").ending(Ending::EndAfterBytes(40)))
        .once(Reply::call("ls", json!({ "path": "/some/where" })).ending(Ending::CutInCall));
    let cut = post(&server, OPENAI, &human("x"));
    assert!(cut.contains("\r\n28\r\ndata: ") && !cut.ends_with("0\r\n\r\n"));
    assert!(post(&server, OPENAI, &human("x")).ends_with("\r\n0\r\n\r\n"));
    let in_call = post(&server, ANTHROPIC, &human("x"));
    assert!(in_call.contains("input_json_delta") && in_call.contains("path") && !in_call.contains("where"));
}

#[test]
fn a_turn_is_followed_from_the_request_alone() {
    let rule = Rule::turn("go").reply(Reply::call("ls", json!({}))).reply("done");
    let asked = |messages| {
        let body = json!({ "model": "m", "messages": messages }).to_string();
        Asked::parse(Wire::OpenAi, OPENAI, body.as_bytes()).unwrap()
    };
    let mut messages = vec![
        json!({ "role": "system", "content": "s" }),
        json!({ "role": "user", "content": "before" }),
        json!({ "role": "assistant", "content": "yes" }),
        json!({ "role": "user", "content": "go" }),
    ];
    assert_eq!(rule.answer(&asked(messages.clone()), 7), Some(Reply::call("ls", json!({}))));
    let call = json!({ "id": "c", "type": "function", "function": { "name": "ls", "arguments": "{}" } });
    messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    messages.push(json!({ "role": "tool", "tool_call_id": "c", "content": "/a" }));
    let second = asked(messages);
    assert_eq!((second.system.as_str(), second.tool_results(), second.last()), ("s", 1, "/a"));
    assert_eq!(rule.answer(&second, 0), Some(Reply::text("done")));
}

#[test]
fn anthropic_results_and_texts_of_one_message_are_told_apart() {
    let content = json!([
        { "type": "tool_result", "tool_use_id": "c", "content": [{ "type": "text", "text": "out" }] },
        { "type": "text", "text": "and now?" },
    ]);
    let system = json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }]);
    let body = json!({ "model": "m", "system": system, "messages": [{ "role": "user", "content": content }] });
    let asked = Asked::parse(Wire::Anthropic, ANTHROPIC, body.to_string().as_bytes()).unwrap();
    let said: Vec<_> = asked.said.iter().map(|said| (said.by, said.text.as_str())).collect();
    assert_eq!(said, [(Speaker::Tool, "out"), (Speaker::Human, "and now?")]);
    assert_eq!(asked.system, "one\n\ntwo");
}

#[test]
fn a_loop_counts_results_and_numbers_its_arguments() {
    let rule = Rule::looped(2, "read_file", json!({ "file_path": "/f{n}.txt" }), "done");
    let asked = |results: usize| {
        let said = vec![json!({ "role": "tool", "tool_call_id": "c", "content": "" }); results];
        let body = json!({ "model": "m", "messages": said }).to_string();
        Asked::parse(Wire::OpenAi, OPENAI, body.as_bytes()).unwrap()
    };
    assert_eq!(rule.answer(&asked(1), 0), Some(Reply::call("read_file", json!({ "file_path": "/f1.txt" }))));
    assert_eq!(rule.answer(&asked(2), 0), Some(Reply::text("done")));
}

#[test]
fn a_script_says_the_same_as_the_builders() {
    let script = Script::parse(
        r#"{"rules": [
            {"when": {"last": {"is": "a"}, "tool_results": 0}, "order": "repeat_last",
             "replies": ["hi", {"parts": [{"text": "x"}, "ping"], "ending": {"cut_after_bytes": 9}}]},
            {"replies": [{"http": {"status": 429, "body": {"a": 1}}, "headers": [["retry-after", "3"]]}]}
        ]}"#,
    )
    .unwrap();
    let when = When { last: Some(Pattern::Is("a".into())), tool_results: Some(0), ..When::default() };
    let cut = Reply::text("x").part(crate::Part::Ping).ending(Ending::CutAfterBytes(9));
    let wanted = Rule::when(when).order(Order::RepeatLast).reply("hi").reply(cut);
    let refused = Reply { http: Some(Http { status: 429, body: br#"{"a":1}"#.to_vec() }), ..Reply::new() };
    assert_eq!(format!("{:?}", script.rules[0]), format!("{wanted:?}"));
    assert_eq!(script.rules[1].replies, [refused.retry_after(3)]);
}

#[test]
fn a_wrong_script_says_what_is_wrong() {
    let error = Script::parse(r#"{"rules": [{"replies": [{"prats": []}]}]}"#).unwrap_err();
    assert!(error.to_string().contains("unknown field `prats`"), "{error}");
}

#[test]
fn the_control_address_adds_rules_opens_gates_and_shows_the_log() {
    let server = ModelServer::start();
    let rule = r#"{"replies": [{"parts": [{"gate": "g"}, {"text": "hello"}]}]}"#;
    assert!(post(&server, "/_control/rules", rule).starts_with("HTTP/1.1 200"));
    post(&server, "/_control/gates/g/open", "");
    assert!(post(&server, ANTHROPIC, &human("x")).contains("hello"));
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    socket.write_all(b"GET /_control/requests HTTP/1.1\r\n\r\n").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut log = String::new();
    socket.read_to_string(&mut log).unwrap();
    assert!(log.contains(r#""outcome":"answered""#), "{log}");
}
