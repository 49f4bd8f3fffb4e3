use bosun_model::{ChatRequest, Effort, OutputSchema, ToolChoice};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::openai_chat::OpenAiChat;
use crate::testing::{attachments, conversation, hello, info};

fn body(request: &ChatRequest, host: &str) -> Value {
    let adapter = OpenAiChat::at(host);
    crate::testing::body(&adapter, request, &info("test-model"))
}

const LOCAL: &str = "127.0.0.1:11434";
const VENDOR: &str = "api.openai.com";

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body(&hello(), LOCAL));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body(&conversation(), LOCAL));
}

#[test]
fn what_cannot_be_carried_is_named() {
    assert_json_snapshot!(body(&attachments(), LOCAL)["messages"]);
}

#[test]
fn reasoning_goes_back_to_the_host_it_came_from_with_every_message_that_called() {
    let back = |host| {
        let body = body(&conversation(), host);
        let turns = body["messages"].as_array().unwrap().clone();
        turns.into_iter().filter(|turn| turn["role"] == "assistant").map(|turn| turn["reasoning_content"].clone())
    };
    assert_eq!(back(VENDOR).collect::<Vec<_>>(), [json!("Aloud."), json!("")]);
    assert_eq!(back(LOCAL).collect::<Vec<_>>(), [Value::Null, Value::Null]);
}

#[test]
fn the_output_limit_has_the_name_that_the_host_takes() {
    let asked = ChatRequest { max_output: Some(16), ..hello() };
    let limit = |host| (body(&asked, host)["max_tokens"].clone(), body(&asked, host)["max_completion_tokens"].clone());
    assert_eq!(limit(LOCAL), (json!(16), Value::Null));
    assert_eq!(limit(VENDOR), (Value::Null, json!(16)));
}

#[test]
fn tool_choices() {
    let choose = |tool_choice| body(&ChatRequest { tool_choice, ..conversation() }, LOCAL)["tool_choice"].clone();
    assert_eq!(choose(ToolChoice::Auto), Value::Null);
    assert_eq!(choose(ToolChoice::None), json!("none"));
    assert_eq!(choose(ToolChoice::Required), json!("required"));
    assert_eq!(choose(ToolChoice::Tool("ls".into())), json!({ "type": "function", "function": { "name": "ls" } }));
}

#[test]
fn all_that_can_be_asked_for() {
    let request = ChatRequest {
        max_output: Some(1_000),
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: json!({ "type": "object" }) }),
        ..hello()
    };
    let of = |host, model| crate::testing::body(&OpenAiChat::at(host), &request, &info(model));
    assert_json_snapshot!(of(VENDOR, "o4-mini"));
    // DeepSeek takes no schema, and thinks or does not.
    assert_json_snapshot!("by_a_server_of_its_own_kind", of("api.deepseek.com", "deepseek-v4-pro"));
    // Mistral refuses fields that it does not know.
    assert_eq!(of("api.mistral.ai", "mistral-large-latest")["stream_options"], Value::Null);
}
