use std::sync::Arc;

use bosun_agent::{AgentError, EntryBody, NoteAbout, NoteKind, TurnContext};
use bosun_backend::VirtualPath;
use bosun_model::{Message, Usage};
use bosun_tools::{StateUpdate, TodoStatus};

use super::cutoff::{Keep, cutoff};
use super::{
    Compaction, Summarization, Summary, SummaryCause, ask, lead_of, offload, record, requirements, transcript,
};
use crate::prompt;
use crate::tokens::{self, Tokenizer};

/// One piece of work: the whole history, and what of its end stays.
pub(crate) struct Work<'a> {
    pub messages: &'a [Arc<Message>],
    pub keep: Keep,
    pub cause: SummaryCause,
    /// Tokens of the request that is to be made shorter.
    pub tokens: u64,
}

/// A conversation that was made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// How many messages the summary stands for.
    pub messages: usize,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub file: Option<VirtualPath>,
}

/// Why nothing was made shorter. The history is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompactionError {
    #[error("there is nothing to compact yet")]
    NothingToCompact,
    #[error("a turn is at work; wait until it has ended, or stop it, and compact then")]
    TurnOpen,
    #[error("the model gave no summary; nothing was removed")]
    Empty,
    #[error("the summary was longer than what it was to replace; nothing was removed")]
    TooLong,
    #[error("the summary could not be made ({0}); nothing was removed")]
    Failed(AgentError),
    #[error("the summary could not be saved: {0}")]
    Journal(bosun_agent::JournalError),
    #[error("stopped")]
    Cancelled,
}

/// Most of a window that the summary's source may fill, and its longest text in letters where the window is unknown.
const SOURCE: f64 = 0.6;
const UNKNOWN_SOURCE: usize = 300_000;
impl CompactionError {
    /// The reason alone, for sentences that say by themselves what came of it.
    pub(super) fn why(&self) -> String {
        match self {
            Self::Empty => "the model gave no summary".to_owned(),
            Self::TooLong => "the summary was longer than what it was to replace".to_owned(),
            Self::Failed(error) => error.to_string(),
            Self::NothingToCompact | Self::TurnOpen | Self::Journal(_) | Self::Cancelled => self.to_string(),
        }
    }
}

/// Bounds of a summary and of the user's words in it, in tokens.
const LONGEST_SUMMARY: u32 = 8_000;
const SHORTEST_SUMMARY: u32 = 256;
const FACTS: f64 = 0.2;
const UNKNOWN_FACTS: usize = 10_000;

impl Summarization {
    /// Sums up a session's conversation now, for a person, with what they want to be minded in it.
    ///
    /// # Errors
    /// [`CompactionError`]; the history is as it was.
    pub async fn compact_now(&self, cx: &TurnContext, guidance: Option<&str>) -> Result<Compacted, CompactionError> {
        if cx.log().with_state(|state| state.turn.is_some() || state.step.is_some()) {
            return Err(CompactionError::TurnOpen);
        }
        let messages = cx.log().with_state(|state| state.messages.clone());
        let compaction = cx.log().with_state(Compaction::of);
        let tokens = self.tokens(cx, &self.request(&self.standing(cx), &compaction), &compaction);
        let work = Work { messages: &messages, keep: self.keep(cx), cause: SummaryCause::Person, tokens };
        match self.compact(cx, work, guidance).await {
            Ok(outcome) => outcome,
            Err(AgentError::Journal(error)) => Err(CompactionError::Journal(error)),
            Err(AgentError::Cancelled) => Err(CompactionError::Cancelled),
            Err(error) => Err(CompactionError::Failed(error)),
        }
    }

    /// Sums up all of `work.messages` but the end. The outer error ends the turn, the inner one leaves all as it was.
    pub(super) async fn compact(
        &self,
        cx: &TurnContext,
        work: Work<'_>,
        guidance: Option<&str>,
    ) -> Result<Result<Compacted, CompactionError>, AgentError> {
        let busy = cx.activity().enter();
        let mut compaction = cx.log().with_state(Compaction::of);
        let from = compaction.current(work.messages.len()).map_or(0, |summary| summary.cutoff);
        let tokenizer = Tokenizer::of(cx.agent().model.info());
        let rest = work.messages.get(from..).unwrap_or_default();
        let cut = from + cutoff(rest, work.keep, &self.counter, tokenizer);
        let fresh = work.messages.get(from..cut).unwrap_or_default();
        let before = work.messages.get(..cut).unwrap_or_default();
        let sent: Vec<Arc<Message>> = {
            let shown = self.shown(work.messages, &compaction);
            let kept = work.messages.len() - cut;
            shown.get(..shown.len().saturating_sub(kept)).unwrap_or_default().to_vec()
        };
        // A summary of nothing but one message gains nothing. Together with the summary before it, it may: that is done
        // where the provider will not have it otherwise, as it would be done again with every step.
        let least = if work.cause == SummaryCause::Overflow { 1 } else { 2 };
        if fresh.len() < least || sent.len() < 2 {
            return Ok(Err(CompactionError::NothingToCompact));
        }
        let tokens_before = self.counter.messages(&sent, tokenizer);
        let (text, usage) = match self.summary(cx, &sent, guidance, tokens_before).await? {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let earlier = compaction.current(work.messages.len()).and_then(Summary::kept);
        let place = offload::file_of(cx, &self.artifacts);
        // What an earlier summary could not write, or wrote elsewhere, comes with what is fresh.
        let there = earlier.filter(|(path, _)| Some(*path) == place.as_ref()).map_or(0, |(_, filed)| filed);
        let (written, update) = self.offload(cx, work.messages.get(there..cut).unwrap_or_default()).await;
        // A file that cannot be written is no reason to send too much: the summary then names the one before, or none.
        let (file, filed) = match (written, earlier) {
            (Some(path), _) => (Some(path), Some(cut)),
            (None, Some((path, filed))) => (Some(path.clone()), Some(filed)),
            (None, None) => (None, None),
        };
        let facts = self.facts(cx, before, file.as_ref().zip(filed)).await;
        let mut summary = Summary {
            cutoff: cut,
            text,
            facts,
            file,
            filed,
            made_at: work.messages.len(),
            cause: work.cause,
            request_tokens: work.tokens,
            tokens_before,
            tokens_after: 0,
            usage,
            edited: false,
        };
        summary.tokens_after = tokens::of_text(&lead_of(&summary), tokenizer);
        if summary.tokens_after >= tokens_before {
            return Ok(Err(CompactionError::TooLong));
        }
        let compacted = Compacted {
            messages: fresh.len(),
            tokens_before,
            tokens_after: summary.tokens_after,
            file: summary.file.clone(),
        };
        let is_remade = compaction.undone.as_ref().is_some_and(|undone| match work.cause {
            SummaryCause::Threshold => undone.holds(work.tokens),
            SummaryCause::Overflow => true,
            SummaryCause::Tool | SummaryCause::Person => false,
        });
        compaction.push(summary);
        let update = StateUpdate { files: update.files, ..compaction.update() };
        let told = is_remade.then(|| EntryBody::noted(NoteKind::SummaryRemade, NoteAbout::SummedUpAgain));
        let made = EntryBody::Updated { by: record::BY.into(), update };
        cx.log().record(std::iter::once(made).chain(told).collect()).await?;
        drop(busy);
        Ok(Ok(compacted))
    }

    async fn summary(
        &self,
        cx: &TurnContext,
        messages: &[Arc<Message>],
        guidance: Option<&str>,
        before: u64,
    ) -> Result<Result<(String, Option<Usage>), CompactionError>, AgentError> {
        let window = Self::window(cx);
        let limit = Self::part_of(window, SOURCE).map_or(UNKNOWN_SOURCE, |tokens| usize_of(tokens).saturating_mul(3));
        let longest = window.map_or(LONGEST_SUMMARY, |window| u32::try_from(window / 10).unwrap_or(u32::MAX));
        let longest = longest.min(LONGEST_SUMMARY).min(u32::try_from(before).unwrap_or(u32::MAX)).max(SHORTEST_SUMMARY);
        let mut limit = limit.max(2_000);
        let guidance =
            [self.options.guidance.as_deref(), guidance].into_iter().flatten().collect::<Vec<_>>().join("\n");
        loop {
            let source = transcript::for_summary(messages, limit);
            let length = tokens::letters(&source);
            let text = prompt::summary_of(&source, &guidance);
            match ask::ask(cx, prompt::SUMMARIZER, text, longest).await {
                Ok((text, _)) if text.trim().is_empty() => return Ok(Err(CompactionError::Empty)),
                Ok((text, usage)) => return Ok(Ok((bounded(text.trim(), longest), usage))),
                Err(error @ (AgentError::Cancelled | AgentError::Journal(_) | AgentError::Halted(_))) => {
                    return Err(error);
                }
                // Shorter than what was sent, not than what might have been.
                Err(error) if ask::is_overflow(&error) && length.min(limit) > 6_000 => limit = length.min(limit) / 3,
                Err(error) => return Ok(Err(CompactionError::Failed(error))),
            }
        }
    }

    async fn offload(&self, cx: &TurnContext, messages: &[Arc<Message>]) -> (Option<VirtualPath>, StateUpdate) {
        match offload::keep(cx, &self.artifacts, messages).await {
            Ok(Some((path, update))) => (Some(path), update),
            Ok(None) => (None, StateUpdate::default()),
            Err(error) => {
                tracing::warn!(%error, "the old conversation could not be written to its file");
                (None, StateUpdate::default())
            }
        }
    }

    async fn facts(&self, cx: &TurnContext, before: &[Arc<Message>], kept: Option<(&VirtualPath, usize)>) -> String {
        let most_tokens = Self::part_of(Self::window(cx), FACTS).map_or(UNKNOWN_FACTS, usize_of);
        let plan: Vec<(String, &'static str)> = cx.log().with_state(|state| {
            let row = |todo: &bosun_agent::PlannedTodo| (todo.content.clone(), word_of(todo.status));
            state.todos.iter().map(row).collect()
        });
        let files = cx.log().changed_files().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a summary does not name the files that were changed");
            Vec::new()
        });
        transcript::facts(&requirements::of(before, most_tokens, kept), &files, &plan)
    }
}

fn word_of(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    }
}

/// A model may pass over its limit of output; its summary does not.
fn bounded(text: &str, tokens: u32) -> String {
    transcript::shortened(text, usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(6))
}

fn usize_of(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX)
}
