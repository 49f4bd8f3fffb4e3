//! From starting `bosun run` to the first byte of its first request at the model. The model here is a bare listener of our
//! own, so that nothing but the program is measured. The process is new, and its files are in memory.
//!
//! Where one may see to that, once more no file is in memory: libc and the loader's cache, too, come from the disk then. That
//! says as much of the disk as of the program, so that `curl` does the same in the same run.

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Bench;
use super::desk::{ANSWER, run};
use super::measure::{Sample, forget_files, millis};
use super::table::{Row, Target};

const ROUNDS: usize = 20;
/// Each of these makes the whole machine read its files anew.
const FEW_ROUNDS: usize = 5;
/// Milliseconds.
const UNDER: Target = Target::Under(30.0);
const PATIENCE: Duration = Duration::from_secs(20);

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.place.target.join("bench/start");
    let forget = || std::fs::remove_dir_all(folder.join("data")).or_else(absent_is_fine);
    std::fs::create_dir_all(folder.join("project")).with_context(|| format!("could not make {}", folder.display()))?;
    let again = Sample::take(ROUNDS, || once(&bench.bosun, &folder))?;
    let first = Sample::take(ROUNDS, || {
        forget()?;
        once(&bench.bosun, &folder)
    })?;
    let mut rows = vec![
        Row::new("first request, data folder exists", &again, "ms", UNDER),
        Row::new("first request, new data folder", &first, "ms", UNDER),
    ];
    if forget_files() {
        let (mut cold, mut peer) = (Vec::new(), Vec::new());
        for _ in 0..FEW_ROUNDS {
            forget_files();
            cold.push(once(&bench.bosun, &folder)?);
            forget_files();
            peer.extend(until_asked("curl", curl).ok());
        }
        rows.push(Row::new("first request, no file in memory", &Sample::from(cold), "ms", Target::None));
        if !peer.is_empty() {
            rows.push(Row::new("  curl in its place", &Sample::from(peer), "ms", Target::None));
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn once(bosun: &Path, folder: &Path) -> Result<f64> {
    until_asked("bosun", |url| run(bosun, folder, url, ANSWER))
}

/// From starting what `command` makes of the listener's address to the first byte that comes from it.
fn until_asked(name: &str, command: impl FnOnce(&str) -> Command) -> Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let mut command = command(&format!("http://127.0.0.1:{}/v1", listener.local_addr()?.port()));
    let start = Instant::now();
    let mut child = command.stderr(Stdio::null()).spawn().with_context(|| format!("could not start {name}"))?;
    let arrived = first_byte(&listener, start);
    child.kill()?;
    child.wait()?;
    arrived
}

fn curl(url: &str) -> Command {
    let mut command = Command::new("curl");
    command.args(["--silent", url]).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn first_byte(listener: &TcpListener, start: Instant) -> Result<f64> {
    loop {
        match listener.accept() {
            Ok((mut stream, _)) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.read_exact(&mut [0])?;
                return Ok(millis(start.elapsed()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if start.elapsed() > PATIENCE {
            bail!("bosun sent no request within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

pub(super) fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
