//! Made-up sessions: what an agent could record and tell, in an order that an agent could.

use std::sync::Arc;

use bosun_agent::{
    Ask, AskReason, ChangeIntent, Decision, DecisionKind, DecisionRecord, DecisionSource, EntryBody, JournalEntry,
    LiveEvent, Recorded, ToolOutcome, TurnEnd,
};
use bosun_backend::{ContentHash, VirtualPath};
use bosun_model::{
    AiMessage, CallId, ChatModel, HumanMessage, InvalidToolCall, Message, MessageId, ModelError, ModelErrorKind,
    ModelInfo, StopReason, ToolCall, ToolMessage, ToolStatus, Usage,
};
use bosun_testkit::ScriptedModel;
use bosun_tools::{Artifact, ChangeRecord, Preview, StateUpdate, Todo, TodoStatus, ToolKind};
use proptest::prelude::*;
use serde_json::json;

/// What reaches a stream.
#[derive(Clone, Debug)]
pub enum Told {
    Recorded(Vec<Recorded>),
    Live(LiveEvent, i64),
    Running(bool),
}

/// One thing that happens; what it is exactly depends on how far the story is.
#[derive(Clone, Debug)]
pub enum Beat {
    Begin(String),
    /// Finished turns, to fill windows.
    Burst(u8),
    Continue,
    Text(String),
    Reasoning(String),
    Propose,
    Draft,
    /// The reply is finished with so many calls, or nothing comes of it.
    Reply(String, u8),
    Fail(bool),
    Ask(usize),
    Decide(usize, u8),
    Start(usize),
    Output(usize, String),
    Result(usize, u8),
    End(u8),
    Queue(String),
    Unqueue,
    Title(String),
    Running(bool),
}

pub fn beat() -> impl Strategy<Value = Beat> {
    let words = || "[a-z漢🙂 \n]{0,12}";
    let call = || 0_usize..4;
    prop_oneof![
        3 => words().prop_map(Beat::Begin),
        1 => any::<u8>().prop_map(Beat::Burst),
        1 => Just(Beat::Continue),
        4 => words().prop_map(Beat::Text),
        2 => words().prop_map(Beat::Reasoning),
        2 => Just(Beat::Propose),
        2 => Just(Beat::Draft),
        5 => (words(), 0_u8..4).prop_map(|(text, calls)| Beat::Reply(text, calls)),
        2 => any::<bool>().prop_map(Beat::Fail),
        4 => call().prop_map(Beat::Ask),
        3 => (call(), 0_u8..4).prop_map(|(call, kind)| Beat::Decide(call, kind)),
        2 => call().prop_map(Beat::Start),
        3 => (call(), words()).prop_map(|(call, text)| Beat::Output(call, text)),
        6 => (call(), 0_u8..7).prop_map(|(call, outcome)| Beat::Result(call, outcome)),
        2 => (0_u8..5).prop_map(Beat::End),
        1 => words().prop_map(Beat::Queue),
        1 => Just(Beat::Unqueue),
        1 => words().prop_map(Beat::Title),
        2 => any::<bool>().prop_map(Beat::Running),
    ]
}

/// How far a made-up session is.
#[derive(Default)]
pub struct Story {
    seq: u64,
    at: i64,
    turn: u32,
    messages: u32,
    calls: u32,
    /// The reply being written: text, reasoning.
    draft: Option<(MessageId, String, String)>,
    /// Bytes of both texts that drafts hold.
    saved: (usize, usize),
    /// Calls of the step without a result.
    open: Vec<(CallId, Progress)>,
    queued: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    New,
    Asked,
    Decided,
}

impl Story {
    pub fn tell(&mut self, beat: &Beat) -> Vec<Told> {
        let writing = self.draft.is_some();
        let acting = !self.open.is_empty();
        match beat {
            Beat::Begin(text) if !writing && !acting => self.begin(text),
            Beat::Burst(turns) if !writing && !acting => {
                (0..*turns).flat_map(|n| [self.begin(&n.to_string()), self.end(0)].concat()).collect()
            }
            Beat::Continue if !writing && !acting => self.entry(EntryBody::TurnContinued { turn: self.turn }),
            Beat::Text(text) if !acting => self.write(text, ""),
            Beat::Reasoning(text) if !acting => self.write("", text),
            Beat::Propose if !acting => self.propose(),
            Beat::Draft if writing => self.draft(),
            Beat::Reply(text, calls) if !acting => self.reply(text, *calls),
            Beat::Fail(cut) if writing => self.fail(*cut),
            Beat::Ask(call) => self.ask(*call),
            Beat::Decide(call, kind) => self.decide(*call, *kind),
            Beat::Start(call) => self.start(*call),
            Beat::Output(call, text) => self.output(*call, text),
            Beat::Result(call, outcome) => self.result_as(*call, *outcome),
            Beat::End(how) if !writing => self.end(*how),
            Beat::Queue(text) => {
                self.queued += 1;
                let id = self.queued.to_string();
                self.entry(EntryBody::Queued { id, text: text.clone(), media: Vec::new() })
            }
            Beat::Unqueue => self.entry(EntryBody::Unqueued { id: self.queued.to_string() }),
            Beat::Title(title) => self.entry(EntryBody::Titled { title: title.clone() }),
            Beat::Running(running) => vec![Told::Running(*running)],
            _ => Vec::new(),
        }
    }

    pub fn begin(&mut self, text: &str) -> Vec<Told> {
        self.turn += 1;
        let message = HumanMessage { id: self.message(), content: vec![text.into()] };
        self.entry(EntryBody::TurnStarted { turn: self.turn, message })
    }

    pub fn reply(&mut self, text: &str, calls: u8) -> Vec<Told> {
        let (id, mut whole, reasoning) =
            self.draft.take().unwrap_or_else(|| (self.message(), String::new(), String::new()));
        whole.push_str(text);
        let mut content = Vec::new();
        if !reasoning.is_empty() {
            content.push(bosun_model::ContentBlock::Reasoning(bosun_model::Reasoning {
                text: reasoning,
                ..Default::default()
            }));
        }
        content.push(whole.as_str().into());
        let mut message = AiMessage {
            id,
            content,
            tool_calls: Vec::new(),
            invalid_tool_calls: Vec::new(),
            call_places: Vec::new(),
            dropped: None,
            usage: Some(Usage { input: Some(10), output: Some(5), ..Usage::default() }),
            stop: StopReason::EndTurn,
            model: None,
            asked: None,
        };
        for n in 0..calls {
            let id = self.call();
            self.open.push((id.clone(), Progress::New));
            let name = "edit_file".to_owned();
            if n == 3 {
                let (args, reason) = ("{".into(), "cut".into());
                message.invalid_tool_calls.push(InvalidToolCall { id, name, args, reason, place: usize::from(n) });
            } else {
                message.tool_calls.push(ToolCall { id, name, args: json!({"file_path": "/a"}) });
            }
        }
        let kinds = vec![ToolKind::Edit; message.tool_calls.len()];
        self.entry(EntryBody::Ai { message, kinds, cost: None })
    }

    pub fn result(&mut self, call: usize) -> Vec<Told> {
        let at = self.open.iter().position(|(id, _)| id.as_str() == format!("c{call}"));
        self.result_as(at.unwrap_or(usize::MAX), 0)
    }

    fn write(&mut self, text: &str, reasoning: &str) -> Vec<Told> {
        let mut told = Vec::new();
        let (message, all, thought) = match &mut self.draft {
            Some(draft) => draft,
            None => {
                self.messages += 1;
                self.saved = (0, 0);
                let message = MessageId::new(format!("m{}", self.messages));
                // The size of a window stands in no entry.
                let model = ModelInfo { context_window: None, ..ScriptedModel::new([""]).info().clone() };
                told.push(LiveEvent::ReplyStarted { message: message.clone(), model: std::sync::Arc::new(model) });
                self.draft.insert((message, String::new(), String::new()))
            }
        };
        all.push_str(text);
        thought.push_str(reasoning);
        if !text.is_empty() {
            told.push(LiveEvent::TextDelta { message: message.clone(), text: text.to_owned() });
        }
        if !reasoning.is_empty() {
            told.push(LiveEvent::ReasoningDelta { message: message.clone(), text: reasoning.to_owned() });
        }
        told.into_iter().map(|event| self.live(event)).collect()
    }

    fn propose(&mut self) -> Vec<Told> {
        let mut told = self.write("", "");
        if let Some((message, ..)) = &self.draft {
            let (message, call_id) = (message.clone(), CallId::new(format!("c{}", self.calls)));
            told.push(self.live(LiveEvent::CallProposed { message, call_id, name: "edit_file".into() }));
        }
        told
    }

    fn draft(&mut self) -> Vec<Told> {
        let Some((message, text, reasoning)) = self.draft.clone() else { return Vec::new() };
        let (text_from, reasoning_from) = std::mem::replace(&mut self.saved, (text.len(), reasoning.len()));
        let (text, reasoning) = (text[text_from..].to_owned(), reasoning[reasoning_from..].to_owned());
        self.entry(EntryBody::Draft { message, text, reasoning, text_from, reasoning_from })
    }

    fn fail(&mut self, cut: bool) -> Vec<Told> {
        // As the agent does it: told first, then everything that was shown is saved.
        let saved = self.draft();
        let Some((message, partial, _)) = self.draft.take() else { return Vec::new() };
        let kind = if cut { ModelErrorKind::StreamCut } else { ModelErrorKind::Unavailable };
        let error = ModelError::new(kind, "p", "it broke");
        let mut told = vec![self.live(LiveEvent::ReplyDropped { message: message.clone() })];
        told.extend(saved);
        told.extend(self.entry(EntryBody::ModelFailed { error, partial, message: Some(message), asked: None }));
        told.extend(self.end(4));
        told
    }

    fn ask(&mut self, call: usize) -> Vec<Told> {
        let Some((id, progress)) = self.open.get_mut(call).filter(|(_, progress)| *progress == Progress::New) else {
            return Vec::new();
        };
        *progress = Progress::Asked;
        let call = ToolCall { id: id.clone(), name: "edit_file".into(), args: json!({"file_path": "/a"}) };
        let ask = Ask {
            call,
            kind: ToolKind::Edit,
            schema: json!({}),
            preview: Preview::Fields,
            reason: AskReason::EditsAsk,
            allowed: DecisionKind::ALL.to_vec(),
            description: None,
            sandbox: None,
            place: None,
            leads: None,
            scripts: Vec::new(),
            more_scripts: false,
            again: None,
            is_edited: false,
            digest: "d".into(),
        };
        self.entry(EntryBody::Asked { ask: Box::new(ask) })
    }

    fn decide(&mut self, call: usize, kind: u8) -> Vec<Told> {
        let Some((id, progress)) = self.open.get_mut(call).filter(|(_, progress)| *progress == Progress::Asked) else {
            return Vec::new();
        };
        *progress = Progress::Decided;
        let decision = match kind {
            0 => Decision::Approve,
            1 => Decision::Edit { args: json!({"file_path": "/b"}) },
            2 => Decision::Respond { text: "as I say".into() },
            _ => Decision::Reject { reason: None },
        };
        let (call_id, record) = (id.clone(), DecisionRecord { decision, by: DecisionSource::Person, digest: None });
        self.entry(EntryBody::Decided { call_id, record })
    }

    fn start(&mut self, call: usize) -> Vec<Told> {
        let Some((call_id, Progress::New | Progress::Decided)) = self.open.get(call).cloned() else {
            return Vec::new();
        };
        let intent = ChangeIntent { path: path(call), before: None, after: None, mode: None };
        let mut told = self.entry(EntryBody::ChangeIntended { call_id: call_id.clone(), intent });
        let at = self.at;
        told.push(self.live(LiveEvent::CallRunning { call_id, at }));
        told
    }

    pub fn output(&mut self, call: usize, text: &str) -> Vec<Told> {
        let Some((call_id, _)) = self.open.get(call).cloned() else { return Vec::new() };
        vec![self.live(LiveEvent::Output { call_id, text: text.to_owned() })]
    }

    fn result_as(&mut self, call: usize, outcome: u8) -> Vec<Told> {
        if self.open.get(call).is_none_or(|(_, progress)| *progress == Progress::Asked) {
            return Vec::new();
        }
        let (call_id, _) = self.open.remove(call);
        let (outcome, status) = match outcome {
            0 => (ToolOutcome::Ran, ToolStatus::Success),
            1 => (ToolOutcome::Ran, ToolStatus::Error),
            2 => (ToolOutcome::Refused, ToolStatus::Error),
            3 => (ToolOutcome::Rejected, ToolStatus::Error),
            4 => (ToolOutcome::Answered, ToolStatus::Success),
            5 => (ToolOutcome::Cancelled, ToolStatus::Error),
            _ => (ToolOutcome::Unknown, ToolStatus::Error),
        };
        let artifact = match outcome {
            ToolOutcome::Ran => Artifact { changes: vec![self.change(call)], ..Artifact::default() },
            _ => Artifact::default(),
        };
        self.finish(call_id, outcome, status, artifact)
    }

    fn finish(&mut self, call_id: CallId, outcome: ToolOutcome, status: ToolStatus, artifact: Artifact) -> Vec<Told> {
        let content = vec!["what came of it".into()];
        let message = Arc::new(Message::Tool(ToolMessage {
            call_id: call_id.clone(),
            name: "edit_file".into(),
            status,
            content,
        }));
        let todo = Todo { content: format!("todo {}", self.seq % 3), status: TodoStatus::InProgress };
        let update = StateUpdate { todos: Some(vec![todo]), ..StateUpdate::default() };
        let (started_at, allowed_by) = (Some(self.at), (self.seq.is_multiple_of(2)).then(|| "a rule".to_owned()));
        self.entry(EntryBody::ToolResult { call_id, message, outcome, update, artifact, started_at, allowed_by })
    }

    fn change(&self, call: usize) -> ChangeRecord {
        let bytes = |seq: u64| ContentHash::of(format!("{}", seq % 4).as_bytes());
        let there = |seq: u64| (!seq.is_multiple_of(4)).then(|| bytes(seq));
        ChangeRecord {
            path: path(call),
            before: there(self.seq),
            after: there(self.seq + 1),
            mode: None,
            mode_after: None,
        }
    }

    fn end(&mut self, how: u8) -> Vec<Told> {
        let mut told = Vec::new();
        for (call_id, _) in std::mem::take(&mut self.open) {
            told.extend(self.finish(call_id, ToolOutcome::Cancelled, ToolStatus::Error, Artifact::default()));
        }
        let end = match how {
            0 => TurnEnd::Done,
            1 => TurnEnd::Empty,
            2 => TurnEnd::Stopped,
            3 => TurnEnd::StepLimit { limit: 9 },
            _ => TurnEnd::failed("it broke"),
        };
        told.extend(self.entry(EntryBody::TurnEnded { turn: self.turn, end }));
        told
    }

    fn entry(&mut self, body: EntryBody) -> Vec<Told> {
        self.seq += 1;
        self.at += 10;
        vec![Told::Recorded(vec![Recorded { seq: self.seq, entry: JournalEntry { at: self.at, body } }])]
    }

    fn live(&mut self, event: LiveEvent) -> Told {
        self.at += 1;
        Told::Live(event, self.at)
    }

    fn message(&mut self) -> MessageId {
        self.messages += 1;
        MessageId::new(format!("m{}", self.messages))
    }

    /// Counted from 0 in every session, so that sessions share ids.
    fn call(&mut self) -> CallId {
        self.calls += 1;
        CallId::new(format!("c{}", self.calls - 1))
    }
}

fn path(call: usize) -> VirtualPath {
    VirtualPath::parse(&format!("/{call}.txt")).unwrap()
}
