use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Messages;

/// One model call. Messages and tools are shared, so that building a request costs what is new in it.
#[derive(Clone, Debug, Default)]
pub struct ChatRequest {
    /// The standing prompt, in order. Blocks up to the last one with `cache` form the stable prefix.
    pub system: Vec<SystemBlock>,
    pub messages: Messages,
    pub tools: Arc<[ToolSpec]>,
    pub tool_choice: ToolChoice,
    /// Upper limit of output tokens; `None` takes the model's own.
    pub max_output: Option<u32>,
    /// Breakpoints of the provider's prompt cache besides those after [`SystemBlock`]s.
    pub cache: CacheMarks,
    /// How much the model should think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// The shape of a reply that is to be JSON; `None` for prose and tool calls. Meant for calls without tools by whoever
    /// embeds these crates: beside tools several servers hold a model to the shape in every reply, so that it calls none.
    /// Bosun's agents hand such an answer in with a tool instead.
    pub output: Option<OutputSchema>,
    /// What tells this conversation from others, for providers that look for its beginning in their cache by it. It says
    /// nothing of the person or the project.
    pub conversation: Option<Arc<str>>,
    /// Whose call it is, for whoever counts calls. It is sent to nobody.
    pub caller: Option<Caller>,
}

/// An agent that makes a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The id of its own session, which is another than that of whom it works for.
    pub session: Arc<str>,
    pub agent: Arc<str>,
}

/// Where a provider with explicit prompt caching (Anthropic, also behind OpenRouter) is asked to set breakpoints. Others cache by themselves and
/// ignore this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheMarks {
    /// After the last tool.
    pub tools: bool,
    /// After the newest message that stays, so that the next step reads the conversation from the cache. A [`SystemBlock`] with
    /// `cache` asks for this too.
    pub conversation: bool,
    /// How many messages at the end stand in this request alone: the next one will not have them, so that the breakpoint
    /// of the conversation stands before them.
    pub passing: usize,
    pub lifetime: CacheLifetime,
}

/// How long what was marked stays in the cache after its last use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheLifetime {
    #[default]
    FiveMinutes,
    OneHour,
}

/// How much a model should think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all, where the model can do without.
    Off,
    Low,
    Medium,
    High,
    /// As much as the model can.
    Max,
}

/// A reply of a given shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON Schema object without `$ref`s.
    pub schema: Value,
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
