use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bosun_agent::{BoxFuture, Clock, IdSource, Limits, Policy, SessionId as CoreId};
use bosun_backend::{BlobStore, ProjectRoot, RootError, SightingsByRoot, git_branch, project_root};
use bosun_model::ChatModel;
use bosun_protocol::{
    Decide, ErrorCode, Item, ItemId, ModelRef, Problem, ProjectId, ProjectProblem, ProjectView, SessionId,
    SessionStatus, SessionSummary, UsageSummary,
};
use bosun_store::{Database, NewSession, StoredProject, StoredSession};
use secrecy::SecretString;
use tokio::sync::{RwLock, watch};
use tokio_util::task::TaskTracker;

pub(crate) use self::trust::trust_state;
use crate::actor::Actor;
use crate::calls::CallBook;
use crate::extras::Added;
use crate::permissions::Permissions;
use crate::signing_in::SignIns;
use crate::stream::{Stream, Subscription, Summaries, SummaryStream, locked};
use crate::timeline::LastRead;
use crate::trust::TrustBook;
use crate::{DeclaredAgent, SessionError, convert, deciding};

mod additions;
mod attachments;
pub(crate) mod bundles;
mod deleted;
mod diagnostics;
mod editing;
mod exports;
mod files;
mod forms;
mod glimpse;
pub(crate) mod grave;
mod history;
mod hunks;
mod keys;
mod lists;
mod memories;
mod mentions;
mod models;
mod moving;
mod opening;
mod permissions;
pub(crate) mod places;
mod plan;
mod purging;
mod queue;
mod rules;
mod skills;
mod stopping;
mod subagents;
mod summary;
mod trust;
mod usage;
mod values;

use lists::summary_in;

/// Where models come from: the shell and the command line implement it over `providers` and the stored keys.
pub trait ModelSource: Send + Sync {
    fn connect<'a>(&'a self, model: &'a ModelRef) -> BoxFuture<'a, Result<Arc<dyn ChatModel>, SessionError>>;

    /// Reads the keys that are kept, so that [`Self::redacted`] knows them. What cannot be read stays unknown.
    fn know_keys(&self) -> BoxFuture<'_, ()>;

    /// A secret that was met elsewhere, such as a header of a server of tools: [`Self::redacted`] knows it from now on.
    fn learn(&self, secret: &SecretString);

    /// `text` with every known key, and whatever looks like one, replaced by `[redacted]`.
    fn redacted(&self, text: &str) -> String;
}

/// The parts of [`Sessions`].
pub struct SessionsParts {
    /// `None` keeps everything in memory for this run.
    pub database: Option<Arc<Database>>,
    pub blobs: Option<Arc<BlobStore>>,
    pub models: Arc<dyn ModelSource>,
    pub policy: Policy,
    pub limits: Limits,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
}

/// What a session came to, when nothing goes on in it by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiet {
    pub summary: SessionSummary,
    /// Calls that wait for a person.
    pub waiting: usize,
}

/// Projects, sessions and their actors: what the desktop and the command line share. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    inner: Arc<Inner>,
}

struct Inner {
    database: Arc<Database>,
    blobs: Option<Arc<BlobStore>>,
    models: Arc<dyn ModelSource>,
    policy: Policy,
    /// What a person said in advance.
    permissions: Permissions,
    limits: Limits,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    trust: Arc<TrustBook>,
    summaries: Arc<Summaries>,
    /// The files of projects, for a person who names one.
    files: mentions::FileIndex,
    /// The paths of a session, for a person who looks for one.
    paths: files::PathIndex,
    /// What was seen of the files of projects at work.
    sightings: SightingsByRoot,
    actors: opening::Actors,
    /// What is known of the session whose timeline was asked for last.
    chronicle: LastRead,
    /// The root session of every subagent's session met so far.
    roots: Mutex<HashMap<CoreId, CoreId>>,
    /// Held alone by who moves a project to another folder, and beside others by who opens a session.
    moving: RwLock<()>,
    /// Tells of every change of the list of projects.
    listed: watch::Sender<()>,
    /// What projects were called when they were opened through links, by their ids.
    called: Mutex<HashMap<String, BTreeSet<PathBuf>>>,
    tasks: TaskTracker,
    /// What all model calls cost, and what they may.
    book: Arc<CallBook>,
    /// What a person adds to every session.
    added: Mutex<Option<Arc<Added>>>,
    /// What they took out of that in this run.
    removed: forms::Removed,
    /// Where they are signed in at servers of tools.
    sign_ins: Arc<SignIns>,
    /// The agent that works in sessions, where a person declared one.
    declared: Mutex<Option<Arc<DeclaredAgent>>>,
}

impl Sessions {
    /// Opens what `parts` hold. Starts no turn: one that a crash cut is shown as interrupted until someone goes on.
    pub async fn open(parts: SessionsParts) -> Result<Self, SessionError> {
        let database = match parts.database {
            Some(database) => database,
            None => Database::in_memory().map_err(|error| SessionError::of(ErrorCode::StorageUnavailable, &error))?,
        };
        let permissions = Permissions::new(Arc::clone(&database));
        let tasks = TaskTracker::new();
        let book = CallBook::new(Arc::clone(&database), Arc::clone(&parts.clock), tasks.clone());
        let trust = Arc::new(TrustBook::new(Arc::clone(&database), Arc::clone(&parts.clock)));
        let inner = Inner {
            database,
            blobs: parts.blobs,
            models: Arc::clone(&parts.models),
            policy: parts.policy,
            permissions,
            limits: parts.limits,
            clock: parts.clock,
            ids: parts.ids,
            trust,
            summaries: Arc::default(),
            files: mentions::FileIndex::default(),
            paths: files::PathIndex::default(),
            sightings: SightingsByRoot::default(),
            actors: opening::Actors::default(),
            chronicle: LastRead::default(),
            roots: Mutex::default(),
            moving: RwLock::default(),
            listed: watch::Sender::default(),
            called: Mutex::default(),
            tasks,
            book: Arc::new(book),
            added: Mutex::default(),
            removed: forms::Removed::default(),
            sign_ins: Arc::new(SignIns::new(parts.models)),
            declared: Mutex::default(),
        };
        let sessions = Self { inner: Arc::new(inner) };
        sessions.purge().await?;
        Ok(sessions)
    }

    /// The projects, last opened first.
    pub async fn projects(&self) -> Result<Vec<ProjectView>, SessionError> {
        let stored = self.inner.database.projects().await?;
        Ok(stored.into_iter().map(|stored| self.view_of(stored)).collect())
    }

    /// Checks a folder and remembers it as a project.
    pub async fn open_project(&self, path: &Path) -> Result<ProjectView, SessionError> {
        let root = self.usable(path)?;
        let project = self.stored(self.inner.ids.next(), &root.path);
        let project = self.inner.database.remember_project(project).await?;
        if let Some(name) = root.called {
            locked(&self.inner.called).entry(project.id.clone()).or_default().insert(name);
        }
        self.tell_listed();
        Ok(self.view_of(project))
    }

    /// The project `id` in the folder `root`, which is opened now.
    fn stored(&self, id: String, root: &Path) -> StoredProject {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let path = root.to_string_lossy().into_owned();
        StoredProject { id, path, name, opened_at: self.inner.clock.now_ms() }
    }

    /// Takes a project off the list; its sessions stay.
    pub async fn forget_project(&self, id: &ProjectId) -> Result<(), SessionError> {
        self.inner.database.forget_project(id.as_str()).await?;
        self.tell_listed();
        Ok(())
    }

    /// The sessions of a project, last changed first.
    pub async fn list(&self, project: &ProjectId) -> Result<Vec<SessionSummary>, SessionError> {
        let stored = self.inner.database.sessions(project.as_str()).await?;
        self.summaries_of(stored).await
    }

    pub async fn create(&self, project: &ProjectId, model: Option<ModelRef>) -> Result<SessionSummary, SessionError> {
        self.root_of(project).await?;
        let id = self.inner.ids.next();
        let at = self.inner.clock.now_ms();
        let summary = SessionSummary {
            id: SessionId::new(id.clone()),
            project: project.clone(),
            parent: None,
            title: String::new(),
            status: SessionStatus::Idle,
            model,
            created_at: at,
            updated_at: at,
            waiting: 0,
            pinned: false,
            archived: false,
            deleted_at: None,
            effort: None,
            summing_up: false,
            usage: UsageSummary::default(),
        };
        let new = NewSession {
            id: CoreId::new(id),
            project: project.to_string(),
            parent: None,
            created_at: at,
            summary: serde_json::to_value(&summary).unwrap_or_default(),
        };
        self.inner.database.create_session(new).await?;
        self.inner.summaries.tell(summary.clone());
        Ok(summary)
    }

    /// A session as it is and its events from now on; a subagent's session too.
    pub async fn subscribe(&self, session: &SessionId) -> Result<Subscription, SessionError> {
        Ok(self.stream(session).await?.subscribe())
    }

    /// The summaries of all sessions, and those that change from now on.
    pub async fn watch_summaries(&self) -> Result<(Vec<SessionSummary>, SummaryStream), SessionError> {
        let stream = self.inner.summaries.watch();
        let stored = self.inner.database.all_sessions().await?;
        Ok((self.summaries_of(stored).await?, stream))
    }

    /// Up to `limit` items right before `before`, oldest first.
    pub async fn items_before(
        &self,
        session: &SessionId,
        before: &ItemId,
        limit: u32,
    ) -> Result<Vec<Item>, SessionError> {
        let limit = usize::try_from(limit.min(1_000)).unwrap_or(1_000);
        Ok(self.stream(session).await?.read(|projection| projection.view().items_before(before, limit)))
    }

    /// Sends a message; on stable storage when it returns. While a turn is open it waits in the queue.
    pub async fn send(&self, session: &SessionId, text: String) -> Result<(), SessionError> {
        self.actor(session).await?.send(text).await
    }

    pub async fn stop(&self, session: &SessionId) -> Result<(), SessionError> {
        self.actor(session).await?.stop().await
    }

    /// Goes on with a turn that failed, was stopped, reached a limit or was interrupted.
    pub async fn continue_turn(&self, session: &SessionId) -> Result<(), SessionError> {
        self.actor(session).await?.continue_turn().await
    }

    /// Takes decisions, from subagents and of several sessions too: all are checked before any is stored, and they are
    /// stored together.
    pub async fn decide(&self, decisions: Vec<Decide>) -> Result<(), SessionError> {
        let mut by_root: Vec<(Arc<Actor>, Vec<Decide>)> = Vec::new();
        for decide in decisions.clone() {
            let actor = self.actor(&decide.session).await?;
            match by_root.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &actor)) {
                Some((_, list)) => list.push(decide),
                None => by_root.push((actor, vec![decide])),
            }
        }
        let outcome = deciding::decide(by_root).await;
        self.or_ask_anew(outcome, &decisions).await
    }

    /// `outcome`, behind which those of the calls are asked anew that are not stored as they were shown, where that is why
    /// they could not be decided.
    async fn or_ask_anew<T>(&self, outcome: Result<T, SessionError>, decisions: &[Decide]) -> Result<T, SessionError> {
        let is_changed = |error: &SessionError| matches!(error.problem, Problem::AskAltered | Problem::AskChanged);
        if outcome.as_ref().is_err_and(is_changed) {
            for decide in decisions {
                let asked = match self.actor(&decide.session).await {
                    Ok(actor) => actor.ask_anew(decide).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = asked {
                    tracing::warn!(%error, session = %decide.session, "a call could not be asked anew");
                }
            }
        }
        outcome
    }

    pub async fn set_model(&self, session: &SessionId, model: ModelRef) -> Result<(), SessionError> {
        self.actor(session).await?.set_model(model).await
    }

    /// Waits until nothing goes on in a session by itself.
    pub async fn quiet(&self, session: &SessionId) -> Result<Quiet, SessionError> {
        let actor = self.actor(session).await?;
        actor.quiet().await;
        Ok(actor.stream.read(|projection| Quiet {
            summary: projection.view().session.clone(),
            waiting: projection.view().approvals.len(),
        }))
    }

    /// Lets all running turns go; their journals go on with them later.
    pub async fn shut_down(&self) {
        self.inner.sign_ins.give_up();
        for actor in self.inner.actors.take() {
            actor.let_go().await;
        }
        if let Some(added) = self.added() {
            added.keep().await;
        }
    }

    pub(crate) fn database(&self) -> Arc<Database> {
        Arc::clone(&self.inner.database)
    }

    pub(crate) fn permissions(&self) -> &Permissions {
        &self.inner.permissions
    }

    pub(crate) fn tasks(&self) -> TaskTracker {
        self.inner.tasks.clone()
    }

    pub(crate) fn sign_ins(&self) -> &SignIns {
        &self.inner.sign_ins
    }

    pub(crate) fn new_id(&self) -> String {
        self.inner.ids.next()
    }

    pub(crate) fn open_actors(&self) -> Vec<Arc<Actor>> {
        self.inner.actors.all()
    }

    pub(crate) fn added(&self) -> Option<Arc<Added>> {
        locked(&self.inner.added).clone()
    }

    pub(crate) fn forget_added(&self) {
        *locked(&self.inner.added) = None;
    }

    pub(crate) fn set_added(&self, added: Arc<Added>) {
        *locked(&self.inner.added) = Some(added);
    }

    pub(crate) fn declared(&self) -> Option<Arc<DeclaredAgent>> {
        locked(&self.inner.declared).clone()
    }

    pub(crate) fn set_declared(&self, agent: Arc<DeclaredAgent>) {
        *locked(&self.inner.declared) = Some(agent);
    }

    async fn stream(&self, session: &SessionId) -> Result<Arc<Stream>, SessionError> {
        let actor = self.actor(session).await?;
        let id = CoreId::new(session.as_str());
        if *actor.log.session() == id {
            return Ok(Arc::clone(&actor.stream));
        }
        let child = locked(&actor.tree.streams).get(&id).cloned();
        child.ok_or_else(SessionError::no_session)
    }

    /// The actor of a session, or of the session at the root of a subagent's tree.
    pub(crate) async fn actor(&self, session: &SessionId) -> Result<Arc<Actor>, SessionError> {
        let stored = self.root_session(&CoreId::new(session.as_str())).await?;
        self.inner.actors.find_or_open(&stored.id, || self.open_actor(&stored)).await
    }

    async fn root_session(&self, id: &CoreId) -> Result<StoredSession, SessionError> {
        let known = locked(&self.inner.roots).get(id).cloned();
        let mut at = known.unwrap_or_else(|| id.clone());
        loop {
            let stored = self.inner.database.session(&at).await?.ok_or_else(SessionError::no_session)?;
            match &stored.parent {
                Some((parent, _)) => at = parent.clone(),
                None => {
                    locked(&self.inner.roots).insert(id.clone(), stored.id.clone());
                    return Ok(stored);
                }
            }
        }
    }

    /// The folder of a project, whether it can be used now or not.
    async fn root_path(&self, project: &str) -> Result<PathBuf, SessionError> {
        let stored = self.inner.database.project(project).await?;
        let stored = stored.ok_or_else(|| SessionError::not_found(Problem::ProjectUnknown))?;
        Ok(PathBuf::from(stored.path))
    }

    /// What else the folder of a project is called.
    pub(crate) fn called(&self, project: &str) -> Vec<PathBuf> {
        locked(&self.inner.called).get(project).into_iter().flatten().cloned().collect()
    }

    /// The folder of a project, checked.
    async fn root_of(&self, project: &ProjectId) -> Result<PathBuf, SessionError> {
        let path = self.root_path(project.as_str()).await?;
        Ok(self.usable(&path)?.path)
    }

    /// A folder that can be a project, which one with the app's own data in it never is.
    fn usable(&self, path: &Path) -> Result<ProjectRoot, SessionError> {
        project_root(path, Some(self.inner.database.folder()))
            .map_err(|error| SessionError::of(ErrorCode::ProjectUnusable, &error))
    }

    fn view_of(&self, stored: StoredProject) -> ProjectView {
        let path = Path::new(&stored.path);
        let problem = project_root(path, Some(self.inner.database.folder())).err().map(|error| match error {
            RootError::Missing { .. } => ProjectProblem::Missing,
            RootError::NotAFolder { .. } => ProjectProblem::NotAFolder,
            RootError::Unreadable { .. } | RootError::Io { .. } => ProjectProblem::Unreadable,
            RootError::Home { .. } | RootError::AboveHome { .. } => ProjectProblem::HomeFolder,
            RootError::HoldsData { .. } | RootError::InData { .. } => ProjectProblem::DataFolder,
            RootError::FileSystemRoot { .. } => ProjectProblem::RootFolder,
        });
        ProjectView {
            branch: git_branch(path),
            path: convert::short_path(path, std::env::home_dir().as_deref()),
            id: ProjectId::new(stored.id),
            name: stored.name,
            opened_at: stored.opened_at,
            problem,
        }
    }

    /// What lists show, without what was deleted: of open sessions as they are, of the others as they were stored. A
    /// stored one that was at work is at work in another process, or was cut by a crash.
    async fn summaries_of(&self, stored: Vec<StoredSession>) -> Result<Vec<SessionSummary>, SessionError> {
        let summary = |stored: StoredSession| match self.inner.actors.get(&stored.id) {
            Some(actor) => Some(actor.stream.read(|projection| projection.view().session.clone())),
            None => {
                let id = stored.id.clone();
                let mut summary = summary_in(stored)?;
                if summary.status == SessionStatus::Running && !self.inner.database.is_claimed(&id) {
                    summary.status = SessionStatus::Interrupted;
                }
                Some(summary)
            }
        };
        let shown = stored.into_iter().filter_map(summary);
        Ok(shown.filter(|summary| summary.deleted_at.is_none()).collect())
    }
}
