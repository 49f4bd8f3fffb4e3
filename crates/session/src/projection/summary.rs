use std::collections::HashSet;

use bosun_agent::{EntryBody, JournalEntry, SessionId, TurnEnd};
use bosun_model::{AiMessage, Usage};
use bosun_protocol::{ModelRef, SessionStatus, SessionSummary, UsageSummary};

use super::{Projection, title_of};
use crate::convert;

/// Whether an entry, of a session or of one of its subagents, may change what lists show of the session.
pub(crate) fn changes_summary(body: &EntryBody) -> bool {
    match body {
        EntryBody::TurnStarted { .. }
        | EntryBody::TurnContinued { .. }
        | EntryBody::TurnEnded { .. }
        | EntryBody::Asked { .. }
        | EntryBody::Decided { .. }
        | EntryBody::ToolResult { .. }
        | EntryBody::Rewound { .. }
        | EntryBody::Titled { .. }
        | EntryBody::Pinned { .. }
        | EntryBody::Archived { .. }
        | EntryBody::Discarded { .. }
        | EntryBody::EffortChosen { .. }
        | EntryBody::SideCall { .. }
        | EntryBody::ModelChosen { .. } => true,
        EntryBody::Seeded { .. }
        | EntryBody::Draft { .. }
        | EntryBody::Noted { .. }
        | EntryBody::Ai { .. }
        | EntryBody::ModelFailed { .. }
        | EntryBody::CallStarted { .. }
        | EntryBody::ChangeIntended { .. }
        | EntryBody::SubagentStarted { .. }
        | EntryBody::Updated { .. }
        | EntryBody::Steered { .. }
        | EntryBody::PlanEdited { .. }
        | EntryBody::FilesChanged { .. }
        | EntryBody::SubagentAsked { .. }
        | EntryBody::SubagentEnded { .. }
        | EntryBody::RestoreIntended { .. }
        | EntryBody::Restored { .. }
        | EntryBody::RewindUndone { .. }
        | EntryBody::Queued { .. }
        | EntryBody::QueueEdited { .. }
        | EntryBody::QueueMoved { .. }
        | EntryBody::Unqueued { .. } => false,
    }
}

/// Whether an entry is something that happened in the session, by which lists are ordered, and not only to its place in
/// lists.
pub(super) fn moves_session(body: &EntryBody) -> bool {
    !matches!(
        body,
        EntryBody::Titled { .. }
            | EntryBody::Pinned { .. }
            | EntryBody::Archived { .. }
            | EntryBody::Discarded { .. }
            | EntryBody::ModelChosen { .. }
            | EntryBody::EffortChosen { .. }
    )
}

impl Projection {
    /// Takes the summary as it was stored, where the entries that were read are not all there are.
    pub(crate) fn recall(&mut self, stored: SessionSummary) {
        self.summary = stored;
    }

    /// The summary as it will be once `batches` (entries of this session and of subagents below it) are recorded, where
    /// they change what lists show.
    pub(crate) fn summary_after(&self, batches: &[(&SessionId, &[JournalEntry])]) -> Option<SessionSummary> {
        let mut next = Next::of(self);
        for (session, entries) in batches {
            for entry in *entries {
                next.take(session, entry);
            }
        }
        next.changed.then(|| next.finish())
    }
}

/// Adds what a reply used; `window` is that of the model.
pub(super) fn count(total: &mut UsageSummary, message: &AiMessage, cost: Option<f64>, window: Option<u32>) {
    let Some(usage) = message.spent() else { return };
    add(total, usage, cost);
    let context = message.usage.unwrap_or_default();
    total.context_tokens = context.input.map(|input| input.saturating_add(context.output.unwrap_or(0)));
    total.context_window = window.or(total.context_window);
}

/// Adds what one call used, which may be one beside the conversation: it says nothing of how full the window is.
pub(super) fn add(total: &mut UsageSummary, usage: Usage, cost: Option<f64>) {
    let first = total.input_tokens == 0 && total.output_tokens == 0;
    total.input_tokens += usage.input.unwrap_or(0);
    total.output_tokens += usage.output.unwrap_or(0);
    total.cache_read_tokens += usage.cache_read.unwrap_or(0);
    // One step of unknown price makes the sum unknown.
    total.cost = if first { cost } else { total.cost.zip(cost).map(|(sum, step)| sum + step) };
}

struct Next {
    summary: SessionSummary,
    window: Option<u32>,
    /// The state as if nobody was asked.
    status: SessionStatus,
    /// Session and call of every open ask.
    asks: HashSet<(String, String)>,
    changed: bool,
}

impl Next {
    fn of(projection: &Projection) -> Self {
        let asks = projection.view.approvals.iter();
        Self {
            summary: projection.summary.clone(),
            window: projection.model.as_ref().and_then(|model| model.context_window),
            status: match &projection.state.last_end {
                _ if projection.state.turn.is_some() => SessionStatus::Running,
                end => end.as_ref().map_or(SessionStatus::Idle, status_after),
            },
            asks: asks.map(|ask| (ask.session.to_string(), ask.call_id.to_string())).collect(),
            changed: false,
        }
    }

    fn take(&mut self, session: &SessionId, entry: &JournalEntry) {
        let own = session.as_str() == self.summary.id.as_str();
        let ask = |call: &bosun_model::CallId| (session.to_string(), call.to_string());
        self.changed |= match &entry.body {
            EntryBody::Asked { ask: asked } => self.asks.insert(ask(&asked.call.id)),
            EntryBody::Decided { call_id, .. } | EntryBody::ToolResult { call_id, .. } => {
                self.asks.remove(&ask(call_id))
            }
            EntryBody::TurnEnded { end, .. } => {
                let before = self.asks.len();
                self.asks.retain(|(asker, _)| !own && asker != session.as_str());
                if own {
                    self.status = status_after(end);
                }
                own || self.asks.len() != before
            }
            _ if !own => false,
            // Not a change of its own: it is stored with what comes of the reply.
            EntryBody::Ai { message, cost, .. } => {
                count(&mut self.summary.usage, message, *cost, self.window);
                false
            }
            EntryBody::SideCall { usage, cost, .. } => {
                add(&mut self.summary.usage, *usage, *cost);
                true
            }
            EntryBody::TurnStarted { message, .. } => {
                if self.summary.title.is_empty() {
                    self.summary.title = title_of(&convert::said(message));
                }
                self.status = SessionStatus::Running;
                true
            }
            EntryBody::TurnContinued { .. } => {
                self.status = SessionStatus::Running;
                true
            }
            EntryBody::Titled { title } => {
                self.summary.title.clone_from(title);
                true
            }
            EntryBody::ModelChosen { provider, name } => {
                self.summary.model = Some(ModelRef { provider: provider.clone(), name: name.clone() });
                true
            }
            EntryBody::EffortChosen { effort } => {
                self.summary.effort = effort.map(convert::effort_view);
                true
            }
            EntryBody::Pinned { pinned } => {
                self.summary.pinned = *pinned;
                true
            }
            EntryBody::Archived { archived } => {
                self.summary.archived = *archived;
                true
            }
            EntryBody::Discarded { at } => {
                self.summary.deleted_at = *at;
                true
            }
            _ => false,
        };
        if self.changed && moves_session(&entry.body) {
            self.summary.updated_at = entry.at;
        }
    }

    fn finish(self) -> SessionSummary {
        let waiting = u32::try_from(self.asks.len()).unwrap_or(u32::MAX);
        let status = if waiting > 0 { SessionStatus::Waiting } else { self.status };
        // A summary in the making ends with the process that makes it.
        SessionSummary { waiting, status, summing_up: false, ..self.summary }
    }
}

pub(super) fn status_after(end: &TurnEnd) -> SessionStatus {
    match end {
        TurnEnd::Done | TurnEnd::Empty => SessionStatus::Idle,
        TurnEnd::Stopped | TurnEnd::StepLimit { .. } => SessionStatus::Stopped,
        TurnEnd::Failed { .. } => SessionStatus::Failed,
    }
}
