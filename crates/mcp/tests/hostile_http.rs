//! Servers over HTTP that flood and hang: each is bounded and said, as those over pipes are (`hostile.rs`).
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make their own servers")]

#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "support/stage.rs"]
mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosun_mcp::{Health, ServerConfig};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use stage::Stage;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request of this method.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Answer,
    /// Says something without an end, but not the answer.
    Flood,
    /// The same in what no client can read.
    Babble,
    /// Nothing at all.
    Hang,
}

/// Where a server listens that does so with the requests of `method` until it has done so once, and answers all others.
async fn server(method: &'static str, does: Does) -> ServerConfig {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let misdeeds = Arc::new(AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let misdeeds = Arc::clone(&misdeeds);
            // It ends with its connection.
            tokio::spawn(async move { serve(stream, method, does, &misdeeds).await.ok() });
        }
    });
    ServerConfig { url: Some(url), start_timeout: 60, call_timeout: 60, ..ServerConfig::default() }
}

async fn serve(stream: TcpStream, method: &str, does: Does, misdeeds: &AtomicUsize) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length, mut is_post) = (String::new(), 0, false);
    while stream.read_line(&mut line).await? > 2 {
        is_post |= line.starts_with("POST");
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().unwrap();
        }
        line.clear();
    }
    if !is_post {
        return stream.write_all(b"HTTP/1.1 405 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let request: Value = serde_json::from_slice(&body).unwrap();
    let named = request["method"].as_str().unwrap_or_default();
    let deed = if named == method && misdeeds.fetch_add(1, Ordering::SeqCst) == 0 { does } else { Does::Answer };
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/message",
        "params": { "level": "info", "data": "x".repeat(60_000) } });
    match deed {
        Does::Answer => {}
        Does::Hang => std::future::pending().await,
        Does::Flood => return pour(stream, &format!("data: {notice}\n\n")).await,
        Does::Babble => return pour(stream, &format!("data: {}\n\n", "x".repeat(60_000))).await,
    }
    let result = match named {
        "initialize" => json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "fake", "version": "1" } }),
        "tools/list" => json!({ "tools": [{ "name": "act", "inputSchema": { "type": "object" } }] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
        _ => {
            return stream.write_all(b"HTTP/1.1 202 Yes\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
        }
    };
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length:";
    stream.write_all(format!("{head} {}\r\n\r\n{answer}", answer.len()).as_bytes()).await
}

async fn pour(mut stream: BufReader<TcpStream>, event: &str) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n").await?;
    loop {
        stream.write_all(event.as_bytes()).await?;
    }
}

#[tokio::test]
async fn a_polite_one_over_http_works() {
    let stage = Stage::started(server("nothing", Does::Answer).await).await;
    assert_eq!(stage.text("s__act", json!({})).await, "done");
}

#[tokio::test]
async fn a_flood_over_http_ends_the_connection_and_the_next_call_makes_another() {
    for flood in [Does::Flood, Does::Babble] {
        let stage = Stage::started(server("tools/call", flood).await).await;
        let refusal = stage.refusal("s__act", json!({})).await;
        assert!(refusal.contains("wrote more than 64 MB without an answer and was ended"), "{refusal}");
        assert!(matches!(stage.health(), Health::Failed { .. }));
        assert_eq!(stage.text("s__act", json!({})).await, "done");
    }
}

#[tokio::test]
async fn a_flood_over_http_in_the_place_of_a_welcome_or_a_list_is_a_start_that_failed() {
    for method in ["initialize", "tools/list"] {
        let stage = Stage::started(server(method, Does::Flood).await).await;
        let reason = stage.reason();
        assert!(reason.contains("wrote more than 64 MB without an answer and was ended"), "{method}: {reason}");
        assert_eq!(stage.names(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn one_over_http_that_hangs_is_given_up_and_the_next_call_works() {
    let config = ServerConfig { call_timeout: 1, ..server("tools/call", Does::Hang).await };
    let stage = Stage::started(config).await;
    let refusal = stage.refusal("s__act", json!({})).await;
    assert!(refusal.contains("did not answer within 1 seconds"), "{refusal}");
    assert_eq!(stage.text("s__act", json!({})).await, "done");
    let config = ServerConfig { start_timeout: 1, ..server("initialize", Does::Hang).await };
    assert_eq!(Stage::started(config).await.reason(), "did not answer within 1 seconds of starting");
}
