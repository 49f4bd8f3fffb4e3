//! What a server refuses of a request that goes well without it: asked once more, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use bosun_model::{AiMessage, ChatRequest, Effort, Message, ModelEvent, ToolMessage, ToolStatus};
use bosun_providers::{Family, ProviderConfig, connect};
use bosun_testkit::{ModelServer, Reply, Wire, message_of};
use futures_util::TryStreamExt;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn config(server: &ModelServer, family: Family, wire: Wire) -> ProviderConfig {
    ProviderConfig::new("test", family, server.base_url(wire)).with_key("sk-canary-0123456789")
}

fn asking(messages: Vec<Message>) -> ChatRequest {
    let messages = messages.into_iter().map(Into::into).collect();
    ChatRequest { messages, effort: Some(Effort::High), ..ChatRequest::default() }
}

/// The request after `reply`, which made the call `c`.
fn next(reply: AiMessage) -> ChatRequest {
    let (call_id, name, content) = ("c".into(), "ls".into(), vec!["/a".into()]);
    let result = ToolMessage { call_id, name, status: ToolStatus::Success, content };
    asking(vec![Message::human("h", "hello"), Message::Ai(reply), Message::Tool(result)])
}

fn refusal(words: &str) -> Reply {
    Reply::error(400, "invalid_request_error", words)
}

const SEALED: &str = "The encrypted content gAAA...c90= could not be verified. Reason: Encrypted content organization_id did \
                      not match the target organization.";
const UNVERIFIED: &str = "Your organization must be verified to generate reasoning summaries. Please go to: \
                          https://platform.openai.com/settings/organization/general and click on Verify Organization.";

fn sealed(body: &Value) -> usize {
    body["input"].as_array().unwrap().iter().filter(|item| item["type"] == "reasoning").count()
}

/// The bodies that were sent, from the `first` on.
fn sent(server: &ModelServer, first: usize) -> Vec<Value> {
    server.requests().iter().skip(first).map(|request| request.json()).collect()
}

/// A key of another organization cannot read what the first one's model thought.
#[tokio::test]
async fn sealed_thoughts_that_are_refused_stop_nobody() {
    let server = ModelServer::start();
    server.once(Reply::new().and_reasoning("Hm.", Some("sig")).and_call_with_id("c", "ls", json!({})));
    server.once(refusal(SEALED)).once("done").once("more");
    let model = connect(&config(&server, Family::OpenAiResponses, Wire::OpenAiResponses), "gpt-5.4").unwrap();
    let thought = message_of(&*model, asking(vec![Message::human("h", "hello")])).await.unwrap();
    let next = next(thought);
    assert_eq!(message_of(&*model, next.clone()).await.unwrap().text(), "done");
    // The next step of the turn does not ask for what was refused.
    assert_eq!(message_of(&*model, next).await.unwrap().text(), "more");
    let bodies = sent(&server, 1);
    assert_eq!(bodies.iter().map(sealed).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!(bodies[1]["input"].as_array().unwrap().len(), bodies[0]["input"].as_array().unwrap().len() - 1);
}

#[tokio::test]
async fn signatures_that_gemini_refuses_stop_nobody() {
    let server = ModelServer::start();
    server.once(Reply::new().and_reasoning("Hm.", Some("sig")).and_call_with_id("c", "ls", json!({})));
    server.once(refusal("Corrupted thought signature.")).once("done");
    let model = connect(&config(&server, Family::Gemini, Wire::Gemini), "gemini-3-pro").unwrap();
    let thought = message_of(&*model, asking(vec![Message::human("h", "hello")])).await.unwrap();
    assert_eq!(message_of(&*model, next(thought)).await.unwrap().text(), "done");
    let bodies = sent(&server, 1);
    let signatures = |body: &Value| {
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        parts.into_iter().filter_map(|part| part["thoughtSignature"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert!(!signatures(&bodies[0]).iter().any(|signature| signature.starts_with("skip_")), "{bodies:?}");
    assert_eq!(signatures(&bodies[1]), ["skip_thought_signature_validator"]);
}

/// Said once, in the place of the thoughts, and remembered by every connection with the same key.
#[tokio::test]
async fn who_gives_no_summaries_is_asked_without_and_the_person_is_told_once() {
    let server = ModelServer::start();
    server.once(refusal(UNVERIFIED)).once("done").once("more").once("other");
    let config = config(&server, Family::OpenAiResponses, Wire::OpenAiResponses);
    let ask = async |config: &ProviderConfig| {
        let model = connect(config, "gpt-5.4").unwrap();
        let reply = model.stream(asking(vec![Message::human("h", "hello")])).await.unwrap();
        let events: Vec<_> = reply.try_collect().await.unwrap();
        events.into_iter().find_map(|event| match event {
            ModelEvent::ThinkingUnseen { detail } => Some(detail),
            _ => None,
        })
    };
    assert_eq!(ask(&config).await.as_deref(), Some(UNVERIFIED));
    assert_eq!(ask(&config).await, None);
    // Another key may be that of a verified organization.
    ask(&config.clone().with_key("sk-canary-9876543210")).await;
    let asked: Vec<_> = sent(&server, 0).iter().map(|body| body["reasoning"].clone()).collect();
    let (with, without) = (json!({ "effort": "high", "summary": "auto" }), json!({ "effort": "high" }));
    assert_eq!(asked, [with.clone(), without.clone(), without, with]);
}

/// What one model refuses says nothing of the others of the account.
#[tokio::test]
async fn a_model_that_gives_no_summaries_is_told_apart_from_its_account() {
    let server = ModelServer::start();
    server.once(refusal("Unsupported parameter: 'reasoning.summary' is not supported with this model."));
    server.once("done").once("more").once("other");
    let config = config(&server, Family::OpenAiResponses, Wire::OpenAiResponses).with_key("sk-canary-of-one-model");
    for name in ["gpt-5.4", "gpt-5.4", "gpt-5.5"] {
        let model = connect(&config, name).unwrap();
        message_of(&*model, asking(vec![Message::human("h", "hello")])).await.unwrap();
    }
    let asked: Vec<_> = sent(&server, 0).iter().map(|body| body["reasoning"]["summary"].clone()).collect();
    assert_eq!(asked, [json!("auto"), Value::Null, Value::Null, json!("auto")]);
}

#[tokio::test]
async fn both_may_be_refused_and_another_refusal_is_one() {
    let server = ModelServer::start();
    server.once(Reply::new().and_reasoning("Hm.", Some("sig")).and_call_with_id("c", "ls", json!({})));
    server.once(refusal(SEALED)).once(refusal(UNVERIFIED)).once("done");
    let config = config(&server, Family::OpenAiResponses, Wire::OpenAiResponses);
    let model = connect(&config, "gpt-5.4").unwrap();
    let thought = message_of(&*model, asking(vec![Message::human("h", "hello")])).await.unwrap();
    let next = next(thought);
    assert_eq!(message_of(&*model, next.clone()).await.unwrap().text(), "done");
    let last = sent(&server, 3).remove(0);
    assert_eq!((sealed(&last), last["reasoning"].clone()), (0, json!({ "effort": "high" })));
    server.once(refusal("max_output_tokens is too large"));
    let mut turn = next;
    turn.messages.push(Message::human("h2", "and now?").into());
    assert!(message_of(&*model, turn).await.is_err());
    assert_eq!(server.requests().len(), 5);
    // What goes on being refused is not asked for for ever.
    server.once(refusal(SEALED)).once(refusal(SEALED));
    let other = connect(&config, "gpt-5.4").unwrap();
    let thoughtful = asking(vec![Message::human("h", "hello")]);
    assert_eq!(message_of(&*other, thoughtful).await.unwrap_err().message, SEALED);
    assert_eq!(server.requests().len(), 7);
}

/// A model that came out after this was written may have other levels.
#[tokio::test]
async fn a_level_that_gemini_refuses_is_left_to_it_and_not_asked_for_again() {
    let server = ModelServer::start();
    server.once(refusal("Thinking level HIGH is not supported for this model.")).once("done").once("more");
    server.once("less");
    let model = connect(&config(&server, Family::Gemini, Wire::Gemini), "gemini-9-flash").unwrap();
    let hello = |effort| ChatRequest { effort: Some(effort), ..asking(vec![Message::human("h", "hello")]) };
    for (effort, words) in [(Effort::High, "done"), (Effort::High, "more"), (Effort::Low, "less")] {
        assert_eq!(message_of(&*model, hello(effort)).await.unwrap().text(), words);
    }
    let levels = sent(&server, 0).into_iter().map(|body| body["generationConfig"]["thinkingConfig"].clone());
    let untold = json!({ "includeThoughts": true });
    let told = |level: &str| json!({ "includeThoughts": true, "thinkingLevel": level });
    assert_eq!(levels.collect::<Vec<_>>(), [told("HIGH"), untold.clone(), untold, told("LOW")]);
}

/// The refusal is no refusal but the end of a reply; whoever asks again asks without thoughts.
#[tokio::test]
async fn a_signature_that_gemini_misses_is_not_missed_twice() {
    let missing = || {
        let chunk = json!({ "candidates": [{ "finishReason": "MISSING_THOUGHT_SIGNATURE" }] });
        Reply::http(200, format!("data: {chunk}\r\n\r\n")).header("content-type", "text/event-stream")
    };
    let server = ModelServer::start();
    server.once(Reply::new().and_reasoning("Hm.", Some("sig")).and_call_with_id("c", "ls", json!({})));
    server.once(missing()).once("done").once(missing()).once(missing());
    let model = connect(&config(&server, Family::Gemini, Wire::Gemini), "gemini-3-pro").unwrap();
    let next = next(message_of(&*model, asking(vec![Message::human("h", "hello")])).await.unwrap());
    let error = message_of(&*model, next.clone()).await.unwrap_err();
    assert!(error.is_retryable() && error.message.contains("thought signature"), "{error}");
    assert_eq!(message_of(&*model, next.clone()).await.unwrap().text(), "done");
    let signatures = |body: &Value| body["contents"][1]["parts"].to_string().contains("skip_thought_signature");
    assert_eq!(sent(&server, 1).iter().map(signatures).collect::<Vec<_>>(), [false, true]);
    let error = message_of(&*model, next).await.unwrap_err();
    assert!(!error.is_retryable(), "it is of no use: {error}");
}

/// What results show stands behind them in a message of the user, which older validators of Mistral's refuse.
#[tokio::test]
async fn who_takes_nothing_of_the_users_behind_results_gets_a_word_of_the_models_between() {
    let server = ModelServer::start();
    server.once(Reply::new().and_call_with_id("c", "ls", json!({})));
    server.once(refusal("Unexpected role 'user' after role 'tool'")).once("done").once("more");
    let model = connect(&config(&server, Family::OpenAiChat, Wire::OpenAi), "mistral-large").unwrap();
    let mut next = next(message_of(&*model, asking(vec![Message::human("h", "hello")])).await.unwrap());
    next.messages.push(Message::human("h2", "and now?").into());
    for words in ["done", "more"] {
        assert_eq!(message_of(&*model, next.clone()).await.unwrap().text(), words);
    }
    let roles = |body: &Value| {
        let turns = body["messages"].as_array().unwrap().clone();
        turns.iter().map(|turn| turn["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let (plain, bridged) = ("user assistant tool user", "user assistant tool assistant user");
    assert_eq!(sent(&server, 1).iter().map(roles).collect::<Vec<_>>(), [plain, bridged, bridged]);
}
