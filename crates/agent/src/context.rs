use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::{Asked, CallId, Caller, MessageId, ModelError, ModelInfo};
use bosun_tools::{ToolContext, ToolKind};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::ask_order::AskOrder;
use crate::{Activity, Agent, AgentError, Ask, EntryBody, Limits, SessionLog, Spent, SubagentMode, tool_call};

/// What a turn runs in. Cheap to clone.
#[derive(Clone)]
pub struct TurnContext {
    inner: Arc<TurnParts>,
    cancel: CancellationToken,
}

struct TurnParts {
    agent: Arc<Agent>,
    log: Arc<SessionLog>,
    mode: SubagentMode,
    activity: Activity,
    spent: Arc<Spent>,
    /// Names of the agents from the session's own to this one.
    path: Vec<String>,
    /// One semaphore per depth: a parent that waits for its children never holds what they need.
    slots: Arc<[Semaphore]>,
    notes: Mutex<HashMap<CallId, CallNote>>,
    asks: AskOrder,
    partial: Mutex<Option<Partial>>,
    asked: Mutex<Option<Arc<ModelInfo>>>,
}

/// A reply that came to nothing.
pub(crate) struct Partial {
    pub message: MessageId,
    /// What it had said.
    pub text: String,
    /// Whether a person saw anything of it: words, thoughts or a call.
    pub shown: bool,
}

/// What the endpoint and the gate know of a call and its result has to tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallNote {
    pub started_at: Option<i64>,
    /// Whether it was told that it runs.
    is_told: bool,
    pub allowed_by: Option<String>,
    /// Why a person has to be asked whatever the rules allow.
    pub must_ask: Option<String>,
    /// It was let run because a sandbox holds it.
    pub held: bool,
    /// What decided refused it, and nobody was asked.
    pub is_rejected: bool,
}

impl TurnContext {
    /// A context for a session's own agent.
    pub fn new(agent: Arc<Agent>, log: Arc<SessionLog>, cancel: CancellationToken, activity: Activity) -> Self {
        let Limits { max_depth, max_subagents, .. } = agent.limits;
        let sending = (0..max_depth).take_while(|depth| agent.limits.delegates(*depth));
        let slots = sending.map(|_| Semaphore::new(max_subagents)).collect();
        let path = vec![agent.name.clone()];
        let (spent, activity) = match log.with_state(|state| log.background().carried(state)) {
            Some((spent, before)) => (spent, activity.on_the_time_of(&before)),
            None => (Arc::default(), activity),
        };
        Self::with(agent, log, cancel, (SubagentMode::Awaited, activity, spent), path, slots)
    }

    /// A context for what a person has done between turns, which no turn has spent anything of.
    pub fn between_turns(
        agent: Arc<Agent>,
        log: Arc<SessionLog>,
        cancel: CancellationToken,
        activity: Activity,
    ) -> Self {
        let path = vec![agent.name.clone()];
        let shared = (SubagentMode::Awaited, activity, Arc::default());
        Self::with(agent, log, cancel, shared, path, Arc::new([]))
    }

    /// A context for a subagent of this one.
    pub(crate) fn child(&self, agent: Arc<Agent>, log: Arc<SessionLog>, cancel: CancellationToken) -> Self {
        let mut path = self.inner.path.clone();
        path.push(agent.name.clone());
        let shared = (SubagentMode::Awaited, self.inner.activity.clone(), Arc::clone(&self.inner.spent));
        Self::with(agent, log, cancel, shared, path, Arc::clone(&self.inner.slots))
    }

    /// A context for a subagent that works beside this one: it counts as busy by itself and is stopped by itself, on the
    /// time and the money of the same tree.
    pub(crate) fn beside(&self, agent: Arc<Agent>, log: Arc<SessionLog>, cancel: CancellationToken) -> Self {
        let mut path = self.inner.path.clone();
        path.push(agent.name.clone());
        let shared = (SubagentMode::Background, self.inner.activity.beside(), Arc::clone(&self.inner.spent));
        Self::with(agent, log, cancel, shared, path, Arc::clone(&self.inner.slots))
    }

    /// A context for the next turn of the same.
    pub(crate) fn again(&self, cancel: CancellationToken) -> Self {
        let parts = &self.inner;
        let shared = (parts.mode, parts.activity.beside(), Arc::clone(&parts.spent));
        let (agent, log) = (Arc::clone(&parts.agent), Arc::clone(&parts.log));
        Self::with(agent, log, cancel, shared, parts.path.clone(), Arc::clone(&parts.slots))
    }

    fn with(
        agent: Arc<Agent>,
        log: Arc<SessionLog>,
        cancel: CancellationToken,
        (mode, activity, spent): (SubagentMode, Activity, Arc<Spent>),
        path: Vec<String>,
        slots: Arc<[Semaphore]>,
    ) -> Self {
        let (notes, partial, asked) = (Mutex::default(), Mutex::default(), Mutex::default());
        let asks = AskOrder::default();
        let parts = TurnParts { agent, log, mode, activity, spent, path, slots, notes, asks, partial, asked };
        Self { inner: Arc::new(parts), cancel }
    }

    /// The same turn for what `cancel` ends.
    pub(crate) fn under(&self, cancel: CancellationToken) -> Self {
        Self { inner: Arc::clone(&self.inner), cancel }
    }

    pub fn agent(&self) -> &Arc<Agent> {
        &self.inner.agent
    }

    pub fn log(&self) -> &Arc<SessionLog> {
        &self.inner.log
    }

    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    pub fn activity(&self) -> &Activity {
        &self.inner.activity
    }

    /// What the turn and its subagents have cost.
    pub fn spent(&self) -> &Spent {
        &self.inner.spent
    }

    pub(crate) fn shared_spent(&self) -> Arc<Spent> {
        Arc::clone(&self.inner.spent)
    }

    /// Asks the stack whether a member may call a model beside the conversation, as for a summary.
    ///
    /// # Errors
    /// Why it may not ([`crate::Middleware::before_side_call`]).
    pub async fn before_side_call(&self) -> Result<(), AgentError> {
        for middleware in &self.agent().middleware {
            middleware.before_side_call(self).await?;
        }
        Ok(())
    }

    /// Tells the stack that a call beside the conversation failed, of which the agent's model was asked as `asked`. Whether
    /// another answers it now ([`crate::Middleware::after_side_failure`]).
    pub async fn after_side_failure(&self, asked: &Asked, error: &ModelError) -> Result<bool, AgentError> {
        for middleware in &self.agent().middleware {
            if middleware.after_side_failure(self, asked, error).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this is a subagent that works beside its parent.
    pub fn is_beside(&self) -> bool {
        self.inner.mode == SubagentMode::Background
    }

    /// Names of the agents from the session's own to this one.
    pub fn path(&self) -> &[String] {
        &self.inner.path
    }

    /// 0 for the session's own agent.
    pub fn depth(&self) -> u32 {
        u32::try_from(self.inner.path.len()).unwrap_or(u32::MAX).saturating_sub(1)
    }

    /// What a call of this turn may use.
    pub fn tool_context(&self, call_id: &CallId) -> ToolContext {
        tool_call::context(self, call_id)
    }

    /// Keeps, for the record, the rule that let a call run without asking.
    pub fn note_rule(&self, call_id: &CallId, rule: String) {
        self.note(call_id, |note| note.allowed_by = Some(rule));
    }

    /// Keeps, for the record, the rule that refused a call without asking.
    pub fn note_rejection(&self, call_id: &CallId, rule: String) {
        self.note(call_id, |note| (note.allowed_by, note.is_rejected) = (Some(rule), true));
    }

    /// A command was let run because a sandbox holds it: it does not run without one.
    pub fn hold(&self, call_id: &CallId) {
        self.note(call_id, |note| note.held = true);
    }

    pub(crate) fn is_held(&self, call_id: &CallId) -> bool {
        self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner).get(call_id).is_some_and(|note| note.held)
    }

    /// Makes a call ask a person whatever the rules allow; `reason` is shown with it. It only ever adds an ask.
    pub fn require_ask(&self, call_id: &CallId, reason: String) {
        self.note(call_id, |note| note.must_ask = Some(reason));
    }

    /// Why a call has to ask whatever the rules allow.
    pub fn required_ask(&self, call_id: &CallId) -> Option<String> {
        let notes = self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.get(call_id).and_then(|note| note.must_ask.clone())
    }

    /// Records that a call waits for a person, once everything that asks before it in its step is recorded; at once where
    /// the call has left the order of asks, as one that is asked for again after [`Self::after_earlier`].
    ///
    /// # Errors
    /// [`AgentError::Cancelled`] where the turn is stopped first, or what keeps the journal from being written.
    pub async fn record_ask(&self, ask: Ask) -> Result<(), AgentError> {
        let call_id = ask.call.id.clone();
        tokio::select! {
            biased;
            () = self.cancel().cancelled() => return Err(AgentError::Cancelled),
            () = self.asks().turn(&call_id) => {}
        }
        self.log().record(vec![EntryBody::Asked { ask: Box::new(ask) }]).await?;
        self.asks().leave(&call_id);
        Ok(())
    }

    /// Returns once a call of this kind may have its effect: what it would meet of earlier calls of its step is done. The
    /// call leaves the order of asks: what it asks after this does not wait for earlier calls to ask, nor they for it.
    ///
    /// # Errors
    /// [`AgentError::Cancelled`] where the turn is stopped first.
    pub async fn after_earlier(&self, call_id: &CallId, kind: ToolKind) -> Result<(), AgentError> {
        tool_call::after_earlier(self, call_id, kind).await
    }

    pub(crate) fn asks(&self) -> &AskOrder {
        &self.inner.asks
    }

    pub(crate) fn note(&self, call_id: &CallId, change: impl FnOnce(&mut CallNote)) {
        let mut notes = self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner);
        change(notes.entry(call_id.clone()).or_default());
    }

    pub(crate) fn take_note(&self, call_id: &CallId) -> CallNote {
        self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner).remove(call_id).unwrap_or_default()
    }

    /// The calls that have begun and were not told of, with when they began. From now on they were.
    pub(crate) fn take_begun(&self) -> Vec<(CallId, i64)> {
        let mut notes = self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = notes.iter_mut().filter(|(_, note)| !note.is_told);
        begun
            .filter_map(|(call_id, note)| {
                let at = note.started_at?;
                note.is_told = true;
                Some((call_id.clone(), at))
            })
            .collect()
    }

    /// Remembers whom the call under way asks.
    pub(crate) fn set_asked(&self, model: Arc<ModelInfo>) {
        *self.inner.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(model);
    }

    /// Whose the model calls made here are.
    pub fn caller(&self) -> Caller {
        Caller { session: self.log().session().as_str().into(), agent: self.agent().name.as_str().into() }
    }

    /// Whom the last call of the turn asked, or the next one would. It stays what it is while another agent lets a second
    /// model stand in for the one that both have.
    pub fn asked(&self) -> Arc<ModelInfo> {
        let asked = self.inner.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        asked.unwrap_or_else(|| Arc::new(self.agent().model.info().clone()))
    }

    /// Remembers a reply that came to nothing.
    pub(crate) fn set_partial(&self, partial: Partial) {
        *self.inner.partial.lock().unwrap_or_else(PoisonError::into_inner) = Some(partial);
    }

    /// Whether a person saw some of the reply that came to nothing last, be it a thought or a call.
    pub fn was_shown(&self) -> bool {
        self.inner.partial.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|partial| partial.shown)
    }

    /// The reply that came to nothing last, with what it had said.
    pub(crate) fn take_partial(&self) -> Option<(MessageId, String)> {
        let partial = self.inner.partial.lock().unwrap_or_else(PoisonError::into_inner).take();
        partial.map(|partial| (partial.message, partial.text))
    }

    /// The semaphore of the subagents that this agent sends out; `None` where the depth limit forbids any.
    pub(crate) fn subagent_slots(&self) -> Option<&Semaphore> {
        self.inner.slots.get(usize::try_from(self.depth()).ok()?)
    }
}
