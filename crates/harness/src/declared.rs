mod backend;
mod files;
mod limits;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use bosun_agent::{DecisionKind, PermissionRule};
use bosun_backend::VirtualPath;
use bosun_model::{CacheLifetime, Effort, OutputSchema};
use bosun_tools::{Reducer, StateField};
use serde::Deserialize;

use bosun_mcp::ServerConfigs;

use crate::{
    Artifacts, DeepAgentConfig, DeepAgentError, Extras, Gate, HookConfig, InterruptOn, Members, PathRule, SkillSource,
    SubagentSpec, SummarizationOptions, plain, tool_names,
};
pub use backend::{
    DeclaredBackend, DeclaredCommands, DeclaredDefault, DeclaredKind, DeclaredRoute, DeclaredScope, RouteFault,
};
pub use files::{DeclaredFilesystem, DeclaredSkills};
pub use limits::{DeclaredGuards, DeclaredLimits};

/// An agent as a TOML file declares it: everything of [`DeepAgentConfig`] that is not code. What the file leaves out
/// stays as it was in the configuration it is applied to.
///
/// ```
/// let declared = bosun_harness::DeclaredAgent::parse(r#"
///     system_prompt = "You look after the release notes."
///     builtin_tools = ["ls", "read_file", "edit_file", "write_todos"]
///     memory = ["/AGENTS.md"]
///
///     [approvals]
///     edits = "allow"
///     timeout_seconds = 600
///     tools.execute = { allowed = ["approve", "reject"], description = "Runs on this machine." }
///     tools.write_todos = false
///
///     [guards]
///     max_dollars = 2.5
///
///     [[subagents]]
///     name = "reader"
///     description = "Reads widely."
///     tools = ["ls", "read_file", "grep"]
/// "#);
/// assert!(declared.is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredAgent {
    pub name: Option<String>,
    /// `PROVIDER:NAME`, for sessions that were given no other; whoever opens sessions connects it.
    pub model: Option<String>,
    pub system_prompt: Option<String>,
    pub base_prompt: Option<String>,
    pub builtin_tools: Option<Vec<String>>,
    /// By tool.
    pub descriptions: BTreeMap<String, String>,
    pub filesystem: DeclaredFilesystem,
    pub summarization: Option<SummarizationOptions>,
    /// Where its files are; the session opens it.
    pub backend: DeclaredBackend,
    /// The folder for large results and old conversation.
    pub artifacts: Option<VirtualPath>,
    /// The `AGENTS.md` files.
    pub memory: Option<Vec<VirtualPath>>,
    pub skills: DeclaredSkills,
    pub cache: Option<CacheLifetime>,
    pub subagents: Vec<DeclaredSubagent>,
    pub background_subagents: Option<bool>,
    pub output: Option<OutputSchema>,
    /// Fields of the state, by name.
    pub state: BTreeMap<String, DeclaredField>,
    pub approvals: DeclaredApprovals,
    /// What may be done with paths; the first that fits decides.
    pub permissions: Vec<PathRule>,
    /// Servers whose tools it has besides; whoever opens sessions starts them.
    pub mcp: ServerConfigs,
    /// Commands at the points of its stack, in the place of middleware.
    pub hooks: Vec<HookConfig>,
    pub limits: DeclaredLimits,
    pub guards: DeclaredGuards,
}

/// How the agent asks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredApprovals {
    pub edits: Option<DeclaredRule>,
    pub commands: Option<DeclaredRule>,
    pub prefix: Option<String>,
    pub timeout_seconds: Option<u64>,
    /// By tool: whether it asks, or how.
    pub tools: BTreeMap<String, DeclaredGate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredRule {
    Ask,
    Allow,
    Reject,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "how a tool asks is true, false, or a table with allowed, description and timeout_seconds"
)]
pub enum DeclaredGate {
    Asks(bool),
    How(HowItAsks),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HowItAsks {
    pub allowed: Option<Vec<DecisionKind>>,
    pub description: Option<String>,
    pub timeout_seconds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSubagent {
    pub name: String,
    pub description: String,
    #[serde(default)]
    pub prompt: String,
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    #[serde(default)]
    pub model: Option<String>,
    /// How much its model thinks, where it is not as its parent's.
    #[serde(default)]
    pub effort: Option<Effort>,
    #[serde(default)]
    pub skills: Vec<SkillSource>,
    /// By tool: whether it asks in addition, or how; as in [`DeclaredApprovals::tools`].
    #[serde(default)]
    pub interrupt_on: BTreeMap<String, DeclaredGate>,
    /// What it may do with paths, within what its parent may.
    #[serde(default)]
    pub permissions: Vec<PathRule>,
    #[serde(default)]
    pub output: Option<OutputSchema>,
    #[serde(default)]
    pub max_steps: Option<u32>,
}

/// A field of the state: `state.findings = { reducer = "append" }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredField {
    /// `replace` where it is left out.
    pub reducer: Reducer,
    /// Whether it stays with its agent: subagents neither get it nor give it back.
    pub private: bool,
}

/// Parts of the state that are there already, and no name at all.
const RESERVED: [&str; 3] = ["", "messages", "todos"];

/// A declaration that cannot be read. Names the line and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the declaration of the agent cannot be used: {0}")]
pub struct DeclaredAgentError(String);

impl DeclaredAgent {
    /// Reads the declaration of an agent that has no tools but Bosun's own and those of servers.
    ///
    /// # Errors
    /// [`DeclaredAgentError`] for text that is no TOML, for a key that does not exist, for a value of another kind, and for
    /// the name of a tool that there cannot be.
    pub fn parse(text: &str) -> Result<Self, DeclaredAgentError> {
        Self::parse_beside(text, &[])
    }

    /// The same where the program has tools of its own ([`DeepAgentConfig::tools`]), by their names: `approvals.tools` and
    /// `interrupt_on` may say how these ask, too.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_beside(text: &str, own_tools: &[&str]) -> Result<Self, DeclaredAgentError> {
        let unread = |error: toml::de::Error| DeclaredAgentError(plain::toml(text, error.message(), error.span()));
        let declared: Self = toml::from_str(text).map_err(unread)?;
        declared.backend.check().map_err(|error| DeclaredAgentError(error.to_string()))?;
        declared.extras().check().map_err(|error| DeclaredAgentError(error.to_string()))?;
        declared.check_values()?;
        declared.check_tools(own_tools)?;
        Ok(declared)
    }

    /// Values that are of the right kind and can still mean nothing.
    fn check_values(&self) -> Result<(), DeclaredAgentError> {
        if let Some(Err(fault)) = self.summarization.as_ref().map(SummarizationOptions::check) {
            return Err(DeclaredAgentError(format!("[summarization]: {fault}")));
        }
        if let Some((tool, _)) = self.descriptions.iter().find(|(_, text)| text.trim().is_empty()) {
            return Err(DeclaredAgentError(format!("[descriptions]: that of '{tool}' is empty; leave it out")));
        }
        if let Some(name) = self.state.keys().find(|name| RESERVED.contains(&name.as_str())) {
            let why =
                if name.is_empty() { "a field needs a name".to_owned() } else { format!("'{name}' is Bosun's own") };
            return Err(DeclaredAgentError(format!("[state]: {why}; choose another")));
        }
        // As when the agent is built, which is after its session has begun.
        let decides_nothing = |gate: &DeclaredGate| matches!(InterruptOn::from(gate.clone()), InterruptOn::Ask(gate) if gate.allowed.is_empty());
        if let Some((tool, _)) = self.approvals.tools.iter().find(|(_, gate)| decides_nothing(gate)) {
            return Err(DeclaredAgentError(DeepAgentError::NoDecision { tool: tool.clone() }.to_string()));
        }
        let at_once = |gate: &DeclaredGate| matches!(gate, DeclaredGate::How(how) if how.timeout_seconds == Some(0));
        if self.approvals.timeout_seconds == Some(0) || self.approvals.tools.values().any(at_once) {
            let why = "timeout_seconds = 0 refuses every call before anybody can answer; leave it out";
            return Err(DeclaredAgentError(format!("[approvals]: {why}")));
        }
        let mut names = HashSet::new();
        for declared in &self.subagents {
            if !names.insert(&declared.name) {
                let name = declared.name.clone();
                return Err(DeclaredAgentError(DeepAgentError::DuplicateSubagent { name }.to_string()));
            }
            let wrong = |error| DeclaredAgentError(format!("[[subagents]], '{}': {error}", declared.name));
            SubagentSpec::from(declared.clone()).check().map_err(wrong)?;
        }
        Ok(())
    }

    /// Names of tools that can stand for none: those of servers may yet come, all others are known.
    fn check_tools(&self, own: &[&str]) -> Result<(), DeclaredAgentError> {
        let built_in = [
            ("builtin_tools", tool_names::not_built_in(self.builtin_tools.iter().flatten())),
            ("[descriptions]", tool_names::not_built_in(self.descriptions.keys())),
        ];
        let can_be = |name: &str| tool_names::is_own(name) || tool_names::can_be_of_server(name) || own.contains(&name);
        let never = |gates: &BTreeMap<String, DeclaredGate>| gates.keys().find(|name| !can_be(name)).cloned();
        let known = tool_names::built_in_list();
        if let Some((place, name)) = built_in.into_iter().find_map(|(place, name)| Some((place, name?))) {
            let unknown = DeepAgentError::UnknownTool { name: name.clone(), known };
            return Err(DeclaredAgentError(format!("{place}: {unknown}")));
        }
        let of_subagents = self.subagents.iter().map(|subagent| {
            (format!("[[subagents]], '{}', interrupt_on", subagent.name), never(&subagent.interrupt_on))
        });
        let asking =
            std::iter::once(("[approvals.tools]".to_owned(), never(&self.approvals.tools))).chain(of_subagents);
        match asking.into_iter().find_map(|(place, name)| Some((place, name?))) {
            Some((place, name)) => {
                let known = format!("{known}, and those of servers, each as SERVER__TOOL");
                let unknown = DeepAgentError::UnknownTool { name, known };
                Err(DeclaredAgentError(format!("{place}: {unknown}")))
            }
            None => Ok(()),
        }
    }

    /// The servers of tools and the hooks that it brings. Its routes are part of [`DeclaredBackend`], its limits
    /// are applied with the rest.
    pub fn extras(&self) -> Extras {
        Extras { mcp: self.mcp.clone(), hooks: self.hooks.clone(), ..Extras::default() }
    }

    /// Sets everything that is declared, but for what the configuration has already: the model and the backend; and for
    /// [`Self::extras`], which have to be started.
    pub fn apply(self, config: &mut DeepAgentConfig) {
        set(&mut config.name, self.name);
        set(&mut config.summarization, self.summarization);
        set(&mut config.memory.sources, self.memory);
        set(&mut config.cache, self.cache);
        set(&mut config.background_subagents, self.background_subagents);
        self.filesystem.apply(config);
        self.skills.apply(config);
        self.limits.apply(config);
        self.guards.apply(config);
        config.system_prompt = self.system_prompt.or(config.system_prompt.take());
        config.base_prompt = self.base_prompt.or(config.base_prompt.take());
        config.builtin_tools = self.builtin_tools.or(config.builtin_tools.take());
        config.output = self.output.or(config.output.take());
        config.descriptions.extend(self.descriptions);
        config.fields.extend(self.state.into_iter().map(|(name, field)| StateField {
            name,
            reducer: field.reducer,
            private: field.private,
        }));
        config.permissions.extend(self.permissions);
        // One of its own is meant where a file has another of the same name.
        config.subagents.retain(|known| self.subagents.iter().all(|own| own.name != known.name));
        config.subagents.extend(self.subagents.into_iter().map(SubagentSpec::from));
        if let Some(root) = self.artifacts {
            config.artifacts = Artifacts::below(root);
        }
        self.approvals.apply(config);
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl DeclaredApprovals {
    fn apply(self, config: &mut DeepAgentConfig) {
        set(&mut config.policy.edits, self.edits.map(|rule| rule.named("edits")));
        set(&mut config.policy.commands, self.commands.map(|rule| rule.named("commands")));
        config.approval_prefix = self.prefix.or(config.approval_prefix.take());
        config.approval_timeout = self.timeout_seconds.map(Duration::from_secs).or(config.approval_timeout);
        config.interrupt_on.extend(self.tools.into_iter().map(|(tool, gate)| (tool, gate.into())));
    }
}

impl DeclaredRule {
    /// The rule for `what`, by the name that records give.
    fn named(self, what: &str) -> PermissionRule {
        match self {
            Self::Ask => PermissionRule::Ask,
            Self::Allow => PermissionRule::Allow { name: format!("{what} are allowed by the agent's declaration") },
            Self::Reject => PermissionRule::Reject { name: format!("{what} are refused by the agent's declaration") },
        }
    }
}

impl From<DeclaredGate> for InterruptOn {
    fn from(gate: DeclaredGate) -> Self {
        match gate {
            DeclaredGate::Asks(false) => Self::Never,
            DeclaredGate::Asks(true) => Self::Ask(Gate::default()),
            DeclaredGate::How(how) => Self::Ask(Gate {
                allowed: how.allowed.unwrap_or_else(|| DecisionKind::ALL.to_vec()),
                description: how.description,
                timeout: how.timeout_seconds.map(Duration::from_secs),
                ..Gate::default()
            }),
        }
    }
}

impl From<DeclaredSubagent> for SubagentSpec {
    fn from(declared: DeclaredSubagent) -> Self {
        Self {
            name: declared.name,
            description: declared.description,
            prompt: declared.prompt,
            tools: declared.tools,
            model: declared.model.filter(|model| model != "inherit"),
            effort: declared.effort,
            skills: declared.skills,
            interrupt_on: declared.interrupt_on.into_iter().map(|(tool, gate)| (tool, gate.into())).collect(),
            permissions: declared.permissions,
            output: declared.output,
            middleware: Members::default(),
            max_steps: declared.max_steps,
        }
    }
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
