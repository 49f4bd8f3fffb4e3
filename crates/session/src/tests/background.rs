//! Subagents that work beside the session.

use bosun_model::{ChatRequest, Message};
use bosun_protocol::{AgentStatus, Decision, ItemBody, SessionEvent, SessionId, SessionStatus};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::{edit, progress};
use super::stage::Stage;

/// The id of the async task that the call `id` began.
fn task_of(request: &ChatRequest, id: &str) -> String {
    let result = request.messages.iter().find_map(|message| match &**message {
        Message::Tool(result) if result.call_id.as_str() == id => Some(result.text()),
        _ => None,
    });
    let words = result.unwrap_or_else(|| panic!("no result of {id}"));
    words
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .find(|word| word.starts_with("id-"))
        .unwrap()
        .to_owned()
}

/// Sends two beside itself, each of which asks before it changes a file; looks at them, tells the one more, ends the
/// other, and answers notices.
pub(super) fn sending(request: &ChatRequest) -> Reply {
    let begin = |task: &str| json!({ "description": task, "subagent_type": "general-purpose" });
    match progress(request) {
        (text, 0) if text == "send" => Reply::default()
            .and_call_with_id("one", "start_async_task", begin("work one"))
            .and_call_with_id("two", "start_async_task", begin("work two")),
        (text, 2) if text == "send" => Reply::default()
            .and_call_with_id("list", "list_async_tasks", json!({}))
            .and_call_with_id("check", "check_async_task", json!({ "task_id": task_of(request, "one") })),
        (text, 4) if text == "send" => {
            let more = json!({ "task_id": task_of(request, "one"), "message": "also this", "strategy": "enqueue" });
            Reply::default().and_call_with_id("update", "update_async_task", more).and_call_with_id(
                "cancel",
                "cancel_async_task",
                json!({ "task_id": task_of(request, "two") }),
            )
        }
        (text, _) if text == "send" => Reply::text("I am free."),
        (text, _) if text.contains("async_task_notification") => Reply::text("I was told."),
        (text, _) if text == "also this" => Reply::text("this too"),
        (_, 0) => Reply::default().and_call_with_id("r", "read_file", json!({ "file_path": "/a.txt" })),
        (_, 1) => edit("e", "one", "1"),
        _ => Reply::text("changed"),
    }
}

pub(super) async fn sent(stage: &Stage) -> SessionId {
    let session = stage.session().await;
    stage.sessions.send(&session, "send".into()).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(quiet.waiting, 1, "of the two, one was ended");
    session
}

async fn texts(stage: &Stage, session: &SessionId) -> Vec<String> {
    let items = stage.snapshot(session).await.items.into_iter();
    let said = items.filter_map(|item| match item.body {
        ItemBody::Ai { text, .. } if !text.is_empty() => Some(text.to_string()),
        _ => None,
    });
    said.collect()
}

/// The subagents by name: those of one step begin beside each other, in whatever order.
async fn statuses(stage: &Stage, session: &SessionId) -> Vec<(String, AgentStatus)> {
    let agents = stage.snapshot(session).await.agents.into_iter().skip(1);
    let mut agents: Vec<_> = agents.map(|agent| (agent.description, agent.status)).collect();
    agents.sort_by(|a, b| a.0.cmp(&b.0));
    agents
}

#[tokio::test]
async fn they_are_begun_looked_at_told_more_ended_and_their_end_is_told_to_the_idle_parent() {
    let stage = Stage::new(sending).await;
    let session = sent(&stage).await;
    let outputs = stage.snapshot(&session).await.items.into_iter().filter_map(|item| match item.body {
        ItemBody::Tool(tool) => Some((tool.call_id.to_string(), tool.output)),
        _ => None,
    });
    let outputs: std::collections::BTreeMap<String, String> = outputs.collect();
    assert_eq!(outputs["list"].matches("task_id: ").count(), 2, "{outputs:?}");
    assert!(outputs["check"].contains("status"), "{}", outputs["check"]);
    assert!(outputs["cancel"].contains("Cancelled") && outputs["update"].contains("Told"), "{outputs:?}");
    let waiting = ("work one".to_owned(), AgentStatus::Waiting);
    assert_eq!(statuses(&stage, &session).await, [waiting, ("work two".into(), AgentStatus::Cancelled)]);
    assert_eq!(stage.sessions.working_beside(&session).await.unwrap(), 1);
    assert_eq!(texts(&stage, &session).await, ["I am free."]);

    stage.decide(&session, "e", Decision::Approve).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!((quiet.waiting, quiet.summary.status), (0, SessionStatus::Idle));
    assert_eq!(texts(&stage, &session).await, ["I am free.", "I was told."]);
    assert_eq!(statuses(&stage, &session).await[0].1, AgentStatus::Done);
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
    // A notice is not a person's message.
    let humans =
        stage.snapshot(&session).await.items.into_iter().filter(|item| matches!(item.body, ItemBody::Human { .. }));
    assert_eq!(humans.count(), 1);
}

/// Whether each subagent works beside the session, by what it was sent to do.
async fn beside(stage: &Stage, session: &SessionId) -> Vec<(String, bool)> {
    let agents = stage.snapshot(session).await.agents.into_iter();
    let mut agents: Vec<_> = agents.map(|agent| (agent.description, agent.beside)).collect();
    agents.sort();
    agents
}

#[tokio::test]
async fn the_tree_says_which_work_beside_the_session_also_after_a_restart() {
    let stage = Stage::new(|request| match progress(request) {
        (text, 0) if text == "send" => {
            let send = |task: &str| json!({ "description": task, "subagent_type": "general-purpose" });
            Reply::default().and_call_with_id("a", "start_async_task", send("work beside")).and_call_with_id(
                "b",
                "task",
                send("work awaited"),
            )
        }
        (text, _) if text == "send" => Reply::text("Both are sent."),
        _ => Reply::text("Done."),
    })
    .await;
    let session = stage.session().await;
    let mut events = stage.sessions.subscribe(&session).await.unwrap().events;
    stage.sessions.send(&session, "send".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let all = [(String::new(), false), ("work awaited".into(), false), ("work beside".into(), true)];
    assert_eq!(beside(&stage, &session).await, all);
    let told = events.now().into_iter().filter_map(|envelope| match envelope.event {
        SessionEvent::AgentUpdated { agent } => Some((agent.description, agent.beside)),
        _ => None,
    });
    assert_eq!(told.collect::<std::collections::BTreeMap<_, _>>(), all.clone().into());

    let stage = stage.restarted(sending).await;
    assert_eq!(beside(&stage, &session).await, all);
}

#[tokio::test]
async fn with_a_deleted_session_they_end_and_what_they_asked_lapses() {
    let stage = Stage::new(sending).await;
    let session = sent(&stage).await;
    let requests = texts(&stage, &session).await.len();
    stage.sessions.delete(&session).await.unwrap();
    assert_eq!(stage.sessions.working_beside(&session).await.unwrap(), 0);
    let snapshot = stage.snapshot(&session).await;
    assert!(snapshot.approvals.is_empty() && snapshot.session.waiting == 0, "{:?}", snapshot.approvals);
    assert_eq!(texts(&stage, &session).await.len(), requests, "nobody goes on in a session that is gone");
    stage.sessions.restore(&session).await.unwrap();
    let cancelled = |task: &str| (task.to_owned(), AgentStatus::Cancelled);
    assert_eq!(statuses(&stage, &session).await, [cancelled("work one"), cancelled("work two")]);
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n");
}
