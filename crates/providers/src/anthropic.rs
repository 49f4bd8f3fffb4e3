//! Anthropic Messages.
//!
//! Written against the vendor's own documents (version `2023-06-01`) instead of over a client library: there is no official
//! one for Rust, and those at hand drop what the loop needs (images and error marks in tool results, signatures of thinking).

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::adapter::{Adapter, CallIds};
use crate::driver::Decoder;

mod decode;
mod encode;

pub(crate) struct Anthropic;

impl Adapter for Anthropic {
    fn chat_path(&self) -> &'static str {
        "v1/messages"
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("v1/models", Some("limit=1000"))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-api-key"), key.to_owned())
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }

    fn encode(&self, request: &ChatRequest, info: &ModelInfo) -> serde_json::Result<Vec<u8>> {
        encode::body(request, info)
    }

    fn decoder(&self, _ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::AnthropicDecoder::default())
    }
}
