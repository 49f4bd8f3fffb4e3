use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Message;

/// One model call. Messages and tools are shared, so that building a request costs what is new in it.
#[derive(Clone, Debug, Default)]
pub struct ChatRequest {
    /// The standing prompt, in order. Blocks up to the last one with `cache` form the stable prefix.
    pub system: Vec<SystemBlock>,
    pub messages: Vec<Arc<Message>>,
    pub tools: Arc<[ToolSpec]>,
    pub tool_choice: ToolChoice,
    /// Upper limit of output tokens; `None` takes the model's own.
    pub max_output: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemBlock {
    pub text: String,
    /// Whether a provider with explicit caching should set a breakpoint after this block.
    pub cache: bool,
}

impl SystemBlock {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), cache: false }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
    Tool(String),
}

/// A tool as the model is told of it. `schema` is a JSON Schema object without `$ref`s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub schema: Value,
}
