//! What was done for each line of a plan.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bosun_agent::{EntryBody, PlannedTodo, Recorded, SessionId, State, SubagentMode, ToolOutcome, ask_id};
use bosun_backend::VirtualPath;
use bosun_model::{AiMessage, CallId, Message, MessageId, ToolStatus, Usage};
use bosun_tools::{ASK_MORE_TOOL, Artifact, MOST_TODOS, Todo, TodoStatus, Tool as _, ToolKind, WriteTodos};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The work that belongs to one todo. A call belongs to the todo in progress when it was proposed, to each of them
/// where there are several; what a subagent did belongs to the todo that it was sent for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TodoEvidence {
    /// In the order they ended.
    pub calls: Vec<EvidenceCall>,
    /// Files that were changed.
    pub files: BTreeSet<VirtualPath>,
    /// Lines added and removed by calls that changed one file each.
    pub added: u64,
    pub removed: u64,
    /// Names of the subagents that worked on it.
    pub agents: BTreeSet<String>,
    /// Milliseconds that calls ran, side by side counted twice. The calls of a subagent that is waited for are within
    /// the call that sent it.
    pub ran_ms: u64,
    /// Tokens of the replies, shared out evenly where several todos were in progress.
    pub usage: Usage,
    /// US dollars of the replies whose price is known, shared out like the tokens; `None` where none is.
    pub cost: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceCall {
    /// The session that made it: a subagent's where it is one's.
    pub session: SessionId,
    pub call_id: CallId,
    pub tool: String,
    pub succeeded: bool,
}

/// The evidence of every todo of a session, from its own entries and those of its subagents.
///
/// Each journal is read in its order; a subagent's begins after the entry that sent it out.
#[derive(Clone, Debug, Default)]
pub struct EvidenceBook {
    found: BTreeMap<String, TodoEvidence>,
    /// The todos that an open call belongs to.
    owners: HashMap<CallId, Vec<String>>,
    sent: HashMap<SessionId, Sent>,
    /// The todos for which a subagent is asked more, by the id of the message that asks.
    asked: HashMap<MessageId, Vec<String>>,
    /// Calls that are paused.
    paused: HashSet<(SessionId, CallId)>,
    changed: BTreeSet<String>,
}

/// Whom a subagent works for.
#[derive(Clone, Debug)]
struct Sent {
    name: String,
    owners: Vec<String>,
    mode: SubagentMode,
}

impl EvidenceBook {
    /// The evidence of a todo, by its id.
    pub fn of(&self, todo: &str) -> Option<&TodoEvidence> {
        self.found.get(todo)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &TodoEvidence)> {
        self.found.iter().map(|(todo, evidence)| (todo.as_str(), evidence))
    }

    /// Ids of the todos whose evidence has grown since the last call.
    pub fn take_changed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed)
    }

    /// The todos that the calls of a reply belong to: those in progress, in the plan that the reply itself sets where
    /// it sets one.
    pub fn owners_of(before: &State, message: &AiMessage) -> Vec<PlannedTodo> {
        let planned = plan_set_by(message).map(|todos| before.planned(&todos));
        let todos = planned.as_deref().unwrap_or(&before.todos);
        in_progress(todos).cloned().collect()
    }

    /// Takes an entry of the session's own journal; `before` is the state before it.
    pub fn read(&mut self, session: &SessionId, before: &State, recorded: &Recorded) {
        match &recorded.entry.body {
            EntryBody::Ai { message, kinds, cost } => {
                let owners = Self::owners_of(before, message).into_iter().map(|todo| todo.id).collect::<Vec<_>>();
                self.cost(&owners, message.spent(), *cost);
                for (call, kind) in message.tool_calls.iter().zip(kinds) {
                    if *kind != ToolKind::Plan {
                        self.owners.insert(call.id.clone(), owners.clone());
                    }
                }
            }
            EntryBody::SideCall { usage, cost, .. } => {
                let owners: Vec<String> = in_progress(&before.todos).map(|todo| todo.id.clone()).collect();
                self.cost(&owners, Some(*usage), *cost);
            }
            EntryBody::SubagentAsked { child } => self.asked(before, child),
            EntryBody::SubagentStarted { call_id, child, name, mode, .. } => {
                let owners = self.owners.get(call_id).cloned().unwrap_or_default();
                self.sent(owners, child, name, *mode);
            }
            EntryBody::ToolResult { call_id, message, artifact, started_at, outcome, .. } => {
                // One that is paused may have another result.
                let owners = match outcome {
                    ToolOutcome::Paused => self.owners.get(call_id).cloned(),
                    _ => self.owners.remove(call_id),
                };
                let owners = owners.unwrap_or_default();
                self.anew(&owners, (session, call_id), *outcome);
                self.result(&owners, session, (call_id, message, artifact));
                self.ran(&owners, *started_at, recorded.entry.at);
            }
            _ => {}
        }
    }

    /// Takes an entry of a subagent's journal, at any depth. Of one that was sent for no todo nothing is kept.
    pub fn read_subagent(&mut self, session: &SessionId, recorded: &Recorded) {
        if let EntryBody::TurnStarted { message, .. } = &recorded.entry.body {
            self.turn(session, &message.id);
        }
        let Some(Sent { owners, mode, .. }) = self.sent.get(session).filter(|sent| !sent.owners.is_empty()).cloned()
        else {
            return;
        };
        match &recorded.entry.body {
            EntryBody::Ai { message, cost, .. } => self.cost(&owners, message.spent(), *cost),
            EntryBody::SideCall { usage, cost, .. } => self.cost(&owners, Some(*usage), *cost),
            EntryBody::SubagentStarted { child, name, mode, .. } => self.sent(owners, child, name, *mode),
            EntryBody::ToolResult { call_id, message, artifact, started_at, outcome, .. } => {
                self.anew(&owners, (session, call_id), *outcome);
                self.result(&owners, session, (call_id, message, artifact));
                // The call that sent one beside its parent had its result at once.
                if mode == SubagentMode::Background {
                    self.ran(&owners, *started_at, recorded.entry.at);
                }
            }
            _ => {}
        }
    }

    fn sent(&mut self, owners: Vec<String>, child: &SessionId, name: &str, mode: SubagentMode) {
        for owner in &owners {
            self.change(owner).agents.insert(name.to_owned());
        }
        self.sent.insert(child.clone(), Sent { name: name.to_owned(), owners, mode });
    }

    /// The calls under way that ask `child` more: what it does for one belongs to the todos that the call belongs to.
    fn asked(&mut self, before: &State, child: &SessionId) {
        let calls = before.step.iter().flat_map(|step| &step.calls);
        let asks = calls.filter(|open| {
            let asked = open.args().get("task_id").and_then(Value::as_str);
            open.call.name == ASK_MORE_TOOL && asked == Some(child.as_str())
        });
        for open in asks {
            let owners = self.owners.get(&open.call.id).cloned().unwrap_or_default();
            self.asked.insert(ask_id(&open.call.id), owners);
        }
    }

    /// A subagent begins with `message`, beside its parent where that is one that asks it more.
    fn turn(&mut self, session: &SessionId, message: &MessageId) {
        let Some(owners) = self.asked.get(message).cloned() else { return };
        let Some(name) = self.sent.get(session).map(|sent| sent.name.clone()) else { return };
        self.sent(owners, session, &name, SubagentMode::Background);
    }

    /// A call that was paused before ends once more, and counts once.
    fn anew(&mut self, owners: &[String], (session, call_id): (&SessionId, &CallId), outcome: ToolOutcome) {
        let call = (session.clone(), call_id.clone());
        let was_paused = self.paused.remove(&call);
        if outcome == ToolOutcome::Paused {
            self.paused.insert(call);
        }
        for owner in owners.iter().filter(|_| was_paused) {
            let is_other = |known: &EvidenceCall| (&known.session, &known.call_id) != (session, call_id);
            self.change(owner).calls.retain(is_other);
        }
    }

    fn result(
        &mut self,
        owners: &[String],
        session: &SessionId,
        (call_id, message, artifact): (&CallId, &Message, &Artifact),
    ) {
        let Message::Tool(result) = message else { return };
        for owner in owners {
            let evidence = self.change(owner);
            evidence.calls.push(EvidenceCall {
                session: session.clone(),
                call_id: call_id.clone(),
                tool: result.name.clone(),
                succeeded: result.status == ToolStatus::Success,
            });
            evidence.files.extend(artifact.changes.iter().map(|change| change.path.clone()));
            if let Some(diff) = artifact.diff.as_ref().filter(|_| artifact.changes.len() == 1) {
                evidence.added += u64::from(diff.added);
                evidence.removed += u64::from(diff.removed);
            }
        }
    }

    fn ran(&mut self, owners: &[String], started_at: Option<i64>, at: i64) {
        let ran = started_at.map_or(0, |started| at.saturating_sub(started));
        for owner in owners {
            self.change(owner).ran_ms += u64::try_from(ran).unwrap_or(0);
        }
    }

    fn cost(&mut self, owners: &[String], usage: Option<Usage>, cost: Option<f64>) {
        let (Some(usage), Ok(count @ 1..)) = (usage, u32::try_from(owners.len())) else { return };
        let share = |tokens: Option<u64>| tokens.map(|tokens| tokens / u64::from(count));
        let share = Usage {
            input: share(usage.input),
            output: share(usage.output),
            cache_read: share(usage.cache_read),
            cache_write: share(usage.cache_write),
            cache_write_hour: share(usage.cache_write_hour),
            reasoning: share(usage.reasoning),
            audio: share(usage.audio),
            audio_read: share(usage.audio_read),
            // It stands in the cost.
            charged: None,
        };
        for owner in owners {
            let evidence = self.change(owner);
            evidence.usage = evidence.usage.plus(share);
            if let Some(cost) = cost {
                evidence.cost = Some(evidence.cost.unwrap_or(0.0) + cost / f64::from(count));
            }
        }
    }

    fn change(&mut self, todo: &str) -> &mut TodoEvidence {
        self.changed.insert(todo.to_owned());
        self.found.entry(todo.to_owned()).or_default()
    }
}

fn in_progress(todos: &[PlannedTodo]) -> impl Iterator<Item = &PlannedTodo> {
    todos.iter().filter(|todo| todo.status == TodoStatus::InProgress)
}

/// The plan that a reply sets. `None` where it sets none, or two, which are both refused.
fn plan_set_by(message: &AiMessage) -> Option<Vec<Todo>> {
    let mut plans = message.tool_calls.iter().filter(|call| call.name == WriteTodos::NAME);
    let (Some(plan), None) = (plans.next(), plans.next()) else { return None };
    let todos = plan.args.get("todos")?;
    // One that is longer than a plan may be is refused.
    let is_plan = todos.as_array().is_none_or(|todos| todos.len() <= MOST_TODOS);
    is_plan.then(|| Vec::<Todo>::deserialize(todos).ok())?
}
