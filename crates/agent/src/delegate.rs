use std::sync::Arc;

use bosun_backend::quoted;
use bosun_model::{CallId, ContentBlock, HumanMessage, Message, MessageId};
use bosun_tools::{
    ASK_MORE_TOOL, Background, BackgroundTask, Delegate, DelegateRequest, FollowUp, TaskStatus, ToolError, ToolOutput,
};
use tokio_util::sync::CancellationToken;

use crate::background::{self, Stop};
use crate::state::{Brought, lightened};
use crate::turn::Running;
use crate::{
    Agent, AgentError, BoxFuture, ChildStart, EntryBody, OpenCall, SentSubagent, SessionId, SessionLog, State,
    SubagentMode, Subagents, TurnContext, TurnEnd, is_news, run_turn,
};

/// Runs subagents for one call. Everything it needs to go on after a restart is in the journals.
pub(crate) struct Delegation {
    cx: TurnContext,
    call_id: CallId,
    subagents: Arc<dyn Subagents>,
}

impl Delegation {
    pub(crate) fn new(cx: TurnContext, call_id: CallId, subagents: Arc<dyn Subagents>) -> Self {
        Self { cx, call_id, subagents }
    }

    async fn run(&self, request: DelegateRequest) -> Result<ToolOutput, ToolError> {
        let cx = &self.cx;
        let agent = self.agent(&request.agent)?;
        let Some(slots) = cx.subagent_slots() else {
            return Err(ToolError::Model(format!(
                "Error: subagents may be nested {} deep and this would be deeper; do this part yourself",
                cx.agent().limits.max_depth
            )));
        };
        let log = self.open(&request, SubagentMode::Awaited).await.map_err(fatal)?;
        let cancel = cx.cancel().child_token();
        // While it waits for its slot it can be stopped too.
        let _running = Running::over(&log, &cancel);
        let slot = tokio::select! {
            biased;
            // With its parent it ends as one that never began.
            () = cx.cancel().cancelled() => return Err(ToolError::Cancelled),
            // Its own turn is ended all the same, so that it has an end.
            () = cancel.cancelled() => None,
            slot = slots.acquire() => Some(slot.map_err(|_closed| ToolError::Cancelled)?),
        };
        let end = self.run_to_end(agent, &log, request, cancel).await?;
        drop(slot);
        Ok(self.answer(&log, &end))
    }

    fn agent(&self, name: &str) -> Result<Arc<Agent>, ToolError> {
        self.subagents.agent(name, &self.cx).map_err(ToolError::Model)
    }

    /// The subagent's log, with its start recorded in the parent's.
    async fn open(&self, request: &DelegateRequest, mode: SubagentMode) -> Result<Arc<SessionLog>, AgentError> {
        // A delegation is not busy itself, but while it records nobody is to find the turn quiet.
        let _busy = self.cx.activity().enter();
        let log = self.cx.log();
        let start = ChildStart {
            call_id: self.call_id.clone(),
            name: request.agent.clone(),
            description: request.description.clone(),
        };
        let child = log.child(start).await?;
        let known = log.with_state(|state| state.open_call(&self.call_id).is_some_and(|call| call.child.is_some()));
        if !known {
            let started = EntryBody::SubagentStarted {
                call_id: self.call_id.clone(),
                child: child.session().clone(),
                name: request.agent.clone(),
                description: request.description.clone(),
                mode,
            };
            log.record(vec![started]).await?;
        }
        Ok(child)
    }

    /// Whether the turn was continued for the sake of this call, among others.
    fn goes_on(&self) -> bool {
        self.cx.log().with_state(|state| state.open_call(&self.call_id).is_some_and(|call| call.goes_on))
    }

    async fn run_to_end(
        &self,
        agent: Arc<Agent>,
        log: &Arc<SessionLog>,
        request: DelegateRequest,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, ToolError> {
        match log.with_state(|state| state.last_end.clone()) {
            Some(end) if end.is_by_limit_of_tree() && self.goes_on() => {
                let _busy = self.cx.activity().enter();
                take_up(self.cx.log(), &agent, log).await.map_err(fatal)?;
            }
            // It ended before the app did; only its parent had not been told.
            Some(end) => return Ok(end),
            None => {
                let _busy = self.cx.activity().enter();
                let above = (&**self.cx.log(), &**self.cx.agent());
                begin_first(above, &agent, log, request.description).await.map_err(fatal)?;
            }
        }
        let child = self.cx.child(agent, Arc::clone(log), cancel);
        match Box::pin(run_turn(&child)).await {
            Ok(TurnEnd::Stopped) if self.cx.cancel().is_cancelled() => Err(ToolError::Cancelled),
            Ok(end) => Ok(end),
            Err(AgentError::Cancelled) => Err(ToolError::Cancelled),
            Err(error) => Err(fatal(error)),
        }
    }

    /// What it made of the parent's state is brought back where the result is recorded ([`brought`]).
    fn answer(&self, log: &SessionLog, end: &TurnEnd) -> ToolOutput {
        let text = log.with_state(answer_of);
        match (ended(end, text.as_deref()), text) {
            (TurnEnd::Done, Some(text)) => ToolOutput::text(text),
            (TurnEnd::Done | TurnEnd::Empty, _) => {
                ToolOutput::error("Error: the subagent ended without an answer; ask it again or do this part yourself")
            }
            (end, text) => {
                let so_far = text.map(|text| format!(" So far it had said: {text}")).unwrap_or_default();
                let reason = problem_of(end).unwrap_or_default();
                let reason = match end {
                    // What follows is for the person.
                    TurnEnd::Failed { halt: Some(_), .. } => reason.split("; ").next().unwrap_or_default(),
                    _ => &reason,
                };
                let asks = self.cx.depth() == 0 && self.cx.agent().tools.get(ASK_MORE_TOOL).is_some();
                let way_on =
                    || format!(" It knows what it did: {ASK_MORE_TOOL} with the id {} has it go on.", log.session());
                let way_on = asks.then(way_on).unwrap_or_default();
                ToolOutput::error(format!("Error: the subagent did not finish: {reason}.{so_far}{way_on}"))
            }
        }
    }

    /// The subagent that the model means.
    fn sent(&self, id: &str) -> Result<SentSubagent, ToolError> {
        let child = SessionId::new(id);
        self.cx.log().with_state(|state| {
            state.subagent(&child).cloned().ok_or_else(|| {
                let known: Vec<&str> = state.subagents.iter().map(|sent| sent.child.as_str()).collect();
                let known = if known.is_empty() { "there is none yet".into() } else { known.join(", ") };
                let id = quoted(id);
                ToolError::Model(format!("Error: there is no async task '{id}'; those there are: {known}."))
            })
        })
    }

    /// Only the session's own agent has work beside it: a subagent ends with one answer, and whom it sent would have
    /// nobody to tell.
    fn refuse_below(&self) -> Result<(), ToolError> {
        if self.cx.depth() == 0 {
            return Ok(());
        }
        Err(ToolError::Model("Error: a subagent cannot send others that outlast it; use `task`.".into()))
    }

    async fn start_beside(&self, request: DelegateRequest) -> Result<BackgroundTask, ToolError> {
        self.refuse_below()?;
        let agent = self.agent(&request.agent)?;
        let log = self.open(&request, SubagentMode::Background).await.map_err(fatal)?;
        let sent = self.sent(log.session().as_str())?;
        if sent.end.is_none() {
            background::begin(&self.cx, agent, &log);
        }
        self.told(&sent.child, Some(&log))
    }

    async fn ask_more(&self, id: &str, message: String, how: FollowUp) -> Result<BackgroundTask, ToolError> {
        self.refuse_below()?;
        let sent = self.sent(id)?;
        let is_awaited = sent.mode == SubagentMode::Awaited && sent.end.is_none();
        if is_awaited {
            return Err(ToolError::Model(format!(
                "Error: the answer of {id} is still waited for by the call that sent it; ask it again afterwards."
            )));
        }
        let agent = self.agent(&sent.name)?;
        let log = self.cx.log().reopen(&sent).await.map_err(fatal)?;
        let ask = ask_id(&self.call_id).to_string();
        if !log.with_state(|state| state.was_asked(&ask)) {
            let parent = self.cx.log();
            parent.record(vec![EntryBody::SubagentAsked { child: sent.child.clone() }]).await.map_err(fatal)?;
            log.record(vec![EntryBody::Queued { id: ask.clone(), text: message, media: Vec::new() }])
                .await
                .map_err(fatal)?;
            if how == FollowUp::Interrupt {
                parent.background().interrupt(&log, &ask);
            }
        }
        background::begin(&self.cx, agent, &log);
        self.told(&sent.child, Some(&log))
    }

    async fn cancel_beside(&self, id: &str) -> Result<BackgroundTask, ToolError> {
        let parent = self.cx.log();
        let child = self.sent(id)?.child;
        if parent.background().stop(&child, Stop::Parent) {
            let ended = parent.until(|state| state.subagent(&child).is_none_or(|sent| sent.end.is_some()));
            tokio::select! {
                () = ended => {}
                () = self.cx.cancel().cancelled() => return Err(ToolError::Cancelled),
            }
        } else {
            let sent = self.sent(id)?;
            if self.is_left(&sent) {
                let log = parent.reopen(&sent).await.map_err(fatal)?;
                background::end_what_was_left(self.cx.agent(), parent, &log).await.map_err(fatal)?;
            }
        }
        self.look(id).await
    }

    async fn look(&self, id: &str) -> Result<BackgroundTask, ToolError> {
        let sent = self.sent(id)?;
        let log = self.cx.log().reopen(&sent).await.map_err(fatal)?;
        let told = self.told(&sent.child, Some(&log));
        drop(log);
        self.cx.log().let_go(&sent.child);
        told
    }

    /// Whether it has no end and nobody works on it, nor will the call that sends it.
    fn is_left(&self, sent: &SentSubagent) -> bool {
        sent.mode == SubagentMode::Background
            && sent.end.is_none()
            && !self.cx.log().background().is_running(&sent.child)
            && self.cx.log().with_state(|state| state.open_call(&sent.call_id).is_none())
    }

    /// How a subagent stands; what it said last only where its log is given.
    fn told(&self, child: &SessionId, log: Option<&SessionLog>) -> Result<BackgroundTask, ToolError> {
        // Asked first: a run leaves the list only after its end is in the state.
        let begun = self.cx.log().background().has_begun(child);
        let sent = self.sent(child.as_str())?;
        let is_left = begun.is_none() && self.is_left(&sent);
        let of_log = |state: &State| (answer_of(state), background::is_waiting(state));
        let (answer, waits) = log.map(|log| log.with_state(of_log)).unwrap_or_default();
        let end = sent.end.as_ref().map(|end| ended(end, answer.as_deref()));
        let status = match end {
            Some(TurnEnd::Done) => TaskStatus::Success,
            Some(TurnEnd::Stopped) => TaskStatus::Cancelled,
            Some(TurnEnd::Empty | TurnEnd::StepLimit { .. } | TurnEnd::Failed { .. }) => TaskStatus::Error,
            None if is_left => TaskStatus::Error,
            None if waits => TaskStatus::Waiting,
            None if begun == Some(false) => TaskStatus::Pending,
            None => TaskStatus::Running,
        };
        let left = is_left.then(|| "it could not go on; cancel it, or ask it again".to_owned());
        Ok(BackgroundTask {
            id: sent.child.to_string(),
            agent: sent.name.clone(),
            description: sent.description.clone(),
            status,
            answer: answer.filter(|_| status.is_over()),
            problem: end.and_then(problem_of).or(left),
            created_at: sent.sent_at,
            updated_at: sent.changed_at,
        })
    }
}

/// Begins the first turn of a subagent of `parent`, whose agent is `sender`, where it has not begun.
pub(crate) async fn begin_first(
    (parent, sender): (&SessionLog, &Agent),
    agent: &Agent,
    child: &SessionLog,
    description: String,
) -> Result<(), AgentError> {
    if child.with_state(|state| state.turns) > 0 {
        return Ok(());
    }
    let message = HumanMessage { id: MessageId::new(agent.ids.next()), content: vec![ContentBlock::text(description)] };
    let update = parent.with_state(|state| state.seed(sender.fields()));
    let update = lightened(update, agent.blobs.as_deref()).await?;
    Ok(child.record(vec![EntryBody::Seeded { update }, EntryBody::TurnStarted { turn: 1, message }]).await?)
}

/// Continues the turn of a subagent of `parent`, which a limit of the whole tree had ended. Its work so far is its parent's
/// already.
pub(crate) async fn take_up(parent: &SessionLog, agent: &Agent, child: &SessionLog) -> Result<(), AgentError> {
    let update = parent.with_state(|above| child.with_state(|state| state.seed_again(above, agent.fields())));
    let update = lightened(update, agent.blobs.as_deref()).await?;
    let turn = child.with_state(|state| state.turns);
    Ok(child.record(vec![EntryBody::Seeded { update }, EntryBody::TurnContinued { turn }]).await?)
}

/// What the subagent that `call_id` waited for brings back, for a parent whose state is `parent`.
pub(crate) fn brought(cx: &TurnContext, parent: &State, call_id: &CallId) -> Brought {
    let is_awaited = |sent: &&SentSubagent| sent.call_id == *call_id && sent.mode == SubagentMode::Awaited;
    let sent = parent.subagents.iter().rev().find(is_awaited);
    let child = sent.and_then(|sent| cx.log().opened(&sent.child));
    child.map(|child| child.with_state(|state| state.brought(parent, cx.agent().fields()))).unwrap_or_default()
}

/// Whether a limit of the whole tree ended the subagent that a call waits for, as far as it has an end of its own.
pub(crate) fn is_paused(cx: &TurnContext, call_id: &CallId) -> bool {
    awaited(cx, call_id).is_some_and(|end| end.is_some_and(|end| end.is_by_limit_of_tree()))
}

/// Whether a call waits for a subagent that such a limit, which ended the call's turn, has kept from its end: one that
/// waits for its slot has not begun, and ends with the call.
pub(crate) fn is_paused_by(cx: &TurnContext, call_id: &CallId, end: &TurnEnd) -> bool {
    awaited(cx, call_id).is_some_and(|own| own.as_ref().unwrap_or(end).is_by_limit_of_tree())
}

/// The end, where there is one, of the subagent that a call waits for; `None` where it waits for none.
fn awaited(cx: &TurnContext, call_id: &CallId) -> Option<Option<TurnEnd>> {
    let child = cx.log().with_state(|state| {
        let child = state.open_call(call_id)?.child.clone()?;
        state.subagent(&child).filter(|sent| sent.mode == SubagentMode::Awaited).map(|_awaited| child)
    })?;
    Some(cx.log().opened(&child).and_then(|child| child.with_state(|state| state.last_end.clone())))
}

/// Whether the subagent of a call has got to work, as far as is known.
pub(crate) fn has_begun(cx: &TurnContext, call: &OpenCall) -> bool {
    let waits =
        |child: &SessionId| cx.log().opened(child).is_some_and(|child| child.with_state(|state| state.turns == 0));
    call.child.as_ref().is_some_and(|child| !waits(child))
}

/// What a subagent said last in its turn, where it said anything.
pub(crate) fn answer_of(state: &State) -> Option<String> {
    let is_asked = |message: &Message| matches!(message, Message::Human(human) if !is_news(human));
    let of_turn = state.messages.iter().rev().take_while(|message| !is_asked(message));
    let mut texts = of_turn.filter_map(|message| match &**message {
        Message::Ai(reply) => Some(reply.text()).filter(|text| !text.trim().is_empty()),
        Message::System(_) | Message::Human(_) | Message::Tool(_) => None,
    });
    texts.next().map(|text| text.trim_end().to_owned())
}

/// How a turn ended in which a subagent gave this answer: where its last reply is empty, what it said before stands.
pub(crate) fn ended<'a>(end: &'a TurnEnd, answer: Option<&str>) -> &'a TurnEnd {
    match end {
        TurnEnd::Empty if answer.is_some() => &TurnEnd::Done,
        end => end,
    }
}

/// Why a turn did not end well.
pub(crate) fn problem_of(end: &TurnEnd) -> Option<String> {
    match end {
        TurnEnd::Done => None,
        TurnEnd::Empty => Some("it said nothing".into()),
        TurnEnd::Stopped => Some("it was stopped".into()),
        TurnEnd::StepLimit { limit } => Some(format!("it reached its limit of {limit} steps")),
        TurnEnd::Failed { reason, .. } => Some(reason.clone()),
    }
}

/// The id of the message with which a call asks a subagent more: named after the call, so that one that runs again after a
/// restart asks once.
pub fn ask_id(call: &CallId) -> MessageId {
    MessageId::new(format!("{ASK_ID}{call}"))
}

/// Whether a message is one with which a call asks a subagent more.
pub(crate) fn is_ask(id: &str) -> bool {
    id.starts_with(ASK_ID)
}

const ASK_ID: &str = "ask-";

fn fatal(error: impl std::fmt::Display) -> ToolError {
    ToolError::Fatal(error.to_string())
}

impl Delegate for Delegation {
    fn delegate(&self, request: DelegateRequest) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(self.run(request))
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(self)
    }
}

impl Background for Delegation {
    fn start(&self, request: DelegateRequest) -> BoxFuture<'_, Result<BackgroundTask, ToolError>> {
        Box::pin(self.start_beside(request))
    }

    fn check<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BackgroundTask, ToolError>> {
        Box::pin(self.look(id))
    }

    fn update<'a>(
        &'a self,
        id: &'a str,
        message: String,
        how: FollowUp,
    ) -> BoxFuture<'a, Result<BackgroundTask, ToolError>> {
        Box::pin(self.ask_more(id, message, how))
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BackgroundTask, ToolError>> {
        Box::pin(self.cancel_beside(id))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<BackgroundTask>, ToolError>> {
        Box::pin(async move {
            let sent = self.cx.log().with_state(|state| state.subagents.clone());
            let mut tasks = Vec::with_capacity(sent.len());
            for sent in sent {
                let log = match sent.end {
                    // How it stands is in the journal of this session.
                    Some(_) => None,
                    None => Some(self.cx.log().reopen(&sent).await.map_err(fatal)?),
                };
                tasks.push(self.told(&sent.child, log.as_deref())?);
            }
            Ok(tasks)
        })
    }
}
