use std::borrow::Cow;

use bosun_backend::quoted;
use bosun_model::text_of;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{DelegateRequest, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// A subagent as the model is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentCard {
    pub name: String,
    /// When to send it.
    pub description: String,
}

/// Sends a subagent.
pub struct Task {
    cards: Vec<SubagentCard>,
}

impl Task {
    pub fn new(cards: Vec<SubagentCard>) -> Self {
        Self { cards }
    }
}

/// The sentence for a model that sends a subagent that there is not.
pub fn unknown_subagent<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    format!("Error: there is no subagent '{}'; use one of: {}.", quoted(name), known.join(", "))
}

pub(super) fn known_subagents(cards: &[SubagentCard]) -> impl Iterator<Item = &str> {
    cards.iter().map(|card| card.name.as_str())
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TaskInput {
    /// The whole task with everything the subagent has to know, and what its answer shall hold: it sees nothing else of
    /// this conversation.
    #[schemars(length(min = 1, max = 200_000))]
    description: String,
    /// Which subagent, by its name from the list above.
    subagent_type: String,
}

impl Tool for Task {
    const NAME: &'static str = "task";
    const STRICT: bool = true;
    type Input = TaskInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Delegate
    }

    fn description(&self) -> Cow<'_, str> {
        let mut text = String::from(
            "Sends a subagent to do a task by itself and gives back its answer. The user does not see the answer: tell \
             them what matters in it. Several sent in one step run side by side.\n\nSubagents:",
        );
        for card in &self.cards {
            text.push_str(&format!("\n- {}: {}", card.name, card.description));
        }
        text.into()
    }

    async fn call(&self, cx: &ToolContext, input: TaskInput) -> Result<ToolOutput, ToolError> {
        if !self.cards.iter().any(|card| card.name == input.subagent_type) {
            return Err(ToolError::Model(unknown_subagent(&input.subagent_type, known_subagents(&self.cards))));
        }
        let Some(delegate) = &cx.delegate else {
            return Err(ToolError::Model("Error: no subagent can be sent here; do this part yourself.".into()));
        };
        let request = DelegateRequest { description: input.description, agent: input.subagent_type };
        let output = delegate.delegate(request).await?;
        let ToolOutput { content, artifact, full_output, .. } = ToolOutput::bounded(text_of(&output.content));
        Ok(ToolOutput { content, artifact, full_output, ..output })
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
