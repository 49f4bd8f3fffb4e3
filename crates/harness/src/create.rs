use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{Agent, AgentParts, IdSource, Limits, Middleware, Policy, Subagents, TurnContext, UuidSource};
use bosun_backend::{Backend, BlobStore};
use bosun_model::{ChatModel, SystemBlock};
use bosun_tools::{DynTool, RegistryError};

use crate::sub_agents::DeclaredSubagents;
use crate::{Filesystem, HumanInTheLoop, PatchToolCalls, SubAgents, SubagentSpec, TodoList, prompt};

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
    let specs = subagent_specs(config.subagents)?;
    let allowed = config.builtin_tools.as_deref();
    let mut system = vec![SystemBlock::new(prompt::BASE)];
    if let Some(text) = config.system_prompt {
        system.insert(0, SystemBlock::new(text));
    }
    let mut middleware = core_stack(&config.backend, &specs, allowed)?;
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
        subagents: Some(Arc::new(DeclaredSubagents { specs }) as Arc<dyn Subagents>),
        limits: config.limits,
        ids: config.ids,
        policy: config.policy,
    })?)
}

/// A subagent on its parent's model, backend, policy and limits.
pub(crate) fn subagent(
    spec: &SubagentSpec,
    specs: &Arc<[SubagentSpec]>,
    parent: &TurnContext,
) -> Result<Agent, DeepAgentError> {
    let owner = parent.agent();
    let mut system = vec![SystemBlock::new(prompt::SUBAGENT)];
    if !spec.prompt.trim().is_empty() {
        system.push(SystemBlock::new(spec.prompt.clone()));
    }
    let mut middleware = core_stack(&owner.backend, specs, spec.tools.as_deref())?;
    middleware.push(Arc::new(HumanInTheLoop));
    Ok(Agent::new(AgentParts {
        name: spec.name.clone(),
        model: Arc::clone(&owner.model),
        tools: Vec::new(),
        middleware,
        system,
        backend: Arc::clone(&owner.backend),
        blobs: owner.blobs.clone(),
        subagents: Some(Arc::new(DeclaredSubagents { specs: Arc::clone(specs) })),
        limits: owner.limits,
        ids: Arc::clone(&owner.ids),
        policy: (*owner.policy()).clone(),
    })?)
}

/// The built-in members in their order, without the innermost. A member whose every tool is left out is left out
/// itself, and its prompt with it.
fn core_stack(
    backend: &Arc<dyn Backend>,
    specs: &Arc<[SubagentSpec]>,
    allowed: Option<&[String]>,
) -> Result<Vec<Arc<dyn Middleware>>, DeepAgentError> {
    let files = Filesystem::new(Arc::clone(backend), allowed);
    let stack: Vec<Arc<dyn Middleware>> =
        vec![Arc::new(TodoList), Arc::new(files), Arc::new(SubAgents::new(Arc::clone(specs)))];
    check_names(&**backend, &stack, allowed)?;
    let wanted = |name: &str| allowed.is_none_or(|allowed| allowed.iter().any(|entry| entry == name));
    let has_tools = |middleware: &Arc<dyn Middleware>| middleware.tools().iter().any(|tool| wanted(&tool.spec().name));
    let mut kept: Vec<Arc<dyn Middleware>> = stack.into_iter().filter(has_tools).collect();
    kept.push(Arc::new(PatchToolCalls));
    Ok(kept)
}

fn check_names(
    backend: &dyn Backend,
    stack: &[Arc<dyn Middleware>],
    allowed: Option<&[String]>,
) -> Result<(), DeepAgentError> {
    let known: Vec<String> = bosun_tools::file_tools(backend)
        .into_iter()
        .chain(stack.iter().flat_map(|middleware| middleware.tools()))
        .map(|tool| tool.spec().name.clone())
        .collect();
    match allowed.unwrap_or_default().iter().find(|name| !known.contains(name)) {
        Some(name) => Err(DeepAgentError::UnknownTool { name: name.clone(), known: known.join(", ") }),
        None => Ok(()),
    }
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
