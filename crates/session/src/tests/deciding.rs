//! Decisions: of several at once all or none, of two at once one, and lists that know who is needed.

use bosun_protocol::{Approval, Decide, Decision, ErrorCode, SessionId, SessionStatus};
use pretty_assertions::assert_eq;
use tokio::task::JoinSet;

use super::sessions::{editing, sending};
use super::stage::{Stage, noise};

fn approving(approval: &Approval) -> Decide {
    Decide {
        session: approval.session.clone(),
        call_id: approval.call_id.clone(),
        digest: approval.digest.clone(),
        decision: Decision::Approve,
    }
}

/// A session that waits for an approval of its edit.
async fn waiting(stage: &Stage) -> (SessionId, Approval) {
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let approval = stage.snapshot(&session).await.approvals.remove(0);
    (session, approval)
}

#[tokio::test]
async fn one_wrong_decision_keeps_those_of_other_sessions_from_being_stored() {
    let stage = Stage::new(editing).await;
    let (first, one) = waiting(&stage).await;
    let (second, two) = waiting(&stage).await;
    for wrong_at in [0, 1] {
        let mut decisions = vec![approving(&one), approving(&two)];
        decisions[wrong_at].digest = "stale".into();
        let error = stage.sessions.decide(decisions).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::AlreadyDecided);
        assert_eq!(stage.snapshot(&first).await.approvals, std::slice::from_ref(&one));
        assert_eq!(stage.snapshot(&second).await.approvals, std::slice::from_ref(&two));
    }
    stage.sessions.decide(vec![approving(&one), approving(&two)]).await.unwrap();
    for session in [&first, &second] {
        assert_eq!(stage.sessions.quiet(session).await.unwrap().waiting, 0);
    }
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn a_call_that_is_answered_twice_in_one_request_is_refused() {
    let stage = Stage::new(editing).await;
    let (session, approval) = waiting(&stage).await;
    let twice = Decide { decision: Decision::Reject { reason: None }, ..approving(&approval) };
    let error = stage.sessions.decide(vec![approving(&approval), twice]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid);
    assert_eq!(stage.snapshot(&session).await.approvals, [approval]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_decide_the_same_call_exactly_one_does() {
    let stage = Stage::new(editing).await;
    let (session, approval) = waiting(&stage).await;
    let mut deciders = JoinSet::new();
    for _ in 0..8 {
        let (sessions, decide) = (stage.sessions.clone(), approving(&approval));
        deciders.spawn(async move { sessions.decide(vec![decide]).await });
    }
    let mut won = 0;
    for decided in deciders.join_all().await {
        match decided {
            Ok(()) => won += 1,
            Err(error) => {
                assert_eq!(error.code, ErrorCode::AlreadyDecided);
                assert!(error.to_string().contains("decided already"), "{error}");
            }
        }
    }
    assert_eq!(won, 1);
    stage.sessions.quiet(&session).await.unwrap();
    let journal = stage.database.entries(&bosun_agent::SessionId::new(session.as_str()), 0).await.unwrap();
    let decided = journal.iter().filter(|entry| matches!(entry.entry.body, bosun_agent::EntryBody::Decided { .. }));
    assert_eq!(decided.count(), 1);
}

#[tokio::test]
async fn a_decision_that_cannot_be_stored_leaves_its_call_waiting() {
    let stage = Stage::new(editing).await;
    let (session, approval) = waiting(&stage).await;
    stage.database.limit_size(0).await.unwrap();
    let args = serde_json::json!({"file_path": "/a.txt", "old_string": "one", "new_string": noise(90_000)});
    let edit = Decide { decision: Decision::Edit { args }, ..approving(&approval) };
    let error = stage.sessions.decide(vec![edit]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::StorageUnavailable);
    assert_eq!(stage.snapshot(&session).await.approvals, std::slice::from_ref(&approval));
    stage.database.limit_size(u64::MAX).await.unwrap();
    stage.sessions.decide(vec![approving(&approval)]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn lists_know_after_a_restart_that_a_subagent_asks() {
    let stage = Stage::new(sending).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "have it written".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let stage = stage.restarted(sending).await;
    let listed = async |stage: &Stage| {
        let summary = stage.sessions.list(&stage.project_id).await.unwrap().remove(0);
        (summary.id == session, summary.status, summary.waiting)
    };
    assert_eq!(listed(&stage).await, (true, SessionStatus::Waiting, 1));
    let approval = stage.snapshot(&session).await.approvals.remove(0);
    stage.sessions.decide(vec![approving(&approval)]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let stage = stage.restarted(sending).await;
    assert_eq!(listed(&stage).await, (true, SessionStatus::Idle, 0));
}
