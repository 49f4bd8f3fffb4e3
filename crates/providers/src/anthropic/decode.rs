use std::borrow::Cow;
use std::collections::BTreeMap;

use bosun_model::{ModelEvent, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::driver::{Decoder, Events, Fault};
use crate::failure::Refusal;
use crate::lenient::{Count, Text};
use crate::sse::{Flow, Frame};
use crate::unsupported;

/// Reads the event stream of one message. See the policy table of [`crate::driver`].
#[derive(Debug, Default)]
pub(crate) struct AnthropicDecoder {
    /// Whose thoughts these are, for the host that gets them back.
    origin: String,
    started: bool,
    blocks: BTreeMap<u32, Block>,
    /// The newest block if it is none of a call: it ends where the next begins.
    prose: Option<u32>,
    calls: u32,
    stop: Option<StopReason>,
    tokens: Tokens,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    open: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking {
        signature: String,
    },
    Redacted {
        data: String,
    },
    /// The number of the call, which is the index of its events.
    Call(u32),
    /// A type this version does not know; its deltas are passed over.
    Unknown,
}

impl Decoder for AnthropicDecoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault> {
        let tag: Tag<'_> = read("an event", frame.data)?;
        let kind = if tag.kind.is_empty() { frame.event } else { &tag.kind };
        match kind {
            "content_block_delta" => self.delta(read(kind, frame.data)?, out)?,
            "content_block_start" => self.block_start(read(kind, frame.data)?, out)?,
            "content_block_stop" => self.block_stop(read::<Stop>(kind, frame.data)?.index, out)?,
            "message_start" => self.message_start(read(kind, frame.data)?, out)?,
            "message_delta" => self.message_delta(read(kind, frame.data)?, out),
            "message_stop" => {
                self.finish(out)?;
                return Ok(Flow::Stop);
            }
            "error" => {
                let event: ErrorEvent = read(kind, frame.data)?;
                return Err(Fault::Refused(Refusal::of_value(&event.error).unwrap_or_default()));
            }
            "ping" => {}
            other => tracing::debug!(event = other, "an event of an unknown type"),
        }
        Ok(Flow::More)
    }

    fn end(&mut self, _out: &mut Events) -> Result<(), Fault> {
        Err(Fault::Cut)
    }
}

impl AnthropicDecoder {
    pub(crate) fn of(origin: &str) -> Self {
        Self { origin: origin.to_owned(), ..Self::default() }
    }

    fn message_start(&mut self, event: MessageStart<'_>, out: &mut Events) -> Result<(), Fault> {
        if self.started {
            return Err(Fault::corrupt("a second message begins inside the first"));
        }
        self.started = true;
        out.push_back(ModelEvent::Started { model: event.message.model.map(Cow::into_owned) });
        self.usage(event.message.usage, out);
        Ok(())
    }

    fn message_delta(&mut self, event: MessageDelta<'_>, out: &mut Events) {
        if let Some(delta) = event.delta
            && let Some(reason) = delta.stop_reason
        {
            let details = delta.stop_details.and_then(|raw| serde_json::from_str::<StopDetails<'_>>(raw.get()).ok());
            self.stop = Some(stop_reason(&reason, &details.unwrap_or_default().explanation.0));
        }
        self.usage(event.usage, out);
    }

    fn usage(&mut self, usage: Option<WireUsage>, out: &mut Events) {
        if let Some(usage) = usage {
            self.tokens.update(usage);
            out.push_back(ModelEvent::Usage(self.tokens.usage()));
        }
    }

    fn block_start(&mut self, event: BlockStart<'_>, out: &mut Events) -> Result<(), Fault> {
        if !self.started {
            return Err(Fault::corrupt("a block before the message began"));
        }
        let index = event.index;
        if self.blocks.contains_key(&index) {
            return Err(Fault::corrupt(format!("two blocks have the index {index}")));
        }
        self.close_prose(out);
        let tag: Tag<'_> = read("a block", event.content_block.get())?;
        let kind = match &*tag.kind {
            "text" => {
                let block: TextBlock<'_> = read("a text block", event.content_block.get())?;
                text(block.text, out);
                Kind::Text
            }
            "thinking" => {
                let block: ThinkingBlock<'_> = read("a thinking block", event.content_block.get())?;
                reasoning(block.thinking.unwrap_or_default(), out);
                Kind::Thinking { signature: block.signature.unwrap_or_default().into_owned() }
            }
            "redacted_thinking" => {
                let block: RedactedBlock = read("a redacted block", event.content_block.get())?;
                Kind::Redacted { data: block.data }
            }
            "tool_use" => self.call_start(read("a tool call", event.content_block.get())?, out)?,
            other => {
                unsupported::note(other, out);
                Kind::Unknown
            }
        };
        self.prose = (!matches!(kind, Kind::Call(_))).then_some(index);
        self.blocks.insert(index, Block { kind, open: true });
        Ok(())
    }

    fn call_start(&mut self, block: CallBlock<'_>, out: &mut Events) -> Result<Kind, Fault> {
        if block.id.is_empty() || block.name.is_empty() {
            return Err(Fault::corrupt("a tool call without an id or a name"));
        }
        let index = self.calls;
        self.calls += 1;
        out.push_back(ModelEvent::ToolCallStarted { index, id: block.id.into(), name: block.name });
        // Some compatible servers give the arguments here and send no deltas.
        if let Some(input) = block.input.map(RawValue::get)
            && input != "null"
            && !input.chars().filter(|c| !c.is_whitespace()).eq("{}".chars())
        {
            out.push_back(ModelEvent::ToolCallDelta { index, json: input.to_owned() });
        }
        Ok(Kind::Call(index))
    }

    fn delta(&mut self, event: BlockDelta<'_>, out: &mut Events) -> Result<(), Fault> {
        let index = event.index;
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(Fault::corrupt(format!("a delta for the block {index}, which never began")));
        };
        if matches!(block.kind, Kind::Unknown) {
            return Ok(());
        }
        if !block.open {
            return Err(Fault::corrupt(format!("a delta for the block {index}, which is over")));
        }
        match (&mut block.kind, event.delta) {
            (Kind::Text, Delta::Text { text: piece }) => text(piece, out),
            (Kind::Thinking { .. }, Delta::Thinking { thinking }) => reasoning(thinking, out),
            (Kind::Thinking { signature }, Delta::Signature { signature: piece }) => signature.push_str(&piece),
            (Kind::Call(call), Delta::InputJson { partial_json }) => {
                if !partial_json.is_empty() {
                    out.push_back(ModelEvent::ToolCallDelta { index: *call, json: partial_json.into_owned() });
                }
            }
            (_, Delta::Unknown) => {}
            _ => return Err(Fault::corrupt(format!("a delta of another type than its block {index}"))),
        }
        Ok(())
    }

    fn block_stop(&mut self, index: u32, out: &mut Events) -> Result<(), Fault> {
        match self.blocks.get_mut(&index) {
            Some(block) => {
                block.close(&self.origin, out);
                Ok(())
            }
            None => Err(Fault::corrupt(format!("the end of a block {index}, which never began"))),
        }
    }

    /// Text and thinking end where the next block begins, even if the server forgot to say so; their order is part of the
    /// message. Calls may run side by side.
    fn close_prose(&mut self, out: &mut Events) {
        if let Some(block) = self.prose.take().and_then(|index| self.blocks.get_mut(&index)) {
            block.close(&self.origin, out);
        }
    }

    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        if !self.started {
            return Err(Fault::corrupt("the end of a message that never began"));
        }
        self.close_prose(out);
        // Neither the message nor the call has an end of its own: it may have had more arguments.
        let is_open = |block: &Block| block.open && matches!(block.kind, Kind::Call(_));
        if self.stop.is_none() && self.blocks.values().any(is_open) {
            return Err(Fault::Cut);
        }
        let natural = if self.calls > 0 { StopReason::ToolUse } else { StopReason::EndTurn };
        out.push_back(ModelEvent::Finished { stop: self.stop.take().unwrap_or(natural) });
        Ok(())
    }
}

impl Block {
    fn close(&mut self, origin: &str, out: &mut Events) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        match &mut self.kind {
            Kind::Thinking { signature } => {
                let signature = Some(std::mem::take(signature)).filter(|signature| !signature.is_empty());
                let opaque = signature.is_some().then(|| json!({ "anthropic": origin }));
                out.push_back(ModelEvent::ReasoningDone { signature, opaque });
            }
            Kind::Redacted { data } => {
                let opaque = json!({ "type": "redacted_thinking", "data": std::mem::take(data), "anthropic": origin });
                out.push_back(ModelEvent::ReasoningDone { signature: None, opaque: Some(opaque) });
            }
            Kind::Call(index) => out.push_back(ModelEvent::ToolCallDone { index: *index }),
            Kind::Text | Kind::Unknown => {}
        }
    }
}

fn text(text: Cow<'_, str>, out: &mut Events) {
    if !text.is_empty() {
        out.push_back(ModelEvent::TextDelta { text: text.into_owned() });
    }
}

fn reasoning(text: Cow<'_, str>, out: &mut Events) {
    if !text.is_empty() {
        out.push_back(ModelEvent::ReasoningDelta { text: text.into_owned() });
    }
}

fn stop_reason(word: &str, words: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::refusal(words),
        other => StopReason::Other(other.to_owned()),
    }
}

fn read<'a, T: Deserialize<'a>>(what: &str, json: &'a str) -> Result<T, Fault> {
    serde_json::from_str(json).map_err(|error| Fault::json(what, &error))
}

/// The vendor counts cached input apart; ours is all input. A count that was told and cannot be one stays unknown: what was
/// told before it would make the call look cheaper than it was.
#[derive(Clone, Copy, Debug, Default)]
struct Tokens {
    input: Option<Count>,
    cache_read: Option<Count>,
    cache_write: Option<Count>,
    cache_write_hour: Option<Count>,
    output: Option<Count>,
    thinking: Option<Count>,
}

impl Tokens {
    fn update(&mut self, usage: WireUsage) {
        let written = usage.cache_creation.unwrap_or_default();
        self.input = usage.input_tokens.or(self.input);
        self.cache_read = usage.cache_read_input_tokens.or(self.cache_read);
        self.cache_write = usage.cache_creation_input_tokens.or(written.in_all()).or(self.cache_write);
        self.cache_write_hour = written.ephemeral_1h_input_tokens.or(self.cache_write_hour);
        self.output = usage.output_tokens.or(self.output);
        self.thinking = usage.output_tokens_details.and_then(|details| details.thinking_tokens).or(self.thinking);
    }

    fn usage(self) -> Usage {
        let known = |told: Option<Count>| told.and_then(|count| count.0);
        // Nothing was cached where nothing is said of it.
        let cached = |told: Option<Count>| told.map_or(Some(0), |count| count.0);
        let parts = [known(self.input), cached(self.cache_read), cached(self.cache_write)];
        Usage {
            input: parts.into_iter().try_fold(0, |sum: u64, part| Some(sum.saturating_add(part?))),
            output: known(self.output),
            cache_read: known(self.cache_read),
            cache_write: known(self.cache_write),
            // Every reply has the count; nothing is said where nothing was kept for so long.
            cache_write_hour: known(self.cache_write_hour).filter(|tokens| *tokens > 0),
            reasoning: known(self.thinking),
            ..Usage::default()
        }
    }
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct MessageStart<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct MessageDelta<'a> {
    #[serde(borrow)]
    delta: Option<StopDelta<'a>>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct StopDelta<'a> {
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_details: Option<&'a RawValue>,
}

/// Why the model declined.
#[derive(Default, Deserialize)]
struct StopDetails<'a> {
    #[serde(borrow, default)]
    explanation: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    input_tokens: Option<Count>,
    cache_creation_input_tokens: Option<Count>,
    cache_creation: Option<Written>,
    cache_read_input_tokens: Option<Count>,
    output_tokens: Option<Count>,
    output_tokens_details: Option<OutputDetails>,
}

/// What was written to the cache, by how long it is kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    ephemeral_5m_input_tokens: Option<Count>,
    ephemeral_1h_input_tokens: Option<Count>,
}

impl Written {
    fn in_all(&self) -> Option<Count> {
        let (minutes, hour) = self.ephemeral_5m_input_tokens.zip(self.ephemeral_1h_input_tokens)?;
        Some(Count(minutes.0.zip(hour.0).map(|(minutes, hour)| minutes.saturating_add(hour))))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Option<Count>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    index: u32,
    #[serde(borrow)]
    content_block: &'a RawValue,
}

#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ThinkingBlock<'a> {
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    signature: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct RedactedBlock {
    data: String,
}

#[derive(Deserialize)]
struct CallBlock<'a> {
    id: String,
    name: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct BlockDelta<'a> {
    index: u32,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta<'a> {
    #[serde(rename = "text_delta")]
    Text {
        #[serde(borrow)]
        text: Cow<'a, str>,
    },
    #[serde(rename = "input_json_delta")]
    InputJson {
        #[serde(borrow)]
        partial_json: Cow<'a, str>,
    },
    #[serde(rename = "thinking_delta")]
    Thinking {
        #[serde(borrow)]
        thinking: Cow<'a, str>,
    },
    #[serde(rename = "signature_delta")]
    Signature {
        #[serde(borrow)]
        signature: Cow<'a, str>,
    },
    /// Citations, and what is to come.
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct Stop {
    index: u32,
}

#[derive(Deserialize)]
struct ErrorEvent {
    #[serde(default)]
    error: Value,
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
