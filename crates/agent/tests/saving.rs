//! When a reply becomes durable: with what first comes of it, soon where that takes its time, and always before
//! anything changes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may spawn and fail loudly")]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bosun_agent::{
    Activity, Agent, AgentError, AgentParts, BoxFuture, ChangedFile, ChildStart, EntryBody, Host, Journal,
    JournalEntry, JournalError, Limits, LiveEvent, MemoryHost, Middleware, NextModel, NextTool, OpenedChild, Policy,
    Seq, SessionId, SessionLog, State, SystemClock, TurnContext, TurnEnd, UuidSource, run_turn,
};
use bosun_model::{AiMessage, ChatRequest, HumanMessage, ToolCall};
use bosun_testkit::{Reply, Scripted, ScriptedModel};
use bosun_tools::{StateUpdate, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use futures_util::poll;
use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[path = "turn/support.rs"]
mod support;

use support::NoFiles;

/// A host in memory that knows what came in one unit and what was told in between, and whose disk can be full.
struct Units {
    memory: MemoryHost,
    seen: Arc<Mutex<Vec<String>>>,
    is_full: AtomicBool,
    /// Whether it tells its caller late, as one does that waits for a disk.
    is_slow: AtomicBool,
}

fn name_of(entry: &JournalEntry) -> String {
    let shown = format!("{:?}", entry.body);
    shown.split([' ', '{']).next().unwrap_or_default().to_owned()
}

impl Journal for Units {
    fn append(&self, entries: Vec<JournalEntry>) -> BoxFuture<'_, Result<Seq, JournalError>> {
        Box::pin(async move {
            if self.is_full.load(Ordering::SeqCst) {
                return Err(JournalError::DiskFull);
            }
            let names: Vec<String> = entries.iter().map(name_of).collect();
            self.seen.lock().unwrap().push(names.join(" + "));
            let appended = self.memory.append(entries).await;
            if self.is_slow.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            appended
        })
    }
}

impl Host for Units {
    fn session(&self) -> &SessionId {
        self.memory.session()
    }

    fn journal(&self) -> &dyn Journal {
        self
    }

    fn emit(&self, event: LiveEvent) {
        if matches!(event, LiveEvent::CallRunning { .. }) {
            self.seen.lock().unwrap().push("running".into());
        }
    }

    fn child(&self, start: ChildStart) -> BoxFuture<'_, Result<OpenedChild, JournalError>> {
        self.memory.child(start)
    }

    fn changed_files(&self) -> BoxFuture<'_, Result<Vec<ChangedFile>, JournalError>> {
        self.memory.changed_files()
    }
}

/// Takes its time.
struct Work {
    kind: ToolKind,
    runs: Arc<AtomicU32>,
}

#[derive(Deserialize, JsonSchema)]
struct WorkInput {
    milliseconds: u64,
}

impl Tool for Work {
    const NAME: &'static str = "work";
    type Input = WorkInput;

    fn kind(&self) -> ToolKind {
        self.kind
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "works".into()
    }

    async fn call(&self, _cx: &ToolContext, input: WorkInput) -> Result<ToolOutput, ToolError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        if input.milliseconds > 0 {
            tokio::time::sleep(Duration::from_millis(input.milliseconds)).await;
        }
        Ok(ToolOutput::text("worked"))
    }
}

/// Fails the first call after a while, in the middle of what others do.
struct Halts(AtomicBool);

impl Middleware for Halts {
    fn name(&self) -> &'static str {
        "Halts"
    }

    fn wrap_tool_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(async move {
            if self.0.swap(true, Ordering::SeqCst) {
                return next.run(call).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(AgentError::Cancelled)
        })
    }
}

/// Has everything saved before the calls of a reply run.
struct Saves;

impl Middleware for Saves {
    fn name(&self) -> &'static str {
        "Saves"
    }

    fn after_model<'a>(
        &'a self,
        cx: &'a TurnContext,
        _message: &'a AiMessage,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            cx.log().save().await?;
            Ok(StateUpdate::default())
        })
    }
}

struct Scene {
    host: Arc<Units>,
    cx: TurnContext,
    runs: Arc<AtomicU32>,
}

impl Scene {
    /// A turn that has begun, in which the model calls the tool once and then is done.
    async fn begun(kind: ToolKind, milliseconds: u64) -> Self {
        Self::begun_with(kind, milliseconds, vec![]).await
    }

    async fn begun_with(kind: ToolKind, milliseconds: u64, middleware: Vec<Arc<dyn Middleware>>) -> Self {
        let call = Reply::default().and_call_with_id("1", "work", json!({ "milliseconds": milliseconds }));
        let model = Arc::new(ScriptedModel::new(vec![Scripted::from(call), "done".into(), "done again".into()]));
        let runs = Arc::new(AtomicU32::new(0));
        let parts = AgentParts {
            name: "main".into(),
            model,
            middleware,
            tools: vec![erase(Work { kind, runs: Arc::clone(&runs) })],
            system: vec![],
            backend: Arc::new(NoFiles),
            blobs: None,
            subagents: None,
            limits: Limits::default(),
            ids: Arc::new(UuidSource),
            policy: Policy::default(),
        };
        let agent = Arc::new(Agent::new(parts).unwrap());
        let host = Arc::new(Units {
            memory: MemoryHost::new("s".into()),
            seen: Arc::default(),
            is_full: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
        });
        let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &[]));
        let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
        log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
        let cx = TurnContext::new(agent, log, CancellationToken::new(), Activity::default());
        Self { host, cx, runs }
    }

    fn seen(&self) -> Vec<String> {
        self.host.seen.lock().unwrap().clone()
    }

    /// The journal has what the state has, each once.
    fn check(&self) {
        let entries = self.host.memory.entries();
        let folded = State::fold(entries.iter().map(|recorded| &recorded.entry));
        self.cx.log().with_state(|live| assert_eq!(&folded, live));
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_recorded_in_one_unit_with_what_first_comes_of_it() {
    let scene = Scene::begun(ToolKind::Read, 0).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    assert_eq!(scene.seen(), ["TurnStarted", "Ai + ToolResult", "Ai + TurnEnded"]);
    scene.check();

    let scene = Scene::begun(ToolKind::Execute, 0).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    assert_eq!(scene.seen(), ["TurnStarted", "Ai + CallStarted", "running", "ToolResult", "Ai + TurnEnded"]);
    scene.check();
}

#[tokio::test(start_paused = true)]
async fn a_reply_does_not_wait_for_a_read_that_takes_its_time() {
    let scene = Scene::begun(ToolKind::Read, 60_000).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    assert_eq!(scene.seen(), ["TurnStarted", "Ai", "running", "ToolResult", "Ai + TurnEnded"]);
    scene.check();
}

/// Whoever records next has the log before anyone can look whether all of it is saved.
#[tokio::test(start_paused = true)]
async fn that_a_read_runs_is_told_also_where_others_record_at_that_moment() {
    let scene = Scene::begun(ToolKind::Read, 60_000).await;
    let log = scene.cx.log();
    let held = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let held = log.hold().await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        drop(held);
    };
    let another = async {
        tokio::time::sleep(Duration::from_millis(4)).await;
        log.record(vec![EntryBody::Titled { title: "a title".into() }]).await.unwrap();
    };
    let (end, (), ()) = tokio::join!(run_turn(&scene.cx), held, another);
    assert_eq!(end, Ok(TurnEnd::Done));
    assert_eq!(scene.seen().iter().filter(|seen| *seen == "running").count(), 1, "{:?}", scene.seen());
    scene.check();
}

/// What is on its way into the journal when its caller goes away is there, and must not go there again.
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_being_saved_when_the_turn_ends_is_recorded_once() {
    let scene = Scene::begun_with(ToolKind::Read, 0, vec![Arc::new(Halts(AtomicBool::default()))]).await;
    scene.host.is_slow.store(true, Ordering::SeqCst);
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Stopped));
    assert_eq!(scene.seen(), ["TurnStarted", "Ai", "ToolResult", "TurnEnded"]);
    scene.check();
}

#[tokio::test(start_paused = true)]
async fn an_entry_whose_caller_goes_away_is_in_the_journal_and_in_the_state_once() {
    let scene = Scene::begun(ToolKind::Read, 0).await;
    scene.host.is_slow.store(true, Ordering::SeqCst);
    let titled = |title: &str| scene.cx.log().record(vec![EntryBody::Titled { title: title.into() }]);
    assert!(tokio::time::timeout(Duration::from_millis(10), titled("one")).await.is_err(), "it was cut");
    titled("two").await.unwrap();
    assert_eq!(scene.seen(), ["TurnStarted", "Titled", "Titled"]);
    scene.check();
}

fn started(call: &str) -> EntryBody {
    EntryBody::CallStarted { call_id: call.into() }
}

#[tokio::test(start_paused = true)]
async fn what_is_recorded_side_by_side_is_one_unit_for_all_who_wait_meanwhile() {
    let scene = Scene::begun(ToolKind::Read, 0).await;
    scene.host.is_slow.store(true, Ordering::SeqCst);
    let log = scene.cx.log();
    let record = |call: &str| log.record(vec![started(call)]);
    let outcomes = tokio::join!(record("1"), record("2"), record("3"), record("4"));
    assert_eq!(outcomes, (Ok(()), Ok(()), Ok(()), Ok(())));
    assert_eq!(scene.seen(), ["TurnStarted", "CallStarted", "CallStarted + CallStarted + CallStarted"]);
    scene.check();
}

#[tokio::test(start_paused = true)]
async fn all_of_a_unit_hear_that_it_could_not_be_recorded() {
    let scene = Scene::begun(ToolKind::Read, 0).await;
    scene.host.is_slow.store(true, Ordering::SeqCst);
    let log = scene.cx.log();
    let record = |call: &str| log.record(vec![started(call)]);
    let full = async { scene.host.is_full.store(true, Ordering::SeqCst) };
    let (first, (), second, third) = tokio::join!(record("1"), full, record("2"), record("3"));
    assert_eq!((first, second, third), (Ok(()), Err(JournalError::DiskFull), Err(JournalError::DiskFull)));
    scene.host.is_full.store(false, Ordering::SeqCst);
    record("4").await.unwrap();
    assert_eq!(scene.seen(), ["TurnStarted", "CallStarted", "CallStarted"]);
    scene.check();
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_unit_goes_with_its_caller() {
    let scene = Scene::begun(ToolKind::Read, 0).await;
    let log = scene.cx.log();
    let held = log.hold().await.unwrap();
    let mut gone = Box::pin(log.record(vec![started("gone")]));
    let mut kept = std::pin::pin!(log.record(vec![started("kept")]));
    assert!(poll!(&mut gone).is_pending() && poll!(&mut kept).is_pending());
    drop(held);
    assert!(poll!(&mut gone).is_pending(), "the other one has the log first");
    drop(gone);
    kept.await.unwrap();
    assert_eq!(scene.seen(), ["TurnStarted", "CallStarted"]);
    scene.check();
}

/// Steers the turn while its second reply is on its way.
#[derive(Default)]
struct Steers(AtomicU32);

impl Middleware for Steers {
    fn name(&self) -> &'static str {
        "Steers"
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            if self.0.fetch_add(1, Ordering::SeqCst) == 1 {
                let message = HumanMessage { id: "more".into(), content: vec!["and more".into()] };
                cx.log().record(vec![EntryBody::Steered { message }]).await?;
            }
            next.run(request).await
        })
    }
}

/// Nothing is asked of the model while what it has said last may still be lost.
#[tokio::test(start_paused = true)]
async fn a_reply_without_calls_is_saved_before_the_model_is_asked_again() {
    let scene = Scene::begun_with(ToolKind::Read, 0, vec![Arc::new(Steers::default())]).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    assert_eq!(scene.seen(), ["TurnStarted", "Ai + ToolResult", "Steered", "Ai", "Ai + TurnEnded"]);
    scene.check();
}

#[tokio::test(start_paused = true)]
async fn who_does_what_the_journal_does_not_tell_of_can_have_the_reply_saved_first() {
    let scene = Scene::begun_with(ToolKind::Read, 0, vec![Arc::new(Saves)]).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    assert_eq!(scene.seen(), ["TurnStarted", "Ai", "running", "ToolResult", "Ai", "TurnEnded"]);
    scene.check();
}

#[tokio::test]
async fn nothing_runs_of_a_reply_that_cannot_be_recorded_and_it_is_not_asked_for_again() {
    let scene = Scene::begun(ToolKind::Execute, 0).await;
    scene.host.is_full.store(true, Ordering::SeqCst);
    assert_eq!(run_turn(&scene.cx).await, Err(AgentError::Journal(JournalError::DiskFull)));
    assert_eq!(scene.runs.load(Ordering::SeqCst), 0);
    assert_eq!(scene.seen(), ["TurnStarted"]);

    scene.host.is_full.store(false, Ordering::SeqCst);
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    assert_eq!(scene.runs.load(Ordering::SeqCst), 1);
    assert_eq!(scene.seen(), ["TurnStarted", "Ai + CallStarted", "running", "ToolResult", "Ai + TurnEnded"]);
    scene.check();
}

#[tokio::test(start_paused = true)]
async fn a_stop_right_after_a_reply_keeps_it() {
    let scene = Scene::begun(ToolKind::Read, 60_000).await;
    let stop = async {
        while scene.runs.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        scene.cx.cancel().cancel();
    };
    let (end, ()) = tokio::join!(run_turn(&scene.cx), stop);
    assert_eq!(end, Ok(TurnEnd::Stopped));
    assert_eq!(scene.seen().first().map(String::as_str), Some("TurnStarted"));
    assert_eq!(scene.seen().iter().filter(|unit| unit.starts_with("Ai")).count(), 1, "{:?}", scene.seen());
    scene.check();
}
