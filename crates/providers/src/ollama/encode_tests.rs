use bosun_model::{ChatRequest, Effort, OutputSchema, ToolChoice};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::config::Family;
use crate::ollama::Ollama;
use crate::testing::{attachments, config, conversation, endpoint, hello, info};

fn body_of(request: &ChatRequest, model: &str) -> Value {
    let adapter = Ollama::new(&endpoint(&config(Family::Ollama)));
    crate::testing::body(&adapter, request, &info(model))
}

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body_of(&hello(), "qwen3:4b"));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body_of(&conversation(), "qwen3:4b"));
}

#[test]
fn what_cannot_be_carried_is_named() {
    assert_json_snapshot!(body_of(&attachments(), "qwen3:4b")["messages"]);
}

#[test]
fn all_that_can_be_asked_for() {
    let request = ChatRequest {
        max_output: Some(1_000),
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: json!({ "type": "object" }) }),
        tools: conversation().tools,
        ..hello()
    };
    assert_json_snapshot!(body_of(&request, "gpt-oss:20b"));
    let think = |model, effort| body_of(&ChatRequest { effort: Some(effort), ..hello() }, model)["think"].clone();
    assert_eq!(think("qwen3:4b", Effort::Off), false);
    assert_eq!(think("qwen3:4b", Effort::High), Value::Null);
    assert_eq!(think("deepseek-reasoner", Effort::High), true);
}

#[test]
fn a_choice_is_made_by_what_is_offered() {
    let offered = |tool_choice| {
        let request = ChatRequest { tool_choice, ..conversation() };
        body_of(&request, "qwen3:4b")["tools"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((offered(ToolChoice::Required), offered(ToolChoice::None)), (1, 0));
    assert_eq!((offered(ToolChoice::Tool("ls".into())), offered(ToolChoice::Tool("rm".into()))), (1, 0));
}

#[test]
fn the_window_is_asked_for_where_it_is_known() {
    let mut known = info("qwen3:4b");
    known.context_window = Some(32_768);
    let adapter = Ollama::new(&endpoint(&config(Family::Ollama)));
    let body = crate::testing::body(&adapter, &hello(), &known);
    assert_eq!(body["options"], json!({ "num_ctx": 32_768 }));
}
