//! What a command writes: two streams brought together line by line, shown as they come, kept within bounds.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::{memchr, memrchr};

use crate::sandbox::Word;
use crate::shell::Gap;
use crate::{KeptOutput, OutputEnds, OutputSink};

/// Bytes of the result's text at each end: together what the reference takes of an output (behaviour.md 4.2).
const HEAD: usize = 50_000;
const TAIL: usize = 50_000;
/// Bytes of a long output that are kept at all (security.md 9): of its beginning, on the disk as they come, and of its end,
/// where what went wrong is said; these wait in memory until they are known to be the last.
const KEPT_HEAD: u64 = 60 * 1024 * 1024;
const KEPT_TAIL: usize = 4 * 1024 * 1024;
/// Bytes handed to the disk at a time.
const SPOOL: usize = 1024 * 1024;
/// An unfinished line is held back for its rest up to this length.
const MAX_HELD: usize = 8 * 1024;
/// At most this much is shown live in one [`WINDOW`].
const LIVE: usize = 64 * 1024;
const WINDOW: Duration = Duration::from_millis(50);
const MARK: &[u8] = b"[stderr] ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// Lines of both streams in the order in which they came, those of standard error marked.
#[derive(Default)]
struct Interleaver {
    held_out: Vec<u8>,
    held_err: Vec<u8>,
    last: Option<Stream>,
    mid_line: bool,
}

impl Interleaver {
    fn push(&mut self, stream: Stream, bytes: &[u8], out: &mut Vec<u8>) {
        let held = self.held(stream);
        let (whole, rest) = match memrchr(b'\n', bytes) {
            Some(at) => bytes.split_at(at + 1),
            None => (&[][..], bytes),
        };
        if !whole.is_empty() {
            let mut lines = std::mem::take(held);
            lines.extend_from_slice(whole);
            self.emit(stream, &lines, out);
        }
        let held = self.held(stream);
        held.extend_from_slice(rest);
        if held.len() > MAX_HELD {
            let part = std::mem::take(held);
            self.emit(stream, &part, out);
        }
    }

    fn holds(&self) -> bool {
        !self.held_out.is_empty() || !self.held_err.is_empty()
    }

    /// Lets unfinished lines go: nothing more came for a while, or ever will.
    fn flush(&mut self, out: &mut Vec<u8>) {
        for stream in [Stream::Out, Stream::Err] {
            let part = std::mem::take(self.held(stream));
            self.emit(stream, &part, out);
        }
    }

    fn held(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Out => &mut self.held_out,
            Stream::Err => &mut self.held_err,
        }
    }

    fn emit(&mut self, stream: Stream, bytes: &[u8], out: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        if self.mid_line && self.last != Some(stream) {
            out.push(b'\n');
            self.mid_line = false;
        }
        self.last = Some(stream);
        if stream == Stream::Out {
            out.extend_from_slice(bytes);
            self.mid_line = !bytes.ends_with(b"\n");
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if !self.mid_line {
                out.extend_from_slice(MARK);
            }
            let (line, after) = rest.split_at(memchr(b'\n', rest).map_or(rest.len(), |at| at + 1));
            out.extend_from_slice(line);
            self.mid_line = !line.ends_with(b"\n");
            rest = after;
        }
    }
}

/// Collects a command's output.
pub(super) struct Collector<'a> {
    /// What standard output says besides what the command does.
    word: Option<&'a mut Word>,
    lines: Interleaver,
    sink: Live<'a>,
    /// Bytes the command wrote, and bytes of the marked text.
    written: u64,
    length: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    spool: Spool,
}

/// Everything about an output that has come to its end.
pub(super) struct Collected {
    pub(super) output: String,
    pub(super) truncated: bool,
    pub(super) written: u64,
    pub(super) kept: Option<KeptOutput>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(sink: &'a dyn OutputSink, spool_dir: PathBuf, word: Option<&'a mut Word>) -> Self {
        Self {
            word,
            lines: Interleaver::default(),
            sink: Live { sink, window: Instant::now(), shown: 0, skipped: 0 },
            written: 0,
            length: 0,
            head: Vec::new(),
            tail: VecDeque::new(),
            spool: Spool::in_folder(spool_dir),
        }
    }

    pub(super) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        match &mut self.word {
            Some(word) if stream == Stream::Out => {
                let own = word.hear(bytes);
                self.add_lines(stream, &own);
            }
            _ => self.add_lines(stream, bytes),
        }
    }

    fn add_lines(&mut self, stream: Stream, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        let mut text = Vec::with_capacity(bytes.len() + MARK.len());
        self.lines.push(stream, bytes, &mut text);
        self.add(&text);
    }

    /// Whether it was said how the command ended.
    pub(super) fn has_heard_the_end(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.end().is_some())
    }

    /// Whether an unfinished line waits to be shown.
    pub(super) fn holds(&self) -> bool {
        self.lines.holds()
    }

    pub(super) fn flush(&mut self) {
        let mut text = Vec::new();
        self.lines.flush(&mut text);
        self.add(&text);
    }

    fn add(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.sink.show(text);
        let over = self.length + text.len() as u64 > (HEAD + TAIL) as u64;
        if over && !self.spool.has_begun() {
            // So far both ends together are the whole.
            let tail = self.tail.make_contiguous();
            self.spool.begin(&self.head, tail);
        }
        if over {
            self.spool.add(text);
        }
        self.length += text.len() as u64;
        let room = HEAD - self.head.len();
        let (first, rest) = text.split_at(room.min(text.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest.get(rest.len().saturating_sub(TAIL)..).unwrap_or_default());
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
    }

    /// Hands what waits to the disk, once it is worth it.
    pub(super) async fn spill(&mut self) {
        if self.spool.pending.len() >= SPOOL {
            self.spool.write_out().await;
        }
    }

    pub(super) async fn finish(mut self) -> Collected {
        if let Some(left) = self.word.as_mut().map(|word| word.left()) {
            self.add_lines(Stream::Out, &left);
        }
        self.flush();
        self.sink.finish();
        let left_out = self.length - (self.head.len() + self.tail.len()) as u64;
        let tail: Vec<u8> = self.tail.into();
        let whole = OutputEnds { head: self.head, left_out, tail }.at_characters().joined();
        let output = String::from_utf8_lossy(&whole).into_owned();
        let exact = left_out == 0 && output.as_bytes() == whole;
        let kept = match left_out {
            0 if exact => None,
            0 => Some(KeptOutput::in_memory(whole)),
            _ => self.spool.keep().await,
        };
        Collected { output, truncated: left_out > 0, written: self.written, kept }
    }
}

/// Shows output as it comes, at a rate that a window can follow.
struct Live<'a> {
    sink: &'a dyn OutputSink,
    window: Instant,
    shown: usize,
    skipped: usize,
}

impl Live<'_> {
    fn show(&mut self, text: &[u8]) {
        if self.window.elapsed() >= WINDOW {
            self.finish();
            self.window = Instant::now();
            self.shown = 0;
        }
        let (now, later) = text.split_at(LIVE.saturating_sub(self.shown).min(text.len()));
        if !now.is_empty() {
            self.sink.output(now);
        }
        self.shown += now.len();
        self.skipped += later.len();
    }

    fn finish(&mut self) {
        if self.skipped > 0 {
            self.sink.output(format!("\n[{} bytes not shown live]\n", self.skipped).as_bytes());
            self.skipped = 0;
        }
    }
}

/// The whole of a long output, as far as it is kept: its beginning on the disk, its end in memory.
struct Spool {
    dir: PathBuf,
    pending: Vec<u8>,
    begun: bool,
    file: Option<Arc<File>>,
    /// Bytes that the file is to have at most: less than usual once the disk takes no more.
    most: u64,
    /// Bytes in the file and of those that wait for it, and all that came behind them.
    length: u64,
    behind: u64,
    /// The last of what is behind.
    tail: VecDeque<u8>,
}

impl Spool {
    fn in_folder(dir: PathBuf) -> Self {
        let (pending, tail) = (Vec::new(), VecDeque::new());
        Self { dir, pending, begun: false, file: None, most: KEPT_HEAD, length: 0, behind: 0, tail }
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn begin(&mut self, head: &[u8], tail: &[u8]) {
        self.begun = true;
        match tempfile::tempfile_in(&self.dir) {
            Ok(file) => self.file = Some(Arc::new(file)),
            Err(error) => self.full(0, &error),
        }
        self.add(head);
        self.add(tail);
    }

    fn add(&mut self, text: &[u8]) {
        let room = usize::try_from(self.most - self.length).unwrap_or(usize::MAX);
        let (first, rest) = text.split_at(room.min(text.len()));
        self.length += first.len() as u64;
        self.pending.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        self.behind += rest.len() as u64;
        let last = rest.get(rest.len().saturating_sub(KEPT_TAIL)..).unwrap_or_default();
        // First the room, so that it never takes more of it.
        let surplus = (self.tail.len() + last.len()).saturating_sub(KEPT_TAIL);
        self.tail.drain(..surplus);
        if self.tail.capacity() < KEPT_TAIL {
            self.tail.reserve_exact(KEPT_TAIL - self.tail.len());
        }
        self.tail.extend(last);
    }

    /// From here on the disk takes nothing: what comes is behind what it has.
    fn full(&mut self, has: u64, error: &io::Error) {
        tracing::warn!(%error, has, "the disk takes no more of a long output");
        self.most = has;
        self.length = has;
    }

    async fn write_out(&mut self) {
        let pending = Arc::new(std::mem::take(&mut self.pending));
        let has = self.length - pending.len() as u64;
        let Some(file) = self.file.clone().filter(|_| !pending.is_empty()) else { return };
        let bytes = Arc::clone(&pending);
        let written = tokio::task::spawn_blocking(move || file.write_all_at(&bytes, has)).await;
        if let Err(error) = written.unwrap_or_else(|error| Err(io::Error::other(error))) {
            // Nothing of it was let go yet: what waits stands right behind what the file has.
            self.full(has, &error);
            let later: Vec<u8> = std::mem::take(&mut self.tail).into();
            let behind = std::mem::take(&mut self.behind);
            self.add(&pending);
            self.behind += behind - later.len() as u64;
            self.add(&later);
        }
    }

    /// `None` where not even the beginning could be kept.
    async fn keep(mut self) -> Option<KeptOutput> {
        self.write_out().await;
        let end: Vec<u8> = self.tail.into();
        let gap = Gap { at: self.length, bytes: self.behind - end.len() as u64 };
        let lacks_all = gap.at == 0 && gap.bytes > 0;
        (!lacks_all).then(|| KeptOutput::new(self.file, end, gap))
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
