use std::sync::Arc;

use bosun_agent::{EntryBody, LiveEvent, PlannedTodo, Recorded, SessionId, State, SubagentMode};
use bosun_harness::EvidenceBook;
use bosun_model::{AiMessage, Asked, CallId, ContentBlock, HumanMessage, MessageId, ModelInfo, text_of};
use bosun_protocol::{
    AgentNode, AgentStatus, Approval, CallId as WireCallId, Delta, Envelope, Item, ItemBody, ItemId, ModelRef, Notice,
    ProjectId, SessionEvent, SessionId as WireSessionId, SessionStatus, SessionSummary, Snapshot, Todo, UsageSummary,
};

use crate::problem::of_note;
use crate::view::View;
use crate::{convert, watching};

mod approvals;
mod changes;
mod evidence;
mod notices;
mod replies;
mod spans;
mod summarized;
mod summary;
mod tools;

pub(crate) use approvals::reach;
pub(crate) use changes::{Deed, Did, Scoped, command_of, kind_of};
use replies::item_of;
pub(crate) use spans::{Between, Form, How, RIGHTS, Span, changed_rights};
pub(crate) use summary::changes_summary;
use summary::moves_session;
pub(crate) use tools::{head_and_tail, row_of_call, shown};

/// Longest title made from a first message, in characters.
const TITLE: usize = 60;

/// Turns what one session records and tells into what it shows.
///
/// It keeps its own fold of the journal, because some of what is shown (the todo a call belongs to, the calls that a
/// stop leaves open) depends on the state before an entry.
pub(crate) struct Projection {
    id: SessionId,
    state: State,
    view: View,
    out: Vec<Envelope>,
    /// Names of the agents from the root session's own to this one.
    path: Vec<String>,
    changes: changes::Changes,
    /// What was done for the lines of the plan.
    evidence: EvidenceBook,
    calls: tools::Calls,
    model: Option<ModelInfo>,
    /// Who was asked last.
    asked: Option<Asked>,
    /// The row that says why the model is not asked yet.
    wait: Option<ItemId>,
    /// Whether a turn is being run by this process.
    running: bool,
    /// When a subagent got to work, which may be long after it was sent.
    begun_at: Option<i64>,
    /// A summary is being made for a person.
    summing_up: bool,
    /// A journal is being read, and nobody watches yet.
    reading: bool,
    /// The summary as it is now; the view has it as it was last told.
    summary: SessionSummary,
}

/// What a projection is made for.
pub(crate) struct Subject {
    pub id: SessionId,
    pub project: ProjectId,
    pub parent: Option<SessionId>,
    pub path: Vec<String>,
    /// The parent's call that started it, and what it was sent to do.
    pub task: Option<(CallId, String)>,
    pub created_at: i64,
    pub model: Option<ModelRef>,
}

impl Projection {
    pub(crate) fn new(subject: Subject) -> Self {
        let wire_id = WireSessionId::new(subject.id.as_str());
        let session = SessionSummary {
            id: wire_id.clone(),
            project: subject.project,
            parent: subject.parent.as_ref().map(|parent| WireSessionId::new(parent.as_str())),
            title: String::new(),
            status: SessionStatus::Idle,
            model: subject.model,
            created_at: subject.created_at,
            updated_at: subject.created_at,
            waiting: 0,
            pinned: false,
            archived: false,
            deleted_at: None,
            effort: None,
            summing_up: false,
            usage: UsageSummary::default(),
        };
        let (call_id, description) = subject.task.unzip();
        let mut view = View::new(session.clone());
        view.agents.push(AgentNode {
            session: wire_id,
            parent: session.parent.clone(),
            call_id: call_id.map(|call| WireCallId::new(call.as_str())),
            name: subject.path.last().cloned().unwrap_or_default(),
            description: description.unwrap_or_default(),
            beside: false,
            status: AgentStatus::Done,
            current: None,
            usage: UsageSummary::default(),
            model: session.model.clone(),
            started_at: subject.created_at,
            ended_at: None,
        });
        Self {
            id: subject.id,
            state: State::default(),
            view,
            out: Vec::new(),
            path: subject.path,
            changes: changes::Changes::default(),
            evidence: EvidenceBook::default(),
            calls: tools::Calls::default(),
            model: None,
            asked: None,
            wait: None,
            running: false,
            begun_at: None,
            summing_up: false,
            reading: false,
            summary: session,
        }
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// The summary as lists are to show it.
    pub(crate) fn summary(&self) -> &SessionSummary {
        &self.summary
    }

    /// Takes the place of another projection of the same session, whose readers are told everything anew.
    pub(crate) fn take_over(mut self, known: &mut Self) {
        self.model = known.model.take();
        self.view.follow(known.view.seq);
        let snapshot = Snapshot { seq: known.view.seq + 1, ..self.view.snapshot() };
        self.emit(SessionEvent::Reset { snapshot: Box::new(snapshot) });
        *known = self;
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn path(&self) -> &[String] {
        &self.path
    }

    /// The events since the last call.
    pub(crate) fn drain(&mut self) -> Vec<Envelope> {
        std::mem::take(&mut self.out)
    }

    /// Takes what is known of the model that answers from now on.
    pub(crate) fn set_model(&mut self, info: ModelInfo) {
        self.model = Some(info);
    }

    pub(crate) fn set_running(&mut self, running: bool) {
        if self.running != running {
            self.running = running;
            self.refresh(None);
        }
    }

    pub(crate) fn set_summing_up(&mut self, summing_up: bool) {
        self.summing_up = summing_up;
        self.refresh(None);
    }

    /// Takes the entries of a journal that is opened. What lists show is brought up to date by [`Self::settle`].
    pub(crate) fn read<'a>(&mut self, entries: impl IntoIterator<Item = &'a Recorded>) {
        self.reading = true;
        entries.into_iter().for_each(|entry| self.apply(entry));
        self.reading = false;
    }

    /// Takes one entry of the journal.
    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        let at = recorded.entry.at;
        let owners = match &recorded.entry.body {
            EntryBody::Ai { message, .. } => EvidenceBook::owners_of(&self.state, message),
            _ => Vec::new(),
        };
        self.evidence.read(&self.id, &self.state, recorded);
        let todos_before = self.state.todos.clone();
        let summaries = self.summaries_before(&recorded.entry.body);
        self.state.apply(&recorded.entry);
        // What was said stands in the rows, and in the state that the agent works with.
        self.state.forget_messages();
        match &recorded.entry.body {
            EntryBody::TurnStarted { turn, message } => {
                self.follow(&Deed { at, seq: recorded.seq, what: Did::TurnBegan });
                self.turn_started(*turn, message, at);
            }
            EntryBody::TurnContinued { turn } => self.goes_on(*turn, at),
            EntryBody::Draft { message, text, reasoning, text_from, reasoning_from } => {
                self.draft(message, (text, *text_from), (reasoning, *reasoning_from), at);
            }
            EntryBody::Ai { message, kinds, cost } => {
                self.follow(&Deed { at, seq: recorded.seq, what: Did::StepBegan });
                self.reply(message, at);
                self.propose(message, kinds, &owners, at);
                self.count(message, *cost);
                self.asked = message.asked.clone().or(self.asked.take());
            }
            EntryBody::SideCall { usage, cost, .. } => summary::add(&mut self.summary.usage, *usage, *cost),
            EntryBody::ModelFailed { error, partial, message, asked } => {
                let id = message.clone().unwrap_or_else(|| MessageId::new(format!("failed-{}", recorded.seq)));
                self.settle_reply(&id, partial, at);
                let notice = self.notice_of(error, asked.as_ref());
                self.notice(recorded.seq, at, notice);
            }
            EntryBody::Asked { ask } => self.asked(ask, at),
            EntryBody::Decided { call_id, record } => self.decided(call_id, record, at),
            EntryBody::CallStarted { call_id } => self.running_call(call_id, at),
            EntryBody::SubagentStarted { call_id, child, .. } => {
                self.delegated(call_id, child);
                self.sent(child);
            }
            EntryBody::ToolResult { call_id, message, outcome, artifact, started_at, allowed_by, .. } => {
                let result = tools::Result { message, outcome: *outcome, artifact, started_at: *started_at, at };
                self.finish_call(call_id, &result, allowed_by.as_deref());
                let command = self.command(call_id);
                self.changed(artifact, command);
            }
            EntryBody::TurnEnded { turn, end } => self.turn_ended(recorded.seq, *turn, end, at),
            EntryBody::Queued { .. }
            | EntryBody::Unqueued { .. }
            | EntryBody::QueueEdited { .. }
            | EntryBody::QueueMoved { .. } => self.queue(),
            EntryBody::Steered { message } => self.person_said(message, self.turn(), at),
            // The plan is told below; what the model is told of it is no row.
            EntryBody::PlanEdited { .. } => {}
            EntryBody::Titled { title } => self.summary.title.clone_from(title),
            EntryBody::Pinned { pinned } => self.summary.pinned = *pinned,
            EntryBody::Archived { archived } => self.summary.archived = *archived,
            EntryBody::Discarded { at } => self.summary.deleted_at = *at,
            EntryBody::ModelChosen { provider, name } => {
                self.summary.model = Some(ModelRef { provider: provider.clone(), name: name.clone() });
                self.asked = None;
            }
            EntryBody::EffortChosen { effort } => self.summary.effort = effort.map(convert::effort_view),
            EntryBody::Noted { kind, detail, about } => {
                self.notice(
                    recorded.seq,
                    at,
                    Notice {
                        code: convert::note(*kind),
                        detail: detail.clone(),
                        problem: about.clone().map(of_note),
                        model: None,
                    },
                );
            }
            EntryBody::FilesChanged { files, .. } => self.notice(recorded.seq, at, watching::notice(files)),
            EntryBody::Restored { changes } => {
                self.follow(&Deed { at, seq: recorded.seq, what: Did::Restored { changes: changes.clone() } });
            }
            EntryBody::Rewound { files, .. } => {
                self.follow(&Deed { at, seq: recorded.seq, what: Did::Rewound { files: files.clone() } });
            }
            EntryBody::RewindUndone { .. } => {
                self.follow(&Deed { at, seq: recorded.seq, what: Did::RewindUndone });
            }
            EntryBody::SubagentAsked { child } => self.sent(child),
            EntryBody::Seeded { .. }
            | EntryBody::SubagentEnded { .. }
            | EntryBody::ChangeIntended { .. }
            | EntryBody::Updated { .. }
            | EntryBody::RestoreIntended { .. } => {}
        }
        if let Some(before) = summaries {
            self.summarized(before, recorded);
        }
        self.tell_todos(&todos_before);
        if !self.reading {
            self.tell_evidence();
        }
        self.refresh(moves_session(&recorded.entry.body).then_some(at));
    }

    fn tell_todos(&mut self, before: &[PlannedTodo]) {
        if self.state.todos == before {
            return;
        }
        let todos: Vec<Todo> = self.state.todos.iter().map(convert::todo).collect();
        self.emit(SessionEvent::TodosReplaced { todos });
    }

    /// Takes news that is not recorded.
    pub(crate) fn live(&mut self, event: &LiveEvent, at: i64) {
        match event {
            LiveEvent::ReplyStarted { model, .. } => {
                self.asks_now();
                if self.asked.as_ref() != Some(&model.asked()) {
                    self.asked = Some(model.asked());
                    self.refresh(None);
                }
                self.set_model((**model).clone());
            }
            LiveEvent::AskingNow => self.asks_now(),
            LiveEvent::AskingAgain { error, wait } => self.asks_again(error, *wait, at),
            LiveEvent::AwaitingBudget => self.awaits_budget(at),
            LiveEvent::TextDelta { message, text } => {
                self.open_reply(message, at);
                let delta = Delta::Text { text: text.clone() };
                self.emit(SessionEvent::ItemDelta { item: item_of(message), delta });
            }
            LiveEvent::ReasoningDelta { message, text } => {
                self.open_reply(message, at);
                let delta = Delta::Reasoning { text: text.clone() };
                self.emit(SessionEvent::ItemDelta { item: item_of(message), delta });
            }
            LiveEvent::CallProposed { message, call_id, name } => self.proposed(message, call_id, name, at),
            LiveEvent::ReplyDropped { message } => {
                self.drop_proposals(message);
                self.settle_replies();
            }
            LiveEvent::CallRunning { call_id, at } => self.running_call(call_id, *at),
            LiveEvent::Output { call_id, text } => self.output(call_id, text),
        }
        if matches!(event, LiveEvent::CallRunning { .. }) {
            self.refresh(None);
        }
    }

    /// Tells the agent's own node, so that a parent's tree has it from the start.
    pub(crate) fn introduce(&mut self) {
        if let Some(agent) = self.view.agents.first().cloned() {
            self.emit(SessionEvent::AgentUpdated { agent });
        }
    }

    /// After the last entry was read on opening: nothing streams any more.
    pub(crate) fn settle(&mut self) {
        self.settle_replies();
        self.tell_evidence();
        self.refresh(None);
        self.view.begin();
    }

    pub(crate) fn emit(&mut self, event: SessionEvent) {
        if self.reading {
            self.view.take(event);
            return;
        }
        self.view.apply(&event);
        self.out.push(Envelope { seq: self.view.seq, event });
    }

    fn turn(&self) -> u32 {
        self.state.turns
    }

    fn complete(&mut self, id: ItemId, turn: u32, at: i64, body: ItemBody) {
        self.emit(SessionEvent::ItemCompleted { item: Item { id, turn, at, body } });
    }

    fn person_said(&mut self, message: &HumanMessage, turn: u32, at: i64) {
        let text = Arc::new(text_of(&message.content));
        let body = ItemBody::Human { text, attachments: attachments(&message.content) };
        self.complete(item_of(&message.id), turn, at, body);
    }

    fn turn_started(&mut self, turn: u32, message: &HumanMessage, at: i64) {
        self.begun_at = self.begun_at.or(Some(at).filter(|_| self.path.len() > 1));
        self.person_said(message, turn, at);
        if self.summary.title.is_empty() {
            self.summary.title = title_of(&convert::said(message));
        }
        self.emit(SessionEvent::TurnStarted { turn, at });
    }

    fn queue(&mut self) {
        let message = |message: &bosun_agent::QueuedMessage| bosun_protocol::QueuedMessage {
            id: message.id.clone(),
            text: message.text.clone(),
            attachments: message.media.iter().map(convert::attachment).collect(),
        };
        let queue = self.state.queue.iter().map(message).collect();
        self.emit(SessionEvent::QueueReplaced { queue });
    }

    fn count(&mut self, message: &AiMessage, cost: Option<f64>) {
        // A subagent may ask another model than its session does.
        let asked = |model: &&ModelInfo| message.asked.as_ref().is_none_or(|asked| *asked == model.asked());
        let window = self.model.as_ref().filter(asked).and_then(|model| model.context_window);
        summary::count(&mut self.summary.usage, message, cost, window);
    }

    /// Takes what was known of the usage when it was last stored: the size of the window stands in no entry, and what
    /// replies cost not in those of the first versions.
    pub(crate) fn recall_usage(&mut self, stored: &UsageSummary) {
        let usage = &mut self.summary.usage;
        usage.context_window = usage.context_window.or(stored.context_window);
        if (usage.input_tokens, usage.output_tokens) == (stored.input_tokens, stored.output_tokens) {
            usage.cost = usage.cost.or(stored.cost);
        }
    }

    /// Brings the summary and the agent's own node up to date, and tells where they changed.
    fn refresh(&mut self, at: Option<i64>) {
        if self.reading {
            self.summary.updated_at = at.unwrap_or(self.summary.updated_at);
            return;
        }
        self.summary.waiting = u32::try_from(self.view.approvals.len()).unwrap_or(u32::MAX);
        self.summary.status = self.status();
        self.summary.summing_up = self.summing_up;
        // The time alone is not worth telling; it goes along with the next change that is.
        let told = SessionSummary { updated_at: self.summary.updated_at, ..self.view.session.clone() };
        let changed = told != self.summary;
        self.summary.updated_at = at.unwrap_or(self.summary.updated_at);
        if changed {
            self.emit(SessionEvent::SessionUpdated { session: self.summary.clone() });
        }
        self.refresh_node();
    }

    fn refresh_node(&mut self) {
        let Some(node) = self.view.agents.first().cloned() else { return };
        let session = &self.summary;
        let status = match session.status {
            SessionStatus::Running => AgentStatus::Running,
            SessionStatus::Waiting => AgentStatus::Waiting,
            SessionStatus::Idle if self.path.len() > 1 && self.state.turns == 0 => match self.running {
                true => AgentStatus::Queued,
                false => AgentStatus::Cancelled,
            },
            SessionStatus::Idle => AgentStatus::Done,
            SessionStatus::Failed => AgentStatus::Failed,
            SessionStatus::Stopped | SessionStatus::Interrupted => AgentStatus::Cancelled,
        };
        let open = matches!(status, AgentStatus::Queued | AgentStatus::Running | AgentStatus::Waiting);
        let agent = AgentNode {
            status,
            current: open.then(|| tools::current(&self.view)).flatten(),
            usage: session.usage.clone(),
            model: self.asked.as_ref().map(convert::model).or_else(|| session.model.clone()),
            started_at: self.begun_at.unwrap_or(node.started_at),
            ended_at: (!open).then_some(session.updated_at),
            ..node.clone()
        };
        if agent != node {
            self.emit(SessionEvent::AgentUpdated { agent });
        }
    }

    fn status(&self) -> SessionStatus {
        if !self.view.approvals.is_empty() {
            return SessionStatus::Waiting;
        }
        if self.state.turn.is_some() {
            return if self.running { SessionStatus::Running } else { SessionStatus::Interrupted };
        }
        if self.summing_up {
            return SessionStatus::Running;
        }
        self.state.last_end.as_ref().map_or(SessionStatus::Idle, summary::status_after)
    }

    /// A subagent's approval, shown here because this is the root of its tree.
    pub(crate) fn child_asked(&mut self, approval: Approval) {
        self.emit(SessionEvent::ApprovalRequested { approval });
        self.refresh(None);
    }

    /// [`SessionEvent::ApprovalResolved`] of a subagent at any depth.
    pub(crate) fn child_resolved(&mut self, resolved: SessionEvent) {
        self.emit(resolved);
        self.refresh(None);
    }

    pub(crate) fn child_node(&mut self, mut agent: AgentNode) {
        if agent.parent.as_ref() == Some(&self.summary.id) {
            agent.beside = self.is_beside(&SessionId::new(agent.session.as_str()));
        }
        if !self.view.agents.contains(&agent) {
            self.emit(SessionEvent::AgentUpdated { agent });
        }
    }

    /// It is known how a subagent works whose node may have been there before.
    fn sent(&mut self, child: &SessionId) {
        let node = self.view.agents.iter().find(|node| node.session.as_str() == child.as_str());
        if let Some(agent) = node.cloned() {
            self.child_node(agent);
        }
    }

    /// Whether a subagent of this session works beside it: that stands in the journal of who sent it.
    fn is_beside(&self, child: &SessionId) -> bool {
        self.state.subagent(child).is_some_and(|sent| sent.mode == SubagentMode::Background)
    }
}

fn attachments(content: &[ContentBlock]) -> Vec<bosun_protocol::Attachment> {
    let media = content.iter().filter_map(|block| match block {
        ContentBlock::Media(media) => Some(media),
        ContentBlock::Text { .. } | ContentBlock::Reasoning(_) => None,
    });
    media.map(convert::attachment).collect()
}

/// The first line with something in it, white space folded, cut at a word where there is one near.
fn title_of(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let folded = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() <= TITLE {
        return folded;
    }
    let head: String = folded.chars().take(TITLE - 1).collect();
    let cut = head.rfind(' ').filter(|at| *at > TITLE / 2).unwrap_or(head.len());
    format!("{}…", head.get(..cut).unwrap_or(&head).trim_end())
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
