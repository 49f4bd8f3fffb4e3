//! What was done for each line of the plan, as it is shown.

use bosun_model::ChatRequest;
use bosun_protocol::{ItemBody, SessionId, TodoEvidence};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// Looks, sends a subagent that writes, and writes at two lines at once.
fn planning(request: &ChatRequest) -> Reply {
    let plan = |states: [&str; 2]| {
        let [look, write] = states;
        json!({ "todos": [{ "content": "look", "status": look }, { "content": "write", "status": write }] })
    };
    let write = |path: &str| json!({ "file_path": path, "content": "x\ny\n" });
    match progress(request) {
        (text, 0) if text == "go" => Reply::default()
            .and_call_with_id("p1", "write_todos", plan(["in_progress", "pending"]))
            .and_call_with_id("r", "read_file", json!({ "file_path": "/a.txt" })),
        (text, 2) if text == "go" => Reply::default()
            .and_call_with_id("p2", "write_todos", plan(["completed", "in_progress"]))
            .and_call_with_id("t", "task", json!({ "description": "write it", "subagent_type": "general-purpose" })),
        (text, 4) if text == "go" => {
            Reply::default().and_call_with_id("p3", "write_todos", plan(["in_progress", "in_progress"]))
        }
        (text, 5) if text == "go" => Reply::default()
            .and_call_with_id("w", "write_file", write("/both.txt"))
            .and_call_with_id("n", "read_file", json!({ "file_path": "/nowhere" })),
        (_, 0) => Reply::default().and_call_with_id("w", "write_file", write("/deep.txt")),
        _ => Reply::text("done"),
    }
}

async fn evidence(stage: &Stage, session: &SessionId) -> Vec<TodoEvidence> {
    let mut evidence = stage.snapshot(session).await.evidence;
    evidence.sort_by(|a, b| a.todo.cmp(&b.todo));
    evidence
}

/// The todos of each call of the session, by the call's id.
async fn owners(stage: &Stage, session: &SessionId) -> Vec<(String, Vec<String>)> {
    let items = stage.snapshot(session).await.items.into_iter();
    let tools = items.filter_map(|item| match item.body {
        ItemBody::Tool(tool) => Some((tool.call_id.to_string(), tool.todos)),
        _ => None,
    });
    tools.filter(|(call, _)| !call.starts_with('p')).collect()
}

#[tokio::test]
async fn every_line_has_its_calls_files_agents_time_and_cost_also_after_a_restart() {
    let stage = Stage::allowing_edits(planning).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "go".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let shown = evidence(&stage, &session).await;
    let [look, write] = shown.as_slice() else { panic!("{shown:?}") };
    assert_eq!(
        (look.todo.as_str(), look.calls, look.failed, look.files.as_slice()),
        ("todo-1", 3, 1, &["/both.txt".to_owned()][..])
    );
    assert_eq!((write.calls, write.failed, write.file_count), (4, 1, 2));
    assert_eq!(
        (write.files.as_slice(), write.agents.as_slice()),
        (&["/both.txt".to_owned(), "/deep.txt".to_owned()][..], &["general-purpose".to_owned()][..])
    );
    assert_eq!((look.added, write.added, write.removed), (2, 4, 0));
    assert!(look.ran_ms > 0 && write.ran_ms > 0 && look.input_tokens > 0 && write.output_tokens > 0, "{shown:?}");
    let by_call = owners(&stage, &session).await;
    let of = |todos: &[&str]| todos.iter().map(ToString::to_string).collect::<Vec<_>>();
    let both = of(&["todo-1", "todo-2"]);
    let expected = [("r", of(&["todo-1"])), ("t", of(&["todo-2"])), ("w", both.clone()), ("n", both)];
    assert_eq!(by_call, expected.map(|(call, todos)| (call.to_owned(), todos)));

    let stage = stage.restarted(planning).await;
    assert_eq!((evidence(&stage, &session).await, owners(&stage, &session).await), (shown, by_call));
}

#[tokio::test]
async fn a_rewind_takes_the_evidence_along() {
    let stage = Stage::allowing_edits(planning).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "go".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let whole = evidence(&stage, &session).await;
    let checkpoints = stage.timeline(&session).await.checkpoints;
    // Behind the first step: the subagent was not sent yet.
    let first = checkpoints.iter().find(|at| at.kind == bosun_protocol::CheckpointKind::Step).unwrap();
    stage.sessions.rewind(&session, first.seq, bosun_protocol::RewindWhat::Conversation, &[]).await.unwrap();
    let then = evidence(&stage, &session).await;
    assert_eq!(then.iter().map(|one| (one.todo.as_str(), one.calls)).collect::<Vec<_>>(), [("todo-1", 1)]);
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!(evidence(&stage, &session).await, whole);
}
