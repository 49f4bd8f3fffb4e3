//! One server's life: started when it is needed, watched, started again after it failed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::failure::{Ending, Failure};
use crate::listed::{Listed, ToolList};
use crate::servers::Pins;
use crate::{
    Approval, BroughtItem, Health, Reach, ServerConfig, TokenStore, UnkeptTokens, VariableError, Voucher, environment,
};

/// Callers that come within this time of a failed start get its reason instead of one more start.
const PAUSE: Duration = Duration::from_secs(2);
/// How many times as long as a start took until it failed nobody who only looks makes another: a server that hangs must not
/// hold up every turn.
const PAUSE_OF_START: u32 = 10;

pub(crate) struct Server {
    pub name: String,
    pub config: ServerConfig,
    reach: Reach,
    folder: PathBuf,
    pins: Arc<Pins>,
    health: watch::Sender<Health>,
    /// Held while it starts, so that everybody else waits for that start.
    life: tokio::sync::Mutex<Life>,
    tools: Mutex<Arc<ToolList>>,
    tokens: OnceLock<Arc<dyn TokenStore>>,
    /// Of one that the project brought.
    voucher: OnceLock<Arc<dyn Voucher>>,
    /// Tells a start under way that nobody vouches for it any more.
    disowned: Notify,
}

#[derive(Default)]
struct Life {
    connection: Option<Arc<Connection>>,
    failed: Option<FailedStart>,
    over: bool,
    /// It was up once.
    was_up: bool,
}

struct FailedStart {
    at: Instant,
    took: Duration,
    failure: Failure,
}

/// Why a tool does not run although its server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    Gone,
    /// What it says of itself is not what was seen.
    Changed,
}

impl Server {
    pub(crate) fn new(name: String, config: ServerConfig, reach: Reach, folder: PathBuf, pins: Arc<Pins>) -> Self {
        Self {
            name,
            config,
            reach,
            folder,
            pins,
            health: watch::Sender::new(Health::Stopped),
            life: tokio::sync::Mutex::default(),
            tools: Mutex::default(),
            tokens: OnceLock::new(),
            voucher: OnceLock::new(),
            disowned: Notify::new(),
        }
    }

    /// Has it ask `voucher` before each start; who was set first stays.
    pub(crate) fn vouched_by(&self, voucher: &Arc<dyn Voucher>) {
        self.voucher.get_or_init(|| Arc::clone(voucher));
    }

    /// Where the tokens of sign-ins are kept; what was set first stays.
    pub(crate) fn keep_tokens(&self, tokens: &Arc<dyn TokenStore>) {
        self.tokens.get_or_init(|| Arc::clone(tokens));
    }

    pub(crate) fn tokens(&self) -> Arc<dyn TokenStore> {
        Arc::clone(self.tokens.get_or_init(|| Arc::new(UnkeptTokens::default())))
    }

    /// Where it is reached over HTTP.
    pub(crate) fn address(&self) -> Option<&str> {
        match &self.reach {
            Reach::Http { url } => Some(url),
            Reach::Program { .. } => None,
        }
    }

    /// Connects again, with what is known now.
    pub(crate) async fn anew(&self) {
        let mut life = self.life.lock().await;
        life.failed = None;
        if let Some(connection) = life.connection.take() {
            connection.end().await;
        }
        drop(life);
        // How it went is its health.
        if let Err(failure) = self.connection().await {
            tracing::debug!(server = self.name, %failure, "a server could not be reached again");
        }
    }

    /// Before a turn: starts it again where it failed, and lists its tools where it said that they changed. How that went
    /// is its health.
    pub(crate) async fn look_again(&self) {
        let outcome = match self.health() {
            // A start that nobody waits for any more was given up in its middle: its turn was stopped.
            Health::Failed { .. } | Health::Starting => {
                let failed = self.life.lock().await.failed.as_ref().map(|start| (start.at, start.took));
                if failed.is_some_and(|(at, took)| at.elapsed() < took * PAUSE_OF_START) {
                    return;
                }
                self.connection().await.map(drop)
            }
            Health::Ready { .. } => {
                let connection = self.life.lock().await.connection.clone();
                let Some(connection) = connection.filter(|connection| connection.is_stale()) else { return };
                match self.list_anew(&connection, self.config.start_limit()).await {
                    // It would hold up the next turn as well.
                    Err(failure @ Failure::CallTimeout { .. }) => self.give_up(failure).await,
                    outcome => outcome,
                }
            }
            Health::Stopped | Health::NeedsSignIn => return,
        };
        if let Err(failure) = outcome {
            tracing::debug!(server = self.name, %failure, "a server is without its tools in this turn");
        }
    }

    pub(crate) fn health(&self) -> Health {
        self.health.borrow().clone()
    }

    /// What may be offered has become more than when it was listed.
    pub(crate) fn count_again(&self) {
        let count = self.offered().len();
        self.health.send_if_modified(|health| {
            let Health::Ready { tools } = health else { return false };
            std::mem::replace(tools, count) != count
        });
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// The tools as they were listed last.
    pub(crate) fn list(&self) -> Arc<ToolList> {
        Arc::clone(&self.tools.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tools that may be offered: switched on, and as they were when they were seen.
    pub(crate) fn offered(&self) -> Vec<(String, Listed)> {
        if *self.health.borrow() == Health::NeedsSignIn || self.is_untrusted() {
            return Vec::new();
        }
        let list = self.list();
        let on = list.tools.iter().filter(|(tool, _)| self.config.approval_of(tool) != Approval::Off);
        on.filter(|(tool, listed)| self.pins.holds(&self.name, tool, &listed.hash))
            .map(|(tool, listed)| (tool.clone(), listed.clone()))
            .collect()
    }

    pub(crate) fn is_brought(&self) -> bool {
        self.voucher.get().is_some()
    }

    /// Whether it was not started, or was ended, because it is not what a person trusts.
    pub(crate) fn is_untrusted(&self) -> bool {
        *self.health.borrow() == Health::Failed { failure: Failure::Untrusted }
    }

    /// Whether whoever is to vouch for it does.
    async fn is_vouched_for(&self) -> bool {
        match self.voucher.get() {
            Some(voucher) => voucher.vouches(BroughtItem::Server(&self.name)).await,
            None => true,
        }
    }

    /// Ends it, with what it is asked at this moment, where nobody vouches for it any more. It may start again once
    /// somebody does.
    pub(crate) async fn end_unless_vouched(&self) {
        if self.is_vouched_for().await {
            return;
        }
        self.disowned.notify_waiters();
        let mut life = self.life.lock().await;
        if let Some(connection) = life.connection.take() {
            connection.disown();
            connection.end().await;
        }
        // Also of one that has just failed: its tools are offered for as long as the next call may bring it up again.
        if !life.over && self.health() != Health::Stopped {
            life.failed = None;
            self.failed(&Failure::Untrusted);
        }
    }

    /// The connection, made now where there is none that works.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Failure> {
        let mut life = self.life.lock().await;
        if life.over {
            return Err(Failure::Gone { end: Ending::Session });
        }
        if let Some(connection) = life.connection.clone() {
            if !connection.is_closed() {
                return Ok(connection);
            }
            life.connection = None;
            connection.end().await;
        }
        if let Some(start) = &life.failed
            && start.at.elapsed() < PAUSE
        {
            return Err(start.failure.clone());
        }
        self.health.send_replace(Health::Starting);
        let begun = Instant::now();
        let started = tokio::select! {
            biased;
            started = self.start() => started,
            () = self.disowned.notified() => Err(Failure::Untrusted),
        };
        match started {
            Ok(connection) => {
                (life.failed, life.was_up) = (None, true);
                life.connection = Some(Arc::clone(&connection));
                self.health.send_replace(Health::Ready { tools: self.offered().len() });
                Ok(connection)
            }
            Err(failure) => {
                let is_missing = matches!(failure, Failure::HeaderMissing { .. } | Failure::VariableMissing { .. });
                let is_withdrawn = life.was_up && is_missing;
                let failure = if is_withdrawn { Failure::Withdrawn } else { failure };
                let failed = FailedStart { at: Instant::now(), took: begun.elapsed(), failure: failure.clone() };
                // A question costs nothing, and a mind may be changed at any moment.
                life.failed = (failure != Failure::Untrusted).then_some(failed);
                self.failed(&failure);
                Err(failure)
            }
        }
    }

    async fn start(&self) -> Result<Arc<Connection>, Failure> {
        if !self.is_vouched_for().await {
            return Err(Failure::Untrusted);
        }
        let start = async {
            let connection = match &self.reach {
                Reach::Program { command } => {
                    let environment = self.environment(command).await?;
                    Connection::to_program(command, &self.config, environment, &self.folder).await?
                }
                Reach::Http { url } => Connection::to_address(&self.name, url, &self.config, self.tokens()).await?,
            };
            connection.list(&self.name, |list| self.take_list(list)).await?;
            Ok(Arc::new(connection))
        };
        let limit = self.config.start_limit();
        let late = Failure::StartTimeout { seconds: limit.as_secs() };
        tokio::time::timeout(limit, start).await.unwrap_or(Err(late)).map_err(|failure| self.masked(failure))
    }

    async fn environment(&self, command: &str) -> Result<Vec<(String, String)>, Failure> {
        let (config, tokens) = (&self.config, self.tokens());
        let started = (self.name.as_str(), command, config.args.as_slice());
        environment(started, &config.env, &config.secret_env, tokens.as_ref()).await.map_err(|error| match error {
            VariableError::Missing { variable } => Failure::VariableMissing { variable },
            VariableError::Store(error) => Failure::Start { reason: error.reason },
        })
    }

    /// A failure without the secrets that the server was sent and may repeat.
    fn masked(&self, failure: Failure) -> Failure {
        failure.masked(|text| self.tokens().masked(text))
    }

    /// Tools that are met for the first time are let in; the others keep the pin they have.
    fn take_list(&self, list: ToolList) {
        for left_out in &list.left_out {
            tracing::warn!(server = self.name, %left_out, "a tool of a server is left out");
        }
        self.pins.meet(&self.name, list.tools.iter().map(|(tool, listed)| (tool.as_str(), listed.hash.as_str())));
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
    }

    /// Whether `tool` is still what `hash` says, by the newest list.
    pub(crate) async fn check(&self, tool: &str, hash: &str) -> Result<(), Result<Withheld, Failure>> {
        let connection = self.connection().await.map_err(Err)?;
        if connection.is_stale() {
            self.list_anew(&connection, self.config.call_limit()).await.map_err(Err)?;
        }
        match self.list().tools.get(tool) {
            None => Err(Ok(Withheld::Gone)),
            Some(now) if now.hash != hash || !self.pins.holds(&self.name, tool, hash) => Err(Ok(Withheld::Changed)),
            Some(_) => Ok(()),
        }
    }

    /// Lists the tools again, or waits for whoever does. Where that fails the list is as doubtful as it was before.
    async fn list_anew(&self, connection: &Arc<Connection>, limit: Duration) -> Result<(), Failure> {
        let late = Failure::CallTimeout { seconds: limit.as_secs() };
        let listing = connection.list(&self.name, |list| self.take_list(list));
        if let Err(failure) = tokio::time::timeout(limit, listing).await.unwrap_or(Err(late)) {
            return Err(self.broken(connection, failure).await);
        }
        let ready = Health::Ready { tools: self.offered().len() };
        self.health.send_if_modified(|health| {
            // Somebody may have ended it meanwhile.
            let is_ours = !matches!(health, Health::Failed { failure: Failure::Untrusted });
            if is_ours {
                *health = ready;
            }
            is_ours
        });
        Ok(())
    }

    /// Calls a tool that was checked.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, Failure> {
        let connection = self.connection().await?;
        let limit = self.config.call_limit();
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Failure::Cancelled),
            answer = tokio::time::timeout(limit, connection.call(tool, arguments)) => answer,
        };
        match answer {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(failure)) => Err(self.broken(&connection, failure).await),
            Err(_late) => Err(Failure::CallTimeout { seconds: limit.as_secs() }),
        }
    }

    /// Notes a failure that ends `connection`; the next call starts the server again. One that was started meanwhile, because
    /// of another call that failed, works on.
    async fn broken(&self, connection: &Arc<Connection>, failure: Failure) -> Failure {
        let failure = self.masked(failure);
        if failure.ends_connection() || failure == Failure::SignIn {
            let mut life = self.life.lock().await;
            if let Some(connection) = life.connection.take_if(|now| Arc::ptr_eq(now, connection)) {
                connection.end().await;
                self.failed(&failure);
            }
        }
        failure
    }

    /// Ends a connection that is of no use, as a start that failed.
    async fn give_up(&self, failure: Failure) -> Result<(), Failure> {
        let mut life = self.life.lock().await;
        life.failed =
            Some(FailedStart { at: Instant::now(), took: self.config.start_limit(), failure: failure.clone() });
        if let Some(connection) = life.connection.take() {
            connection.end().await;
        }
        self.failed(&failure);
        Err(failure)
    }

    fn failed(&self, failure: &Failure) {
        tracing::warn!(server = self.name, %failure, "a server failed");
        let health = match failure {
            Failure::SignIn => Health::NeedsSignIn,
            failure => Health::Failed { failure: failure.clone() },
        };
        self.health.send_replace(health);
    }

    /// Ends it for good.
    pub(crate) async fn end(&self) {
        let mut life = self.life.lock().await;
        life.over = true;
        if let Some(connection) = life.connection.take() {
            connection.end().await;
        }
        self.health.send_replace(Health::Stopped);
    }
}
