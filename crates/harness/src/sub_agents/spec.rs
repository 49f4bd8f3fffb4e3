use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_agent::Agent;
use bosun_model::{Effort, OutputSchema};

use crate::{InterruptOn, Members, PathRule, SkillSource, prompt};

/// The subagent that every agent has.
pub const GENERAL_PURPOSE: &str = "general-purpose";

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
