use std::collections::BTreeMap;

use bosun_agent::{EntryBody, NoteAbout, State};
use bosun_backend::VirtualPath;
use bosun_model::{CallId, Message, Usage};
use bosun_tools::StateUpdate;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CompactionError;
use crate::eviction::{KeptResult, kept_results};
use crate::tokens::{TokenCounter, Tokenizer};

/// The state field that says how much is sent in short. What the summaries say stands in fields of their own, each written
/// once, so that a long session does not write all of them again with each.
pub const SUMMARIZATION_FIELD: &str = "summarization";
/// By whom the entries are.
pub(crate) const BY: &str = "Summarization";

/// What of the conversation is sent in short. The messages themselves stay in the state as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// How many summaries there are, each made from the one before.
    pub made: usize,
    /// The last of them, which is in force.
    pub summary: Option<Summary>,
    /// Long arguments of file changes in messages before this one are sent in short.
    pub arguments_before: usize,
    /// Long tool results in messages before this one are sent in short.
    pub results_before: usize,
    /// The last attempt, where it came to nothing; the history was sent as it is.
    pub failed: Option<FailedSummary>,
    /// The last summary, where the person took it back and none was made since.
    pub undone: Option<UndoneSummary>,
    /// Where the results are that are sent in short.
    kept: BTreeMap<CallId, KeptResult>,
    /// What no field of its own says yet: places and summaries.
    unwritten: Vec<(usize, Summary)>,
}

/// A [`Compaction`] as its field has it.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    made: usize,
    arguments_before: usize,
    results_before: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<FailedSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<UndoneSummary>,
    /// In journals of before the summaries had fields of their own: all of them, oldest first.
    #[serde(skip_serializing)]
    summaries: Vec<Summary>,
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
    /// The messages before this one are in `file`: fewer than it stands for where the file could not be written. In
    /// journals of before it was noted it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filed: Option<usize>,
    /// How many messages there were.
    pub made_at: usize,
    pub cause: SummaryCause,
    /// Tokens of the request that it made shorter; 0 in journals of before it was noted.
    #[serde(default)]
    pub request_tokens: u64,
    /// Estimated tokens of what it stands for, and its own.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// What the call that made it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Characters of it that the model was not shown, as not even the source of a summary fits any window. Those of the
    /// summaries it was made from are among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
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
    /// The turn then, and what the person was told in it.
    #[serde(default)]
    turn: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    told: Vec<String>,
}

/// A summary that a person took back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneSummary {
    /// Tokens of a request then; none is made by itself until the conversation has grown by a tenth.
    pub at_tokens: u64,
}

impl UndoneSummary {
    /// Whether a request of so many tokens is as long as it was, or little more.
    pub(super) fn holds(&self, tokens: u64) -> bool {
        not_grown(self.at_tokens, tokens)
    }
}

/// Whether `tokens` are less than a tenth more than those `at` which something was given up.
fn not_grown(at: u64, tokens: u64) -> bool {
    tokens < at.saturating_add(at / 10)
}

impl FailedSummary {
    /// Whether it is too early to try again with a request of so many tokens.
    pub(super) fn holds(&self, tokens: u64) -> bool {
        not_grown(self.at_tokens, tokens)
    }

    /// Another attempt that came to nothing because of `error`, with what the person has to be told of it: each reason once
    /// a turn.
    pub(super) fn after(
        earlier: Option<&Self>,
        error: &CompactionError,
        at_tokens: u64,
        turn: u32,
    ) -> (Self, Option<NoteAbout>) {
        let mut told =
            earlier.filter(|earlier| earlier.turn == turn).map(|earlier| earlier.told.clone()).unwrap_or_default();
        let about = match error {
            CompactionError::Empty => NoteAbout::NotSummedUpEmpty,
            CompactionError::TooLong => NoteAbout::NotSummedUpLonger,
            other => NoteAbout::NotSummedUp { detail: other.why() },
        };
        let words = about.to_string();
        let fresh = (!told.contains(&words)).then_some(about);
        if fresh.is_some() {
            told.push(words);
        }
        (Self { reason: error.to_string(), at_tokens, turn, told }, fresh)
    }
}

impl Summary {
    /// Where originals can be read, and before which message they are all there.
    pub(super) fn kept(&self) -> Option<(&VirtualPath, usize)> {
        Some((self.file.as_ref()?, self.filed.unwrap_or(self.cutoff)))
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The field of the summary at `place`, from 0.
fn field_of(place: usize) -> String {
    format!("{SUMMARIZATION_FIELD}:{place}")
}

fn read<T: DeserializeOwned>(state: &State, field: &str) -> Option<T> {
    T::deserialize(state.fields.get(field)?).ok()
}

impl Compaction {
    /// What the state says; nothing where it says nothing that can be read.
    pub fn of(state: &State) -> Self {
        let Stored { made, arguments_before, results_before, failed, undone, summaries } =
            read(state, SUMMARIZATION_FIELD).unwrap_or_default();
        let made = made.max(summaries.len());
        let summary = match summaries.last() {
            Some(last) => Some(last.clone()),
            None => made.checked_sub(1).and_then(|last| read(state, &field_of(last))),
        };
        let unwritten = summaries.into_iter().enumerate().collect();
        let kept = if results_before > 0 { kept_results(state) } else { BTreeMap::new() };
        Self { made, summary, arguments_before, results_before, failed, undone, kept, unwritten }
    }

    /// Where a result is that is sent in short.
    pub(super) fn kept_of(&self, message: &Message) -> Option<&KeptResult> {
        let Message::Tool(result) = message else { return None };
        self.kept.get(&result.call_id)
    }

    /// The summary in force for a history of `messages`.
    pub fn current(&self, messages: usize) -> Option<&Summary> {
        self.summary.as_ref().filter(|summary| summary.cutoff <= messages)
    }

    /// Puts `summary` into force, in the place of the one that it was made from.
    pub(super) fn push(&mut self, summary: Summary) {
        self.unwritten.push((self.made, summary.clone()));
        self.made += 1;
        self.summary = Some(summary);
        self.failed = None;
        self.undone = None;
    }

    pub(super) fn update(&self) -> StateUpdate {
        let Self { made, arguments_before, results_before, .. } = *self;
        let (failed, undone) = (self.failed.clone(), self.undone.clone());
        let stored = Stored { made, arguments_before, results_before, failed, undone, summaries: Vec::new() };
        let value = serde_json::to_value(stored).unwrap_or_default();
        let own =
            |(place, summary): &(usize, Summary)| (field_of(*place), serde_json::to_value(summary).unwrap_or_default());
        let fields = std::iter::once((SUMMARIZATION_FIELD.to_owned(), value)).chain(self.unwritten.iter().map(own));
        StateUpdate { fields: fields.collect(), ..StateUpdate::default() }
    }

    pub(super) fn entry(&self) -> EntryBody {
        EntryBody::Updated { by: BY.into(), update: self.update() }
    }
}

/// The entry that takes the last summary back: what it stood for is sent again, until it has grown by a tenth. `None` where
/// there is none.
pub fn undo_summary(state: &State) -> Option<EntryBody> {
    let mut compaction = Compaction::of(state);
    compaction.made = compaction.made.checked_sub(1)?;
    compaction.failed = None;
    compaction.undone = compaction.summary.as_ref().map(|summary| UndoneSummary { at_tokens: grown(summary, state) });
    compaction.unwritten.truncate(compaction.made);
    let mut update = compaction.update();
    update.fields.push((field_of(compaction.made), Value::Null));
    Some(EntryBody::Updated { by: BY.into(), update })
}

/// The entry that changes the words of the last summary. `None` where there is none or `text` is empty.
pub fn edit_summary(state: &State, text: &str) -> Option<EntryBody> {
    let mut compaction = Compaction::of(state);
    let mut last = compaction.summary.take().filter(|_| !text.trim().is_empty())?;
    text.trim().clone_into(&mut last.text);
    last.edited = true;
    compaction.made = compaction.made.checked_sub(1)?;
    compaction.unwritten.truncate(compaction.made);
    let (failed, undone) = (compaction.failed.take(), compaction.undone.take());
    compaction.push(last);
    compaction.failed = failed;
    compaction.undone = undone;
    Some(compaction.entry())
}

/// Tokens of a request without `summary`: those of the one that it made shorter, and of what was said since.
fn grown(summary: &Summary, state: &State) -> u64 {
    let (before, from) = match summary.request_tokens {
        0 => (summary.tokens_before, summary.cutoff),
        tokens => (tokens, summary.made_at),
    };
    let since = state.messages.get(from..).unwrap_or_default();
    before + TokenCounter::default().messages(since, Tokenizer::Common)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
