use serde::{Deserialize, Serialize};
use specta::Type;

/// What stands for the beginning of a conversation when it is sent to the model. The conversation itself stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ConversationSummary {
    /// The model's words, or a person's after they changed them.
    pub text: String,
    /// What is carried over word for word: what the person said, the changed files, the plan.
    pub facts: String,
    /// Where the agent can read the original; `None` where there is no place for it.
    pub file: Option<String>,
    /// How many messages it stands for.
    pub messages: u32,
    /// Estimated tokens of what it stands for, and its own.
    pub tokens_before: u32,
    pub tokens_after: u32,
    /// Characters of its middle that the model was not shown, as they fit no window; 0 as a rule.
    pub left_out: u32,
    pub cause: SummaryCause,
    /// Whether a person changed the text.
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SummaryCause {
    /// The conversation grew to what the model takes.
    Threshold,
    /// The provider refused it as too long.
    Overflow,
    /// The agent asked for it.
    Agent,
    Person,
}
