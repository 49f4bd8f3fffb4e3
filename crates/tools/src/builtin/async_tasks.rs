//! Subagents that work beside the agent: the five tools that handle them.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{SubagentCard, Task, known_subagents, unknown_subagent};
use crate::limits::{OUTPUT_CHARS, counted, head_and_tail};
use crate::{
    Background, BackgroundTask, DelegateRequest, DynTool, FollowUp, TaskStatus, Tool, ToolContext, ToolError, ToolKind,
    ToolOutput, erase,
};

/// The tools that send a subagent.
pub const SENDING_TOOLS: [&str; 2] = [Task::NAME, Start::NAME];
/// The tool that says something more to a subagent, which goes on with it.
pub const ASK_MORE_TOOL: &str = Update::NAME;
/// The tools that handle subagents beside the agent, in the order of [`background_tools`].
pub const BACKGROUND_TOOLS: [&str; 5] = [Start::NAME, Check::NAME, Update::NAME, Cancel::NAME, List::NAME];

/// Longest description in a list, in characters.
const LISTED: usize = 100;

/// `start_async_task`, `check_async_task`, `update_async_task`, `cancel_async_task` and `list_async_tasks`.
pub fn background_tools(cards: Vec<SubagentCard>) -> Vec<Arc<dyn DynTool>> {
    vec![erase(Start { cards }), erase(Check), erase(Update), erase(Cancel), erase(List)]
}

struct Start {
    cards: Vec<SubagentCard>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct StartInput {
    /// The whole task with everything the subagent has to know, and what its answer shall hold: it sees nothing else of
    /// this conversation.
    #[schemars(length(min = 1, max = 200_000))]
    description: String,
    /// Which subagent, by its name from the list above.
    subagent_type: String,
}

impl Tool for Start {
    const NAME: &'static str = "start_async_task";
    const STRICT: bool = true;
    type Input = StartInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Delegate
    }

    fn description(&self) -> Cow<'_, str> {
        let mut text = String::from(
            "Sends a subagent that works beside you and gives back its task id at once. Go on with something else or end \
             your turn: you are told when it has ended. Do not ask again and again how it stands.\n\nSubagents:",
        );
        for card in &self.cards {
            text.push_str(&format!("\n- {}: {}", card.name, card.description));
        }
        text.into()
    }

    async fn call(&self, cx: &ToolContext, input: StartInput) -> Result<ToolOutput, ToolError> {
        if !self.cards.iter().any(|card| card.name == input.subagent_type) {
            return Err(ToolError::Model(unknown_subagent(&input.subagent_type, known_subagents(&self.cards))));
        }
        let request = DelegateRequest { description: input.description, agent: input.subagent_type };
        let task = background(cx)?.start(request).await?;
        Ok(ToolOutput::text(format!("Started the async task {}: {} is at work.", task.id, task.agent)))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct TaskId {
    /// The id that `start_async_task` or `list_async_tasks` gave.
    task_id: String,
}

struct Check;

impl Tool for Check {
    const NAME: &'static str = "check_async_task";
    type Input = TaskId;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Tells how a subagent stands, with its answer where it has ended.".into()
    }

    async fn call(&self, cx: &ToolContext, input: TaskId) -> Result<ToolOutput, ToolError> {
        let task = background(cx)?.check(&input.task_id).await?;
        let (shown, whole) = (report(&task, OUTPUT_CHARS), report(&task, usize::MAX));
        let mut output = ToolOutput::text(&shown);
        if shown != whole {
            output.keep(&whole);
        }
        Ok(output)
    }
}

struct Update;

#[derive(Debug, Deserialize, JsonSchema)]
struct UpdateInput {
    /// The id that `start_async_task` or `list_async_tasks` gave.
    task_id: String,
    /// What it is to know or to do now. It remembers everything it was told and did before.
    #[schemars(length(min = 1, max = 200_000))]
    message: String,
    /// Whether it turns to the message at once, or when it is done with what it is at.
    #[serde(default)]
    strategy: FollowUp,
}

impl Tool for Update {
    const NAME: &'static str = "update_async_task";
    type Input = UpdateInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Delegate
    }

    fn description(&self) -> Cow<'_, str> {
        "Says something more to a subagent that you sent with `start_async_task` or `task`, whether it still works or has \
         answered. It goes on beside you, knowing all it knew, and you are told when it has ended."
            .into()
    }

    async fn call(&self, cx: &ToolContext, input: UpdateInput) -> Result<ToolOutput, ToolError> {
        let task = background(cx)?.update(&input.task_id, input.message, input.strategy).await?;
        Ok(ToolOutput::text(format!("Told the async task {}: {} is at work on it.", task.id, task.agent)))
    }
}

struct Cancel;

impl Tool for Cancel {
    const NAME: &'static str = "cancel_async_task";
    type Input = TaskId;

    fn kind(&self) -> ToolKind {
        ToolKind::Delegate
    }

    fn description(&self) -> Cow<'_, str> {
        "Stops a subagent. What it did so far stays as it is.".into()
    }

    async fn call(&self, cx: &ToolContext, input: TaskId) -> Result<ToolOutput, ToolError> {
        let task = background(cx)?.cancel(&input.task_id).await?;
        Ok(ToolOutput::text(match task.status {
            TaskStatus::Cancelled => format!("Cancelled the async task {}.", task.id),
            status => format!("The async task {} had ended before: {}.", task.id, word(status)),
        }))
    }
}

struct List;

#[derive(Debug, Deserialize, JsonSchema)]
struct ListInput {
    /// Only those that stand so; all where it is left out.
    #[serde(default)]
    status_filter: Option<Filter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Filter {
    All,
    Pending,
    Running,
    Waiting,
    Success,
    Error,
    Cancelled,
}

impl Tool for List {
    const NAME: &'static str = "list_async_tasks";
    type Input = ListInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Lists the subagents that you sent, with their ids and how they stand; those of `task` too.".into()
    }

    async fn call(&self, cx: &ToolContext, input: ListInput) -> Result<ToolOutput, ToolError> {
        let tasks = background(cx)?.list().await?;
        let shown: Vec<&BackgroundTask> =
            tasks.iter().filter(|task| passes(input.status_filter, task.status)).collect();
        if shown.is_empty() {
            return Ok(ToolOutput::text("No async tasks found."));
        }
        let mut text = format!("{}:", counted(shown.len(), "async task", "async tasks"));
        for task in shown {
            let about: String = task.description.split_whitespace().collect::<Vec<_>>().join(" ");
            let about = head_of(&about, LISTED);
            text.push_str(&format!(
                "\n- task_id: {} agent: {} status: {}; {about}",
                task.id,
                task.agent,
                word(task.status)
            ));
        }
        Ok(ToolOutput::bounded(text))
    }
}

fn background(cx: &ToolContext) -> Result<&dyn Background, ToolError> {
    let found = cx.delegate.as_ref().and_then(|delegate| delegate.background());
    found.ok_or_else(|| {
        ToolError::Model("Error: no subagent can work beside you here; use `task` or do this part yourself.".into())
    })
}

/// A task as JSON for the model, with texts of at most so many characters.
fn report(task: &BackgroundTask, most: usize) -> String {
    let mut told = json!({ "status": task.status, "thread_id": task.id });
    let mut add = |name: &str, text: &str| {
        if let Some(object) = told.as_object_mut() {
            object.insert(name.to_owned(), head_and_tail(text, most).0.into());
        }
    };
    match task.status {
        TaskStatus::Success => add("result", task.answer.as_deref().unwrap_or_default()),
        TaskStatus::Error | TaskStatus::Cancelled => {
            add("error", task.problem.as_deref().unwrap_or_default());
            task.answer.as_deref().into_iter().for_each(|answer| add("so_far", answer));
        }
        TaskStatus::Waiting => add("note", "it waits for a decision of the user"),
        TaskStatus::Pending => add("note", "it begins when another subagent has ended"),
        TaskStatus::Running => {}
    }
    told.to_string()
}

fn passes(filter: Option<Filter>, status: TaskStatus) -> bool {
    let wanted = match filter {
        None | Some(Filter::All) => return true,
        Some(Filter::Pending) => TaskStatus::Pending,
        Some(Filter::Running) => TaskStatus::Running,
        Some(Filter::Waiting) => TaskStatus::Waiting,
        Some(Filter::Success) => TaskStatus::Success,
        Some(Filter::Error) => TaskStatus::Error,
        Some(Filter::Cancelled) => TaskStatus::Cancelled,
    };
    wanted == status
}

fn word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::Running => "running",
        TaskStatus::Waiting => "waiting",
        TaskStatus::Success => "success",
        TaskStatus::Error => "error",
        TaskStatus::Cancelled => "cancelled",
    }
}

fn head_of(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "async_tasks_tests.rs"]
mod tests;
