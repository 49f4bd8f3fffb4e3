//! What a person adds to their sessions: servers of tools, hooks, and places beside the project. They are at work as
//! long as the session's actor is, and are started with its first turn: looking at a session starts nothing.

use std::sync::{Arc, Mutex};

use bosun_harness::mcp::{ChangedTool, PinStore, ServerView, ToolPins};
use bosun_harness::{DeepAgentConfig, Extras, OpenExtras, ProjectExtras};
use bosun_protocol::{Problem, SessionId};
use bosun_store::Database;
use tokio_util::task::TaskTracker;

use crate::actor::Actor;
use crate::stream::locked;
use crate::trust::StillTrusted;
use crate::{Explain, SessionError, Sessions};

/// The setting that keeps what was seen of servers' tools.
const PINS: &str = "mcp_tool_pins";

/// Characters of a hash that name a changed tool and no other.
const SHORTEST_MARK: usize = 16;

/// The additions of all sessions.
pub(crate) struct Added {
    extras: Extras,
    pins: Arc<StoredPins>,
    /// Beginnings of hashes of changed tools that a person has looked at.
    accepted: Vec<String>,
}

impl Added {
    fn accepts(&self, changed: &ChangedTool) -> bool {
        self.accepted.iter().any(|mark| mark.len() >= SHORTEST_MARK && changed.hash.starts_with(mark.as_str()))
    }

    pub(crate) fn extras(&self) -> &Extras {
        &self.extras
    }

    /// Keeps what is not kept yet.
    pub(crate) async fn keep(&self) {
        self.pins.keep().await;
    }
}

impl Sessions {
    /// Adds servers of tools, hooks and places to every session opened from now on. Only what a person set up
    /// themselves belongs here: nothing of a project that they did not trust. `accepted` holds beginnings (16 characters
    /// or more) of the hashes of changed tools that they have looked at. A second call replaces what was added for those
    /// opened later.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where they are not written as they should be.
    pub async fn add(&self, extras: Extras, accepted: Vec<String>) -> Result<(), SessionError> {
        extras.check().map_err(|error| SessionError::invalid(error.problem()))?;
        if extras.is_empty() {
            return Ok(());
        }
        let pins = Arc::new(StoredPins::open(self.database(), self.tasks()).await?);
        self.set_added(Arc::new(Added { extras, pins, accepted }));
        Ok(())
    }

    /// How the servers of a session are; empty before its first turn and where there are none.
    pub async fn servers(&self, session: &SessionId) -> Result<Vec<ServerView>, SessionError> {
        let actor = self.actor(session).await?;
        Ok(actor.extras().get().map(|extras| extras.servers.views()).unwrap_or_default())
    }

    /// Returns once the servers of a session's turn came up, or were given up.
    pub async fn servers_waited_for(&self, session: &SessionId) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        while actor.built_already().is_none() && !actor.turn().await.is_resting() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// The tools of a session's servers that are off because what they say of themselves changed.
    pub async fn changed_tools(&self, session: &SessionId) -> Result<Vec<ChangedTool>, SessionError> {
        let actor = self.actor(session).await?;
        Ok(actor.extras().get().map(|extras| extras.servers.changed()).unwrap_or_default())
    }

    /// Connects a server of a session again because a person wants it; the next turn has its tools.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where the session has none of that name.
    pub async fn try_server_again(&self, session: &SessionId, server: &str) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        let is_there = match actor.extras().get() {
            Some(extras) => extras.servers.try_again(server).await,
            None => false,
        };
        if is_there {
            return Ok(());
        }
        Err(SessionError::not_found(Problem::SignInUnknown { server: server.to_owned() }))
    }

    /// A person has looked at a changed tool: the next turn offers it as they saw it.
    pub async fn accept_tool(&self, session: &SessionId, changed: &ChangedTool) -> Result<(), SessionError> {
        let actor = self.actor(session).await?;
        if let Some(extras) = actor.extras().get() {
            extras.servers.accept(changed);
            actor.rebuild();
        }
        Ok(())
    }
}

impl Actor {
    /// Puts the session's additions into what its agent is built from, starting them the first time.
    pub(crate) async fn extend(
        &self,
        config: &mut DeepAgentConfig,
        of_project: Option<Extras>,
    ) -> Result<(), SessionError> {
        if self.setting.added.is_none() && of_project.is_none() && self.declared_extras().is_empty() {
            return Ok(());
        }
        let started = self.extras();
        let extras: &OpenExtras = started.get_or_try_init(|| self.open_extras(of_project)).await?;
        // While they started, the person may have changed their mind, and found nothing to end yet.
        extras.servers.end_unvouched().await;
        extras.extend(config);
        Ok(())
    }

    /// What of the additions cannot be used as it is written is said before anything is started. Those of a person and of
    /// their project may have names in common.
    pub(crate) fn check_extras(&self, of_project: Option<&Extras>) -> Result<(), SessionError> {
        let (added, declared) = (self.setting.added.as_ref().map(|added| &added.extras), self.declared_extras());
        let mut all = of_project.into_iter().chain(added).chain([&declared]);
        all.try_for_each(Extras::check).map_err(|error| SessionError::invalid(error.problem()))
    }

    /// Before a turn that a person begins: servers that failed are tried again, and the agent is built anew where there are
    /// other tools than it has. What begins by itself behind another turn does not wait for a server.
    pub(crate) async fn look_at_servers(&self) {
        if let Some(extras) = self.extras().get()
            && extras.look_again().await
        {
            self.rebuild();
        }
    }

    /// What the agent's declaration brings.
    fn declared_extras(&self) -> Extras {
        self.setting.declared.as_ref().map(|declared| declared.extras()).unwrap_or_default()
    }

    /// What the person adds and declared. Where both name a server, the declaration's is meant.
    pub(crate) fn own_extras(&self) -> Extras {
        let mut extras = self.setting.added.as_ref().map(|added| added.extras.clone()).unwrap_or_default();
        let declared = self.declared_extras();
        extras.mcp.extend(declared.mcp);
        extras.hooks.extend(declared.hooks);
        extras
    }

    async fn open_extras(&self, of_project: Option<Extras>) -> Result<OpenExtras, SessionError> {
        let extras = self.own_extras();
        let root = self.project_folder().root;
        let of_project = of_project.map(|extras| {
            let trust = Arc::clone(&self.setting.trust);
            let trusted = StillTrusted::new(root.clone(), trust, self.tree.project.clone(), extras.clone());
            ProjectExtras { extras, voucher: Arc::new(trusted) }
        });
        let pins: Arc<dyn PinStore> = match &self.setting.added {
            Some(added) => Arc::<StoredPins>::clone(&added.pins),
            None => Arc::new(StoredPins::open(Arc::clone(&self.tree.database), self.tasks.clone()).await?),
        };
        let tokens = self.setting.sign_ins.tokens();
        let open = extras.open(of_project.as_ref(), &root, pins, &tokens).await;
        let open = open.map_err(|error| SessionError::invalid(error.problem()))?;
        if let Some(added) = &self.setting.added {
            for changed in open.servers.changed().iter().filter(|changed| added.accepts(changed)) {
                open.servers.accept(changed);
            }
        }
        Ok(open)
    }

    /// Ends those servers of its project that are not trusted any more, while everything else goes on.
    pub(crate) fn end_untrusted(self: &Arc<Self>) {
        let actor = Arc::clone(self);
        self.spawn(async move {
            if let Some(extras) = actor.extras().get() {
                extras.servers.end_unvouched().await;
            }
        });
    }

    /// Ends the session's servers with everything they started.
    pub(crate) async fn end_extras(&self) {
        if let Some(extras) = self.extras().get() {
            extras.servers.shut_down().await;
        }
    }
}

/// Pins in the settings of the database.
struct StoredPins {
    database: Arc<Database>,
    tasks: TaskTracker,
    latest: Arc<Mutex<ToolPins>>,
}

impl StoredPins {
    async fn open(database: Arc<Database>, tasks: TaskTracker) -> Result<Self, SessionError> {
        let latest = database.setting::<ToolPins>(PINS).await?.unwrap_or_default();
        Ok(Self { database, tasks, latest: Arc::new(Mutex::new(latest)) })
    }

    async fn keep(&self) {
        keep(Arc::clone(&self.database), Arc::clone(&self.latest)).await;
    }
}

/// Writes the newest pins, whoever changed them.
async fn keep(database: Arc<Database>, latest: Arc<Mutex<ToolPins>>) {
    let pins = locked(&latest).clone();
    if let Err(error) = database.set_setting(PINS, &pins).await {
        tracing::error!(%error, "what was seen of servers' tools could not be kept");
    }
}

impl PinStore for StoredPins {
    fn load(&self) -> ToolPins {
        locked(&self.latest).clone()
    }

    fn save(&self, pins: &ToolPins) {
        // Another session may have met other servers since these were loaded.
        locked(&self.latest).merge(pins);
        self.tasks.spawn(keep(Arc::clone(&self.database), Arc::clone(&self.latest)));
    }
}
