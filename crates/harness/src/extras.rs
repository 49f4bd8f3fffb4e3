mod disowned;
mod written;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bosun_agent::Middleware;
use bosun_backend::VirtualPath;
use bosun_mcp::{ConfigError, McpServers, McpTool, PinStore, ServerConfigs, TokenStore, Voucher};
use bosun_model::ModelInfo;
use bosun_tools::DynTool;
use serde::{Deserialize, Serialize};

use crate::{
    DeclaredGuards, DeclaredLimits, DeclaredRoute, DeepAgentConfig, HookConfig, HookError, Hooks, OnDemand, RouteFault,
    hooks, plain,
};

use disowned::Disowned;
pub use written::WrittenExtras;

/// Tokens that the descriptions of all servers' tools may take of every request, and what part of the model's window;
/// beyond it they are looked for first.
const MOST_TOOL_TOKENS: u64 = 10_000;
const MOST_OF_WINDOW: u64 = 10;

/// What a person adds to every session: servers of tools, hooks, more places in the path space, and limits. Written as
/// TOML, `[mcp.NAME]`, `[[hooks]]`, `[[routes]]`, `[limits]` and `[guards]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extras {
    #[serde(skip_serializing_if = "ServerConfigs::is_empty")]
    pub mcp: ServerConfigs,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookConfig>,
    /// Only a person's own count: a project may not bring any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<DeclaredRoute>,
    /// Only a person's own count, as with routes: a project's would lift theirs.
    #[serde(skip_serializing_if = "DeclaredLimits::is_empty")]
    pub limits: DeclaredLimits,
    #[serde(skip_serializing_if = "DeclaredGuards::is_empty")]
    pub guards: DeclaredGuards,
}

/// What a project brings, and who knows whether it is still what a person trusted.
#[derive(Clone)]
pub struct ProjectExtras {
    pub extras: Extras,
    pub voucher: Arc<dyn Voucher>,
}

/// Additions that cannot be used as they are written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtrasError {
    #[error(transparent)]
    Server(#[from] ConfigError),
    #[error(transparent)]
    Hook(#[from] HookError),
    #[error(transparent)]
    Route(#[from] RouteFault),
    #[error("{0}")]
    Toml(String),
}

/// The additions of one session, at work. The servers end when this and the tools made from it are gone, or when they
/// are shut down.
pub struct OpenExtras {
    pub servers: McpServers,
    hooks: Arc<Hooks>,
    /// Files of the project that are started.
    started: Vec<VirtualPath>,
    /// Names and hashes of the tools that the last agent was given.
    given: Mutex<Vec<(String, String)>>,
}

impl Extras {
    pub fn is_empty(&self) -> bool {
        self.mcp.is_empty() && self.hooks.is_empty() && self.routes.is_empty() && !self.has_limits()
    }

    pub fn has_limits(&self) -> bool {
        !self.limits.is_empty() || !self.guards.is_empty()
    }

    /// Sets the limits that are named here; those of an agent's declaration come after them.
    pub fn limit(&self, config: &mut DeepAgentConfig) {
        self.limits.apply(config);
        self.guards.apply(config);
    }

    /// Reads them from TOML.
    ///
    /// # Errors
    /// [`ExtrasError`] for what is no TOML, is not known, or does not fit.
    pub fn parse(text: &str) -> Result<Self, ExtrasError> {
        let extras: Self = toml::from_str(text)
            .map_err(|error: toml::de::Error| ExtrasError::Toml(plain::toml(text, error.message(), error.span())))?;
        extras.check()?;
        Ok(extras)
    }

    /// Checks everything that can be known without starting anything.
    ///
    /// # Errors
    /// [`ExtrasError`] for the first thing that does not fit.
    pub fn check(&self) -> Result<(), ExtrasError> {
        for (name, server) in &self.mcp {
            server.check(name)?;
        }
        hooks::config::check(&self.hooks)?;
        Ok(DeclaredRoute::check_all(&self.routes)?)
    }

    /// The servers that these and a project bring. Where both name one, that of these is meant.
    pub fn servers_with(&self, of_project: Option<&Self>) -> ServerConfigs {
        let mut servers = of_project.map(|brought| brought.mcp.clone()).unwrap_or_default();
        servers.extend(self.mcp.clone());
        servers
    }

    /// Starts the servers for work in `folder`. One that does not come up has no tools and says why in its health; the
    /// session goes on without it. Who signed in at one, and what values servers and hooks are given, is in `tokens`.
    ///
    /// # Errors
    /// As [`Extras::check`].
    pub async fn open(
        &self,
        of_project: Option<&ProjectExtras>,
        folder: &Path,
        pins: Arc<dyn PinStore>,
        tokens: &Arc<dyn TokenStore>,
    ) -> Result<OpenExtras, ExtrasError> {
        let mut hooks = Hooks::new(self.hooks.clone(), folder.to_owned())?;
        let all = self.servers_with(of_project.map(|brought| &brought.extras));
        let mut servers = McpServers::new(all, folder, pins)?.keeping(tokens);
        if let Some(ProjectExtras { extras, voucher }) = of_project {
            hooks = hooks.with_brought(extras.hooks.clone(), voucher)?;
            servers = servers.vouched_by(voucher, |server| !self.mcp.contains_key(server));
        }
        servers.start().await;
        let both = [Some(self), of_project.map(|brought| &brought.extras)].into_iter().flatten();
        let started = both.flat_map(|extras| extras.started(folder)).collect();
        Ok(OpenExtras { servers, hooks: Arc::new(hooks.keeping(tokens)), started, given: Mutex::default() })
    }

    /// What may be a file of the project in `folder` among the words that servers and hooks are started with.
    pub fn started(&self, folder: &Path) -> Vec<VirtualPath> {
        let of_servers = self.mcp.values().flat_map(|server| server.command.iter().chain(&server.args));
        let of_hooks = self.hooks.iter().flat_map(|hook| [&hook.command].into_iter().chain(&hook.args));
        let path = |word: &String| {
            let inside = Path::new(word).strip_prefix(folder).unwrap_or(Path::new(word)).to_str()?;
            VirtualPath::parse(inside.strip_prefix("./").unwrap_or(inside)).ok().filter(|path| !path.is_root())
        };
        of_servers.chain(of_hooks).filter_map(path).collect()
    }
}

impl OpenExtras {
    /// The tools of the servers that are there now.
    pub fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.servers.tools().into_iter().map(|tool| tool as Arc<dyn DynTool>).collect()
    }

    /// Before a turn: tries servers again that failed, lists tools that are said to have changed, and tells whether an
    /// agent that is built now would have other tools than the last one.
    pub async fn look_again(&self) -> bool {
        self.servers.look_again().await;
        marks(&self.servers.tools()) != *self.given()
    }

    fn given(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds them to what an agent is built from: the tools, what keeps many of them out of the context, the hooks, and
    /// that the tools a person said so of run without asking.
    pub fn extend(&self, config: &mut DeepAgentConfig) {
        let tools = self.servers.tools();
        *self.given() = marks(&tools);
        config.everywhere.extend(Disowned::over(&tools).map(|disowned| Arc::new(disowned) as Arc<dyn Middleware>));
        let tools: Vec<_> = tools.into_iter().map(|tool| tool as Arc<dyn DynTool>).collect();
        if let Some(on_demand) = OnDemand::over(&tools, most_tool_tokens(config.model.info())) {
            config.on_demand = Some(Arc::new(on_demand));
        }
        if !self.hooks.is_empty() {
            config.everywhere.push(Arc::<Hooks>::clone(&self.hooks));
        }
        config.started.extend(self.started.iter().cloned());
        config.tools.extend(tools);
        config.policy.interrupt_on.extend(self.servers.never_ask().into_iter().map(|tool| (tool, None)));
    }
}

/// What tells tools that a model knows from others.
fn marks(tools: &[Arc<McpTool>]) -> Vec<(String, String)> {
    let mark = |tool: &Arc<McpTool>| {
        let (name, hash) = tool.mark();
        (name.to_owned(), hash.to_owned())
    };
    tools.iter().map(mark).collect()
}

fn most_tool_tokens(model: &ModelInfo) -> u64 {
    let window = model.context_window.filter(|window| *window > 0);
    window.map_or(MOST_TOOL_TOKENS, |window| MOST_TOOL_TOKENS.min(u64::from(window) / MOST_OF_WINDOW))
}
