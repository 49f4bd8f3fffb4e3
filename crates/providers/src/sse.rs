//! Server-sent events from bytes, without IO: any split of the same bytes gives the same frames.
//!
//! Written here rather than taken from a crate because the sizes must be bounded while a line is still growing, and
//! because the crates at hand either copy every line or parse the buffer again with each chunk. Follows the standard: LF,
//! CR and CRLF end lines, one space after the colon goes, several `data` lines join with LF, a comment carries nothing, and an
//! event without its closing blank line is not one. `id` and `retry` mean nothing to a reply that cannot be resumed.

use std::str::Utf8Error;

use memchr::memchr2;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// Empty where the stream named none.
    pub(crate) event: &'a str,
    pub(crate) data: &'a str,
}

/// Why bytes are not events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// One line, or the data of one event, is larger than [`Sizes::event`].
    EventTooLarge,
    /// All lines together are larger than [`Sizes::stream`].
    StreamTooLarge,
    NotUtf8,
    /// A frame whose lengths or checksum do not fit.
    Damaged,
}

/// Limits in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) event: usize,
    pub(crate) stream: usize,
}

impl Default for Sizes {
    /// An event may carry a whole file in its arguments; a reply may carry several.
    fn default() -> Self {
        Self { event: 8 << 20, stream: 64 << 20 }
    }
}

/// What the receiver of a frame wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    /// Nothing after this matters.
    Stop,
}

#[derive(Debug)]
pub(crate) struct SseFramer {
    sizes: Sizes,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    event: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was CR; an LF now belongs to it.
    after_cr: bool,
    first_line: bool,
    total: usize,
}

impl SseFramer {
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            line: Vec::new(),
            event: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
            total: 0,
        }
    }

    /// Takes the next bytes and hands every event that they complete to `on`.
    pub(crate) fn feed<E: From<Malformed>>(
        &mut self,
        mut bytes: &[u8],
        on: &mut impl FnMut(Frame<'_>) -> Result<Flow, E>,
    ) -> Result<Flow, E> {
        loop {
            if !bytes.is_empty() && std::mem::take(&mut self.after_cr) {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let Some((end, is_cr)) = line_end(bytes) else { break };
            let (head, rest) = bytes.split_at(end);
            let flow = if self.line.is_empty() {
                self.take_line(head, on)?
            } else {
                self.keep(head)?;
                let line = std::mem::take(&mut self.line);
                let flow = self.take_line(&line, on)?;
                self.line = line;
                self.line.clear();
                flow
            };
            self.after_cr = is_cr;
            bytes = rest.get(1..).unwrap_or_default();
            if flow == Flow::Stop {
                return Ok(flow);
            }
            if bytes.is_empty() {
                return Ok(Flow::More);
            }
        }
        self.keep(bytes)?;
        Ok(Flow::More)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.line.len() + bytes.len() > self.sizes.event {
            return Err(Malformed::EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line<E: From<Malformed>>(
        &mut self,
        line: &[u8],
        on: &mut impl FnMut(Frame<'_>) -> Result<Flow, E>,
    ) -> Result<Flow, E> {
        if line.len() > self.sizes.event {
            return Err(Malformed::EventTooLarge.into());
        }
        let line = if std::mem::take(&mut self.first_line) {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        } else {
            line
        };
        self.total += line.len() + 1;
        if self.total > self.sizes.stream {
            return Err(Malformed::StreamTooLarge.into());
        }
        if line.is_empty() {
            return self.dispatch(on);
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let (name, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[] as &[u8]),
        };
        match name {
            b"data" => self.add_data(value)?,
            b"event" => {
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), Malformed> {
        if self.data.len() + value.len() + 1 > self.sizes.event {
            return Err(Malformed::EventTooLarge);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        Ok(())
    }

    fn dispatch<E: From<Malformed>>(&mut self, on: &mut impl FnMut(Frame<'_>) -> Result<Flow, E>) -> Result<Flow, E> {
        let flow = if self.has_data {
            let event = std::str::from_utf8(&self.event).map_err(Malformed::from)?;
            let data = std::str::from_utf8(&self.data).map_err(Malformed::from)?;
            on(Frame { event, data })?
        } else {
            Flow::More
        };
        self.event.clear();
        self.data.clear();
        self.has_data = false;
        Ok(flow)
    }
}

fn line_end(bytes: &[u8]) -> Option<(usize, bool)> {
    let end = memchr2(b'\n', b'\r', bytes)?;
    Some((end, bytes.get(end) == Some(&b'\r')))
}

impl From<Utf8Error> for Malformed {
    fn from(_: Utf8Error) -> Self {
        Self::NotUtf8
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
