use bosun_model::{CallId, Message, ToolStatus, text_of};

use crate::{EntryBody, JournalEntry, SessionId, State, SubagentMode, ToolOutcome, TurnEnd};

/// A subagent that was sent out, as its parent's journal knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SentSubagent {
    /// The call that sent it.
    pub call_id: CallId,
    pub child: SessionId,
    pub name: String,
    pub description: String,
    pub mode: SubagentMode,
    /// How it ended; `None` while it is at work.
    pub end: Option<TurnEnd>,
    /// Milliseconds since 1970.
    pub sent_at: i64,
    /// When it last began or ended something.
    pub changed_at: i64,
    /// Whether it goes on beside its parent although a limit of the whole tree had ended it.
    pub(crate) goes_on: bool,
}

impl State {
    /// The subagent whose session this is.
    pub fn subagent(&self, child: &SessionId) -> Option<&SentSubagent> {
        self.subagents.iter().find(|sent| sent.child == *child)
    }

    /// The subagents that are at work beside this agent.
    pub fn at_work_beside(&self) -> impl Iterator<Item = &SentSubagent> {
        self.subagents.iter().filter(|sent| sent.mode == SubagentMode::Background && sent.end.is_none())
    }

    pub(super) fn sent(&mut self, entry: &JournalEntry) {
        let EntryBody::SubagentStarted { call_id, child, name, description, mode } = &entry.body else { return };
        if self.subagent(child).is_some() {
            return;
        }
        self.subagents.push(SentSubagent {
            call_id: call_id.clone(),
            child: child.clone(),
            name: name.clone(),
            description: description.clone(),
            mode: *mode,
            end: None,
            sent_at: entry.at,
            changed_at: entry.at,
            goes_on: false,
        });
    }

    pub(super) fn asked_again(&mut self, child: &SessionId, at: i64) {
        if let Some(sent) = self.subagents.iter_mut().find(|sent| sent.child == *child) {
            sent.mode = SubagentMode::Background;
            (sent.end, sent.goes_on) = (None, false);
            sent.changed_at = at;
        }
    }

    /// Whether there is a subagent whose end this can be: one that was rewound is none of this session any more.
    pub(super) fn ended_beside(&mut self, child: &SessionId, end: &TurnEnd, at: i64) -> bool {
        let Some(sent) = self.subagents.iter_mut().find(|sent| sent.child == *child && sent.end.is_none()) else {
            return false;
        };
        (sent.end, sent.goes_on) = (Some(end.clone()), false);
        sent.changed_at = at;
        true
    }

    /// The call that waited for a subagent has its result.
    pub(super) fn answered(&mut self, call_id: &CallId, outcome: ToolOutcome, message: &Message, at: i64) {
        let awaited = |sent: &&mut SentSubagent| sent.call_id == *call_id && sent.mode == SubagentMode::Awaited;
        let Some(sent) = self.subagents.iter_mut().rev().find(awaited) else { return };
        sent.end = Some(match (outcome, message) {
            (ToolOutcome::Cancelled, _) => TurnEnd::Stopped,
            (_, Message::Tool(result)) if result.status == ToolStatus::Error => {
                TurnEnd::failed(text_of(&result.content))
            }
            _ => TurnEnd::Done,
        });
        sent.changed_at = at;
    }
}
