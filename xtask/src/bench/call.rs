//! From the last byte of a reply to the start of its tool. The model here is a bare listener of our own: it writes the end of a
//! reply that reads one file, and looks when that file was read. The way through the pipe to Bosun is in the figure. The first
//! call of a process goes through code that was never in memory before, so it is told apart from the ones after it.

use anyhow::{Context, Result, bail};
use std::fs::{self, File, FileTimes};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::Bench;
use super::desk::{ANSWER, run};
use super::measure::{Sample, millis};
use super::table::{Row, Target};

const RUNS: usize = 20;
/// Calls of a run, one reply each.
const CALLS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(20);

/// The reply up to its last event. The call's arguments are whole, but nothing says so yet.
const BEGINNING: [&str; 2] = [
    r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"role":"assistant","content":"Reading."},"finish_reason":null}]}"#,
    r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"file_path\":\"/note.txt\"}"}}]},"finish_reason":null}]}"#,
];
const END: &str = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

/// How often is looked whether the file was read.
const LOOK_EVERY: Duration = Duration::from_micros(20);

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.place.target.join("bench/call");
    let project = folder.join("project");
    fs::create_dir_all(&project).with_context(|| format!("could not make {}", folder.display()))?;
    fs::write(project.join("note.txt"), "eight bells\n")?;
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut waits = run_of(&bench.bosun, &folder)?.into_iter();
        first.extend(waits.next());
        later.extend(waits);
    }
    fs::remove_dir_all(&folder)?;
    let row = |what, waits| Row::new(what, &Sample::from(waits), "ms", Target::Under(1.0));
    Ok(vec![
        row("last byte of a reply to its tool reading", later),
        row("the same for the first call of a process", first),
    ])
}

/// How long each call of one process took, in their order.
fn run_of(bosun: &Path, folder: &Path) -> Result<Vec<f64>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("http://127.0.0.1:{}/v1", listener.local_addr()?.port());
    let mut command = run(bosun, folder, &url, ANSWER);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("could not start bosun")?;
    let note = folder.join("project/note.txt");
    let waits = (0..CALLS).map(|call| last_byte_to_tool(answered(&listener, call)?, &note)).collect();
    child.kill()?;
    child.wait()?;
    waits
}

/// Takes a request and answers with all of a reply but its end.
fn answered(listener: &TcpListener, call: usize) -> Result<TcpStream> {
    let (mut model, _) = listener.accept()?;
    model.set_read_timeout(Some(PATIENCE))?;
    model.set_nodelay(true)?;
    whole_request(&mut model)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    model.write_all(head.as_bytes())?;
    for event in BEGINNING {
        let event = event.replace("call_1", &format!("call_{call}"));
        model.write_all(format!("data: {event}\n\n").as_bytes())?;
    }
    // What is measured must not hold the reading of what came before.
    thread::sleep(Duration::from_millis(100));
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

fn last_byte_to_tool(mut model: TcpStream, note: &Path) -> Result<f64> {
    // Read for the last time before it was written, so that the next time is kept also where not every one is.
    let unread = SystemTime::UNIX_EPOCH;
    File::options().write(true).open(note)?.set_times(FileTimes::new().set_accessed(unread))?;
    let end = format!("data: {END}\n\ndata: [DONE]\n\n");
    let start = Instant::now();
    model.write_all(end.as_bytes())?;
    while fs::metadata(note)?.accessed()? == unread {
        if start.elapsed() > PATIENCE {
            bail!("the file was not read within {PATIENCE:?}, or this file system does not keep when it was");
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(millis(start.elapsed()))
}
