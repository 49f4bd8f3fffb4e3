use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{BackendError, BoxFuture};

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
    /// Standard output and error as they came, head and tail where it was too long; lossy UTF-8.
    pub output: String,
    /// `None` where the command was ended by a signal, its time limit or a cancellation.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub cancelled: bool,
    /// Whether `output` leaves something out.
    pub truncated: bool,
    /// All bytes that were written, shown or not.
    pub total_bytes: u64,
    /// The exact bytes, up to the keeping limit; `None` where `output` is exact.
    pub full_output: Option<Vec<u8>>,
    pub duration: Duration,
}
