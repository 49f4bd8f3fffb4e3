use std::sync::Arc;

use bosun_agent::{AgentError, SessionLog};
use bosun_harness::{Compaction, CompactionError, SummaryCause as Cause, edit_summary, undo_summary};
use bosun_protocol::{ConversationSummary, ErrorCode, Problem, SessionId, SummaryCause};

use super::Sessions;
use crate::SessionError;
use crate::actor::Actor;

/// What stands for the beginning of a session's conversation when it is sent.
impl Sessions {
    /// The summary in force, where there is one.
    pub async fn summary(&self, session: &SessionId) -> Result<Option<ConversationSummary>, SessionError> {
        let log = self.actor(session).await?.find(session).await?;
        Ok(summary_of(&log))
    }

    /// Sums the conversation up now, with what the person wants to be minded in it. [`Self::stop`] ends it; what is sent
    /// meanwhile waits for it.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] for a subagent, while a turn runs, where it was stopped, where there is nothing to sum up or a budget is used up;
    /// [`ErrorCode::Provider`] where the model gave no summary that is of use. The conversation is as it was then.
    pub async fn compact(
        &self,
        session: &SessionId,
        guidance: Option<&str>,
    ) -> Result<ConversationSummary, SessionError> {
        let actor = self.summed_up_by_hand(session).await?;
        actor.sum_up(guidance).await?.map_err(refused)?;
        summary_of(&actor.log).ok_or_else(none)
    }

    /// Gives the summary in force other words.
    pub async fn edit_summary(&self, session: &SessionId, text: &str) -> Result<ConversationSummary, SessionError> {
        let actor = self.summed_up_by_hand(session).await?;
        let turn = actor.turn().await;
        actor.refuse_running(&turn)?;
        if text.trim().is_empty() {
            return Err(SessionError::invalid(Problem::SummaryEmpty));
        }
        let entry = actor.log.with_state(|state| edit_summary(state, text)).ok_or_else(none)?;
        actor.log.record(vec![entry]).await?;
        drop(turn);
        summary_of(&actor.log).ok_or_else(none)
    }

    /// Takes the summary in force back: what it stood for is sent again, or the summary before it.
    pub async fn undo_summary(&self, session: &SessionId) -> Result<Option<ConversationSummary>, SessionError> {
        let actor = self.summed_up_by_hand(session).await?;
        let turn = actor.turn().await;
        actor.refuse_running(&turn)?;
        let entry = actor.log.with_state(undo_summary).ok_or_else(none)?;
        actor.log.record(vec![entry]).await?;
        drop(turn);
        Ok(summary_of(&actor.log))
    }

    /// The actor of a session whose summary a person may make and change: none of a subagent, whose own is not what they
    /// would find changed.
    async fn summed_up_by_hand(&self, session: &SessionId) -> Result<Arc<Actor>, SessionError> {
        let actor = self.actor(session).await?;
        if actor.log.session().as_str() != session.as_str() {
            return Err(SessionError::invalid(Problem::SummaryOfSubagent));
        }
        Ok(actor)
    }
}

fn summary_of(log: &SessionLog) -> Option<ConversationSummary> {
    log.with_state(|state| {
        let compaction = Compaction::of(state);
        compaction.current(state.messages.len()).map(|summary| ConversationSummary {
            text: summary.text.clone(),
            facts: summary.facts.clone(),
            file: summary.file.as_ref().map(ToString::to_string),
            messages: u32::try_from(summary.cutoff).unwrap_or(u32::MAX),
            tokens_before: u32::try_from(summary.tokens_before).unwrap_or(u32::MAX),
            tokens_after: u32::try_from(summary.tokens_after).unwrap_or(u32::MAX),
            left_out: u32::try_from(summary.left_out).unwrap_or(u32::MAX),
            cause: cause(summary.cause),
            edited: summary.edited,
        })
    })
}

fn none() -> SessionError {
    SessionError::not_found(Problem::NothingSummedUp)
}

fn refused(error: CompactionError) -> SessionError {
    let code = match error {
        CompactionError::NothingToCompact
        | CompactionError::TurnOpen
        | CompactionError::Cancelled
        | CompactionError::Failed(AgentError::Halted(_)) => ErrorCode::Invalid,
        CompactionError::Empty | CompactionError::TooLong | CompactionError::Failed(_) => ErrorCode::Provider,
        CompactionError::Journal(_) => ErrorCode::StorageUnavailable,
    };
    SessionError::of(code, &error)
}

fn cause(cause: Cause) -> SummaryCause {
    match cause {
        Cause::Threshold => SummaryCause::Threshold,
        Cause::Overflow => SummaryCause::Overflow,
        Cause::Tool => SummaryCause::Agent,
        Cause::Person => SummaryCause::Person,
    }
}
