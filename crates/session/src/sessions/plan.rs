use bosun_agent::{EntryBody, PlannedTodo, Recorded, State, effective};
use bosun_model::{ContentBlock, HumanMessage, MessageId};
use bosun_protocol::{PlanChange, Problem, SessionId};
use bosun_tools::TodoStatus;

use super::Sessions;
use crate::SessionError;

/// Longest line of a plan, in characters, and most lines.
const LINE: usize = 2_000;
const MOST_LINES: usize = 200;

impl Sessions {
    /// Changes the plan for the person. The agent reads what it is now at its next step; no turn begins by it.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for a line that is not there any more, [`ErrorCode::Invalid`] for one without words.
    pub async fn change_plan(&self, session: &SessionId, change: PlanChange) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        if actor.log.session().as_str() != session.as_str() {
            return Err(SessionError::invalid(Problem::PlanOfSubagent));
        }
        let lost = match &change {
            PlanChange::Restore { id } => last_with(&actor.tree.database.entries(actor.log.session(), 0).await?, id),
            _ => Vec::new(),
        };
        let ids = &actor.tree.ids;
        let (new_id, message) = (ids.next(), MessageId::new(ids.next()));
        let mut refused = None;
        let change = |state: &State| {
            let mut todos = state.todos.clone();
            match changed(&mut todos, &change, &lost, new_id) {
                Ok(()) if todos == state.todos => Vec::new(),
                Ok(()) => {
                    let content = vec![ContentBlock::text(told(&todos))];
                    vec![EntryBody::PlanEdited { todos, message: HumanMessage { id: message, content } }]
                }
                Err(error) => {
                    refused = Some(error);
                    Vec::new()
                }
            }
        };
        actor.log.record_of(change).await?;
        refused.map_or(Ok(()), Err)
    }
}

/// The plan as it was when it had the line `id` last; nothing where it never had.
fn last_with(entries: &[Recorded], id: &str) -> Vec<PlannedTodo> {
    let (mut state, mut last) = (State::default(), Vec::new());
    for recorded in effective(entries) {
        state.apply(&recorded.entry);
        state.forget_messages();
        if state.todos != last && state.todos.iter().any(|todo| todo.id == id) {
            last.clone_from(&state.todos);
        }
    }
    last
}

/// Makes `change` in the plan. `lost` is the plan that had the line to be restored.
fn changed(
    todos: &mut Vec<PlannedTodo>,
    change: &PlanChange,
    lost: &[PlannedTodo],
    new_id: String,
) -> Result<(), SessionError> {
    let place = |todos: &[PlannedTodo], id: &str| {
        let gone = || SessionError::not_found(Problem::PlanLineGone);
        todos.iter().position(|todo| todo.id == id).ok_or_else(gone)
    };
    match change {
        PlanChange::Add { content } => {
            let content = line(content)?;
            refuse_full(todos)?;
            todos.push(PlannedTodo { id: new_id, content, status: TodoStatus::Pending });
        }
        PlanChange::Reword { id, content } => {
            let (at, content) = (place(todos, id)?, line(content)?);
            if let Some(todo) = todos.get_mut(at) {
                todo.content = content;
            }
        }
        PlanChange::Move { id, to } => {
            let todo = todos.remove(place(todos, id)?);
            let to = usize::try_from(*to).unwrap_or(usize::MAX).min(todos.len());
            todos.insert(to, todo);
        }
        PlanChange::Drop { id } => {
            todos.remove(place(todos, id)?);
        }
        PlanChange::Restore { id } if todos.iter().any(|todo| todo.id == *id) => {}
        PlanChange::Restore { id } => {
            refuse_full(todos)?;
            let was = place(lost, id)?;
            let Some(todo) = lost.get(was).cloned() else { return Ok(()) };
            // Behind the nearest line of those before it that is still there.
            let above = lost.iter().take(was).rev().find_map(|known| todos.iter().position(|todo| todo.id == known.id));
            todos.insert(above.map_or(0, |above| above + 1), todo);
        }
    }
    Ok(())
}

fn refuse_full(todos: &[PlannedTodo]) -> Result<(), SessionError> {
    if todos.len() < MOST_LINES {
        return Ok(());
    }
    let most = u32::try_from(MOST_LINES).unwrap_or(u32::MAX);
    Err(SessionError::invalid(Problem::PlanFull { most }))
}

/// A line of a plan: on one line, with some words, and not endless.
fn line(text: &str) -> Result<String, SessionError> {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LINE).collect();
    if line.is_empty() {
        return Err(SessionError::invalid(Problem::PlanLineEmpty));
    }
    Ok(line)
}

/// What the model reads: the plan as it is now, so that its next list begins from there.
fn told(todos: &[PlannedTodo]) -> String {
    if todos.is_empty() {
        return "I changed the plan: it is empty now. Do not go on with what stood there, unless I ask for it.".into();
    }
    let mark = |status: TodoStatus| match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in progress",
        TodoStatus::Completed => "completed",
    };
    let lines: Vec<String> = todos.iter().map(|todo| format!("- [{}] {}", mark(todo.status), todo.content)).collect();
    format!(
        "I changed the plan. It is now:\n{}\nGo on by it, in this order, and keep these lines when you write the list.",
        lines.join("\n")
    )
}
