use std::collections::HashMap;
use std::ops::Range;

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq, SessionId};
use bosun_model::{CallId as CoreCallId, ToolCall};
use bosun_protocol::{CallId, Decision, LedgerEntry, RowId, SessionId as WireId, ToolState};
use bosun_store::{Database, DatabaseError};
use serde_json::Value;

use super::changed;
use super::costs::{Costs, Paid};
use super::state_of;
use crate::convert;

/// The calls of a session and its subagents. Their arguments may be long: they stay in the journals.
#[derive(Default)]
pub(super) struct Ledger {
    calls: Vec<Call>,
    places: HashMap<(SessionId, CoreCallId), usize>,
    /// The calls in the order they were proposed.
    order: Vec<usize>,
}

struct Call {
    /// Without its arguments and its cost.
    entry: LedgerEntry,
    paid: Option<Paid>,
    journal: SessionId,
    /// The entries that have what was proposed, as which of its calls, and what a person made of it.
    proposed: Seq,
    nth: usize,
    edited: Option<Seq>,
}

impl Ledger {
    /// Takes what the agent at `path` recorded.
    pub(super) fn take(&mut self, journal: &SessionId, path: &[String], Recorded { seq, entry }: &Recorded) {
        match &entry.body {
            EntryBody::Ai { message, cost, .. } => {
                let paid = Paid::of(message, *cost, entry.at);
                for (nth, call) in message.tool_calls.iter().enumerate() {
                    let place = (journal.clone(), call.id.clone());
                    self.places.insert(place, self.calls.len());
                    let row = RowId::new(format!("{journal}/{seq}/{nth}"));
                    let entry = proposed(row, journal, path, call, entry.at);
                    self.calls.push(Call { entry, paid, journal: journal.clone(), proposed: *seq, nth, edited: None });
                }
            }
            EntryBody::Asked { ask } => self.change(journal, &ask.call.id, |call| {
                call.entry.state = ToolState::Waiting;
                // What was decided before was about something else.
                call.entry.decision = None;
                call.edited = None;
            }),
            EntryBody::Decided { call_id, record } => self.change(journal, call_id, |call| {
                let record = convert::record(record, entry.at);
                if matches!(record.decision, Decision::Edit { .. }) {
                    call.edited = Some(*seq);
                }
                call.entry.state = ToolState::Proposed;
                call.entry.decision = Some(record);
            }),
            EntryBody::CallStarted { call_id } | EntryBody::SubagentStarted { call_id, .. } => {
                self.change(journal, call_id, |call| {
                    call.entry.state = ToolState::Running;
                    call.entry.started_at = Some(entry.at);
                });
            }
            EntryBody::ToolResult { .. } => self.settle(journal, entry),
            _ => {}
        }
    }

    fn settle(&mut self, journal: &SessionId, entry: &JournalEntry) {
        let EntryBody::ToolResult { call_id, message, outcome, started_at, allowed_by, .. } = &entry.body else {
            return;
        };
        self.change(journal, call_id, |call| {
            call.entry.state = state_of(*outcome, message);
            call.entry.started_at = started_at.or(call.entry.started_at);
            call.entry.ended_at = Some(entry.at);
            call.entry.files = changed(entry);
            if let Some(rule) = allowed_by {
                call.entry.decision = Some(convert::by_rule(rule, *outcome, entry.at));
            }
        });
    }

    fn change(&mut self, journal: &SessionId, call: &CoreCallId, change: impl FnOnce(&mut Call)) {
        let place = self.places.get(&(journal.clone(), call.clone()));
        if let Some(call) = place.and_then(|place| self.calls.get_mut(*place)) {
            change(call);
        }
    }

    /// Puts the calls that were taken since in their order, which is the same in whatever order journals were read.
    pub(super) fn sort(&mut self) {
        self.order.extend(self.order.len()..self.calls.len());
        let calls = &self.calls;
        self.order.sort_by_key(|place| calls.get(*place).map(Call::order));
    }

    /// How many stand before the row `id`.
    pub(super) fn before(&self, id: &RowId) -> Option<usize> {
        self.order.iter().position(|place| self.calls.get(*place).is_some_and(|call| call.entry.row == *id))
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The calls of `span`, with their arguments and what they cost.
    pub(super) async fn page(
        &self,
        span: Range<usize>,
        costs: &Costs,
        database: &Database,
    ) -> Result<Vec<LedgerEntry>, DatabaseError> {
        let places = self.order.get(span).unwrap_or_default();
        let calls: Vec<&Call> = places.iter().filter_map(|place| self.calls.get(*place)).collect();
        let arguments = Arguments::read(&calls, database).await?;
        let told = calls.into_iter().map(|call| LedgerEntry {
            proposed: arguments.proposed(call),
            ran: arguments.ran(call),
            cost: call.paid.and_then(|paid| costs.of(paid)),
            ..call.entry.clone()
        });
        Ok(told.collect())
    }
}

impl Call {
    /// By time; of one moment an agent's own stand before those of its subagents.
    fn order(&self) -> (i64, usize, &str, Seq, usize) {
        (self.entry.proposed_at, self.entry.agent.len(), self.journal.as_str(), self.proposed, self.nth)
    }
}

fn proposed(row: RowId, journal: &SessionId, path: &[String], call: &ToolCall, at: i64) -> LedgerEntry {
    LedgerEntry {
        row,
        session: WireId::new(journal.as_str()),
        call_id: CallId::new(call.id.as_str()),
        agent: path.to_vec(),
        tool: call.name.clone(),
        proposed: Value::Null,
        ran: None,
        decision: None,
        state: ToolState::Proposed,
        files: Vec::new(),
        proposed_at: at,
        started_at: None,
        ended_at: None,
        cost: None,
    }
}

/// The entries that have the arguments of some calls.
struct Arguments(HashMap<(SessionId, Seq), EntryBody>);

impl Arguments {
    async fn read(calls: &[&Call], database: &Database) -> Result<Self, DatabaseError> {
        let mut wanted: HashMap<&SessionId, Vec<Seq>> = HashMap::new();
        for call in calls {
            wanted.entry(&call.journal).or_default().extend([Some(call.proposed), call.edited].into_iter().flatten());
        }
        let mut found = HashMap::new();
        for (journal, mut places) in wanted {
            places.sort_unstable();
            places.dedup();
            let entries = database.entries_at(journal, places).await?;
            found.extend(entries.into_iter().map(|recorded| ((journal.clone(), recorded.seq), recorded.entry.body)));
        }
        Ok(Self(found))
    }

    fn at(&self, call: &Call, seq: Seq) -> Option<&EntryBody> {
        self.0.get(&(call.journal.clone(), seq))
    }

    fn proposed(&self, call: &Call) -> Value {
        let Some(EntryBody::Ai { message, .. }) = self.at(call, call.proposed) else { return Value::Null };
        let said = message.tool_calls.iter().find(|said| said.id.as_str() == call.entry.call_id.as_str());
        said.map(|said| said.args.clone()).unwrap_or_default()
    }

    fn ran(&self, call: &Call) -> Option<Value> {
        let EntryBody::Decided { record, .. } = self.at(call, call.edited?)? else { return None };
        match convert::record(record, 0).decision {
            Decision::Edit { args } => Some(args),
            _ => None,
        }
    }
}
