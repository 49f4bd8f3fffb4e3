use bosun_protocol::{Approval, AskReason, Decision, DecisionKind, ToolKind};
use bosun_session::Policy;
use clap::ValueEnum;

use crate::core::{allow, allow_all, reject};

/// What happens to calls that change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    /// Ask on the terminal; without one the call keeps waiting and the exit code is 2.
    Ask,
    /// Let file changes pass, except to files that later run code and where a rule or a hook asks; answer commands with a
    /// rejection.
    Edits,
    /// Let everything pass, except what a hook makes ask.
    All,
    /// Answer everything with a rejection.
    None,
}

/// What becomes of a call that waits.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Decide(Decision),
    AskPerson,
}

impl Mode {
    /// The rule set of a session run in this mode.
    pub(super) fn policy(self) -> Policy {
        match self {
            Self::Ask => Policy::default(),
            Self::Edits => {
                Policy { edits: allow("--approve edits"), commands: reject("--approve edits"), ..Policy::default() }
            }
            Self::All => {
                Policy { edits: allow_all("--approve all"), commands: allow_all("--approve all"), ..Policy::default() }
            }
            Self::None => {
                Policy { edits: reject("--approve none"), commands: reject("--approve none"), ..Policy::default() }
            }
        }
    }

    /// What this mode says to a call that waits already: one that was asked in an earlier run, or that its tool's own
    /// configuration makes ask.
    pub(super) fn answer(self, approval: &Approval) -> Answer {
        let decision = match self {
            Self::Ask => None,
            // Whoever has a hook ask wants to be asked in any case.
            Self::All => (!matches!(approval.reason, AskReason::Hook { .. })).then_some(Decision::Approve),
            Self::None => Some(rejection("--approve none")),
            Self::Edits => match (&approval.reason, approval.tool_kind) {
                (_, ToolKind::Execute | ToolKind::Other | ToolKind::Delegate) => Some(rejection("--approve edits")),
                (AskReason::EditsAsk | AskReason::DeletesAsk, _) => Some(Decision::Approve),
                // A name, a rule or a hook asks for a person, not for a mode.
                _ => None,
            },
        };
        let may = |kind: DecisionKind| approval.allowed.contains(&kind);
        let decision = match decision {
            Some(Decision::Approve) if may(DecisionKind::Approve) => Decision::Approve,
            Some(Decision::Reject { reason }) if may(DecisionKind::Reject) => Decision::Reject { reason },
            // A call that may only be answered is refused in an answer.
            Some(Decision::Reject { reason: Some(text) }) if may(DecisionKind::Respond) => Decision::Respond { text },
            _ => return Answer::AskPerson,
        };
        Answer::Decide(decision)
    }
}

fn rejection(mode: &str) -> Decision {
    Decision::Reject { reason: Some(format!("this run answers such calls with a rejection ({mode})")) }
}

#[cfg(test)]
mod tests {
    use bosun_protocol::{Preview, Reach, ReachPlace, Undo};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn waiting(tool: &str, tool_kind: ToolKind, reason: AskReason) -> Approval {
        Approval {
            call_id: "c".into(),
            session: "s".into(),
            agent: vec!["main".into()],
            tool: tool.into(),
            tool_kind,
            args: json!({}),
            schema: json!({}),
            preview: Preview::Fields,
            reach: Reach { place: ReachPlace::Project, network: false, sandbox: None, undo: Undo::Yes },
            reason,
            allowed: vec![DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Respond, DecisionKind::Reject],
            description: None,
            scripts: Vec::new(),
            more_scripts: false,
            again: None,
            todo: None,
            asked_at: 0,
            digest: "d".into(),
        }
    }

    #[test]
    fn a_waiting_call_is_answered_as_the_mode_says() {
        let edit = waiting("write_file", ToolKind::Edit, AskReason::EditsAsk);
        let protected = waiting("write_file", ToolKind::Edit, AskReason::ProtectedName { name: "/.envrc".into() });
        let rule = || AskReason::Rule { rule: "/secrets/** asks".into() };
        let ruled = waiting("edit_file", ToolKind::Edit, rule());
        let read = waiting("read_file", ToolKind::Read, rule());
        let delete = waiting("delete", ToolKind::Edit, AskReason::DeletesAsk);
        let command = waiting("execute", ToolKind::Execute, AskReason::CommandsAsk);
        let hooked = AskReason::Hook { rule: "the hook 'guard' asks".into(), name: Some("/.envrc".into()) };
        let hooked = waiting("write_file", ToolKind::Edit, hooked);
        let kind = |mode: Mode, approval: &Approval| match mode.answer(approval) {
            Answer::Decide(Decision::Approve) => 'y',
            Answer::Decide(Decision::Reject { .. }) => 'n',
            Answer::Decide(_) => '!',
            Answer::AskPerson => '?',
        };
        let table: Vec<String> = [Mode::Ask, Mode::Edits, Mode::All, Mode::None]
            .map(|mode| {
                [&edit, &delete, &protected, &ruled, &read, &command, &hooked]
                    .map(|approval| kind(mode, approval))
                    .iter()
                    .collect()
            })
            .into();
        assert_eq!(table, ["???????", "yy???n?", "yyyyyy?", "nnnnnnn"]);
    }

    #[test]
    fn what_is_not_allowed_is_never_decided() {
        let allowing = |allowed: &[DecisionKind]| Approval {
            allowed: allowed.to_vec(),
            ..waiting("edit_file", ToolKind::Edit, AskReason::EditsAsk)
        };
        let only_words = allowing(&[DecisionKind::Respond]);
        for mode in [Mode::Ask, Mode::Edits, Mode::All] {
            assert_eq!(mode.answer(&only_words), Answer::AskPerson);
        }
        let Answer::Decide(Decision::Respond { text }) = Mode::None.answer(&only_words) else { panic!() };
        assert!(text.contains("--approve none"), "{text}");
        assert_eq!(Mode::None.answer(&allowing(&[DecisionKind::Approve, DecisionKind::Edit])), Answer::AskPerson);
    }
}
