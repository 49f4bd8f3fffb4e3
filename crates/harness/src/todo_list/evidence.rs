//! What was done for each line of a plan.

use std::collections::BTreeMap;

use bosun_agent::{EntryBody, Recorded, SessionId, State};
use bosun_backend::VirtualPath;
use bosun_model::{CallId, Message, ToolStatus, Usage};
use bosun_tools::{TodoStatus, ToolKind};
use serde::{Deserialize, Serialize};

/// The work that belongs to one todo. A call belongs to the todo in progress when it was proposed, to each of them
/// where there are several; what a subagent did belongs to the todo that it was sent for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoEvidence {
    /// In the order they ended; a subagent's before the call that sent it.
    pub calls: Vec<EvidenceCall>,
    /// Files that were changed, each once.
    pub files: Vec<VirtualPath>,
    /// Milliseconds that calls ran, side by side counted twice. A subagent's own are within the call that sent it.
    pub ran_ms: u64,
    /// Tokens of the replies, shared out evenly where several todos were in progress.
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceCall {
    /// The session that made it: a subagent's where it is one's.
    pub session: SessionId,
    pub call_id: CallId,
    pub tool: String,
    pub succeeded: bool,
}

/// The evidence of every todo of a session, by the todo's id. `child` gives a subagent's entries.
pub fn todo_evidence(
    session: &SessionId,
    entries: &[Recorded],
    child: &dyn Fn(&SessionId) -> Vec<Recorded>,
) -> BTreeMap<String, TodoEvidence> {
    let mut book = Book { found: BTreeMap::new(), owners: BTreeMap::new(), child };
    let mut state = State::default();
    for recorded in entries {
        book.read(session, &state, recorded);
        state.apply(&recorded.entry);
    }
    book.found
}

struct Book<'a> {
    found: BTreeMap<String, TodoEvidence>,
    /// The todos that a call belongs to.
    owners: BTreeMap<CallId, Vec<String>>,
    child: &'a dyn Fn(&SessionId) -> Vec<Recorded>,
}

/// Deeper than subagents can be nested.
const DEEPEST: usize = 32;

impl Book<'_> {
    fn read(&mut self, session: &SessionId, before: &State, recorded: &Recorded) {
        match &recorded.entry.body {
            EntryBody::Ai { message, kinds } => {
                let in_progress = before.todos.iter().filter(|todo| todo.status == TodoStatus::InProgress);
                let owners: Vec<String> = in_progress.map(|todo| todo.id.clone()).collect();
                self.cost(&owners, message.usage);
                for (call, kind) in message.tool_calls.iter().zip(kinds) {
                    if *kind != ToolKind::Plan {
                        self.owners.insert(call.id.clone(), owners.clone());
                    }
                }
            }
            EntryBody::SubagentStarted { call_id, child, .. } => {
                let owners = self.owners.get(call_id).cloned().unwrap_or_default();
                self.delegated(&owners, child, DEEPEST);
            }
            EntryBody::ToolResult { call_id, started_at, .. } => {
                let owners = self.owners.remove(call_id).unwrap_or_default();
                let ran = started_at.map_or(0, |started| recorded.entry.at.saturating_sub(started));
                self.result(&owners, session, recorded);
                for owner in &owners {
                    self.of(owner).ran_ms += u64::try_from(ran).unwrap_or(0);
                }
            }
            _ => {}
        }
    }

    /// Everything a subagent did, its own subagents included.
    fn delegated(&mut self, owners: &[String], session: &SessionId, depth: usize) {
        if owners.is_empty() || depth == 0 {
            return;
        }
        for recorded in (self.child)(session) {
            match &recorded.entry.body {
                EntryBody::Ai { message, .. } => self.cost(owners, message.usage),
                EntryBody::SubagentStarted { child, .. } => self.delegated(owners, child, depth - 1),
                EntryBody::ToolResult { .. } => self.result(owners, session, &recorded),
                _ => {}
            }
        }
    }

    fn result(&mut self, owners: &[String], session: &SessionId, recorded: &Recorded) {
        let EntryBody::ToolResult { call_id, message, artifact, .. } = &recorded.entry.body else { return };
        let Message::Tool(result) = &**message else { return };
        for owner in owners {
            let evidence = self.of(owner);
            evidence.calls.push(EvidenceCall {
                session: session.clone(),
                call_id: call_id.clone(),
                tool: result.name.clone(),
                succeeded: result.status == ToolStatus::Success,
            });
            for change in &artifact.changes {
                if !evidence.files.contains(&change.path) {
                    evidence.files.push(change.path.clone());
                }
            }
        }
    }

    fn cost(&mut self, owners: &[String], usage: Option<Usage>) {
        let (Some(usage), Ok(count @ 1..)) = (usage, u64::try_from(owners.len())) else { return };
        let share = |tokens: Option<u64>| tokens.map(|tokens| tokens / count);
        let share = Usage {
            input: share(usage.input),
            output: share(usage.output),
            cache_read: share(usage.cache_read),
            cache_write: share(usage.cache_write),
            reasoning: share(usage.reasoning),
        };
        for owner in owners {
            let evidence = self.of(owner);
            evidence.usage = evidence.usage.plus(share);
        }
    }

    fn of(&mut self, todo: &str) -> &mut TodoEvidence {
        self.found.entry(todo.to_owned()).or_default()
    }
}
