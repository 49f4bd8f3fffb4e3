//! Google's Gemini API, at the vendor's own address and, with the whole path of a publisher as base URL, on Vertex AI.
//!
//! Written against the vendor's documents instead of over a client library: there is no official one for Rust at this address.
//! Of the community's, `gemini-rust` was weighed. It keeps the signatures of thoughts, without which newer models refuse the
//! next step of a conversation with calls. What decided it: it brings its own HTTP client, past the limits, proxies and
//! redaction of this crate, its types of parts are closed, and it does not say whether a stream had its end.
//!
//! A signature belongs to the part it came with. It is kept as a reasoning block beside that part, with the host and the model
//! that made it; a call that another host or model made is sent with the mark that the vendor documents for such calls.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::body::Group;
use crate::driver::Decoder;
use crate::endpoint::Endpoint;
use crate::vertex;

mod decode;
mod encode;
mod thinking;

pub(crate) struct Gemini {
    signer: Signer,
    left_out: LeftOut,
}

/// Only the host and the model that signed a thought can read it.
#[derive(Clone, Debug)]
pub(crate) struct Signer {
    pub(crate) host: String,
    pub(crate) model: String,
}

impl Gemini {
    /// For calls of `model`.
    pub(crate) fn new(endpoint: &Endpoint, model: &str) -> Self {
        let model = model.trim().rsplit('/').next().unwrap_or_default().to_owned();
        Self { signer: Signer { host: endpoint.host.clone(), model }, left_out: LeftOut::default() }
    }

    /// The same for a server that refused a signature, or a level of thinking.
    pub(crate) fn without(&self, out: LeftOut) -> Option<Self> {
        let is_known = LeftOut::THOUGHTS.and(LeftOut::LEVEL).covers(out);
        is_known.then(|| Self { signer: self.signer.clone(), left_out: out })
    }

    /// Vertex AI has project, place and publisher in front, and takes tokens instead of keys.
    fn is_vertex(&self) -> bool {
        vertex::is_home(&self.signer.host)
    }
}

impl Adapter for Gemini {
    fn chat_path(&self, model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let version = if self.is_vertex() { "" } else { "v1beta/" };
        (format!("{version}models/{model}:streamGenerateContent").into(), Some("alt=sse"))
    }

    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        if self.is_vertex() { ("models", None) } else { ("v1beta/models", Some("pageSize=1000")) }
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        if self.is_vertex() && key.starts_with("ya29.") {
            return (AUTHORIZATION, format!("Bearer {key}"));
        }
        (HeaderName::from_static("x-goog-api-key"), key.to_owned())
    }

    fn add_headers(&self, _headers: &mut HeaderMap) {}

    fn head(&self, request: &ChatRequest, _info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::head(request, out)
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::turns(group, (!self.left_out.thoughts).then_some(&self.signer), out)
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(request, info, !self.left_out.level, out)
    }

    /// Whether calls must be signed.
    fn variant(&self, _request: &ChatRequest, info: &ModelInfo) -> bool {
        thinking::wants_signatures(&info.name)
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        Box::new(decode::GeminiDecoder::new(&self.signer, ids))
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        self.without(out).map(|without| Arc::new(without) as _)
    }
}
