use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{BackendError, BoxFuture, CommandChanges};

/// Runs commands where the backend's files are.
pub trait Shell: Send + Sync {
    /// Runs `request.command` to its end, its time limit, or its cancellation. The whole process tree has ended when
    /// this returns; a background child never keeps it waiting.
    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>>;

    /// The limit used when a request names none.
    fn default_timeout(&self) -> Duration;

    /// What holds the command back, in words for a person: `None` where nothing does.
    fn sandbox(&self) -> Option<&str>;

    /// What a command did to files under which an earlier life of the app ended; told once. `None` where nobody can tell.
    fn left_over(&self) -> BoxFuture<'_, Option<CommandChanges>> {
        Box::pin(async { None })
    }
}

/// Takes output while the command runs. Called from the reader's task; must not block.
pub trait OutputSink: Send + Sync {
    fn output(&self, bytes: &[u8]);
}

#[derive(Clone, Debug)]
pub struct ExecRequest {
    pub command: String,
    /// `None` takes the shell's default.
    pub timeout: Option<Duration>,
    pub cancel: CancellationToken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecResult {
    /// Standard output and error in the order in which their lines came, every line of standard error marked with
    /// `[stderr] `; head and tail where it was too long; lossy UTF-8.
    pub output: String,
    /// `None` where the command was ended by a signal, its time limit or a cancellation.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub cancelled: bool,
    /// The way to where it ran broke off, so that nobody knows how it ended: it may have come to its end, or go on. `exit_code`
    /// and `signal` are `None` then.
    pub broke_off: bool,
    /// Whether `output` leaves something out.
    pub truncated: bool,
    /// All bytes that the command wrote, shown or not.
    pub total_bytes: u64,
    /// The same output with nothing left out and its exact bytes, up to the keeping limit; `None` where `output` is
    /// exact.
    pub full_output: Option<KeptOutput>,
    pub duration: Duration,
    /// What it did to files, where the shell's backend can tell.
    pub files: Option<CommandChanges>,
}

/// Output that is too long for a message: in a nameless temporary file, which is gone when the last clone is.
#[derive(Clone, Debug)]
pub struct KeptOutput {
    file: Arc<File>,
    len: u64,
}

impl KeptOutput {
    pub(crate) fn new(file: File, len: u64) -> Self {
        Self { file: Arc::new(file), len }
    }

    /// Keeps `bytes`, as a shell on another machine or a test does.
    pub fn of(bytes: &[u8]) -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        file.write_all_at(bytes, 0)?;
        Ok(Self::new(file, bytes.len() as u64))
    }

    /// Bytes kept.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Up to `limit` bytes from `offset` on. Blocks on the disk: call it on the blocking pool.
    pub fn read(&self, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(limit)];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// Two are equal when they are the same file.
impl PartialEq for KeptOutput {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

impl Eq for KeptOutput {}
