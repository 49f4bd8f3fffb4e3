use std::pin::Pin;

use futures_util::Stream;
use serde::{Deserialize, Serialize};

use crate::{BoxFuture, ChatRequest, ModelError, ModelEvent};

/// The events of one reply. Dropping it cancels the request.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A callable model.
///
/// Retry, fallback and summarise-on-overflow are middleware; an implementation only says, through
/// [`ModelError::is_retryable`] and `retry_after`, what may be done.
pub trait ChatModel: Send + Sync {
    fn info(&self) -> &ModelInfo;

    /// Sends `request`. The stream ends after [`ModelEvent::Finished`] or after one error.
    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>>;
}

/// What is known of a model. Unknown figures are `None` and shown as unknown, never guessed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The provider's id, for example `anthropic`.
    pub provider: String,
    /// The model's name there.
    pub name: String,
    /// Tokens the model can read and write in one call.
    pub context_window: Option<u32>,
    pub max_output: Option<u32>,
    pub abilities: Abilities,
    pub price: Option<Price>,
    /// True for the tour: its replies are written down beforehand and the UI says so.
    #[serde(default)]
    pub scripted: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    pub images: bool,
    pub documents: bool,
    pub reasoning: bool,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}
