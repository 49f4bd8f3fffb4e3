//! Anthropic Messages.
//!
//! Written against the vendor's own documents (version `2023-06-01`) instead of over a client library: there is no official
//! one for Rust. Of the community's, `claudius` and `misanthropy` were weighed. What decided it: each brings its own HTTP
//! client, past the limits, proxies, certificates and redaction of this crate; they type blocks and events as they knew them,
//! where here what is unknown is passed over and what is signed goes back as it came; and a reply that broke off at any byte
//! has to be told from one that had its end, which only who reads the bytes can.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::body::Group;
use crate::driver::Decoder;
use crate::endpoint::Endpoint;

mod binding;
mod decode;
mod dialect;
mod encode;
mod thinking;

pub(crate) use decode::AnthropicDecoder;
pub(crate) use dialect::{Dialect, Host};
pub(crate) use thinking::{always, by_level, thinks_by_name};

pub(crate) struct Anthropic(Dialect);

impl Anthropic {
    /// For calls of `model`.
    pub(crate) fn new(endpoint: &Endpoint, model: &str) -> Self {
        let host = if endpoint.host == HOME { Host::Vendor } else { Host::Other(endpoint.host.clone()) };
        Self(Dialect::new(host, model))
    }
}

/// The vendor's own host.
const HOME: &str = "api.anthropic.com";

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
        self.0.add_headers(headers);
    }

    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.head(request, info, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.turns(group, out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.tail(request, info, out)
    }

    fn variant(&self, request: &ChatRequest, info: &ModelInfo) -> bool {
        self.0.replays(request, info)
    }

    fn decoder(&self, _ids: CallIds) -> Box<dyn Decoder> {
        Box::new(self.0.decoder())
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        (out == LeftOut::THOUGHTS).then(|| Arc::new(Self(self.0.without_thoughts())) as _)
    }

    fn drops_silent(&self) -> bool {
        true
    }
}
