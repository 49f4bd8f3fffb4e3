//! Servers and networks that mean no good, below what the test server can play: TLS and HTTP itself.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use bosun_model::{ChatRequest, Message, ModelError, ModelErrorKind};
use bosun_providers::{Family, Network, NetworkOptions, ProviderConfig, connect};
use bosun_testkit::events_of;
use pretty_assertions::assert_eq;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

const AUTHORITY: &str = include_str!("../fixtures/tls/faulty_authority.pem");
const SERVER_KEY: &str = include_str!("../fixtures/tls/faulty.key");
const KEY: &str = "sk-canary-0123456789";

/// Serves every connection with `serve` until the test ends.
fn serving(serve: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            serve(stream);
        }
    });
    port
}

/// Reads a request's head and as much of its body as comes with it.
fn read_request(stream: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains("\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => seen.extend_from_slice(&buffer[..read]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&seen).into_owned()
}

/// The error of a call at `base_url`.
async fn error_at(base_url: String, options: NetworkOptions) -> ModelError {
    let config = ProviderConfig::new("own", Family::Anthropic, base_url).with_key(KEY);
    let config = config.over(Network::new(options).unwrap());
    let request = ChatRequest { messages: vec![Message::human("h", "hello").into()].into(), ..ChatRequest::default() };
    let (_, error) = events_of(&*connect(&config, "m").unwrap(), request).await;
    let error = error.unwrap();
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    error
}

fn impatient() -> NetworkOptions {
    let soon = Some(Duration::from_millis(400));
    NetworkOptions { connect: soon, first_byte: soon, idle: soon, ..NetworkOptions::default() }
}

/// N10 and N18: no certificate that is wrong is gone on with, and one that is out of its time names the clock.
#[tokio::test]
async fn certificates_that_are_wrong_are_refused_before_the_key_is_sent() {
    for (certificate, word) in [
        (include_str!("../fixtures/tls/expired.pem"), "date and time"),
        (include_str!("../fixtures/tls/future.pem"), "date and time"),
        (include_str!("../fixtures/tls/elsewhere.pem"), "intercepting the connection"),
    ] {
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(SERVER_KEY.as_bytes()).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
        let port = serving(move |mut stream| {
            let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut byte = [0];
            let read = rustls::Stream::new(&mut tls, &mut stream).read(&mut byte);
            assert!(!matches!(read, Ok(1)), "something was sent");
        });
        let trusting = NetworkOptions { certificates: Some(AUTHORITY.to_owned()), ..NetworkOptions::default() };
        let error = error_at(format!("https://localhost:{port}"), trusting).await;
        assert_eq!(error.kind, ModelErrorKind::Network);
        assert!(error.message.contains("certificate") && error.message.contains(word), "{error}");
    }
}

/// The first message of a server that chose `version` and `cipher`, its random bytes ending in `end`.
fn server_hello(version: [u8; 2], end: &[u8; 8], cipher: [u8; 2]) -> Vec<u8> {
    let body = [&version[..], &[7; 24], end, &[0], &cipher, &[0]].concat();
    let message = [&[2, 0, 0, u8::try_from(body.len()).unwrap()][..], &body].concat();
    [&[22, 3, 3, 0, u8::try_from(message.len()).unwrap()][..], &message].concat()
}

/// N10: a server that wants an older or a weaker protocol than both could speak, or none, gets an alert and no more.
#[tokio::test]
async fn a_downgrade_is_refused_before_the_key_is_sent() {
    const GCM: [u8; 2] = [0xc0, 0x2f];
    for (name, answer) in [
        ("TLS 1.0", server_hello([3, 1], &[7; 8], [0, 0x2f])),
        ("TLS 1.1", server_hello([3, 2], &[7; 8], [0, 0x2f])),
        ("TLS 1.2 where both could 1.3", server_hello([3, 3], b"DOWNGRD\x01", GCM)),
        ("a cipher that was not offered", server_hello([3, 3], &[7; 8], [0, 0x0a])),
        ("no protocol in common", vec![21, 3, 1, 0, 2, 2, 70]),
        ("no TLS at all", b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_vec()),
    ] {
        let (saw, sees) = mpsc::channel();
        let port = serving(move |mut stream| {
            let mut head = [0; 5];
            stream.read_exact(&mut head).unwrap();
            let mut hello = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
            stream.read_exact(&mut hello).unwrap();
            stream.write_all(&answer).unwrap();
            let mut rest = Vec::new();
            // The client may reset the connection instead of closing it.
            stream.read_to_end(&mut rest).ok();
            saw.send((head[0], rest)).unwrap();
        });
        let error = error_at(format!("https://localhost:{port}"), NetworkOptions::default()).await;
        assert_eq!(error.kind, ModelErrorKind::Network, "{name}: {error}");
        assert!(error.message.contains("no secure connection"), "{name}: {error}");
        let (first, rest) = sees.recv().unwrap();
        assert_eq!(first, 22, "{name}: a handshake");
        assert!(matches!(rest.first(), None | Some(21)) && rest.len() <= 7, "{name}: {rest:?}");
    }
}

/// N06: a server that takes the connection and never speaks TLS, and heads that never end.
#[tokio::test]
async fn hanging_below_http_is_given_up() {
    let silent = serving(|stream| {
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(20));
            drop(stream);
        });
    });
    let error = error_at(format!("https://localhost:{silent}"), impatient()).await;
    assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
    let endless = serving(|mut stream| {
        thread::spawn(move || {
            read_request(&mut stream);
            let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\n");
            for number in 0..100 {
                thread::sleep(Duration::from_millis(50));
                written = written.and_then(|()| stream.write_all(format!("x-{number}: y\r\n").as_bytes()));
            }
        });
    });
    let error = error_at(format!("http://localhost:{endless}"), impatient()).await;
    assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
}

/// N08: sizes that lie, and what is no HTTP at all, are errors and cost no memory.
#[tokio::test]
async fn bodies_that_lie_about_their_size_are_errors() {
    let event = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n";
    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    for (answer, wanted) in [
        (format!("{chunked}ffffffffffffffff\r\n{event}"), ModelErrorKind::StreamCut),
        (format!("{chunked}fffffffffffffffffff\r\n{event}"), ModelErrorKind::StreamCut),
        (format!("{chunked}zz\r\n{event}"), ModelErrorKind::StreamCut),
        (
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999999999\r\n\r\n{event}"),
            ModelErrorKind::StreamCut,
        ),
        (
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 5\r\n\r\n{event}"),
            ModelErrorKind::NotAModelServer,
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n".to_owned(), ModelErrorKind::Network),
        (format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(2 << 20)), ModelErrorKind::Network),
    ] {
        let bytes = answer.clone().into_bytes();
        let port = serving(move |mut stream| {
            read_request(&mut stream);
            // The client may leave in the middle.
            stream.write_all(&bytes).ok();
        });
        let error = error_at(format!("http://localhost:{port}"), NetworkOptions::default()).await;
        let shown = answer.chars().take(120).collect::<String>();
        assert_eq!(error.kind, wanted, "{shown}: {error}");
    }
}

/// N11: a proxy that wants to be paid in names and passwords is said to be one.
#[tokio::test]
async fn a_proxy_that_refuses_is_no_model_server() {
    let port = serving(|mut stream| {
        let head = read_request(&mut stream);
        assert!(head.starts_with("POST http://models.example/"), "{head}");
        let refusal =
            "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(refusal.as_bytes()).ok();
    });
    let through = NetworkOptions { proxy: Some(format!("http://127.0.0.1:{port}")), ..NetworkOptions::default() };
    let error = error_at("http://models.example".to_owned(), through).await;
    assert_eq!((error.kind, error.status), (ModelErrorKind::NotAModelServer, Some(407)));
    assert!(
        error.message.contains("the proxy on the way to models.example:80 requires a name and a password"),
        "{error}"
    );
}
