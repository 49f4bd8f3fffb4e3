use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::super::keeper;

/// Longest name of the folder of a line: a socket's whole name has to fit into 108 bytes, and the client adds to it.
const LONGEST: usize = 70;
/// Time for connecting, over the client's own.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);
/// After a line that could not be had, everything goes by itself for so long.
const PAUSE: Duration = Duration::from_secs(30);

/// One connection to a machine that everything else goes over, so that not every operation has to greet and to prove
/// who it is. It is there from the first operation to the end of its owner; its end of this machine is a socket in a
/// folder that nobody else may enter. Where it cannot be had, every operation connects by itself as ever.
pub(super) struct Line {
    opening: tokio::sync::Mutex<()>,
    open: Mutex<Option<Open>>,
    failed: Mutex<Option<Instant>>,
}

struct Open {
    /// Ends when its standard input does, also where the app ends without a word.
    client: Child,
    folder: TempDir,
}

impl Line {
    pub(super) fn new() -> Self {
        Self { opening: tokio::sync::Mutex::default(), open: Mutex::default(), failed: Mutex::default() }
    }

    /// The socket of the connection, where it is up.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        let mut open = locked(&self.open);
        let is_up = open.as_mut().is_some_and(|open| matches!(open.client.try_wait(), Ok(None)));
        if !is_up {
            *open = None;
        }
        open.as_ref().map(|open| socket_in(open.folder.path())).filter(|socket| socket.exists())
    }

    /// Opens the connection where it is not up, by the client that `connect` gives for its socket. Returns when it is up or
    /// cannot be.
    pub(super) async fn open(&self, connect: impl Fn(&Path) -> Command) {
        let opening = self.opening.lock().await;
        let paused = locked(&self.failed).is_some_and(|at| at.elapsed() < PAUSE);
        if self.socket().is_some() || paused {
            return;
        }
        let opened = opened(connect).await;
        let failed = opened.is_none().then(Instant::now);
        *locked(&self.failed) = failed;
        *locked(&self.open) = opened;
        drop(opening);
    }
}

async fn opened(connect: impl Fn(&Path) -> Command) -> Option<Open> {
    let folder = tempfile::Builder::new().prefix("bosun-").tempdir().ok()?;
    if folder.path().as_os_str().len() > LONGEST {
        return None;
    }
    let socket = socket_in(folder.path());
    let mut client = connect(&socket);
    client.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).kill_on_drop(true);
    let mut client = keeper::started(move || client.spawn()).await?.ok()?;
    let until = Instant::now() + PATIENCE;
    // The client makes the socket as soon as the other side has let it in.
    while Instant::now() < until && matches!(client.try_wait(), Ok(None)) {
        if socket.exists() {
            return Some(Open { client, folder });
        }
        tokio::time::sleep(LOOK).await;
    }
    tracing::debug!("there is no connection to go over; every operation makes its own");
    None
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("s")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
