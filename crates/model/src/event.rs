use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, Usage};

/// One thing a model stream says. Adapters make these from bytes; [`crate::MessageBuilder`] folds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ModelEvent {
    Started {
        model: Option<String>,
    },
    /// The provider gives no summaries of the thinking, for the reason that it says in `detail`: it was asked without
    /// them. Told once for a key.
    ThinkingUnseen {
        detail: String,
    },
    TextDelta {
        text: String,
    },
    ReasoningDelta {
        text: String,
    },
    /// Closes the reasoning block that the deltas before it built (or makes an opaque one where there were none).
    ReasoningDone {
        signature: Option<String>,
        opaque: Option<Value>,
    },
    /// `index` is unique within the message and says which call later deltas belong to.
    ToolCallStarted {
        index: u32,
        id: CallId,
        name: String,
    },
    ToolCallDelta {
        index: u32,
        json: String,
    },
    /// The provider said that this call's arguments are complete.
    ToolCallDone {
        index: u32,
    },
    /// All that is known so far; what was told before no longer counts, so that a figure may become unknown.
    Usage(Usage),
    /// The provider's own end of message. A stream without it was cut.
    Finished {
        stop: StopReason,
    },
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    MaxTokens,
    StopSequence,
    Refusal,
    /// The same, with the provider's sentence about it.
    RefusalFor(String),
    /// A reason this version does not know, in the provider's word.
    Other(String),
}

impl StopReason {
    /// A refusal with the provider's sentence about it, where it has one.
    pub fn refusal(words: &str) -> Self {
        match words.trim() {
            "" => Self::Refusal,
            words => Self::RefusalFor(words.to_owned()),
        }
    }
}
