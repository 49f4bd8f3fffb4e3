//! The order of the calls of one step, where it matters.

use bosun_agent::{AgentError, Decision, EntryBody, PermissionRule, Policy, ToolOutcome, TurnEnd};
use bosun_testkit::{Project, Reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Scene, from, scene};

fn everything_passes() -> Policy {
    let all = PermissionRule::AllowAll { name: "test".into() };
    Policy { edits: all.clone(), commands: all, ..Policy::default() }
}

fn write(reply: Reply, id: &str, path: &str, content: &str) -> Reply {
    reply.and_call_with_id(id, "write_file", json!({"file_path": path, "content": content}))
}

fn execute(reply: Reply, id: &str, command: &str) -> Reply {
    reply.and_call_with_id(id, "execute", json!({"command": command}))
}

async fn ran(scene: &Scene) -> Result<Option<TurnEnd>, AgentError> {
    scene.begin().await;
    Ok(scene.run_until_quiet().await)
}

#[tokio::test]
async fn a_folder_and_what_is_in_it_are_changed_in_call_order() {
    let files = (0..40).fold(Project::new(), |project, n| project.file(&format!("demo/{n}"), "old"));
    let delete = Reply::default().and_call_with_id("d", "delete", json!({"file_path": "/demo"}));
    let reply = write(delete, "w", "/demo/hello.py", "new");
    let apart = write(reply, "v", "/demo2", "not within");
    let scene = from(files, everything_passes(), vec![apart.into(), "done".into()], vec![], vec![]);
    assert_eq!(ran(&scene).await, Ok(Some(TurnEnd::Done)));
    assert!(!scene.result("d").1.contains("Error"), "{}", scene.result("d").1);
    assert_eq!(scene.project.tree(), ["demo/", "demo/hello.py", "demo2"]);
    let reply = write(Reply::default(), "w", "/demo/hello.py", "new");
    let reply = reply.and_call_with_id("d", "delete", json!({"file_path": "/demo"}));
    let scene = self::scene(everything_passes(), vec![reply.into(), "done".into()]);
    assert_eq!(ran(&scene).await, Ok(Some(TurnEnd::Done)));
    assert_eq!(scene.project.tree(), ["a.txt"]);
}

#[tokio::test]
async fn a_command_runs_behind_the_changes_before_it_and_ahead_of_those_after_it() {
    for _ in 0..10 {
        let reply = write(Reply::default(), "w", "/n.txt", "first");
        let reply = execute(reply, "x", "sleep 0.05; cat n.txt; ls later.txt");
        let reply = write(reply, "v", "/later.txt", "later");
        let scene = scene(everything_passes(), vec![reply.into(), "done".into()]);
        assert_eq!(ran(&scene).await, Ok(Some(TurnEnd::Done)));
        let (outcome, text) = scene.result("x");
        assert_eq!(outcome, ToolOutcome::Ran);
        assert!(text.contains("first") && text.contains("later.txt"), "{text}");
        assert!(text.contains("No such file") || text.contains("cannot access"), "{text}");
        assert!(scene.project.exists("later.txt"));
    }
}

#[tokio::test]
async fn a_command_asks_beside_the_change_before_it_and_waits_for_it_when_approved_first() {
    let reply = execute(write(Reply::default(), "w", "/n.txt", "first"), "x", "cat n.txt");
    let scene = scene(Policy::default(), vec![reply.into(), "done".into()]);
    assert_eq!(ran(&scene).await, Ok(None));
    assert_eq!(scene.log.with_state(|state| state.waiting().count()), 2);
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, None);
    scene.decide(&scene.log, "w", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(scene.result("x").1.contains("first"), "{}", scene.result("x").1);
}

/// The calls that a person was asked about, in the order of the journal.
fn asked(scene: &Scene) -> Vec<String> {
    let entries = scene.host.entries().into_iter();
    let asks = entries.filter_map(|recorded| match recorded.entry.body {
        EntryBody::Asked { ask } => Some(ask.call.id.to_string()),
        _ => None,
    });
    asks.collect()
}

#[tokio::test]
async fn a_person_is_asked_in_call_order_however_long_a_preview_takes() {
    let project = (0..60).fold(Project::new(), |project, n| project.file(&format!("many/{n}/{n}"), "x"));
    let delete = Reply::default().and_call_with_id("d", "delete", json!({"file_path": "/many"}));
    let read = delete.and_call_with_id("l", "ls", json!({"path": "/"}));
    let behind = write(read, "b", "/many/new", "x");
    let reply = execute(write(behind, "w", "/n.txt", "first"), "x", "cat n.txt");
    let scene = from(project, Policy::default(), vec![reply.into(), "done".into()], vec![], vec![]);
    assert_eq!(ran(&scene).await, Ok(None));
    assert_eq!(asked(&scene), ["d", "w", "x"], "what meets the folder as the deletion leaves it asks later");
    assert!(scene.result("l").1.contains("many"), "what needs no answer does not wait");
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    scene.decide(&scene.log, "d", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, None);
    assert_eq!(asked(&scene), ["d", "w", "x", "b"]);
    scene.decide(&scene.log, "b", Decision::Approve).await.unwrap();
    scene.decide(&scene.log, "w", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert_eq!(scene.project.tree(), ["many/", "many/new", "n.txt"]);
}
