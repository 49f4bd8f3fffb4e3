//! One subagent stopped alone, and all that is at work.

use bosun_model::{ChatRequest, text_of};
use bosun_protocol::{AgentStatus, ErrorCode, ItemBody, SessionId, SessionStatus, ToolState};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::{edit, progress};
use super::stage::{HELD, Stage};

/// Sends two subagents, of which each reads a file and then asks to change it.
fn sending(request: &ChatRequest) -> Reply {
    let task = |task: &str| json!({ "description": task, "subagent_type": "general-purpose" });
    match progress(request) {
        (text, 0) if text == "send" => {
            Reply::default().and_call_with_id("x", "task", task("work x")).and_call_with_id("y", "task", task("work y"))
        }
        (text, 2) if text == "send" => Reply::text("Both are back."),
        (text, 0) if text == "send ten" => (0..10).fold(Reply::default(), |reply, n| {
            reply.and_call_with_id(format!("t{n}"), "task", task(&format!("work {n}")))
        }),
        (_, 0) => Reply::default().and_call_with_id("r", "read_file", json!({ "file_path": "/a.txt" })),
        (_, 1) => edit("e", "one", "1"),
        _ => Reply::text("Changed."),
    }
}

#[tokio::test]
async fn one_subagent_is_stopped_alone_and_its_parent_is_told() {
    let stage = Stage::new(sending).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "send".into()).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(quiet.waiting, 2);
    let agents = stage.snapshot(&session).await.agents;
    let child = |task: &str| agents.iter().find(|agent| agent.description == task).unwrap().session.clone();
    stage.sessions.stop_subagent(&session, &child("work x")).await.unwrap();
    let stopped = async || {
        let agents = stage.snapshot(&session).await.agents;
        agents.into_iter().find(|agent| agent.session == child("work x")).unwrap().status
    };
    while stopped().await != AgentStatus::Cancelled {
        tokio::task::yield_now().await;
    }
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!((quiet.waiting, quiet.summary.status), (1, SessionStatus::Waiting), "the other goes on waiting");
    let again = stage.sessions.stop_subagent(&session, &child("work x")).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::NotFound);

    let approval = stage.snapshot(&session).await.approvals.remove(0);
    let decide = bosun_protocol::Decide {
        session: approval.session,
        call_id: approval.call_id,
        digest: approval.digest,
        decision: bosun_protocol::Decision::Approve,
    };
    stage.sessions.decide(vec![decide]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let snapshot = stage.snapshot(&session).await;
    assert_eq!(snapshot.session.status, SessionStatus::Idle);
    let rows = snapshot.items.iter().filter_map(|item| match &item.body {
        ItemBody::Tool(tool) => Some((tool.call_id.as_str(), tool.state, tool.output.contains("it was stopped"))),
        _ => None,
    });
    let rows = rows.collect::<Vec<_>>();
    assert_eq!(rows, [("x", ToolState::Failed, true), ("y", ToolState::Done, false)]);
}

#[tokio::test]
async fn who_waits_for_a_slot_is_seen_to_and_can_be_stopped() {
    let stage = Stage::new(sending).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "send ten".into()).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().waiting, 8);
    let with = async |status: AgentStatus| {
        let agents = stage.snapshot(&session).await.agents.into_iter().skip(1);
        agents.filter(|agent| agent.status == status).map(|agent| agent.session).collect::<Vec<_>>()
    };
    let queued = with(AgentStatus::Queued).await;
    let [stopped, next] = <[_; 2]>::try_from(queued).unwrap();
    stage.sessions.stop_subagent(&session, &stopped).await.unwrap();
    while with(AgentStatus::Cancelled).await != std::slice::from_ref(&stopped) {
        tokio::task::yield_now().await;
    }
    assert_eq!(with(AgentStatus::Queued).await, std::slice::from_ref(&next), "its slot was none");
    let at_work = with(AgentStatus::Waiting).await.remove(0);
    stage.sessions.stop_subagent(&session, &at_work).await.unwrap();
    while !with(AgentStatus::Waiting).await.contains(&next) {
        tokio::task::yield_now().await;
    }
    let items = stage.snapshot(&session).await.items.into_iter();
    let told =
        items.filter(|item| matches!(&item.body, ItemBody::Tool(tool) if tool.output.contains("it was stopped")));
    assert_eq!(told.count(), 2);
    stage.sessions.stop(&session).await.unwrap();
    assert_eq!(with(AgentStatus::Cancelled).await.len(), 10);
}

/// `ask` asks to change a file; `beside` sends a subagent beside itself that is held; all else is answered, or held.
fn working(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "ask" => edit("e", "one", "1"),
        (text, 0) if text == "beside" => {
            let task = json!({ "description": HELD, "subagent_type": "general-purpose" });
            Reply::default().and_call_with_id("b", "start_async_task", task)
        }
        (text, _) if text == "and now?" => {
            let words = request.messages.iter().map(|message| text_of(message.content()));
            Reply::text(words.filter(|words| words.contains("async_task_notification")).collect::<String>())
        }
        _ => Reply::text("Done."),
    }
}

/// The sessions that are at work.
async fn at_work(stage: &Stage) -> Vec<SessionId> {
    stage.sessions.at_work().await.into_iter().map(|session| session.id).collect()
}

#[tokio::test]
async fn who_waits_for_a_person_is_not_at_work_and_all_that_are_can_be_stopped() {
    let stage = Stage::new(working).await;
    let [held, other, asking] = [stage.session().await, stage.session().await, stage.session().await];
    assert_eq!(at_work(&stage).await, []);
    for session in [&held, &other] {
        stage.sessions.send(session, format!("long {HELD}")).await.unwrap();
    }
    stage.sessions.send(&asking, "ask".into()).await.unwrap();
    assert_eq!(stage.sessions.quiet(&asking).await.unwrap().waiting, 1);
    let mut working = at_work(&stage).await;
    working.sort();
    assert_eq!(working, [held.clone(), other.clone()]);
    assert_eq!([stage.sessions.waits(&held), stage.sessions.waits(&asking)], [false, true]);

    stage.sessions.stop_all(&working).await;
    assert_eq!(at_work(&stage).await, []);
    let stage = stage.restarted(|_| Reply::text("")).await;
    for (session, status) in
        [(held, SessionStatus::Stopped), (other, SessionStatus::Stopped), (asking, SessionStatus::Waiting)]
    {
        assert_eq!(stage.snapshot(&session).await.session.status, status);
    }
}

#[tokio::test]
async fn a_subagent_beside_its_session_is_at_work_and_one_that_asks_is_not() {
    let stage = Stage::new(working).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "beside".into()).await.unwrap();
    while stage.snapshot(&session).await.session.status != SessionStatus::Idle {
        tokio::task::yield_now().await;
    }
    assert_eq!(at_work(&stage).await, std::slice::from_ref(&session));
    stage.held.add_permits(1);
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(at_work(&stage).await, []);

    let stage = Stage::new(super::background::sending).await;
    let session = super::background::sent(&stage).await;
    assert_eq!(stage.sessions.working_beside(&session).await.unwrap(), 1);
    assert_eq!((at_work(&stage).await, stage.sessions.waits(&session)), (vec![], true));
}

fn said(snapshot: &bosun_protocol::Snapshot) -> Vec<&str> {
    let said = snapshot.items.iter().filter_map(|item| match &item.body {
        ItemBody::Ai { text, .. } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    said.collect()
}

#[tokio::test]
async fn subagents_beside_a_session_are_stopped_with_all_and_the_next_turn_tells_the_model() {
    for is_at_rest in [true, false] {
        let stage = Stage::new(working).await;
        let session = stage.session().await;
        stage.sessions.send(&session, "beside".into()).await.unwrap();
        while stage.snapshot(&session).await.session.status != SessionStatus::Idle {
            tokio::task::yield_now().await;
        }
        if !is_at_rest {
            stage.sessions.send(&session, format!("long {HELD}")).await.unwrap();
        }
        stage.sessions.stop_all(&at_work(&stage).await).await;
        assert_eq!(stage.sessions.working_beside(&session).await.unwrap(), 0);
        assert_eq!(stage.sessions.quiet(&session).await.unwrap().waiting, 0);
        assert_eq!(at_work(&stage).await, []);

        let stage = stage.restarted(working).await;
        let snapshot = stage.snapshot(&session).await;
        assert_eq!((snapshot.agents[1].status, said(&snapshot)), (AgentStatus::Cancelled, vec!["Done."]));
        assert_eq!(stage.sessions.left_beside(&session).await.unwrap(), 0);
        stage.sessions.send(&session, "and now?".into()).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        let snapshot = stage.snapshot(&session).await;
        let told = said(&snapshot).pop().unwrap();
        assert!(told.contains("status: cancelled") && told.contains("stopped by the user"), "{told}");
        assert_eq!((said(&snapshot).len(), stage.sessions.working_beside(&session).await.unwrap()), (2, 0));
    }
}
