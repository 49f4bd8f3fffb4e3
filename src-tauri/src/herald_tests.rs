use bosun_protocol::{ProjectId, UsageSummary};
use pretty_assertions::assert_eq;

use super::*;
use crate::language::Spoken;

pub(crate) fn session(status: SessionStatus, waiting: u32) -> SessionSummary {
    SessionSummary {
        id: "s".into(),
        project: ProjectId::from("p"),
        parent: None,
        title: "Fix\u{202e} it".into(),
        status,
        model: None,
        created_at: 0,
        updated_at: 0,
        waiting,
        pinned: false,
        archived: false,
        deleted_at: None,
        usage: UsageSummary::default(),
        effort: None,
        summing_up: false,
    }
}

#[test]
fn what_a_person_has_to_know_is_told_once() {
    let mut known = Known::default();
    let steps = [
        (session(SessionStatus::Running, 0), None),
        (session(SessionStatus::Waiting, 1), Some(News::NeedsYou)),
        (session(SessionStatus::Waiting, 1), None),
        (session(SessionStatus::Waiting, 2), Some(News::NeedsYou)),
        (session(SessionStatus::Running, 1), None),
        (session(SessionStatus::Running, 0), None),
        (session(SessionStatus::Idle, 0), Some(News::Done)),
        (session(SessionStatus::Idle, 0), None),
        (session(SessionStatus::Running, 0), None),
        (session(SessionStatus::Failed, 0), Some(News::Failed)),
        (session(SessionStatus::Stopped, 0), None),
    ];
    for (step, wanted) in steps {
        assert_eq!(known.learn(&step), wanted, "{:?} {}", step.status, step.waiting);
    }
    let summing = SessionSummary { summing_up: true, ..session(SessionStatus::Running, 0) };
    known.learn(&session(SessionStatus::Idle, 0));
    assert_eq!((known.learn(&summing), known.learn(&session(SessionStatus::Idle, 0))), (None, None), "no turn ended");
    let child = SessionSummary { id: "c".into(), parent: Some("s".into()), ..session(SessionStatus::Running, 0) };
    known.learn(&child);
    assert_eq!(known.learn(&SessionSummary { status: SessionStatus::Idle, ..child.clone() }), None);
    known.learn(&session(SessionStatus::Waiting, 2));
    known.learn(&SessionSummary { waiting: 2, ..child });
    assert_eq!(known.waiting(), 2, "a subagent's request is its session's");
    known.learn(&SessionSummary { deleted_at: Some(1), ..session(SessionStatus::Waiting, 2) });
    assert_eq!(known.waiting(), 0);
}

#[test]
fn a_notice_says_what_is_up_and_hides_nothing() {
    let notice = notice(words(Spoken::Chinese), News::NeedsYou, &session(SessionStatus::Waiting, 1));
    assert_eq!((notice.title.as_str(), notice.text.as_str()), ("需要你处理", "Fix⟨U+202E⟩ it"));
    let unnamed = SessionSummary { title: String::new(), ..session(SessionStatus::Idle, 0) };
    assert_eq!(super::notice(words(Spoken::English), News::Done, &unnamed).text, "New session");
}
