use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_agent::{EntryBody, MemoryHost, Recorded, SessionId};
use bosun_harness::{TodoEvidence, todo_evidence};
use bosun_model::Usage;
use bosun_testkit::{Reply, Scripted};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::scene::{Scene, scene};

fn plan(id: &str, states: [&str; 2]) -> Scripted {
    let todos = json!({"todos": [{"content": "look", "status": states[0]}, {"content": "write", "status": states[1]}]});
    call(id, "write_todos", todos)
}

fn call(id: &str, name: &str, args: Value) -> Scripted {
    let usage = Usage { input: Some(100), output: Some(10), ..Usage::default() };
    Reply::new().and_call_with_id(id, name, args).usage(usage).into()
}

fn write(id: &str, path: &str) -> Scripted {
    call(id, "write_file", json!({"file_path": path, "content": "x"}))
}

/// The entries of a session of the tree under `host`.
fn entries_of(host: &Arc<MemoryHost>, session: &SessionId) -> Vec<Recorded> {
    let mut hosts = vec![Arc::clone(host)];
    while let Some(host) = hosts.pop() {
        let entries = host.entries();
        for recorded in &entries {
            if let EntryBody::SubagentStarted { call_id, child, .. } = &recorded.entry.body {
                let found = host.child_of(call_id).unwrap();
                if child == session {
                    return found.entries();
                }
                hosts.push(found);
            }
        }
    }
    Vec::new()
}

fn evidence(scene: &Scene) -> BTreeMap<String, TodoEvidence> {
    let child = |session: &SessionId| entries_of(&scene.host, session);
    todo_evidence(&"s".into(), &scene.host.entries(), &child)
}

fn tools(evidence: &TodoEvidence) -> Vec<(&str, bool)> {
    evidence.calls.iter().map(|call| (call.tool.as_str(), call.succeeded)).collect()
}

#[tokio::test]
async fn calls_belong_to_what_was_in_progress_when_they_were_proposed() {
    let replies = vec![
        call("a", "ls", json!({"path": "/"})),
        plan("p1", ["in_progress", "pending"]),
        call("b", "ls", json!({"path": "/nowhere"})),
        plan("p2", ["completed", "in_progress"]),
        write("c", "/c.txt"),
        plan("p3", ["in_progress", "in_progress"]),
        write("d", "/d.txt"),
        "done".into(),
    ];
    let scene = scene(replies, |_| {});
    scene.say("go").await;
    let evidence = evidence(&scene);
    let (look, write) = (&evidence["todo-1"], &evidence["todo-2"]);
    assert_eq!(tools(look), [("ls", false), ("write_file", true)]);
    assert_eq!(tools(write), [("write_file", true), ("write_file", true)]);
    assert_eq!(write.files.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["/c.txt", "/d.txt"]);
    // Two replies of its own, and half of the reply that both share and of the last one, which has the usual usage.
    assert_eq!((look.usage.input, look.usage.output), (Some(100 + 100 + 50 + 5), Some(10 + 10 + 5 + 2)));
}

#[tokio::test]
async fn what_subagents_did_belongs_to_the_todo_they_were_sent_for() {
    let task = |id: &str| call(id, "task", json!({"description": "do it", "subagent_type": "general-purpose"}));
    let replies = vec![
        plan("p1", ["in_progress", "pending"]),
        task("t1"),
        task("t2"),
        write("w", "/deep.txt"),
        "written".into(),
        "delegated".into(),
        "done".into(),
    ];
    let scene = scene(replies, |_| {});
    scene.say("go").await;
    let evidence = evidence(&scene);
    assert_eq!(evidence.keys().collect::<Vec<_>>(), ["todo-1"]);
    assert_eq!(evidence["todo-1"].files.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["/deep.txt"]);
    assert_eq!(tools(&evidence["todo-1"]), [("write_file", true), ("task", true), ("task", true)]);
}
