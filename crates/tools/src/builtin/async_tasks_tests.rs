use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fixture::{Canned, Fixture, cards};
use crate::{
    Background, BackgroundTask, BoxFuture, Delegate, DelegateRequest, FollowUp, TaskStatus, ToolError, ToolKind,
    ToolOutput, ToolRegistry,
};

/// Two subagents: one at work and one that has answered.
#[derive(Clone, Default)]
struct Two(Arc<Mutex<Vec<String>>>);

fn task(id: &str, status: TaskStatus) -> BackgroundTask {
    BackgroundTask {
        id: id.into(),
        agent: "researcher".into(),
        description: "look\nat everything".into(),
        status,
        answer: (status == TaskStatus::Success).then(|| "found it".into()),
        problem: (status == TaskStatus::Cancelled).then(|| "it was stopped".into()),
        created_at: 1,
        updated_at: 2,
    }
}

impl Two {
    fn find(&self, told: String, id: &str, status: TaskStatus) -> Result<BackgroundTask, ToolError> {
        self.0.lock().unwrap().push(told);
        match id {
            "s1" => Ok(task(id, status)),
            "long" => Ok(BackgroundTask { answer: Some("x".repeat(1_000_000)), ..task(id, status) }),
            _ => Err(ToolError::Model(format!("Error: there is no async task '{id}'"))),
        }
    }
}

impl Delegate for Two {
    fn delegate(&self, _request: DelegateRequest) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::default()) })
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(self)
    }
}

impl Background for Two {
    fn start(&self, request: DelegateRequest) -> BoxFuture<'_, Result<BackgroundTask, ToolError>> {
        Box::pin(async move { self.find(format!("start {}", request.description), "s1", TaskStatus::Running) })
    }

    fn check<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BackgroundTask, ToolError>> {
        Box::pin(async move { self.find("check".into(), id, TaskStatus::Success) })
    }

    fn update<'a>(
        &'a self,
        id: &'a str,
        message: String,
        how: FollowUp,
    ) -> BoxFuture<'a, Result<BackgroundTask, ToolError>> {
        Box::pin(async move { self.find(format!("{how:?} {message}"), id, TaskStatus::Running) })
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BackgroundTask, ToolError>> {
        Box::pin(async move { self.find("cancel".into(), id, TaskStatus::Cancelled) })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<BackgroundTask>, ToolError>> {
        Box::pin(async { Ok(vec![task("s1", TaskStatus::Running), task("s2", TaskStatus::Waiting)]) })
    }
}

fn fixture(two: Two) -> Fixture {
    let mut fixture = Fixture::canned(Canned::default()).delegate(two);
    fixture.tools = ToolRegistry::new(super::background_tools(cards())).unwrap();
    fixture
}

#[tokio::test]
async fn the_five_tools_hand_on_and_report() {
    let two = Two::default();
    let fixture = fixture(two.clone());
    let args = json!({"description": "dig", "subagent_type": "researcher"});
    assert!(fixture.ok("start_async_task", args).await.contains("s1"));
    let report: Value = serde_json::from_str(&fixture.ok("check_async_task", json!({"task_id": "s1"})).await).unwrap();
    assert_eq!(report, json!({"status": "success", "thread_id": "s1", "result": "found it"}));
    fixture.ok("update_async_task", json!({"task_id": "s1", "message": "more"})).await;
    fixture.ok("update_async_task", json!({"task_id": "s1", "message": "later", "strategy": "enqueue"})).await;
    assert!(fixture.ok("cancel_async_task", json!({"task_id": "s1"})).await.starts_with("Cancelled"));
    assert_eq!(*two.0.lock().unwrap(), ["start dig", "check", "Interrupt more", "Enqueue later", "cancel"]);
    let all = fixture.ok("list_async_tasks", json!({})).await;
    assert_eq!(
        all,
        "2 async tasks:\n- task_id: s1 agent: researcher status: running; look at everything\n\
         - task_id: s2 agent: researcher status: waiting; look at everything"
    );
    let some = fixture.ok("list_async_tasks", json!({"status_filter": "waiting"})).await;
    assert!(some.contains("s2") && !some.contains("s1"), "{some}");
    assert_eq!(fixture.ok("list_async_tasks", json!({"status_filter": "error"})).await, "No async tasks found.");
}

#[tokio::test]
async fn a_long_answer_is_cut_and_kept_whole_for_whoever_has_room_for_it() {
    let output = fixture(Two::default()).run("check_async_task", json!({"task_id": "long"})).await;
    let shown: Value = serde_json::from_str(&bosun_model::text_of(&output.content)).unwrap();
    let shown = shown["result"].as_str().unwrap();
    assert!(shown.len() < crate::OUTPUT_CHARS + 100 && shown.contains("characters left out"));
    let whole = output.full_output.unwrap().read(0, 2_000_000).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&whole).unwrap()["result"], "x".repeat(1_000_000));
}

#[tokio::test]
async fn what_is_wrong_is_an_error_for_the_model() {
    let fixture = fixture(Two::default());
    let nobody = json!({"description": "dig", "subagent_type": "nobody"});
    assert!(fixture.err("start_async_task", nobody).await.contains("general-purpose, researcher"));
    assert!(fixture.err("check_async_task", json!({"task_id": "s9"})).await.contains("'s9'"));
    let bad = json!({"task_id": "s1", "message": "x", "strategy": "shout"});
    assert!(fixture.err("update_async_task", bad).await.contains("shout"));
    let mut alone = Fixture::canned(Canned::default());
    alone.tools = ToolRegistry::new(super::background_tools(cards())).unwrap();
    assert!(alone.err("list_async_tasks", json!({})).await.contains("use `task`"));
}

#[test]
fn kinds_decide_rows_and_rules() {
    let fixture = fixture(Two::default());
    let kinds: Vec<ToolKind> = fixture.tools.names().filter_map(|name| Some(fixture.tools.get(name)?.kind())).collect();
    let (delegate, read) = (ToolKind::Delegate, ToolKind::Read);
    assert_eq!(kinds, [delegate, read, delegate, delegate, read]);
}
