use bosun_model::{
    CacheLifetime, CacheMarks, ChatRequest, ContentBlock, Effort, Message, OutputSchema, Reasoning, SystemBlock,
    ToolChoice,
};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Family;
use crate::adapter::{Adapter, LeftOut};
use crate::anthropic::{Anthropic, Dialect, Host};
use crate::endpoint::Endpoint;
use crate::testing::{attachments, conversation, hello, info};

fn body(request: &ChatRequest) -> Value {
    body_of(request, "claude-sonnet-4-6")
}

fn body_of(request: &ChatRequest, model: &str) -> Value {
    body_at("https://api.anthropic.com", request, model)
}

fn body_at(base_url: &str, request: &ChatRequest, model: &str) -> Value {
    crate::testing::body(&anthropic(base_url, model), request, &info(model))
}

fn anthropic(base_url: &str, model: &str) -> Anthropic {
    Anthropic::new(&Endpoint::parse("test", Family::Anthropic, base_url).unwrap(), model)
}

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body(&hello()));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body(&conversation()));
}

#[test]
fn what_cannot_be_carried_is_named() {
    assert_json_snapshot!(body(&attachments())["messages"]);
}

#[test]
fn the_output_limit_is_asked_for_known_or_careful() {
    assert_eq!(body(&hello())["max_tokens"], 32_000);
    assert_eq!(body_of(&hello(), "nobody-knows-1")["max_tokens"], 8_192);
    assert_eq!(body_of(&hello(), "claude-opus-6")["max_tokens"], 32_000, "its elders can do this");
    let asked = |most| body(&ChatRequest { max_output: Some(most), ..hello() })["max_tokens"].clone();
    assert_eq!((asked(16), asked(60_000)), (16.into(), 60_000.into()));
}

#[test]
fn tool_choices() {
    let choose = |tool_choice| body(&ChatRequest { tool_choice, ..conversation() })["tool_choice"].clone();
    assert_eq!(choose(ToolChoice::Auto), Value::Null);
    assert_eq!(choose(ToolChoice::None), json!({ "type": "none" }));
    assert_eq!(choose(ToolChoice::Required), json!({ "type": "any" }));
    assert_eq!(choose(ToolChoice::Tool("ls".into())), json!({ "type": "tool", "name": "ls" }));
    assert_eq!(body(&ChatRequest { tool_choice: ToolChoice::Required, ..hello() })["tool_choice"], Value::Null);
}

#[test]
fn there_are_never_more_breakpoints_than_the_wire_takes() {
    let block = |text: &str| SystemBlock { text: text.into(), cache: true };
    let request = ChatRequest { system: ["a", "b", "c", "d", "e"].map(block).into(), ..hello() };
    let body = body(&request);
    let cached: Vec<_> =
        body["system"].as_array().unwrap().iter().map(|block| block["cache_control"].is_object()).collect();
    assert_eq!(cached, [false, false, true, true, true]);
    assert!(body["messages"][0]["content"][0]["cache_control"].is_object());
}

#[test]
fn a_reply_that_says_nothing_is_left_out() {
    let Message::Ai(mut empty) = (*conversation().messages[7]).clone() else { panic!() };
    empty.tool_calls.clear();
    let mut request = hello();
    request.messages.push(Message::Ai(empty).into());
    request.messages.push(Message::human("h2", "again").into());
    assert_eq!(body(&request)["messages"].as_array().unwrap().len(), 1, "which is one turn of the person");
}

/// The wire refuses a reply that ends in thoughts, in every later request of its conversation.
#[test]
fn thoughts_that_nothing_came_of_are_left_out() {
    let thought = |text: &str| {
        let opaque = Some(json!({ "anthropic": "claude" }));
        ContentBlock::Reasoning(Reasoning { text: text.into(), signature: Some("sig".into()), opaque })
    };
    let hidden = json!({ "type": "redacted_thinking", "data": "b3Bh", "anthropic": "claude" });
    let hidden = ContentBlock::Reasoning(Reasoning { opaque: Some(hidden), ..Reasoning::default() });
    let reply = |content| {
        let Message::Ai(mut reply) = (*conversation().messages[7]).clone() else { panic!() };
        (reply.content, reply.tool_calls) = (content, vec![]);
        Message::Ai(reply)
    };
    let human = |text: &str| Message::human("h", text);
    let messages = [
        human("first"),
        reply(vec![thought("Hm."), "So.".into(), thought("And?"), hidden.clone()]),
        human("second"),
        reply(vec![thought("Hm."), hidden]),
        human("third"),
    ];
    let request = ChatRequest { messages: messages.map(std::sync::Arc::new).to_vec().into(), ..ChatRequest::default() };
    for model in ["claude-opus-4-6", "claude-opus-5-5"] {
        let body = body_of(&request, model);
        let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|turn| turn["role"].clone()).collect();
        assert_eq!(roles, ["user", "assistant", "user"], "the sides take turns");
    }
    assert_json_snapshot!(body_of(&request, "claude-opus-4-6")["messages"]);
}

#[test]
fn all_that_can_be_asked_for() {
    let request = ChatRequest {
        cache: CacheMarks {
            tools: true,
            conversation: true,
            lifetime: CacheLifetime::OneHour,
            ..CacheMarks::default()
        },
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: json!({ "type": "object" }) }),
        system: vec![SystemBlock { text: "Stable.".into(), cache: true }],
        tools: conversation().tools,
        ..hello()
    };
    assert_json_snapshot!(body(&request));
    assert_eq!(body_of(&request, "claude-haiku-4-5")["thinking"]["type"], "enabled");
}

#[test]
fn a_tool_that_must_be_called() {
    let tool_choice = ToolChoice::Tool("ls".into());
    let request = ChatRequest { tool_choice, tools: conversation().tools, ..hello() };
    assert_json_snapshot!(body(&request));
    let choice = |model: &str| body_of(&request, model).get("tool_choice").cloned();
    assert_eq!((choice("claude-opus-5-5"), choice("claude-opus-5").is_some()), (None, true));
}

#[test]
fn the_mark_of_the_conversation_stands_before_what_passes() {
    let said = || std::sync::Arc::new(Message::human("h", "said"));
    let marked = |messages: Vec<std::sync::Arc<Message>>, passing| {
        let cache = CacheMarks { conversation: true, passing, ..CacheMarks::default() };
        let body = body(&ChatRequest { messages: messages.into(), cache, ..ChatRequest::default() });
        let turns = body["messages"].as_array().unwrap();
        let blocks = turns.last().unwrap()["content"].as_array().unwrap().clone();
        blocks.iter().map(|block| block.get("cache_control").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(marked(vec![said(), said()], 0), [false, true]);
    assert_eq!(marked(vec![said(), said()], 1), [true, false]);
    let step = &conversation().messages[7..9];
    assert_eq!(marked([&[said()], step, &[said()]].concat(), 1), [true, false], "after the result");
    assert_eq!(marked([&[said()], step].concat(), 0), [true]);
    assert_eq!(marked(vec![said()], 1), [true], "nothing else is there to mark");
}

#[test]
fn a_mark_on_the_tools_is_one_of_the_four() {
    let block = |text: &str| SystemBlock { text: text.into(), cache: true };
    let cache = CacheMarks { tools: true, ..CacheMarks::default() };
    let system = ["a", "b", "c"].map(block).into();
    let body = body(&ChatRequest { system, cache, tools: conversation().tools, ..hello() });
    let marks = body.to_string().matches("cache_control").count();
    assert_eq!((marks, body["system"][0]["cache_control"].is_object()), (4, false));
}

/// What stands before a thought changes with memory, tools and summaries; the model's own host is told to live with that.
#[test]
fn thoughts_that_no_longer_fit_are_to_be_dropped_by_hosts_that_know_how() {
    let asked = |base_url: &str, model: &str, effort| {
        let body = body_at(base_url, &ChatRequest { effort, ..conversation() }, model);
        let mut headers = reqwest::header::HeaderMap::new();
        anthropic(base_url, model).add_headers(&mut headers);
        let thoughts = body["messages"][1]["content"][0]["type"] == "thinking";
        (body["thinking"]["block_binding"].clone(), headers.contains_key("anthropic-beta"), thoughts)
    };
    let drop = json!({ "prefix_mismatch_behavior": "drop_block" });
    let vendor = "https://api.anthropic.com";
    for effort in [None, Some(Effort::High), Some(Effort::Off)] {
        assert_eq!(asked(vendor, "claude-opus-5-5", effort), (drop.clone(), true, true));
    }
    assert_eq!(asked(vendor, "claude-opus-5", None), (Value::Null, false, true));
    assert_eq!(asked("https://gate.example", "claude-opus-5-5", None), (Value::Null, false, true));
    let off = asked(vendor, "claude-haiku-5-5", Some(Effort::Off));
    assert_eq!(off, (Value::Null, true, false), "nothing can be asked of who is not to think");
}

/// What is sent to those of 5.1 and later, whose fields the vendor's client knows as a beta.
#[test]
fn to_who_checks_what_stands_before_its_thoughts() {
    let request = ChatRequest { effort: Some(Effort::High), ..conversation() };
    assert_json_snapshot!(body_of(&request, "claude-fable-5-2"));
}

#[test]
fn to_who_thinks_between_its_calls_alone() {
    let request = ChatRequest { effort: Some(Effort::Off), ..conversation() };
    assert_json_snapshot!(body_of(&request, "claude-sonnet-5-5"));
}

#[test]
fn a_second_try_has_no_thoughts_in_it() {
    let model = "claude-opus-5-5";
    let adapter = anthropic("https://api.anthropic.com", model).leaving(LeftOut::THOUGHTS).unwrap();
    let body = crate::testing::body(&*adapter, &conversation(), &info(model));
    assert_eq!(body["messages"][1]["content"][0]["type"], "text");
    assert_eq!(body["thinking"], json!({ "type": "adaptive", "display": "summarized" }));
    let budget = ChatRequest { effort: Some(Effort::High), ..conversation() };
    let body = crate::testing::body(&*adapter, &budget, &info("claude-haiku-4-5"));
    assert_eq!(body.get("thinking"), None, "a budget wants the thoughts of a reply that goes on");
}

/// A signature of one maker is none to another; the vendor's models are the same wherever they run.
#[test]
fn thoughts_go_back_to_whoever_made_them() {
    let sent = |base_url: &str, opaque: Option<Value>| {
        let reasoning = Reasoning { text: "Hm.".into(), signature: Some("sig".into()), opaque };
        let Message::Ai(mut reply) = (*conversation().messages[7]).clone() else { panic!() };
        reply.content = vec![ContentBlock::Reasoning(reasoning)];
        let request = ChatRequest { messages: vec![Message::Ai(reply).into()].into(), ..ChatRequest::default() };
        let body = body_at(base_url, &request, "claude-opus-4-6");
        body["messages"][0]["content"][0]["type"] != "tool_use"
    };
    let (vendor, gate) = ("https://api.anthropic.com", "https://gate.example");
    let of = |origin: &str| Some(json!({ "anthropic": origin }));
    assert!(sent(vendor, of("claude")) && sent(gate, of("gate.example")));
    assert!(!sent(vendor, of("gate.example")) && !sent(gate, of("claude")));
    assert!(!sent(vendor, Some(json!({ "gemini": "h" }))), "another wire's");
    assert!(sent(vendor, None), "a journal from before the mark");
    let hidden = |origin| Some(json!({ "type": "redacted_thinking", "data": "b3Bh", "anthropic": origin }));
    assert!(sent(vendor, hidden("claude")) && !sent(vendor, hidden("gate.example")));
    let (bedrock, vertex) = (Dialect::new(Host::Bedrock, "m"), Dialect::new(Host::Vertex, "m"));
    assert_eq!((bedrock.host.origin(), vertex.host.origin()), ("claude", "claude"));
}
