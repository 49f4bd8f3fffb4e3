//! HTTP/2 servers that mean no good, one frame at a time: resets, GOAWAY, floods, heads without end (N08).

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]
#![allow(clippy::disallowed_methods, reason = "a test reads its own clock and memory")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bosun_model::{ChatRequest, Message, ModelError, ModelErrorKind, ModelEvent};
use bosun_providers::{Family, Network, NetworkOptions, ProviderConfig, connect};
use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const AUTHORITY: &str = include_str!("../fixtures/tls/authority.pem");
const SERVER: &str = include_str!("../fixtures/tls/server.pem");
const SERVER_KEY: &str = include_str!("../fixtures/tls/server.key");
const KEY: &str = "sk-canary-0123456789";

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Kinds of frames.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// Flags.
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
/// The stream of the first request of a connection.
const FIRST: u32 = 1;

/// A reply of Chat Completions up to where its text ends, and the rest of it.
const BEGINNING: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half a\"}}]}\n\n";
const END: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

type Tls = StreamOwned<ServerConnection, TcpStream>;

/// One connection that speaks HTTP/2. Writing fails silently once the client has left.
struct Wire(Tls);

impl Wire {
    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.0.write_all(&frame).is_ok()
    }

    /// The next frame: kind, flags, stream.
    fn receive(&mut self) -> Option<(u8, u8, u32)> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).ok()?;
        Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]])))
    }

    /// Shakes hands and reads the first request to its end.
    fn request(&mut self) -> Option<()> {
        let mut preface = [0; PREFACE.len()];
        self.0.read_exact(&mut preface).ok()?;
        assert_eq!(preface, PREFACE);
        self.send(SETTINGS, 0, 0, &[]);
        loop {
            let (kind, flags, stream) = self.receive()?;
            match kind {
                SETTINGS if flags & ACK == 0 => {
                    self.send(SETTINGS, ACK, 0, &[]);
                }
                HEADERS | DATA if stream == FIRST && flags & END_STREAM != 0 => return Some(()),
                _ => {}
            }
        }
    }

    /// The head of an answer that streams events.
    fn head(&mut self) -> bool {
        // Status 200 and content-type by their numbers in HPACK's static table.
        let block = [&[0x88, 0x0f, 0x10, 17][..], b"text/event-stream"].concat();
        self.send(HEADERS, END_HEADERS, FIRST, &block)
    }

    /// Reads until the client leaves.
    fn rest(&mut self) {
        while self.receive().is_some() {}
    }
}

/// A server that does `play` once a request is there, for every connection; how many there were is counted.
fn playing(play: impl Fn(&mut Wire) + Send + Sync + 'static) -> (u16, Arc<AtomicUsize>) {
    let chain = vec![CertificateDer::from_pem_slice(SERVER.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(SERVER_KEY.as_bytes()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_no_client_auth().with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let (config, play) = (Arc::new(config), Arc::new(play));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let (config, play, count) = (Arc::clone(&config), Arc::clone(&play), Arc::clone(&count));
            thread::spawn(move || {
                let mut wire = Wire(StreamOwned::new(ServerConnection::new(config).unwrap(), stream));
                if wire.request().is_some() {
                    count.fetch_add(1, Ordering::SeqCst);
                    play(&mut wire);
                }
            });
        }
    });
    (port, asked)
}

/// What a call to the server at `port` gives.
async fn call(port: u16) -> (Vec<ModelEvent>, Option<ModelError>) {
    call_telling(port, &channel().0).await
}

/// As [`call`]; `arrived` is told of each event when the client has it, for a server that has to wait for that.
async fn call_telling(port: u16, arrived: &Sender<()>) -> (Vec<ModelEvent>, Option<ModelError>) {
    let limit = Some(Duration::from_secs(2));
    let options = NetworkOptions {
        certificates: Some(AUTHORITY.to_owned()),
        first_byte: limit,
        idle: limit,
        total: Some(Duration::from_secs(10)),
        ..NetworkOptions::default()
    };
    let config = ProviderConfig::new("own", Family::OpenAiChat, format!("https://localhost:{port}/v1"));
    let config = config.with_key(KEY).over(Network::new(options).unwrap());
    let request = ChatRequest { messages: vec![Message::human("h", "hello").into()].into(), ..ChatRequest::default() };
    let mut events = Vec::new();
    let error = match connect(&config, "m").unwrap().stream(request).await {
        Err(error) => Some(error),
        Ok(mut stream) => loop {
            match stream.next().await {
                None => break None,
                Some(Err(error)) => break Some(error),
                Some(Ok(event)) => {
                    events.push(event);
                    // A server that waits for nothing has dropped its end.
                    arrived.send(()).ok();
                }
            }
        },
    };
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    (events, error)
}

fn text(events: &[ModelEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        ModelEvent::TextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    deltas.collect()
}

fn is_finished(events: &[ModelEvent]) -> bool {
    events.iter().any(|event| matches!(event, ModelEvent::Finished { .. }))
}

#[tokio::test]
async fn a_whole_reply_comes_over_http_2() {
    let (port, asked) = playing(|wire| {
        wire.head();
        wire.send(DATA, 0, FIRST, BEGINNING);
        wire.send(DATA, END_STREAM, FIRST, END);
        wire.rest();
    });
    let (events, error) = call(port).await;
    assert_eq!((text(&events).as_str(), is_finished(&events), error), ("half a", true, None));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// What came before the break stays, is no message, and the request is not sent again.
#[tokio::test]
async fn a_reset_or_a_goodbye_in_the_middle_is_a_cut_reply() {
    type End = fn(&mut Wire);
    let ends: [(&str, End); 5] = [
        ("reset", |wire| {
            wire.send(RESET, 0, FIRST, &2_u32.to_be_bytes());
        }),
        ("reset without an error", |wire| {
            wire.send(RESET, 0, FIRST, &0_u32.to_be_bytes());
        }),
        ("goodbye", |wire| {
            wire.send(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 2]);
        }),
        ("more than was asked for", |wire| {
            // Past every window that was granted.
            (0..8_000).all(|_| wire.send(DATA, 0, FIRST, &[b' '; 16_000]));
        }),
        ("a frame of a stream that nobody opened", |wire| {
            wire.send(DATA, 0, 7, b"x");
        }),
    ];
    for (name, end) in ends {
        let (arrived, arrives) = channel();
        let arrives = Mutex::new(arrives);
        let (port, asked) = playing(move |wire| {
            wire.head();
            wire.send(DATA, 0, FIRST, BEGINNING);
            // What ends a connection may throw away what its other end has not read yet.
            arrives.lock().unwrap().recv_timeout(Duration::from_secs(30)).unwrap();
            end(wire);
        });
        let (events, error) = call_telling(port, &arrived).await;
        let error = error.unwrap_or_else(|| panic!("{name}: {events:?}"));
        // Whether a flood runs into the windows or into the longest event that is taken is a race.
        let is_flood = name == "more than was asked for" && error.kind == ModelErrorKind::Protocol;
        assert!(is_flood || error.kind == ModelErrorKind::StreamCut, "{name}: {error}");
        assert_eq!((text(&events).as_str(), is_finished(&events)), ("half a", false), "{name}");
        assert_eq!(asked.load(Ordering::SeqCst), 1, "{name}");
    }
}

/// A request that the server says it did not take may be sent again, and not for ever.
#[tokio::test]
async fn a_request_that_is_turned_away_ends_in_an_error() {
    for turn_away in [
        |wire: &mut Wire| {
            wire.send(RESET, 0, FIRST, &7_u32.to_be_bytes());
        },
        |wire: &mut Wire| {
            wire.send(GOAWAY, 0, 0, &[0; 8]);
        },
        |wire: &mut Wire| {
            wire.send(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 0xb]);
        },
    ] {
        let (port, asked) = playing(turn_away);
        let (events, error) = call(port).await;
        let error = error.unwrap();
        assert_eq!((events.len(), error.kind), (0, ModelErrorKind::Network), "{error}");
        assert!((1..=8).contains(&asked.load(Ordering::SeqCst)), "{asked:?}");
    }
}

/// Pings and settings without end cost no memory and are no sign of life: the limits on waiting hold.
#[tokio::test]
async fn floods_are_bounded() {
    let ping = |wire: &mut Wire| wire.send(PING, 0, 0, &[7; 8]);
    let settings = |wire: &mut Wire| wire.send(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]);
    let window = |wire: &mut Wire| wire.send(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]);
    let empty = |wire: &mut Wire| wire.send(DATA, 0, FIRST, &[]);
    type Flood = fn(&mut Wire) -> bool;
    let floods: [(&str, Flood); 4] = [("ping", ping), ("settings", settings), ("window", window), ("empty", empty)];
    for (name, flood) in floods {
        let (port, _) = playing(move |wire| {
            wire.head();
            wire.send(DATA, 0, FIRST, BEGINNING);
            let until = Instant::now() + Duration::from_secs(4);
            while Instant::now() < until && flood(wire) {}
        });
        let before = resident();
        let (events, error) = call(port).await;
        let error = error.unwrap();
        let kinds = [ModelErrorKind::Timeout, ModelErrorKind::StreamCut];
        assert!(kinds.contains(&error.kind), "{name}: {error}");
        assert_eq!((text(&events).as_str(), is_finished(&events)), ("half a", false), "{name}");
        let grown = resident().saturating_sub(before);
        assert!(grown < 64 << 20, "{name}: {grown} bytes more");
    }
}

/// Heads that are continued for ever, and heads that are larger than a head may be.
#[tokio::test]
async fn heads_without_end_are_given_up() {
    let (port, _) = playing(|wire| {
        wire.send(HEADERS, 0, FIRST, &[0x88]);
        // A header `x` of 100 letters, again and again.
        let header = [&[0x00, 1, b'x', 100][..], &[b'y'; 100]].concat();
        let block = header.repeat(100);
        let until = Instant::now() + Duration::from_secs(4);
        while Instant::now() < until && wire.send(CONTINUATION, 0, FIRST, &block) {}
    });
    let before = resident();
    let (events, error) = call(port).await;
    assert_eq!((events.len(), error.unwrap().kind), (0, ModelErrorKind::Network));
    assert!(resident().saturating_sub(before) < 64 << 20);
}

/// Memory of this process in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}
