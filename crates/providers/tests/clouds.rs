//! Clouds: signatures that the server computes again, tokens that it gave out, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]
#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "tests make their own files")]

use std::collections::HashMap;
use std::path::Path;

use bosun_model::{ChatRequest, Message, ModelErrorKind};
use bosun_providers::{Cloud, Family, ProviderConfig, connect, list_models};
use bosun_testkit::{
    AWS_ACCESS_KEY, AWS_SECRET_KEY, AWS_SESSION_TOKEN, GOOGLE_REFRESH_TOKEN, ModelServer, Reply, Script, Wire,
    message_of,
};
use pretty_assertions::assert_eq;
use serde_json::json;

const CLAUDE: &str = "eu.anthropic.claude-haiku-4-5-20251001-v1:0";

fn cloud(variables: &[(&str, &str)]) -> Cloud {
    let known: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Cloud::new(move |name| known.get(name).cloned())
}

fn hello() -> ChatRequest {
    ChatRequest { messages: vec![Message::human("h", "hello \u{1f980}").into()], ..ChatRequest::default() }
}

fn bedrock(server: &ModelServer, cloud: Cloud) -> ProviderConfig {
    ProviderConfig::new("bedrock", Family::Bedrock, server.base_url(Wire::Bedrock)).with_cloud(cloud)
}

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", AWS_ACCESS_KEY), ("AWS_SECRET_ACCESS_KEY", AWS_SECRET_KEY)];

#[tokio::test]
async fn a_signature_is_right_and_the_secret_stays_here() {
    let script = Script { models: vec!["a".into()], key: Some("nobody-has-it".into()), ..Script::default() };
    let server = ModelServer::with(script);
    server.once("one").once("two").once("three");
    let lent = [KEYS[0], KEYS[1], ("AWS_SESSION_TOKEN", AWS_SESSION_TOKEN), ("AWS_REGION", "eu-west-1")];
    let own = "arn:aws:bedrock:eu-west-1:1:application-inference-profile/a b";
    for (variables, model) in [(&KEYS[..], CLAUDE), (&lent[..], CLAUDE), (&lent[..], own)] {
        let config = bedrock(&server, cloud(variables).at_any_host());
        message_of(&*connect(&config, model).unwrap(), hello()).await.unwrap();
    }
    let listed = list_models(&bedrock(&server, cloud(&lent).at_any_host())).await.unwrap();
    assert_eq!(listed.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["a"]);
    let requests = server.requests();
    assert_eq!(requests[1].header("x-amz-security-token"), Some(AWS_SESSION_TOKEN));
    assert!(requests[1].header("authorization").unwrap().contains("/eu-west-1/bedrock/aws4_request"));
    assert_eq!(requests[2].asked().model, own);
    for request in &requests {
        let whole = format!("{request:?}");
        assert!(!whole.contains(AWS_SECRET_KEY), "{whole}");
    }
}

#[tokio::test]
async fn a_wrong_secret_is_refused_in_awss_words_without_a_trace_of_it() {
    let server = ModelServer::start();
    let wrong = [KEYS[0], ("AWS_SECRET_ACCESS_KEY", "canary/wrong+9876543210/abcdefghijklmnop")];
    let config = bedrock(&server, cloud(&wrong).at_any_host());
    let error = message_of(&*connect(&config, CLAUDE).unwrap(), hello()).await.unwrap_err();
    assert_eq!((error.kind, error.status), (ModelErrorKind::Unauthorized, Some(403)));
    assert!(error.message.contains("signature we calculated does not match"), "{error}");
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
}

#[tokio::test]
async fn without_credentials_nothing_is_sent_and_the_way_out_is_named() {
    let server = ModelServer::start();
    let error = connect(&bedrock(&server, cloud(&[]).at_any_host()), CLAUDE).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("Bedrock API key") && error.message.contains("aws configure"), "{error}");
    let vertex = vertex(&server, cloud(&[("HOME", "/nowhere")]).at_any_host());
    let error = connect(&vertex, "claude-x").err().unwrap();
    assert!(error.message.contains("gcloud auth application-default login"), "{error}");
    let home = ProviderConfig::new("vertex", Family::Vertex, "https://aiplatform.googleapis.com").with_key("ya29.x");
    let error = connect(&home, "claude-x").err().unwrap();
    assert!(error.message.contains("GOOGLE_CLOUD_PROJECT"), "{error}");
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn an_address_of_somebody_else_gets_no_credentials() {
    let server = ModelServer::start();
    server.once("hello");
    let config = bedrock(&server, cloud(&KEYS));
    message_of(&*connect(&config, CLAUDE).unwrap(), hello()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!((request.header("authorization"), request.header("x-amz-date")), (None, None));
}

fn vertex(server: &ModelServer, cloud: Cloud) -> ProviderConfig {
    ProviderConfig::new("vertex", Family::Vertex, server.base_url(Wire::Vertex)).with_cloud(cloud)
}

/// Credentials of a person, for a token endpoint of this machine.
fn person(server: &ModelServer, folder: &Path, refresh: &str) -> Cloud {
    let path = folder.join("adc.json");
    let file = json!({
        "type": "authorized_user", "client_id": "client", "client_secret": "canary-client-0123456789",
        "refresh_token": refresh, "token_uri": format!("{}/token", server.url()), "quota_project_id": "quota",
    });
    std::fs::write(&path, file.to_string()).unwrap();
    cloud(&[("GOOGLE_APPLICATION_CREDENTIALS", path.to_str().unwrap())]).at_any_host()
}

#[tokio::test]
async fn tokens_are_asked_for_once_and_serve_both_publishers() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        Script { models: vec!["claude-x".into()], key: Some("ya29.canary-access".into()), ..Script::default() };
    let server = ModelServer::with(script);
    let config = vertex(&server, person(&server, folder.path(), GOOGLE_REFRESH_TOKEN));
    for model in ["claude-haiku-4-5@20251001", "gemini-2.5-flash"] {
        server.once(Reply::text("hi").and_call("ls", json!({})));
        let message = message_of(&*connect(&config, model).unwrap(), hello()).await.unwrap();
        assert_eq!((message.text().as_str(), message.tool_calls.len()), ("hi", 1));
    }
    assert_eq!(list_models(&config).await.unwrap()[0].name, "claude-x");
    let requests = server.requests();
    assert_eq!(requests.iter().filter(|request| request.path == "/token").count(), 1);
    let calls: Vec<_> =
        requests.iter().filter_map(|request| Some((request.wire()?, request.header("authorization")?))).collect();
    let bearer = "Bearer ya29.canary-access";
    assert_eq!(calls, [(Wire::Vertex, bearer), (Wire::VertexGemini, bearer)]);
    assert_eq!(requests[1].header("x-goog-user-project"), Some("quota"));
    assert!(requests[1].path.starts_with("/v1/projects/test-project/locations/us-east5/publishers/anthropic/"));
}

#[tokio::test]
async fn a_token_that_ended_is_said_so_without_a_trace_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    let config = vertex(&server, person(&server, folder.path(), "1//canary-revoked"));
    let error = message_of(&*connect(&config, "claude-x").unwrap(), hello()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("gcloud auth application-default login"), "{error}");
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
}
