use bosun_model::{ChatRequest, ContentBlock, Effort, Message, OutputSchema, Reasoning, ToolChoice};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::adapter::{Adapter, LeftOut};
use crate::config::Family;
use crate::gemini::Gemini;
use crate::testing::{attachments, config, conversation, endpoint, hello, info};

fn body_of(request: &ChatRequest, model: &str) -> Value {
    crate::testing::body(&adapter(model), request, &info(model))
}

fn adapter(model: &str) -> Gemini {
    Gemini::new(&endpoint(&config(Family::Gemini)), model)
}

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body_of(&hello(), "gemini-2.0-flash"));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body_of(&conversation(), "gemini-2.5-pro"));
}

#[test]
fn what_cannot_be_carried_is_named() {
    assert_json_snapshot!(body_of(&attachments(), "gemini-2.5-pro")["contents"]);
}

#[test]
fn all_that_can_be_asked_for() {
    let request = ChatRequest {
        tool_choice: ToolChoice::Tool("ls".into()),
        max_output: Some(1_000),
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: json!({ "type": "object" }) }),
        tools: conversation().tools,
        ..hello()
    };
    assert_json_snapshot!(body_of(&request, "gemini-3-pro-preview"));
    let mode = |tool_choice| {
        let request = ChatRequest { tool_choice, ..conversation() };
        body_of(&request, "gemini-2.5-pro")["toolConfig"]["functionCallingConfig"]["mode"].clone()
    };
    assert_eq!(mode(ToolChoice::Auto), Value::Null);
    assert_eq!(mode(ToolChoice::None), "NONE");
    assert_eq!(mode(ToolChoice::Required), "ANY");
}

#[test]
fn signatures_go_back_to_the_parts_they_came_with() {
    let sign = |host: &str, call: Option<&str>| {
        let mut opaque = json!({ "gemini": host });
        if let Some(call) = call {
            opaque["call"] = json!(call);
        }
        let signature = Some(format!("{}-{}", call.unwrap_or("text"), host.len()));
        ContentBlock::Reasoning(Reasoning { text: "Hm.".into(), signature, opaque: Some(opaque) })
    };
    let sent = |content: Vec<ContentBlock>, model: &str| {
        let mut request = conversation();
        let Message::Ai(mut reply) = (*request.messages[1]).clone() else { panic!() };
        reply.content = content;
        request.messages.truncate(1);
        request.messages.push(Message::Ai(reply).into());
        let parts = body_of(&request, model)["contents"][1]["parts"].as_array().unwrap().clone();
        parts.iter().map(|part| part["thoughtSignature"].as_str().map(String::from)).collect::<Vec<_>>()
    };
    let own = "generativelanguage.googleapis.com";
    let some = |text: &str| Some(text.to_owned());
    let signed = vec!["Looking.".into(), sign(own, None), sign(own, Some("functions.ls:0"))];
    assert_eq!(sent(signed, "gemini-3-pro"), [some("text-33"), some("functions.ls:0-33"), None, None]);
    let foreign = vec!["Looking.".into(), sign("other", Some("functions.ls:0"))];
    assert_eq!(sent(foreign.clone(), "gemini-3-pro"), [None, some("skip_thought_signature_validator"), None, None]);
    assert_eq!(sent(foreign, "gemini-2.5-pro"), [None, None, None, None]);
    assert_eq!(sent(vec![sign(own, None)], "gemini-2.5-pro")[0], some("text-33"));
}

/// A signature of another model is refused like one that was spoiled.
#[test]
fn signatures_are_those_of_their_model_and_a_second_try_has_none() {
    let host = "generativelanguage.googleapis.com";
    let request = |by: &str| {
        let opaque = json!({ "gemini": host, "model": by, "call": "c4" });
        let signed = Reasoning { text: "Hm.".into(), signature: Some("sig".into()), opaque: Some(opaque) };
        let Message::Ai(mut reply) = (*conversation().messages[7]).clone() else { panic!() };
        reply.content = vec![ContentBlock::Reasoning(signed)];
        ChatRequest { messages: vec![Message::Ai(reply).into()].into(), ..ChatRequest::default() }
    };
    let signature = |body: &Value| body["contents"][0]["parts"][0]["thoughtSignature"].clone();
    let skipped = json!("skip_thought_signature_validator");
    for model in ["gemini-3-pro", "models/gemini-3-pro"] {
        assert_eq!(signature(&body_of(&request("gemini-3-pro"), model)), json!("sig"), "{model}");
    }
    assert_eq!(signature(&body_of(&request("gemini-3-pro"), "gemini-3-flash")), skipped);
    assert_eq!(signature(&body_of(&request("gemini-3-pro"), "gemini-2.5-pro")), Value::Null);
    let without = |model: &str| {
        let adapter = adapter(model).leaving(LeftOut::THOUGHTS).unwrap();
        signature(&crate::testing::body(&*adapter, &request(model), &info(model)))
    };
    assert_eq!((without("gemini-3-pro"), without("gemini-2.5-pro")), (skipped, Value::Null));
}

#[test]
fn addresses_have_the_model_in_them() {
    let path = |base: &str, model: &str| {
        let adapter = Gemini::new(&endpoint(&crate::ProviderConfig::new("g", Family::Gemini, base)), model);
        (adapter.chat_path(model).0.into_owned(), adapter.key_header("ya29.x").0.to_string())
    };
    let (studio, key) = path("https://generativelanguage.googleapis.com", "models/gemini-2.5-pro");
    assert_eq!((studio.as_str(), &*key), ("v1beta/models/gemini-2.5-pro:streamGenerateContent", "x-goog-api-key"));
    let multi = "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google";
    let (vertex, _) = path(multi, "gemini-3.8-flash");
    assert_eq!(vertex, "models/gemini-3.8-flash:streamGenerateContent");
    let place = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google";
    let (vertex, key) = path(place, "gemini-2.5-pro");
    assert_eq!((vertex.as_str(), &*key), ("models/gemini-2.5-pro:streamGenerateContent", "authorization"));
}
