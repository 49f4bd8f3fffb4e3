use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Shared: a long reply stands in the row that shows it too.
    Text {
        text: Arc<String>,
    },
    Reasoning(Reasoning),
    Media(Media),
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: Arc::new(text.into()) }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Reasoning(_) | Self::Media(_) => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Thinking that a provider wants back unchanged and in place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// What only the provider that made it can read (encrypted or redacted reasoning), replayed as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// Bytes a model may look at, base64-encoded once and shared from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Media {
    pub kind: MediaKind,
    /// For example `image/png`.
    pub mime: String,
    /// Base64 (standard alphabet, padded); empty where the bytes are `kept` elsewhere.
    pub data: Arc<str>,
    /// Where it came from, for the placeholder shown to models that cannot take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the bytes are, as long as they are not in `data`. Whoever sends a request puts them there first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// Bytes that a person gave along with a message, or that a tool brought, kept by their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The hash they are kept under, in hexadecimal.
    pub blob: String,
    /// Bytes.
    pub size: u64,
    pub origin: Origin,
}

/// How bytes came into a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person attached them.
    Attached,
    /// A person named a thing, and this is what it was then.
    Mentioned,
    /// A tool brought them.
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    Image,
    Document,
    Audio,
    Video,
}

/// The text blocks of `content`, joined by a line feed.
pub fn text_of(content: &[ContentBlock]) -> String {
    let mut text = String::new();
    for part in content.iter().filter_map(ContentBlock::as_text) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}
