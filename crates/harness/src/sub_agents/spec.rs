use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bosun_agent::Agent;
use bosun_model::{Effort, OutputSchema};

use super::{FieldKind, SubagentFileError};
use crate::{InterruptOn, Members, PathRule, SkillSource, prompt};

/// The subagent that every agent has.
pub const GENERAL_PURPOSE: &str = "general-purpose";

const LONGEST_NAME: usize = 64;

/// A subagent, as it is declared. It works in its parent's place: same backend, same rules, at most the same rights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubagentSpec {
    pub name: String,
    /// When to send it, for the model that may.
    pub description: String,
    /// Its own instructions, after the base prompt for subagents.
    pub prompt: String,
    /// The tools it has, by name; `None` gives it all that its parent has.
    pub tools: Option<Vec<String>>,
    /// A name in [`crate::DeepAgentConfig::models`]; `None` is its parent's model.
    pub model: Option<String>,
    /// How much its model thinks; `None` is as its parent's does. A level that the model does not have becomes the next
    /// that it has.
    pub effort: Option<Effort>,
    /// Its folders of skills. The general-purpose one has its parent's as well.
    pub skills: Vec<SkillSource>,
    /// How single tools ask, in addition to how they ask its parent: it may be asked for more, and less may be decided.
    pub interrupt_on: BTreeMap<String, InterruptOn>,
    /// What it may do with paths, within what its parent may: of the rules of both, the stricter counts.
    pub permissions: Vec<PathRule>,
    /// The shape of its answer; `None` for prose.
    pub output: Option<OutputSchema>,
    /// Members of its own stack, in code only.
    pub middleware: Members,
    /// Model calls it may make, where that is less than its parent may.
    pub max_steps: Option<u32>,
}

impl SubagentSpec {
    pub fn general_purpose() -> Self {
        Self { name: GENERAL_PURPOSE.into(), description: prompt::GENERAL_PURPOSE.into(), ..Self::default() }
    }

    /// Holds a declaration to what every one has to be, whatever it is written in.
    ///
    /// # Errors
    /// Why it is no subagent.
    pub fn check(&self) -> Result<(), SubagentFileError> {
        let wrong = |field, wanted| Err(SubagentFileError::Field { field, wanted });
        let is_part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        if self.name.len() > LONGEST_NAME || !self.name.split('-').all(is_part) {
            return Err(SubagentFileError::Name(self.name.clone()));
        }
        if self.description.trim().is_empty() {
            return wrong("description", FieldKind::Text);
        }
        // A name without its provider could not be connected, and the subagent would have none.
        let is_whole = |model: &String| {
            model.split_once(':').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty())
        };
        if !self.model.as_ref().is_none_or(is_whole) {
            return wrong("model", FieldKind::Model);
        }
        let decides_nothing = |interrupt: &InterruptOn| match interrupt {
            InterruptOn::Ask(gate) => gate.allowed.is_empty() || gate.timeout == Some(Duration::ZERO),
            InterruptOn::Never => false,
        };
        if self.interrupt_on.values().any(decides_nothing) {
            return wrong("interrupt_on", FieldKind::Asks);
        }
        if self.output.as_ref().is_some_and(|output| !output.schema.is_object()) {
            return wrong("output", FieldKind::Schema);
        }
        if self.max_steps == Some(0) {
            return wrong("max_steps", FieldKind::Number);
        }
        Ok(())
    }
}

/// A subagent that somebody put together themselves. It inherits nothing: model, tools, files, rules and stack are its
/// own, and whoever hands it in answers for what it may do. How deep and how many hold for it as for all others.
#[derive(Clone)]
pub struct ReadySubagent {
    pub name: String,
    /// When to send it, for the model that may.
    pub description: String,
    pub agent: Arc<Agent>,
}
