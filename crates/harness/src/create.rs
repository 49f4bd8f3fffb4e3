use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bosun_agent::{Agent, AgentParts, IdSource, Limits, Middleware, Policy, TurnContext, UuidSource};
use bosun_backend::{Backend, BlobStore, VirtualPath};
use bosun_model::{CacheLifetime, ChatModel, OutputSchema, SystemBlock};
use bosun_tools::{DynTool, RegistryError, StateField};

use crate::stack::{Blueprint, Kit, Owner};
use crate::sub_agents::{DeclaredSubagents, Thinking};
use crate::tool_names::{self, Named, ToolNames};
use crate::{
    Artifacts, Attachments, FilesystemOptions, GENERAL_PURPOSE, Gate, GuardOptions, HumanInTheLoopOptions, InterruptOn,
    Members, MemoryOptions, OnDemand, PathRule, PathRules, ReadySubagent, SkillsOptions, SubagentSpec,
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
    /// Stands in for the base prompt; empty leaves it out.
    pub base_prompt: Option<String>,
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
    /// What memory and skills are read through, in the same paths; `None`: through `backend`. The tools never use it.
    pub context: Option<Arc<dyn Backend>>,
    /// How long what a provider with explicit prompt caching keeps stays in its cache.
    pub cache: CacheLifetime,
    /// In addition to the general-purpose one; one of that name replaces it.
    pub subagents: Vec<SubagentSpec>,
    /// Subagents that are agents already, in code only.
    pub ready_subagents: Vec<ReadySubagent>,
    /// Whether subagents may work beside the agent, which is told when they have ended.
    pub background_subagents: bool,
    /// Models that subagents may be given, by the name their specs give.
    pub models: BTreeMap<String, Arc<dyn ChatModel>>,
    /// The shape of the answer at the end of a turn; `None` for prose.
    pub output: Option<OutputSchema>,
    /// Fields of the state in addition to those that tools and middleware declare.
    pub fields: Vec<StateField>,
    /// The user's own middleware, between `PatchToolCalls` and `HumanInTheLoop`. One that carries the name of a built-in
    /// member stands in its place instead.
    pub middleware: Vec<Arc<dyn Middleware>>,
    /// Keeps many tools out of requests until they are looked for, in every subagent too.
    pub on_demand: Option<Arc<OnDemand>>,
    /// Behind `middleware`, and in every subagent too: what must hold wherever the work is done.
    pub everywhere: Vec<Arc<dyn Middleware>>,
    pub policy: Policy,
    /// Files that hooks and servers are started from, outside any sandbox: changing one asks, whatever is said of edits.
    pub started: Vec<VirtualPath>,
    /// What may be done with paths; the first rule that fits decides. Holds for subagents too.
    pub permissions: Vec<PathRule>,
    /// How single tools ask, over `policy`.
    pub interrupt_on: BTreeMap<String, InterruptOn>,
    /// Stands before the call in what a person is asked, where the tool has no description of its own.
    pub approval_prefix: Option<String>,
    /// After so long without an answer a call is rejected; it is never approved.
    pub approval_timeout: Option<Duration>,
    pub limits: Limits,
    /// What a turn may cost.
    pub guards: GuardOptions,
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
            base_prompt: None,
            tools: Vec::new(),
            builtin_tools: None,
            descriptions: BTreeMap::new(),
            filesystem: FilesystemOptions::default(),
            summarization: SummarizationOptions::default(),
            artifacts: Artifacts::default(),
            memory: MemoryOptions::default(),
            skills: SkillsOptions::default(),
            context: None,
            cache: CacheLifetime::default(),
            subagents: Vec::new(),
            ready_subagents: Vec::new(),
            background_subagents: false,
            models: BTreeMap::new(),
            output: None,
            fields: Vec::new(),
            middleware: Vec::new(),
            on_demand: None,
            everywhere: Vec::new(),
            started: Vec::new(),
            policy: Policy::default(),
            permissions: Vec::new(),
            interrupt_on: BTreeMap::new(),
            approval_prefix: None,
            approval_timeout: None,
            limits: Limits::default(),
            guards: GuardOptions::default(),
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
    #[error("there is no tool '{name}' here; available are: {known}")]
    UnknownTool { name: String, known: String },
    #[error("'{tool}' asks for approval, but no decision is allowed; allow at least one")]
    NoDecision { tool: String },
    #[error("the subagent's model '{name}' is not set up; set it up, or remove the model from the subagent")]
    UnknownModel { name: String },
    #[error(
        "the subagent's model '{name}' does not run on this machine, but that of the agent starting it does, so \
         nothing is sent to it; remove the model from the subagent, or choose a model for the session that does not \
         run here either"
    )]
    ModelElsewhere { name: String },
}

/// Builds an agent with the default stack around the given model and backend.
///
/// # Errors
/// [`DeepAgentError`] for names that clash or do not exist.
pub fn create_deep_agent(config: DeepAgentConfig) -> Result<Agent, DeepAgentError> {
    let mut policy = config.policy;
    let asking: Vec<String> = config.interrupt_on.keys().cloned().collect();
    let max_work = config.guards.max_seconds.map(Duration::from_secs).or(config.limits.max_work);
    let paths = PathRules::new(config.permissions);
    let backend = paths.hold(config.backend, &config.filesystem.mounts);
    let skills = config.skills.sources.iter().map(|source| source.path.clone());
    let options = HumanInTheLoopOptions {
        paths,
        steering: config.memory.sources.iter().cloned().chain(skills).collect(),
        started: config.started,
        prefix: config.approval_prefix,
        timeout: config.approval_timeout,
        in_addition: Vec::new(),
        root: config.filesystem.root.clone(),
        places: config.filesystem.places.clone(),
        gates: gates(config.interrupt_on, &mut policy)?,
    };
    let blueprint = Arc::new(Blueprint {
        specs: subagent_specs(config.subagents, &config.ready_subagents)?,
        ready: config.ready_subagents.into(),
        own: config.middleware.into_iter().collect(),
        background: config.background_subagents,
        filesystem: config.filesystem,
        summarization: config.summarization,
        artifacts: config.artifacts,
        cache: config.cache,
        guards: config.guards,
        on_demand: config.on_demand,
        everywhere: config.everywhere,
        asking: Arc::new(options),
        skills: config.skills,
        context: config.context,
        descriptions: config.descriptions,
        fields: config.fields.clone(),
        tools: config.tools.clone(),
        models: config.models,
    });
    let base = config.base_prompt.unwrap_or_else(|| prompt::BASE.to_owned());
    let parts = config.system_prompt.into_iter().chain([base]).filter(|text| !text.trim().is_empty());
    let system = parts.map(SystemBlock::new).collect();
    let remembers = !config.memory.sources.is_empty() || config.memory.search.is_some();
    let kit = Kit {
        owner: Owner::Main,
        works_alone: !config.limits.delegates(0),
        memory: remembers.then_some(config.memory),
        skills: blueprint.skills.clone(),
        allowed: config.builtin_tools.as_deref(),
        output: config.output,
        own: &blueprint.own,
    };
    let mut middleware = blueprint.stack(&*backend, kit)?;
    middleware.splice(..0, filler(config.blobs.as_ref(), &blueprint.own));
    let mut middleware = blueprint.whole(middleware, &blueprint.own, &blueprint.own);
    let named = Named { built_in: config.builtin_tools.as_deref().unwrap_or_default(), asking: &asking };
    let unmatched =
        tool_names::unmatched(named, names_of(&middleware, &config.tools), &blueprint, &backend, &config.limits);
    middleware.splice(..0, ToolNames::telling(unmatched).map(|member| Arc::new(member) as Arc<dyn Middleware>));
    Ok(Agent::new(AgentParts {
        name: config.name,
        model: config.model,
        tools: config.tools,
        middleware,
        system,
        backend,
        blobs: config.blobs,
        subagents: Some(Arc::new(DeclaredSubagents::new(blueprint))),
        limits: Limits { max_work, ..config.limits },
        ids: config.ids,
        policy,
    })?
    .with_fields(config.fields)?)
}

/// A subagent in its parent's place, with what `spec` says of its own.
pub(crate) fn subagent(
    spec: &SubagentSpec,
    blueprint: &Arc<Blueprint>,
    parent: &TurnContext,
) -> Result<Agent, DeepAgentError> {
    let owner = parent.agent();
    let blueprint = &blueprint.narrowed(spec);
    let backend = held(spec, blueprint, &owner.backend);
    let mut system = vec![SystemBlock::new(prompt::SUBAGENT)];
    if !spec.prompt.trim().is_empty() {
        system.push(SystemBlock::new(spec.prompt.clone()));
    }
    let model = match &spec.model {
        None => Arc::clone(&owner.model),
        Some(name) => {
            let model = blueprint.models.get(name).cloned();
            let model = model.ok_or_else(|| DeepAgentError::UnknownModel { name: name.clone() })?;
            // Who chose a model of this machine sends nothing anywhere else.
            if model.chosen().stays < owner.model.chosen().stays {
                return Err(DeepAgentError::ModelElsewhere { name: name.clone() });
            }
            model
        }
    };
    let works_alone = !owner.limits.delegates(parent.depth() + 1);
    let Furnished { middleware, tools } = furnished(spec, blueprint, &*backend, owner.blobs.as_ref(), works_alone)?;
    let max_steps = spec.max_steps.unwrap_or(u32::MAX).min(owner.limits.max_steps);
    Ok(Agent::new(AgentParts {
        name: spec.name.clone(),
        model,
        tools,
        middleware,
        system,
        backend,
        blobs: owner.blobs.clone(),
        subagents: Some(Arc::new(DeclaredSubagents::new(Arc::clone(blueprint)))),
        limits: Limits { max_steps, ..owner.limits },
        ids: Arc::clone(&owner.ids),
        // What it asks in addition is judged beside these ([`HumanInTheLoopOptions::in_addition`]).
        policy: (*owner.policy()).clone(),
    })?
    .with_fields(blueprint.fields.clone())?)
}

/// The files of a subagent: those of its sender, as far as its own rules leave them.
fn held(spec: &SubagentSpec, blueprint: &Blueprint, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
    PathRules::new(spec.permissions.clone()).hold(Arc::clone(backend), &blueprint.filesystem.mounts)
}

/// What a subagent works with: its members, and its tools beside those that they bring.
struct Furnished {
    middleware: Vec<Arc<dyn Middleware>>,
    tools: Vec<Arc<dyn DynTool>>,
}

fn furnished(
    spec: &SubagentSpec,
    blueprint: &Blueprint,
    backend: &dyn Backend,
    blobs: Option<&Arc<BlobStore>>,
    works_alone: bool,
) -> Result<Furnished, DeepAgentError> {
    let own = if spec.name == GENERAL_PURPOSE { blueprint.own.and(&spec.middleware) } else { spec.middleware.clone() };
    let kit = Kit {
        owner: Owner::Subagent,
        works_alone,
        memory: None,
        skills: skills_of(spec, blueprint),
        allowed: spec.tools.as_deref(),
        output: spec.output.clone(),
        own: &own,
    };
    let mut middleware = blueprint.stack(backend, kit)?;
    middleware.splice(..0, filler(blobs, &own));
    middleware.extend(spec.effort.map(|effort| Arc::new(Thinking { effort }) as Arc<dyn Middleware>));
    let middleware = blueprint.whole(middleware, &spec.middleware, &own);
    let is_allowed = |name: &String| spec.tools.as_ref().is_none_or(|allowed| allowed.contains(name));
    let tools = blueprint.tools.iter().filter(|tool| is_allowed(&tool.spec().name)).cloned().collect();
    Ok(Furnished { middleware, tools })
}

/// The names of the tools that a subagent has whose sender works over `backend` and is the session's own agent.
pub(crate) fn tools_of(
    spec: &SubagentSpec,
    blueprint: &Arc<Blueprint>,
    backend: &Arc<dyn Backend>,
    limits: &Limits,
) -> Result<HashSet<String>, DeepAgentError> {
    let blueprint = &blueprint.narrowed(spec);
    let backend = held(spec, blueprint, backend);
    let Furnished { middleware, tools } = furnished(spec, blueprint, &*backend, None, !limits.delegates(1))?;
    Ok(names_of(&middleware, &tools))
}

fn names_of(middleware: &[Arc<dyn Middleware>], tools: &[Arc<dyn DynTool>]) -> HashSet<String> {
    let all = middleware.iter().flat_map(|member| member.tools()).chain(tools.iter().cloned());
    all.map(|tool| tool.spec().name.clone()).collect()
}

/// The outermost member, where bytes are kept.
fn filler(blobs: Option<&Arc<BlobStore>>, own: &Members) -> Option<Arc<dyn Middleware>> {
    blobs.map(|blobs| own.in_place_of(Arc::new(Attachments::new(Arc::clone(blobs)))))
}

/// Puts what is set for single tools into the rules, and keeps what the rules cannot hold.
fn gates(tools: BTreeMap<String, InterruptOn>, policy: &mut Policy) -> Result<BTreeMap<String, Gate>, DeepAgentError> {
    let mut gates = BTreeMap::new();
    for (tool, interrupt) in tools {
        match interrupt {
            InterruptOn::Never => policy.interrupt_on.insert(tool, None),
            InterruptOn::Ask(gate) if gate.allowed.is_empty() => return Err(DeepAgentError::NoDecision { tool }),
            InterruptOn::Ask(gate) => {
                let known = policy.interrupt_on.insert(tool.clone(), Some(gate.config()));
                gates.insert(tool, gate);
                known
            }
        };
    }
    Ok(gates)
}

fn skills_of(spec: &SubagentSpec, blueprint: &Blueprint) -> SkillsOptions {
    let is_general = spec.name == GENERAL_PURPOSE;
    let off = blueprint.skills.off.clone();
    let mut skills = if is_general { blueprint.skills.clone() } else { SkillsOptions { off, ..Default::default() } };
    skills.sources.extend(spec.skills.iter().cloned());
    skills
}

fn subagent_specs(own: Vec<SubagentSpec>, ready: &[ReadySubagent]) -> Result<Arc<[SubagentSpec]>, DeepAgentError> {
    let mut names = HashSet::new();
    for name in own.iter().map(|spec| &spec.name).chain(ready.iter().map(|ready| &ready.name)) {
        if !names.insert(name.clone()) {
            return Err(DeepAgentError::DuplicateSubagent { name: name.clone() });
        }
    }
    for (tool, interrupt) in own.iter().flat_map(|spec| &spec.interrupt_on) {
        if matches!(interrupt, InterruptOn::Ask(gate) if gate.allowed.is_empty()) {
            return Err(DeepAgentError::NoDecision { tool: tool.clone() });
        }
    }
    let general = SubagentSpec::general_purpose();
    let stock = (!names.contains(&general.name)).then_some(general);
    Ok(stock.into_iter().chain(own).collect())
}
