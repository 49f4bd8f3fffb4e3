use std::collections::HashSet;

use bosun_model::{ModelEvent, StopReason, Usage};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Signer;
use crate::adapter::CallIds;
use crate::driver::{Decoder, Events, Fault};
use crate::failure::{MISSING_SIGNATURE, Refusal};
use crate::lenient::{Count, Text};
use crate::sse::{Flow, Frame};
use crate::unsupported;

/// Reads the chunks of one reply. See the policy table of [`crate::driver`].
///
/// Calls come whole, mostly without an id. The wire has no end of message: a reply that gave its finish reason is complete
/// when its bytes are over.
#[derive(Debug)]
pub(super) struct GeminiDecoder {
    signer: Signer,
    ids: CallIds,
    started: bool,
    calls: u32,
    taken: HashSet<String>,
    /// What the text so far is signed with. It is told behind the text, which it must not split.
    text_signature: Option<String>,
    finish: Option<Finish>,
    tokens: Tokens,
    usage: Usage,
}

#[derive(Debug)]
struct Finish {
    reason: String,
    /// The provider's sentence about it, where it has one.
    message: String,
}

impl Decoder for GeminiDecoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault> {
        let chunk: Chunk<'_> = serde_json::from_str(frame.data).map_err(|error| Fault::json("a chunk", &error))?;
        if let Some(error) = chunk.error {
            let error: Value = serde_json::from_str(error.get()).map_err(|error| Fault::json("an error", &error))?;
            return Err(Fault::Refused(Refusal::of_value(&error).unwrap_or_default()));
        }
        let known = chunk.candidates.is_some() || chunk.prompt_feedback.is_some() || chunk.usage_metadata.is_some();
        if !known {
            tracing::debug!("a chunk without anything known");
            return Ok(Flow::More);
        }
        if !self.started {
            self.started = true;
            let model = Some(chunk.model_version.0.into_owned()).filter(|model| !model.is_empty());
            out.push_back(ModelEvent::Started { model });
        }
        // Only one candidate was asked for.
        let candidates = chunk.candidates.unwrap_or_default().into_iter();
        for candidate in candidates.filter(|candidate| candidate.index.unwrap_or(0) == 0) {
            self.candidate(candidate, out)?;
        }
        if let Some(feedback) = chunk.prompt_feedback.filter(|feedback| !feedback.block_reason.0.is_empty()) {
            let message = feedback.block_reason_message.0.into_owned();
            self.finish = Some(Finish { reason: "PROHIBITED_CONTENT".into(), message });
        }
        self.note_usage(chunk.usage_metadata, out);
        Ok(Flow::More)
    }

    fn end(&mut self, out: &mut Events) -> Result<(), Fault> {
        let Some(finish) = self.finish.take() else { return Err(Fault::Cut) };
        let stop = match finish.reason.as_str() {
            "STOP" if self.calls > 0 => StopReason::ToolUse,
            "STOP" => StopReason::EndTurn,
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "LANGUAGE" | "IMAGE_SAFETY" => {
                StopReason::refusal(&finish.message)
            }
            // Not for what was said: who refused is told in any case.
            reason @ ("MODEL_ARMOR" | "PUP_LIMITED_DISABLED" | "ESCALATION") => {
                StopReason::refusal(if finish.message.trim().is_empty() { reason } else { &finish.message })
            }
            // The model slipped; another try goes well as a rule.
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
                return Err(again(&finish.message, "the model made a call that the provider could not read"));
            }
            "MALFORMED_RESPONSE" => {
                return Err(again(&finish.message, "the model made a reply that the provider could not read"));
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                let words = format!("{MISSING_SIGNATURE}: {}", finish.message);
                return Err(again(words.trim_end_matches([':', ' ']), MISSING_SIGNATURE));
            }
            other if finish.message.is_empty() => StopReason::Other(other.to_owned()),
            other => StopReason::Other(format!("{other}: {}", finish.message)),
        };
        self.sign_text(out);
        out.push_back(ModelEvent::Finished { stop });
        Ok(())
    }
}

/// An end after which the same is asked again, in the provider's words or in `plain` ones.
fn again(words: &str, plain: &str) -> Fault {
    let message = if words.is_empty() { plain } else { words }.to_owned();
    Fault::Refused(Refusal { message, labels: vec!["service_unavailable".to_owned()], ..Refusal::default() })
}

impl GeminiDecoder {
    pub(super) fn new(signer: &Signer, ids: CallIds) -> Self {
        let (signer, taken) = (signer.clone(), HashSet::new());
        let (tokens, usage) = (Tokens::default(), Usage::default());
        Self { signer, ids, started: false, calls: 0, taken, text_signature: None, finish: None, tokens, usage }
    }

    fn candidate(&mut self, candidate: Candidate<'_>, out: &mut Events) -> Result<(), Fault> {
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.part(part, out)?;
        }
        if !candidate.finish_reason.0.is_empty() && candidate.finish_reason.0 != "FINISH_REASON_UNSPECIFIED" {
            let (reason, message) = (candidate.finish_reason.0, candidate.finish_message.0);
            self.finish = Some(Finish { reason: reason.into_owned(), message: message.into_owned() });
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Events) -> Result<(), Fault> {
        if let Some(kind) = part.unsupported() {
            unsupported::note(kind, out);
        }
        let signature = Some(part.thought_signature.0.into_owned()).filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            return self.call(call, signature, out);
        }
        let text = part.text.0.into_owned();
        if part.thought.unwrap_or(false) {
            self.sign_text(out);
            if !text.is_empty() {
                out.push_back(ModelEvent::ReasoningDelta { text });
            }
        } else if !text.is_empty() {
            out.push_back(ModelEvent::TextDelta { text });
        }
        self.text_signature = signature.or(self.text_signature.take());
        Ok(())
    }

    fn sign_text(&mut self, out: &mut Events) {
        if let Some(signature) = self.text_signature.take() {
            let Signer { host, model } = &self.signer;
            let (signature, opaque) = (Some(signature), Some(json!({ "gemini": host, "model": model })));
            out.push_back(ModelEvent::ReasoningDone { signature, opaque });
        }
    }

    fn call(&mut self, call: Call<'_>, signature: Option<String>, out: &mut Events) -> Result<(), Fault> {
        if call.name.0.is_empty() {
            return Err(Fault::corrupt("a function call without a name"));
        }
        self.sign_text(out);
        let index = self.calls;
        self.calls += 1;
        let given = Some(call.id.0.into_owned()).filter(|id| !id.is_empty() && !self.taken.contains(id));
        let id = given.unwrap_or_else(|| self.ids.id(index as usize));
        self.taken.insert(id.clone());
        if signature.is_some() {
            let Signer { host, model } = &self.signer;
            let opaque = Some(json!({ "gemini": host, "model": model, "call": id }));
            out.push_back(ModelEvent::ReasoningDone { signature, opaque });
        }
        out.push_back(ModelEvent::ToolCallStarted { index, id: id.into(), name: call.name.0.into_owned() });
        let args = call.args.map_or("{}", RawValue::get);
        let json = if args == "null" { "{}" } else { args }.to_owned();
        out.push_back(ModelEvent::ToolCallDelta { index, json });
        out.push_back(ModelEvent::ToolCallDone { index });
        Ok(())
    }

    fn note_usage(&mut self, usage: Option<WireUsage>, out: &mut Events) {
        let Some(usage) = usage else { return };
        self.tokens.update(usage);
        let usage = self.tokens.usage();
        if usage != std::mem::replace(&mut self.usage, usage) {
            out.push_back(ModelEvent::Usage(usage));
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Option<Feedback<'a>>,
    usage_metadata: Option<WireUsage>,
    #[serde(borrow, default)]
    model_version: Text<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    index: Option<u32>,
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
    #[serde(borrow, default)]
    finish_message: Text<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
    thought: Option<bool>,
    #[serde(borrow, default)]
    thought_signature: Text<'a>,
    #[serde(borrow)]
    function_call: Option<Call<'a>>,
    #[serde(borrow)]
    inline_data: Option<Bytes<'a>>,
    #[serde(borrow)]
    file_data: Option<Bytes<'a>>,
    executable_code: Option<IgnoredAny>,
    code_execution_result: Option<IgnoredAny>,
}

/// Bytes of some kind; only the kind is of use.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bytes<'a> {
    #[serde(borrow, default)]
    mime_type: Text<'a>,
}

impl Part<'_> {
    /// What it holds that cannot be shown.
    fn unsupported(&self) -> Option<&str> {
        let bytes = self.inline_data.as_ref().or(self.file_data.as_ref()).map(|bytes| &*bytes.mime_type.0);
        let run = || self.executable_code.and(Some("executable_code"));
        bytes.or_else(run).or_else(|| self.code_execution_result.and(Some("code_execution_result")))
    }
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow, default)]
    block_reason: Text<'a>,
    #[serde(borrow, default)]
    block_reason_message: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireUsage {
    prompt_token_count: Option<Count>,
    tool_use_prompt_token_count: Option<Count>,
    cached_content_token_count: Option<Count>,
    candidates_token_count: Option<Count>,
    thoughts_token_count: Option<Count>,
    prompt_tokens_details: Option<Kinds>,
    cache_tokens_details: Option<Kinds>,
}

/// How many of the tokens are of what kind, of which only sound has a price of its own; what is no such list is passed over.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    audio: Option<Count>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfKind {
    #[serde(default)]
    modality: String,
    token_count: Option<Count>,
}

impl<'de> Deserialize<'de> for Kinds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kinds: Vec<OfKind> = serde_json::from_value(Value::deserialize(deserializer)?).unwrap_or_default();
        let audio = kinds.into_iter().find(|kind| kind.modality == "AUDIO").and_then(|kind| kind.token_count);
        Ok(Self { audio })
    }
}

/// What was told so far. A count that was told and cannot be one stays unknown: what was told before it would make the
/// call look cheaper than it was.
#[derive(Clone, Copy, Debug, Default)]
struct Tokens {
    prompt: Option<Count>,
    tool_use: Option<Count>,
    cached: Option<Count>,
    candidates: Option<Count>,
    thoughts: Option<Count>,
    audio: Option<Count>,
    audio_read: Option<Count>,
}

impl Tokens {
    fn update(&mut self, usage: WireUsage) {
        self.prompt = usage.prompt_token_count.or(self.prompt);
        self.tool_use = usage.tool_use_prompt_token_count.or(self.tool_use);
        self.cached = usage.cached_content_token_count.or(self.cached);
        self.candidates = usage.candidates_token_count.or(self.candidates);
        self.thoughts = usage.thoughts_token_count.or(self.thoughts);
        self.audio = usage.prompt_tokens_details.and_then(|kinds| kinds.audio).or(self.audio);
        self.audio_read = usage.cache_tokens_details.and_then(|kinds| kinds.audio).or(self.audio_read);
    }

    /// Thoughts are counted beside the answer on this wire.
    fn usage(self) -> Usage {
        let known = |told: Option<Count>| told.and_then(|count| count.0);
        // What was never told is nothing beside what was; what cannot be one makes the sum unknown.
        let sum = |a: Option<Count>, b: Option<Count>| match (a, b) {
            (Some(a), Some(b)) => Some(a.0?.saturating_add(b.0?)),
            (one, other) => known(one.or(other)),
        };
        Usage {
            input: sum(self.prompt, self.tool_use),
            output: sum(self.candidates, self.thoughts),
            cache_read: known(self.cached),
            reasoning: known(self.thoughts),
            audio: known(self.audio),
            audio_read: known(self.audio_read),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
