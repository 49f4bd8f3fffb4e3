use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bosun_model::{AiMessage, Message};
use bosun_tools::ToolKind;
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::{AgentError, EntryBody, Halt, SessionLog, State, TurnContext, TurnEnd, background, model_call, step};

/// How long running tools get to end by themselves after a stop.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// How often subagents get as long once more. Each of them ends by itself after its own tools had that time; only a busy
/// machine needs more.
const STOP_ROUNDS: u32 = 60;
/// How often commands do. What ignores the first signal is killed, and what a command changed is found out: a person wants
/// to see that, and take it back.
const COMMAND_ROUNDS: u32 = 16;
/// How often the time at work is looked at, at most: it stands still while only a person can move the turn.
const TIME_GRAIN: Duration = Duration::from_millis(100);

/// Runs the session's open turn to its end, from wherever the journal says it is.
///
/// The caller has recorded [`EntryBody::TurnStarted`] or [`EntryBody::TurnContinued`]. Dropping the future leaves the
/// turn open; calling this again goes on from the journal: recorded replies and results are kept, decided calls run,
/// undecided ones ask again, and nothing recorded happens twice.
///
/// # Errors
/// Only when the journal cannot be written. Everything else is a [`TurnEnd`].
pub async fn run_turn(cx: &TurnContext) -> Result<TurnEnd, AgentError> {
    let running = Running::over(cx.log(), cx.cancel());
    let end = to_the_end(cx).await;
    drop(running);
    end
}

/// Says that a turn runs or is about to, for whoever may stop it, until this is dropped.
pub(crate) struct Running<'a>(&'a SessionLog);

impl<'a> Running<'a> {
    pub(crate) fn over(log: &'a SessionLog, cancel: &CancellationToken) -> Self {
        log.set_turn(Some(cancel.clone()));
        Self(log)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set_turn(None);
    }
}

async fn to_the_end(cx: &TurnContext) -> Result<TurnEnd, AgentError> {
    if cx.depth() == 0 {
        background::go_on(cx).await?;
    }
    // Where only they go on, nothing is asked of the model: its turn has ended.
    if let (None, Some(end)) = cx.log().with_state(|state| (state.turn, state.last_end.clone())) {
        return Ok(end);
    }
    let under = cx.under(cx.cancel().child_token());
    let mut out_of_time = None;
    let outcome = {
        let mut work = Box::pin(work(&under));
        tokio::select! {
            biased;
            outcome = &mut work => outcome,
            () = cx.cancel().cancelled() => ending(cx, work).await,
            halt = time_is_up(cx) => {
                out_of_time = Some(halt);
                under.cancel().cancel();
                ending(cx, work).await
            }
        }
    };
    match outcome {
        Ok(end) => finish(cx, end).await,
        Err(AgentError::Cancelled) => {
            stop(cx, out_of_time.or_else(|| is_stopped_by_time(cx)).map_or(TurnEnd::Stopped, halted)).await
        }
        Err(AgentError::Model(error)) => {
            let reason = error.to_string();
            let (message, partial) = cx.take_partial().unzip();
            let partial = partial.unwrap_or_default();
            let asked = Some(cx.asked().asked());
            cx.log().record(vec![EntryBody::ModelFailed { error, partial, message, asked }]).await?;
            finish(cx, TurnEnd::failed(reason)).await
        }
        Err(AgentError::Fatal(reason)) => cut(cx, TurnEnd::failed(reason)).await,
        Err(AgentError::Halted(halt)) => cut(cx, halted(halt)).await,
        Err(error @ AgentError::Journal(_)) => Err(error),
    }
}

fn halted(halt: Halt) -> TurnEnd {
    TurnEnd::Failed { reason: halt.to_string(), halt: Some(halt) }
}

/// Returns once the turn, with all whom it sent out, has worked as long as it may. One that is waited for ends with whom
/// it works for.
async fn time_is_up(cx: &TurnContext) -> Halt {
    let watched = cx.depth() == 0 || cx.is_beside();
    let Some(limit) = cx.agent().limits.max_work.filter(|_| watched) else { return std::future::pending().await };
    loop {
        let left = limit.saturating_sub(cx.activity().worked_for());
        if left.is_zero() {
            return limit_of_time(limit);
        }
        tokio::time::sleep(left.max(TIME_GRAIN)).await;
    }
}

/// The limit of time of the whole tree, where it is what stopped a subagent that is waited for.
fn is_stopped_by_time(cx: &TurnContext) -> Option<Halt> {
    let limit = cx.agent().limits.max_work.filter(|limit| cx.depth() > 0 && cx.activity().worked_for() >= *limit)?;
    Some(limit_of_time(limit))
}

fn limit_of_time(limit: Duration) -> Halt {
    Halt::LimitOfSeconds { limit: limit.as_secs().to_string() }
}

/// What has begun, after a stop. Tools get a while to end by themselves, commands a longer one; subagents until they have
/// recorded their own ends, so that none is left open.
async fn ending<W>(cx: &TurnContext, mut work: W) -> Result<TurnEnd, AgentError>
where
    W: Future<Output = Result<TurnEnd, AgentError>> + Unpin,
{
    for round in 1..=STOP_ROUNDS {
        if let Ok(outcome) = tokio::time::timeout(STOP_GRACE, &mut work).await {
            return outcome;
        }
        if !has_subagents_at_work(cx) && (round >= COMMAND_ROUNDS || !has_commands_at_work(cx)) {
            break;
        }
    }
    // What is being recorded is recorded first: cut in its middle it would be in the journal and not in the state.
    tokio::select! {
        biased;
        outcome = &mut work => outcome,
        saved = cx.log().save() => saved.map_err(AgentError::from).and(Err(AgentError::Cancelled)),
    }
}

fn has_subagents_at_work(cx: &TurnContext) -> bool {
    let children: Vec<_> = cx.log().with_state(|state| {
        let calls = state.step.iter().flat_map(|step| &step.calls);
        calls.filter(|call| call.result.is_none()).filter_map(|call| call.child.clone()).collect()
    });
    let is_at_work = |log: std::sync::Arc<SessionLog>| log.with_state(|state| state.turn.is_some());
    children.iter().filter_map(|child| cx.log().find(child)).any(is_at_work)
}

fn has_commands_at_work(cx: &TurnContext) -> bool {
    cx.log().with_state(|state| {
        let mut calls = state.step.iter().flat_map(|step| &step.calls);
        calls.any(|call| call.started && call.result.is_none() && call.kind == ToolKind::Execute)
    })
}

async fn work(cx: &TurnContext) -> Result<TurnEnd, AgentError> {
    if cx.log().with_state(|state| state.step.is_some()) {
        step::run_calls(cx).await?;
    } else if cx.log().with_state(|state| state.turn.is_some_and(|turn| turn.steps == 0)) {
        for middleware in &cx.agent().middleware {
            let update = middleware.before_turn(cx).await?;
            step::record_update(cx, middleware.name(), update).await?;
        }
    }
    if let Some(message) = cx.log().with_state(last_reply) {
        // What has a say in whether it is the last one may not have been asked before the app went.
        step::go_by(cx, &message).await?;
        if !cx.log().with_state(State::person_spoke_last) {
            return Ok(end_of(&message));
        }
    }
    let limit = cx.agent().limits.max_steps;
    loop {
        if cx.cancel().is_cancelled() {
            return Err(AgentError::Cancelled);
        }
        let steps = cx.log().with_state(|state| state.turn.map_or(0, |turn| turn.steps));
        if steps >= limit {
            return Ok(TurnEnd::StepLimit { limit });
        }
        let message = step::reply(cx).await?;
        let is_last = message.calls().next().is_none();
        step::go_by(cx, &message).await?;
        if is_last && !cx.log().with_state(State::person_spoke_last) {
            return Ok(end_of(&message));
        }
        // Nothing came of a reply without calls that it would have been recorded with.
        cx.log().save().await?;
    }
}

/// The reply without calls that this turn came to, where its end is not recorded yet. The half of one that a stop kept is
/// none: who goes on asks the model again, as after any stop.
fn last_reply(state: &State) -> Option<AiMessage> {
    state.turn.filter(|turn| turn.steps > 0)?;
    match state.messages.last().map(|message| &**message) {
        Some(Message::Ai(reply)) if state.step.is_none() && !model_call::is_stopped(reply) => Some(reply.clone()),
        _ => None,
    }
}

fn end_of(message: &AiMessage) -> TurnEnd {
    if message.text().trim().is_empty() { TurnEnd::Empty } else { TurnEnd::Done }
}

/// Ends the turn with what a person has read of the reply under way.
async fn stop(cx: &TurnContext, end: TurnEnd) -> Result<TurnEnd, AgentError> {
    step::cancel_open_calls(cx, &end).await?;
    if let Some(message) = model_call::stopped_message(cx) {
        let cost = message.cost(&cx.asked());
        cx.log().record(vec![EntryBody::Ai { message, kinds: Vec::new(), cost }]).await?;
    }
    finish(cx, end).await
}

/// Ends a turn that nobody runs any more, as one whose run broke: open calls have results, and the end is recorded. Where
/// a member of the stack panics even at that, it ends without what was under way, unless calls of it are open: those are
/// for a later start.
///
/// # Errors
/// When the journal cannot be written.
pub async fn end_turn(cx: &TurnContext, end: TurnEnd) -> Result<TurnEnd, AgentError> {
    if let Ok(ended) = AssertUnwindSafe(cut(cx, end.clone())).catch_unwind().await {
        return ended;
    }
    tracing::warn!(session = %cx.log().session(), "the end of a turn broke");
    let open = cx.log().with_state(|state| state.turn.filter(|_| state.step.is_none()).map(|turn| turn.number));
    if let Some(turn) = open {
        cx.log().record(vec![EntryBody::TurnEnded { turn, end: end.clone() }]).await?;
    }
    Ok(end)
}

/// Ends the turn without what was under way.
async fn cut(cx: &TurnContext, end: TurnEnd) -> Result<TurnEnd, AgentError> {
    step::cancel_open_calls(cx, &end).await?;
    finish(cx, end).await
}

async fn finish(cx: &TurnContext, end: TurnEnd) -> Result<TurnEnd, AgentError> {
    // A turn that has nothing more to do than to record its end waits for nobody.
    let _busy = cx.activity().enter();
    let last = async {
        for middleware in cx.agent().middleware.iter().rev() {
            match middleware.after_turn(cx, &end).await {
                Ok(update) => step::record_update(cx, middleware.name(), update).await?,
                Err(error) => tracing::warn!(middleware = middleware.name(), %error, "after_turn failed"),
            }
        }
        let turn = cx.log().with_state(|state| state.turn.map_or(state.turns, |turn| turn.number));
        Ok(cx.log().record(vec![EntryBody::TurnEnded { turn, end: end.clone() }]).await?)
    };
    step::saved_in_time(cx, last).await?;
    Ok(end)
}
