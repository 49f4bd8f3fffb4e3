use bosun_model::{ChatRequest, ContentBlock, Effort, Message, OutputSchema, Reasoning, ToolChoice};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::adapter::{Adapter, LeftOut};
use crate::config::Family;
use crate::openai_responses::OpenAiResponses;
use crate::testing::{attachments, config, conversation, endpoint, hello, info, ready, strict};
use crate::{KnownModel, ProviderConfig};

fn body_of(request: &ChatRequest, model: &str) -> Value {
    let adapter = OpenAiResponses::new(&endpoint(&config(Family::OpenAiResponses)));
    crate::testing::body(&adapter, request, &ready(Family::OpenAiResponses, model))
}

fn body(request: &ChatRequest) -> Value {
    body_of(request, "gpt-5.4")
}

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body_of(&hello(), "gpt-4.1"));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body(&conversation()));
}

#[test]
fn what_cannot_be_carried_is_named() {
    assert_json_snapshot!(body(&attachments())["input"]);
}

#[test]
fn all_that_can_be_asked_for() {
    let request = ChatRequest {
        tool_choice: ToolChoice::Tool("ls".into()),
        max_output: Some(1_000),
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: strict() }),
        conversation: Some("session-1".into()),
        tools: conversation().tools,
        ..hello()
    };
    assert_json_snapshot!(body(&request));
    assert_eq!(body_of(&request, "gpt-4.1")["reasoning"], Value::Null);
    assert_eq!(body(&ChatRequest { max_output: Some(1), ..hello() })["max_output_tokens"], 16);
    let loose = OutputSchema { name: "answer".into(), schema: json!({ "type": "object" }) };
    let loose = ChatRequest { output: Some(loose), ..hello() };
    assert_eq!(body(&loose)["text"]["format"]["strict"], false, "it would be refused as a strict one");
    let elsewhere = ProviderConfig::new("gate", Family::OpenAiResponses, "https://gate.example/v1");
    let elsewhere = OpenAiResponses::new(&endpoint(&elsewhere));
    assert_eq!(crate::testing::body(&elsewhere, &request, &info("gpt-5.4"))["prompt_cache_key"], Value::Null);
}

#[test]
fn reasoning_goes_back_to_its_own_host_and_only_before_what_came_of_it() {
    let item = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" });
    let from = |host: &str, item: &Value| {
        let opaque = Some(json!({ "responses": host, "item": item }));
        ContentBlock::Reasoning(Reasoning { opaque, ..Reasoning::default() })
    };
    let sent = |content: Vec<ContentBlock>, model: &str| {
        let mut request = hello();
        let Message::Ai(mut reply) = (*conversation().messages[1]).clone() else { panic!() };
        (reply.content, reply.tool_calls, reply.invalid_tool_calls) = (content, vec![], vec![]);
        request.messages.push(Message::Ai(reply).into());
        let input = body_of(&request, model)["input"].as_array().unwrap()[1..].to_vec();
        input.iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let own = from("api.openai.com", &item);
    assert_eq!(sent(vec![own.clone(), "Hi".into()], "gpt-5.4"), ["reasoning", "message"]);
    assert_eq!(sent(vec![own.clone(), "Hi".into()], "gpt-4.1"), ["message"]);
    assert_eq!(sent(vec!["Hi".into(), own], "gpt-5.4"), ["message"]);
    assert_eq!(sent(vec![from("gate.example", &item), "Hi".into()], "gpt-5.4"), ["message"]);
    let stored = json!({ "type": "reasoning", "id": "rs_1", "summary": [] });
    assert_eq!(sent(vec![from("api.openai.com", &stored), "Hi".into()], "gpt-5.4"), ["message"]);
}

/// Another organization's key cannot read what was sealed; nothing else of the conversation is lost.
#[test]
fn what_a_server_refused_is_left_out_of_the_next_try() {
    let leaving = |out| {
        let adapter = OpenAiResponses::new(&endpoint(&config(Family::OpenAiResponses))).leaving(out).unwrap();
        let request = ChatRequest { effort: Some(Effort::High), ..conversation() };
        let body = crate::testing::body(&*adapter, &request, &info("gpt-5.4"));
        let sealed = body["input"].as_array().unwrap().iter().filter(|item| item["type"] == "reasoning").count();
        (sealed, body["input"].as_array().unwrap().len(), body["reasoning"].clone(), body["include"].clone())
    };
    let include = json!(["reasoning.encrypted_content"]);
    let (high, summed) = (json!({ "effort": "high" }), json!({ "effort": "high", "summary": "auto" }));
    let (sealed, all, ..) = leaving(LeftOut::default());
    assert_eq!(sealed, 1);
    assert_eq!(leaving(LeftOut::THOUGHTS), (0, all - 1, summed, include.clone()));
    assert_eq!(leaving(LeftOut::SUMMARIES), (1, all, high.clone(), include.clone()));
    assert_eq!(leaving(LeftOut::THOUGHTS.and(LeftOut::SUMMARIES)), (0, all - 1, high, include));
}

#[test]
fn a_summary_is_asked_for_of_every_model_that_thinks() {
    let asked = |model: &str, effort| body_of(&ChatRequest { effort, ..hello() }, model)["reasoning"].clone();
    assert_eq!(asked("gpt-5.4", None), json!({ "summary": "auto" }));
    assert_eq!(asked("gpt-5.4", Some(Effort::Off)), json!({ "effort": "none" }), "there is nothing to sum up");
    assert_eq!(asked("o4-mini", Some(Effort::Off)), json!({ "effort": "low", "summary": "auto" }));
    assert_eq!(asked("grok-build-0.1", Some(Effort::High)), json!({ "summary": "auto" }), "it refuses a word for it");
    assert_eq!(asked("grok-4.7", Some(Effort::Max)), json!({ "effort": "xhigh", "summary": "auto" }));
    assert_eq!(asked("gpt-4.1", None), Value::Null);
}

#[test]
fn models_that_think_are_known_by_their_names_too() {
    let thinks = |name: &str| {
        let body = body_of(&ChatRequest { effort: Some(Effort::High), ..hello() }, name);
        assert_eq!(body["include"].is_null(), body["reasoning"].is_null(), "{name}");
        !body["include"].is_null()
    };
    assert!(thinks("o5") && thinks("gpt-5.9-codex") && thinks("gpt-6") && thinks("openai/o3-mini"));
    assert!(!thinks("gpt-4o") && !thinks("gpt-4.1") && !thinks("chatgpt-4o-latest") && !thinks("olmo"));
    assert!(!thinks("gpt-5-chat") && !thinks("gpt-5-chat-latest"), "they refuse every word of it");
}

#[test]
fn what_a_person_says_of_thinking_counts_before_a_name() {
    let known =
        KnownModel { name: "gpt-5-of-ours".into(), reasoning: Some(false), by_person: true, ..KnownModel::default() };
    let config = ProviderConfig { known: vec![known], ..config(Family::OpenAiResponses) };
    let adapter = OpenAiResponses::new(&endpoint(&config));
    let request = ChatRequest { effort: Some(Effort::High), ..hello() };
    let sent = |info| crate::testing::body(&adapter, &request, &info);
    let body = sent(config.ready(info("gpt-5-of-ours")));
    assert_eq!((&body["include"], &body["reasoning"]), (&Value::Null, &Value::Null));
    let body = sent(ready(Family::OpenAiResponses, "gpt-5-of-ours"));
    assert_eq!(body["reasoning"]["effort"], "high");
}

/// A word on the way that comes back as an answer makes the model stop early.
#[test]
fn what_was_said_on_the_way_and_what_was_the_answer_go_back_as_that_to_the_host_that_said_so() {
    let phase = |host: &str, phase: &str| {
        let opaque = Some(json!({ "responses": host, "phase": phase }));
        ContentBlock::Reasoning(Reasoning { opaque, ..Reasoning::default() })
    };
    let sent = |host: &str, model: &str| {
        let Message::Ai(mut reply) = (*conversation().messages[7]).clone() else { panic!() };
        reply.content = vec!["I look.".into(), phase(host, "commentary"), "So.".into(), phase(host, "final_answer")];
        reply.tool_calls.clear();
        let request = ChatRequest { messages: vec![Message::Ai(reply).into()].into(), ..ChatRequest::default() };
        body_of(&request, model)["input"].as_array().unwrap().clone()
    };
    let said = |text: &str, phase: Option<&str>| {
        let mut item = json!({ "type": "message", "role": "assistant", "content": text });
        if let Some(phase) = phase {
            item["phase"] = json!(phase);
        }
        item
    };
    let whole = [said("I look.", Some("commentary")), said("So.", Some("final_answer"))];
    assert_eq!(sent("api.openai.com", "gpt-5.4"), whole);
    let bare = [said("I look.", None), said("So.", None)];
    assert_eq!(sent("gate.example", "gpt-5.4"), bare);
    assert_eq!(sent("api.openai.com", "gpt-4.1"), bare, "which knows nothing of it");
}

/// A result of xAI's takes pictures and no documents.
#[test]
fn a_document_stands_beside_its_result_where_it_cannot_stand_in_it() {
    let sent = |base_url: &str| {
        let config = ProviderConfig::new("p", Family::OpenAiResponses, base_url);
        let adapter = OpenAiResponses::new(&endpoint(&config));
        crate::testing::body(&adapter, &conversation(), &info("m"))["input"].as_array().unwrap().clone()
    };
    let kinds = |item: &Value, field: &str| {
        let parts = item[field].as_array().cloned().unwrap_or_default();
        parts.iter().map(|part| part["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let result = |items: &[Value]| items.iter().find(|item| item["output"].is_array()).cloned().unwrap();
    assert_eq!(kinds(&result(&sent("https://api.openai.com/v1")), "output"), ["input_image", "input_file"]);
    let items = sent("https://api.x.ai/v1");
    assert_eq!(kinds(&result(&items), "output"), ["input_image"]);
    let at = items.iter().position(|item| kinds(item, "content") == ["input_text", "input_file"]).unwrap();
    assert_eq!((&items[at]["role"], &items[at - 1]["type"]), (&json!("user"), &json!("function_call_output")));
    assert_eq!(items[at]["content"][0]["text"], "Attached by read_file (c2):");

    let Message::Tool(mut alone) = (*conversation().messages[3]).clone() else { panic!() };
    alone.content.remove(0);
    let request = ChatRequest { messages: vec![Message::Tool(alone).into()].into(), ..ChatRequest::default() };
    let config = ProviderConfig::new("p", Family::OpenAiResponses, "https://api.x.ai/v1");
    let body = crate::testing::body(&OpenAiResponses::new(&endpoint(&config)), &request, &info("m"));
    assert_eq!(body["input"][0]["output"], "[see the attachment below]");
    assert_eq!(kinds(&body["input"][1], "content"), ["input_text", "input_file"]);
}
