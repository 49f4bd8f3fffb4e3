use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits::{counted, figure};
use crate::{Artifact, Figure, StateUpdate, Todo, TodoStatus, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// Most entries of a plan.
pub const MOST_TODOS: usize = 200;

/// Replaces the plan.
pub struct WriteTodos;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct WriteTodosInput {
    /// The whole list, in the order of the work. It replaces the list as it is.
    #[schemars(length(max = MOST_TODOS))]
    todos: Vec<TodoInput>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct TodoInput {
    /// What is to be done, in a few words. Keep the words of an entry from list to list.
    #[schemars(length(min = 1, max = 1000))]
    content: String,
    /// One at a time is in progress, unless work really goes on side by side.
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Tool for WriteTodos {
    const NAME: &'static str = "write_todos";
    type Input = WriteTodosInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Plan
    }

    fn description(&self) -> Cow<'_, str> {
        "Writes the plan that you and the user follow, in the place of the one before. Write it again as soon as something \
         changes: set an entry in_progress before you start it and completed when it really is done, add what you \
         discover, drop what turns out not to be needed. Call it once per step of yours, with the whole list."
            .into()
    }

    async fn call(&self, _cx: &ToolContext, input: WriteTodosInput) -> Result<ToolOutput, ToolError> {
        let todos: Vec<Todo> = input.todos.into_iter().map(Todo::from).collect();
        let of = |status| todos.iter().filter(|todo| todo.status == status).count();
        let done = of(TodoStatus::Completed);
        let text = format!(
            "Updated todo list to {}: {done} completed, {} in progress, {} pending",
            counted(todos.len(), "entry", "entries"),
            of(TodoStatus::InProgress),
            of(TodoStatus::Pending),
        );
        let figures = vec![Figure::Todos { done: figure(done), total: figure(todos.len()) }];
        Ok(ToolOutput {
            update: StateUpdate { todos: Some(todos), ..StateUpdate::default() },
            artifact: Artifact { figures, ..Artifact::default() },
            ..ToolOutput::text(text)
        })
    }
}

impl From<TodoInput> for Todo {
    fn from(input: TodoInput) -> Self {
        let status = match input.status {
            Status::Pending => TodoStatus::Pending,
            Status::InProgress => TodoStatus::InProgress,
            Status::Completed => TodoStatus::Completed,
        };
        Self { content: input.content, status }
    }
}

#[cfg(test)]
#[path = "write_todos_tests.rs"]
mod tests;
