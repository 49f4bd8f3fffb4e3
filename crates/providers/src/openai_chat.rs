//! OpenAI Chat Completions, and the many servers that speak it: llama.cpp, LM Studio, vLLM, DeepSeek, Qwen, Mistral and more.
//!
//! Written against what those servers send. `async-openai`, the client in wide use, was weighed: its types are those of the one
//! vendor, without what the others send beside it (`reasoning_content`, ids that are missing or repeat, arguments as
//! objects); it reads a stream to its `[DONE]`, which not every server has; and it brings its own HTTP, past the limits and
//! the redaction of this crate. Where servers differ, what is read leniently stands in `decode`, what is sent carefully in
//! `encode`.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, Message, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::body::Group;
use crate::driver::Decoder;
use crate::endpoint::Endpoint;
use crate::preset::{CacheField, Quirks, ThoughtsBack, is_azure};

mod calls;
mod decode;
mod effort;
mod encode;
mod ids;
mod levels;
mod lines;
mod strict;
mod think_tags;
mod thoughts;

use ids::Ids;
use thoughts::is_aloud;

pub use effort::always_thinks;
pub(crate) use levels::{thinks_by_name, word as effort_word};
pub(crate) use strict::takes_strictly;

#[derive(Clone)]
pub(crate) struct OpenAiChat {
    /// Reasoning goes back only to the host that it came from; others refuse the field.
    host: String,
    manner: Manner,
    left_out: LeftOut,
}

/// How requests are written for one model at one server.
#[derive(Clone, Copy)]
struct Manner {
    quirks: Quirks,
    /// Whether the model wants to be told what is to be kept in its cache.
    marks: bool,
    ids: Ids,
    /// Whether words of the model's own stand between results and what is said behind them.
    bridges: bool,
}

impl OpenAiChat {
    pub(crate) fn new(endpoint: &Endpoint, model: &str) -> Self {
        Self::of(&endpoint.host, model)
    }

    fn of(host: &str, model: &str) -> Self {
        let quirks = Quirks::of_host(host);
        let marks = quirks.cache == CacheField::OfAnthropic && model.trim().starts_with("anthropic/");
        let manner = Manner { quirks, marks, ids: Ids::of(host, model), bridges: false };
        Self { host: host.to_owned(), manner, left_out: LeftOut::default() }
    }

    /// Whose thoughts go back.
    fn origin(&self) -> &str {
        if self.left_out.thoughts { "" } else { &self.host }
    }
}

impl Adapter for OpenAiChat {
    fn chat_path(&self, _model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        ("chat/completions".into(), None)
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("models", None)
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        key_header(&self.host, key)
    }

    fn add_headers(&self, _headers: &mut HeaderMap) {}

    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::head(request, info, self.manner, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::turns(group, self.origin(), self.manner, out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(request, info, self.manner, out)
    }

    /// Whether replies go back with what their model thought.
    fn variant(&self, _request: &ChatRequest, info: &ModelInfo) -> bool {
        matches!(self.manner.quirks.thoughts, ThoughtsBack::Always(_)) && info.abilities.reasoning
    }

    /// Whether it has reasoning that this host wants back.
    fn decides(&self, message: &Message) -> bool {
        is_aloud(message, self.origin())
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::OpenAiDecoder::new(&self.host, self.manner.quirks.cost, ids))
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        let is_known = LeftOut::THOUGHTS.and(LeftOut::ORDER).covers(out);
        let manner = Manner { bridges: out.order, ..self.manner };
        is_known.then(|| Arc::new(Self { manner, left_out: out, ..self.clone() }) as _)
    }
}

/// Azure takes keys under a name of its own, and tokens of its directory as bearers.
pub(crate) fn key_header(host: &str, key: &str) -> (HeaderName, String) {
    if is_azure(host) && !key.starts_with("eyJ") {
        return (HeaderName::from_static("api-key"), key.to_owned());
    }
    (AUTHORIZATION, format!("Bearer {key}"))
}
