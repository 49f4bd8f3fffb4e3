use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bosun_backend::{FileData, FileStamp, VirtualPath};
use bosun_model::{
    AiMessage, CallId, Effort, HumanMessage, Media, Message, MessageId, Messages, ReplyCall, ToolCall, Usage,
};
use bosun_tools::{ChangeRecord, StateUpdate, Todo, TodoStatus, ToolKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::is_of_this_version;
use crate::delegate::is_ask;
use crate::{
    Ask, ChangeIntent, Decision, DecisionRecord, EntryBody, JournalEntry, SessionId, ToolOutcome, TurnEnd, is_news,
};

mod outside;
mod paused;
mod seed;
mod subagents;
mod todos;

pub use outside::FollowedFile;
use outside::Following;
pub(crate) use seed::{Brought, lightened};
pub use subagents::SentSubagent;

/// What the model reads where a turn goes on behind its own words.
const GO_ON: &str = "Go on from where you were stopped.";

/// The fold of a session's journal. Two journals with the same entries give equal states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Finished messages; the results of a step stand in call order, whatever order they came in.
    pub messages: Messages,
    pub todos: Vec<PlannedTodo>,
    /// Files kept in the session itself.
    pub files: BTreeMap<VirtualPath, FileData>,
    /// Files as the agent last read or wrote them.
    pub reads: HashMap<VirtualPath, FileStamp>,
    following: Following,
    /// Named fields that tools and middleware declared.
    pub fields: BTreeMap<String, Value>,
    /// Every subagent that was sent out, in that order.
    pub subagents: Vec<SentSubagent>,
    /// The calls of the last reply while not all have a result.
    pub step: Option<OpenStep>,
    /// The last step, where calls of it wait for subagents that a limit of the whole tree ended, until the model or a
    /// person says something more.
    paused: Option<OpenStep>,
    /// The turn that has not ended.
    pub turn: Option<OpenTurn>,
    /// Number of the last turn begun.
    pub turns: u32,
    pub last_end: Option<TurnEnd>,
    /// A person made the turn go on, or a limit had ended it: it has its limits anew.
    pub(crate) limits_anew: bool,
    pub queue: Vec<QueuedMessage>,
    /// Messages to the turn under way that stand behind what is open now: the calls of a step, or a reply.
    pub steering: Vec<HumanMessage>,
    /// What the model is told of a person's changes to the plan, with its next step.
    pub plan_note: Option<HumanMessage>,
    /// What the person refused since they last said something, by tool and arguments.
    refused: Vec<(String, Value)>,
    /// The message of the last turn, where a hook refused it: it is read again if the turn is continued.
    withheld: Option<Arc<Message>>,
    /// Files that were being put back when the journal ends.
    pub restoring: Option<Restoring>,
    pub usage: Usage,
    pub title: Option<String>,
    /// Provider and name, where the session chose one.
    pub model: Option<(String, String)>,
    /// How much the model thinks, where the session chose.
    pub effort: Option<Effort>,
    next_todo: u32,
    /// What a subagent was given, as far as it has changed it since.
    seed: seed::Seed,
    /// Every call there was. Some servers count their calls from 0 in every reply.
    calls: HashSet<CallId>,
    /// The ids of everything that a subagent, whose state this is, was ever asked beside its first task.
    asks: HashSet<String>,
}

/// A turn under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTurn {
    pub number: u32,
    /// Model calls since the turn began or was continued.
    pub steps: u32,
}

/// Files that are to be put back, as [`EntryBody::RestoreIntended`] tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Restoring {
    pub changes: Vec<ChangeRecord>,
    pub opened: Vec<VirtualPath>,
}

impl Restoring {
    fn of(changes: &[ChangeRecord], opened: &[VirtualPath]) -> Self {
        Self { changes: changes.to_vec(), opened: opened.to_vec() }
    }
}

/// The calls of one reply.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenStep {
    pub message: MessageId,
    pub calls: Vec<OpenCall>,
}

/// One call, as far as the journal knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub call: ToolCall,
    pub kind: ToolKind,
    /// Why the call can never run, where its arguments did not arrive whole.
    pub invalid: Option<String>,
    pub ask: Option<Ask>,
    /// When it was asked, by the session's clock.
    pub asked_at: Option<i64>,
    pub decision: Option<DecisionRecord>,
    pub started: bool,
    pub intents: Vec<ChangeIntent>,
    pub child: Option<SessionId>,
    pub result: Option<Arc<Message>>,
    /// Whether a limit of the whole tree ended the subagent that it waits for.
    pub(crate) is_paused: bool,
    /// Whether it goes on with a subagent that such a limit had ended.
    pub(crate) goes_on: bool,
}

impl OpenCall {
    /// Whether a person has to decide before anything goes on with this call.
    pub fn is_waiting(&self) -> bool {
        self.ask.is_some() && self.decision.is_none() && self.result.is_none()
    }

    /// Whether it may be gone by what was asked of it, and by what was decided where it is. The journal passes through a
    /// file that other programs can write (security.md A10): each is held against its own digest, and what was decided
    /// against that of what it was decided for, too. Those digests have no key ([`Ask::is_intact`]). What runs nothing
    /// holds in any case.
    pub fn is_as_shown(&self) -> bool {
        let Some(ask) = &self.ask else { return true };
        let is_asked_as_shown = || ask.call.name == self.call.name && ask.is_intact();
        match &self.decision {
            Some(record) if record.decision.runs_nothing() => true,
            Some(record) => record.is_for(ask) && is_asked_as_shown(),
            None => is_asked_as_shown(),
        }
    }

    /// Whether what is stored of it was sealed by this version, so that what does not fit was altered. What another one
    /// sealed is no more to go by either, and no reason for alarm.
    pub fn is_of_this_version(&self) -> bool {
        let asked = self.ask.as_ref().is_none_or(|ask| is_of_this_version(&ask.digest));
        let is_known = |record: &DecisionRecord| record.digest.as_deref().is_some_and(is_of_this_version);
        asked && self.decision.as_ref().is_none_or(is_known)
    }

    /// The arguments that it runs with: the model's own, unless a decision put others in their place.
    pub fn args(&self) -> &Value {
        match self.decision.as_ref().map(|record| &record.decision) {
            Some(Decision::Edit { args }) => args,
            _ => &self.call.args,
        }
    }
}

/// A line of the plan with an id that stays while the line is recognisably the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTodo {
    pub id: String,
    pub content: String,
    pub status: TodoStatus,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueuedMessage {
    pub id: String,
    pub text: String,
    pub media: Vec<Media>,
}

impl State {
    /// Folds `entries` from nothing.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a JournalEntry>) -> Self {
        let mut state = Self::default();
        for entry in entries {
            state.apply(entry);
        }
        state
    }

    /// Whether the person refused exactly this call before and has said nothing since.
    pub fn was_refused(&self, call: &ToolCall) -> bool {
        self.refused.iter().any(|(name, args)| *name == call.name && *args == call.args)
    }

    /// The reducer. Total: an entry that does not fit (from a damaged or newer journal) changes nothing.
    pub fn apply(&mut self, entry: &JournalEntry) {
        match &entry.body {
            EntryBody::Seeded { update } => {
                self.merge(update);
                self.following.heard_of(update);
                self.seed = seed::Seed::of(self);
            }
            EntryBody::Updated { update, .. } => self.merge(update),
            EntryBody::SideCall { usage, .. } => self.usage = self.usage.plus(*usage),
            EntryBody::TurnStarted { turn, message } => {
                self.begin(*turn);
                self.refused.clear();
                self.withheld = None;
                self.take_steering();
                self.messages.push(Arc::new(Message::Human(message.clone())));
            }
            EntryBody::TurnContinued { turn } => {
                self.messages.extend(self.withheld.take());
                self.go_on(*turn);
            }
            EntryBody::Draft { .. } | EntryBody::Noted { .. } => {}
            EntryBody::Ai { message, kinds, .. } => self.reply(message, kinds),
            EntryBody::ModelFailed { .. } => {}
            EntryBody::Asked { ask } => {
                if let Some(call) = self.open_call_mut(&ask.call.id) {
                    call.ask = Some((**ask).clone());
                    call.asked_at = Some(entry.at);
                    // What was decided before was about something else.
                    call.decision = None;
                }
            }
            EntryBody::Decided { call_id, record } => self.decided(call_id, record),
            EntryBody::CallStarted { call_id } => {
                if let Some(call) = self.open_call_mut(call_id) {
                    call.started = true;
                }
            }
            EntryBody::ChangeIntended { call_id, intent } => {
                if let Some(call) = self.open_call_mut(call_id) {
                    call.intents.push(intent.clone());
                }
            }
            EntryBody::SubagentStarted { call_id, child, .. } => {
                if let Some(call) = self.open_call_mut(call_id) {
                    call.child = Some(child.clone());
                }
                self.sent(entry);
            }
            EntryBody::SubagentAsked { child } => self.asked_again(child, entry.at),
            EntryBody::SubagentEnded { child, end, update, notice } => {
                if self.ended_beside(child, end, entry.at) {
                    self.merge(update);
                    self.steering.extend(notice.clone());
                }
            }
            EntryBody::ToolResult { call_id, message, update, outcome, .. } => {
                self.answered(call_id, *outcome, message, entry.at);
                self.merge(update);
                self.result(call_id, message, *outcome);
            }
            EntryBody::TurnEnded { end, .. } => {
                self.turn = None;
                self.last_end = Some(end.clone());
                let ends_with_it = matches!(self.messages.last().map(|last| &**last), Some(Message::Human(_)));
                if end.is_refusal_of_message() && ends_with_it {
                    self.withheld = self.messages.pop();
                }
            }
            EntryBody::Queued { id, text, media } => {
                self.queued(QueuedMessage { id: id.clone(), text: text.clone(), media: media.clone() });
            }
            EntryBody::Unqueued { id } => self.queue.retain(|message| message.id != *id),
            EntryBody::QueueEdited { id, text } => {
                if let Some(message) = self.queue.iter_mut().find(|message| message.id == *id) {
                    message.text.clone_from(text);
                }
            }
            EntryBody::QueueMoved { id, to } => {
                if let Some(place) = self.queue.iter().position(|message| message.id == *id) {
                    let message = self.queue.remove(place);
                    let to = usize::try_from(*to).unwrap_or(usize::MAX).min(self.queue.len());
                    self.queue.insert(to, message);
                }
            }
            EntryBody::Steered { message } => self.steering.push(message.clone()),
            EntryBody::PlanEdited { todos, message } => {
                self.todos.clone_from(todos);
                self.plan_note = Some(message.clone());
            }
            EntryBody::FilesChanged { files, message } => {
                self.following.told_of(files);
                self.messages.push(Arc::new(Message::Human(message.clone())));
            }
            EntryBody::Titled { title } => self.title = Some(title.clone()),
            EntryBody::RestoreIntended { changes, opened } => self.restoring = Some(Restoring::of(changes, opened)),
            EntryBody::Restored { .. } => self.restoring = None,
            // What is left out is left out before anything is folded: see `history`.
            EntryBody::Rewound { .. } | EntryBody::RewindUndone { .. } => {}
            EntryBody::Pinned { .. } | EntryBody::Archived { .. } | EntryBody::Discarded { .. } => {}
            EntryBody::ModelChosen { provider, name } => self.model = Some((provider.clone(), name.clone())),
            EntryBody::EffortChosen { effort } => self.effort = *effort,
        }
    }

    /// The open calls that wait for a person, in call order.
    pub fn waiting(&self) -> impl Iterator<Item = &OpenCall> {
        self.step.iter().flat_map(|step| &step.calls).filter(|call| call.is_waiting())
    }

    pub fn open_call(&self, id: &CallId) -> Option<&OpenCall> {
        self.step.as_ref()?.calls.iter().find(|call| call.call.id == *id)
    }

    /// Takes the calls of an entry that does not count any more as calls there were.
    pub(crate) fn take_call_ids(&mut self, body: &EntryBody) {
        if let EntryBody::Ai { message, .. } = body {
            let invalid = message.invalid_tool_calls.iter().map(|call| call.id.clone());
            self.calls.extend(message.tool_calls.iter().map(|call| call.id.clone()).chain(invalid));
        }
    }

    /// Whether it was asked this before ([`crate::ask_id`]), whatever became of the message since: it may have been refused,
    /// or forgotten with a stop.
    pub(crate) fn was_asked(&self, id: &str) -> bool {
        self.asks.contains(id)
    }

    /// Whether the session had a call of this id before.
    pub fn has_call(&self, id: &CallId) -> bool {
        self.calls.contains(id)
    }

    /// The last reply of the model with text in it.
    pub fn last_text(&self) -> Option<String> {
        self.messages.iter().rev().find_map(|message| match &**message {
            Message::Ai(reply) => Some(reply.text()).filter(|text| !text.trim().is_empty()),
            Message::System(_) | Message::Human(_) | Message::Tool(_) => None,
        })
    }

    /// Whether a person spoke last: there is something for the model to answer.
    pub fn person_spoke_last(&self) -> bool {
        matches!(self.messages.last().map(|last| &**last), Some(Message::Human(_)))
    }

    /// The plan as it is once `todos` took its place: lines that are recognisably the same keep their id.
    pub fn planned(&self, todos: &[Todo]) -> Vec<PlannedTodo> {
        todos::matched(&self.todos, todos, &mut self.next_todo.clone())
    }

    fn queued(&mut self, message: QueuedMessage) {
        if is_ask(&message.id) {
            self.asks.insert(message.id.clone());
        }
        self.queue.push(message);
    }

    fn decided(&mut self, id: &CallId, record: &DecisionRecord) {
        let Some(call) = self.open_call_mut(id).filter(|call| call.decision.is_none()) else { return };
        call.decision = Some(record.clone());
        if record.is_refusal_of_a_person() {
            let refused = (call.call.name.clone(), call.call.args.clone());
            self.refused.push(refused);
        }
    }

    fn go_on(&mut self, turn: u32) {
        let was_halted = matches!(self.last_end, Some(TurnEnd::Failed { halt: Some(_), .. }));
        let paused = self.paused.take();
        self.begin(turn);
        // Where nothing else made it go on, a person did.
        let by_person = self.steering.is_empty();
        self.limits_anew = was_halted || by_person;
        if by_person {
            self.refused.clear();
        }
        if let Some(step) = paused {
            self.take_up(step);
        }
        if self.limits_anew {
            self.take_up_beside();
        }
        if self.step.is_none() {
            self.take_steering();
        }
        self.ask_to_go_on();
    }

    fn begin(&mut self, turn: u32) {
        self.turns = self.turns.max(turn);
        self.turn = Some(OpenTurn { number: turn, steps: 0 });
        self.last_end = None;
        self.paused = None;
        self.limits_anew = false;
    }

    /// A conversation that ends with the model's own words (a stop keeps them) is refused by some providers and read by
    /// others as words to be completed, so a turn that goes on behind them asks for it.
    fn ask_to_go_on(&mut self) {
        let ends_with_reply = matches!(self.messages.last().map(|last| &**last), Some(Message::Ai(_)));
        if ends_with_reply && self.step.is_none() {
            let id = format!("go-on-{}", self.messages.len());
            self.messages.push(Arc::new(Message::human(id, GO_ON)));
        }
    }

    fn reply(&mut self, message: &AiMessage, kinds: &[ToolKind]) {
        if let Some(turn) = &mut self.turn {
            turn.steps += 1;
        }
        if let Some(spent) = message.spent() {
            self.usage = self.usage.plus(spent);
        }
        let calls = message.calls().map(|call| match call {
            ReplyCall::Valid { index, call } => {
                OpenCall { kind: kinds.get(index).copied().unwrap_or(ToolKind::Other), ..OpenCall::of(call.clone()) }
            }
            ReplyCall::Invalid(call) => OpenCall {
                invalid: Some(call.reason.clone()),
                ..OpenCall::of(ToolCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    args: Value::Object(Default::default()),
                })
            },
        });
        let calls: Vec<OpenCall> = calls.collect();
        self.paused = None;
        self.calls.extend(calls.iter().map(|call| call.call.id.clone()));
        self.step = (!calls.is_empty()).then(|| OpenStep { message: message.id.clone(), calls });
        self.messages.push(Arc::new(Message::Ai(message.clone())));
        // A change of the plan alone does not make a turn longer that is over with this.
        if self.step.is_none() && !self.steering.is_empty() {
            self.take_steering();
        }
    }

    /// What a person said and changed meanwhile is read next.
    fn take_steering(&mut self) {
        let note = self.plan_note.take().into_iter();
        let messages = note.chain(std::mem::take(&mut self.steering));
        let messages: Vec<HumanMessage> = messages.collect();
        if messages.iter().any(|message| !is_news(message)) {
            // Their words may ask for what they refused before.
            self.refused.clear();
        }
        self.messages.extend(messages.into_iter().map(|message| Arc::new(Message::Human(message))));
    }

    fn result(&mut self, id: &CallId, message: &Arc<Message>, outcome: ToolOutcome) {
        let Some(call) = self.open_call_mut(id).filter(|call| call.result.is_none()) else { return };
        call.result = Some(Arc::clone(message));
        (call.is_paused, call.goes_on) = (outcome == ToolOutcome::Paused, false);
        let Some(step) = &self.step else { return };
        if step.calls.iter().all(|call| call.result.is_some()) {
            let results = step.calls.iter().filter_map(|call| call.result.clone());
            self.messages.extend(results);
            self.paused = self.step.take().filter(|step| step.calls.iter().any(|call| call.is_paused));
            self.take_steering();
        }
    }

    fn merge(&mut self, update: &StateUpdate) {
        if let Some(todos) = &update.todos {
            self.todos = todos::matched(&self.todos, todos, &mut self.next_todo);
        }
        for (path, data) in &update.files {
            self.seed.touch(path, self.files.get(path));
            match data {
                Some(data) => self.files.insert(path.clone(), data.clone()),
                None => self.files.remove(path),
            };
        }
        for (path, stamp) in &update.reads {
            self.following.known(path);
            match stamp {
                Some(stamp) => self.reads.insert(path.clone(), stamp.clone()),
                None => self.reads.remove(path),
            };
        }
        for (name, value) in &update.fields {
            let reducer = update.reducers.get(name).copied().unwrap_or_default();
            reducer.reduce(self.fields.entry(name.clone()).or_insert_with(|| reducer.empty()), value);
        }
    }

    fn open_call_mut(&mut self, id: &CallId) -> Option<&mut OpenCall> {
        self.step.as_mut()?.calls.iter_mut().find(|call| call.call.id == *id)
    }
}

impl OpenCall {
    fn of(call: ToolCall) -> Self {
        Self {
            call,
            kind: ToolKind::Other,
            invalid: None,
            ask: None,
            asked_at: None,
            decision: None,
            started: false,
            intents: Vec::new(),
            child: None,
            result: None,
            is_paused: false,
            goes_on: false,
        }
    }
}
