use bosun_agent::{EntryBody, State};
use bosun_backend::VirtualPath;
use bosun_model::Usage;
use bosun_tools::StateUpdate;
use serde::{Deserialize, Serialize};

/// The state field that holds a [`Compaction`].
pub const SUMMARIZATION_FIELD: &str = "summarization";
/// By whom the entries are.
pub(crate) const BY: &str = "Summarization";

/// What of the conversation is sent in short. The messages themselves stay in the state as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compaction {
    /// Oldest first; the last one is in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<Summary>,
    /// Long arguments of file changes in messages before this one are sent in short.
    pub arguments_before: usize,
    /// Long tool results in messages before this one are sent in short.
    pub results_before: usize,
    /// The last attempt, where it came to nothing; the history was sent as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedSummary>,
}

/// One summary: the messages before `cutoff` are sent as this. Made by a model, so it is material, not instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Place of the first message that is still sent, in `State::messages`.
    pub cutoff: usize,
    /// The model's words, or a person's after they changed them.
    pub text: String,
    /// What is carried over without a model: the user's messages word for word, changed files, the plan.
    pub facts: String,
    /// Where the originals can be read; `None` where there is no place for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<VirtualPath>,
    /// How many messages there were.
    pub made_at: usize,
    pub cause: SummaryCause,
    /// Estimated tokens of what it stands for, and its own.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// What the call that made it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether a person changed the text.
    #[serde(default)]
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryCause {
    /// The threshold was reached.
    Threshold,
    /// The provider refused the request as too long.
    Overflow,
    /// The model asked with `compact_conversation`.
    Tool,
    Person,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSummary {
    /// A sentence for a person.
    pub reason: String,
    /// The estimate then; it is tried again when the conversation has grown by a tenth.
    pub at_tokens: u64,
}

impl Compaction {
    /// What the state says; nothing where it says nothing that can be read.
    pub fn of(state: &State) -> Self {
        let value = state.fields.get(SUMMARIZATION_FIELD);
        value.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
    }

    /// The summary in force for a history of `messages`.
    pub fn current(&self, messages: usize) -> Option<&Summary> {
        self.summaries.last().filter(|summary| summary.cutoff <= messages)
    }

    pub(crate) fn update(&self) -> StateUpdate {
        let value = serde_json::to_value(self).unwrap_or_default();
        StateUpdate { fields: vec![(SUMMARIZATION_FIELD.to_owned(), value)], ..StateUpdate::default() }
    }

    pub(crate) fn entry(&self) -> EntryBody {
        EntryBody::Updated { by: BY.into(), update: self.update() }
    }
}

/// The entry that takes the last summary back: what it stood for is sent again. `None` where there is none.
pub fn undo_summary(state: &State) -> Option<EntryBody> {
    let mut compaction = Compaction::of(state);
    compaction.summaries.pop()?;
    compaction.failed = None;
    Some(compaction.entry())
}

/// The entry that changes the words of the last summary. `None` where there is none or `text` is empty.
pub fn edit_summary(state: &State, text: &str) -> Option<EntryBody> {
    let mut compaction = Compaction::of(state);
    let last = compaction.summaries.last_mut().filter(|_| !text.trim().is_empty())?;
    text.trim().clone_into(&mut last.text);
    last.edited = true;
    Some(compaction.entry())
}
