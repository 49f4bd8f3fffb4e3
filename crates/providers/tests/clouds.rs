//! Clouds: signatures that the server computes again, tokens that it gave out, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]
#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "tests make their own files")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bosun_model::{ChatRequest, Message, ModelErrorKind};
use bosun_providers::{Cloud, Family, ProviderConfig, connect, list_models};
use bosun_testkit::{
    AWS_ACCESS_KEY, AWS_SECRET_KEY, AWS_SESSION_TOKEN, GOOGLE_REFRESH_TOKEN, ModelServer, Reply, Script, Wire,
    message_of,
};
use pretty_assertions::assert_eq;
use rustls::pki_types::alg_id;
use serde_json::{Value, json};

const CLAUDE: &str = "eu.anthropic.claude-haiku-4-5-20251001-v1:0";

fn cloud(variables: &[(&str, &str)]) -> Cloud {
    let known: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Cloud::new(move |name| known.get(name).cloned())
}

fn hello() -> ChatRequest {
    ChatRequest { messages: vec![Message::human("h", "hello \u{1f980}").into()].into(), ..ChatRequest::default() }
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
    let file = json!({
        "type": "authorized_user", "client_id": "client", "client_secret": "canary-client-0123456789",
        "refresh_token": refresh, "token_uri": format!("{}/token", server.url()), "quota_project_id": "quota",
    });
    credentials(folder, &file)
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

/// A token may be taken back before it ends. Each connection has errors of its own, and none shows it.
#[tokio::test]
async fn a_kept_token_that_is_refused_is_asked_for_anew_once() {
    let folder = tempfile::tempdir().unwrap();
    let give = |token: &str| ModelServer::with(Script { key: Some(token.into()), ..Script::default() });
    let (first, second) = (give("ya29.canary-first"), give("ya29.canary-second"));
    let credentials = |refresh| person(&first, folder.path(), refresh);
    first.once("hi");
    let cloud = credentials(GOOGLE_REFRESH_TOKEN);
    let asks = || first.requests().iter().filter(|request| request.path == "/token").count();
    message_of(&*connect(&vertex(&first, cloud.clone()), "claude-x").unwrap(), hello()).await.unwrap();
    // Another server knows another token only: the kept one is let go of, and the same is given again.
    let error = message_of(&*connect(&vertex(&second, cloud.clone()), "claude-x").unwrap(), hello()).await.unwrap_err();
    assert_eq!((error.kind, asks()), (ModelErrorKind::Unauthorized, 2));
    let sent: Vec<_> =
        second.requests().iter().map(|request| request.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(sent, ["Bearer ya29.canary-first", "Bearer ya29.canary-first"]);
    // One that was only just given is not asked for anew.
    let quoted = "the token ya29.canary-first may not do this";
    first.once(Reply::error(400, "INVALID_ARGUMENT", quoted));
    let error = message_of(&*connect(&vertex(&first, cloud), "claude-x").unwrap(), hello()).await.unwrap_err();
    assert!(error.message.contains("may not do this") && !format!("{error:?}").contains("canary"), "{error:?}");
    assert_eq!(asks(), 2);
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

const ACCOUNT_KEY: &str = include_str!("../fixtures/google/service_account.key");
const ACCOUNT_PUBLIC: &str = include_str!("../fixtures/google/service_account.pub");
const EMAIL: &str = "agent@test-project.iam.gserviceaccount.com";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

fn credentials(folder: &Path, file: &Value) -> Cloud {
    let path = folder.join("adc.json");
    std::fs::write(&path, file.to_string()).unwrap();
    cloud(&[("GOOGLE_APPLICATION_CREDENTIALS", path.to_str().unwrap())]).at_any_host()
}

fn service_account() -> Value {
    json!({
        "type": "service_account", "project_id": "of-the-account", "private_key_id": "key-1",
        "private_key": ACCOUNT_KEY, "client_email": EMAIL, "client_id": "1",
    })
}

fn part(jwt: &str, at: usize) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(jwt.split('.').nth(at).unwrap()).unwrap()
}

/// Whether `jwt` was signed with the account's key.
fn is_signed(jwt: &str) -> bool {
    let (signed, _) = jwt.rsplit_once('.').unwrap();
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
    let rsa = algorithms.iter().find(|known| known.signature_alg_id() == alg_id::RSA_PKCS1_SHA256).unwrap();
    let pem: String = ACCOUNT_PUBLIC.lines().filter(|line| !line.starts_with("-----")).collect();
    rsa.verify_signature(&STANDARD.decode(pem).unwrap(), signed.as_bytes(), &part(jwt, 2)).is_ok()
}

#[tokio::test]
async fn a_service_account_signs_its_own_tokens_and_its_key_stays_here() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    server.once("hi").once("hi");
    let config = vertex(&server, credentials(folder.path(), &service_account()));
    for _ in 0..2 {
        message_of(&*connect(&config, "claude-haiku-4-5@20251001").unwrap(), hello()).await.unwrap();
    }
    let requests = server.requests();
    let bearer = requests[0].header("authorization").unwrap();
    let jwt = bearer.strip_prefix("Bearer ").unwrap();
    assert!(is_signed(jwt), "{jwt}");
    let claims: Value = serde_json::from_slice(&part(jwt, 1)).unwrap();
    assert_eq!((&claims["iss"], &claims["scope"]), (&json!(EMAIL), &json!(SCOPE)));
    let lasts = claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap();
    assert!((600..=3_700).contains(&lasts), "{claims}");
    assert_eq!(requests[1].header("authorization"), Some(bearer), "one token serves until it ends");
    assert!(requests[0].path.contains("/projects/test-project/"), "the address names another project");
    let line = ACCOUNT_KEY.lines().nth(3).unwrap();
    assert!(requests.iter().all(|request| !format!("{request:?}").contains(line)));
}

#[tokio::test]
async fn a_key_of_a_service_account_that_is_broken_is_said_so_without_a_trace_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    let mut file = service_account();
    file["private_key"] = json!(format!("-----BEGIN PRIVATE KEY-----\n{}\n", "Y2FuYXJ5".repeat(9)));
    let config = vertex(&server, credentials(folder.path(), &file));
    let error = message_of(&*connect(&config, "claude-x").unwrap(), hello()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unauthorized, "{error}");
    assert!(error.message.contains("adc.json") && !format!("{error:?}").contains("Y2FuYXJ5"), "{error:?}");
    assert_eq!(server.requests(), []);
}

/// A server that lends the tokens of a service account; what it was asked comes out of the receiver.
fn lender(status: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (asked, asks) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut seen = Vec::new();
            let mut buffer = [0; 4096];
            // The body is one object and comes last.
            while !seen.ends_with(b"}") {
                match stream.read(&mut buffer) {
                    Ok(read) if read > 0 => seen.extend_from_slice(&buffer[..read]),
                    _ => break,
                }
            }
            asked.send(String::from_utf8_lossy(&seen).into_owned()).ok();
            let body = r#"{"accessToken":"ya29.canary-lent","expireTime":"2099-01-01T00:00:00Z"}"#;
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    (address, asks)
}

fn stood_in_for(lender: &str, source: Value) -> Value {
    json!({
        "type": "impersonated_service_account", "delegates": [], "source_credentials": source,
        "service_account_impersonation_url": format!("{lender}/v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken"),
    })
}

#[tokio::test]
async fn a_person_stands_in_for_a_service_account() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script { key: Some("ya29.canary-lent".into()), ..Script::default() };
    let (server, tokens) = (ModelServer::with(script), ModelServer::start());
    server.once("hi");
    let (address, asks) = lender("200 OK");
    let source = json!({
        "type": "authorized_user", "client_id": "client", "client_secret": "canary-client-0123456789",
        "refresh_token": GOOGLE_REFRESH_TOKEN, "token_uri": format!("{}/token", tokens.url()),
    });
    let config = vertex(&server, credentials(folder.path(), &stood_in_for(&address, source)));
    message_of(&*connect(&config, "claude-haiku-4-5@20251001").unwrap(), hello()).await.unwrap();
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer ya29.canary-lent"));
    let asked = asks.recv().unwrap();
    assert!(asked.starts_with(&format!("POST /v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken ")), "{asked}");
    assert!(asked.contains("ya29.test") && asked.contains(SCOPE), "{asked}");
}

#[tokio::test]
async fn who_may_not_stand_in_is_told_so_without_a_trace_of_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    let (address, _asks) = lender("403 Forbidden");
    let config = vertex(&server, credentials(folder.path(), &stood_in_for(&address, service_account())));
    let error = message_of(&*connect(&config, "claude-x").unwrap(), hello()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unauthorized, "{error}");
    assert!(error.message.contains("adc.json") && !format!("{error:?}").contains("canary"), "{error:?}");
    assert_eq!(server.requests(), []);
}
