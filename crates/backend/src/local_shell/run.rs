use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio_util::sync::CancellationToken;

use super::launch::Running;
use super::output::{Collector, Stream};
use super::tree::ProcessTree;
use crate::sandbox::Word;
use crate::{BackendError, ExecResult, OutputSink};

/// What a pipe holds at most.
const PIPE: usize = 64 * 1024;
/// Standard error comes first every so many reads.
const TURNS: u32 = 16;
/// An unfinished line is shown when nothing came for this long.
const IDLE: Duration = Duration::from_millis(100);
/// Time for the last bytes of programs that end a moment after the shell, before they are ended.
const GRACE: Duration = Duration::from_millis(100);
/// Time for what ran a command to end, once that has said how the command did. What does not end by then has something left
/// that holds its output.
const AFTER_END: Duration = Duration::from_millis(500);
/// Time for the other end of a line to end its command.
const HANG_UP: Duration = Duration::from_secs(3);
/// Time for the pipes to close once everything has ended. Only something that is not of the tree can hold them then.
const DRAIN: Duration = Duration::from_millis(200);

/// How the wait for a command ended.
enum End {
    Exit(std::io::Result<ExitStatus>),
    /// It was heard how, and what brings that goes on.
    Told,
    TimedOut,
    Cancelled,
}

/// `word` is what a script says around the output of the command; it is no part of that.
pub(crate) async fn run(
    running: Running,
    timeout: Duration,
    cancel: &CancellationToken,
    sink: &dyn OutputSink,
    spool_dir: PathBuf,
    word: Option<&mut Word>,
) -> Result<ExecResult, BackendError> {
    let begun = Instant::now();
    let Running { mut child, stdout, stderr, tree, line } = running;
    let alive = Alive::new(tree);
    let mut collector = Collector::new(sink, spool_dir, word);
    let mut pipes = Pipes::new(stdout, stderr);
    let mut exit = child.wait();
    let deadline = pin!(tokio::time::sleep(timeout));
    let end = wait(&mut exit, deadline, cancel, &mut pipes, &mut collector).await;
    let (timed_out, cancelled) = (matches!(end, End::TimedOut), matches!(end, End::Cancelled));
    let status = match end {
        End::Exit(status) => {
            pipes.read_rest(&mut collector);
            pipes.read_for(GRACE, &mut collector).await;
            alive.end(&mut pipes, &mut collector).await;
            Some(status.map_err(|error| BackendError::Spawn { reason: error.to_string() })?)
        }
        End::Told => {
            pipes.read_rest(&mut collector);
            alive.end(&mut pipes, &mut collector).await;
            if tokio::time::timeout(DRAIN, &mut exit).await.is_err() {
                tracing::warn!("what brought the end of a command was killed and has not ended yet");
            }
            None
        }
        End::TimedOut | End::Cancelled => {
            let hung_up = match line {
                Some(line) => {
                    drop(line);
                    let patience = pin!(tokio::time::sleep(HANG_UP));
                    let end = wait(&mut exit, patience, &CancellationToken::new(), &mut pipes, &mut collector).await;
                    matches!(end, End::Exit(_) | End::Told)
                }
                None => false,
            };
            alive.end(&mut pipes, &mut collector).await;
            // Only to leave no dead process behind: how it ended is known.
            if !hung_up && tokio::time::timeout(DRAIN, &mut exit).await.is_err() {
                tracing::warn!("a command was killed and has not ended yet");
            }
            None
        }
    };
    pipes.read_for(DRAIN, &mut collector).await;
    let collected = collector.finish().await;
    Ok(ExecResult {
        output: collected.output,
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        timed_out,
        cancelled,
        broke_off: false,
        may_go_on: false,
        unheld: false,
        armed: Vec::new(),
        truncated: collected.truncated,
        total_bytes: collected.written,
        full_output: collected.kept,
        duration: begun.elapsed(),
        files: None,
    })
}

type Exit<'a> = Pin<Box<dyn Future<Output = std::io::Result<ExitStatus>> + Send + 'a>>;

async fn wait(
    exit: &mut Exit<'_>,
    mut deadline: Pin<&mut tokio::time::Sleep>,
    cancel: &CancellationToken,
    pipes: &mut Pipes,
    collector: &mut Collector<'_>,
) -> End {
    let mut over = None;
    loop {
        if over.is_none() && collector.has_heard_the_end() {
            over = Some(Box::pin(tokio::time::sleep(AFTER_END)));
        }
        let is_open = over.is_none();
        tokio::select! {
            biased;
            () = cancel.cancelled(), if is_open => return End::Cancelled,
            () = &mut deadline, if is_open => return End::TimedOut,
            () = passed(&mut over) => return End::Told,
            () = pipes.read(collector), if pipes.are_open() => {}
            status = &mut *exit => return End::Exit(status),
        }
        collector.spill().await;
    }
}

async fn passed(over: &mut Option<Pin<Box<tokio::time::Sleep>>>) {
    match over {
        Some(over) => over.await,
        None => std::future::pending().await,
    }
}

/// Both ends of a command's output.
struct Pipes {
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
    out_buffer: Vec<u8>,
    err_buffer: Vec<u8>,
    turns: u32,
}

impl Pipes {
    fn new(out: ChildStdout, err: ChildStderr) -> Self {
        Self { out: Some(out), err: Some(err), out_buffer: vec![0; PIPE], err_buffer: vec![0; PIPE], turns: 0 }
    }

    fn are_open(&self) -> bool {
        self.out.is_some() || self.err.is_some()
    }

    /// Takes what comes next from either, or shows an unfinished line when nothing comes. Where both have something,
    /// standard output comes first, but not for ever. Losing this future loses no bytes.
    async fn read(&mut self, collector: &mut Collector<'_>) {
        self.turns = self.turns.wrapping_add(1);
        let out = next(&mut self.out, &mut self.out_buffer);
        let err = next(&mut self.err, &mut self.err_buffer);
        let first = if self.turns.is_multiple_of(TURNS) { Stream::Err } else { Stream::Out };
        let (stream, got) = tokio::select! {
            biased;
            read = either(first, out, err) => read,
            () = tokio::time::sleep(IDLE), if collector.holds() => return collector.flush(),
        };
        let (pipe_is_done, buffer) = (
            got == 0,
            match stream {
                Stream::Out => &self.out_buffer,
                Stream::Err => &self.err_buffer,
            },
        );
        collector.take(stream, buffer.get(..got).unwrap_or_default());
        match stream {
            Stream::Out if pipe_is_done => self.out = None,
            Stream::Err if pipe_is_done => self.err = None,
            _ => {}
        }
    }

    /// Takes what the pipes hold at this moment, which is the last that a command that has ended said. There may be others
    /// that write on and on, so it is no more than a pipe holds, and however late it is, no less.
    fn read_rest(&self, collector: &mut Collector<'_>) {
        let out = self.out.as_ref().map(AsFd::as_fd).map(|pipe| (Stream::Out, pipe));
        let err = self.err.as_ref().map(AsFd::as_fd).map(|pipe| (Stream::Err, pipe));
        for (stream, pipe) in [out, err].into_iter().flatten() {
            let mut left = PIPE;
            let mut buffer = vec![0; PIPE];
            while left > 0 {
                match rustix::io::read(pipe, buffer.get_mut(..left).unwrap_or_default()) {
                    Err(Errno::INTR) => {}
                    // An end is found once more by whoever reads next.
                    Ok(0) | Err(_) => break,
                    Ok(got) => {
                        collector.take(stream, buffer.get(..got).unwrap_or_default());
                        left -= got;
                    }
                }
            }
        }
    }

    /// Goes on reading until both are closed, for `time` at most.
    async fn read_for(&mut self, time: Duration, collector: &mut Collector<'_>) {
        let until = tokio::time::Instant::now() + time;
        while self.are_open() && tokio::time::timeout_at(until, self.read(collector)).await.is_ok() {
            collector.spill().await;
        }
    }
}

/// Bytes read; 0 at the end. A pipe that fails has nothing more to say either, one that is closed says nothing.
async fn next(pipe: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

async fn either(first: Stream, out: impl Future<Output = usize>, err: impl Future<Output = usize>) -> (Stream, usize) {
    let (mut out, mut err) = (pin!(out), pin!(err));
    match first {
        Stream::Out => tokio::select! {
            biased;
            got = &mut out => (Stream::Out, got),
            got = &mut err => (Stream::Err, got),
        },
        Stream::Err => tokio::select! {
            biased;
            got = &mut err => (Stream::Err, got),
            got = &mut out => (Stream::Out, got),
        },
    }
}

/// Ends the tree whichever way the run ends, also where its future is dropped.
pub(super) struct Alive {
    tree: ProcessTree,
    /// Ending is under way on a thread that nothing stops.
    ending: bool,
}

impl Alive {
    pub(super) fn new(tree: ProcessTree) -> Self {
        Self { tree, ending: false }
    }

    /// Ends all processes.
    pub(super) async fn end_now(&mut self) {
        let tree = self.tree;
        self.ending = true;
        if let Err(error) = tokio::task::spawn_blocking(move || tree.end()).await {
            tracing::warn!(%error, "processes of a program may go on");
        }
    }

    /// Ends all processes, while their last output is still read.
    async fn end(mut self, pipes: &mut Pipes, collector: &mut Collector<'_>) {
        let tree = self.tree;
        let mut ended = pin!(tokio::task::spawn_blocking(move || tree.end()));
        self.ending = true;
        loop {
            tokio::select! {
                _ = &mut ended => return,
                () = pipes.read(collector), if pipes.are_open() => {}
            }
            collector.spill().await;
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let tree = self.tree;
        if !self.ending && tree.kill_once() {
            // What was started meanwhile dies on a thread of its own: nobody waits here.
            let killer = std::thread::Builder::new().name("end of a command".to_owned());
            if let Err(error) = killer.spawn(move || tree.kill()) {
                tracing::warn!(%error, "processes of a dropped command may go on");
            }
        }
    }
}
