//! A summary that a person asked for: made between two turns, in the place of one, so that it can be stopped and nobody
//! else waits for it.

use std::sync::Arc;

use bosun_agent::{Activity, TurnContext};
use bosun_harness::{Compacted, CompactionError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::SessionError;
use crate::actor::{Actor, RunningTurn, Start};
use crate::stream::locked;

/// A summary while it is being made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summing {
    after: AfterSummary,
}

/// What begins once the summary is there or was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AfterSummary {
    /// What begins by itself.
    #[default]
    Nothing,
    /// Calls that a person has decided meanwhile.
    Decided,
    /// The first message of the queue: a person has sent one meanwhile.
    Said,
}

impl Actor {
    pub(crate) fn is_summing(&self) -> bool {
        locked(&self.summing).is_some()
    }

    /// Notes what is to begin behind the summary that is being made; `false` where none is.
    pub(crate) fn waits_for_summary(&self, after: AfterSummary) -> bool {
        let mut summing = locked(&self.summing);
        let Some(summing) = &mut *summing else { return false };
        summing.after = if after == AfterSummary::Nothing { after } else { summing.after.max(after) };
        true
    }

    /// Sums the conversation up. It goes on where nobody waits for it any more.
    pub(crate) async fn sum_up(self: &Arc<Self>, guidance: Option<&str>) -> Result<Outcome, SessionError> {
        let mut turn = self.turn().await;
        self.refuse_running(&turn)?;
        let agent = self.agent().await?;
        let Some(summarization) = self.summarization() else { return Ok(Err(CompactionError::NothingToCompact)) };
        let beginning = self.beginning().await;
        if self.log.with_state(|state| state.turn.is_some()) {
            return Ok(Err(CompactionError::TurnOpen));
        }
        *locked(&self.summing) = Some(Summing::default());
        self.stream.update(|projection| projection.set_summing_up(true));
        drop(beginning);
        let guidance = guidance.map(str::trim).filter(|words| !words.is_empty()).map(ToOwned::to_owned);
        let (cancel, activity) = (CancellationToken::new(), Activity::default());
        let cx = TurnContext::between_turns(agent, Arc::clone(&self.log), cancel.clone(), activity.clone());
        let (actor, begun) = (Arc::clone(self), activity.enter());
        let (tell, told) = oneshot::channel();
        let task = self.tasks.spawn(async move {
            let outcome = summarization.compact_now(&cx, guidance.as_deref()).await;
            actor.summed_up().await;
            drop(begun);
            if tell.send(outcome).is_err() {
                tracing::debug!("nobody waits for the summary any more");
            }
        });
        turn.running = Some(RunningTurn::new(cancel, activity, task));
        drop(turn);
        // Where the task was let go of, nothing was made.
        Ok(told.await.unwrap_or(Err(CompactionError::Cancelled)))
    }

    /// The summary is there, or will not be: what waited for it begins.
    async fn summed_up(self: &Arc<Self>) {
        let beginning = self.beginning().await;
        let after = locked(&self.summing).take().map(|summing| summing.after).unwrap_or_default();
        self.stream.update(|projection| projection.set_summing_up(false));
        let said = if after == AfterSummary::Said { self.next_queued() } else { None };
        if let Some(entries) = said {
            self.begin_with(entries, beginning, Start::ByPerson).await;
        } else if let Some(entries) = self.next_by_itself() {
            self.begin_with(entries, beginning, Start::ByItself).await;
        } else if after == AfterSummary::Decided {
            drop(beginning);
            self.run_soon(Start::ByItself);
        }
    }
}

/// What came of a summary that was begun.
pub(crate) type Outcome = Result<Compacted, CompactionError>;
