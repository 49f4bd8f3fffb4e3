use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bosun_agent::{Agent, AgentParts, IdSource, Limits, Middleware, Policy, TurnContext, UuidSource};
use bosun_backend::{Backend, BlobStore};
use bosun_model::{CacheLifetime, ChatModel, SystemBlock};
use bosun_tools::{DynTool, RegistryError};

use crate::stack::{Blueprint, Kit, Owner};
use crate::sub_agents::DeclaredSubagents;
use crate::{
    Artifacts, FilesystemOptions, GENERAL_PURPOSE, HumanInTheLoop, MemoryOptions, SkillsOptions, SubagentSpec,
    SummarizationOptions, prompt,
};

/// Everything [`create_deep_agent`] can be told. Start from [`DeepAgentConfig::new`].
pub struct DeepAgentConfig {
    pub name: String,
    pub model: Arc<dyn ChatModel>,
    pub backend: Arc<dyn Backend>,
    /// Where the bytes before a change are kept.
    pub blobs: Option<Arc<BlobStore>>,
    /// Stands before the base prompt.
    pub system_prompt: Option<String>,
    /// In addition to the built-in ones.
    pub tools: Vec<Arc<dyn DynTool>>,
    /// Only these built-in tools; `None` gives all that the backend can carry.
    pub builtin_tools: Option<Vec<String>>,
    /// Descriptions of built-in tools, by name, in the place of their own.
    pub descriptions: BTreeMap<String, String>,
    pub filesystem: FilesystemOptions,
    pub summarization: SummarizationOptions,
    /// Where large results and old conversation go; by default nowhere, because the root of a backend may be a
    /// person's folder.
    pub artifacts: Artifacts,
    /// Files of standing notes; without any the agent has no memory.
    pub memory: MemoryOptions,
    /// Folders of skills; without any the agent has none.
    pub skills: SkillsOptions,
    /// How long what a provider with explicit prompt caching keeps stays in its cache.
    pub cache: CacheLifetime,
    /// In addition to the general-purpose one; one of that name replaces it.
    pub subagents: Vec<SubagentSpec>,
    /// The user's own middleware, between `PatchToolCalls` and `HumanInTheLoop`.
    pub middleware: Vec<Arc<dyn Middleware>>,
    pub policy: Policy,
    pub limits: Limits,
    pub ids: Arc<dyn IdSource>,
}

impl DeepAgentConfig {
    pub fn new(model: Arc<dyn ChatModel>, backend: Arc<dyn Backend>) -> Self {
        Self {
            name: "main".into(),
            model,
            backend,
            blobs: None,
            system_prompt: None,
            tools: Vec::new(),
            builtin_tools: None,
            descriptions: BTreeMap::new(),
            filesystem: FilesystemOptions::default(),
            summarization: SummarizationOptions::default(),
            artifacts: Artifacts::default(),
            memory: MemoryOptions::default(),
            skills: SkillsOptions::default(),
            cache: CacheLifetime::default(),
            subagents: Vec::new(),
            middleware: Vec::new(),
            policy: Policy::default(),
            limits: Limits::default(),
            ids: Arc::new(UuidSource),
        }
    }
}

/// An agent that cannot be built as it was configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeepAgentError {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error("two subagents are called '{name}'; rename one of them")]
    DuplicateSubagent { name: String },
    #[error("there is no built-in tool '{name}' here; there are: {known}")]
    UnknownTool { name: String, known: String },
}

/// Builds an agent with the default stack around the given model and backend.
///
/// # Errors
/// [`DeepAgentError`] for names that clash or do not exist.
pub fn create_deep_agent(config: DeepAgentConfig) -> Result<Agent, DeepAgentError> {
    let blueprint = Arc::new(Blueprint {
        specs: subagent_specs(config.subagents)?,
        filesystem: config.filesystem,
        summarization: config.summarization,
        artifacts: config.artifacts,
        cache: config.cache,
        skills: config.skills,
        descriptions: config.descriptions,
    });
    let mut system = vec![SystemBlock::new(prompt::BASE)];
    if let Some(text) = config.system_prompt {
        system.insert(0, SystemBlock::new(text));
    }
    let remembers = !config.memory.sources.is_empty() || config.memory.search.is_some();
    let kit = Kit {
        owner: Owner::Main,
        memory: remembers.then_some(config.memory),
        skills: blueprint.skills.clone(),
        allowed: config.builtin_tools.as_deref(),
    };
    let mut middleware = blueprint.stack(&*config.backend, kit)?;
    middleware.extend(config.middleware);
    middleware.push(Arc::new(HumanInTheLoop));
    Ok(Agent::new(AgentParts {
        name: config.name,
        model: config.model,
        tools: config.tools,
        middleware,
        system,
        backend: config.backend,
        blobs: config.blobs,
        subagents: Some(Arc::new(DeclaredSubagents { blueprint })),
        limits: config.limits,
        ids: config.ids,
        policy: config.policy,
    })?)
}

/// A subagent on its parent's model, backend, policy and limits.
pub(crate) fn subagent(
    spec: &SubagentSpec,
    blueprint: &Arc<Blueprint>,
    parent: &TurnContext,
) -> Result<Agent, DeepAgentError> {
    let owner = parent.agent();
    let mut system = vec![SystemBlock::new(prompt::SUBAGENT)];
    if !spec.prompt.trim().is_empty() {
        system.push(SystemBlock::new(spec.prompt.clone()));
    }
    let skills = if spec.name == GENERAL_PURPOSE { blueprint.skills.clone() } else { SkillsOptions::default() };
    let kit = Kit { owner: Owner::Subagent, memory: None, skills, allowed: spec.tools.as_deref() };
    let mut middleware = blueprint.stack(&*owner.backend, kit)?;
    middleware.push(Arc::new(HumanInTheLoop));
    Ok(Agent::new(AgentParts {
        name: spec.name.clone(),
        model: Arc::clone(&owner.model),
        tools: Vec::new(),
        middleware,
        system,
        backend: Arc::clone(&owner.backend),
        blobs: owner.blobs.clone(),
        subagents: Some(Arc::new(DeclaredSubagents { blueprint: Arc::clone(blueprint) })),
        limits: owner.limits,
        ids: Arc::clone(&owner.ids),
        policy: (*owner.policy()).clone(),
    })?)
}

fn subagent_specs(own: Vec<SubagentSpec>) -> Result<Arc<[SubagentSpec]>, DeepAgentError> {
    let mut names = HashSet::new();
    for spec in &own {
        if !names.insert(spec.name.clone()) {
            return Err(DeepAgentError::DuplicateSubagent { name: spec.name.clone() });
        }
    }
    let general = SubagentSpec::general_purpose();
    let stock = (!names.contains(&general.name)).then_some(general);
    Ok(stock.into_iter().chain(own).collect())
}
