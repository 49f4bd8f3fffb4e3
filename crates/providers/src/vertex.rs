//! Google's Vertex AI: Claude in Anthropic's format, Gemini in Google's, below the address of a project and a place.
//!
//! Tokens are those of [`crate::cloud`]; the two formats are those of [`crate::anthropic`] and [`crate::gemini`].

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, ModelInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::adapter::{Adapter, CallIds, LeftOut};
use crate::anthropic::{Dialect, Host};
use crate::body::Group;
use crate::driver::Decoder;
use crate::endpoint::Endpoint;
use crate::gemini::Gemini;

/// The two companies whose models are spoken to.
pub(crate) const PUBLISHERS: [&str; 2] = ["anthropic", "google"];

pub(crate) struct Vertex {
    /// What stands between the base URL and the publisher: nothing where the base URL names a project.
    place: String,
    publisher: Publisher,
}

/// Whose models, in their own format.
enum Publisher {
    Anthropic(Dialect),
    Google(Gemini),
}

impl Vertex {
    /// `project` is used where the base URL names none.
    pub(crate) fn new(endpoint: &Endpoint, model: &str, project: Option<&str>) -> Self {
        let named = names_project(endpoint);
        let place = match project {
            _ if named => String::new(),
            Some(project) => format!("v1/projects/{project}/locations/{}/", location_of(endpoint.name())),
            None => "v1/".to_owned(),
        };
        let publisher = if is_claude(model) {
            Publisher::Anthropic(Dialect::new(Host::Vertex, model))
        } else {
            Publisher::Google(Gemini::new(endpoint, model))
        };
        Self { place, publisher }
    }
}

/// Whether a base URL says which project pays.
pub(crate) fn names_project(endpoint: &Endpoint) -> bool {
    endpoint.path().contains("/projects/")
}

fn is_claude(model: &str) -> bool {
    model.rsplit('/').next().unwrap_or(model).starts_with("claude")
}

/// The address of a place: a region, one of the two that span several, or `global`
/// (<https://docs.cloud.google.com/vertex-ai/docs/general/locations>).
pub(crate) fn address_of(location: &str) -> String {
    match location {
        "global" => "https://aiplatform.googleapis.com".to_owned(),
        "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com"),
        region => format!("https://{region}-aiplatform.googleapis.com"),
    }
}

/// Whether a host is Google's own.
pub(crate) fn is_home(host: &str) -> bool {
    host == "aiplatform.googleapis.com"
        || host.ends_with("-aiplatform.googleapis.com")
        || (host.starts_with("aiplatform.") && host.ends_with(".rep.googleapis.com"))
}

/// The place that a host serves.
fn location_of(host: &str) -> &str {
    let regional = host.strip_suffix("-aiplatform.googleapis.com");
    let multi = || host.strip_prefix("aiplatform.")?.strip_suffix(".rep.googleapis.com");
    regional.or_else(multi).unwrap_or("global")
}

impl Adapter for Vertex {
    fn chat_path(&self, model: &str) -> (Cow<'static, str>, Option<&'static str>) {
        let name = model.rsplit('/').next().unwrap_or(model);
        let place = &self.place;
        match &self.publisher {
            Publisher::Anthropic(_) => {
                (format!("{place}publishers/anthropic/models/{name}:streamRawPredict").into(), None)
            }
            Publisher::Google(_) => {
                (format!("{place}publishers/google/models/{name}:streamGenerateContent").into(), Some("alt=sse"))
            }
        }
    }

    /// Of the first publisher; the list goes through both.
    fn models_path(&self) -> (&'static str, Option<&'static str>) {
        ("v1beta1/publishers/anthropic/models", None)
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        if let Publisher::Anthropic(claude) = &self.publisher {
            claude.add_headers(headers);
        }
    }

    fn head(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match &self.publisher {
            Publisher::Google(gemini) => gemini.head(request, info, out),
            Publisher::Anthropic(claude) => claude.head(request, info, out),
        }
    }

    fn turns(&self, group: &Group<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match &self.publisher {
            Publisher::Google(gemini) => gemini.turns(group, out),
            Publisher::Anthropic(claude) => claude.turns(group, out),
        }
    }

    fn tail(&self, request: &ChatRequest, info: &ModelInfo, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match &self.publisher {
            Publisher::Google(gemini) => gemini.tail(request, info, out),
            Publisher::Anthropic(claude) => claude.tail(request, info, out),
        }
    }

    fn variant(&self, request: &ChatRequest, info: &ModelInfo) -> bool {
        match &self.publisher {
            Publisher::Google(gemini) => gemini.variant(request, info),
            Publisher::Anthropic(claude) => claude.replays(request, info),
        }
    }

    fn decoder(&self, ids: CallIds) -> Box<dyn Decoder> {
        match &self.publisher {
            Publisher::Google(gemini) => gemini.decoder(ids),
            Publisher::Anthropic(claude) => Box::new(claude.decoder()),
        }
    }

    fn leaving(&self, out: LeftOut) -> Option<Arc<dyn Adapter>> {
        let publisher = match &self.publisher {
            Publisher::Anthropic(claude) if out == LeftOut::THOUGHTS => Publisher::Anthropic(claude.without_thoughts()),
            Publisher::Anthropic(_) => return None,
            Publisher::Google(gemini) => Publisher::Google(gemini.without(out)?),
        };
        Some(Arc::new(Self { place: self.place.clone(), publisher }))
    }

    fn drops_silent(&self) -> bool {
        matches!(self.publisher, Publisher::Anthropic(_))
    }
}

#[cfg(test)]
#[path = "vertex_tests.rs"]
mod tests;
