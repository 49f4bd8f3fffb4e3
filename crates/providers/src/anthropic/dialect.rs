use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{HeaderMap, HeaderValue};

use super::binding::{BETA, Thoughts, is_bound};
use super::decode::AnthropicDecoder;
use super::encode;
use super::thinking;
use crate::body::Group;

/// Who takes the messages. Clouds want their own version in the body, and the model in the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Vendor,
    Bedrock,
    Vertex,
    /// Whoever speaks the wire too.
    Other(String),
}

impl Host {
    pub(super) fn version(&self) -> Option<&'static str> {
        match self {
            Self::Bedrock => Some("bedrock-2023-05-31"),
            Self::Vertex => Some("vertex-2023-10-16"),
            Self::Vendor | Self::Other(_) => None,
        }
    }

    /// Whether the model stands in the body.
    pub(super) fn names_model(&self) -> bool {
        self.version().is_none()
    }

    /// Whose thoughts it reads. The vendor's are the same wherever its models run.
    pub(super) fn origin(&self) -> &str {
        match self {
            Self::Vendor | Self::Bedrock | Self::Vertex => "claude",
            Self::Other(host) => host,
        }
    }
}

/// The wire as one host takes it of one model.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    pub(super) host: Host,
    pub(super) thoughts: Thoughts,
}

impl Dialect {
    pub(crate) fn new(host: Host, model: &str) -> Self {
        // A gateway that does not know the field, or takes its header away, would refuse every request.
        let is_asked = is_bound(model) && !matches!(host, Host::Other(_));
        Self { host, thoughts: if is_asked { Thoughts::Dropped } else { Thoughts::Replayed } }
    }

    /// The same for a server that refused what the model once thought.
    pub(crate) fn without_thoughts(&self) -> Self {
        Self { host: self.host.clone(), thoughts: Thoughts::LeftOut }
    }

    pub(crate) fn add_headers(&self, headers: &mut HeaderMap) {
        if self.beta().is_some() && self.host != Host::Bedrock {
            headers.insert("anthropic-beta", HeaderValue::from_static(BETA));
        }
    }

    /// What is asked for that the wire does not do by itself.
    pub(super) fn beta(&self) -> Option<&'static str> {
        (self.thoughts == Thoughts::Dropped).then_some(BETA)
    }

    pub(crate) fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::head(self, request, info, out)
    }

    /// The group's variant says whether thoughts go back.
    pub(crate) fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::turns(group, self.host.origin(), out)
    }

    pub(crate) fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        encode::tail(self, request, info, out)
    }

    /// Whether thoughts go back. Where a model is not to think and yet checks them, none can be asked to be dropped.
    pub(crate) fn replays(&self, request: &ChatRequest, info: &ModelInfo) -> bool {
        let is_off = || is_bound(&info.name) && thinking::is_disabled(request, info);
        self.thoughts != Thoughts::LeftOut && !is_off()
    }

    pub(crate) fn decoder(&self) -> AnthropicDecoder {
        AnthropicDecoder::of(self.host.origin())
    }
}
