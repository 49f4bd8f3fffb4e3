use bosun_agent::{Ask, AskPlace, DecisionRecord};
use bosun_model::CallId;
use bosun_protocol::{Approval, CallId as WireCallId, Reach, ReachPlace, SessionEvent, ToolState, Undo};
use bosun_tools::ToolKind;

use super::Projection;
use crate::convert;

impl Projection {
    pub(super) fn asked(&mut self, ask: &Ask, at: i64) {
        let approval = self.approval(ask, at);
        self.change_call(&ask.call.id, |tool| {
            tool.state = ToolState::Waiting;
            tool.decision = None;
            if let bosun_protocol::Preview::Diff { diff } = &approval.preview {
                tool.diff = Some(diff.clone());
            }
        });
        self.emit(SessionEvent::ApprovalRequested { approval });
    }

    pub(super) fn decided(&mut self, call_id: &CallId, record: &DecisionRecord, at: i64) {
        let record = convert::record(record, at);
        self.change_call(call_id, |tool| {
            tool.state = ToolState::Proposed;
            tool.decision = Some(record.clone());
        });
        self.resolve(call_id, Some(record));
    }

    /// An approval that is no longer asked for: decided, or lapsed because its turn was stopped.
    pub(super) fn resolve(&mut self, call_id: &CallId, record: Option<bosun_protocol::DecisionRecord>) {
        let call_id = WireCallId::new(call_id.as_str());
        let session = self.view.session.id.clone();
        if self.view.approvals.iter().any(|known| known.call_id == call_id && known.session == session) {
            self.emit(SessionEvent::ApprovalResolved { session, call_id, record });
        }
    }

    fn approval(&self, ask: &Ask, at: i64) -> Approval {
        Approval {
            call_id: WireCallId::new(ask.call.id.as_str()),
            session: self.view.session.id.clone(),
            agent: self.path.clone(),
            tool: ask.call.name.clone(),
            tool_kind: convert::tool_kind(ask.kind),
            args: ask.call.args.clone(),
            schema: ask.schema.clone(),
            preview: convert::preview(&ask.preview),
            reach: reach(ask),
            reason: convert::reason(&ask.reason),
            allowed: ask.allowed.iter().copied().map(convert::decision_kind).collect(),
            description: ask.description.clone(),
            scripts: scripts(ask),
            more_scripts: ask.more_scripts,
            again: ask.again.as_ref().map(convert::again),
            todo: self.todo_of(&ask.call.id),
            asked_at: at,
            digest: ask.digest.clone(),
        }
    }
}

/// The scripts that are there; of those that are not there is nothing to show.
fn scripts(ask: &Ask) -> Vec<String> {
    ask.scripts.iter().filter(|script| script.is_there()).map(|script| script.path.to_string()).collect()
}

/// How far a call can reach: file tools stay where their file is and keep the bytes before; a command without a sandbox
/// may go anywhere the user may, there where it runs.
pub(crate) fn reach(ask: &Ask) -> Reach {
    match ask.kind {
        ToolKind::Edit | ToolKind::Read => {
            Reach { place: place(ask.place), network: false, sandbox: None, undo: Undo::Yes }
        }
        ToolKind::Plan | ToolKind::Delegate => {
            Reach { place: ReachPlace::Session, network: false, sandbox: None, undo: Undo::Yes }
        }
        ToolKind::Execute | ToolKind::Other => {
            let place = match ask.place {
                Some(AskPlace::Machine) => ReachPlace::Machine,
                Some(AskPlace::Container) => ReachPlace::Container,
                _ if ask.sandbox.is_some() => ReachPlace::Project,
                _ => ReachPlace::Anywhere,
            };
            Reach { place, network: ask.sandbox.is_none(), sandbox: ask.sandbox.clone(), undo: Undo::No }
        }
    }
}

/// Asks of older journals do not say where their file is.
fn place(place: Option<AskPlace>) -> ReachPlace {
    match place {
        None | Some(AskPlace::Project) => ReachPlace::Project,
        Some(AskPlace::Session) => ReachPlace::Session,
        Some(AskPlace::Memory) => ReachPlace::Memory,
        Some(AskPlace::Skill) => ReachPlace::Skill,
        Some(AskPlace::Outside) => ReachPlace::Outside,
        Some(AskPlace::Machine) => ReachPlace::Machine,
        Some(AskPlace::Container) => ReachPlace::Container,
    }
}
