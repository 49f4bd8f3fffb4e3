use std::sync::Arc;

use bosun_backend::{FileData, VirtualPath};
use bosun_model::{CallId, ContentBlock, HumanMessage, MessageId};
use bosun_tools::{Delegate, DelegateRequest, StateUpdate, ToolError, ToolOutput};

use crate::{
    Agent, AgentError, BoxFuture, ChildStart, EntryBody, SessionLog, State, Subagents, TurnContext, TurnEnd, run_turn,
};

/// Runs a subagent for one call. Everything it needs to go on after a restart is in the two journals.
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
        let agent = self.subagents.agent(&request.agent, cx).map_err(ToolError::Model)?;
        let Some(slots) = cx.subagent_slots() else {
            return Err(ToolError::Model(format!(
                "Error: subagents may be nested {} deep and this would be deeper; do this part yourself",
                cx.agent().limits.max_depth
            )));
        };
        let log = self.open(&request).await.map_err(fatal)?;
        let slot = tokio::select! {
            slot = slots.acquire() => slot.map_err(|_closed| ToolError::Cancelled)?,
            () = cx.cancel().cancelled() => return Err(ToolError::Cancelled),
        };
        let end = self.run_to_end(agent, &log, request).await?;
        drop(slot);
        Ok(self.answer(&log, &end))
    }

    /// The subagent's log, with its start recorded in the parent's.
    async fn open(&self, request: &DelegateRequest) -> Result<Arc<SessionLog>, AgentError> {
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
            };
            log.record(vec![started]).await?;
        }
        Ok(child)
    }

    async fn run_to_end(
        &self,
        agent: Arc<Agent>,
        log: &Arc<SessionLog>,
        request: DelegateRequest,
    ) -> Result<TurnEnd, ToolError> {
        let (turns, ended) = log.with_state(|state| (state.turns, state.last_end.clone()));
        if let Some(end) = ended {
            // It ended before the app did; only its parent had not been told.
            return Ok(end);
        }
        if turns == 0 {
            let message = HumanMessage {
                id: MessageId::new(agent.ids.next()),
                content: vec![ContentBlock::text(request.description)],
            };
            let seed = EntryBody::Seeded { update: self.cx.log().with_state(seed_of) };
            log.record(vec![seed, EntryBody::TurnStarted { turn: 1, message }]).await.map_err(fatal)?;
        }
        let child = self.cx.child(agent, Arc::clone(log), self.cx.cancel().child_token());
        match Box::pin(run_turn(&child)).await {
            Ok(TurnEnd::Stopped) if self.cx.cancel().is_cancelled() => Err(ToolError::Cancelled),
            Ok(end) => Ok(end),
            Err(AgentError::Cancelled) => Err(ToolError::Cancelled),
            Err(error) => Err(fatal(error)),
        }
    }

    fn answer(&self, log: &SessionLog, end: &TurnEnd) -> ToolOutput {
        let (text, update) = log.with_state(|state| (state.last_text(), self.changed_files(state)));
        let text = text.map(|text| text.trim_end().to_owned());
        let mut output = match (end, text) {
            (TurnEnd::Done, Some(text)) => ToolOutput::text(text),
            (TurnEnd::Done | TurnEnd::Empty, _) => {
                ToolOutput::error("Error: the subagent ended without an answer; ask it again or do this part yourself")
            }
            (end, text) => {
                let so_far = text.map(|text| format!(" So far it had said: {text}")).unwrap_or_default();
                ToolOutput::error(format!("Error: the subagent did not finish: {}.{so_far}", reason(end)))
            }
        };
        output.update = update;
        output
    }

    /// Files of the session that the subagent changed, to be merged into the parent's.
    fn changed_files(&self, child: &State) -> StateUpdate {
        let parent = self.cx.log().with_state(|state| state.files.clone());
        let written = child.files.iter().filter(|(path, data)| parent.get(*path) != Some(*data));
        let deleted = parent.keys().filter(|path| !child.files.contains_key(*path));
        let files: Vec<(VirtualPath, Option<FileData>)> = written
            .map(|(path, data)| (path.clone(), Some(data.clone())))
            .chain(deleted.map(|path| (path.clone(), None)))
            .collect();
        StateUpdate { files, ..StateUpdate::default() }
    }
}

/// What a subagent gets: the parent's files and what the parent has read, not its plan and not its messages.
fn seed_of(parent: &State) -> StateUpdate {
    StateUpdate {
        files: parent.files.iter().map(|(path, data)| (path.clone(), Some(data.clone()))).collect(),
        reads: parent.reads.iter().map(|(path, stamp)| (path.clone(), Some(stamp.clone()))).collect(),
        ..StateUpdate::default()
    }
}

fn reason(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "it is done".into(),
        TurnEnd::Empty => "it said nothing".into(),
        TurnEnd::Stopped => "it was stopped".into(),
        TurnEnd::StepLimit { limit } => format!("it reached its limit of {limit} steps"),
        TurnEnd::Failed { reason } => reason.clone(),
    }
}

fn fatal(error: impl std::fmt::Display) -> ToolError {
    ToolError::Fatal(error.to_string())
}

impl Delegate for Delegation {
    fn delegate(&self, request: DelegateRequest) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(self.run(request))
    }
}
