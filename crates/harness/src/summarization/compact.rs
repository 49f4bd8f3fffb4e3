use std::sync::Arc;

use bosun_agent::{AgentError, EntryBody, NoteAbout, NoteKind, TurnContext};
use bosun_backend::VirtualPath;
use bosun_model::{Message, Messages, Usage};
use bosun_tools::StateUpdate;

use super::cutoff::{Keep, cutoff};
use super::{
    Compaction, Summarization, Summary, SummaryCause, Threshold, ask, facts, lead_of, offload, record, threshold,
    transcript,
};
use crate::prompt;
use crate::tokens::{self, Tokenizer};

/// One piece of work: the whole history, and what of its end stays.
pub(crate) struct Work<'a> {
    pub messages: &'a Messages,
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
    #[error("there is nothing to summarise yet; the latest messages are kept as they are")]
    NothingToCompact,
    #[error("a turn is running; wait until it ends, or stop it, then summarise the conversation")]
    TurnOpen,
    #[error("the model gave no summary, so nothing was removed; try again, or choose another model")]
    Empty,
    #[error(
        "the summary was longer than the text it would have replaced, so nothing was removed; try again, or choose \
         another model"
    )]
    TooLong,
    #[error("the summary could not be written ({0}), so nothing was removed; try again, or choose another model")]
    Failed(AgentError),
    #[error("the summary could not be saved: {0}")]
    Journal(bosun_agent::JournalError),
    #[error("stopped")]
    Cancelled,
}

impl CompactionError {
    /// The reason alone, for sentences that say by themselves what came of it.
    pub(super) fn why(&self) -> String {
        match self {
            Self::Empty => "the model gave no summary".to_owned(),
            Self::TooLong => "the summary was longer than the text it would have replaced".to_owned(),
            Self::Failed(error) => error.to_string(),
            Self::NothingToCompact | Self::TurnOpen | Self::Journal(_) | Self::Cancelled => self.to_string(),
        }
    }
}

/// Most messages of the last exchange that stay where a person asks.
const LONGEST_EXCHANGE: usize = 6;
/// Bounds of a summary, and of what stands beside it of a window, in tokens.
const LONGEST_SUMMARY: u32 = 8_000;
const SHORTEST_SUMMARY: u32 = 256;
const FACTS: f64 = 0.2;
const UNKNOWN_FACTS: u64 = 10_000;
/// The least that a summary is made from, and of what is refused as too long no less is sent again, in letters.
const LEAST_SOURCE: usize = 2_000;
const LEAST_AGAIN: usize = 6_000;

/// A summary as the model wrote it.
struct Written {
    text: String,
    usage: Option<Usage>,
    /// Characters that it was not shown.
    left_out: usize,
}

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
        let work = Work {
            messages: &messages,
            keep: self.kept_for_person(cx, &messages),
            cause: SummaryCause::Person,
            tokens,
        };
        match self.compact(cx, work, guidance).await {
            Ok(outcome) => outcome,
            Err(AgentError::Journal(error)) => Err(CompactionError::Journal(error)),
            Err(AgentError::Cancelled) => Err(CompactionError::Cancelled),
            Err(error) => Err(CompactionError::Failed(error)),
        }
    }

    /// What stays where a person asks: what they said last with all that came of it, or the end of that, however much
    /// the window would take. What is set as a number holds for them too.
    fn kept_for_person(&self, cx: &TurnContext, messages: &[Arc<Message>]) -> Keep {
        let usual = self.keep(cx);
        if matches!(self.options.keep, Some(Threshold::Messages(_) | Threshold::Tokens(_))) {
            return usual;
        }
        let tokenizer = Tokenizer::of(cx.agent().model.info());
        let usual = messages.len() - cutoff(messages, usual, &self.counter, tokenizer);
        let asked = messages.iter().rposition(|message| matches!(**message, Message::Human(_)));
        let exchange = messages.len() - asked.unwrap_or(0);
        Keep::Messages(usual.min(exchange).min(LONGEST_EXCHANGE))
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
        let earlier = compaction.current(work.messages.len());
        let unseen = earlier.map_or(0, |summary| summary.left_out);
        let earlier = earlier.and_then(Summary::kept);
        let place = offload::file_of(cx, &self.artifacts);
        // What an earlier summary could not write, or wrote elsewhere, comes with what is fresh.
        let there = earlier.filter(|(path, _)| Some(*path) == place.as_ref()).map_or(0, |(_, filed)| filed);
        let unfiled = work.messages.get(there..cut).unwrap_or_default();
        let media = offload::keep_media(cx, &self.artifacts, unfiled).await;
        let Written { text, usage, left_out } = match self.summary(cx, &sent, &media, guidance, tokens_before).await? {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let (written, update) = self.offload(cx, unfiled, media).await;
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
            left_out: unseen + left_out,
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
        media: &offload::KeptMedia,
        guidance: Option<&str>,
        before: u64,
    ) -> Result<Result<Written, CompactionError>, AgentError> {
        let window = Self::window(cx);
        let longest = window.map_or(LONGEST_SUMMARY, |window| u32::try_from(window / 10).unwrap_or(u32::MAX));
        let longest = longest.min(LONGEST_SUMMARY).min(u32::try_from(before).unwrap_or(u32::MAX)).max(SHORTEST_SUMMARY);
        let guidance =
            [self.options.guidance.as_deref(), guidance].into_iter().flatten().collect::<Vec<_>>().join("\n");
        let mut limit = window.map_or(usize::MAX, |window| {
            let tokenizer = Tokenizer::of(cx.agent().model.info());
            let prompts = [prompt::SUMMARIZER, &prompt::summary_of("", &guidance)];
            let taken: u64 = prompts.into_iter().map(|text| tokens::of_text(text, tokenizer)).sum();
            let room = threshold::room(window).saturating_sub(taken + u64::from(longest));
            tokens::letters_of(room, tokenizer).max(LEAST_SOURCE)
        });
        loop {
            let source = transcript::for_summary(messages, limit, &|part| media.named(part));
            let length = tokens::letters(&source.text);
            let text = prompt::summary_of(&source.text, &guidance);
            match ask::ask(cx, prompt::SUMMARIZER, text, longest).await {
                Ok((text, _)) if text.trim().is_empty() => return Ok(Err(CompactionError::Empty)),
                Ok((text, usage)) => {
                    let text = bounded(text.trim(), longest);
                    return Ok(Ok(Written { text, usage, left_out: source.left_out }));
                }
                Err(error @ (AgentError::Cancelled | AgentError::Journal(_) | AgentError::Halted(_))) => {
                    return Err(error);
                }
                // Shorter than what was sent, not than what might have been.
                Err(error) if ask::is_overflow(&error) && length > LEAST_AGAIN => limit = length / 2,
                Err(error) => return Ok(Err(CompactionError::Failed(error))),
            }
        }
    }

    async fn offload(
        &self,
        cx: &TurnContext,
        messages: &[Arc<Message>],
        media: offload::KeptMedia,
    ) -> (Option<VirtualPath>, StateUpdate) {
        match offload::keep(cx, &self.artifacts, messages, media).await {
            Ok(Some((path, update))) => (Some(path), update),
            Ok(None) => (None, StateUpdate::default()),
            Err(error) => {
                tracing::warn!(%error, "the old conversation could not be written to its file");
                (None, StateUpdate::default())
            }
        }
    }

    async fn facts(&self, cx: &TurnContext, before: &[Arc<Message>], kept: Option<(&VirtualPath, usize)>) -> String {
        let most = Self::part_of(Self::window(cx), FACTS).unwrap_or(UNKNOWN_FACTS);
        let most = tokens::letters_of(most, Tokenizer::of(cx.agent().model.info()));
        let plan = cx.log().with_state(|state| state.todos.clone());
        let files = cx.log().changed_files().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a summary does not name the files that were changed");
            Vec::new()
        });
        facts::of(before, kept, &files, &plan, most)
    }
}

/// A model may pass over its limit of output; its summary does not.
fn bounded(text: &str, tokens: u32) -> String {
    transcript::shortened(text, usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(6))
}
