//! OpenAI Chat Completions, and the many servers that speak it: llama.cpp, LM Studio, vLLM, DeepSeek, Qwen, Mistral and more.
//!
//! Written against what those servers send instead of over a typed client of the one vendor, whose types refuse most of
//! it. Where servers differ, what is read leniently stands in `decode`, what is sent carefully in `encode`.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::body::Group;
use crate::config::Endpoint;
use crate::driver::Decoder;
use crate::preset::{CacheField, Quirks, ThoughtsBack, is_azure};

mod calls;
mod decode;
mod effort;
mod encode;
mod levels;
mod lines;
mod strict;
mod thoughts;

pub use effort::always_thinks;
pub(crate) use levels::{thinks_by_name, word as effort_word};
pub(crate) use strict::takes_strictly;

pub(crate) struct OpenAiChat {
    /// Reasoning goes back only to the host that it came from; others refuse the field.
    host: String,
    quirks: Quirks,
    /// Whether the model wants to be told what is to be kept in its cache.
    marks: bool,
    /// Whether what the model once thought goes back.
    replays: bool,
}

impl OpenAiChat {
    pub(crate) fn new(endpoint: &Endpoint, model: &str) -> Self {
        Self::of(&endpoint.host, model)
    }

    fn of(host: &str, model: &str) -> Self {
        let quirks = Quirks::of_host(host);
        let marks = quirks.cache == CacheField::OfAnthropic && model.trim().starts_with("anthropic/");
        Self { host: host.to_owned(), quirks, marks, replays: true }
    }

    /// Whose thoughts go back.
    fn origin(&self) -> &str {
        if self.replays { &self.host } else { "" }
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
        encode::head(request, info, self.quirks, self.marks, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::turns(group, self.origin(), self.quirks, self.marks, out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(request, info, self.quirks, self.marks, out)
    }

    /// Whether replies go back with what their model thought.
    fn variant(&self, request: &ChatRequest, info: &ModelInfo) -> bool {
        let is_wanted = matches!(self.quirks.thoughts, ThoughtsBack::Always(_)) && info.abilities.reasoning;
        is_wanted || encode::thinks_aloud(request, self.origin())
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::OpenAiDecoder::new(&self.host, ids))
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        let without = || Self { host: self.host.clone(), quirks: self.quirks, marks: self.marks, replays: false };
        (out == LeftOut::THOUGHTS).then(|| Arc::new(without()) as _)
    }
}

/// Azure takes keys under a name of its own, and tokens of its directory as bearers.
pub(crate) fn key_header(host: &str, key: &str) -> (HeaderName, String) {
    if is_azure(host) && !key.starts_with("eyJ") {
        return (HeaderName::from_static("api-key"), key.to_owned());
    }
    (AUTHORIZATION, format!("Bearer {key}"))
}
