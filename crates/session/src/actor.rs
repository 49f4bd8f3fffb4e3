use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bosun_agent::{
    Activity, Agent, AgentError, ChildStart, EntryBody, Limits, OpenCall, Policy, SessionId, SessionLog, TurnContext,
    TurnEnd, end_turn, run_turn,
};
use bosun_backend::{BlobStore, CommandSwitch, Sightings};
use bosun_harness::{DeclaredAgent, OpenExtras, Summarization};
use bosun_model::CallId;
use bosun_protocol::{ModelRef, Problem, SessionStatus};
use bosun_store::SessionClaim;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, OnceCell};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::assembling::Draft;
use crate::calls::CallBook;
use crate::extras::Added;
use crate::host::{SessionHost, Tree, child_stream};
use crate::journals::Journals;
use crate::routes::Elsewhere;
use crate::sessions::ModelSource;
use crate::signing_in::SignIns;
use crate::stream::{Stream, locked};
use crate::summing::Summing;
use crate::trust::TrustBook;
use crate::{Explain, SessionError};

/// So often, every few milliseconds, it is looked whether what waits begins.
const LOOKS: u32 = 400;

/// Longer than a turn is held by whoever only looks at it.
const A_MOMENT: Duration = Duration::from_millis(300);

/// One session: its log, its running turn, and everything that may be asked of it. Requests are taken one at a time.
pub(crate) struct Actor {
    pub log: Arc<SessionLog>,
    pub stream: Arc<Stream>,
    pub tree: Arc<Tree>,
    pub setting: Setting,
    turn: AsyncMutex<Turn>,
    /// Held by whoever decides whether and how a turn begins.
    beginning: AsyncMutex<()>,
    /// Held by whoever reads what a person kept and writes it anew.
    pub keeping: AsyncMutex<()>,
    /// The summary that is being made for a person; comes and goes under `beginning`.
    pub summing: Mutex<Option<Summing>>,
    pub agent: Mutex<Option<Arc<Agent>>>,
    /// How often something changed that it is built from.
    pub rebuilds: AtomicU64,
    /// What sums up for that agent.
    pub summarization: Mutex<Option<Arc<Summarization>>>,
    /// Where the project is on this machine.
    folder: Mutex<ProjectFolder>,
    /// What a person adds, at work from the first turn on.
    extras: Mutex<Arc<OnceCell<OpenExtras>>>,
    /// Routes to other machines, containers and sandboxes, open from when they were first met.
    pub elsewhere: Elsewhere,
    pub tasks: TaskTracker,
    /// Held while this process may run the session.
    _claim: SessionClaim,
}

/// What an actor builds its agent from.
#[derive(Clone)]
pub(crate) struct Setting {
    pub models: Arc<dyn ModelSource>,
    pub blobs: Option<Arc<BlobStore>>,
    pub policy: Policy,
    pub limits: Limits,
    /// Where its commands run.
    pub commands: CommandSwitch,
    /// What a person adds to every session.
    pub added: Option<Arc<Added>>,
    /// Where sign-ins at servers are kept.
    pub sign_ins: Arc<SignIns>,
    /// What a person trusts of what their projects bring.
    pub trust: Arc<TrustBook>,
    /// The agent, where a person declared one.
    pub declared: Option<Arc<DeclaredAgent>>,
    pub book: Arc<CallBook>,
}

/// Where a project is.
#[derive(Clone)]
pub(crate) struct ProjectFolder {
    pub root: PathBuf,
    /// What else a person calls it, by links.
    pub called: Vec<PathBuf>,
    /// What was seen of the files in it, for what commands do to them.
    pub sightings: Option<Arc<Sightings>>,
}

/// The turn that was begun last, as far as this process runs it; or the summary that is made between two of them.
#[derive(Default)]
pub(crate) struct Turn {
    pub running: Option<RunningTurn>,
}

pub(crate) struct RunningTurn {
    pub cancel: CancellationToken,
    pub activity: Activity,
    handle: AbortHandle,
    ended: Shared<BoxFuture<'static, ()>>,
}

impl RunningTurn {
    pub(crate) fn new(cancel: CancellationToken, activity: Activity, task: JoinHandle<()>) -> Self {
        let handle = task.abort_handle();
        let ended = task.map(|ended| {
            if let Err(error) = ended.as_ref()
                && error.is_panic()
            {
                tracing::error!(%error, "a turn ended in a panic");
            }
        });
        Self { cancel, activity, handle, ended: ended.boxed().shared() }
    }
}

/// How a turn comes to run, with what its agent is built from where it is not built.
pub(crate) enum Start {
    /// A person begins it: servers that failed are tried again first.
    ByPerson(Option<Draft>),
    /// It goes on, ends, or begins by itself behind another, and waits for no server that the agent has not got.
    ByItself(Option<Draft>),
}

impl Turn {
    /// Whether nobody runs it: it ended, or waits for someone to go on.
    pub(crate) fn is_resting(&self) -> bool {
        self.running.as_ref().is_none_or(|turn| turn.handle.is_finished())
    }

    /// Whether it reads what is said to it: it runs, and nobody has stopped it.
    pub(crate) fn listens(&self) -> bool {
        self.running.as_ref().is_some_and(|turn| !turn.handle.is_finished() && !turn.cancel.is_cancelled())
    }
}

impl Actor {
    pub(crate) fn new(
        host: SessionHost,
        log: SessionLog,
        setting: Setting,
        folder: ProjectFolder,
        tasks: TaskTracker,
        claim: SessionClaim,
    ) -> Arc<Self> {
        let actor = Arc::new(Self {
            log: Arc::new(log),
            stream: Arc::clone(&host.stream),
            tree: host.tree,
            setting,
            turn: AsyncMutex::default(),
            beginning: AsyncMutex::default(),
            keeping: AsyncMutex::default(),
            summing: Mutex::default(),
            agent: Mutex::new(None),
            rebuilds: AtomicU64::new(0),
            summarization: Mutex::new(None),
            folder: Mutex::new(folder),
            extras: Mutex::default(),
            elsewhere: Elsewhere::default(),
            tasks,
            _claim: claim,
        });
        actor.follow_background();
        actor
    }

    /// What subagents bring that worked beside the session is read as soon as nothing else goes on.
    fn follow_background(self: &Arc<Self>) {
        let actor = Arc::downgrade(self);
        self.log.background().on_end(Arc::new(move || {
            if let Some(actor) = actor.upgrade() {
                let begun = Arc::clone(&actor);
                actor.spawn(async move { begun.begin_waiting().await });
            }
        }));
    }

    /// Ends the open turn; every call has a result afterwards. Ends a summary that is being made, too.
    pub(crate) async fn stop(self: &Arc<Self>) -> Result<(), SessionError> {
        let mut turn = self.turn.lock().await;
        if !self.log.with_state(|state| state.turn.is_some()) && !self.is_summing() {
            return Ok(());
        }
        if turn.is_resting() {
            let draft = self.prepare().await?;
            self.run(&mut turn, Start::ByItself(draft));
        }
        if let Some(running) = &turn.running {
            running.cancel.cancel();
            // It stays the one that runs until it has ended: its files are touched by nobody else meanwhile.
            let ended = running.ended.clone();
            drop(turn);
            ended.await;
        }
        Ok(())
    }

    /// As [`Self::stop`], and stops the subagents beside the session, too, as a person stops each of them. That they were
    /// stopped is read with the session's next turn, which does not begin by itself.
    pub(crate) async fn stop_all(self: &Arc<Self>) -> Result<(), SessionError> {
        let stopped = self.stop().await;
        // Without a turn no more of them begin.
        self.log.background().stop_all().await;
        stopped
    }

    /// Holds the session's turn: nobody begins, ends or decides anything meanwhile.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().await
    }

    pub(crate) async fn beginning(&self) -> MutexGuard<'_, ()> {
        self.beginning.lock().await
    }

    /// Files and the past are not touched while a turn may touch them too.
    pub(crate) fn refuse_running(&self, turn: &Turn) -> Result<(), SessionError> {
        if turn.is_resting() {
            return Ok(());
        }
        let why = if self.is_summing() { Problem::SummaryUnderWay } else { Problem::TurnRunning };
        Err(SessionError::invalid(why))
    }

    /// The stream of this session or of one of its subagents met so far.
    pub(crate) fn stream_of(&self, session: &SessionId) -> Option<Arc<Stream>> {
        if self.log.session() == session {
            return Some(Arc::clone(&self.stream));
        }
        locked(&self.tree.streams).get(session).cloned()
    }

    /// The model of the turns from the next one on.
    pub(crate) async fn set_model(&self, model: ModelRef) -> Result<(), SessionError> {
        self.log.record(vec![EntryBody::ModelChosen { provider: model.provider, name: model.name }]).await?;
        self.rebuild();
        Ok(())
    }

    pub(crate) fn summarization(&self) -> Option<Arc<Summarization>> {
        locked(&self.summarization).clone()
    }

    /// The next turn builds its agent anew.
    pub(crate) fn rebuild(&self) {
        let mut agent = locked(&self.agent);
        self.rebuilds.fetch_add(1, Ordering::Relaxed);
        *agent = None;
    }

    /// Returns once the turn has ended or nothing goes on but calls that wait for a person.
    pub(crate) async fn quiet(&self) {
        let activity = self.turn.lock().await.running.as_ref().map(|turn| turn.activity.clone());
        let Some(activity) = activity else { return };
        let mut looks = 0;
        loop {
            activity.quiet().await;
            // Between a result and the next call nothing is going on either, for a moment.
            tokio::time::sleep(Duration::from_millis(5)).await;
            let waiting = self.stream.read(|projection| !projection.view().approvals.is_empty());
            let rests = self.turn.lock().await.is_resting();
            let mut over = rests && self.log.background().count() == 0;
            if over && self.has_more() {
                // What a subagent brought begins a turn in a moment, unless the journal cannot be written.
                looks += 1;
                over = looks > LOOKS;
            }
            if over || (waiting && activity.is_quiet() && (rests || !goes_on(&self.log))) {
                return;
            }
        }
    }

    /// Whether something goes on by itself: a turn, a summary, a subagent beside it. What only waits for a person is none
    /// of it.
    pub(crate) async fn is_at_work(&self) -> bool {
        // Whoever holds it for long builds an agent or has files put back: that is work, too.
        let Ok(turn) = tokio::time::timeout(A_MOMENT, self.turn.lock()).await else { return true };
        let rests = turn.is_resting();
        let is_busy = turn.running.as_ref().is_some_and(|running| !running.activity.is_quiet());
        drop(turn);
        // An open turn that rests and still shows as running is about to be run.
        let shows = self.stream.read(|projection| projection.view().session.status == SessionStatus::Running);
        let goes_on_beside =
            |(child, is_busy): (SessionId, bool)| is_busy || self.log.find(&child).is_some_and(|child| goes_on(&child));
        self.is_summing()
            || shows
            || (!rests && (is_busy || goes_on(&self.log)))
            || self.log.background().busy().into_iter().any(goes_on_beside)
    }

    /// Whether something waits that begins a turn by itself.
    fn has_more(&self) -> bool {
        self.log.with_state(|state| {
            let ended_well = matches!(state.last_end, Some(TurnEnd::Done | TurnEnd::Empty));
            state.turn.is_none() && ended_well && !(state.steering.is_empty() && state.queue.is_empty())
        })
    }

    pub(crate) fn project_folder(&self) -> ProjectFolder {
        locked(&self.folder).clone()
    }

    /// The project is in another folder from now on. No turn runs; what was started in the old one ends.
    pub(crate) async fn move_to(&self, folder: ProjectFolder) {
        *locked(&self.folder) = folder;
        let started = std::mem::take(&mut *locked(&self.extras));
        if let Some(extras) = started.get() {
            extras.servers.shut_down().await;
        }
        self.rebuild();
    }

    /// What a person adds, once it is at work.
    pub(crate) fn extras(&self) -> Arc<OnceCell<OpenExtras>> {
        Arc::clone(&locked(&self.extras))
    }

    /// Lets a running turn go without ending it: the journal goes on with it later.
    pub(crate) async fn let_go(&self) {
        self.log.background().let_go();
        if let Some(turn) = self.turn.lock().await.running.take() {
            turn.handle.abort();
        }
        self.end_extras().await;
    }

    /// Runs the open turn, whose servers are waited for in it.
    pub(crate) fn run(self: &Arc<Self>, turn: &mut Turn, start: Start) {
        let (cancel, activity) = (CancellationToken::new(), Activity::default());
        let (actor, stop, working) = (Arc::clone(self), cancel.clone(), activity.clone());
        // Busy from the start, so that nobody finds it quiet before it has begun.
        let begun = activity.enter();
        self.set_running(true);
        let task = self.tasks.spawn(async move {
            let agent = match stop.run_until_cancelled(actor.agent_for(start)).await {
                Some(agent) => agent,
                None => actor.agent_to_end().await,
            };
            let outcome = match agent {
                Ok(agent) => {
                    let cx = TurnContext::new(agent, Arc::clone(&actor.log), stop, working);
                    let turn = run_turn(&cx);
                    drop(begun);
                    // Members of the stack may be anybody's: one that panics ends its turn, and no more.
                    match AssertUnwindSafe(turn).catch_unwind().await {
                        Ok(outcome) => outcome,
                        Err(panic) => actor.broke(&cx, words_of(&*panic)).await,
                    }
                }
                Err(error) => actor.not_run(&error).await,
            };
            actor.ended(outcome).await;
        });
        turn.running = Some(RunningTurn::new(cancel, activity, task));
    }

    /// The agent of a turn that is in the journal already.
    async fn agent_for(&self, start: Start) -> Result<Arc<Agent>, SessionError> {
        match start {
            Start::ByPerson(draft) => {
                self.look_at_servers().await;
                self.agent_of(draft).await
            }
            Start::ByItself(draft) => self.agent_of(draft).await,
        }
    }

    /// A turn that broke ends with the reason.
    async fn broke(&self, cx: &TurnContext, words: &str) -> Result<TurnEnd, AgentError> {
        let error = SessionError::internal(words);
        tracing::error!(%error, session = %self.log.session(), "a turn broke");
        end_turn(cx, TurnEnd::failed(error.to_string())).await
    }

    /// A turn that nothing can run ends with the reason, unless calls of it are open: those are for a later start.
    async fn not_run(&self, error: &SessionError) -> Result<TurnEnd, AgentError> {
        tracing::warn!(%error, session = %self.log.session(), "a turn could not be run");
        let end = TurnEnd::failed(error.to_string());
        let open = self.log.with_state(|state| state.turn.filter(|_| state.step.is_none()).map(|turn| turn.number));
        if let Some(turn) = open {
            self.log.record(vec![EntryBody::TurnEnded { turn, end: end.clone() }]).await?;
        }
        Ok(end)
    }

    async fn ended(self: &Arc<Self>, outcome: Result<TurnEnd, AgentError>) {
        self.set_running(false);
        match outcome {
            Ok(TurnEnd::Done | TurnEnd::Empty) => self.begin_waiting().await,
            // A call that was cut may have changed files of the session that its state knows nothing of.
            Ok(TurnEnd::Stopped | TurnEnd::StepLimit { .. } | TurnEnd::Failed { .. }) => self.rebuild(),
            Err(error) => {
                self.rebuild();
                tracing::error!(%error, session = %self.log.session(), "a turn could not be recorded");
                self.not_recorded(&error);
            }
        }
    }

    pub(crate) fn not_recorded(&self, error: &impl Explain) {
        let at = self.tree.clock.now_ms();
        let why = error.problem();
        self.stream.update(|projection| projection.not_recorded(why, at));
    }

    /// Work that belongs to the session and outlives the request for it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    pub(crate) fn set_running(&self, running: bool) {
        self.stream.update(|projection| projection.set_running(running));
        let children: Vec<(SessionId, Arc<Stream>)> =
            locked(&self.tree.streams).iter().map(|(id, stream)| (id.clone(), Arc::clone(stream))).collect();
        let background = self.log.background();
        for (_, child) in children.iter().filter(|(id, _)| !running && !background.is_running(id)) {
            child.update(|projection| projection.set_running(false));
        }
    }

    /// The log of this session or of one of its subagents, opened from the journal where it is not open yet.
    pub(crate) async fn find(&self, session: &bosun_protocol::SessionId) -> Result<Arc<SessionLog>, SessionError> {
        let id = SessionId::new(session.as_str());
        if let Some(log) = self.log.find(&id) {
            return Ok(log);
        }
        let (mut open, mut looked_at) = (vec![Arc::clone(&self.log)], Vec::new());
        let mut found = None;
        while let Some(log) = open.pop() {
            if *log.session() == id {
                found = Some(log);
                break;
            }
            let calls: Vec<CallId> = log.with_state(|state| {
                let calls = state.step.iter().flat_map(|step| &step.calls);
                let open = calls.filter(|call| call.child.is_some()).map(|call| call.call.id.clone());
                open.chain(state.subagents.iter().map(|sent| sent.call_id.clone())).collect()
            });
            for call_id in calls {
                let start = ChildStart { call_id, name: String::new(), description: String::new() };
                let child = log.child(start).await?;
                looked_at.push((Arc::clone(&log), child.session().clone()));
                open.push(child);
            }
        }
        drop(open);
        // Not those on the way to what was found: whoever asks for it again must find the same.
        let mut way = found.is_some().then_some(id);
        while let Some((parent, child)) = looked_at.pop() {
            if way.as_ref() == Some(&child) {
                way = Some(parent.session().clone());
            } else {
                parent.let_go(&child);
            }
        }
        found.ok_or_else(SessionError::no_session)
    }

    /// Opens the streams of all subagents, so that their approvals and their nodes are shown.
    pub(crate) async fn open_children(&self) -> Result<(), SessionError> {
        let mut parents = vec![(self.log.session().clone(), Arc::clone(&self.stream))];
        while let Some((id, stream)) = parents.pop() {
            for stored in self.tree.database.children(&id).await? {
                let entries = self.tree.database.entries(&stored.id, 0).await?;
                let child = child_stream(&self.tree, &stream, &stored, &entries);
                parents.push((stored.id, child));
            }
        }
        Ok(())
    }

    /// Counts the files that the session and its subagents changed, in the order in which they did.
    pub(crate) async fn replay_changes(&self) -> Result<(), SessionError> {
        let Some(blobs) = &self.setting.blobs else { return Ok(()) };
        let journals = Journals::read(&self.tree.database, self.log.session()).await?;
        self.stream.update(|projection| projection.replay_changes(&journals.deeds()));
        self.stream.count_changes(blobs).await;
        Ok(())
    }
}

/// Whether the turn of `log`, or of a subagent that one of its calls waits for, goes on by itself, however long this
/// machine takes between two of its steps: none of its calls waits for a person, nor for a subagent that may.
fn goes_on(log: &Arc<SessionLog>) -> bool {
    let (is_free, children) = log.with_state(|state| {
        let calls: Vec<&OpenCall> = state.step.iter().flat_map(|step| &step.calls).collect();
        let sent = |call: &&OpenCall| call.child.clone().filter(|_| call.result.is_none());
        let children: Vec<SessionId> = calls.iter().filter_map(sent).collect();
        let is_held = !children.is_empty() || calls.iter().any(|call| call.is_waiting());
        (state.turn.is_some() && !is_held, children)
    });
    is_free || children.iter().filter_map(|child| log.find(child)).any(|child| goes_on(&child))
}

/// What a panic says of itself.
fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a part of the program broke")
}
