//! From starting `bosun run` to the first byte of its first request at the model. The model here is a bare listener of our
//! own, so that nothing but the program is measured. The process is new; its files are in memory, and once more are not, where
//! one may see to that.

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
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
        let cold = Sample::take(FEW_ROUNDS, || {
            forget_files();
            once(&bench.bosun, &folder)
        })?;
        rows.push(Row::new("first request, no file in memory", &cold, "ms", UNDER));
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn once(bosun: &Path, folder: &Path) -> Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://127.0.0.1:{}/v1", listener.local_addr()?.port());
    let mut command = run(bosun, folder, &url, ANSWER);
    let start = Instant::now();
    let mut child = command.stderr(std::process::Stdio::null()).spawn().context("could not start bosun")?;
    let arrived = first_byte(&listener, start);
    child.kill()?;
    child.wait()?;
    arrived
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

fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
