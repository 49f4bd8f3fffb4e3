use bosun_model::{ModelEvent, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::calls::{Calls, ToolDelta};
use super::think_tags::{Piece, ThinkTags};
use super::thoughts::{Source, Thoughts};
use crate::adapter::CallIds;
use crate::driver::{Decoder, Events, Fault};
use crate::failure::Refusal;
use crate::lenient::{Content, Count, Dollars, Maybe, Text};
use crate::preset::CostReport;
use crate::sse::{Flow, Frame};
use crate::unsupported;

/// Reads the chunks of one completion. See the policy table of [`crate::driver`].
///
/// Lenient where a server's habit cannot change what is done: the finish reason may be `stop` beside tool calls or come with
/// several chunks, `[DONE]` may be missing after it, usage may come with any chunk, reasoning in the ways that `thoughts` lists,
/// and tool calls in those that [`Calls`] lists. Strict where it could: without a finish reason a reply with calls is cut.
#[derive(Debug)]
pub(super) struct OpenAiDecoder {
    started: bool,
    thoughts: Thoughts,
    tags: ThinkTags,
    calls: Calls,
    finish: Option<String>,
    /// Whether there was any text.
    spoke: bool,
    refused: bool,
    /// Whether it was said that there is sound, or a picture, in the reply.
    told: Told,
    cost: CostReport,
    tokens: Tokens,
    usage: Usage,
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    audio: bool,
    images: bool,
}

impl OpenAiDecoder {
    pub(super) fn new(host: &str, cost: CostReport, ids: CallIds) -> Self {
        Self {
            started: false,
            thoughts: Thoughts::new(host),
            tags: ThinkTags::default(),
            calls: Calls::new(ids),
            finish: None,
            spoke: false,
            refused: false,
            told: Told::default(),
            cost,
            tokens: Tokens::default(),
            usage: Usage::default(),
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, out: &mut Events) -> Result<(), Fault> {
        if let Some(error) = chunk.error {
            let error: Value = serde_json::from_str(error.get()).map_err(|error| Fault::json("an error", &error))?;
            return Err(Fault::Refused(Refusal::of_value(&error).unwrap_or_default()));
        }
        let Some(choices) = chunk.choices else {
            self.note_usage(chunk.usage.0.or(chunk.x_groq.0.and_then(|own| own.usage.0)), out);
            return Ok(());
        };
        if !self.started {
            self.started = true;
            let model = Some(chunk.model.0.into_owned()).filter(|model| !model.is_empty());
            out.push_back(ModelEvent::Started { model });
        }
        // Only one choice was asked for.
        for choice in choices.into_iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            if let Some(delta) = choice.delta {
                self.delta(delta, out)?;
            }
            if !choice.finish_reason.0.is_empty() {
                self.finish = Some(choice.finish_reason.0.into_owned());
            }
            self.note_usage(choice.usage.0, out);
        }
        self.note_usage(chunk.usage.0.or(chunk.x_groq.0.and_then(|own| own.usage.0)), out);
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Events) -> Result<(), Fault> {
        self.think(&delta, out);
        self.refused |= !delta.refusal.0.is_empty();
        for text in [delta.content.text, delta.refusal.0] {
            if !text.is_empty() {
                let pieces = self.tags.take(&text);
                self.tell(pieces, out);
            }
        }
        // Sound comes in many pieces and is told of once.
        let is_there = |part: &&RawValue| !matches!(part.get(), "null" | "{}" | "[]");
        if delta.audio.filter(is_there).is_some() && !std::mem::replace(&mut self.told.audio, true) {
            unsupported::note("audio", out);
        }
        if delta.images.filter(is_there).is_some() && !std::mem::replace(&mut self.told.images, true) {
            unsupported::note("image", out);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            let held = self.tags.end();
            self.tell(held, out);
            self.thoughts.close(out);
            self.calls.take(call, out)?;
        }
        Ok(())
    }

    fn tell(&mut self, pieces: Vec<Piece>, out: &mut Events) {
        for piece in pieces {
            match piece {
                Piece::Thought(text) => self.thoughts.say(Source::Plain, text, out),
                Piece::Spoken(text) => {
                    self.thoughts.close(out);
                    self.spoke = true;
                    out.push_back(ModelEvent::TextDelta { text });
                }
            }
        }
    }

    /// Servers in transition send two names with the same text, which is told once.
    fn think(&mut self, delta: &Delta<'_>, out: &mut Events) {
        let detailed = delta.reasoning_details.map(|raw| self.thoughts.detail(raw));
        let names = [
            (Source::Aloud, &*delta.reasoning_content.0),
            (Source::Plain, &*delta.reasoning.0),
            (Source::Parts, &*delta.content.thinking),
            (Source::Plain, detailed.as_deref().unwrap_or_default()),
        ];
        if let Some((source, text)) = names.into_iter().find(|(_, text)| !text.is_empty()) {
            self.thoughts.say(source, text.to_owned(), out);
        }
    }

    fn note_usage(&mut self, usage: Option<WireUsage>, out: &mut Events) {
        let Some(usage) = usage else { return };
        self.tokens.update(usage);
        let charged = self.tokens.charged.filter(|_| self.cost == CostReport::Dollars);
        let usage = Usage { charged, ..self.tokens.usage() };
        if usage != std::mem::replace(&mut self.usage, usage) {
            out.push_back(ModelEvent::Usage(usage));
        }
    }

    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        let held = self.tags.end();
        self.tell(held, out);
        self.thoughts.close(out);
        let called = !self.calls.is_empty();
        let stop = match self.finish.as_deref() {
            // An end without a reason is taken from servers that give none, but nothing is done because of it.
            None if called => return Err(Fault::Cut),
            None | Some("stop") if self.refused => StopReason::Refusal,
            None | Some("stop" | "end_turn" | "eos" | "eos_token") if called => StopReason::ToolUse,
            None | Some("stop" | "end_turn" | "eos" | "eos_token") => StopReason::EndTurn,
            Some("stop_sequence") => StopReason::StopSequence,
            Some("tool_calls" | "function_call" | "tool_use") => StopReason::ToolUse,
            // Zhipu's: what was asked leaves no room for an answer.
            Some("model_context_window_exceeded") if !called && !self.spoke => {
                let labels = vec!["context_length_exceeded".to_owned()];
                let message = "the conversation exceeds the model's context window".to_owned();
                return Err(Fault::Refused(Refusal { message, labels, ..Refusal::default() }));
            }
            Some("length" | "max_tokens" | "model_length" | "model_context_window_exceeded") => StopReason::MaxTokens,
            Some("content_filter" | "sensitive") => StopReason::Refusal,
            Some(other) => StopReason::Other(other.to_owned()),
        };
        self.calls.finish(&stop, &self.thoughts, out)?;
        self.thoughts.finish(out);
        out.push_back(ModelEvent::Finished { stop });
        Ok(())
    }
}

impl Decoder for OpenAiDecoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault> {
        if frame.data.trim() == "[DONE]" {
            if !self.started {
                return Err(Fault::corrupt("it ended without a message"));
            }
            self.finish(out)?;
            return Ok(Flow::Stop);
        }
        if frame.event == "error" {
            let value: Value = serde_json::from_str(frame.data).unwrap_or_else(|_| json!(frame.data));
            let refusal = Refusal::of_value(value.get("error").unwrap_or(&value));
            return Err(Fault::Refused(refusal.unwrap_or_default()));
        }
        let chunk: Chunk<'_> = serde_json::from_str(frame.data).map_err(|error| Fault::json("a chunk", &error))?;
        if chunk.object.0 == "error" {
            let value: Value = serde_json::from_str(frame.data).map_err(|error| Fault::json("an error", &error))?;
            return Err(Fault::Refused(Refusal::of_value(&value).unwrap_or_default()));
        }
        self.chunk(chunk, out)?;
        Ok(Flow::More)
    }

    fn end(&mut self, out: &mut Events) -> Result<(), Fault> {
        if self.finish.is_some() { self.finish(out) } else { Err(Fault::Cut) }
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    object: Text<'a>,
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Maybe<WireUsage>,
    #[serde(default)]
    x_groq: Maybe<OfGroq>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What Groq says beside the format.
#[derive(Deserialize)]
struct OfGroq {
    #[serde(default)]
    usage: Maybe<WireUsage>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u32>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
    /// Moonshot's place for it.
    #[serde(default)]
    usage: Maybe<WireUsage>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    reasoning: Text<'a>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
    #[serde(borrow)]
    audio: Option<&'a RawValue>,
    #[serde(borrow)]
    images: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ToolDelta<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    prompt_tokens: Option<Count>,
    completion_tokens: Option<Count>,
    total_tokens: Option<Count>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for the cached part.
    prompt_cache_hit_tokens: Option<Count>,
    /// Moonshot's.
    cached_tokens: Option<Count>,
    /// OpenRouter's, in US dollars.
    cost: Option<Dollars>,
    is_byok: Option<bool>,
    cost_details: Option<CostDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CostDetails {
    /// What the model's own provider charges; beside the cost where that is paid with a key of the person's own.
    upstream_inference_cost: Option<Dollars>,
}

impl WireUsage {
    /// All that is charged for the call.
    fn charged(&self) -> Option<f64> {
        let cost = self.cost.and_then(|cost| cost.0)?;
        if self.is_byok != Some(true) {
            return Some(cost);
        }
        let upstream = self.cost_details.as_ref().and_then(|details| details.upstream_inference_cost);
        upstream.and_then(|upstream| upstream.0).map(|upstream| cost + upstream)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<Count>,
    /// OpenRouter's, where the model's own provider is paid for it.
    cache_write_tokens: Option<Count>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<Count>,
}

/// What was told so far. A count that was told and cannot be one stays unknown: what was told before it would make the
/// call look cheaper than it was.
#[derive(Clone, Copy, Debug, Default)]
struct Tokens {
    prompt: Option<Count>,
    completion: Option<Count>,
    total: Option<Count>,
    cached: Option<Count>,
    written: Option<Count>,
    reasoning: Option<Count>,
    charged: Option<f64>,
}

impl Tokens {
    fn update(&mut self, usage: WireUsage) {
        self.charged = usage.charged().or(self.charged);
        let details = usage.prompt_tokens_details.unwrap_or_default();
        let cached = details.cached_tokens.or(usage.prompt_cache_hit_tokens).or(usage.cached_tokens);
        let reasoning = usage.completion_tokens_details.and_then(|details| details.reasoning_tokens);
        self.prompt = usage.prompt_tokens.or(self.prompt);
        self.completion = usage.completion_tokens.or(self.completion);
        self.total = usage.total_tokens.or(self.total);
        self.cached = cached.or(self.cached);
        self.written = details.cache_write_tokens.or(self.written);
        self.reasoning = reasoning.or(self.reasoning);
    }

    fn usage(self) -> Usage {
        let known = |told: Option<Count>| told.and_then(|count| count.0);
        let (prompt, reasoning) = (known(self.prompt), known(self.reasoning));
        Usage {
            input: prompt,
            output: output(prompt, known(self.completion), reasoning, known(self.total)),
            cache_read: known(self.cached),
            cache_write: known(self.written),
            reasoning,
            ..Usage::default()
        }
    }
}

/// All that was written. Most servers count reasoning in `completion`; xAI counts it beside, which shows in the total.
fn output(prompt: Option<u64>, completion: Option<u64>, reasoning: Option<u64>, total: Option<u64>) -> Option<u64> {
    let (Some(prompt), Some(completion), Some(reasoning), Some(total)) = (prompt, completion, reasoning, total) else {
        return completion;
    };
    let with_reasoning = completion.saturating_add(reasoning);
    let is_beside = reasoning > 0 && prompt.saturating_add(with_reasoning) == total;
    Some(if is_beside { with_reasoning } else { completion })
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
