use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bosun_model::{HumanMessage, Message, MessageId};
use futures_util::FutureExt;
use tokio::sync::{Notify, Semaphore};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::delegate::{self, answer_of, ended, problem_of};
use crate::state::lightened;
use crate::{
    Activity, Agent, AgentError, EntryBody, SentSubagent, SessionId, SessionLog, Spent, State, SubagentMode,
    TurnContext, TurnEnd, end_turn, run_turn,
};

/// Longest part of an answer in the notice of an end, in characters. The whole is there for the asking.
const NOTICE_CHARS: usize = 8_000;

/// How the ids of notices begin.
const NOTICE_ID: &str = "notice-";

type Listener = Arc<dyn Fn() + Send + Sync>;

/// The subagents of one session that work beside its turns, as far as this process runs them. What they are and how
/// they stand is in the journals: whoever opens the session later goes on with them.
#[derive(Default)]
pub struct BackgroundRuns {
    running: Mutex<HashMap<SessionId, Run>>,
    tracker: TaskTracker,
    slots: OnceLock<Arc<Semaphore>>,
    changed: Notify,
    on_end: Mutex<Option<Listener>>,
    /// What was spent, in money and in time, by whoever ended last: a turn that only its end begins has no limits of its
    /// own.
    spent: Mutex<Option<(Arc<Spent>, Activity)>>,
    begun: AtomicU64,
}

struct Run {
    number: u64,
    cancel: CancellationToken,
    /// Of its turn under way.
    activity: Activity,
    task: AbortHandle,
    /// Whether it got its slot.
    begun: bool,
    stop: Option<Stop>,
}

/// Who wants a subagent to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The parent itself, which needs no notice.
    Parent,
    Person,
    /// A person, with all else that is at work: no turn begins because of it.
    PersonWithAll,
}

impl BackgroundRuns {
    pub fn is_running(&self, child: &SessionId) -> bool {
        self.running().contains_key(child)
    }

    pub fn count(&self) -> usize {
        self.running().len()
    }

    /// Those that are running, each with whether something is going on in it, and not only a person waited for.
    pub fn busy(&self) -> Vec<(SessionId, bool)> {
        self.running().iter().map(|(child, run)| (child.clone(), !run.activity.is_quiet())).collect()
    }

    /// Returns once none is running.
    pub async fn idle(&self) {
        loop {
            let changed = self.changed.notified();
            if self.running().is_empty() {
                return;
            }
            changed.await;
        }
    }

    /// `listener` is called whenever it is durable that one has ended.
    pub fn on_end(&self, listener: Arc<dyn Fn() + Send + Sync>) {
        *self.on_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    /// Ends all of them. What they did until then is recorded; the model gets no notice of it.
    pub async fn end_all(&self) {
        for run in self.running().values_mut() {
            run.stop = Some(Stop::Parent);
            run.cancel.cancel();
        }
        self.idle().await;
    }

    /// Stops all of them, as a person stops one, and waits until it is durable. The model is told with the session's next
    /// turn; no turn begins for that.
    pub async fn stop_all(&self) {
        loop {
            let changed = self.changed.notified();
            for run in self.running().values_mut().filter(|run| run.stop != Some(Stop::Parent)) {
                run.stop = Some(Stop::PersonWithAll);
                run.cancel.cancel();
            }
            if self.running().is_empty() {
                return;
            }
            changed.await;
        }
    }

    /// Drops all of them without ending them: the journal goes on with them later.
    pub fn let_go(&self) {
        for (_, run) in self.running().drain() {
            run.task.abort();
        }
        self.changed.notify_waiters();
    }

    /// Whether it got its slot; `None` where it does not run.
    pub(crate) fn has_begun(&self, child: &SessionId) -> Option<bool> {
        self.running().get(child).map(|run| run.begun)
    }

    /// Ends one; `false` where it does not run.
    pub(crate) fn stop(&self, child: &SessionId, by: Stop) -> bool {
        let mut running = self.running();
        let Some(run) = running.get_mut(child) else { return false };
        run.stop = Some(by);
        run.cancel.cancel();
        true
    }

    /// Makes a subagent turn to `message` where it still waits for it.
    pub(crate) fn interrupt(&self, child: &SessionLog, message: &str) {
        let running = self.running();
        if let Some(run) = running.get(child.session())
            && child.with_state(|state| state.queue.iter().any(|queued| queued.id == message))
        {
            run.cancel.cancel();
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<SessionId, Run>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots(&self, most: usize) -> Arc<Semaphore> {
        Arc::clone(self.slots.get_or_init(|| Arc::new(Semaphore::new(most.max(1)))))
    }

    /// A context for the next turn of a subagent; it is stopped already where the subagent is to end.
    fn next_turn(&self, cx: &TurnContext) -> TurnContext {
        let cancel = CancellationToken::new();
        let next = cx.again(cancel.clone());
        match self.running().get_mut(cx.log().session()) {
            Some(run) if run.stop.is_none() => {
                run.cancel = cancel;
                run.activity = next.activity().clone();
            }
            Some(_) | None => cancel.cancel(),
        }
        next
    }

    fn stopped_by(&self, child: &SessionId) -> Option<Stop> {
        self.running().get(child).and_then(|run| run.stop)
    }

    /// What the turn may not spend again, where the model goes on only because a subagent has ended. One that a person
    /// continues has its limits anew.
    pub(crate) fn carried(&self, state: &State) -> Option<(Arc<Spent>, Activity)> {
        if state.limits_anew {
            return None;
        }
        let Some(Message::Human(last)) = state.messages.last().map(|last| &**last) else { return None };
        let spent = || self.spent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        is_notice(last).then(spent).flatten()
    }

    /// One has ended, which is durable. It may have been stopped with all else only while that was recorded.
    fn ended(&self, child: &SessionId, stopped_by: Option<Stop>) {
        if self.stopped_by(child).or(stopped_by) == Some(Stop::PersonWithAll) {
            return;
        }
        let listener = self.on_end.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(listener) = listener {
            listener();
        }
    }
}

/// Takes up all that were at work beside the session when its journal ended, and those that a person made go on.
pub(crate) async fn go_on(cx: &TurnContext) -> Result<(), AgentError> {
    let log = cx.log();
    let left: Vec<_> = log.with_state(|state| {
        let is_left = |sent: &&SentSubagent| {
            // One whose call has no result is begun by that call.
            !log.background().is_running(&sent.child) && state.open_call(&sent.call_id).is_none()
        };
        state.at_work_beside().filter(is_left).cloned().collect()
    });
    for sent in left {
        let child = log.reopen(&sent).await?;
        match cx.agent().subagents.as_ref().map(|subagents| subagents.agent(&sent.name, cx)) {
            Some(Ok(agent)) => begin(cx, agent, &child),
            refused => {
                let reason = refused.and_then(Result::err).unwrap_or_else(|| "there are no subagents any more".into());
                tell_end(cx.agent(), log, &child, TurnEnd::failed(reason), None).await?;
                drop(child);
                log.let_go(&sent.child);
            }
        }
    }
    Ok(())
}

/// Runs `child` beside `parent` to the end of everything that it was asked, unless it is running.
pub(crate) fn begin(parent: &TurnContext, agent: Arc<Agent>, child: &Arc<SessionLog>) {
    let runs = parent.log().background();
    let mut running = runs.running();
    if running.contains_key(child.session()) {
        return;
    }
    let cancel = CancellationToken::new();
    let cx = parent.beside(agent, Arc::clone(child), cancel.clone());
    let activity = cx.activity().clone();
    let slots = runs.slots(parent.agent().limits.max_subagents);
    let (log, sender) = (Arc::clone(parent.log()), Arc::clone(parent.agent()));
    let number = runs.begun.fetch_add(1, Ordering::Relaxed);
    let task = runs.tracker.spawn(async move {
        if let Err(error) = run(&log, &sender, cx, slots, number).await {
            tracing::error!(%error, "that a subagent beside its parent could not go on is not recorded");
        }
    });
    let run = Run { number, cancel, activity, task: task.abort_handle(), begun: false, stop: None };
    running.insert(child.session().clone(), run);
}

async fn run(
    parent: &Arc<SessionLog>,
    sender: &Agent,
    cx: TurnContext,
    slots: Arc<Semaphore>,
    number: u64,
) -> Result<(), AgentError> {
    let runs = Arc::clone(parent.background());
    let child = Arc::clone(cx.log());
    let id = child.session().clone();
    let leaving = Leaving { runs: &runs, child: &id, number };
    // A member of the stack that panics ends this one subagent, as an error does.
    let worked = match AssertUnwindSafe(work(parent, sender, cx.clone(), slots)).catch_unwind().await {
        Ok(worked) => worked,
        Err(_panic) => Err(broke(&cx).await),
    };
    if let Err(error) = worked {
        tracing::error!(%error, "a subagent beside its parent could not go on");
        // Its own journal may be what cannot be written; the parent's may still be.
        let stopped_by = runs.stopped_by(child.session());
        tell_end(cx.agent(), parent, &child, TurnEnd::failed(error.to_string()), stopped_by).await?;
        runs.ended(&id, stopped_by);
    }
    drop((cx, child));
    parent.let_go(&id);
    drop(leaving);
    Ok(())
}

/// Ends the turn of a subagent that broke, as that of the session is ended; what is said of it.
async fn broke(cx: &TurnContext) -> AgentError {
    let error = AgentError::Fatal("a part of the program broke".into());
    if cx.log().with_state(|state| state.turn.is_some())
        && let Err(unrecorded) = end_turn(cx, TurnEnd::failed(error.to_string())).await
    {
        tracing::error!(error = %unrecorded, "that the turn of a subagent broke is not recorded");
    }
    error
}

/// Works off everything that the subagent was asked, and takes it off the list.
async fn work(
    parent: &Arc<SessionLog>,
    sender: &Agent,
    mut cx: TurnContext,
    slots: Arc<Semaphore>,
) -> Result<(), AgentError> {
    let runs = Arc::clone(parent.background());
    let child = Arc::clone(cx.log());
    let mut goes_on = parent.with_state(|state| state.subagent(child.session()).is_some_and(|sent| sent.goes_on));
    loop {
        let slot = tokio::select! {
            slot = slots.acquire() => slot.ok(),
            // Its turn is ended all the same, so that every call of it has a result.
            () = cx.cancel().cancelled() => None,
        };
        if let Some(run) = runs.running().get_mut(child.session()) {
            run.begun = slot.is_some();
        }
        begin_task(parent, sender, &cx).await?;
        if std::mem::take(&mut goes_on) {
            go_on_where_ended(parent, &cx).await?;
        }
        if begin_what_waits(parent, &cx).await? {
            // From here on a stop means this turn, and not what was interrupted for it.
            cx = runs.next_turn(&cx);
        }
        let end = match child.with_state(|state| (state.turn.is_some(), state.last_end.clone())) {
            (false, end) => end.unwrap_or(TurnEnd::Stopped),
            (true, _) => Box::pin(run_turn(&cx)).await?,
        };
        drop(slot);
        let stopped_by = runs.stopped_by(child.session());
        if stopped_by.is_none() && waits(&child) {
            cx = runs.next_turn(&cx);
            continue;
        }
        forget_what_waits(&child, stopped_by).await?;
        let spent = (cx.shared_spent(), cx.activity().clone());
        *runs.spent.lock().unwrap_or_else(PoisonError::into_inner) = Some(spent);
        tell_end(cx.agent(), parent, &child, end, stopped_by).await?;
        runs.ended(child.session(), stopped_by);
        // What was asked since is taken up by this run or, once it is off the list, by a new one.
        let mut running = runs.running();
        if stopped_by.is_some() || !waits(&child) {
            running.remove(child.session());
            break;
        }
        drop(running);
        cx = runs.next_turn(&cx);
    }
    Ok(())
}

/// Ends for a parent what no run holds, as where neither journal could be written when it ended.
pub(crate) async fn end_what_was_left(
    agent: &Agent,
    parent: &SessionLog,
    child: &SessionLog,
) -> Result<(), AgentError> {
    forget_what_waits(child, Some(Stop::Parent)).await?;
    tell_end(agent, parent, child, TurnEnd::Stopped, Some(Stop::Parent)).await
}

/// Takes a run off the list also where it could not go on.
struct Leaving<'a> {
    runs: &'a BackgroundRuns,
    child: &'a SessionId,
    number: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut running = self.runs.running();
        if running.get(self.child).is_some_and(|run| run.number == self.number) {
            running.remove(self.child);
        }
        drop(running);
        self.runs.changed.notify_waiters();
    }
}

/// Begins the turn for what the subagent was sent to do, where it has not. One that was waited for and never began was given
/// up with its call: it begins with what it is asked now.
async fn begin_task(parent: &SessionLog, sender: &Agent, cx: &TurnContext) -> Result<(), AgentError> {
    let child = cx.log();
    let task = parent.with_state(|state| {
        let sent = state.subagent(child.session()).filter(|sent| sent.mode == SubagentMode::Background);
        sent.map(|sent| sent.description.clone())
    });
    let Some(task) = task else { return Ok(()) };
    let _busy = cx.activity().enter();
    delegate::begin_first((parent, sender), cx.agent(), child, task).await
}

/// Continues the turn that a limit of the whole tree had ended. It may have gone on before the app was closed.
async fn go_on_where_ended(parent: &SessionLog, cx: &TurnContext) -> Result<(), AgentError> {
    let was_ended = cx
        .log()
        .with_state(|state| state.turn.is_none() && state.last_end.as_ref().is_some_and(TurnEnd::is_by_limit_of_tree));
    if !was_ended {
        return Ok(());
    }
    let _busy = cx.activity().enter();
    delegate::take_up(parent, cx.agent(), cx.log()).await
}

/// Begins a turn with the first message that waits for a subagent that is at no turn.
async fn begin_what_waits(parent: &SessionLog, cx: &TurnContext) -> Result<bool, AgentError> {
    let child = cx.log();
    let (open, first, last) =
        child.with_state(|state| (state.turn.is_some(), state.queue.first().cloned(), state.turns));
    let Some(first) = first.filter(|_| !open) else { return Ok(false) };
    if parent.with_state(|state| state.subagent(child.session()).is_some_and(|sent| sent.end.is_some())) {
        parent.record(vec![EntryBody::SubagentAsked { child: child.session().clone() }]).await?;
    }
    let message = HumanMessage { id: MessageId::new(first.id.clone()), content: vec![first.text.into()] };
    let update = parent.with_state(|above| child.with_state(|state| state.seed_again(above, cx.agent().fields())));
    let update = lightened(update, cx.agent().blobs.as_deref()).await?;
    let begun = EntryBody::TurnStarted { turn: last + 1, message };
    child.record(vec![EntryBody::Unqueued { id: first.id }, EntryBody::Seeded { update }, begun]).await?;
    Ok(true)
}

/// Whoever is stopped is not to begin with what was said to it before.
async fn forget_what_waits(child: &SessionLog, stopped_by: Option<Stop>) -> Result<(), AgentError> {
    let waiting = child.with_state(|state| state.queue.clone());
    if stopped_by.is_some() && !waiting.is_empty() {
        let forgotten = waiting.into_iter().map(|message| EntryBody::Unqueued { id: message.id });
        child.record(forgotten.collect()).await?;
    }
    Ok(())
}

fn waits(child: &SessionLog) -> bool {
    child.with_state(|state| !state.queue.is_empty())
}

/// Records in the parent's journal that a subagent has ended, with what it made and a notice for the model.
async fn tell_end(
    agent: &Agent,
    parent: &SessionLog,
    child: &SessionLog,
    end: TurnEnd,
    stopped_by: Option<Stop>,
) -> Result<(), AgentError> {
    // Where its last reply is empty, what it said before stands. Lists go by this, without its journal.
    let end = child.with_state(|state| ended(&end, answer_of(state).as_deref()).clone());
    let record = |above: &State| {
        let brought = child.with_state(|state| state.brought(above, agent.fields()));
        let tells = stopped_by != Some(Stop::Parent);
        let reason = match (&end, stopped_by) {
            (TurnEnd::Stopped, Some(Stop::Person | Stop::PersonWithAll)) => {
                Some("it was stopped by the user".to_owned())
            }
            (end, _) => problem_of(end),
        };
        let notice = tells.then(|| notice(above, child, (&end, reason), &brought.conflicts)).flatten();
        vec![EntryBody::SubagentEnded { child: child.session().clone(), end, update: brought.update, notice }]
    };
    parent.record_of(record).await?;
    Ok(())
}

/// What the model is told. It is set apart from what people write, and what a subagent said cannot break out of it.
fn notice(
    parent: &State,
    child: &SessionLog,
    (end, reason): (&TurnEnd, Option<String>),
    conflicts: &[String],
) -> Option<HumanMessage> {
    let sent = parent.subagent(child.session())?;
    let (turns, answer) = child.with_state(|state| (state.turns, answer_of(state)));
    let status = match end {
        TurnEnd::Done => "success",
        TurnEnd::Stopped => "cancelled",
        TurnEnd::Empty | TurnEnd::StepLimit { .. } | TurnEnd::Failed { .. } => "error",
    };
    let mut text = opening(sent, "has ended", status);
    if let Some(reason) = reason {
        text.push_str(&format!("reason: {}\n", escaped(&reason)));
    }
    for conflict in conflicts {
        text.push_str(&format!("{}\n", escaped(conflict)));
    }
    if let Some(answer) = answer {
        let (head, left_out) = head_of(&answer, NOTICE_CHARS);
        text.push_str(&format!("<answer>\n{}\n</answer>\n", escaped(head)));
        if left_out {
            text.push_str("The answer is longer: check_async_task gives all of it.\n");
        }
    }
    text.push_str(CLOSING);
    Some(HumanMessage { id: notice_id(parent, child.session(), turns), content: vec![text.into()] })
}

/// The id of a notice: a turn that goes on after a limit ends more than once.
fn notice_id(parent: &State, child: &SessionId, turn: u32) -> MessageId {
    let told = parent.messages.iter().filter_map(|message| match &**message {
        Message::Human(human) => Some(human),
        Message::System(_) | Message::Ai(_) | Message::Tool(_) => None,
    });
    let prefix = format!("{NOTICE_ID}{child}-{turn}");
    let of_turn = |human: &&HumanMessage| {
        let rest = human.id.as_str().strip_prefix(&prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    match told.chain(&parent.steering).filter(of_turn).count() {
        0 => MessageId::new(prefix),
        again => MessageId::new(format!("{prefix}.{again}")),
    }
}

/// What stands in the place of a notice whose subagent goes on before the model has read it.
pub(crate) fn told_that_it_goes_on(sent: &SentSubagent, id: MessageId) -> HumanMessage {
    let text = opening(sent, "had been ended by a limit and goes on now", "running") + CLOSING;
    HumanMessage { id, content: vec![text.into()] }
}

const CLOSING: &str = "</async_task_notification>";

fn opening(sent: &SentSubagent, what: &str, status: &str) -> String {
    format!(
        "<async_task_notification>\nThis was written by Bosun, not by the user. The subagent {} that you sent \
         {what}.\ntask_id: {}\nstatus: {status}\n",
        escaped(&sent.name),
        sent.child,
    )
}

/// Whether a message tells that this subagent has ended.
pub(crate) fn is_notice_of(message: &HumanMessage, child: &SessionId) -> bool {
    let rest = message.id.as_str().strip_prefix(NOTICE_ID).and_then(|rest| rest.strip_prefix(child.as_str()));
    let turn = rest.and_then(|rest| rest.strip_prefix('-'));
    turn.is_some_and(|turn| turn.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// Whether a message tells that a subagent has ended.
pub(crate) fn is_notice(message: &HumanMessage) -> bool {
    message.id.as_str().starts_with(NOTICE_ID)
}

fn head_of(text: &str, characters: usize) -> (&str, bool) {
    match text.char_indices().nth(characters) {
        Some((cut, _)) => (text.get(..cut).unwrap_or_default(), true),
        None => (text, false),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whether a subagent waits for a person.
pub(crate) fn is_waiting(child: &State) -> bool {
    child.waiting().next().is_some()
}
