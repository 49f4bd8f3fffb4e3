use bosun_agent::{Recorded, SessionId};
use bosun_harness::TodoEvidence;
use bosun_protocol::{SessionEvent, TodoEvidence as WireEvidence};

use super::Projection;

/// Most files that are named of a todo.
const FILES: usize = 100;

impl Projection {
    /// Takes an entry of a subagent, at any depth, for the todo that it was sent for.
    pub(crate) fn child_worked(&mut self, child: &SessionId, recorded: &Recorded) {
        self.evidence.read_subagent(child, recorded);
    }

    /// Tells of the todos for which something was done since the last time.
    pub(crate) fn tell_evidence(&mut self) {
        for todo in self.evidence.take_changed() {
            if let Some(evidence) = self.evidence.of(&todo).map(|evidence| shown(&todo, evidence)) {
                self.emit(SessionEvent::TodoWorked { evidence });
            }
        }
    }
}

fn shown(todo: &str, evidence: &TodoEvidence) -> WireEvidence {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    WireEvidence {
        todo: todo.to_owned(),
        calls: count(evidence.calls.len()),
        failed: count(evidence.calls.iter().filter(|call| !call.succeeded).count()),
        files: evidence.files.iter().take(FILES).map(ToString::to_string).collect(),
        file_count: count(evidence.files.len()),
        added: evidence.added,
        removed: evidence.removed,
        agents: evidence.agents.iter().cloned().collect(),
        ran_ms: evidence.ran_ms,
        input_tokens: evidence.usage.input.unwrap_or(0),
        output_tokens: evidence.usage.output.unwrap_or(0),
        cost: evidence.cost,
    }
}
