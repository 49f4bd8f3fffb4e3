//! What a person changes in the plan.

use bosun_model::{ChatRequest, Message};
use bosun_protocol::{ErrorCode, ItemBody, PlanChange, SessionId, TodoStatus};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// Writes a plan and reads a file; says at last what it was told of the plan.
fn planning(request: &ChatRequest) -> Reply {
    let told = request.messages.iter().rev().find_map(|message| match &**message {
        Message::Human(human) => Some(bosun_model::text_of(&human.content)).filter(|text| text.contains("the plan")),
        _ => None,
    });
    match progress(request) {
        (text, 0) if text == "plan it" => {
            let todos = json!([
                {"content": "Reproduce", "status": "completed"},
                {"content": "Fix", "status": "in_progress"},
                {"content": "Test", "status": "pending"},
            ]);
            Reply::default().and_call_with_id("p", "write_todos", json!({ "todos": todos }))
        }
        _ => Reply::text(told.unwrap_or_else(|| "Nothing was told.".into())),
    }
}

async fn lines(stage: &Stage, session: &SessionId) -> Vec<(String, TodoStatus)> {
    stage.snapshot(session).await.todos.into_iter().map(|todo| (todo.content, todo.status)).collect()
}

async fn planned() -> (Stage, SessionId) {
    let stage = Stage::new(planning).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "plan it".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    (stage, session)
}

#[tokio::test]
async fn a_person_adds_rewords_moves_and_drops_lines_and_the_agent_is_told() {
    let (stage, session) = planned().await;
    let id = async |content: &str| {
        let todos = stage.snapshot(&session).await.todos;
        todos.into_iter().find(|todo| todo.content == content).unwrap().id
    };
    let change = async |change: PlanChange| stage.sessions.change_plan(&session, change).await.unwrap();
    let fix = id("Fix").await;
    change(PlanChange::Add { content: "  Note it\nin the changelog ".into() }).await;
    change(PlanChange::Reword { id: fix.clone(), content: "Fix the timer".into() }).await;
    change(PlanChange::Move { id: id("Note it in the changelog").await, to: 1 }).await;
    change(PlanChange::Drop { id: id("Test").await }).await;
    let wanted = [
        ("Reproduce".to_owned(), TodoStatus::Completed),
        ("Note it in the changelog".to_owned(), TodoStatus::Pending),
        ("Fix the timer".to_owned(), TodoStatus::InProgress),
    ];
    assert_eq!(lines(&stage, &session).await, wanted);
    assert_eq!(id("Fix the timer").await, fix, "a line stays itself");
    let rows = stage.snapshot(&session).await.items.len();
    let stage = stage.restarted(planning).await;
    assert_eq!(lines(&stage, &session).await, wanted);
    stage.sessions.send(&session, "go on".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let snapshot = stage.snapshot(&session).await;
    let ItemBody::Ai { text, .. } = &snapshot.items.last().unwrap().body else { panic!() };
    assert!(text.starts_with("I changed the plan. It is now:\n- [completed] Reproduce\n- [pending] Note it"), "{text}");
    assert_eq!(text.matches("I changed the plan").count(), 1, "it is told once, as it is now");
    // The person's message and the reply; what was told of the plan is no row.
    assert_eq!(snapshot.items.len(), rows + 2);
}

#[tokio::test]
async fn a_line_that_was_dropped_comes_back_as_it_was_where_it_stood() {
    let (stage, session) = planned().await;
    let whole = stage.snapshot(&session).await;
    let ids: Vec<String> = whole.todos.iter().map(|todo| todo.id.clone()).collect();
    let change = async |change: PlanChange| stage.sessions.change_plan(&session, change).await.unwrap();
    for id in &ids {
        change(PlanChange::Drop { id: id.clone() }).await;
        change(PlanChange::Restore { id: id.clone() }).await;
        let snapshot = stage.snapshot(&session).await;
        assert_eq!((snapshot.todos, snapshot.evidence), (whole.todos.clone(), whole.evidence.clone()), "{id}");
    }
    // It is behind what stood before it, whatever became of the rest.
    change(PlanChange::Drop { id: ids[1].clone() }).await;
    change(PlanChange::Drop { id: ids[0].clone() }).await;
    change(PlanChange::Add { content: "More".into() }).await;
    let stage = stage.restarted(planning).await;
    let change = async |change: PlanChange| stage.sessions.change_plan(&session, change).await.unwrap();
    change(PlanChange::Restore { id: ids[0].clone() }).await;
    change(PlanChange::Restore { id: ids[1].clone() }).await;
    let wanted = [
        ("Reproduce".to_owned(), TodoStatus::Completed),
        ("Fix".to_owned(), TodoStatus::InProgress),
        ("Test".to_owned(), TodoStatus::Pending),
        ("More".to_owned(), TodoStatus::Pending),
    ];
    assert_eq!(lines(&stage, &session).await, wanted);
    // What is there already stays.
    change(PlanChange::Restore { id: ids[1].clone() }).await;
    assert_eq!(lines(&stage, &session).await, wanted);
}

#[tokio::test]
async fn a_change_that_does_not_fit_is_refused_and_changes_nothing() {
    let (stage, session) = planned().await;
    let before = lines(&stage, &session).await;
    let refused = async |change: PlanChange| stage.sessions.change_plan(&session, change).await.unwrap_err().code;
    assert_eq!(refused(PlanChange::Add { content: " \n".into() }).await, ErrorCode::Invalid);
    assert_eq!(refused(PlanChange::Drop { id: "nobody".into() }).await, ErrorCode::NotFound);
    assert_eq!(refused(PlanChange::Restore { id: "nobody".into() }).await, ErrorCode::NotFound);
    let reworded = PlanChange::Reword { id: "nobody".into(), content: "x".into() };
    assert_eq!(refused(reworded).await, ErrorCode::NotFound);
    assert_eq!(lines(&stage, &session).await, before);
}

#[tokio::test]
async fn a_rewind_takes_the_changes_of_the_plan_along() {
    let (stage, session) = planned().await;
    let before = lines(&stage, &session).await;
    let end = stage.timeline(&session).await.checkpoints.last().unwrap().seq;
    stage.sessions.change_plan(&session, PlanChange::Add { content: "More".into() }).await.unwrap();
    stage.sessions.rewind(&session, end, bosun_protocol::RewindWhat::Conversation, &[]).await.unwrap();
    assert_eq!(lines(&stage, &session).await, before);
    stage.sessions.send(&session, "go on".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let snapshot = stage.snapshot(&session).await;
    let ItemBody::Ai { text, .. } = &snapshot.items.last().unwrap().body else { panic!() };
    assert_eq!(**text, "Nothing was told.");
}
