//! A stored request, or what was decided of it, that something changed in the database: what it holds by now was shown to
//! nobody, so it does not run (security.md A10).
#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use bosun_agent::{Ask, EntryBody, Recorded, SessionId as CoreId};
use bosun_model::ChatRequest;
use bosun_protocol::{Approval, AskedAgain, Decide, Decision, ErrorCode, Problem, RuleDraft, RuleScope, SessionId};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sessions::{editing, progress};
use super::stage::Stage;

const BEFORE: &str = "one\ntwo\n";

/// A session that waits for an approval of its edit.
async fn waiting() -> (Stage, SessionId, Approval) {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let approval = stage.snapshot(&session).await.approvals.remove(0);
    (stage, session, approval)
}

fn answering(approval: &Approval, decision: Decision) -> Decide {
    let Approval { session, call_id, digest, .. } = approval.clone();
    Decide { session, call_id, digest, decision }
}

fn into(new: &str) -> Value {
    json!({"file_path": "/a.txt", "old_string": "one", "new_string": new})
}

/// Changes the session's entries in the database's file, as another program would; an entry with nothing in its place goes.
async fn change(stage: &Stage, session: &SessionId, change: impl Fn(Recorded) -> Option<EntryBody>) {
    let database = rusqlite::Connection::open(stage.data.path().join("bosun.db")).unwrap();
    let whose = "session = (SELECT key FROM sessions WHERE id = ?1) AND seq = ?2";
    for entry in stage.database.entries(&CoreId::new(session.as_str()), 0).await.unwrap() {
        let seq = i64::try_from(entry.seq).unwrap();
        let changed = match change(entry) {
            Some(body) => {
                let json = serde_json::to_string(&body).unwrap();
                let update = format!("UPDATE entries SET body = ?3 WHERE {whose}");
                database.execute(&update, (session.as_str(), seq, json))
            }
            None => database.execute(&format!("DELETE FROM entries WHERE {whose}"), (session.as_str(), seq)),
        };
        assert_eq!(changed.unwrap(), 1);
    }
}

/// Changes what the session asked.
async fn change_ask(stage: &Stage, session: &SessionId, alter: impl Fn(&mut Ask)) {
    change(stage, session, |entry| {
        let mut body = entry.entry.body;
        if let EntryBody::Asked { ask } = &mut body {
            alter(ask);
        }
        Some(body)
    })
    .await;
}

/// Takes what the journal holds behind a decision out of it, as if Bosun had been killed when it had that, with what is left
/// changed.
async fn cut_behind_decision(stage: &Stage, session: &SessionId, alter: impl Fn(&mut EntryBody)) {
    let entries = stage.database.entries(&CoreId::new(session.as_str()), 0).await.unwrap();
    let decided = entries.iter().find(|entry| matches!(entry.entry.body, EntryBody::Decided { .. })).unwrap().seq;
    change(stage, session, |entry| {
        let mut body = entry.entry.body;
        alter(&mut body);
        (entry.seq <= decided).then_some(body)
    })
    .await;
}

/// The request as the session asks it by now.
async fn asked_anew(stage: &Stage, session: &SessionId, before: &Approval, again: Option<AskedAgain>) -> Approval {
    stage.sessions.quiet(session).await.unwrap();
    let anew = stage.snapshot(session).await.approvals.remove(0);
    assert_eq!((&anew.again, &anew.args), (&again, &before.args));
    assert_eq!(stage.project.read("a.txt"), BEFORE);
    anew
}

#[tokio::test]
async fn what_was_changed_since_it_was_shown_does_not_run_and_is_asked_anew() {
    let alterations: [fn(&mut Ask); 4] = [
        |ask| ask.call.args = into("pwned"),
        |ask| ask.call.name = "write_file".into(),
        |ask| ask.place = Some(bosun_agent::AskPlace::Session),
        |ask| ask.preview = bosun_tools::Preview::Fields,
    ];
    for alter in alterations {
        let (stage, session, shown) = waiting().await;
        change_ask(&stage, &session, alter).await;
        let stage = stage.restarted(editing).await;
        let edited = Decision::Edit { args: into("mine") };
        let error = stage.sessions.decide(vec![answering(&shown, edited)]).await.unwrap_err();
        assert_eq!((error.code, error.problem), (ErrorCode::AlreadyDecided, Problem::AskAltered));
        let anew = asked_anew(&stage, &session, &shown, Some(AskedAgain::RecordChanged)).await;
        // What the window still shows is good for nothing; what it shows by now is.
        let stale = stage.sessions.decide(vec![answering(&shown, Decision::Approve)]).await.unwrap_err();
        assert_eq!((stale.code, stale.problem), (ErrorCode::AlreadyDecided, Problem::AskChanged));
        stage.sessions.decide(vec![answering(&anew, Decision::Approve)]).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
    }
}

#[tokio::test]
async fn an_approval_of_what_is_shown_after_a_restart_is_none_of_what_was_altered() {
    let (stage, session, shown) = waiting().await;
    change_ask(&stage, &session, |ask| ask.call.args = into("pwned")).await;
    let stage = stage.restarted(editing).await;
    let altered = stage.snapshot(&session).await.approvals.remove(0);
    assert_eq!(altered.args, into("pwned"));
    // Whoever only looks starts nothing.
    let before = stage.snapshot(&session).await;
    let reach = stage.sessions.decided_reach(&answering(&altered, Decision::Approve)).await;
    assert_eq!(reach.unwrap_err().problem, Problem::AskAltered);
    let offer = stage.sessions.rule_offer(&session, &altered.call_id).await;
    assert_eq!(offer.unwrap_err().problem, Problem::AskAltered);
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.snapshot(&session).await, before);
    let error = stage.sessions.decide(vec![answering(&altered, Decision::Approve)]).await.unwrap_err();
    assert_eq!(error.problem, Problem::AskAltered);
    asked_anew(&stage, &session, &shown, Some(AskedAgain::RecordChanged)).await;
}

#[tokio::test]
async fn what_comes_ahead_of_an_answer_has_it_asked_anew_too() {
    for with_rule in [false, true] {
        let (stage, session, shown) = waiting().await;
        change_ask(&stage, &session, |ask| ask.call.args = into("pwned")).await;
        let stage = stage.restarted(editing).await;
        let decide = answering(&shown, Decision::Approve);
        let error = if with_rule {
            let call_id = shown.call_id.clone();
            let draft =
                RuleDraft { session: session.clone(), call_id, scope: RuleScope::Session, pattern: "/*".into() };
            stage.sessions.approve_always(vec![decide], vec![draft]).await.unwrap_err()
        } else {
            stage.sessions.grave_calls(&[decide], &[]).await.unwrap_err()
        };
        assert_eq!(error.problem, Problem::AskAltered);
        asked_anew(&stage, &session, &shown, Some(AskedAgain::RecordChanged)).await;
        assert!(stage.sessions.rules().await.unwrap().is_empty());
    }
}

fn writing_two(request: &ChatRequest) -> Reply {
    let write = |reply: Reply, id: &str| {
        reply.and_call_with_id(id, "write_file", json!({"file_path": format!("/{id}.txt"), "content": id}))
    };
    match progress(request) {
        (_, 0) => write(write(Reply::default(), "x"), "y"),
        _ => Reply::text("Done."),
    }
}

#[tokio::test]
async fn an_altered_request_of_one_session_starts_nothing_in_another() {
    let stage = Stage::new(writing_two).await;
    let (altered, other) = (stage.session().await, stage.session().await);
    let mut shown = Vec::new();
    for session in [&altered, &other] {
        stage.sessions.send(session, "go".into()).await.unwrap();
        stage.sessions.quiet(session).await.unwrap();
        let approvals = stage.snapshot(session).await.approvals;
        shown.push(approvals.into_iter().find(|approval| approval.call_id.as_str() == "y").unwrap());
    }
    change_ask(&stage, &altered, |ask| {
        if ask.call.id.as_str() == "y" {
            ask.call.args = json!({"file_path": "/y.txt", "content": "pwned"});
        }
    })
    .await;
    // The other was cut between an approval and its effect.
    stage.decide(&other, "x", Decision::Approve).await.unwrap();
    stage.sessions.quiet(&other).await.unwrap();
    cut_behind_decision(&stage, &other, |_| ()).await;
    std::fs::remove_file(stage.project.root().join("x.txt")).unwrap();
    let stage = stage.restarted(writing_two).await;
    let both = shown.iter().map(|shown| answering(shown, Decision::Approve)).collect();
    assert_eq!(stage.sessions.decide(both).await.unwrap_err().problem, Problem::AskAltered);
    for session in [&altered, &other] {
        stage.sessions.quiet(session).await.unwrap();
    }
    assert!(!stage.project.exists("x.txt") && !stage.project.exists("y.txt"));
    let approvals = stage.snapshot(&altered).await.approvals;
    let anew = approvals.iter().find(|approval| approval.call_id == shown[0].call_id).unwrap();
    assert_eq!((&anew.again, &anew.args), (&Some(AskedAgain::RecordChanged), &shown[0].args));
    assert_eq!(stage.snapshot(&other).await.approvals, [shown.remove(1)]);
}

/// As the version before the seal had a number stored it, in `waiting`.
fn asked_by_earlier_version() -> EntryBody {
    let ask = json!({
        "call": {"id": "e", "name": "edit_file", "args": into("1")},
        "kind": "edit",
        "schema": {"type": "object"},
        "preview": {"preview": "diff", "diff": {
            "path": "/a.txt", "added": 1, "removed": 1,
            "hunks": [{"old_start": 1, "old_lines": 2, "new_start": 1, "new_lines": 2, "lines": ["-one", "+1", " two"]}],
        }},
        "reason": {"reason": "edits_ask"},
        "allowed": ["approve", "edit", "respond", "reject"],
        "place": "project",
        "digest": "3dcbe2aa2762b4d575d3e2b5b6c86d705a12f995e8736569ad0f529dee77ca80",
    });
    EntryBody::Asked { ask: serde_json::from_value(ask).unwrap() }
}

#[tokio::test]
async fn what_an_earlier_version_asked_is_asked_anew_without_alarm() {
    let (stage, session, shown) = waiting().await;
    let as_before = |entry: Recorded| match entry.entry.body {
        EntryBody::Asked { .. } => Some(asked_by_earlier_version()),
        body => Some(body),
    };
    change(&stage, &session, as_before).await;
    let stage = stage.restarted(editing).await;
    let open = stage.snapshot(&session).await.approvals.remove(0);
    let error = stage.sessions.decide(vec![answering(&open, Decision::Approve)]).await.unwrap_err();
    assert_eq!((error.code, error.problem), (ErrorCode::AlreadyDecided, Problem::AskChanged));
    let anew = asked_anew(&stage, &session, &shown, None).await;
    assert_ne!(anew.digest, open.digest);
    stage.sessions.decide(vec![answering(&anew, Decision::Approve)]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
    // What runs nothing needs no second look.
    let (stage, session, _) = waiting().await;
    change(&stage, &session, as_before).await;
    let stage = stage.restarted(editing).await;
    let open = stage.snapshot(&session).await.approvals.remove(0);
    stage.sessions.decide(vec![answering(&open, Decision::Reject { reason: None })]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert!(stage.snapshot(&session).await.approvals.is_empty());
    assert_eq!(stage.project.read("a.txt"), BEFORE);
}

#[tokio::test]
async fn one_that_was_sealed_anew_is_not_the_one_that_was_shown() {
    let (stage, session, shown) = waiting().await;
    change_ask(&stage, &session, |ask| {
        ask.call.args = into("pwned");
        *ask = ask.clone().sealed();
    })
    .await;
    let stage = stage.restarted(editing).await;
    let error = stage.sessions.decide(vec![answering(&shown, Decision::Approve)]).await.unwrap_err();
    assert_eq!((error.code, error.problem), (ErrorCode::AlreadyDecided, Problem::AskChanged));
    assert_eq!(stage.project.read("a.txt"), BEFORE);
}

#[tokio::test]
async fn what_was_changed_since_it_was_approved_does_not_run_and_is_asked_anew() {
    let alterations: [fn(&mut EntryBody); 6] = [
        |body| {
            if let EntryBody::Asked { ask } = body {
                ask.call.args = into("pwned");
            }
        },
        |body| {
            if let EntryBody::Asked { ask } = body {
                ask.call.args = into("pwned");
                **ask = (**ask).clone().sealed();
            }
        },
        // Two requests of which one was approved.
        |body| {
            if let EntryBody::Decided { record, .. } = body {
                record.digest = Some("2:of another".into());
            }
        },
        // The decision itself.
        |body| {
            if let EntryBody::Decided { record, .. } = body {
                record.decision = bosun_agent::Decision::Edit { args: into("pwned") };
            }
        },
        // A decision that an earlier version, or somebody else, stored without a seal of its own.
        |body| {
            if let EntryBody::Decided { record, .. } = body {
                record.digest = None;
            }
        },
        // The call itself, which another tool would take up.
        |body| {
            if let EntryBody::Ai { message, .. } = body {
                for call in message.tool_calls.iter_mut().filter(|call| call.id.as_str() == "e") {
                    call.name = "delete".into();
                    call.args = json!({"file_path": "/a.txt"});
                }
            }
        },
    ];
    for (at, alter) in alterations.into_iter().enumerate() {
        let (stage, session, shown) = waiting().await;
        stage.sessions.decide(vec![answering(&shown, Decision::Approve)]).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        cut_behind_decision(&stage, &session, alter).await;
        std::fs::write(stage.project.root().join("a.txt"), BEFORE).unwrap();
        let stage = stage.restarted(editing).await;
        stage.sessions.continue_turn(&session).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        let anew = stage.snapshot(&session).await.approvals.remove(0);
        // What has no seal of this version is no sign that somebody changed it.
        assert_eq!(anew.again, (at != 4).then_some(AskedAgain::RecordChanged), "{at}");
        assert_eq!(stage.project.read("a.txt"), BEFORE, "{at}");
    }
}

#[tokio::test]
async fn another_decision_than_was_taken_is_not_acted_upon() {
    let edited = Decision::Edit { args: into("mine") };
    for taken in [edited, Decision::Reject { reason: None }] {
        let others = [bosun_agent::Decision::Approve, bosun_agent::Decision::Edit { args: into("pwned") }];
        for other in others {
            let (stage, session, shown) = waiting().await;
            stage.sessions.decide(vec![answering(&shown, taken.clone())]).await.unwrap();
            stage.sessions.quiet(&session).await.unwrap();
            cut_behind_decision(&stage, &session, |body| {
                if let EntryBody::Decided { record, .. } = body {
                    record.decision = other.clone();
                }
            })
            .await;
            std::fs::write(stage.project.root().join("a.txt"), BEFORE).unwrap();
            let stage = stage.restarted(editing).await;
            stage.sessions.continue_turn(&session).await.unwrap();
            asked_anew(&stage, &session, &shown, Some(AskedAgain::RecordChanged)).await;
        }
    }
}

#[tokio::test]
async fn an_approval_that_nobody_touched_is_acted_upon_after_a_restart() {
    let (stage, session, shown) = waiting().await;
    stage.sessions.decide(vec![answering(&shown, Decision::Approve)]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    cut_behind_decision(&stage, &session, |_| ()).await;
    std::fs::write(stage.project.root().join("a.txt"), BEFORE).unwrap();
    let stage = stage.restarted(editing).await;
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert!(stage.snapshot(&session).await.approvals.is_empty());
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
}
