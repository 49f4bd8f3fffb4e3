//! From the last byte of a reply to the start of its tool. The model here is a bare listener of our own: it writes the end of a
//! reply with one call in it, and looks for the event that says that the call runs in what `bosun run --json` prints. What
//! is told holds the way through both pipes, too.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::Bench;
use super::desk::{ANSWER, run};
use super::measure::{Sample, millis};
use super::table::{Row, Target};

const ROUNDS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(20);

/// The reply up to its last event. The call's arguments are whole, but nothing says so yet.
const BEGINNING: [&str; 2] = [
    r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"role":"assistant","content":"Reading."},"finish_reason":null}]}"#,
    r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"file_path\":\"/note.txt\"}"}}]},"finish_reason":null}]}"#,
];
const END: &str = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

/// What the event of a call that runs has in it.
const RUNNING: &str = r#""state":"running""#;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.place.target.join("bench/call");
    let project = folder.join("project");
    std::fs::create_dir_all(&project).with_context(|| format!("could not make {}", folder.display()))?;
    std::fs::write(project.join("note.txt"), "eight bells\n")?;
    let waits = Sample::take(ROUNDS, || once(&bench.bosun, &folder))?;
    std::fs::remove_dir_all(&folder)?;
    Ok(vec![Row::new("last byte of a reply to its tool running", &waits, "ms", Target::Under(1.0))])
}

fn once(bosun: &Path, folder: &Path) -> Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("http://127.0.0.1:{}/v1", listener.local_addr()?.port());
    let mut command = run(bosun, folder, &url, ANSWER);
    let mut child =
        command.arg("--json").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("could not start bosun")?;
    let printed = child.stdout.take().context("bosun has no output")?;
    let waited = answered(&listener).and_then(|model| last_byte_to_tool(model, BufReader::new(printed)));
    child.kill()?;
    child.wait()?;
    waited
}

/// Takes a request and answers with all of a reply but its end.
fn answered(listener: &TcpListener) -> Result<TcpStream> {
    let (mut model, _) = listener.accept()?;
    model.set_read_timeout(Some(PATIENCE))?;
    model.set_nodelay(true)?;
    whole_request(&mut model)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    model.write_all(head.as_bytes())?;
    for event in BEGINNING {
        model.write_all(format!("data: {event}\n\n").as_bytes())?;
    }
    // What is measured must not hold the reading of what came before.
    std::thread::sleep(Duration::from_millis(100));
    Ok(model)
}

fn whole_request(model: &mut TcpStream) -> Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 64 << 10];
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(());
            }
        }
        let read = model.read(&mut buffer)?;
        if read == 0 {
            bail!("bosun left in the middle of its request");
        }
        request.extend_from_slice(buffer.get(..read).unwrap_or_default());
    }
}

fn last_byte_to_tool(mut model: TcpStream, mut printed: impl BufRead) -> Result<f64> {
    let end = format!("data: {END}\n\ndata: [DONE]\n\n");
    let start = Instant::now();
    model.write_all(end.as_bytes())?;
    let mut line = String::new();
    loop {
        line.clear();
        if printed.read_line(&mut line)? == 0 {
            bail!("bosun ended without running the tool");
        }
        if line.contains(RUNNING) {
            return Ok(millis(start.elapsed()));
        }
        if start.elapsed() > PATIENCE {
            bail!("the tool did not run within {PATIENCE:?}");
        }
    }
}
