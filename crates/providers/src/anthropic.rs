//! Anthropic Messages.
//!
//! Written against the vendor's own documents (version `2023-06-01`) instead of over a client library: there is no official
//! one for Rust, and those at hand drop what the loop needs (images and error marks in tool results, signatures of thinking).

use std::borrow::Cow;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::adapter::{Adapter, CallIds};
use crate::body::Group;
use crate::driver::Decoder;

mod decode;
mod encode;
mod thinking;

pub(crate) use decode::AnthropicDecoder;
pub(crate) use encode::{Host, head, tail, turns};
pub(crate) use thinking::always;

pub(crate) struct Anthropic;

impl Adapter for Anthropic {
    fn chat_path(&self, _model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        ("v1/messages".into(), None)
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

    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        head(Host::Vendor, request, info, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        turns(group, out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        tail(request, info, out)
    }

    fn variant(&self, _request: &ChatRequest, _info: &ModelInfo) -> bool {
        false
    }

    fn decoder(&self, _ids: CallIds) -> Box<dyn Decoder> {
        Box::new(AnthropicDecoder::default())
    }
}
