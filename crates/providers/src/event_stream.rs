//! Frames of `application/vnd.amazon.eventstream`, without IO: any split of the same bytes gives the same frames.
//!
//! The vendor's own crate reads a whole frame and judges its checksums. When a frame is whole is decided here, so that a
//! length beyond the limit is an error before the first byte of it is kept.

use std::str;

use aws_smithy_eventstream::frame::read_message_from;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::sse::{Flow, Frame, Malformed, Sizes};

/// What [`Frame::event`] of an event begins with that tells of a failure; the vendor's word for it follows.
pub(crate) const EXCEPTION: &str = "exception:";

/// Bytes that tell the length of a frame, and the least that a frame has.
const LENGTH: usize = 4;
const LEAST: usize = 16;

#[derive(Debug)]
pub(crate) struct EventStreamFramer {
    sizes: Sizes,
    /// The beginning of a frame whose end has not come.
    kept: Vec<u8>,
    total: usize,
}

/// The payload of a piece of a model's reply.
#[derive(Deserialize)]
struct Chunk<'a> {
    /// Base64 of one event of the model's own wire. Other payloads have none.
    #[serde(borrow)]
    bytes: Option<&'a str>,
}

impl EventStreamFramer {
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self { sizes, kept: Vec::new(), total: 0 }
    }

    /// Takes the next bytes and hands every frame that they complete to `on`: the event inside, or the payload of a failure
    /// with [`EXCEPTION`] in its name.
    pub(crate) fn feed<E: From<Malformed>>(
        &mut self,
        bytes: &[u8],
        on: &mut impl FnMut(Frame<'_>) -> Result<Flow, E>,
    ) -> Result<Flow, E> {
        self.kept.extend_from_slice(bytes);
        let kept = std::mem::take(&mut self.kept);
        let mut rest = kept.as_slice();
        while let Some(length) = self.length(rest)? {
            let Some((frame, after)) = rest.split_at_checked(length) else { break };
            rest = after;
            self.total += length;
            if self.total > self.sizes.stream {
                return Err(Malformed::StreamTooLarge.into());
            }
            if read(frame, on)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        self.kept = if rest.len() == kept.len() { kept } else { rest.to_vec() };
        Ok(Flow::More)
    }

    /// The length of the frame that begins here, once it is known.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let Some(length) = bytes.first_chunk::<LENGTH>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        match length {
            length if length > self.sizes.event => Err(Malformed::EventTooLarge),
            length if length < LEAST => Err(Malformed::Damaged),
            length => Ok(Some(length)),
        }
    }
}

fn read<E: From<Malformed>>(frame: &[u8], on: &mut impl FnMut(Frame<'_>) -> Result<Flow, E>) -> Result<Flow, E> {
    let message = read_message_from(frame).map_err(|_| Malformed::Damaged)?;
    let header = |name: &str| {
        let found = message.headers().iter().find(|header| header.name().as_str() == name)?;
        found.value().as_string().ok().map(|value| value.as_str())
    };
    let payload = str::from_utf8(message.payload()).map_err(|_| Malformed::NotUtf8)?;
    let failure = match header(":message-type") {
        Some("exception") => Some(header(":exception-type").unwrap_or_default()),
        Some("error") => Some(header(":error-code").unwrap_or_default()),
        _ => None,
    };
    if let Some(kind) = failure {
        let words = if payload.is_empty() { header(":error-message").unwrap_or_default() } else { payload };
        return on(Frame { event: &format!("{EXCEPTION}{kind}"), data: words });
    }
    // Anything else than a piece of the reply is life, and passed over.
    if header(":event-type") != Some("chunk") {
        return Ok(Flow::More);
    }
    let chunk: Chunk<'_> = serde_json::from_str(payload).map_err(|_| Malformed::Damaged)?;
    let Some(bytes) = chunk.bytes else { return Ok(Flow::More) };
    let event = STANDARD.decode(bytes).map_err(|_| Malformed::Damaged)?;
    on(Frame { event: "", data: str::from_utf8(&event).map_err(|_| Malformed::NotUtf8)? })
}

#[cfg(test)]
#[path = "event_stream_tests.rs"]
mod tests;
