//! OpenAI Responses.
//!
//! Written against the vendor's documents instead of over a client library: there is no official one for Rust, and the one
//! in wide use (`async-openai`) types every event closed, so that a new one ends the stream, and needs the whole conversation
//! as its own structures for each step. What decided it is in `decode`: unknown events and items are passed over.
//!
//! Nothing is stored at the vendor (`store: false`). Reasoning comes back encrypted instead and is replayed as it came, to the
//! host that made it; items are sent without their ids, which only a stored response gives a meaning.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::body::Group;
use crate::driver::Decoder;
use crate::endpoint::Endpoint;
use crate::openai_chat::key_header;
use crate::preset::Quirks;

mod decode;
mod encode;

pub(crate) struct OpenAiResponses {
    /// Only the host that encrypted reasoning can read it.
    host: String,
    quirks: Quirks,
    left_out: LeftOut,
}

impl OpenAiResponses {
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        let quirks = Quirks::of_host(&endpoint.host);
        Self { host: endpoint.host.clone(), quirks, left_out: LeftOut::default() }
    }
}

impl Adapter for OpenAiResponses {
    fn chat_path(&self, _model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        ("responses".into(), None)
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("models", None)
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        key_header(&self.host, key)
    }

    fn add_headers(&self, _headers: &mut HeaderMap) {}

    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::head(request, info, self.quirks, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::turns(group, &self.host, self.quirks.results, self.left_out, out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(request, info, self.left_out, out)
    }

    /// Whether reasoning goes back: models that do not think refuse it.
    fn variant(&self, _request: &ChatRequest, info: &ModelInfo) -> bool {
        info.abilities.reasoning
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::ResponsesDecoder::new(&self.host, ids))
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        let is_known = LeftOut::THOUGHTS.and(LeftOut::SUMMARIES).covers(out);
        is_known.then(|| Arc::new(Self { host: self.host.clone(), quirks: self.quirks, left_out: out }) as _)
    }
}
