//! OpenAI Chat Completions, and the many servers that speak it: Ollama, llama.cpp, LM Studio, vLLM, DeepSeek, Qwen.
//!
//! Written against what those servers send instead of over a typed client of the one vendor, whose types refuse most of
//! it. Where servers differ, what is read leniently stands in `decode`, what is sent carefully in `encode`.

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds};
use crate::body::Group;
use crate::config::Endpoint;
use crate::driver::Decoder;

mod calls;
mod decode;
mod encode;

pub(crate) struct OpenAiChat {
    /// Reasoning goes back only to the host that it came from; others refuse the field.
    host: String,
}

impl OpenAiChat {
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        Self { host: endpoint.host.clone() }
    }
}

impl Adapter for OpenAiChat {
    fn chat_path(&self) -> &'static str {
        "chat/completions"
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("models", None)
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn add_headers(&self, _headers: &mut HeaderMap) {}

    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::head(request, info, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::turns(group, &self.host, out)
    }

    fn tail(&self, request: &ChatRequest, _info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(request, &self.host, out)
    }

    fn variant(&self, request: &ChatRequest) -> bool {
        encode::thinks_aloud(request, &self.host)
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::OpenAiDecoder::new(&self.host, ids))
    }
}
