//! Servers that let others wait in every place there is (N06), and what stands between them and the key (N11).

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bosun_model::{ChatRequest, Message, ModelError, ModelErrorKind};
use bosun_providers::{Family, Network, NetworkOptions, ProviderConfig, connect};
use bosun_testkit::events_of;
use pretty_assertions::assert_eq;

const KEY: &str = "sk-canary-0123456789";

/// What a server heard from all its connections.
type Heard = Arc<Mutex<Vec<u8>>>;

/// Serves every connection with `serve` until the test ends.
fn serving(serve: impl Fn(TcpStream, Heard) + Clone + Send + 'static) -> (u16, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Heard::default();
    let ears = Arc::clone(&heard);
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let (serve, ears) = (serve.clone(), Arc::clone(&ears));
            thread::spawn(move || serve(stream, ears));
        }
    });
    (port, heard)
}

/// Reads to the end of a request's head.
fn read_head(stream: &mut TcpStream, heard: &Heard) {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        seen.push(byte[0]);
    }
    heard.lock().unwrap().extend(seen);
}

/// The error of a call of `family` at `base_url`.
async fn error_at(family: Family, base_url: &str, options: NetworkOptions) -> ModelError {
    let config = ProviderConfig::new("own", family, base_url).with_key(KEY).over(Network::new(options).unwrap());
    let request = ChatRequest { messages: vec![Message::human("h", "hello").into()].into(), ..ChatRequest::default() };
    let (_, error) = events_of(&*connect(&config, "m").unwrap(), request).await;
    let error = error.unwrap();
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    error
}

fn after(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis))
}

/// N06: the connection itself hangs. A listener that accepts nobody takes as many as stand in its line; whoever comes
/// then gets no answer at all.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_nobody_accepts_is_given_up() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut line = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        line.push(stream);
        assert!(line.len() < 100, "the line has no end");
    }
    for scheme in ["http", "https"] {
        let options = NetworkOptions { connect: after(300), ..NetworkOptions::default() };
        let error = error_at(Family::Anthropic, &format!("{scheme}://{address}"), options).await;
        assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
        assert!(error.message.contains("did not accept"), "{error}");
    }
}

/// N06: a byte comes before each limit between two bytes runs out, for ever.
#[tokio::test]
async fn a_byte_now_and_then_is_given_up_in_the_end() {
    let trickling = |head: &'static str, piece: &'static str| {
        move |mut stream: TcpStream, heard: Heard| {
            read_head(&mut stream, &heard);
            let mut written = stream.write_all(head.as_bytes());
            for byte in piece.as_bytes().iter().cycle() {
                if written.is_err() {
                    break;
                }
                thread::sleep(Duration::from_millis(40));
                written = stream.write_all(&[*byte]);
            }
        }
    };
    let options = || NetworkOptions {
        first_byte: after(1_000),
        idle: after(400),
        total: after(1_200),
        ..NetworkOptions::default()
    };
    let body = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    for (family, piece) in [
        (Family::Anthropic, "event: ping\ndata: {\"type\":\"ping\"}\n\n"),
        (Family::OpenAiChat, ": still here\n\n"),
        (Family::OpenAiResponses, "data: x"),
        (Family::Gemini, "\n"),
        (Family::Ollama, " "),
        (Family::Bedrock, "\0"),
    ] {
        let (port, _) = serving(trickling(body, piece));
        let path = if family == Family::OpenAiChat || family == Family::OpenAiResponses { "/v1" } else { "" };
        let error = error_at(family, &format!("http://127.0.0.1:{port}{path}"), options()).await;
        // Zeros are no frame of AWS's, which is found out before.
        let kinds = if family == Family::Bedrock {
            vec![ModelErrorKind::Timeout, ModelErrorKind::NotAModelServer, ModelErrorKind::Protocol]
        } else {
            vec![ModelErrorKind::Timeout]
        };
        assert!(kinds.contains(&error.kind), "{family:?}: {error}");
    }
    // In the head, nothing that comes is a sign of life.
    let (port, _) = serving(trickling("HTTP/1.1 200 OK\r\nx-slow: ", "y"));
    let error = error_at(Family::Anthropic, &format!("http://127.0.0.1:{port}"), options()).await;
    assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
    assert!(error.message.contains("sent no answer for 1 s"), "{error}");
}

/// N11: what stands between Bosun and an `https` address is asked for a way through and nothing else: whatever it answers
/// (a name and a password, a page to sign in at, another address, or nothing), it never gets the key.
#[tokio::test]
async fn what_stands_in_between_never_gets_the_key() {
    let page = "<html><head><title>Hotel WiFi</title></head><body>Sign in</body></html>";
    let password =
        "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
    let forbidden =
        format!("HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}", page.len());
    let elsewhere = "HTTP/1.1 302 Found\r\nlocation: http://portal.example/\r\ncontent-length: 0\r\n\r\n";
    // A portal that takes the connection for its own and answers the first thing that it hears with its page.
    let portal = format!("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n{page}");
    let refused = "the proxy on the way to models.example does not let the request through";
    let answers = [
        (
            password.to_owned(),
            ModelErrorKind::NotAModelServer,
            "the proxy on the way to models.example requires a name and a password; enter both beside the proxy in \
             Settings, Models, or start Bosun with HTTPS_PROXY",
        ),
        (forbidden, ModelErrorKind::NotAModelServer, refused),
        (elsewhere.to_owned(), ModelErrorKind::NotAModelServer, refused),
        (portal, ModelErrorKind::Network, "no secure connection to https://models.example"),
        (String::new(), ModelErrorKind::Network, refused),
    ];
    for (answer, kind, words) in answers {
        let said = answer.clone();
        let (port, heard) = serving(move |mut stream, heard| {
            read_head(&mut stream, &heard);
            // The client may have left.
            stream.write_all(said.as_bytes()).ok();
            let mut rest = [0; 4096];
            stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            while let Ok(read @ 1..) = stream.read(&mut rest) {
                heard.lock().unwrap().extend(&rest[..read]);
            }
        });
        let options = NetworkOptions {
            proxy: Some(format!("http://127.0.0.1:{port}")),
            connect: after(2_000),
            first_byte: after(4_000),
            ..NetworkOptions::default()
        };
        for (family, base_url) in [
            (Family::Anthropic, "https://models.example"),
            (Family::OpenAiChat, "https://models.example/v1"),
            (Family::Gemini, "https://models.example"),
            (Family::Ollama, "https://models.example"),
        ] {
            let error = error_at(family, base_url, options.clone()).await;
            assert_eq!(error.kind, kind, "{answer}: {error}");
            assert!(error.message.starts_with(words), "{answer}: {error}");
        }
        let heard = String::from_utf8_lossy(&heard.lock().unwrap()).into_owned();
        assert!(heard.starts_with("CONNECT models.example:443 "), "{heard}");
        assert!(!heard.contains("canary") && !heard.to_lowercase().contains("authorization: bearer"), "{heard}");
    }
}

/// N11: a proxy that is not there is not taken for a provider that is not there.
#[tokio::test]
async fn a_proxy_that_cannot_be_reached_is_named_as_what_is_missing() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "socks5h"] {
        let proxy = Some(format!("{scheme}://127.0.0.1:{port}"));
        let options = NetworkOptions { proxy, connect: after(4_000), ..NetworkOptions::default() };
        let error = error_at(Family::OpenAiChat, "https://models.example/v1", options).await;
        assert_eq!(error.kind, ModelErrorKind::Network, "{error}");
        let words = "the proxy on the way to models.example cannot be reached";
        assert!(error.message.starts_with(words), "{scheme}: {error}");
    }
}
