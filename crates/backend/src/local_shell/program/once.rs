use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio_util::sync::CancellationToken;

use super::{Program, ProgramExit};
use crate::BackendError;

/// Time for the pipes to close after the program itself has ended; something it left behind may hold them.
const DRAIN: Duration = Duration::from_millis(200);

/// One run of a program from its start to its end.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// What it reads; then its standard input is closed.
    pub input: Vec<u8>,
    pub timeout: Duration,
    pub cancel: CancellationToken,
    /// Bytes kept of each output; what is over is read and dropped.
    pub most_output: usize,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramAnswer {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether `stdout` or `stderr` leaves something out.
    pub truncated: bool,
    /// `None` where it did not end by itself in its time.
    pub exit: Option<ProgramExit>,
    pub cancelled: bool,
}

impl Program {
    /// Runs it to its end, its time limit or its cancellation. It and everything it started have ended when this
    /// returns.
    ///
    /// # Errors
    /// [`BackendError::Spawn`] where it cannot be started.
    pub async fn run(&self, run: ProgramRun) -> Result<ProgramAnswer, BackendError> {
        let (mut program, pipes) = self.start()?;
        let (mut out, mut err) = (Kept::new(run.most_output), Kept::new(run.most_output));
        let mut exit = None;
        let mut cancelled = false;
        {
            let talk = async {
                tokio::join!(feed(pipes.stdin, &run.input), out.read(pipes.stdout), err.read(pipes.stderr));
            };
            let mut talk = std::pin::pin!(talk);
            let deadline = tokio::time::sleep(run.timeout);
            let mut deadline = std::pin::pin!(deadline);
            let mut talking = true;
            while exit.is_none() {
                tokio::select! {
                    biased;
                    () = run.cancel.cancelled() => { cancelled = true; break }
                    () = &mut deadline => break,
                    () = &mut talk, if talking => talking = false,
                    ended = program.wait() => exit = Some(ended?),
                }
            }
            // Whatever it left running must not hold the pipes open for ever; the rest of the output is bounded anyway.
            if exit.is_some() && talking && tokio::time::timeout(DRAIN, &mut talk).await.is_err() {
                tracing::debug!("a program ended and left its pipes open");
            }
        }
        program.end().await;
        Ok(ProgramAnswer { truncated: out.cut || err.cut, stdout: out.bytes, stderr: err.bytes, exit, cancelled })
    }
}

/// Writes all of `input` and closes the pipe. A program that does not read is its own affair.
async fn feed(mut stdin: ChildStdin, input: &[u8]) {
    if let Err(error) = stdin.write_all(input).await {
        tracing::debug!(%error, "a program did not read its input");
    }
}

/// The beginning of an output.
struct Kept {
    bytes: Vec<u8>,
    most: usize,
    cut: bool,
}

impl Kept {
    fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most, cut: false }
    }

    async fn read(&mut self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(got @ 1..) = pipe.read(&mut buffer).await {
            let room = self.most.saturating_sub(self.bytes.len()).min(got);
            self.bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
            self.cut |= room < got;
        }
    }
}
