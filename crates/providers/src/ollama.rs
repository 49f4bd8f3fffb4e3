//! Ollama's own API.
//!
//! Its OpenAI-compatible address works too, but cannot say how much of the window the server is to hold (it holds little
//! unless told, and cuts what is longer without a word) nor whether the model is to think. The `ollama-rs` client was weighed:
//! it types one version of the reply and knows neither call ids nor levels of thinking.

use std::borrow::Cow;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds};
use crate::body::Group;
use crate::driver::{Decoder, Framing};
use crate::endpoint::Endpoint;

mod address;
mod decode;
mod encode;

pub(crate) use address::address_of;

pub(crate) struct Ollama {
    /// Thoughts go back only to the host that they came from.
    host: String,
}

impl Ollama {
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        Self { host: endpoint.host.clone() }
    }
}

impl Adapter for Ollama {
    fn chat_path(&self, _model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        ("api/chat".into(), None)
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("api/tags", None)
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

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(request, info, out)
    }

    fn variant(&self, _request: &ChatRequest, _info: &ModelInfo) -> bool {
        false
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::OllamaDecoder::new(&self.host, ids))
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }
}
