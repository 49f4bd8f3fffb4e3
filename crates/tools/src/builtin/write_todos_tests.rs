use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Canned, Fixture};
use crate::{Figure, Todo, TodoStatus};

fn fixture() -> Fixture {
    Fixture::canned(Canned::default())
}

#[tokio::test]
async fn the_list_replaces_the_plan() {
    let todos = json!([
        {"content": "Read", "status": "completed"},
        {"content": "Write", "status": "in_progress", "activeForm": "Writing"},
        {"content": "Test", "status": "pending"},
    ]);
    let output = fixture().run("write_todos", json!({"todos": todos})).await;
    let text = "Updated todo list to 3 entries: 1 completed, 1 in progress, 1 pending";
    assert_eq!(output.content, [text.into()]);
    assert_eq!(output.artifact.figures, [Figure::Todos { done: 1, total: 3 }]);
    let todo = |content: &str, status| Todo { content: content.into(), status };
    assert_eq!(
        output.update.todos,
        Some(vec![
            todo("Read", TodoStatus::Completed),
            todo("Write", TodoStatus::InProgress),
            todo("Test", TodoStatus::Pending),
        ])
    );
}

#[tokio::test]
async fn an_empty_list_clears_the_plan() {
    let output = fixture().run("write_todos", json!({"todos": []})).await;
    assert_eq!(output.update.todos, Some(vec![]));
}

#[tokio::test]
async fn a_list_written_as_text_is_read() {
    let output =
        fixture().run("write_todos", json!({"todos": "[{\"content\": \"a\", \"status\": \"pending\"}]"})).await;
    assert_eq!(output.update.todos.map(|todos| todos.len()), Some(1));
}

#[tokio::test]
async fn limits_and_states_are_kept() {
    let one = |content: &str, status: &str| json!({"todos": [{"content": content, "status": status}]});
    let many: Vec<_> = (0..100_000).map(|_| json!({"content": "x", "status": "pending"})).collect();
    for (args, token) in [
        (one("x", "bogus"), "'todos[0].status' must be one of pending, in_progress, completed, not \"bogus\""),
        (one("", "pending"), "'todos[0].content' is empty"),
        (one(&"x".repeat(10_000_000), "pending"), "'todos[0].content' has 10000000 characters"),
        (json!({"todos": many}), "'todos' has 100000 entries, more than the 200"),
        (json!({"todos": [{"content": "x"}]}), "'todos[0].status' is missing"),
        (json!({}), "'todos' is missing"),
    ] {
        let output = fixture().run("write_todos", args).await;
        let text = output.content[0].as_text().unwrap();
        assert!(
            output.is_error && text.starts_with("Error invoking tool 'write_todos': ") && text.contains(token),
            "{text:.300}"
        );
        assert!(output.update.is_empty() && text.len() < 300);
    }
}
