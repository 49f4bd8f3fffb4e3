//! The built-in members in their documented order.

use std::collections::BTreeMap;
use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, NextTool, TurnContext, TurnEnd};
use bosun_backend::Backend;
use bosun_model::{
    AiMessage, Asked, CacheLifetime, ChatModel, ChatRequest, ModelError, OutputSchema, ToolCall, ToolSpec,
};
use bosun_tools::{
    ArgumentError, DynTool, Preview, StateField, StateUpdate, ToolContext, ToolError, ToolKind, ToolOutput,
};
use serde_json::Value;

use crate::sub_agents::Counted;
use crate::tool_names::not_built_in;
use crate::{
    Artifacts, DeepAgentError, Filesystem, FilesystemOptions, FinalAnswer, Gate, GuardOptions, Guards, HumanInTheLoop,
    HumanInTheLoopOptions, InterruptOn, Members, Memory, MemoryOptions, ModelRetry, OnDemand, PatchToolCalls,
    PromptCaching, ReadySubagent, Skills, SkillsOptions, SubAgents, SubagentSpec, Summarization, SummarizationOptions,
    TodoList,
};

/// What an agent and its subagents have in common.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub specs: Arc<[SubagentSpec]>,
    /// Subagents that inherit nothing.
    pub ready: Arc<[ReadySubagent]>,
    /// The main agent's own members; where one stands for a built-in member, it does in the general-purpose subagent too.
    pub own: Members,
    /// Whether the session's own agent may have subagents work beside it.
    pub background: bool,
    pub filesystem: FilesystemOptions,
    pub summarization: SummarizationOptions,
    pub artifacts: Artifacts,
    pub cache: CacheLifetime,
    pub guards: GuardOptions,
    /// What keeps many tools out of requests.
    pub on_demand: Option<Arc<OnDemand>>,
    /// The user's own that hold in subagents too.
    pub everywhere: Vec<Arc<dyn Middleware>>,
    pub asking: Arc<HumanInTheLoopOptions>,
    /// The main agent's skills, which the general-purpose subagent has too.
    pub skills: SkillsOptions,
    /// What memory and skills are read through, where not through the agent's own path space.
    pub context: Option<Arc<dyn Backend>>,
    /// Descriptions of tools, by name, in the place of their own.
    pub descriptions: BTreeMap<String, String>,
    /// The declared fields of the state.
    pub fields: Vec<StateField>,
    /// The main agent's tools besides the built-in ones.
    pub tools: Vec<Arc<dyn DynTool>>,
    /// Models that subagents may be given, by name.
    pub models: BTreeMap<String, Arc<dyn ChatModel>>,
}

/// What one agent has of its own.
pub(crate) struct Kit<'a> {
    pub owner: Owner,
    /// Whether it is so deep that it may send nobody.
    pub works_alone: bool,
    /// Only the session's own agent remembers.
    pub memory: Option<MemoryOptions>,
    pub skills: SkillsOptions,
    /// The built-in tools it has, where not all.
    pub allowed: Option<&'a [String]>,
    /// The shape of its answer, where it has one.
    pub output: Option<OutputSchema>,
    /// Members of which those count here that stand for built-in ones.
    pub own: &'a Members,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Main,
    Subagent,
}

impl Blueprint {
    /// The same for a subagent that may do less with paths or asks more, and for those that it sends.
    pub(crate) fn narrowed(self: &Arc<Self>, spec: &SubagentSpec) -> Arc<Self> {
        let asks = spec.interrupt_on.iter().filter_map(|(tool, interrupt)| match interrupt {
            InterruptOn::Never => None,
            InterruptOn::Ask(gate) => Some((tool.clone(), gate.clone())),
        });
        let asks: BTreeMap<String, Gate> = asks.collect();
        if spec.permissions.is_empty() && asks.is_empty() {
            return Arc::clone(self);
        }
        let mut asking = (*self.asking).clone();
        asking.paths = asking.paths.narrowed(spec.permissions.clone());
        asking.in_addition.extend(Some(asks).filter(|asks| !asks.is_empty()));
        let asking = Arc::new(asking);
        Arc::new(Self { asking, ..(**self).clone() })
    }

    /// The built-in members outermost first, without the innermost. A member that is there for its tools alone is left
    /// out with all of them, and its prompt with it.
    pub(crate) fn stack(
        &self,
        backend: &dyn Backend,
        kit: Kit<'_>,
    ) -> Result<Vec<Arc<dyn Middleware>>, DeepAgentError> {
        let on_demand = self.on_demand_of(&kit);
        let files = Filesystem::new(backend, None, self.filesystem.clone()).with_artifacts(self.artifacts.clone());
        let delegation = SubAgents::new(Arc::clone(&self.specs)).and_ready(Arc::clone(&self.ready));
        let mut delegation = delegation.counting(self.counted());
        if self.background && kit.owner == Owner::Main {
            delegation = delegation.beside();
        }
        let delegation: Arc<dyn Middleware> = Arc::new(delegation);
        let summarization =
            Summarization::new(self.summarization.clone(), self.artifacts.clone()).behind(on_demand.clone());
        let mut members: Vec<(Role, Arc<dyn Middleware>)> = vec![(Role::Tools, Arc::new(TodoList))];
        if let Some(memory) = kit.memory {
            members.push((Role::Works, Arc::new(Memory::new(memory).through(self.context.clone()))));
        }
        if !kit.skills.is_empty() {
            let own = self.tools.iter().map(|tool| tool.spec().name.clone());
            members.push((Role::Works, Arc::new(Skills::new(kit.skills).hiding(own).through(self.context.clone()))));
        }
        // Outside of what measures requests: a tool that is not sent takes no room.
        members.extend(on_demand.map(|member| (Role::Asked, member as Arc<dyn Middleware>)));
        members.extend::<[(Role, Arc<dyn Middleware>); 3]>([
            (Role::Works, Arc::new(files)),
            (Role::Tools, Arc::clone(&delegation)),
            (Role::Works, Arc::new(summarization)),
        ]);
        // It adds messages, which nothing outside of Summarization may, and to the prompt, of which PromptCaching marks
        // what stays.
        if let Some(output) = kit.output {
            members.push((Role::Asked, Arc::new(FinalAnswer::new(output))));
        }
        members.extend::<[(Role, Arc<dyn Middleware>); 2]>([
            (Role::Works, Arc::new(PromptCaching::new(self.cache))),
            (Role::Works, Arc::new(PatchToolCalls::default())),
        ]);
        for (role, member) in &mut members {
            let stands = kit.own.in_place_of(Arc::clone(member));
            if !Arc::ptr_eq(&stands, member) {
                // What somebody put there is there, whatever tools it has.
                (*role, *member) = (role.replaced(), stands);
            }
        }
        let built_in = members.iter().filter(|(role, _)| *role != Role::Asked);
        let known: Vec<String> =
            built_in.flat_map(|(_, member)| member.tools()).map(|tool| tool.spec().name.clone()).collect();
        // What is not here an agent goes without, of which the session's own tells; what is nowhere is a mistake, which
        // only the files of subagents may make.
        if kit.owner == Owner::Main {
            check_names(&known, self.descriptions.keys())?;
            check_names(&known, kit.allowed.unwrap_or_default().iter())?;
        }
        // What would be refused each time is not offered.
        members.retain(|(_, member)| !(kit.works_alone && Arc::ptr_eq(member, &delegation)));
        Ok(members.into_iter().filter_map(|(role, member)| self.chosen(role, member, kit.allowed)).collect())
    }

    /// What keeps many tools out of the requests of whoever has this kit: of tools that a subagent lacks it hears nothing.
    fn on_demand_of(&self, kit: &Kit<'_>) -> Option<Arc<OnDemand>> {
        let all = self.on_demand.as_ref()?;
        match (kit.owner, kit.allowed) {
            (Owner::Subagent, Some(allowed)) => all.narrowed(allowed),
            (Owner::Subagent, None) | (Owner::Main, _) => Some(Arc::clone(all)),
        }
    }

    /// What a turn may cost, where that is limited, and whose models it is spent on.
    fn counted(&self) -> Option<Counted> {
        let max_dollars = self.guards.max_dollars?;
        let of_spec = |spec: &SubagentSpec| {
            let model = self.models.get(spec.model.as_ref()?)?;
            Some((spec.name.clone(), Arc::clone(model)))
        };
        let ready = self.ready.iter().map(|ready| (ready.name.clone(), Arc::clone(&ready.agent.model)));
        Some(Counted { max_dollars, models: self.specs.iter().filter_map(of_spec).chain(ready).collect() })
    }

    /// `stack` with what stands behind the built-in members: those of `between` that stand for none, those of the user's
    /// own that hold everywhere, and the stack's own end. `own` are all that may stand for built-in ones.
    pub(crate) fn whole(
        &self,
        mut stack: Vec<Arc<dyn Middleware>>,
        between: &Members,
        own: &Members,
    ) -> Vec<Arc<dyn Middleware>> {
        let end: Vec<_> = self.innermost().map(|member| own.in_place_of(member)).collect();
        let between = between.beside(&[&stack[..], &end[..]].concat());
        stack.extend(between);
        stack.extend(end);
        stack
    }

    fn innermost(&self) -> impl Iterator<Item = Arc<dyn Middleware>> {
        let end: [Arc<dyn Middleware>; 3] = [
            Arc::new(Guards::new(self.guards.clone())),
            Arc::new(HumanInTheLoop::new(Arc::clone(&self.asking))),
            Arc::new(ModelRetry::default()),
        ];
        self.everywhere.iter().cloned().chain(end)
    }

    /// `member` with the tools it may offer, or nothing where it has nothing left to do.
    fn chosen(
        &self,
        role: Role,
        member: Arc<dyn Middleware>,
        allowed: Option<&[String]>,
    ) -> Option<Arc<dyn Middleware>> {
        if role == Role::Asked {
            return Some(member);
        }
        let all = member.tools();
        let is_allowed = |tool: &Arc<dyn DynTool>| allowed.is_none_or(|allowed| allowed.contains(&tool.spec().name));
        let tools: Vec<_> = all.iter().filter(|tool| is_allowed(tool)).map(|tool| self.described(tool)).collect();
        if tools.is_empty() && role == Role::Tools {
            return None;
        }
        let same = tools.len() == all.len() && tools.iter().zip(&all).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs));
        Some(if same { member } else { Arc::new(Chosen { member, tools }) })
    }

    fn described(&self, tool: &Arc<dyn DynTool>) -> Arc<dyn DynTool> {
        match self.descriptions.get(&tool.spec().name) {
            Some(description) => {
                let spec = ToolSpec { description: description.clone(), ..tool.spec().clone() };
                Arc::new(Described { tool: Arc::clone(tool), spec })
            }
            None => Arc::clone(tool),
        }
    }
}

/// What a member is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// For its tools: without any it is left out.
    Tools,
    /// For what it does around the calls, too.
    Works,
    /// Somebody asked for it: its tools are there whatever built-in tools are chosen.
    Asked,
}

impl Role {
    fn replaced(self) -> Self {
        if self == Self::Asked { Self::Asked } else { Self::Works }
    }
}

fn check_names<'a>(known: &[String], mut names: impl Iterator<Item = &'a String>) -> Result<(), DeepAgentError> {
    match names.find(|name| !known.contains(name) && not_built_in(std::iter::once(*name)).is_some()) {
        Some(name) => Err(DeepAgentError::UnknownTool { name: name.clone(), known: known.join(", ") }),
        None => Ok(()),
    }
}

/// A member that offers other tools than it would by itself.
struct Chosen {
    member: Arc<dyn Middleware>,
    tools: Vec<Arc<dyn DynTool>>,
}

impl Middleware for Chosen {
    fn name(&self) -> &'static str {
        self.member.name()
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.tools.clone()
    }

    fn fields(&self) -> Vec<StateField> {
        self.member.fields()
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        self.member.before_turn(cx)
    }

    fn before_step<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        self.member.before_step(cx)
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        self.member.wrap_model_call(cx, request, next)
    }

    fn before_side_call<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        self.member.before_side_call(cx)
    }

    fn after_side_failure<'a>(
        &'a self,
        cx: &'a TurnContext,
        asked: &'a Asked,
        error: &'a ModelError,
    ) -> BoxFuture<'a, Result<bool, AgentError>> {
        self.member.after_side_failure(cx, asked, error)
    }

    fn after_model<'a>(
        &'a self,
        cx: &'a TurnContext,
        message: &'a AiMessage,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        self.member.after_model(cx, message)
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        self.member.wrap_tool_call(cx, call, next)
    }

    fn after_turn<'a>(
        &'a self,
        cx: &'a TurnContext,
        end: &'a TurnEnd,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        self.member.after_turn(cx, end)
    }
}

/// A tool under another description.
struct Described {
    tool: Arc<dyn DynTool>,
    spec: ToolSpec,
}

impl DynTool for Described {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn kind(&self) -> ToolKind {
        self.tool.kind()
    }

    fn validate(&self, args: &Value) -> Result<Value, ArgumentError> {
        self.tool.validate(args)
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.tool.call(cx, args)
    }

    fn preview<'a>(&'a self, cx: &'a ToolContext, args: &'a Value) -> BoxFuture<'a, Preview> {
        self.tool.preview(cx, args)
    }

    fn mutates(&self, cx: &ToolContext, args: &Value) -> Option<bosun_backend::VirtualPath> {
        self.tool.mutates(cx, args)
    }

    fn reads(&self, cx: &ToolContext, args: &Value) -> Option<bosun_backend::VirtualPath> {
        self.tool.reads(cx, args)
    }

    fn fields(&self) -> Vec<StateField> {
        self.tool.fields()
    }
}
