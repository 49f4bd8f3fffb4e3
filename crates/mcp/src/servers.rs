use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::server::Server;
use crate::{
    Approval, ConfigError, Health, LeftOut, McpTool, PinStore, ServerConfigs, SignIn, SignInError, TokenStore,
    ToolPins, Voucher,
};

/// The servers of one session. They end, with everything they started, when this is dropped or [`shut_down`] is called.
///
/// [`shut_down`]: McpServers::shut_down
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    pins: Arc<Pins>,
}

/// One server as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerView {
    pub name: String,
    pub health: Health,
    /// Where it is reached over HTTP, and somebody may sign in; `None` for a program.
    pub address: Option<String>,
    /// Tools that are off because what they say of themselves changed.
    pub changed: Vec<String>,
    /// Tools that no model could use, each with its reason.
    pub left_out: Vec<LeftOut>,
}

/// A tool that is off until somebody has looked at it again: what it says of itself now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedTool {
    pub server: String,
    /// By the server's own name.
    pub tool: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: serde_json::Value,
    /// What [`McpServers::accept`] takes: it accepts this and nothing newer.
    pub hash: String,
}

impl McpServers {
    /// The servers of `configs` that are enabled, for work in `folder`. Starts nothing.
    ///
    /// # Errors
    /// [`ConfigError`] for the first server that is not written as it should be.
    pub fn new(configs: ServerConfigs, folder: &Path, pins: Arc<dyn PinStore>) -> Result<Self, ConfigError> {
        let pins = Arc::new(Pins::new(pins));
        let mut servers = Vec::with_capacity(configs.len());
        for (name, config) in configs {
            let reach = config.check(&name)?;
            if config.enabled {
                let folder = PathBuf::from(folder);
                servers.push(Arc::new(Server::new(name, config, reach, folder, Arc::clone(&pins))));
            }
        }
        Ok(Self { servers, pins })
    }

    /// Keeps the tokens of sign-ins in `tokens`; without this they are forgotten with the session.
    #[must_use]
    pub fn keeping(self, tokens: &Arc<dyn TokenStore>) -> Self {
        self.servers.iter().for_each(|server| server.keep_tokens(tokens));
        self
    }

    /// Has the servers that `is_brought` names ask `voucher` before each start.
    #[must_use]
    pub fn vouched_by(self, voucher: &Arc<dyn Voucher>, is_brought: impl Fn(&str) -> bool) -> Self {
        self.servers.iter().filter(|server| is_brought(&server.name)).for_each(|server| server.vouched_by(voucher));
        self
    }

    /// Begins a sign-in at a server that wants one ([`Health::NeedsSignIn`]).
    ///
    /// # Errors
    /// [`SignInError`] where it cannot begin.
    pub async fn sign_in(&self, server: &str) -> Result<SignIn, SignInError> {
        let found = self.servers.iter().find(|known| known.name == server);
        let server = found.ok_or_else(|| SignInError::Unknown { name: server.to_owned() })?;
        SignIn::begin(Arc::clone(server)).await
    }

    /// Forgets a sign-in and connects again without it.
    ///
    /// # Errors
    /// [`SignInError`] where there is none to forget.
    pub async fn sign_out(&self, server: &str) -> Result<(), SignInError> {
        self.forget(server).await?.anew().await;
        Ok(())
    }

    /// Forgets a sign-in; connections that were made with it stay.
    ///
    /// # Errors
    /// [`SignInError`] where there is none to forget.
    pub async fn forget_sign_in(&self, server: &str) -> Result<(), SignInError> {
        self.forget(server).await.map(drop)
    }

    async fn forget(&self, server: &str) -> Result<&Arc<Server>, SignInError> {
        let found = self.servers.iter().find(|known| known.name == server);
        let server = found.ok_or_else(|| SignInError::Unknown { name: server.to_owned() })?;
        let address = server.address().ok_or_else(|| SignInError::NoAddress { name: server.name.clone() })?;
        server.tokens().remove(address).await.map_err(|error| SignInError::NotForgotten { reason: error.reason })?;
        Ok(server)
    }

    /// Connects those at `address` again, with the tokens that are kept now; `false` where none is there.
    pub async fn anew_at(&self, address: &str) -> bool {
        let there: Vec<_> = self.servers.iter().filter(|server| server.address() == Some(address)).collect();
        join_all(there.iter().map(|server| server.anew())).await;
        !there.is_empty()
    }

    /// Starts them all side by side, each within its own time limit, and returns when every one is ready or has failed.
    pub async fn start(&self) {
        let starts = self.servers.iter().map(|server| async move {
            // How it went is its health.
            server.connection().await.is_ok()
        });
        join_all(starts).await;
    }

    /// Before a turn: tries those again that failed, and lists tools again that are said to have changed, side by side. A
    /// start that took its time to fail is not waited for again for ten times as long.
    pub async fn look_again(&self) {
        join_all(self.servers.iter().map(|server| server.look_again())).await;
    }

    /// Connects `server` again at once, because a person wants it; `false` where there is none of that name.
    pub async fn try_again(&self, server: &str) -> bool {
        let Some(server) = self.servers.iter().find(|known| known.name == server) else { return false };
        server.anew().await;
        true
    }

    /// The tools of the servers that are ready, ordered by server and name.
    pub fn tools(&self) -> Vec<Arc<McpTool>> {
        let of = |server: &Arc<Server>| {
            let make = |(tool, listed)| Arc::new(McpTool::new(Arc::clone(server), tool, listed));
            server.offered().into_iter().map(make).collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(of).collect()
    }

    /// Names, as a model calls them, of the offered tools that a person said may run without asking: by name, or of all those
    /// that the server had when it was first met.
    pub fn never_ask(&self) -> Vec<String> {
        let of = |server: &Arc<Server>| {
            let is_meant =
                |tool: &str| server.config.tools.contains_key(tool) || !self.pins.is_later(&server.name, tool);
            let allowed = |tool: &String| server.config.approval_of(tool) == Approval::Allow && is_meant(tool);
            let offered = server.offered().into_iter().filter(|(tool, _)| allowed(tool));
            offered.map(|(_, listed)| listed.spec.name).collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(of).collect()
    }

    pub fn views(&self) -> Vec<ServerView> {
        let view = |server: &Arc<Server>| ServerView {
            name: server.name.clone(),
            health: server.health(),
            address: server.address().map(ToOwned::to_owned),
            changed: self.changed_of(server).into_iter().map(|changed| changed.tool).collect(),
            left_out: server.list().left_out.clone(),
        };
        self.servers.iter().map(view).collect()
    }

    /// The health of one server as it changes; `None` where there is none of that name.
    pub fn watch(&self, server: &str) -> Option<watch::Receiver<Health>> {
        self.servers.iter().find(|known| known.name == server).map(|server| server.watch())
    }

    /// The tools that are off because they changed.
    pub fn changed(&self) -> Vec<ChangedTool> {
        self.servers.iter().flat_map(|server| self.changed_of(server)).collect()
    }

    fn changed_of(&self, server: &Server) -> Vec<ChangedTool> {
        let list = server.list();
        let differs = |(tool, listed): &(&String, &crate::listed::Listed)| {
            server.config.approval_of(tool) != Approval::Off && !self.pins.holds(&server.name, tool, &listed.hash)
        };
        let changed = list.tools.iter().filter(differs);
        changed
            .map(|(tool, listed)| ChangedTool {
                server: server.name.clone(),
                tool: tool.clone(),
                description: listed.spec.description.clone(),
                schema: listed.spec.schema.clone(),
                hash: listed.hash.clone(),
            })
            .collect()
    }

    /// A person has looked at a changed tool: it is on again as they saw it. Agents that are built from now on offer it.
    pub fn accept(&self, changed: &ChangedTool) {
        self.pins.accept(&changed.server, &changed.tool, &changed.hash);
        self.servers.iter().filter(|server| server.name == changed.server).for_each(|server| server.count_again());
    }

    /// Ends those that nobody vouches for any more, also in the middle of a start or a call.
    pub async fn end_unvouched(&self) {
        join_all(self.servers.iter().map(|server| server.end_unless_vouched())).await;
    }

    /// Ends them all; none starts again.
    pub async fn shut_down(&self) {
        join_all(self.servers.iter().map(|server| server.end())).await;
    }
}

/// The pins as all servers of a session share them.
pub(crate) struct Pins {
    kept: Mutex<ToolPins>,
    store: Arc<dyn PinStore>,
}

impl Pins {
    fn new(store: Arc<dyn PinStore>) -> Self {
        Self { kept: Mutex::new(store.load()), store }
    }

    /// Whether `hash` is what was let in.
    pub(crate) fn holds(&self, server: &str, tool: &str, hash: &str) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(server, tool) == Some(hash)
    }

    /// Whether a tool came after its server was first met.
    fn is_later(&self, server: &str, tool: &str) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).is_later(server, tool)
    }

    /// Lets in those that were never met.
    pub(crate) fn meet<'a>(&self, server: &str, tools: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.clone();
        kept.meet(server, tools);
        let after = (*kept != before).then(|| kept.clone());
        drop(kept);
        if let Some(after) = after {
            self.store.save(&after);
        }
    }

    fn accept(&self, server: &str, tool: &str, hash: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.set(server, tool, hash);
        let after = kept.clone();
        drop(kept);
        self.store.save(&after);
    }
}
