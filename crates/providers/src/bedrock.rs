//! Claude at Amazon Bedrock: the body of Anthropic Messages, AWS's framing and signature.
//!
//! The invoke API is spoken, not Converse: it carries the vendor's own format, so that thinking with its signatures, marks
//! for the cache and PDF are what they are at the vendor. Frames are read and requests signed by AWS's own crates
//! (`aws-smithy-eventstream`, `aws-sigv4`). `aws-config` is not used: it brings two clients of AWS and their runtime, twice
//! the size of all else here, for what is a file of four lines on most machines ([`crate::cloud`]).

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::anthropic::{AnthropicDecoder, Dialect, Host};
use crate::body::Group;
use crate::driver::{Decoder, Events, Fault, Framing};
use crate::event_stream::EXCEPTION;
use crate::failure::Refusal;
use crate::redact::percent_encoded;
use crate::sse::{Flow, Frame};

pub(crate) struct Bedrock(Dialect);

impl Bedrock {
    /// For calls of `model`.
    pub(crate) fn new(model: &str) -> Self {
        Self(Dialect::new(Host::Bedrock, model))
    }
}

impl Adapter for Bedrock {
    fn chat_path(&self, model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        // The name of a profile of one's own is an ARN, which has slashes.
        (format!("model/{}/invoke-with-response-stream", percent_encoded(model)).into(), None)
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("foundation-models", Some("byProvider=Anthropic"))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn add_headers(&self, _headers: &mut HeaderMap) {}

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
        Box::new(BedrockDecoder(self.0.decoder()))
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        (out == LeftOut::THOUGHTS).then(|| Arc::new(Self(self.0.without_thoughts())) as _)
    }

    fn drops_silent(&self) -> bool {
        true
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }
}

/// The vendor's events, and failures in AWS's words.
struct BedrockDecoder(AnthropicDecoder);

impl Decoder for BedrockDecoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Events) -> Result<Flow, Fault> {
        match frame.event.strip_prefix(EXCEPTION) {
            Some(kind) => Err(Fault::Refused(Refusal::of_aws(kind, frame.data))),
            None => self.0.frame(frame, out),
        }
    }

    fn end(&mut self, out: &mut Events) -> Result<(), Fault> {
        self.0.end(out)
    }
}

/// The part of the host's name that says where a request is served.
const RUNTIME: &str = "bedrock-runtime";

/// The region that an address at AWS names.
pub(crate) fn region_of(host: &str) -> Option<&str> {
    let mut parts = host.split('.').skip_while(|part| !part.starts_with(RUNTIME)).skip(1);
    parts.next().filter(|region| region.contains('-'))
}

/// The host that knows the models, beside the one that runs them.
pub(crate) fn listing_host(host: &str) -> Option<String> {
    is_home(host).then(|| host.replacen(RUNTIME, "bedrock", 1))
}

/// Whether a host is AWS's own.
pub(crate) fn is_home(host: &str) -> bool {
    (host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn")) && host.contains(RUNTIME)
}

#[cfg(test)]
#[path = "bedrock_tests.rs"]
mod tests;
