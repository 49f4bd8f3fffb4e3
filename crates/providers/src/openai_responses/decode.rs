use std::borrow::Cow;
use std::collections::BTreeMap;

use bosun_model::{ModelEvent, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::adapter::CallIds;
use crate::driver::{Decoder, Events, Fault};
use crate::failure::Refusal;
use crate::lenient::{Count, Text};
use crate::sse::{Flow, Frame};
use crate::unsupported;

/// Reads the events of one response. See the policy table of [`crate::driver`].
///
/// An item's last event repeats all of it; what its deltas did not bring is taken from there, because some compatible
/// servers send no deltas.
#[derive(Debug)]
pub(super) struct ResponsesDecoder {
    host: String,
    ids: CallIds,
    started: bool,
    items: BTreeMap<u32, Item>,
    calls: u32,
    refused: bool,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    /// Whether deltas brought anything.
    wrote: bool,
    open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    /// The number of the call, which is the index of its events.
    Call(u32),
    /// A type this version does not know; its deltas are passed over.
    Unknown,
}

impl Decoder for ResponsesDecoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault> {
        if frame.data.trim() == "[DONE]" {
            return Ok(Flow::More);
        }
        let tag: Tag<'_> = read("an event", frame.data)?;
        let kind = if tag.kind.0.is_empty() { frame.event } else { &tag.kind.0 };
        match kind {
            "response.output_text.delta" => self.text(read(kind, frame.data)?, out)?,
            "response.refusal.delta" => {
                self.refused = true;
                self.text(read(kind, frame.data)?, out)?;
            }
            "response.function_call_arguments.delta" => self.arguments(read(kind, frame.data)?, out)?,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thought(read(kind, frame.data)?, out)?;
            }
            "response.reasoning_summary_part.added" => self.thought_part(read(kind, frame.data)?, out),
            "response.output_item.added" => self.begin(read(kind, frame.data)?, out)?,
            "response.output_item.done" => self.done(read(kind, frame.data)?, out)?,
            "response.created" | "response.in_progress" | "response.queued" => {
                let event: ResponseEvent<'_> = read(kind, frame.data)?;
                self.start(event.response.model.0, out);
            }
            "response.completed" | "response.incomplete" => {
                self.finish(read(kind, frame.data)?, kind == "response.incomplete", out)?;
                return Ok(Flow::Stop);
            }
            "response.failed" | "response.cancelled" => {
                let event: ResponseEvent<'_> = read(kind, frame.data)?;
                return Err(refused(event.response.error));
            }
            "error" => {
                let event: ErrorEvent<'_> = read(kind, frame.data)?;
                return Err(match event.error {
                    Some(error) => refused(Some(error)),
                    None => Fault::Refused(Refusal::of_value(&read(kind, frame.data)?).unwrap_or_default()),
                });
            }
            other => tracing::debug!(event = other, "an event that means nothing here"),
        }
        Ok(Flow::More)
    }

    fn end(&mut self, _out: &mut Events) -> Result<(), Fault> {
        Err(Fault::Cut)
    }
}

impl ResponsesDecoder {
    pub(super) fn new(host: &str, ids: CallIds) -> Self {
        let (host, items) = (host.to_owned(), BTreeMap::new());
        Self { host, ids, started: false, items, calls: 0, refused: false }
    }

    fn start(&mut self, model: Cow<'_, str>, out: &mut Events) {
        if !self.started {
            self.started = true;
            let model = Some(model.into_owned()).filter(|model| !model.is_empty());
            out.push_back(ModelEvent::Started { model });
        }
    }

    fn begin(&mut self, event: ItemEvent<'_>, out: &mut Events) -> Result<(), Fault> {
        if !self.started {
            return Err(Fault::corrupt("an item before the response began"));
        }
        let index = event.output_index;
        if self.items.contains_key(&index) {
            return Err(Fault::corrupt(format!("two items have the index {index}")));
        }
        let tag: Tag<'_> = read("an item", event.item.get())?;
        let kind = match &*tag.kind.0 {
            "message" => Kind::Message,
            "reasoning" => Kind::Reasoning,
            "function_call" => self.call(&read("a function call", event.item.get())?, out)?,
            other => {
                unsupported::note(other, out);
                Kind::Unknown
            }
        };
        self.items.insert(index, Item { kind, wrote: false, open: true });
        Ok(())
    }

    fn call(&mut self, item: &CallItem<'_>, out: &mut Events) -> Result<Kind, Fault> {
        if item.name.0.is_empty() {
            return Err(Fault::corrupt("a function call without a name"));
        }
        let index = self.calls;
        self.calls += 1;
        let id = match &*item.call_id.0 {
            "" => self.ids.id(index as usize),
            id => id.to_owned(),
        };
        let name = item.name.0.to_string();
        out.push_back(ModelEvent::ToolCallStarted { index, id: id.into(), name });
        Ok(Kind::Call(index))
    }

    /// The open item that a delta is for; `None` when it is to be passed over.
    fn item(&mut self, index: u32, wanted: impl Fn(Kind) -> bool) -> Result<Option<&mut Item>, Fault> {
        let Some(item) = self.items.get_mut(&index) else {
            return Err(Fault::corrupt(format!("a delta for the item {index}, which never began")));
        };
        if item.kind == Kind::Unknown {
            return Ok(None);
        }
        if !item.open {
            return Err(Fault::corrupt(format!("a delta for the item {index}, which is over")));
        }
        if !wanted(item.kind) {
            return Err(Fault::corrupt(format!("a delta for the item {index}, which is of another kind")));
        }
        Ok(Some(item))
    }

    fn text(&mut self, event: Delta<'_>, out: &mut Events) -> Result<(), Fault> {
        if let Some(item) = self.item(event.output_index, |kind| kind == Kind::Message)?
            && !event.delta.0.is_empty()
        {
            item.wrote = true;
            out.push_back(ModelEvent::TextDelta { text: event.delta.0.into_owned() });
        }
        Ok(())
    }

    fn thought(&mut self, event: Delta<'_>, out: &mut Events) -> Result<(), Fault> {
        if let Some(item) = self.item(event.output_index, |kind| kind == Kind::Reasoning)?
            && !event.delta.0.is_empty()
        {
            item.wrote = true;
            out.push_back(ModelEvent::ReasoningDelta { text: event.delta.0.into_owned() });
        }
        Ok(())
    }

    /// Parts of a summary are paragraphs.
    fn thought_part(&mut self, event: PartEvent, out: &mut Events) {
        if self.items.get(&event.output_index).is_some_and(|item| item.kind == Kind::Reasoning && item.wrote) {
            out.push_back(ModelEvent::ReasoningDelta { text: "\n\n".into() });
        }
    }

    fn arguments(&mut self, event: Delta<'_>, out: &mut Events) -> Result<(), Fault> {
        if let Some(item) = self.item(event.output_index, |kind| matches!(kind, Kind::Call(_)))?
            && let Kind::Call(index) = item.kind
            && !event.delta.0.is_empty()
        {
            item.wrote = true;
            out.push_back(ModelEvent::ToolCallDelta { index, json: event.delta.0.into_owned() });
        }
        Ok(())
    }

    fn done(&mut self, event: ItemEvent<'_>, out: &mut Events) -> Result<(), Fault> {
        if !self.items.contains_key(&event.output_index) {
            self.begin(ItemEvent { output_index: event.output_index, item: event.item }, out)?;
        }
        let Some(item) = self.items.get_mut(&event.output_index).filter(|item| item.open) else { return Ok(()) };
        item.open = false;
        let (kind, wrote) = (item.kind, item.wrote);
        match kind {
            Kind::Message => {
                if !wrote {
                    self.late_text(&read("a message", event.item.get())?, out);
                }
                self.phase(serde_json::from_str(event.item.get()).unwrap_or_default(), out);
            }
            Kind::Reasoning => self.thoughts_done(event.item.get(), wrote, out)?,
            Kind::Call(index) => {
                let call: CallItem<'_> = read("a function call", event.item.get())?;
                if !wrote && !call.arguments.0.is_empty() {
                    out.push_back(ModelEvent::ToolCallDelta { index, json: call.arguments.0.into_owned() });
                }
                if call.status.0 != "incomplete" {
                    out.push_back(ModelEvent::ToolCallDone { index });
                }
            }
            Kind::Unknown => {}
        }
        Ok(())
    }

    fn late_text(&mut self, message: &MessageItem<'_>, out: &mut Events) {
        for part in &message.content {
            self.refused |= !part.refusal.0.is_empty();
            let said = [&part.text.0, &part.refusal.0].into_iter().filter(|text| !text.is_empty());
            out.extend(said.map(|text| ModelEvent::TextDelta { text: text.to_string() }));
        }
    }

    /// Whether the text before it was a word on the way or the answer: the model wants to know that of what it said
    /// (<https://developers.openai.com/api/docs/guides/reasoning>).
    fn phase(&self, item: PhasedItem<'_>, out: &mut Events) {
        if !item.phase.0.is_empty() {
            let opaque = json!({ "responses": self.host, "phase": item.phase.0 });
            out.push_back(ModelEvent::ReasoningDone { signature: None, opaque: Some(opaque) });
        }
    }

    fn thoughts_done(&mut self, json: &str, wrote: bool, out: &mut Events) -> Result<(), Fault> {
        let item: ReasoningItem<'_> = read("reasoning", json)?;
        if !wrote {
            let texts: Vec<_> = item.summary.iter().map(|part| &*part.text.0).filter(|text| !text.is_empty()).collect();
            if !texts.is_empty() {
                out.push_back(ModelEvent::ReasoningDelta { text: texts.join("\n\n") });
            }
        }
        let mut whole: Value = read("reasoning", json)?;
        if let Some(fields) = whole.as_object_mut() {
            // What a response says of its item, and requests do not take.
            fields.retain(|name, value| name != "status" && !value.is_null());
        }
        let opaque = json!({ "responses": self.host, "item": whole });
        out.push_back(ModelEvent::ReasoningDone { signature: None, opaque: Some(opaque) });
        Ok(())
    }

    fn finish(&mut self, event: ResponseEvent<'_>, incomplete: bool, out: &mut Events) -> Result<(), Fault> {
        self.start(event.response.model.0, out);
        if self.items.values().any(|item| item.open && matches!(item.kind, Kind::Call(_))) && !incomplete {
            return Err(Fault::corrupt("the response ends before one of its calls"));
        }
        out.extend(event.response.usage.map(|usage| ModelEvent::Usage(usage.usage())));
        let reason = event.response.incomplete_details.map(|details| details.reason.0).unwrap_or_default();
        let stop = match &*reason {
            _ if !incomplete && self.refused => StopReason::Refusal,
            _ if !incomplete && self.calls > 0 => StopReason::ToolUse,
            _ if !incomplete => StopReason::EndTurn,
            "max_output_tokens" | "max_tokens" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            "" => StopReason::Other("incomplete".to_owned()),
            other => StopReason::Other(other.to_owned()),
        };
        out.push_back(ModelEvent::Finished { stop });
        Ok(())
    }
}

fn refused(error: Option<&RawValue>) -> Fault {
    let error: Option<Value> = error.and_then(|error| serde_json::from_str(error.get()).ok());
    Fault::Refused(error.as_ref().and_then(Refusal::of_value).unwrap_or_default())
}

fn read<'a, T: Deserialize<'a>>(what: &str, json: &'a str) -> Result<T, Fault> {
    serde_json::from_str(json).map_err(|error| Fault::json(what, &error))
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    output_index: u32,
    #[serde(borrow)]
    delta: Text<'a>,
}

#[derive(Deserialize)]
struct PartEvent {
    output_index: u32,
}

#[derive(Deserialize)]
struct ItemEvent<'a> {
    output_index: u32,
    #[serde(borrow)]
    item: &'a RawValue,
}

#[derive(Deserialize)]
struct CallItem<'a> {
    #[serde(borrow, default)]
    call_id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Text<'a>,
    #[serde(borrow, default)]
    status: Text<'a>,
}

#[derive(Default, Deserialize)]
struct PhasedItem<'a> {
    #[serde(borrow, default)]
    phase: Text<'a>,
}

#[derive(Deserialize)]
struct MessageItem<'a> {
    #[serde(borrow, default)]
    content: Vec<MessagePart<'a>>,
}

#[derive(Deserialize)]
struct MessagePart<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
}

#[derive(Deserialize)]
struct ReasoningItem<'a> {
    #[serde(borrow, default)]
    summary: Vec<MessagePart<'a>>,
}

#[derive(Deserialize)]
struct ErrorEvent<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResponseEvent<'a> {
    #[serde(borrow)]
    response: Response<'a>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default)]
    reason: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    /// A part of the input as the cached ones are. Models before GPT-5.6 write for nothing and say nothing of it.
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}

impl WireUsage {
    fn usage(self) -> Usage {
        let read = self.input_tokens_details.unwrap_or_default();
        Usage {
            input: self.input_tokens.0,
            output: self.output_tokens.0,
            cache_read: read.cached_tokens.0,
            cache_write: read.cache_write_tokens.0,
            reasoning: self.output_tokens_details.and_then(|details| details.reasoning_tokens.0),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
