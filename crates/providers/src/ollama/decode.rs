use std::collections::HashSet;

use bosun_model::{ModelEvent, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::adapter::CallIds;
use crate::driver::{Decoder, Events, Fault};
use crate::failure::Refusal;
use crate::lenient::{Count, Text};
use crate::sse::{Flow, Frame};

/// Reads the lines of one reply. See the policy table of [`crate::driver`]. Calls come whole.
#[derive(Debug)]
pub(super) struct OllamaDecoder {
    host: String,
    ids: CallIds,
    started: bool,
    thinking: bool,
    calls: u32,
    taken: HashSet<String>,
}

impl Decoder for OllamaDecoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|error| Fault::json("a line", &error))?;
        if let Some(error) = line.error {
            let error: Value = serde_json::from_str(error.get()).map_err(|error| Fault::json("an error", &error))?;
            return Err(Fault::Refused(Refusal::of_value(&error).unwrap_or_default()));
        }
        let done = line.done.unwrap_or(false);
        if line.message.is_none() && !done {
            if self.started {
                tracing::debug!("a line without anything known");
                return Ok(Flow::More);
            }
            return Err(Fault::corrupt("the first line is not of a reply"));
        }
        if !self.started {
            self.started = true;
            let model = Some(line.model.0.into_owned()).filter(|model| !model.is_empty());
            out.push_back(ModelEvent::Started { model });
        }
        if let Some(message) = line.message {
            self.message(message, out)?;
        }
        if !done {
            return Ok(Flow::More);
        }
        self.close_thinking(out);
        let usage = Usage { input: line.prompt_eval_count.0, output: line.eval_count.0, ..Usage::default() };
        if usage != Usage::default() {
            out.push_back(ModelEvent::Usage(usage));
        }
        let stop = match &*line.done_reason.0 {
            "stop" | "" if self.calls > 0 => StopReason::ToolUse,
            "stop" | "" => StopReason::EndTurn,
            "length" => StopReason::MaxTokens,
            other => StopReason::Other(other.to_owned()),
        };
        out.push_back(ModelEvent::Finished { stop });
        Ok(Flow::Stop)
    }

    fn end(&mut self, _out: &mut Events) -> Result<(), Fault> {
        Err(Fault::Cut)
    }
}

impl OllamaDecoder {
    pub(super) fn new(host: &str, ids: CallIds) -> Self {
        Self { host: host.to_owned(), ids, started: false, thinking: false, calls: 0, taken: HashSet::new() }
    }

    fn message(&mut self, message: Said<'_>, out: &mut Events) -> Result<(), Fault> {
        if !message.thinking.0.is_empty() {
            self.thinking = true;
            out.push_back(ModelEvent::ReasoningDelta { text: message.thinking.0.into_owned() });
        }
        if !message.content.0.is_empty() {
            self.close_thinking(out);
            out.push_back(ModelEvent::TextDelta { text: message.content.0.into_owned() });
        }
        for call in message.tool_calls.unwrap_or_default() {
            self.close_thinking(out);
            self.call(call, out)?;
        }
        Ok(())
    }

    fn close_thinking(&mut self, out: &mut Events) {
        if std::mem::take(&mut self.thinking) {
            let opaque = Some(json!({ "ollama": self.host }));
            out.push_back(ModelEvent::ReasoningDone { signature: None, opaque });
        }
    }

    fn call(&mut self, call: Call<'_>, out: &mut Events) -> Result<(), Fault> {
        if call.function.name.0.is_empty() {
            return Err(Fault::corrupt("a tool call without a name"));
        }
        let index = self.calls;
        self.calls += 1;
        let given = Some(call.id.0.into_owned()).filter(|id| !id.is_empty() && !self.taken.contains(id));
        let id = given.unwrap_or_else(|| self.ids.id(index as usize));
        self.taken.insert(id.clone());
        out.push_back(ModelEvent::ToolCallStarted { index, id: id.into(), name: call.function.name.0.into_owned() });
        let json = match call.function.arguments.map_or("null", RawValue::get) {
            "null" => "{}".to_owned(),
            // Older servers write the object into a string.
            text if text.starts_with('"') => {
                serde_json::from_str(text).map_err(|error| Fault::json("the arguments of a call", &error))?
            }
            object => object.to_owned(),
        };
        out.push_back(ModelEvent::ToolCallDelta { index, json });
        out.push_back(ModelEvent::ToolCallDone { index });
        Ok(())
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow)]
    message: Option<Said<'a>>,
    done: Option<bool>,
    #[serde(borrow, default)]
    done_reason: Text<'a>,
    #[serde(default)]
    prompt_eval_count: Count,
    #[serde(default)]
    eval_count: Count,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Called<'a>,
}

#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
