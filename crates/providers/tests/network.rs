//! Proxies, certificates and limits that a person set, against servers of this machine.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test makes its own files and may fail anywhere")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bosun_model::{ChatRequest, Message, ModelErrorKind};
use bosun_providers::{Cloud, Family, Network, NetworkOptions, ProviderConfig, connect, list_models, proxy_login};
use bosun_testkit::{ModelServer, Reply, Script, Wire};
use pretty_assertions::assert_eq;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

const LIST: &str = r#"{"data":[{"id":"m","context_length":4096}]}"#;
const AUTHORITY: &str = include_str!("../fixtures/tls/authority.pem");
const SERVER: &str = include_str!("../fixtures/tls/server.pem");
const KEY: &str = include_str!("../fixtures/tls/server.key");

fn network(options: NetworkOptions) -> Network {
    Network::new(options).unwrap()
}

/// The head of a request, to its empty line.
fn head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn answer(stream: &mut impl Write) {
    let length = LIST.len();
    let reply = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{LIST}");
    stream.write_all(reply.as_bytes()).unwrap();
    stream.flush().unwrap();
}

/// Answers one connection with `serve` and gives what it saw.
fn once(serve: impl FnOnce(TcpStream) -> String + Send + 'static) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, sees) = mpsc::channel();
    thread::spawn(move || {
        if let Ok((stream, _)) = listener.accept() {
            drop(seen.send(serve(stream)));
        }
    });
    (port, sees)
}

#[tokio::test]
async fn a_proxy_that_is_set_is_asked_for_everything_but_this_machine() {
    let (port, sees) = once(|mut stream| {
        let head = head(&mut stream);
        answer(&mut stream);
        head
    });
    let through =
        network(NetworkOptions { proxy: Some(format!("http://127.0.0.1:{port}")), ..NetworkOptions::default() });
    let far = ProviderConfig::new("far", Family::OpenAiChat, "http://models.example/v1").over(through.clone());
    assert_eq!(list_models(&far).await.unwrap()[0].name, "m");
    let head = sees.recv().unwrap();
    assert!(head.starts_with("GET http://models.example/v1/models HTTP/1.1\r\n"), "{head}");

    // The proxy answers nobody any more: what is on this machine is reached all the same.
    let near = ModelServer::with(Script { models: vec!["near".into()], ..Script::default() });
    let near = ProviderConfig::new("near", Family::OpenAiChat, near_url(&near)).over(through);
    assert_eq!(list_models(&near).await.unwrap()[0].name, "near");
}

/// In no error, though the proxy echoes what it was told.
#[tokio::test]
async fn a_proxy_that_wants_a_name_and_a_password_gets_those_that_are_kept() {
    let login = proxy_login("me@work", &"canary:pass%word".into());
    let basic = "Basic bWVAd29yazpjYW5hcnk6cGFzcyV3b3Jk";
    let (port, sees) = once(|mut stream| {
        let head = head(&mut stream);
        answer(&mut stream);
        head
    });
    let far = |port: u16| {
        let through = NetworkOptions { proxy: Some(format!("http://127.0.0.1:{port}")), ..NetworkOptions::default() };
        ProviderConfig::new("far", Family::OpenAiChat, "http://models.example/v1").over(network(through))
    };
    assert_eq!(list_models(&far(port).with_proxy_login(&login)).await.unwrap()[0].name, "m");
    assert!(sees.recv().unwrap().contains(&format!("proxy-authorization: {basic}\r\n")));

    let (port, sees) = once(|mut stream| {
        let head = head(&mut stream);
        let told = head.lines().find(|line| line.starts_with("proxy-authorization")).unwrap_or("nothing").to_owned();
        let body = format!("{{\"error\":{{\"message\":\"{told}, that is canary:pass%word\"}}}}");
        let reply = format!("HTTP/1.1 403 Forbidden\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(reply.as_bytes()).unwrap();
        head
    });
    let echoed = list_models(&far(port).with_proxy_login(&login)).await.unwrap_err();
    assert!(sees.recv().unwrap().contains(basic));
    assert!(echoed.message.contains("that is"), "{echoed}");
    let shown = format!("{echoed:?} {:?}", far(port).with_proxy_login(&login));
    assert!(!shown.contains("canary") && !shown.contains("bWVAd29y"), "{shown}");
}

fn near_url(server: &ModelServer) -> String {
    server.base_url(Wire::OpenAi)
}

fn tls_server() -> (u16, mpsc::Receiver<String>) {
    tls_serving(|tls| {
        let head = head(tls);
        if !head.is_empty() {
            answer(tls);
        }
        head
    })
}

type Tls<'a> = rustls::Stream<'a, rustls::ServerConnection, TcpStream>;

fn tls_serving(serve: impl FnOnce(&mut Tls) -> String + Send + 'static) -> (u16, mpsc::Receiver<String>) {
    let certificates = vec![CertificateDer::from_pem_slice(SERVER.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(certificates, key).unwrap());
    once(move |mut stream| {
        let mut tls = rustls::ServerConnection::new(config).unwrap();
        serve(&mut rustls::Stream::new(&mut tls, &mut stream))
    })
}

fn at(port: u16) -> ProviderConfig {
    ProviderConfig::new("own", Family::OpenAiChat, format!("https://localhost:{port}/v1")).with_key("sk-canary-12345")
}

#[tokio::test]
async fn certificates_that_are_set_are_trusted_beside_the_systems() {
    let (port, _sees) = tls_server();
    let refused = list_models(&at(port)).await.unwrap_err();
    assert_eq!(refused.kind, ModelErrorKind::Network);
    assert!(refused.message.to_lowercase().contains("certificate"), "{refused}");
    assert!(!refused.message.contains("canary"), "{refused}");

    let (port, sees) = tls_server();
    let trusting = network(NetworkOptions { certificates: Some(AUTHORITY.into()), ..NetworkOptions::default() });
    assert_eq!(list_models(&at(port).over(trusting)).await.unwrap()[0].name, "m");
    assert!(sees.recv().unwrap().contains("authorization: Bearer sk-canary-12345"));
}

/// Credentials of Google's for a person whose tokens come from `token_uri`.
fn google(folder: &std::path::Path, token_uri: &str) -> Cloud {
    let path = folder.join("adc.json");
    let file = serde_json::json!({
        "type": "authorized_user", "client_id": "client", "client_secret": "canary-client-0123456789",
        "refresh_token": "1//canary-refresh", "token_uri": token_uri, "quota_project_id": "quota",
    });
    std::fs::write(&path, file.to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    Cloud::new(move |name| (name == "GOOGLE_APPLICATION_CREDENTIALS").then(|| path.clone())).at_any_host()
}

const GIVEN: &str = r#"{"access_token":"ya29.canary-given","expires_in":3600,"token_type":"Bearer"}"#;

/// The whole of a request with a body of JSON, answered with [`GIVEN`].
fn token_asked_for(stream: &mut (impl Read + Write)) -> String {
    let head = head(stream);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{GIVEN}",
        GIVEN.len()
    );
    // Who does not trust the server hears nothing of it.
    stream.write_all(reply.as_bytes()).and_then(|()| stream.flush()).ok();
    head + &String::from_utf8(body).unwrap()
}

#[tokio::test]
async fn a_token_of_google_is_asked_for_through_the_proxy_that_is_set() {
    let (port, sees) = once(|mut stream| token_asked_for(&mut stream));
    let through =
        network(NetworkOptions { proxy: Some(format!("http://127.0.0.1:{port}")), ..NetworkOptions::default() });
    let folder = tempfile::tempdir().unwrap();
    let script = Script { models: vec!["claude-x".into()], key: Some("ya29.canary-given".into()), ..Script::default() };
    let server = ModelServer::with(script);
    let config = ProviderConfig::new("vertex", Family::Vertex, server.base_url(Wire::Vertex))
        .with_cloud(google(folder.path(), "http://tokens.example/token"))
        .over(through);
    assert_eq!(list_models(&config).await.unwrap()[0].name, "claude-x");
    let asked = sees.recv().unwrap();
    assert!(asked.starts_with("POST http://tokens.example/token HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("1//canary-refresh") && asked.contains("refresh_token"), "{asked}");
    assert_eq!(server.requests()[0].header("x-goog-user-project"), Some("quota"));
}

#[tokio::test]
async fn a_token_of_google_is_asked_for_with_the_certificates_that_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::with(Script { models: vec!["claude-x".into()], ..Script::default() });
    let config = |port: u16| {
        ProviderConfig::new("vertex", Family::Vertex, server.base_url(Wire::Vertex))
            .with_cloud(google(folder.path(), &format!("https://localhost:{port}/token")))
    };
    let (port, _sees) = tls_serving(|stream| token_asked_for(stream));
    let refused = list_models(&config(port)).await.unwrap_err();
    assert_eq!(refused.kind, ModelErrorKind::Network);
    assert!(refused.message.to_lowercase().contains("certificate"), "{refused}");
    assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
    assert_eq!(server.requests(), []);

    let (port, sees) = tls_serving(|stream| token_asked_for(stream));
    let trusting = network(NetworkOptions { certificates: Some(AUTHORITY.into()), ..NetworkOptions::default() });
    assert_eq!(list_models(&config(port).over(trusting)).await.unwrap()[0].name, "claude-x");
    assert!(sees.recv().unwrap().starts_with("POST /token HTTP/1.1\r\n"));
}

#[tokio::test]
async fn waits_that_are_set_hold_for_calls() {
    let server = ModelServer::start();
    server.once(Reply::hang());
    let impatient =
        network(NetworkOptions { first_byte: Some(Duration::from_millis(50)), ..NetworkOptions::default() });
    let config = ProviderConfig::new("near", Family::OpenAiChat, near_url(&server)).over(impatient);
    let request = ChatRequest { messages: vec![Message::human("1", "hello").into()].into(), ..ChatRequest::default() };
    let error = connect(&config, "m").unwrap().stream(request).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
}
