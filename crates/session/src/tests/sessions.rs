use bosun_model::{ChatRequest, Message};
use bosun_protocol::{
    ChangeScope, Decision, ErrorCode, ItemBody, SessionEvent, SessionStatus, Snapshot, ToolItem, ToolState,
};
use bosun_testkit::{Ending, Reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// How many results the last human message has had so far, and its text.
pub(super) fn progress(request: &ChatRequest) -> (String, usize) {
    let mut results = 0;
    for message in request.messages.iter().rev() {
        match &**message {
            Message::Tool(_) => results += 1,
            Message::Human(human) if bosun_agent::OutsideChange::is_told_by(human) => {}
            Message::Human(human) => return (bosun_model::text_of(&human.content), results),
            Message::Ai(_) | Message::System(_) => {}
        }
    }
    (String::new(), results)
}

pub(super) fn edit(id: &str, old: &str, new: &str) -> Reply {
    let args = json!({"file_path": "/a.txt", "old_string": old, "new_string": new});
    Reply::default().and_call_with_id(id, "edit_file", args)
}

pub(super) fn editing(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text.contains("edit") => {
            Reply::text("Reading.").and_call_with_id("r", "read_file", json!({"file_path": "/a.txt"}))
        }
        (text, 1) if text.contains("edit") => edit("e", "one", "1"),
        (text, _) if text.contains("cut") => {
            Reply { ending: Ending::CutInCall, ..Reply::text("Let me ").and_call("ls", json!({"path": "/"})) }
        }
        _ => Reply::text("Done."),
    }
}

fn tool<'a>(snapshot: &'a Snapshot, call_id: &str) -> &'a ToolItem {
    let mut tools = snapshot.items.iter().filter_map(|item| match &item.body {
        ItemBody::Tool(tool) => Some(tool),
        ItemBody::Human { .. } | ItemBody::Ai { .. } | ItemBody::Notice(_) => None,
    });
    tools.find(|tool| tool.call_id.as_str() == call_id).unwrap()
}

#[tokio::test]
async fn a_message_becomes_an_approved_edit_on_disk() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt, please".into()).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!((quiet.waiting, quiet.summary.status), (1, SessionStatus::Waiting));
    assert_eq!(quiet.summary.title, "edit a.txt, please");
    let waiting = stage.snapshot(&session).await;
    assert_eq!(tool(&waiting, "e").state, ToolState::Waiting);
    stage.decide(&session, "e", Decision::Approve).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!((quiet.waiting, quiet.summary.status), (0, SessionStatus::Idle));
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
    let done = stage.snapshot(&session).await;
    assert_eq!(tool(&done, "e").state, ToolState::Done);
    assert_eq!((done.changes[0].added, done.changes[0].removed), (1, 1));
    let diff = stage.sessions.file_review(&session, "/a.txt", ChangeScope::Session).await.unwrap().diff;
    assert_eq!((diff.added, diff.removed, diff.created), (1, 1, false));
}

#[tokio::test]
async fn a_pending_approval_is_there_after_a_restart_and_can_be_answered_then() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let before = stage.snapshot(&session).await;
    let stage = stage.restarted(editing).await;
    let listed = stage.sessions.list(&stage.project_id).await.unwrap();
    assert_eq!(listed[0].status, SessionStatus::Waiting);
    let after = stage.snapshot(&session).await;
    assert_eq!(after.approvals, before.approvals);
    assert_eq!(after.items, before.items);
    stage.decide(&session, "e", Decision::Respond { text: "leave it".into() }).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().summary.status, SessionStatus::Idle);
    assert_eq!(tool(&stage.snapshot(&session).await, "e").state, ToolState::Answered);
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn a_stale_or_repeated_decision_is_refused_and_changes_nothing() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let approval = stage.snapshot(&session).await.approvals.remove(0);
    let decide = |digest: &str| bosun_protocol::Decide {
        session: approval.session.clone(),
        call_id: approval.call_id.clone(),
        digest: digest.into(),
        decision: Decision::Approve,
    };
    let stale = stage.sessions.decide(vec![decide("other")]).await.unwrap_err();
    assert_eq!(stale.code, ErrorCode::AlreadyDecided);
    stage.sessions.decide(vec![decide(&approval.digest)]).await.unwrap();
    let twice = stage.sessions.decide(vec![decide(&approval.digest)]).await.unwrap_err();
    assert_eq!(twice.code, ErrorCode::AlreadyDecided);
}

#[tokio::test]
async fn messages_sent_meanwhile_wait_and_are_taken_in_order() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    for text in ["second", "never", "third"] {
        stage.sessions.send(&session, text.into()).await.unwrap();
    }
    let queue = stage.snapshot(&session).await.queue;
    stage.sessions.unqueue(&session, &queue[1].id).await.unwrap();
    stage.decide(&session, "e", Decision::Reject { reason: None }).await.unwrap();
    let mut events = stage.sessions.subscribe(&session).await.unwrap().events;
    let humans = || async {
        let items = stage.snapshot(&session).await.items;
        let texts = items.into_iter().filter_map(|item| match item.body {
            ItemBody::Human { text, .. } => Some(text.to_string()),
            ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => None,
        });
        texts.collect::<Vec<_>>()
    };
    while humans().await.len() < 3 {
        events.next().await;
    }
    assert_eq!(humans().await, ["edit a.txt", "second", "third"]);
}

#[tokio::test]
async fn stopping_gives_every_call_a_result_and_a_cut_reply_can_be_tried_again() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.stop(&session).await.unwrap();
    let stopped = stage.snapshot(&session).await;
    assert_eq!((stopped.session.status, stopped.approvals.len()), (SessionStatus::Stopped, 0));
    assert_eq!(tool(&stopped, "e").state, ToolState::Cancelled);
    stage.sessions.send(&session, "cut".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let failed = stage.snapshot(&session).await;
    assert_eq!(failed.session.status, SessionStatus::Failed);
    let texts: Vec<&ItemBody> = failed.items.iter().rev().take(3).map(|item| &item.body).collect();
    assert!(matches!(texts[0], ItemBody::Notice(notice) if notice.detail.contains("ended before")), "{texts:?}");
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.snapshot(&session).await.session.status, SessionStatus::Failed);
}

#[tokio::test]
async fn what_cannot_be_done_is_said() {
    let stage = Stage::new(editing).await;
    let none = stage.sessions.subscribe(&"nope".into()).await.err().unwrap();
    assert_eq!(none.code, ErrorCode::NotFound);
    let session = stage.session().await;
    let empty = stage.sessions.send(&session, "  ".into()).await.unwrap_err();
    assert_eq!(empty.code, ErrorCode::Invalid);
    let project = stage.sessions.open_project(std::path::Path::new("/")).await.unwrap_err();
    assert_eq!(project.code, ErrorCode::ProjectUnusable);
    let no_model = stage.sessions.create(&stage.project_id, None).await.unwrap();
    let error = stage.sessions.send(&no_model.id, "hello".into()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NoModel);
    assert_eq!(stage.snapshot(&no_model.id).await.items, vec![]);
}

/// A subagent that writes a file, for someone who sends it.
pub(super) fn sending(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "Write it" => {
            let args = json!({"file_path": "/new.txt", "content": "new\n"});
            Reply::default().and_call_with_id("w", "write_file", args)
        }
        (_, 0) => {
            let args = json!({"description": "Write it", "subagent_type": "general-purpose"});
            Reply::default().and_call_with_id("t", "task", args)
        }
        _ => Reply::text("Done."),
    }
}

#[tokio::test]
async fn a_subagent_keeps_its_name_and_its_task_over_a_restart() {
    let stage = Stage::new(sending).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "have it written".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let stage = stage.restarted(sending).await;
    let snapshot = stage.snapshot(&session).await;
    let named: Vec<(&str, &str)> =
        snapshot.agents.iter().map(|agent| (agent.name.as_str(), agent.description.as_str())).collect();
    assert_eq!(named, [("main", ""), ("general-purpose", "Write it")]);
    assert_eq!(snapshot.approvals[0].agent, ["main", "general-purpose"]);
}

#[tokio::test]
async fn a_turn_that_begins_or_goes_on_never_shows_as_interrupted() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    let mut subscription = stage.sessions.subscribe(&session).await.unwrap();
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let mut events = subscription.events.now();
    let stage = stage.restarted(editing).await;
    let mut subscription = stage.sessions.subscribe(&session).await.unwrap();
    stage.decide(&session, "e", Decision::Approve).await.unwrap();
    stage.sessions.send(&session, "and again".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    events.append(&mut subscription.events.now());
    let statuses: Vec<SessionStatus> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            SessionEvent::SessionUpdated { session } => Some(session.status),
            _ => None,
        })
        .collect();
    assert!(statuses.contains(&SessionStatus::Running) && statuses.contains(&SessionStatus::Idle), "{statuses:?}");
    assert!(!statuses.contains(&SessionStatus::Interrupted), "{statuses:?}");
}
