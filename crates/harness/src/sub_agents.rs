mod file;
mod spec;
mod thinking;
mod write;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bosun_agent::{Agent, AgentError, BoxFuture, Middleware, NextModel, NextTool, Subagents, TurnContext};
use bosun_model::{AiMessage, ChatModel, ChatRequest, ToolCall};
use bosun_tools::{DynTool, SENDING_TOOLS, SubagentCard, Task, ToolOutput, background_tools, erase, unknown_subagent};
use serde_json::Value;

use crate::stack::Blueprint;
use crate::{create, prompt, unpriced};
pub use file::{FieldKind, LoadedSubagents, SubagentFileError, SubagentWarning, load_subagents, read_subagent};
pub use spec::{GENERAL_PURPOSE, ReadySubagent, SubagentSpec};
pub(crate) use thinking::Thinking;
pub use write::write_subagent;

/// Most subagents that one reply may send. Many more are no plan any more, but a model that runs away.
const MOST_SENT: usize = 1_000;

/// Delegation: the `task` tool and when to use it.
pub struct SubAgents {
    specs: Arc<[SubagentSpec]>,
    ready: Arc<[ReadySubagent]>,
    beside: bool,
    counted: Option<Counted>,
}

/// What a turn may cost, and the models that subagents have of their own, by the name of the subagent.
pub(crate) struct Counted {
    pub max_dollars: f64,
    pub models: BTreeMap<String, Arc<dyn ChatModel>>,
}

impl SubAgents {
    /// `specs` have distinct names.
    pub fn new(specs: Arc<[SubagentSpec]>) -> Self {
        Self { specs, ready: Arc::default(), beside: false, counted: None }
    }

    /// Offers `ready` besides, by names that no other has.
    #[must_use]
    pub fn and_ready(self, ready: Arc<[ReadySubagent]>) -> Self {
        Self { ready, ..self }
    }

    /// Tells where a subagent costs what the limit of money does not count.
    #[must_use]
    pub(crate) fn counting(self, counted: Option<Counted>) -> Self {
        Self { counted, ..self }
    }

    /// Lets subagents work beside the agent, too.
    pub fn beside(mut self) -> Self {
        self.beside = true;
        self
    }
}

impl Middleware for SubAgents {
    fn name(&self) -> &'static str {
        "SubAgents"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        let card = |name: &str, description: &str| SubagentCard { name: name.into(), description: description.into() };
        let declared = self.specs.iter().map(|spec| card(&spec.name, &spec.description));
        let ready = self.ready.iter().map(|ready| card(&ready.name, &ready.description));
        let cards: Vec<SubagentCard> = declared.chain(ready).collect();
        let beside = if self.beside { background_tools(cards.clone()) } else { Vec::new() };
        std::iter::once(erase(Task::new(cards))).chain(beside).collect()
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        prompt::append(&mut request, &prompt::delegating(|tool| cx.agent().tools.get(tool).is_some()));
        next.run(request)
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        if SENDING_TOOLS.contains(&call.name.as_str()) && place_among_sent(cx, &call) >= MOST_SENT {
            let text = format!(
                "Error: a step may send at most {MOST_SENT} subagents, so this one was not sent. Send the others first, \
                 and give each of them more to do."
            );
            return Box::pin(async move { Ok(ToolOutput::error(text)) });
        }
        Box::pin(async move {
            if let Some((max_dollars, model)) = self.model_of(&call) {
                unpriced::tell(cx, max_dollars, model.chosen()).await?;
            }
            next.run(call).await
        })
    }
}

impl SubAgents {
    /// The model of its own of the subagent that `call` sends, where money is counted.
    fn model_of(&self, call: &ToolCall) -> Option<(f64, &Arc<dyn ChatModel>)> {
        let counted = self.counted.as_ref().filter(|_| SENDING_TOOLS.contains(&call.name.as_str()))?;
        let name = call.args.get("subagent_type").and_then(Value::as_str)?;
        Some((counted.max_dollars, counted.models.get(name)?))
    }
}

/// How many calls of the step that send subagents stand before this one.
fn place_among_sent(cx: &TurnContext, call: &ToolCall) -> usize {
    cx.log().with_state(|state| {
        let calls = state.step.iter().flat_map(|step| &step.calls);
        let before = calls.take_while(|open| open.call.id != call.id);
        before.filter(|open| SENDING_TOOLS.contains(&open.call.name.as_str())).count()
    })
}

/// Makes subagents from their specs, in their parent's place.
pub(crate) struct DeclaredSubagents {
    blueprint: Arc<Blueprint>,
    made: Mutex<Made>,
}

/// Subagents that were made, by name and by how deep they are, which says whether they may send others. No member keeps the state of a session, so that all of one name are one: their tools
/// are described once, and their requests hold the same list of them, which what is derived from it goes by.
#[derive(Default)]
struct Made {
    parent: Weak<Agent>,
    agents: BTreeMap<(String, u32), Arc<Agent>>,
}

impl DeclaredSubagents {
    pub(crate) fn new(blueprint: Arc<Blueprint>) -> Self {
        Self { blueprint, made: Mutex::default() }
    }
}

impl Subagents for DeclaredSubagents {
    fn agent(&self, name: &str, parent: &TurnContext) -> Result<Arc<Agent>, String> {
        let Blueprint { specs, ready, .. } = &*self.blueprint;
        if let Some(ready) = ready.iter().find(|ready| ready.name == name) {
            return Ok(Arc::clone(&ready.agent));
        }
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            let declared = specs.iter().map(|spec| spec.name.as_str());
            return Err(unknown_subagent(name, declared.chain(ready.iter().map(|ready| ready.name.as_str()))));
        };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = Arc::downgrade(parent.agent());
        if !Weak::ptr_eq(&made.parent, &owner) {
            *made = Made { parent: owner, ..Made::default() };
        }
        let place = (name.to_owned(), parent.depth());
        if let Some(agent) = made.agents.get(&place) {
            return Ok(Arc::clone(agent));
        }
        let agent = create::subagent(spec, &self.blueprint, parent).map_err(|error| format!("Error: {error}"))?;
        let agent = Arc::new(agent);
        made.agents.insert(place, Arc::clone(&agent));
        Ok(agent)
    }
}
