use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bosun_agent::{Ask, AskPlace, DecisionKind, InterruptConfig, State, TurnContext};
use bosun_backend::VirtualPath;
use bosun_model::ToolCall;
use bosun_tools::{DynTool, ToolKind};

use crate::{PathRules, RootPlace};

/// How one tool asks, over the rule of its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum InterruptOn {
    /// It asks only where no rule for edits covers what it does: for protected names, and for what later sessions go by. What
    /// the policy rejects stays so. Of a subagent: it asks no more than its sender does.
    Never,
    Ask(Gate),
}

impl Default for InterruptOn {
    fn default() -> Self {
        Self::Ask(Gate::default())
    }
}

/// When and how a tool asks.
#[derive(Clone)]
pub struct Gate {
    /// What a person may decide. Never empty.
    pub allowed: Vec<DecisionKind>,
    /// What is asked, in words.
    pub description: Option<String>,
    /// The same, made from the call; goes before `description`.
    pub describe: Option<Describe>,
    /// Asks only where this holds; `None` always asks. Files that later run code ask in any case.
    pub when: Option<Predicate>,
    /// After so long without an answer the call is rejected, over the time of all tools.
    pub timeout: Option<Duration>,
}

type Describe = Arc<dyn Fn(&GateRequest<'_>) -> String + Send + Sync>;
type Predicate = Arc<dyn Fn(&GateRequest<'_>) -> bool + Send + Sync>;

/// What is known when a call asks.
pub struct GateRequest<'a> {
    pub call: &'a ToolCall,
    /// The file it would change, where it would change one.
    pub mutates: Option<&'a VirtualPath>,
    pub state: &'a State,
}

impl Default for Gate {
    /// Every decision is allowed, and it always asks.
    fn default() -> Self {
        Self { allowed: DecisionKind::ALL.to_vec(), description: None, describe: None, when: None, timeout: None }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("allowed", &self.allowed)
            .field("description", &self.description)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Functions are the same where they are the very same.
impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        let Self { allowed, description, describe, when, timeout } = self;
        (allowed, description, timeout) == (&other.allowed, &other.description, &other.timeout)
            && is_same(describe.as_ref(), other.describe.as_ref())
            && is_same(when.as_ref(), other.when.as_ref())
    }
}

fn is_same<T: ?Sized>(ours: Option<&Arc<T>>, theirs: Option<&Arc<T>>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    }
}

impl Gate {
    /// The part of it that the rules keep.
    pub(crate) fn config(&self) -> InterruptConfig {
        InterruptConfig { allowed: self.allowed.clone(), description: self.description.clone() }
    }

    /// Whether its predicate wants a person to look at this call.
    pub(super) fn applies(&self, cx: &TurnContext, call: &ToolCall, mutates: Option<&VirtualPath>) -> bool {
        let Some(when) = &self.when else { return true };
        cx.log().with_state(|state| when(&GateRequest { call, mutates, state }))
    }
}

/// What may be set about asking, beside the rules.
#[derive(Clone, Debug, Default)]
pub struct HumanInTheLoopOptions {
    /// Stands before the call in what is asked, where the tool has no description of its own.
    pub prefix: Option<String>,
    /// After so long without an answer a call is rejected. Nothing is ever approved by the clock.
    pub timeout: Option<Duration>,
    /// By tool.
    pub gates: BTreeMap<String, Gate>,
    /// What each of the subagents on the way to this one asks in addition, by tool, outermost first. Each list is judged
    /// by itself: what one of them asks for is asked for.
    pub in_addition: Vec<BTreeMap<String, Gate>>,
    /// What is at `/`.
    pub root: RootPlace,
    /// What has its own part of the path space.
    pub places: Vec<(VirtualPath, AskPlace)>,
    /// What may be done with paths.
    pub paths: PathRules,
    /// Files and folders that later sessions go by, besides those of the app's own mounts.
    pub steering: Vec<VirtualPath>,
    /// Files that hooks and servers of tools are started from.
    pub started: Vec<VirtualPath>,
}

impl HumanInTheLoopOptions {
    /// What is set for a tool, the innermost subagent's first.
    fn gates_of(&self, tool: &str) -> impl Iterator<Item = &Gate> {
        self.in_addition.iter().rev().chain([&self.gates]).filter_map(move |gates| gates.get(tool))
    }

    /// What is asked, in words. `given` is the description in the rules.
    pub(super) fn description(&self, cx: &TurnContext, call: &ToolCall, given: Option<String>) -> Option<String> {
        let describe = self.gates_of(&call.name).find(|gate| gate.describe.is_some() || gate.description.is_some());
        if let Some(describe) = describe.and_then(|gate| gate.describe.as_ref()) {
            return Some(cx.log().with_state(|state| describe(&GateRequest { call, mutates: None, state })));
        }
        let made =
            || self.prefix.as_ref().map(|prefix| format!("{prefix}\n\nTool: {}\nArgs: {}", call.name, call.args));
        given.or_else(made)
    }

    /// What the file or folder is part of that a call names; where a command runs, where that is not this machine.
    pub(super) fn place(&self, cx: &TurnContext, call: &ToolCall, tool: &Arc<dyn DynTool>) -> Option<AskPlace> {
        if tool.kind() == ToolKind::Execute {
            return self.root.of_commands();
        }
        let named = || Ask::names(&call.args).and_then(|word| cx.agent().backend.resolve(word).ok());
        let path = tool.mutates(&cx.tool_context(&call.id), &call.args).or_else(named)?;
        let around = self.places.iter().filter(|(prefix, _)| path.starts_with(prefix));
        let nearest = around.max_by_key(|(prefix, _)| prefix.as_str().len());
        Some(nearest.map_or_else(|| self.root.of_files(), |(_, place)| *place))
    }

    /// Whether a file is kept somewhere else than what is at `/`.
    pub(super) fn is_beside(&self, path: &VirtualPath) -> bool {
        self.places.iter().any(|(prefix, _)| path.starts_with(prefix))
    }

    pub(super) fn timeout(&self, tool: &str) -> Option<Duration> {
        self.gates_of(tool).find_map(|gate| gate.timeout).or(self.timeout)
    }
}
