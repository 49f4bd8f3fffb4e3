//! Proxies, certificates and limits that a person set, against servers of this machine.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bosun_model::{ChatRequest, Message, ModelErrorKind};
use bosun_providers::{Family, Network, NetworkOptions, ProviderConfig, connect, list_models};
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

fn near_url(server: &ModelServer) -> String {
    server.base_url(Wire::OpenAi)
}

fn tls_server() -> (u16, mpsc::Receiver<String>) {
    let certificates = vec![CertificateDer::from_pem_slice(SERVER.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(certificates, key).unwrap());
    once(move |mut stream| {
        let mut tls = rustls::ServerConnection::new(config).unwrap();
        let mut tls = rustls::Stream::new(&mut tls, &mut stream);
        let head = head(&mut tls);
        if !head.is_empty() {
            answer(&mut tls);
        }
        head
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

#[tokio::test]
async fn waits_that_are_set_hold_for_calls() {
    let server = ModelServer::start();
    server.once(Reply::hang());
    let impatient =
        network(NetworkOptions { first_byte: Some(Duration::from_millis(50)), ..NetworkOptions::default() });
    let config = ProviderConfig::new("near", Family::OpenAiChat, near_url(&server)).over(impatient);
    let request = ChatRequest { messages: vec![Message::human("1", "hello").into()], ..ChatRequest::default() };
    let error = connect(&config, "m").unwrap().stream(request).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
}
