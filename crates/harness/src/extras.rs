use std::path::Path;
use std::sync::Arc;

use bosun_agent::{Middleware, Policy};
use bosun_mcp::{ConfigError, McpServers, PinStore, ServerConfigs};
use bosun_tools::DynTool;
use serde::{Deserialize, Serialize};

use crate::{HookConfig, HookError, Hooks, OnDemand};

/// Tokens that the descriptions of all servers' tools may take of every request; beyond it they are looked for first.
const MOST_TOOL_TOKENS: u64 = 10_000;

/// What a person adds to every session: servers of tools, and hooks. Written as TOML, `[mcp.NAME]` and `[[hooks]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extras {
    #[serde(skip_serializing_if = "ServerConfigs::is_empty")]
    pub mcp: ServerConfigs,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookConfig>,
}

/// Additions that cannot be used as they are written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtrasError {
    #[error(transparent)]
    Server(#[from] ConfigError),
    #[error(transparent)]
    Hook(#[from] HookError),
}

/// The additions of one session, at work. The servers end when the last clone of `servers` and of `tools` is gone, or
/// when they are shut down.
pub struct OpenExtras {
    pub servers: McpServers,
    /// The tools of the servers that came up.
    pub tools: Vec<Arc<dyn DynTool>>,
    /// For the session's agent and every subagent.
    pub middleware: Vec<Arc<dyn Middleware>>,
}

impl Extras {
    pub fn is_empty(&self) -> bool {
        self.mcp.is_empty() && self.hooks.is_empty()
    }

    /// Checks everything that can be known without starting anything.
    ///
    /// # Errors
    /// [`ExtrasError`] for the first thing that does not fit.
    pub fn check(&self) -> Result<(), ExtrasError> {
        for (name, server) in &self.mcp {
            server.check(name)?;
        }
        Hooks::new(self.hooks.clone(), std::path::PathBuf::new())?;
        Ok(())
    }

    /// Starts the servers for work in `folder`. One that does not come up has no tools and says why in its health; the
    /// session goes on without it.
    ///
    /// # Errors
    /// As [`Extras::check`].
    pub async fn open(&self, folder: &Path, pins: Arc<dyn PinStore>) -> Result<OpenExtras, ExtrasError> {
        let hooks = Hooks::new(self.hooks.clone(), folder.to_owned())?;
        let servers = McpServers::new(self.mcp.clone(), folder, pins)?;
        servers.start().await;
        let tools: Vec<Arc<dyn DynTool>> = servers.tools().into_iter().map(|tool| tool as Arc<dyn DynTool>).collect();
        let mut middleware: Vec<Arc<dyn Middleware>> = Vec::new();
        if let Some(on_demand) = OnDemand::over(&tools, MOST_TOOL_TOKENS) {
            middleware.push(Arc::new(on_demand));
        }
        if !self.hooks.is_empty() {
            middleware.push(Arc::new(hooks));
        }
        Ok(OpenExtras { servers, tools, middleware })
    }
}

impl OpenExtras {
    /// Adds to `policy` that the tools a person said so of run without asking.
    pub fn allow_in(&self, policy: &mut Policy) {
        policy.interrupt_on.extend(self.servers.never_ask().into_iter().map(|tool| (tool, None)));
    }
}
