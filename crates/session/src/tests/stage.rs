//! What the tests of this crate play on: a project, a data folder, and a model that answers by what it is asked.
#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bosun_agent::{BoxFuture, Clock, IdSource, Limits, PermissionRule, Policy};
use bosun_backend::BlobStore;
use bosun_model::{ChatModel, ChatRequest, ModelInfo, ModelStream, text_of};
use bosun_protocol::{
    Checkpoint, Decide, Decision, LedgerEntry, ModelRef, ProjectId, RowId, SessionId, Snapshot, TimelineList,
    TimelinePage, TimelineQuery,
};
use bosun_store::Database;
use bosun_testkit::{ModelDriver, Project, Reply, ScriptedModel};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::{ModelSource, SessionError, Sessions, SessionsParts};

/// Answers every request by a function of it.
pub type Script = fn(&ChatRequest) -> Reply;

pub struct Stage {
    pub project: Project,
    pub data: tempfile::TempDir,
    pub database: Arc<Database>,
    pub sessions: Sessions,
    pub project_id: ProjectId,
    clock: Arc<Ticks>,
    policy: Policy,
    /// Permits for answers to requests with [`HELD`] in them.
    pub held: Arc<Semaphore>,
}

/// A request with this in its last message is answered when the test says so.
pub const HELD: &str = "[held]";

impl Stage {
    pub async fn new(script: Script) -> Self {
        let project = Project::new().file("a.txt", "one\ntwo\n").file("src/b.txt", "TODO b\n");
        Self::with(project, tempfile::tempdir().unwrap(), script, Policy::default()).await
    }

    /// Whose file changes need no approval.
    pub async fn allowing_edits(script: Script) -> Self {
        let project = Project::new().file("a.txt", "one\ntwo\n").file("src/b.txt", "TODO b\n");
        let policy = Policy { edits: PermissionRule::AllowAll { name: "test".into() }, ..Policy::default() };
        Self::with(project, tempfile::tempdir().unwrap(), script, policy).await
    }

    /// Where nothing needs an approval.
    pub async fn allowing_everything(script: Script) -> Self {
        let allow = || PermissionRule::AllowAll { name: "test".into() };
        let policy = Policy { edits: allow(), commands: allow(), ..Policy::default() };
        Self::with(Project::new().file("a.txt", "one\ntwo\n"), tempfile::tempdir().unwrap(), script, policy).await
    }

    /// The same project and data with a fresh process's objects, as after a restart.
    pub async fn restarted(self, script: Script) -> Self {
        self.restarted_after(script, 0).await
    }

    /// As [`Self::restarted`], so many milliseconds later.
    pub async fn restarted_after(self, script: Script, ms: i64) -> Self {
        self.sessions.shut_down().await;
        let now = self.clock.now_ms();
        let Self { project, data, sessions, database, policy, .. } = self;
        drop((sessions, database));
        // The claim of a session is given back by the task that held it, which may end a moment later.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        Self::at(project, data, script, policy, now + ms).await
    }

    async fn with(project: Project, data: tempfile::TempDir, script: Script, policy: Policy) -> Self {
        Self::at(project, data, script, policy, 1_700_000_000_000).await
    }

    /// A start on what is in `data`, at `now`.
    pub async fn at(project: Project, data: tempfile::TempDir, script: Script, policy: Policy, now: i64) -> Self {
        Self::on(Database::open(data.path()).unwrap(), project, data, script, policy, now).await
    }

    /// Over what another version stored.
    pub async fn over(database: Arc<Database>, data: tempfile::TempDir) -> Self {
        let silent: Script = |_| Reply::text("");
        Self::on(database, Project::new(), data, silent, Policy::default(), 1_700_000_000_000).await
    }

    async fn on(
        database: Arc<Database>,
        project: Project,
        data: tempfile::TempDir,
        script: Script,
        policy: Policy,
        now: i64,
    ) -> Self {
        let (clock, held) = (Arc::new(Ticks(AtomicI64::new(now))), Arc::new(Semaphore::new(0)));
        let parts = SessionsParts {
            database: Some(Arc::clone(&database)),
            blobs: Some(Arc::new(BlobStore::open(database.blobs_folder()).unwrap())),
            models: Arc::new(Scripts { script, learnt: Mutex::default(), held: Arc::clone(&held) }),
            policy: policy.clone(),
            limits: Limits::default(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(Numbers::new(data.path())),
        };
        let sessions = Sessions::open(parts).await.unwrap();
        let project_id = sessions.open_project(project.root()).await.unwrap().id;
        Self { project, data, database, sessions, project_id, clock, policy, held }
    }

    /// Lets so many milliseconds pass.
    pub fn wait_ms(&self, ms: i64) {
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub async fn session(&self) -> SessionId {
        let model = ModelRef { provider: "scripted".into(), name: "m".into() };
        self.sessions.create(&self.project_id, Some(model)).await.unwrap().id
    }

    pub async fn snapshot(&self, session: &SessionId) -> Snapshot {
        self.sessions.subscribe(session).await.unwrap().snapshot
    }

    /// All of both lists of the session's timeline.
    pub async fn timeline(&self, session: &SessionId) -> Timeline {
        let places = self.page(session, TimelineList::Places, None, None, u32::MAX).await;
        let ledger = self.page(session, TimelineList::Ledger, None, None, u32::MAX).await.ledger;
        Timeline { checkpoints: places.checkpoints, ledger, can_undo_rewind: places.can_undo_rewind }
    }

    pub async fn page(
        &self,
        session: &SessionId,
        list: TimelineList,
        from: Option<&RowId>,
        before: Option<&RowId>,
        limit: u32,
    ) -> TimelinePage {
        let query =
            TimelineQuery { session: session.clone(), list, from: from.cloned(), before: before.cloned(), limit };
        self.sessions.timeline(&query).await.unwrap()
    }

    /// Gives `decision` for the pending call `call_id`.
    pub async fn decide(&self, session: &SessionId, call_id: &str, decision: Decision) -> Result<(), SessionError> {
        let approvals = self.snapshot(session).await.approvals;
        let approval = approvals.into_iter().find(|approval| approval.call_id.as_str() == call_id).unwrap();
        let decide = Decide { session: approval.session, call_id: approval.call_id, digest: approval.digest, decision };
        self.sessions.decide(vec![decide]).await
    }
}

/// A session's timeline as a whole.
pub struct Timeline {
    pub checkpoints: Vec<Checkpoint>,
    pub ledger: Vec<LedgerEntry>,
    pub can_undo_rewind: bool,
}

struct Scripts {
    script: Script,
    learnt: Mutex<Vec<String>>,
    held: Arc<Semaphore>,
}

impl ModelSource for Scripts {
    fn connect<'a>(&'a self, _model: &'a ModelRef) -> BoxFuture<'a, Result<Arc<dyn ChatModel>, SessionError>> {
        let inner = ScriptedModel::new(Vec::<Reply>::new());
        let answering = Answering { inner, script: self.script, held: Arc::clone(&self.held) };
        Box::pin(async move { Ok(Arc::new(answering) as _) })
    }

    fn know_keys(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn redacted(&self, text: &str) -> String {
        let learnt = self.learnt.lock().unwrap();
        let keys = learnt.iter().map(String::as_str).chain([super::KEY]);
        keys.fold(text.to_owned(), |text, key| text.replace(key, "[redacted]"))
    }

    fn learn(&self, secret: &SecretString) {
        self.learnt.lock().unwrap().push(secret.expose_secret().to_owned());
    }
}

struct Answering {
    inner: ScriptedModel,
    script: Script,
    held: Arc<Semaphore>,
}

impl ChatModel for Answering {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, bosun_model::ModelError>> {
        let (model, mut driver): (ScriptedModel, ModelDriver) = ScriptedModel::driven();
        let reply = (self.script)(&request);
        let last = request.messages.last().map(|message| text_of(message.content()));
        let is_held = last.is_some_and(|text| text.contains(HELD));
        Box::pin(async move {
            if is_held {
                self.held.acquire().await.unwrap().forget();
            }
            let (stream, ()) = tokio::join!(model.stream(request), async { driver.next().await.reply(reply) });
            stream
        })
    }
}

/// A clock that moves a second whenever it is looked at.
struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1_000, Ordering::SeqCst)
    }
}

/// Ids that say where they come from and do not repeat after a restart on the same data.
struct Numbers {
    next: AtomicU64,
}

impl Numbers {
    fn new(data: &std::path::Path) -> Self {
        let starts = data.join("starts");
        let start: u64 = std::fs::read_to_string(&starts).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        std::fs::write(&starts, (start + 1).to_string()).unwrap();
        Self { next: AtomicU64::new(start * 1_000) }
    }
}

impl IdSource for Numbers {
    fn next(&self) -> String {
        format!("id-{:04}", self.next.fetch_add(1, Ordering::SeqCst))
    }
}

/// Text that hardly packs, so that it needs room on disk.
pub fn noise(length: usize) -> String {
    let mut seed = 0x9e37_79b9_u32;
    let next = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        char::from(b'!' + (seed >> 16) as u8 % 90)
    };
    (0..length).map(next).collect()
}
