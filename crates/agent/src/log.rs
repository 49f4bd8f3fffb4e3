use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bosun_backend::{FileStamp, VirtualPath};
use bosun_model::CallId;
use bosun_tools::{StateView, Todo};
use futures_util::FutureExt;
use futures_util::future::Shared;
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, Notify};
use tokio_util::sync::CancellationToken;

use crate::background::Stop;
use crate::children::{Children, Opening};
use crate::{
    BackgroundRuns, BoxFuture, ChangedFile, ChildStart, Clock, Decision, DecisionError, DecisionRecord, DecisionSource,
    EntryBody, Host, JournalEntry, JournalError, LiveEvent, OpenedChild, Recorded, SentSubagent, Seq, SessionId, State,
};

/// A session's journal and the state folded from it, in one order. An entry reaches the state once it is durable; only
/// what asks for nothing but reading may reach it before ([`Self::record_with_next`]).
pub struct SessionLog {
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Held over "append, then apply", so that the state follows the journal's order.
    order: AsyncMutex<Order>,
    /// Whether there are such entries, for those who cannot wait for their turn to look.
    is_ahead: AtomicBool,
    changed: Notify,
    children: Mutex<Children>,
    background: Arc<BackgroundRuns>,
    /// Stops the turn that runs over this log.
    turn: Mutex<Option<CancellationToken>>,
}

/// What is not both in the journal and in the state.
#[derive(Default)]
struct Order {
    /// In the state; goes into the journal with the next.
    waiting: Vec<JournalEntry>,
    /// What several record at the same moment: in neither yet.
    together: Vec<Part>,
    /// On its way into the journal. It stays here when its caller goes away, and whoever comes next waits for it: an
    /// append that has begun is not undone, and its entries must reach the state, and no journal twice.
    appending: Option<Appending>,
}

struct Appending {
    outcome: Shared<BoxFuture<'static, Result<Seq, JournalError>>>,
    /// What the state gets of it.
    entries: Vec<JournalEntry>,
    /// Where those look who wait for it.
    told: Vec<Arc<Outcome>>,
}

/// How an append went, once it is known.
type Outcome = OnceLock<Result<(), JournalError>>;

/// What one of several records in a unit with the others.
struct Part {
    entries: Vec<JournalEntry>,
    /// Gone with its caller: then nobody wants it recorded.
    told: Weak<Outcome>,
}

impl SessionLog {
    /// Opens a session from everything its journal holds.
    pub fn open(host: Arc<dyn Host>, clock: Arc<dyn Clock>, entries: &[Recorded]) -> Self {
        let state = State::of_journal(entries);
        Self {
            host,
            clock,
            state: Mutex::new(state),
            order: AsyncMutex::default(),
            is_ahead: AtomicBool::new(false),
            changed: Notify::new(),
            children: Mutex::default(),
            background: Arc::default(),
            turn: Mutex::new(None),
        }
    }

    pub fn session(&self) -> &SessionId {
        self.host.session()
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Reads the state. The closure must be short: it holds the lock.
    pub fn with_state<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&locked(&self.state))
    }

    /// Tells news that is not recorded.
    pub fn emit(&self, event: LiveEvent) {
        self.host.emit(event);
    }

    /// Folds the state anew from everything the journal holds, after something in it was rewound or brought back.
    pub fn rebuild(&self, entries: &[Recorded]) {
        *locked(&self.state) = State::of_journal(entries);
        self.changed.notify_waiters();
    }

    /// Appends `bodies` side by side, in one unit with what others record at the same moment; they are durable and in the
    /// state when this returns.
    pub async fn record(&self, bodies: Vec<EntryBody>) -> Result<(), JournalError> {
        self.record_together(|_| bodies).await
    }

    /// As [`Self::record`], with entries made of the files and fields of the state that they are added to. The rest of it
    /// may lack what comes in the same unit.
    pub(crate) async fn record_together(
        &self,
        make: impl FnOnce(&State) -> Vec<EntryBody>,
    ) -> Result<(), JournalError> {
        let outcome = Arc::new(Outcome::new());
        let mut order = self.order.lock().await;
        self.settled(&mut order).await;
        if order.together.iter().flat_map(|part| &part.entries).any(|entry| !leaves_files_and_fields(&entry.body)) {
            self.record_parts(&mut order).await;
        }
        let bodies = self.with_state(make);
        order.together.push(Part { entries: self.stamped(bodies), told: Arc::downgrade(&outcome) });
        drop(order);
        // Whoever has waited for the log meanwhile has it first, and adds to the unit.
        let mut order = self.order.lock().await;
        self.settled(&mut order).await;
        if outcome.get().is_none() {
            self.record_parts(&mut order).await;
        }
        drop(order);
        let lost = || JournalError::Unavailable { reason: "an entry was not taken along".into() };
        outcome.get().cloned().unwrap_or_else(|| Err(lost()))
    }

    /// As [`Self::record`], with entries made of the state that they are added to: nothing comes in between.
    pub async fn record_of(&self, make: impl FnOnce(&State) -> Vec<EntryBody>) -> Result<(), JournalError> {
        let mut order = self.in_order().await;
        let bodies = self.with_state(make);
        self.record_in_order(&mut order, bodies).await
    }

    /// Takes `bodies` into the state. They become durable with whatever is recorded next, in one unit with it, so that a
    /// reply and what first came of it cost one write. Nothing may be changed outside until then, nor the model asked
    /// again: whoever intends to records that, and has everything before it recorded.
    pub(crate) async fn record_with_next(&self, bodies: Vec<EntryBody>) {
        let mut order = self.in_order().await;
        let entries = self.stamped(bodies);
        self.is_ahead.store(true, Ordering::Release);
        self.apply(&entries);
        order.waiting.extend(entries);
    }

    /// Makes what waits for the next entry durable without one. Whoever is about to change something that the journal does
    /// not tell of waits for this first.
    pub async fn save(&self) -> Result<(), JournalError> {
        self.hold().await.map(drop)
    }

    /// Whether everything in the state is durable.
    pub(crate) fn is_saved(&self) -> bool {
        !self.is_ahead.load(Ordering::Acquire)
    }

    /// Whether nothing is under way: all that is in the state is in the journal, and the other way round.
    pub(crate) fn is_settled(&self) -> bool {
        let order = self.order.try_lock();
        order.is_ok_and(|order| order.appending.is_none() && order.waiting.is_empty() && order.together.is_empty())
    }

    /// Keeps everyone else from recording in this session, for someone who records in several at once. Everything before
    /// is durable.
    pub async fn hold(&self) -> Result<HeldLog<'_>, JournalError> {
        let mut order = self.in_order().await;
        if !order.waiting.is_empty() {
            self.record_in_order(&mut order, Vec::new()).await?;
        }
        Ok(HeldLog { log: self, _order: order })
    }

    /// Takes a person's (or a rule's) decision: checked in full, then durable, then handed to whoever waits for it.
    ///
    /// `check_args` checks edited arguments against the tool and gives them back as they will run.
    ///
    /// # Errors
    /// [`DecisionError`]; nothing was stored.
    pub async fn decide(
        &self,
        call_id: &CallId,
        digest: Option<&str>,
        decision: Decision,
        by: DecisionSource,
        check_args: &(dyn Fn(&str, &Value) -> Result<Value, String> + Sync),
    ) -> Result<(), DecisionError> {
        let mut order = self.in_order().await;
        let record = self.checked(call_id, digest, decision, by, check_args)?;
        self.record_in_order(&mut order, vec![EntryBody::Decided { call_id: call_id.clone(), record }]).await?;
        Ok(())
    }

    /// Whether [`Self::decide`] would take this decision now, and as what.
    pub fn checked(
        &self,
        call_id: &CallId,
        digest: Option<&str>,
        decision: Decision,
        by: DecisionSource,
        check_args: &(dyn Fn(&str, &Value) -> Result<Value, String> + Sync),
    ) -> Result<DecisionRecord, DecisionError> {
        let open = self.with_state(|state| state.open_call(call_id).filter(|call| call.is_waiting()).cloned());
        let not_pending = || DecisionError::NotPending { call_id: call_id.clone() };
        let open = open.ok_or_else(not_pending)?;
        let ask = open.ask.clone().ok_or_else(not_pending)?;
        if digest.is_some_and(|digest| digest != ask.digest) {
            return Err(DecisionError::Stale { call_id: call_id.clone() });
        }
        if !ask.allowed.contains(&decision.kind()) {
            return Err(DecisionError::NotAllowed {
                given: decision.kind().name(),
                tool: ask.call.name,
                allowed: ask.allowed.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "),
            });
        }
        if !decision.runs_nothing() && !open.is_as_shown() {
            let call_id = call_id.clone();
            let is_altered = open.is_of_this_version();
            return Err(if is_altered { DecisionError::Altered { call_id } } else { DecisionError::Stale { call_id } });
        }
        let decision = match decision {
            // What a person wrote themselves stays theirs when they are asked for it once more.
            Decision::Approve if ask.is_edited => Decision::Edit { args: ask.call.args.clone() },
            Decision::Edit { args } => {
                let args =
                    check_args(&ask.call.name, &args).map_err(|reason| DecisionError::BadArguments { reason })?;
                Decision::Edit { args }
            }
            Decision::Respond { text } if text.trim().is_empty() => return Err(DecisionError::EmptyResponse),
            decision @ (Decision::Approve | Decision::Respond { .. } | Decision::Reject { .. }) => decision,
        };
        Ok(DecisionRecord::new(&ask, decision, by))
    }

    /// Waits until a call that asks is decided. Dropping the future loses nothing: the ask is in the journal.
    pub async fn decision(&self, call_id: &CallId) -> DecisionRecord {
        loop {
            let changed = self.changed.notified();
            let decided = self.with_state(|state| state.open_call(call_id).and_then(|call| call.decision.clone()));
            if let Some(record) = decided {
                return record;
            }
            changed.await;
        }
    }

    /// Waits until the state is as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            if self.with_state(&wanted) {
                return;
            }
            changed.await;
        }
    }

    /// The log of the subagent that `start` names: opened once, then shared until it is let go ([`Self::let_go`]).
    pub async fn child(&self, start: ChildStart) -> Result<Arc<Self>, JournalError> {
        let mut opening = Opening::of(&self.children);
        loop {
            let OpenedChild { host, entries } = self.host.child(start.clone()).await?;
            let open = |host, entries: &[_]| Arc::new(Self::open(host, Arc::clone(&self.clock), entries));
            if let Some(child) = opening.child(host, &entries, open) {
                return Ok(child);
            }
        }
    }

    /// Lets the log of a subagent go that has ended, as soon as nobody looks at it: its journal has everything.
    pub fn let_go(&self, child: &SessionId) {
        let has_ended = self.with_state(|state| state.subagent(child).is_none_or(|sent| sent.end.is_some()));
        if has_ended {
            locked(&self.children).let_go(child);
        }
    }

    /// The files that the session and its subagents changed so far, each once, in the order of its last change.
    pub async fn changed_files(&self) -> Result<Vec<ChangedFile>, JournalError> {
        self.host.changed_files().await
    }

    /// The log of a subagent that was sent before.
    pub(crate) async fn reopen(&self, sent: &SentSubagent) -> Result<Arc<Self>, JournalError> {
        if let Some(open) = self.opened(&sent.child) {
            return Ok(open);
        }
        let (call_id, name) = (sent.call_id.clone(), sent.name.clone());
        self.child(ChildStart { call_id, name, description: sent.description.clone() }).await
    }

    /// The subagents that work beside this session's turns.
    pub fn background(&self) -> &Arc<BackgroundRuns> {
        &self.background
    }

    /// Stops one subagent of this tree, whatever its depth and whether anyone waits for it; everything else goes on.
    /// `false` where it is not at work.
    pub fn cancel_child(self: &Arc<Self>, child: &SessionId) -> bool {
        if self.background.stop(child, Stop::Person) {
            return true;
        }
        let Some(log) = self.find(child).filter(|log| !Arc::ptr_eq(log, self)) else { return false };
        let turn = locked(&log.turn).clone();
        turn.inspect(CancellationToken::cancel).is_some()
    }

    /// Keeps what stops the turn that runs over this log.
    pub(crate) fn set_turn(&self, turn: Option<CancellationToken>) {
        *locked(&self.turn) = turn;
    }

    /// The log of a subagent of this session, where it is open.
    pub(crate) fn opened(&self, child: &SessionId) -> Option<Arc<Self>> {
        locked(&self.children).get(child)
    }

    /// A log of this tree by its session, among those opened so far.
    pub fn find(self: &Arc<Self>, session: &SessionId) -> Option<Arc<Self>> {
        if self.session() == session {
            return Some(Arc::clone(self));
        }
        let children = locked(&self.children).all();
        children.iter().find_map(|child| child.find(session))
    }

    /// The caller's turn to record, behind everything that others have begun to.
    async fn in_order(&self) -> MutexGuard<'_, Order> {
        let mut order = self.order.lock().await;
        self.settled(&mut order).await;
        self.record_parts(&mut order).await;
        order
    }

    /// Waits for what somebody left on its way into the journal.
    async fn settled(&self, order: &mut Order) {
        if let Err(error) = self.appended(order).await {
            tracing::debug!(%error, "what somebody recorded who has gone away could not be stored");
        }
    }

    /// Records what several wait for, as one unit, and tells each of them how that went.
    async fn record_parts(&self, order: &mut Order) {
        let parts = std::mem::take(&mut order.together);
        let wanted = parts.into_iter().filter_map(|part| Some((part.entries, part.told.upgrade()?)));
        let (entries, told): (Vec<_>, Vec<_>) = wanted.unzip();
        if !told.is_empty() {
            self.begin(order, entries.concat(), told);
            self.settled(order).await;
        }
    }

    async fn record_in_order(&self, order: &mut Order, bodies: Vec<EntryBody>) -> Result<(), JournalError> {
        self.begin(order, self.stamped(bodies), Vec::new());
        self.appended(order).await
    }

    fn begin(&self, order: &mut Order, entries: Vec<JournalEntry>, told: Vec<Arc<Outcome>>) {
        // What waits stays where it is until it is durable: without that a later entry has to carry it.
        let all = [order.waiting.as_slice(), &entries].concat();
        let host = Arc::clone(&self.host);
        let append: BoxFuture<'static, _> = Box::pin(async move { host.journal().append(all).await });
        order.appending = Some(Appending { outcome: append.shared(), entries, told });
    }

    /// Waits for what is on its way into the journal, and takes it into the state.
    async fn appended(&self, order: &mut Order) -> Result<(), JournalError> {
        let Some(appending) = &order.appending else { return Ok(()) };
        let outcome = appending.outcome.clone().await.map(drop);
        let Some(Appending { entries, told, .. }) = order.appending.take() else { return outcome };
        if outcome.is_ok() {
            order.waiting.clear();
            self.is_ahead.store(false, Ordering::Release);
            self.apply(&entries);
        }
        for told in told {
            // Nobody has told it before: it is of this append alone.
            told.get_or_init(|| outcome.clone());
        }
        outcome
    }

    /// `bodies` as entries of this moment.
    fn stamped(&self, bodies: Vec<EntryBody>) -> Vec<JournalEntry> {
        let at = self.clock.now_ms();
        bodies.into_iter().map(|body| JournalEntry { at, body }).collect()
    }

    fn apply(&self, entries: &[JournalEntry]) {
        let mut state = locked(&self.state);
        for entry in entries {
            state.apply(entry);
        }
        drop(state);
        self.changed.notify_waiters();
    }
}

/// Whether an entry is one that changes neither the files nor the fields of the state.
fn leaves_files_and_fields(body: &EntryBody) -> bool {
    match body {
        EntryBody::ToolResult { update, .. } => update.is_empty(),
        EntryBody::CallStarted { .. } | EntryBody::ChangeIntended { .. } | EntryBody::SubagentStarted { .. } => true,
        _ => false,
    }
}

/// A log in which nobody else records until this is dropped.
pub struct HeldLog<'a> {
    log: &'a SessionLog,
    _order: MutexGuard<'a, Order>,
}

impl HeldLog<'_> {
    pub fn session(&self) -> &SessionId {
        self.log.session()
    }

    /// `bodies` as entries of this moment.
    pub fn stamped(&self, bodies: Vec<EntryBody>) -> Vec<JournalEntry> {
        self.log.stamped(bodies)
    }

    /// Takes entries into the state that the caller has made durable in this session's journal, all of them.
    pub fn apply(self, entries: &[JournalEntry]) {
        self.log.apply(entries);
    }
}

impl StateView for SessionLog {
    fn read_stamp(&self, path: &VirtualPath) -> Option<FileStamp> {
        self.with_state(|state| state.reads.get(path).cloned())
    }

    fn reads(&self) -> Vec<(VirtualPath, FileStamp)> {
        self.with_state(|state| state.reads.iter().map(|(path, stamp)| (path.clone(), stamp.clone())).collect())
    }

    fn todos(&self) -> Vec<Todo> {
        self.with_state(|state| {
            let todo = |todo: &crate::PlannedTodo| Todo { content: todo.content.clone(), status: todo.status };
            state.todos.iter().map(todo).collect()
        })
    }
}

/// A panic while the lock was held cannot leave a half-applied entry visible for long: the journal is the truth and
/// the state is rebuilt from it when the session is opened again.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
