//! Claude at Amazon Bedrock: the body of Anthropic Messages, AWS's framing and signature.
//!
//! The invoke API is spoken, not Converse: it carries the vendor's own format, so that thinking with its signatures, marks
//! for the cache and PDF are what they are at the vendor. Frames are read and requests signed by AWS's own crates
//! (`aws-smithy-eventstream`, `aws-sigv4`). `aws-config` is not used: it brings two clients of AWS and their runtime, twice
//! the size of all else here, for what is a file of four lines on most machines ([`crate::cloud`]).

use std::borrow::Cow;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds};
use crate::anthropic::{self, AnthropicDecoder, Host};
use crate::body::Group;
use crate::driver::{Decoder, Events, Fault, Framing};
use crate::event_stream::EXCEPTION;
use crate::failure::Refusal;
use crate::redact::percent_encoded;
use crate::sse::{Flow, Frame};

pub(crate) struct Bedrock;

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
        anthropic::head(Host::Bedrock, request, info, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        anthropic::turns(group, out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        anthropic::tail(request, info, out)
    }

    fn variant(&self, _request: &ChatRequest, _info: &ModelInfo) -> bool {
        false
    }

    fn decoder(&self, _ids: CallIds) -> Box<dyn Decoder> {
        Box::new(BedrockDecoder::default())
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }
}

/// The vendor's events, and failures in AWS's words.
#[derive(Default)]
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
