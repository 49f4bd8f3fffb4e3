//! Tools that a skill brings into view: `metadata.include_tools` (behaviour.md 6.2).

use std::collections::HashSet;

use bosun_agent::State;
use bosun_backend::Backend;
use bosun_model::{ChatRequest, ToolCall};
use bosun_tools::{Reducer, StateField};
use serde_json::{Value, json};

use super::builtin::READER;
use super::{SkillSet, Skills};

/// The state field with the files of the skills that were read.
const FIELD: &str = "skills_read";

impl Skills {
    /// Lets skills keep `tools` out of view until they are read. Others, the built-in ones before all, stay in view
    /// whatever a skill says: a file must not be able to take the tools away that read files.
    #[must_use]
    pub fn hiding(mut self, tools: impl IntoIterator<Item = String>) -> Self {
        self.hidable = tools.into_iter().collect();
        self
    }

    /// Takes out of a request the tools of skills that nobody has read.
    pub(super) fn disclose(&self, set: &SkillSet, read: &HashSet<String>, request: &mut ChatRequest) {
        let is_open = |path: &str| read.contains(path) || set.pinned.iter().any(|pinned| pinned.path == path);
        let (open, shut): (Vec<_>, Vec<_>) = set.skills.iter().partition(|skill| is_open(&skill.path));
        let open: HashSet<&String> = open.iter().flat_map(|skill| &skill.include_tools).collect();
        let hidden = shut.iter().flat_map(|skill| &skill.include_tools);
        let hidden: HashSet<&String> =
            hidden.filter(|tool| self.hidable.contains(*tool) && !open.contains(tool)).collect();
        if !hidden.is_empty() {
            request.tools = self.offered.of(&request.tools, |name| !hidden.contains(name));
        }
    }

    /// The update that notes that a call has read a skill with tools of its own.
    pub(super) fn noted(&self, set: &SkillSet, backend: &dyn Backend, call: &ToolCall) -> Option<(String, Value)> {
        let path = call.args.get("file_path").and_then(Value::as_str).filter(|_| call.name == READER)?;
        let path = backend.resolve(path).ok()?;
        let skill = set.skills.iter().find(|skill| skill.path == path.as_str() && !skill.include_tools.is_empty())?;
        let mut read = serde_json::Map::new();
        read.insert(skill.path.clone(), json!(true));
        Some((FIELD.to_owned(), Value::Object(read)))
    }
}

pub(super) fn field() -> StateField {
    StateField::new(FIELD, Reducer::Merge).private()
}

/// The files of skills that this agent has read.
pub(super) fn read(state: &State) -> HashSet<String> {
    let read = state.fields.get(FIELD).and_then(Value::as_object);
    read.into_iter().flat_map(|paths| paths.keys().cloned()).collect()
}
