use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ModelTrouble;

/// A model call that failed. `message` is the provider's own sentence wherever there is one, with keys redacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{provider}: {message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// The provider's id, or the host that was spoken to.
    pub provider: String,
    pub message: String,
    /// What `message` is where it is Bosun's own sentence.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::trouble::known")]
    pub trouble: Option<Box<ModelTrouble>>,
    /// The HTTP status, where there was a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

/// What a caller can do about a [`ModelError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// The key is missing, wrong, or not allowed: ask for another.
    Unauthorized,
    /// The model or the address does not exist there: choose another.
    NotFound,
    /// The request was refused as it stands: do not repeat it.
    InvalidRequest,
    /// The conversation is longer than the model's window: summarise and try once more.
    ContextOverflow,
    /// Too many requests: wait for `retry_after`.
    RateLimited,
    /// The provider is overloaded or failed inside: try again later.
    Unavailable,
    /// Nobody answered at the address, or the connection broke before a reply.
    Network,
    /// A limit on waiting ran out.
    Timeout,
    /// Something answered that is not a model server (a web page, a proxy's login, wrong JSON).
    NotAModelServer,
    /// The reply ended before the provider said it was complete. Nothing is executed from it.
    StreamCut,
    /// The provider sent bytes that its own protocol does not allow.
    Protocol,
    /// The account has no credit left.
    Billing,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, provider: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            provider: provider.into(),
            message: message.into(),
            trouble: None,
            status: None,
            retry_after: None,
        }
    }

    /// An error in Bosun's own words.
    pub fn own(kind: ModelErrorKind, provider: impl Into<String>, trouble: ModelTrouble) -> Self {
        let message = trouble.to_string();
        Self { trouble: Some(Box::new(trouble)), ..Self::new(kind, provider, message) }
    }

    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Whether the same request may succeed later. A cut stream is retryable because nothing was executed from it.
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            ModelErrorKind::RateLimited
            | ModelErrorKind::Unavailable
            | ModelErrorKind::Network
            | ModelErrorKind::Timeout
            | ModelErrorKind::StreamCut => true,
            ModelErrorKind::Unauthorized
            | ModelErrorKind::NotFound
            | ModelErrorKind::InvalidRequest
            | ModelErrorKind::ContextOverflow
            | ModelErrorKind::NotAModelServer
            | ModelErrorKind::Protocol
            | ModelErrorKind::Billing => false,
        }
    }
}
