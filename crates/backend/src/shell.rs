use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{BackendError, BoxFuture, CommandChanges, VirtualPath};

/// Runs commands where the backend's files are.
pub trait Shell: Send + Sync {
    /// Runs `request.command` to its end, its time limit, or its cancellation. The whole process tree has ended when
    /// this returns, or it is said that nobody could tell ([`ExecResult::may_go_on`]); a background child never keeps it
    /// waiting.
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
    /// It was let run because something holds it back: where nothing does any more, it is not run.
    pub held: bool,
}

impl ExecRequest {
    /// With the shell's own time limit, and nobody to end it.
    pub fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), timeout: None, cancel: CancellationToken::new(), held: false }
    }
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
    /// Where it ran nobody could say that all that it had started has ended, as it was to with the command: some of it may
    /// go on.
    pub may_go_on: bool,
    /// The sandbox was to hold what is protected and has not looked through the whole project, which is too large.
    pub unheld: bool,
    /// What the sandbox could not hold and the command made: what configures programs or is run later, repositories among it.
    pub armed: Vec<VirtualPath>,
    /// Whether `output` leaves something out.
    pub truncated: bool,
    /// All bytes that the command wrote, shown or not.
    pub total_bytes: u64,
    /// The same output with nothing left out and its exact bytes; over the keeping limit its beginning and its end. `None`
    /// where `output` is exact.
    pub full_output: Option<KeptOutput>,
    pub duration: Duration,
    /// What it did to files, where the shell's backend can tell.
    pub files: Option<CommandChanges>,
}

/// Output that is too long for a message: its beginning in a nameless temporary file, which is gone when the last clone is,
/// its end in memory.
#[derive(Clone, Debug)]
pub struct KeptOutput {
    file: Option<Arc<File>>,
    end: Arc<[u8]>,
    gap: Gap,
}

/// What of an output was too much to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// Bytes kept before it.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

/// The beginning and the end of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputEnds {
    pub head: Vec<u8>,
    /// Bytes between the two; 0 where they are the whole.
    pub left_out: u64,
    pub tail: Vec<u8>,
}

impl OutputEnds {
    /// Neither begins nor ends inside a character any more, where the output is text.
    #[must_use]
    pub fn at_characters(mut self) -> Self {
        if self.left_out == 0 {
            return self;
        }
        let whole = match std::str::from_utf8(&self.head) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.head.len(),
        };
        let inside = self.tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        self.left_out += (self.head.len() - whole + inside) as u64;
        self.head.truncate(whole);
        self.tail.drain(..inside);
        self
    }

    /// The whole, or both with a line between them that says what is missing.
    pub fn joined(self) -> Vec<u8> {
        let Self { mut head, left_out, tail } = self;
        if left_out > 0 {
            let end = if head.ends_with(b"\n") { "" } else { "\n" };
            head.extend_from_slice(format!("{end}\n[{left_out} bytes left out here]\n\n").as_bytes());
        }
        head.extend_from_slice(&tail);
        head
    }
}

impl KeptOutput {
    /// `file` has the bytes before the gap, `end` those behind it.
    pub(crate) fn new(file: Option<Arc<File>>, end: Vec<u8>, gap: Gap) -> Self {
        Self { file, end: end.into(), gap }
    }

    /// The whole of an output that is not too long to be held.
    pub(crate) fn in_memory(bytes: Vec<u8>) -> Self {
        Self::new(None, bytes, Gap { at: 0, bytes: 0 })
    }

    /// Keeps `bytes`, as a shell on another machine or a test does.
    pub fn of(bytes: &[u8]) -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        file.write_all_at(bytes, 0)?;
        Ok(Self::new(Some(Arc::new(file)), Vec::new(), Gap { at: bytes.len() as u64, bytes: 0 }))
    }

    /// Bytes kept.
    pub fn len(&self) -> u64 {
        self.gap.at + self.end.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Up to `head` bytes of the output from its beginning and up to `tail` of its end, which are all of a shorter one.
    /// Blocks on the disk: call it on the blocking pool.
    pub fn ends(&self, head: usize, tail: usize) -> io::Result<OutputEnds> {
        let (Gap { at, bytes: gap }, len) = (self.gap, self.len());
        let (head, tail) = match (head as u64, tail as u64) {
            (head, tail) if gap == 0 && len <= head + tail => (len, 0),
            (head, tail) if gap == 0 => (head, tail),
            (head, tail) => (head.min(at), tail.min(len - at)),
        };
        let read = |offset, bytes| self.read(offset, usize::try_from(bytes).unwrap_or(usize::MAX));
        let left_out = len + gap - head - tail;
        Ok(OutputEnds { head: read(0, head)?, left_out, tail: read(len - tail, tail)? })
    }

    /// Up to `limit` of the bytes kept, from `offset` on. Blocks on the disk: call it on the blocking pool.
    pub fn read(&self, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let bounded = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut bytes = vec![0; bounded(self.gap.at.saturating_sub(offset)).min(limit)];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut bytes, offset)?;
        }
        let behind = self.end.get(bounded(offset.saturating_sub(self.gap.at))..).unwrap_or_default();
        bytes.extend_from_slice(behind.get(..limit - bytes.len()).unwrap_or(behind));
        Ok(bytes)
    }
}

/// Two are equal when they are the same one.
impl PartialEq for KeptOutput {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.end, &other.end)
    }
}

impl Eq for KeptOutput {}
