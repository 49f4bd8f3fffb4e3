mod costs;

use std::collections::{BTreeSet, HashMap};

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq, State, ToolOutcome, effective, stays};
use bosun_model::{AiMessage, CallId as CoreCallId, Message, ToolCall, ToolStatus};
use bosun_protocol::{
    CallId, Checkpoint, CheckpointKind, Decision, ItemId, LedgerEntry, SessionId, StepCall, Timeline, ToolState,
};
use serde_json::Value;

pub(crate) use self::costs::Costs;
use crate::convert;
use crate::journals::Journals;
use crate::restoring::KEPT;

/// Longest label of a checkpoint, in characters.
const LABEL: usize = 120;
/// Calls of a step that are named.
const NAMED: usize = 4;
/// Arguments that say what a call was about.
const OBJECTS: [&str; 7] = ["file_path", "path", "pattern", "glob", "command", "description", "subagent_type"];

/// What a session and its subagents did; `costs` has the model calls that were made for them.
pub(crate) fn timeline(journals: &Journals, costs: &Costs) -> Timeline {
    let mut ledger = Vec::new();
    write_ledger(journals, costs, &mut ledger);
    ledger.sort_by_key(|entry| entry.proposed_at);
    Timeline {
        checkpoints: priced(&journals.entries, costs),
        ledger,
        can_undo_rewind: last_rewind(&journals.entries).is_some(),
    }
}

/// The last rewind, where nothing but what stays has happened since.
pub(crate) fn last_rewind(entries: &[Recorded]) -> Option<&Recorded> {
    for recorded in entries.iter().rev() {
        match &recorded.entry.body {
            EntryBody::Rewound { .. } => return Some(recorded),
            EntryBody::RewindUndone { .. } => return None,
            EntryBody::RestoreIntended { .. } | EntryBody::Restored { .. } => return None,
            body if stays(body) => {}
            EntryBody::Updated { by, .. } if by == KEPT => {}
            _ => return None,
        }
    }
    None
}

/// The places of a journal, without what they cost.
pub(crate) fn checkpoints(entries: &[Recorded]) -> Vec<Checkpoint> {
    priced(entries, &Costs::default())
}

fn priced(entries: &[Recorded], costs: &Costs) -> Vec<Checkpoint> {
    let mut writer = Writer {
        costs,
        state: State::default(),
        checkpoints: Vec::new(),
        files: BTreeSet::new(),
        step: Step::default(),
        last: 0,
    };
    for recorded in effective(entries) {
        writer.take(recorded);
    }
    writer.checkpoints
}

/// Follows a journal and notes where a turn begins, a step is done and a turn ends.
struct Writer<'a> {
    costs: &'a Costs,
    state: State,
    checkpoints: Vec<Checkpoint>,
    files: BTreeSet<String>,
    step: Step,
    last: Seq,
}

/// The step under way: what it is called, its row, its calls and its tokens.
#[derive(Default)]
struct Step {
    label: String,
    item: Option<ItemId>,
    calls: Vec<StepCall>,
    calls_count: u32,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
}

impl Step {
    fn of(message: &AiMessage, cost: Option<f64>) -> Self {
        let mut names: Vec<&str> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
        names.dedup();
        let usage = message.usage.unwrap_or_default();
        Self {
            label: if names.is_empty() { short(&message.text()) } else { names.join(", ") },
            item: Some(ItemId::new(message.id.as_str())),
            calls: message.tool_calls.iter().take(NAMED).map(named).collect(),
            calls_count: u32::try_from(message.tool_calls.len()).unwrap_or(u32::MAX),
            input_tokens: usage.input.unwrap_or(0),
            output_tokens: usage.output.unwrap_or(0),
            cost,
        }
    }
}

fn named(call: &ToolCall) -> StepCall {
    let said = |name: &str| Some((name.to_owned(), Value::from(short(call.args.get(name)?.as_str()?))));
    StepCall { tool: call.name.clone(), args: Value::Object(OBJECTS.into_iter().filter_map(said).collect()) }
}

impl Writer<'_> {
    fn take(&mut self, recorded: &Recorded) {
        let Recorded { seq, entry } = recorded;
        if let EntryBody::TurnStarted { turn, message } = &entry.body {
            self.step = Step {
                label: short(&convert::said(message)),
                item: Some(ItemId::new(message.id.as_str())),
                ..Step::default()
            };
            self.note(CheckpointKind::TurnStart, self.last, *turn, entry.at);
        }
        if let EntryBody::Ai { message, .. } = &entry.body {
            self.step = Step::of(message, self.costs.of(message, entry.at));
        }
        self.files.extend(changed(entry));
        let was_open = self.state.step.is_some();
        self.state.apply(entry);
        let turn = self.state.turns;
        match &entry.body {
            EntryBody::ToolResult { .. } if was_open && self.state.step.is_none() => {
                self.note(CheckpointKind::Step, *seq, turn, entry.at);
            }
            EntryBody::TurnEnded { .. } => self.note(CheckpointKind::TurnEnd, *seq, turn, entry.at),
            _ => {}
        }
        self.last = *seq;
    }

    fn note(&mut self, kind: CheckpointKind, seq: Seq, turn: u32, at: i64) {
        let Step { label, item, calls, calls_count, input_tokens, output_tokens, cost } =
            std::mem::take(&mut self.step);
        self.checkpoints.push(Checkpoint {
            seq: u32::try_from(seq).unwrap_or(u32::MAX),
            kind,
            turn,
            at,
            label,
            calls,
            calls_count,
            item,
            files: std::mem::take(&mut self.files).into_iter().collect(),
            input_tokens,
            output_tokens,
            cost,
        });
    }
}

fn changed(entry: &JournalEntry) -> Vec<String> {
    let changes = match &entry.body {
        EntryBody::ToolResult { artifact, .. } => &artifact.changes,
        EntryBody::Restored { changes } => changes,
        _ => return Vec::new(),
    };
    changes.iter().map(|change| change.path.to_string()).collect()
}

fn write_ledger(journals: &Journals, costs: &Costs, ledger: &mut Vec<LedgerEntry>) {
    let mut own = Ledger { journals, costs, entries: Vec::new(), places: HashMap::new() };
    journals.entries.iter().for_each(|recorded| own.take(&recorded.entry));
    ledger.append(&mut own.entries);
    journals.children.iter().for_each(|child| write_ledger(child, costs, ledger));
}

/// The calls of one session.
struct Ledger<'a> {
    journals: &'a Journals,
    costs: &'a Costs,
    entries: Vec<LedgerEntry>,
    places: HashMap<CoreCallId, usize>,
}

impl Ledger<'_> {
    fn take(&mut self, entry: &JournalEntry) {
        match &entry.body {
            EntryBody::Ai { message, .. } => {
                let cost = self.costs.of(message, entry.at);
                message.tool_calls.iter().for_each(|call| self.propose(call, entry.at, cost));
            }
            EntryBody::Asked { ask } => self.change(&ask.call.id, |call| {
                call.state = ToolState::Waiting;
                // What was decided before was about something else.
                call.decision = None;
                call.ran = None;
            }),
            EntryBody::Decided { call_id, record } => self.change(call_id, |call| {
                let record = convert::record(record, entry.at);
                if let Decision::Edit { args } = &record.decision {
                    call.ran = Some(args.clone());
                }
                call.state = ToolState::Proposed;
                call.decision = Some(record);
            }),
            EntryBody::ToolResult { call_id, message, outcome, allowed_by, .. } => self.change(call_id, |call| {
                call.state = state_of(*outcome, message);
                call.ended_at = Some(entry.at);
                call.files = changed(entry);
                if let Some(rule) = allowed_by {
                    call.decision = Some(convert::by_rule(rule, *outcome, entry.at));
                }
            }),
            _ => {}
        }
    }

    fn propose(&mut self, call: &ToolCall, at: i64, cost: Option<f64>) {
        self.places.insert(call.id.clone(), self.entries.len());
        self.entries.push(LedgerEntry {
            session: SessionId::new(self.journals.id.as_str()),
            call_id: CallId::new(call.id.as_str()),
            agent: self.journals.path.clone(),
            tool: call.name.clone(),
            proposed: call.args.clone(),
            ran: None,
            decision: None,
            state: ToolState::Proposed,
            files: Vec::new(),
            proposed_at: at,
            ended_at: None,
            cost,
        });
    }

    fn change(&mut self, call: &CoreCallId, change: impl FnOnce(&mut LedgerEntry)) {
        if let Some(entry) = self.places.get(call).and_then(|place| self.entries.get_mut(*place)) {
            change(entry);
        }
    }
}

/// How a call that has a result is shown.
pub(crate) fn state_of(outcome: ToolOutcome, message: &Message) -> ToolState {
    let failed = matches!(message, Message::Tool(message) if message.status == ToolStatus::Error);
    match outcome {
        ToolOutcome::Ran if failed => ToolState::Failed,
        ToolOutcome::Ran => ToolState::Done,
        ToolOutcome::Refused => ToolState::Failed,
        ToolOutcome::Rejected => ToolState::Rejected,
        ToolOutcome::Answered => ToolState::Answered,
        ToolOutcome::Cancelled => ToolState::Cancelled,
        ToolOutcome::Unknown => ToolState::Unknown,
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LABEL {
        return line;
    }
    line.chars().take(LABEL - 1).chain(['…']).collect()
}
