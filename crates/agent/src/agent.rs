use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bosun_backend::{Backend, BlobStore};
use bosun_model::{ChatModel, SystemBlock};
use bosun_tools::{Reducer, RegistryError, StateField, StateUpdate, ToolRegistry};

use crate::{IdSource, Middleware, Policy, TurnContext};

/// A model with a prompt, a stack of middleware, tools and a place to work: everything a turn needs but the session.
pub struct Agent {
    pub name: String,
    pub model: Arc<dyn ChatModel>,
    /// Outermost first.
    pub middleware: Vec<Arc<dyn Middleware>>,
    pub tools: ToolRegistry,
    /// The standing prompt; the same bytes in every request of a session.
    pub system: Vec<SystemBlock>,
    pub backend: Arc<dyn Backend>,
    /// Where the bytes before a change are kept; without it changes cannot be undone.
    pub blobs: Option<Arc<BlobStore>>,
    pub subagents: Option<Arc<dyn Subagents>>,
    pub limits: Limits,
    pub ids: Arc<dyn IdSource>,
    /// The fields of the state that its tools and members declare, by name.
    fields: BTreeMap<String, StateField>,
    policy: Arc<Policy>,
}

/// Bounds of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Model calls of one turn; reaching it saves and can be continued.
    pub max_steps: u32,
    /// How deep subagents may send out subagents; 0 for no subagents at all.
    pub max_depth: u32,
    /// Subagents at work at once on one depth; the rest queue. 0 for no subagents at all.
    pub max_subagents: usize,
    /// How long a turn and all whom it sent out may work; `None` for as long as it takes. What a person takes to decide
    /// is not counted. What runs then is ended as a stop ends it.
    pub max_work: Option<Duration>,
}

impl Limits {
    /// Whether an agent may send subagents that is so many below the session's own.
    pub fn delegates(&self, depth: u32) -> bool {
        depth < self.max_depth && self.max_subagents > 0
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 1_000, max_depth: 3, max_subagents: 8, max_work: None }
    }
}

/// Where subagents come from.
pub trait Subagents: Send + Sync {
    /// The subagent called `name`, for a parent that runs in `parent`.
    ///
    /// # Errors
    /// A sentence for the model that names the ones there are.
    fn agent(&self, name: &str, parent: &TurnContext) -> Result<Arc<Agent>, String>;
}

/// The parts of an [`Agent`].
pub struct AgentParts {
    pub name: String,
    pub model: Arc<dyn ChatModel>,
    pub middleware: Vec<Arc<dyn Middleware>>,
    pub tools: Vec<Arc<dyn bosun_tools::DynTool>>,
    pub system: Vec<SystemBlock>,
    pub backend: Arc<dyn Backend>,
    pub blobs: Option<Arc<BlobStore>>,
    pub subagents: Option<Arc<dyn Subagents>>,
    pub limits: Limits,
    pub ids: Arc<dyn IdSource>,
    pub policy: Policy,
}

impl Agent {
    /// Puts an agent together: `parts.tools`, then each middleware's own tools in stack order.
    ///
    /// # Errors
    /// [`RegistryError`] when two tools share a name, or two declarations of a field differ.
    pub fn new(parts: AgentParts) -> Result<Self, RegistryError> {
        let brought = parts.middleware.iter().flat_map(|middleware| middleware.tools());
        let tools = ToolRegistry::new(parts.tools.into_iter().chain(brought).collect())?;
        let declared = parts.middleware.iter().flat_map(|middleware| middleware.fields());
        let fields: Vec<StateField> = tools.fields().chain(declared).collect();
        let agent = Self {
            fields: BTreeMap::new(),
            name: parts.name,
            model: parts.model,
            middleware: parts.middleware,
            tools,
            system: parts.system,
            backend: parts.backend,
            blobs: parts.blobs,
            subagents: parts.subagents,
            limits: parts.limits,
            ids: parts.ids,
            policy: Arc::new(parts.policy),
        };
        agent.with_fields(fields)
    }

    /// Declares more fields of the state.
    ///
    /// # Errors
    /// [`RegistryError::Field`] where one is known to be otherwise.
    pub fn with_fields(mut self, fields: Vec<StateField>) -> Result<Self, RegistryError> {
        for field in fields {
            match self.fields.get(&field.name) {
                Some(known) if *known != field => return Err(RegistryError::Field { name: field.name }),
                Some(_) => {}
                None => drop(self.fields.insert(field.name.clone(), field)),
            }
        }
        Ok(self)
    }

    /// The declared fields of the state.
    pub fn fields(&self) -> impl Iterator<Item = &StateField> {
        self.fields.values()
    }

    /// Writes into an update how its fields are merged.
    pub(crate) fn stamp(&self, update: &mut StateUpdate) {
        let declared = update.fields.iter().filter_map(|(name, _)| self.fields.get(name));
        let reduced = declared.filter(|field| field.reducer != Reducer::Replace);
        let reducers: Vec<_> = reduced.map(|field| (field.name.clone(), field.reducer)).collect();
        update.reducers.extend(reducers);
    }

    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }
}
