use std::collections::BTreeSet;
use std::ops::Range;

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq, State};
use bosun_model::{AiMessage, CallId, ToolCall};
use bosun_protocol::{Checkpoint, CheckpointKind, ItemId, RowId, StepCall, ToolState};
use serde_json::Value;

use super::before::{Before, Messages};
use super::costs::{Costs, Paid};
use super::{changed, state_of};
use crate::convert;

/// Longest label of a checkpoint, in characters.
const LABEL: usize = 120;
/// Calls of a step that are named.
const NAMED: usize = 4;
/// Arguments that say what a call was about.
const OBJECTS: [&str; 7] = ["file_path", "path", "pattern", "glob", "command", "description", "subagent_type"];

/// Follows a journal and notes where a turn begins, a step is done and a turn ends.
#[derive(Default)]
pub(super) struct Places {
    state: State,
    checkpoints: Vec<Checkpoint>,
    messages: Messages,
    /// For each checkpoint the reply that was paid for it.
    paid: Vec<Option<Paid>>,
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
    /// Which calls those are.
    ids: Vec<CallId>,
    calls_count: u32,
    input_tokens: u64,
    output_tokens: u64,
    paid: Option<Paid>,
}

impl Step {
    fn of(message: &AiMessage, cost: Option<f64>, at: i64) -> Self {
        let mut names: Vec<&str> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
        names.dedup();
        let usage = message.spent().unwrap_or_default();
        Self {
            label: if names.is_empty() { short(&message.text()) } else { names.join(", ") },
            item: Some(ItemId::new(message.id.as_str())),
            calls: message.tool_calls.iter().take(NAMED).map(named).collect(),
            ids: message.tool_calls.iter().take(NAMED).map(|call| call.id.clone()).collect(),
            calls_count: u32::try_from(message.tool_calls.len()).unwrap_or(u32::MAX),
            input_tokens: usage.input.unwrap_or(0),
            output_tokens: usage.output.unwrap_or(0),
            paid: Paid::of(message, cost, at),
        }
    }

    /// Notes what came of a call that is named.
    fn follow(&mut self, entry: &JournalEntry) {
        match &entry.body {
            EntryBody::CallStarted { call_id } | EntryBody::SubagentStarted { call_id, .. } => {
                self.change(call_id, |call| call.started_at = Some(entry.at));
            }
            EntryBody::ToolResult { call_id, message, outcome, started_at, .. } => self.change(call_id, |call| {
                call.state = state_of(*outcome, message);
                call.started_at = started_at.or(call.started_at);
            }),
            _ => {}
        }
    }

    fn change(&mut self, call: &CallId, change: impl FnOnce(&mut StepCall)) {
        let at = self.ids.iter().position(|id| id == call);
        if let Some(call) = at.and_then(|at| self.calls.get_mut(at)) {
            change(call);
        }
    }
}

fn named(call: &ToolCall) -> StepCall {
    let said = |name: &str| Some((name.to_owned(), Value::from(short(call.args.get(name)?.as_str()?))));
    StepCall {
        tool: call.name.clone(),
        args: Value::Object(OBJECTS.into_iter().filter_map(said).collect()),
        state: ToolState::Proposed,
        started_at: None,
    }
}

impl Places {
    pub(super) fn read<'a>(entries: impl IntoIterator<Item = &'a Recorded>) -> Self {
        let mut places = Self::default();
        entries.into_iter().for_each(|recorded| places.take(recorded));
        places
    }

    pub(super) fn take(&mut self, recorded: &Recorded) {
        let Recorded { seq, entry } = recorded;
        if let EntryBody::TurnStarted { turn, message } = &entry.body {
            self.step = Step {
                label: short(&convert::said(message)),
                item: Some(ItemId::new(message.id.as_str())),
                ..Step::default()
            };
            self.note(CheckpointKind::TurnStart, self.last, *turn, entry.at);
        }
        if let EntryBody::Ai { message, cost, .. } = &entry.body {
            self.step = Step::of(message, *cost, entry.at);
        }
        self.step.follow(entry);
        self.files.extend(changed(entry));
        let was_open = self.state.step.is_some();
        self.state.apply(entry);
        self.messages.take(recorded, self.last, &self.state);
        let turn = self.state.turns;
        match &entry.body {
            EntryBody::ToolResult { .. } if was_open && self.state.step.is_none() => {
                self.note(CheckpointKind::Step, *seq, turn, entry.at);
            }
            EntryBody::TurnEnded { .. } => self.note(CheckpointKind::TurnEnd, *seq, turn, entry.at),
            _ => {}
        }
        // What was said tells nothing of where later steps end, and it is long.
        self.state.forget_messages();
        self.last = *seq;
    }

    fn note(&mut self, kind: CheckpointKind, seq: Seq, turn: u32, at: i64) {
        let Step { label, item, calls, calls_count, input_tokens, output_tokens, paid, .. } =
            std::mem::take(&mut self.step);
        self.paid.push(paid);
        // Where a turn ends and the next begins are two rows of one place.
        let row = RowId::new(if kind == CheckpointKind::TurnStart { format!("{seq}+") } else { seq.to_string() });
        self.checkpoints.push(Checkpoint {
            row,
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
            cost: None,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.checkpoints.len()
    }

    /// How many stand before the row `id`.
    pub(super) fn before(&self, id: &RowId) -> Option<usize> {
        self.checkpoints.iter().position(|place| place.row == *id)
    }

    /// The places of `span`, with what they cost.
    pub(super) fn page(&self, span: Range<usize>, costs: &Costs) -> Vec<Checkpoint> {
        let paid = self.paid.iter().skip(span.start);
        let places = self.checkpoints.get(span).unwrap_or_default().iter().zip(paid);
        let priced = |(place, paid): (&Checkpoint, &Option<Paid>)| Checkpoint {
            cost: paid.and_then(|paid| costs.of(paid)),
            ..place.clone()
        };
        places.map(priced).collect()
    }

    /// The checkpoint `seq`; where a turn ends and the next begins, the beginning. One that is no row, before what was
    /// said to a turn under way, is the one before it at its own place.
    pub(super) fn at(&self, seq: u32) -> Option<Checkpoint> {
        let found = self.checkpoints.iter().rfind(|checkpoint| checkpoint.seq == seq).cloned();
        found.or_else(|| {
            let earlier = self.checkpoints.iter().rfind(|checkpoint| checkpoint.seq < seq)?;
            self.messages.has(seq).then(|| Checkpoint { seq, ..earlier.clone() })
        })
    }

    pub(super) fn before_message(&self, item: &ItemId) -> Option<Before> {
        self.messages.before(item)
    }

    pub(super) fn last_turn(&self) -> Option<u32> {
        let starts = |place: &&Checkpoint| place.kind == CheckpointKind::TurnStart;
        self.checkpoints.iter().rfind(starts).map(|place| place.seq)
    }
}

pub(crate) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LABEL {
        return line;
    }
    line.chars().take(LABEL - 1).chain(['…']).collect()
}
