//! A server's output, read with bounds: no endless message, and no endless talk without an answer.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::Ending;

/// Longest message, in bytes.
pub(crate) const LONGEST_MESSAGE: u64 = 16 * 1024 * 1024;
/// Bytes a server may write without one of them being an answer.
const MOST_TALK: u64 = 64 * 1024 * 1024;

/// What is counted of a server's output.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    talk: AtomicU64,
    broken: Mutex<Option<Ending>>,
    is_broken: CancellationToken,
}

impl Guard {
    /// An answer came: what was written up to here was no flood.
    pub(crate) fn answered(&self) {
        self.talk.store(0, Ordering::Relaxed);
    }

    /// Which bound was broken, or what else ended it.
    pub(crate) fn broken(&self) -> Option<Ending> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until a bound is broken.
    pub(crate) async fn until_broken(&self) -> Ending {
        self.is_broken.cancelled().await;
        self.broken().unwrap_or(Ending::Pipes)
    }

    /// Counts so many bytes that came.
    pub(crate) fn count(&self, bytes: usize) -> io::Result<()> {
        let talk = self.talk.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if talk > MOST_TALK {
            let megabytes = MOST_TALK / (1024 * 1024);
            return Err(self.break_with(Ending::TooMuch { megabytes }));
        }
        Ok(())
    }

    /// Nobody vouches for the server any more: nothing that it says from now on counts.
    pub(crate) fn disown(&self) {
        drop(self.break_with(Ending::Untrusted));
    }

    fn break_with(&self, end: Ending) -> io::Error {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(end.clone());
        self.is_broken.cancel();
        io::Error::other(end)
    }
}

/// Passes on what `inner` gives until a bound is broken; from then on it only fails.
pub(crate) struct Guarded<R> {
    inner: R,
    guard: Arc<Guard>,
    /// Bytes since the last line feed.
    message: u64,
}

impl<R> Guarded<R> {
    pub(crate) fn new(inner: R, guard: Arc<Guard>) -> Self {
        Self { inner, guard, message: 0 }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        // A message that begins and ends within one read is no longer than the buffer.
        let first = bytes.iter().position(|byte| *byte == b'\n');
        self.message += first.unwrap_or(bytes.len()) as u64;
        if self.message > LONGEST_MESSAGE {
            let megabytes = LONGEST_MESSAGE / (1024 * 1024);
            return Err(self.guard.break_with(Ending::MessageTooLarge { megabytes }));
        }
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.message = (bytes.len() - last - 1) as u64;
        }
        self.guard.count(bytes.len())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Guarded<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(end) = self.guard.broken() {
            return Poll::Ready(Err(io::Error::other(end)));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let new = buf.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.count(new))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::AsyncReadExt;

    use super::{Guard, Guarded, LONGEST_MESSAGE, MOST_TALK};

    async fn read_all(input: impl tokio::io::AsyncRead + Unpin, guard: &Arc<Guard>) -> usize {
        let mut guarded = Guarded::new(input, Arc::clone(guard));
        let (mut buffer, mut read) = (vec![0; 1 << 20], 0);
        while let Ok(got @ 1..) = guarded.read(&mut buffer).await {
            read += got;
        }
        read
    }

    #[tokio::test]
    async fn an_endless_line_is_stopped() {
        let guard = Arc::new(Guard::default());
        let read = read_all(tokio::io::repeat(b'x'), &guard).await;
        assert!(read as u64 <= LONGEST_MESSAGE, "{read}");
        assert!(guard.broken().unwrap().to_string().contains("16 MB"));
    }

    #[tokio::test]
    async fn endless_lines_are_stopped_unless_there_are_answers() {
        let guard = Arc::new(Guard::default());
        let read = read_all(tokio::io::repeat(b'\n'), &guard).await;
        assert!(read as u64 <= MOST_TALK, "{read}");
        assert!(guard.broken().unwrap().to_string().contains("without an answer"));
        let guard = Arc::new(Guard::default());
        for _ in 0..3 {
            let lines = tokio::io::repeat(b'\n').take(MOST_TALK - 1);
            read_all(lines, &guard).await;
            guard.answered();
        }
        assert_eq!(guard.broken(), None);
    }
}
