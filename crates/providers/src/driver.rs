//! The one driver of all adapters: bytes of a reply in, [`ModelEvent`]s out, and the policy for what should not happen.
//!
//! An adapter's [`Decoder`] is pure: it reads one frame at a time and says what it means. Everything else is decided here or
//! by the [`Fault`] it returns, so that the families behave alike:
//!
//! | what came | what happens |
//! |---|---|
//! | a comment, a ping, an event without data | counts as life; no event |
//! | an event, block or delta of an unknown type | ignored, with all that belongs to it |
//! | data that is not JSON, or a known event with a field missing or of the wrong type | [`ModelErrorKind::Protocol`] |
//! | a delta for a block that never began or is over; two blocks or messages with one index; text that runs on in a closed block | [`ModelErrorKind::Protocol`] |
//! | tool calls whose arguments are interleaved | taken apart by their index |
//! | an error event | the provider's own sentence, with the kind that its type says |
//! | anything after the end of the message | ignored |
//! | the bytes end, or the connection breaks, before the provider's own end of message | [`ModelErrorKind::StreamCut`] (a Chat Completions or Gemini reply that gave its finish reason is complete) |
//! | a line, event, frame or reply beyond [`Sizes`], bytes that are not UTF-8, a frame with a wrong checksum | [`ModelErrorKind::Protocol`] |
//! | a web page, or anything else without one event in it | [`ModelErrorKind::NotAModelServer`]; a JSON error body keeps its own kind |
//! | figures of usage that are negative, absurd or no numbers | unknown (`None`) |
//!
//! The sequence of events, and the error that ends it, do not depend on how the bytes were split. Nothing here decides
//! whether a call runs: [`bosun_model::MessageBuilder`] refuses every message without its end and every argument text
//! that is not a whole object.

use std::collections::VecDeque;
use std::sync::Arc;

use bosun_model::{ModelError, ModelErrorKind, ModelEvent, ModelTrouble, StopReason};

use crate::event_stream::EventStreamFramer;
use crate::failure::{self, Refusal};
use crate::lines::LineFramer;
use crate::origin::Origin;
use crate::sse::{Flow, Frame, Malformed, Sizes, SseFramer};

/// How the bytes of a reply are cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value a line.
    Lines,
    /// AWS's binary frames with a JSON value in each.
    Frames,
}

#[derive(Debug)]
enum Framer {
    Events(SseFramer),
    Lines(LineFramer),
    Frames(EventStreamFramer),
}

/// Where a decoder puts what it understood.
pub(crate) type Events = VecDeque<ModelEvent>;

/// One family's reading of a stream. Holds the state of one reply.
pub(crate) trait Decoder: Send {
    /// Reads one frame.
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault>;

    /// The bytes are over although [`Flow::Stop`] was never returned. A family that can tell that the message is complete
    /// nevertheless finishes it and returns `Ok`.
    fn end(&mut self, out: &mut Events) -> Result<(), Fault>;
}

/// What a decoder could not turn into events.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The stream breaks its own protocol; the sentence says how.
    Corrupt(String),
    /// The provider says that it failed.
    Refused(Refusal),
    /// The message is not complete.
    Cut,
    Malformed(Malformed),
}

impl Fault {
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt(what.into())
    }

    /// For JSON that is none, or of another shape than the event's type promises.
    pub(crate) fn json(what: &str, error: &serde_json::Error) -> Self {
        Self::Corrupt(format!("{what} cannot be read: {error}"))
    }
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// Bytes kept from the beginning until the first event, to say what the thing is when no event ever comes.
const HEAD: usize = 16 << 10;

pub(crate) struct Driver {
    origin: Arc<Origin>,
    framer: Framer,
    decoder: Box<dyn Decoder>,
    head: Vec<u8>,
    saw_frame: bool,
    /// What kept the first frame from being read. What is said of it waits for all that tells what the thing is, so that it
    /// does not depend on how much came at once.
    doubt: Option<Malformed>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    /// The message is complete, or an error was returned.
    Over,
}

impl Driver {
    pub(crate) fn new(origin: Arc<Origin>, framing: Framing, decoder: Box<dyn Decoder>, sizes: Sizes) -> Self {
        let framer = match framing {
            Framing::Events => Framer::Events(SseFramer::new(sizes)),
            Framing::Lines => Framer::Lines(LineFramer::new(sizes)),
            Framing::Frames => Framer::Frames(EventStreamFramer::new(sizes)),
        };
        Self { origin, framer, decoder, head: Vec::new(), saw_frame: false, doubt: None, state: State::Reading }
    }

    /// Takes the next bytes. Events understood before a failure are in `out` all the same.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Events) -> Result<(), ModelError> {
        if self.state == State::Over {
            return Ok(());
        }
        if !self.saw_frame {
            self.head.extend(bytes.iter().take(HEAD.saturating_sub(self.head.len())));
        }
        if let Some(doubt) = self.doubt {
            return if self.head.len() < HEAD { Ok(()) } else { Err(self.fail(doubt.into())) };
        }
        let (decoder, saw_frame, head) = (&mut self.decoder, &mut self.saw_frame, &mut self.head);
        let flow = match &mut self.framer {
            Framer::Events(framer) => framer.feed::<Fault>(bytes, &mut |frame| {
                *saw_frame = true;
                decoder.frame(frame, out)
            }),
            Framer::Frames(framer) => framer.feed::<Fault>(bytes, &mut |frame| {
                *saw_frame = true;
                decoder.frame(frame, out)
            }),
            // Anything has lines; only one that was understood tells that this is a stream.
            Framer::Lines(framer) => framer.feed::<Fault>(bytes, &mut |frame| {
                let flow = decoder.frame(frame, out);
                if !matches!(flow, Err(Fault::Corrupt(_))) {
                    *saw_frame = true;
                } else if !*saw_frame {
                    // What is said about it must not depend on how much came with it.
                    *head = frame.data.bytes().take(HEAD).collect();
                }
                flow
            }),
        };
        match flow {
            Ok(Flow::More) => Ok(()),
            Ok(Flow::Stop) => {
                self.finish(out);
                Ok(())
            }
            Err(Fault::Malformed(malformed)) if !self.saw_frame && self.head.len() < HEAD => {
                self.doubt = Some(malformed);
                Ok(())
            }
            Err(fault) => Err(self.fail(fault)),
        }
    }

    /// The bytes are over. `broken` is the reason when the connection did not end by itself.
    pub(crate) fn end(&mut self, broken: Option<&str>, out: &mut Events) -> Result<(), ModelError> {
        if self.state == State::Over {
            return Ok(());
        }
        if let Some(doubt) = self.doubt {
            return Err(self.fail(doubt.into()));
        }
        // What broke off may have been anything.
        if !self.saw_frame && broken.is_none() && !self.head.trim_ascii().is_empty() {
            self.state = State::Over;
            return Err(failure::not_a_stream(&self.origin, &self.head));
        }
        let ended = self.decoder.end(out);
        self.finish(out);
        match ended {
            Ok(()) => Ok(()),
            Err(Fault::Cut) => Err(self.cut(broken)),
            Err(fault) => Err(self.fail(fault)),
        }
    }

    /// Nothing more comes. What a provider says of the end of a message is cleaned as its errors are.
    fn finish(&mut self, out: &mut Events) {
        self.state = State::Over;
        if let Some(ModelEvent::Finished { stop: StopReason::RefusalFor(words) | StopReason::Other(words) }) =
            out.back_mut()
        {
            *words = self.origin.clean(words);
        }
    }

    /// Whether nothing more can come out.
    pub(crate) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn cut(&self, broken: Option<&str>) -> ModelError {
        let host = self.origin.host.clone();
        let trouble = match broken {
            Some(reason) => ModelTrouble::ReplyBroken { host, detail: reason.to_owned() },
            None => ModelTrouble::ReplyCut { host },
        };
        self.origin.trouble(ModelErrorKind::StreamCut, trouble)
    }

    fn fail(&mut self, fault: Fault) -> ModelError {
        self.state = State::Over;
        let detail = match fault {
            Fault::Cut => return self.cut(None),
            Fault::Refused(refusal) => return failure::refused(&self.origin, &refusal),
            Fault::Malformed(_) | Fault::Corrupt(_) if !self.saw_frame => {
                return failure::not_a_stream(&self.origin, &self.head);
            }
            Fault::Corrupt(what) => what,
            Fault::Malformed(Malformed::EventTooLarge) => "one event is larger than Bosun takes".into(),
            Fault::Malformed(Malformed::StreamTooLarge) => "it is larger than Bosun takes".into(),
            Fault::Malformed(Malformed::Damaged) => "a frame is damaged".into(),
            Fault::Malformed(Malformed::NotUtf8) => "its text is not UTF-8".into(),
        };
        let host = self.origin.host.clone();
        self.origin.trouble(ModelErrorKind::Protocol, ModelTrouble::BadFormat { host, detail })
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
