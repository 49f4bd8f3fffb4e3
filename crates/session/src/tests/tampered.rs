//! A stored request, or what was decided of it, that something changed in the database: what it holds by now was shown to
//! nobody, so it does not run (security.md A10).
#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use bosun_agent::{Ask, EntryBody, Recorded, SessionId as CoreId};
use bosun_protocol::{Approval, AskedAgain, Decide, Decision, ErrorCode, Problem, SessionId};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sessions::editing;
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

/// The request as the session asks it by now.
async fn asked_anew(stage: &Stage, session: &SessionId, before: &Approval) -> Approval {
    stage.sessions.quiet(session).await.unwrap();
    let anew = stage.snapshot(session).await.approvals.remove(0);
    assert_eq!((&anew.again, &anew.args), (&Some(AskedAgain::RecordChanged), &before.args));
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
        let anew = asked_anew(&stage, &session, &shown).await;
        // What the window still shows is good for nothing; what it shows by now is.
        let stale = stage.sessions.decide(vec![answering(&shown, Decision::Approve)]).await;
        assert!(stale.is_err() || anew.digest == shown.digest);
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
    let reach = stage.sessions.decided_reach(&answering(&altered, Decision::Approve)).await;
    assert_eq!(reach.unwrap_err().problem, Problem::AskAltered);
    let error = stage.sessions.decide(vec![answering(&altered, Decision::Approve)]).await.unwrap_err();
    assert_eq!(error.problem, Problem::AskAltered);
    asked_anew(&stage, &session, &shown).await;
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
    let alterations: [fn(&mut EntryBody); 4] = [
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
                record.digest = Some("of another".into());
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
        // Bosun was killed when it had the approval.
        let core = CoreId::new(session.as_str());
        let entries = stage.database.entries(&core, 0).await.unwrap();
        let decided = entries.iter().find(|entry| matches!(entry.entry.body, EntryBody::Decided { .. })).unwrap().seq;
        change(&stage, &session, |entry| {
            let mut body = entry.entry.body;
            alter(&mut body);
            (entry.seq <= decided).then_some(body)
        })
        .await;
        std::fs::write(stage.project.root().join("a.txt"), BEFORE).unwrap();
        let stage = stage.restarted(editing).await;
        stage.sessions.continue_turn(&session).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        let anew = stage.snapshot(&session).await.approvals.remove(0);
        assert_eq!(anew.again, Some(AskedAgain::RecordChanged), "{at}");
        assert_eq!(stage.project.read("a.txt"), BEFORE, "{at}");
    }
}

#[tokio::test]
async fn an_approval_that_nobody_touched_is_acted_upon_after_a_restart() {
    let (stage, session, shown) = waiting().await;
    stage.sessions.decide(vec![answering(&shown, Decision::Approve)]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let entries = stage.database.entries(&CoreId::new(session.as_str()), 0).await.unwrap();
    let decided = entries.iter().find(|entry| matches!(entry.entry.body, EntryBody::Decided { .. })).unwrap().seq;
    change(&stage, &session, |entry| (entry.seq <= decided).then_some(entry.entry.body)).await;
    std::fs::write(stage.project.root().join("a.txt"), BEFORE).unwrap();
    let stage = stage.restarted(editing).await;
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert!(stage.snapshot(&session).await.approvals.is_empty());
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
}
