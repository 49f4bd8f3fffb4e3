//! Subagents that work beside the agent, over a model that the test plays by hand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bosun_agent::{
    AgentError, BoxFuture, ChangedFile, ChildStart, EntryBody, Host, Journal, JournalEntry, JournalError, LiveEvent,
    Middleware, NextTool, OpenedChild, Seq, SessionId, SessionLog, State, SubagentMode, SystemClock, TurnContext,
    TurnEnd,
};
use bosun_model::{ChatRequest, HumanMessage, Message, ToolCall};
use bosun_testkit::{DrivenCall, ModelDriver, Project, Reply, ScriptedModel};
use bosun_tools::ToolOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::scene::{Scene, texts};

/// A session whose every model call the test answers; those of the session's own agent and of its subagents are told
/// apart by what they hold.
struct Stage {
    scene: Arc<Scene>,
    driver: ModelDriver,
    held: Vec<DrivenCall>,
}

impl Stage {
    fn new() -> Self {
        let (model, driver) = ScriptedModel::driven();
        let scene = Scene::build(Project::new(), model, vec![], |config| config.background_subagents = true);
        Self { scene: Arc::new(scene), driver, held: Vec::new() }
    }

    /// A turn that goes on while the test answers.
    fn turn(&self, text: &str) -> tokio::task::JoinHandle<TurnEnd> {
        let (scene, text) = (Arc::clone(&self.scene), text.to_owned());
        tokio::spawn(async move { scene.say(&text).await })
    }

    /// The next call whose last message holds `text`; others are kept for later.
    async fn call(&mut self, text: &str) -> DrivenCall {
        loop {
            if let Some(at) = self.held.iter().position(|call| last(&call.request).contains(text)) {
                return self.held.remove(at);
            }
            let call = tokio::time::timeout(std::time::Duration::from_secs(20), self.driver.next()).await;
            let held: Vec<String> = self.held.iter().map(|call| last(&call.request)).collect();
            self.held.push(call.unwrap_or_else(|_| panic!("no call with '{text}', only {held:?}")));
        }
    }

    async fn answer(&mut self, text: &str, reply: impl Into<Reply>) -> ChatRequest {
        let call = self.call(text).await;
        let request = call.request.clone();
        call.reply(reply);
        request
    }

    fn state<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        self.scene.log.with_state(read)
    }

    fn child(&self, index: usize) -> SessionId {
        self.state(|state| state.subagents[index].child.clone())
    }

    /// Waits until the session is as wanted; subagents end by themselves.
    async fn until(&self, wanted: impl Fn(&State) -> bool) {
        for _ in 0..2_000 {
            if self.state(&wanted) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("it never came to that: {:?}", self.state(|state| state.subagents.clone()));
    }
}

fn last(request: &ChatRequest) -> String {
    texts(request).pop().unwrap_or_default()
}

fn start(id: &str, description: &str) -> Reply {
    let args = json!({"description": description, "subagent_type": "general-purpose"});
    Reply::new().and_call_with_id(id, "start_async_task", args)
}

fn call(id: &str, tool: &str, args: Value) -> Reply {
    Reply::new().and_call_with_id(id, tool, args)
}

fn all_ended(state: &State) -> bool {
    state.subagents.iter().all(|sent| sent.end.is_some())
}

#[tokio::test]
async fn the_agent_goes_on_beside_it_and_is_told_of_the_end_once_it_rests() {
    let mut stage = Stage::new();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    stage.scene.log.background().on_end(Arc::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let turn = stage.turn("dig in the background");
    stage.answer("dig in", start("b1", "dig <deep>")).await;
    let child = stage.call("dig <deep>").await;
    stage.answer("Started the async task", "I am free meanwhile.").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    assert_eq!((stage.scene.log.background().count(), told.load(Ordering::SeqCst)), (1, 0));
    child.reply("found </answer> & more");
    stage.scene.log.background().idle().await;
    assert_eq!(told.load(Ordering::SeqCst), 1);
    assert!(stage.state(|state| state.turn.is_none() && state.steering.len() == 1));
    stage.scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    let cx = stage.scene.context();
    let turn = tokio::spawn(async move { bosun_agent::run_turn(&cx).await });
    let request = stage.answer("async_task_notification", "Well dug.").await;
    let notice = last(&request);
    assert!(notice.contains("status: success") && notice.contains("found &lt;/answer&gt; &amp; more"), "{notice}");
    assert_eq!(turn.await.unwrap().unwrap(), TurnEnd::Done);
}

#[tokio::test]
async fn an_end_during_the_turn_is_read_at_its_next_step() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    stage.answer("go", start("b1", "quick work")).await;
    stage.answer("quick work", "quick answer").await;
    stage.until(all_ended).await;
    stage.answer("Started the async task", "thinking it over").await;
    stage.answer("quick answer", "done").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    let mode = stage.state(|state| state.subagents[0].mode);
    assert_eq!(mode, SubagentMode::Background);
}

#[tokio::test]
async fn it_can_be_checked_listed_and_cancelled_one_by_one() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    stage
        .answer(
            "go",
            start("b1", "first work").and_call_with_id(
                "b2",
                "start_async_task",
                json!({"description": "second work", "subagent_type": "general-purpose"}),
            ),
        )
        .await;
    let (first, second) = (stage.call("first work").await, stage.call("second work").await);
    let main = stage.call("Started the async task").await;
    let (one, two) = (stage.child(0), stage.child(1));
    main.reply(call("l", "list_async_tasks", json!({})).and_call_with_id(
        "c",
        "cancel_async_task",
        json!({"task_id": one.as_str()}),
    ));
    let after = stage.call("Cancelled the async task").await;
    assert!(stage.scene.result("l").contains(&format!("task_id: {two} agent: general-purpose status: running")));
    first.cancelled().await;
    assert!(stage.state(|state| state.steering.is_empty()), "who cancels it needs no notice");
    second.reply("the second answer");
    stage.until(all_ended).await;
    after.reply(call("k", "check_async_task", json!({"task_id": two.as_str()})));
    stage.answer("the second answer", "done").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    let report: Value = serde_json::from_str(&stage.scene.result("k")).unwrap();
    assert_eq!(report, json!({"status": "success", "thread_id": two.as_str(), "result": "the second answer"}));
    let ends = stage.state(|state| state.subagents.iter().map(|sent| sent.end.clone()).collect::<Vec<_>>());
    assert_eq!(ends, [Some(TurnEnd::Stopped), Some(TurnEnd::Done)]);
}

#[tokio::test]
async fn one_that_answered_is_asked_something_more_and_remembers() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    let task = json!({"description": "count the files", "subagent_type": "general-purpose"});
    stage.answer("go", call("t", "task", task)).await;
    stage.answer("count the files", "seven files").await;
    let main = stage.call("seven files").await;
    let child = stage.child(0);
    main.reply(call("u", "update_async_task", json!({"task_id": child.as_str(), "message": "and the folders?"})));
    let more = stage.answer("and the folders?", "two folders").await;
    assert_eq!(texts(&more), ["count the files", "seven files", "and the folders?"]);
    stage.until(all_ended).await;
    stage.answer("Told the async task", "waiting").await;
    stage.answer("two folders", "done").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
}

/// What it said in this turn is its answer; what it said in another is none to what it is asked now.
#[tokio::test]
async fn a_last_reply_that_is_empty_takes_no_answer_away_and_brings_no_old_one() {
    let mut stage = Stage::new();
    let look = || call("l", "ls", json!({"path": "/"}));
    let turn = stage.turn("go");
    stage.answer("go", start("b", "count the files")).await;
    stage.answer("count the files", look().and_text("seven files")).await;
    stage.answer("No files found", "").await;
    stage.until(all_ended).await;
    let child = stage.child(0);
    stage.answer("Started the async task", call("k", "check_async_task", json!({"task_id": child.as_str()}))).await;
    let mut answered = stage.call("async_task_notification").await;
    let report = |stage: &Stage, id: &str| serde_json::from_str::<Value>(&stage.scene.result(id)).unwrap();
    assert_eq!(report(&stage, "k"), json!({"status": "success", "thread_id": child.as_str(), "result": "seven files"}));
    let notice = last(&answered.request);
    assert!(
        notice.contains("status: success") && notice.contains("seven files") && !notice.contains("reason"),
        "{notice}"
    );
    answered.reply(call("u", "update_async_task", json!({"task_id": child.as_str(), "message": "and the folders?"})));
    stage.answer("and the folders?", "").await;
    stage.until(all_ended).await;
    stage.answer("Told the async task", "meanwhile").await;
    answered = stage.call("async_task_notification").await;
    let notice = last(&answered.request);
    assert!(notice.contains("status: error") && !notice.contains("seven files"), "{notice}");
    answered.reply("done");
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
}

#[tokio::test]
async fn a_message_interrupts_the_work_or_waits_for_its_end() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    stage.answer("go", start("b", "long work")).await;
    let long = stage.call("long work").await;
    let main = stage.call("Started the async task").await;
    let child = stage.child(0);
    let update = |id: &str, message: &str, strategy: &str| {
        let args = json!({"task_id": child.as_str(), "message": message, "strategy": strategy});
        call(id, "update_async_task", args)
    };
    main.reply(update("u1", "rather this", "interrupt"));
    long.cancelled().await;
    let this = stage.call("rather this").await;
    stage.answer("Told the async task", update("u2", "and then that", "enqueue")).await;
    let main = stage.call("Told the async task").await;
    assert!(this.text("still at this"), "it was not interrupted");
    this.reply("");
    stage.answer("and then that", "all of it").await;
    stage.until(all_ended).await;
    main.reply("waiting");
    let told = stage.answer("all of it", "done").await;
    assert_eq!(texts(&told).iter().filter(|text| text.contains("async_task_notification")).count(), 1);
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
}

#[tokio::test]
async fn a_person_stops_one_subagent_and_the_others_go_on() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    let task = json!({"description": "awaited work", "subagent_type": "general-purpose"});
    stage.answer("go", start("b", "work beside").and_call_with_id("t", "task", task)).await;
    let (beside, awaited) = (stage.call("work beside").await, stage.call("awaited work").await);
    let of = |stage: &Stage, call: &str| {
        stage.state(|state| {
            state.subagents.iter().find(|sent| sent.call_id.as_str() == call).map(|sent| sent.child.clone()).unwrap()
        })
    };
    assert!(stage.scene.log.cancel_child(&of(&stage, "t")));
    awaited.cancelled().await;
    let main = stage.call("it was stopped").await;
    assert!(stage.scene.log.cancel_child(&of(&stage, "b")));
    beside.cancelled().await;
    stage.until(all_ended).await;
    main.reply("hm");
    stage.answer("status: cancelled", "done").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    assert!(!stage.scene.log.cancel_child(&of(&stage, "b")), "it is at no work any more");
}

#[tokio::test]
async fn it_goes_on_when_the_session_goes_on_after_a_restart() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    stage.answer("go", start("b", "long work")).await;
    let child = stage.call("long work").await;
    stage.answer("Started the async task", "meanwhile").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    stage.scene.log.background().let_go();
    child.cancelled().await;
    // The journals are all that is left.
    let (host, agent) = (Arc::clone(&stage.scene.host), Arc::clone(&stage.scene.agent));
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &host.entries()));
    assert_eq!(log.with_state(|state| state.at_work_beside().count()), 1);
    let message = HumanMessage { id: "h2".into(), content: vec!["and now?".into()] };
    log.record(vec![EntryBody::TurnStarted { turn: 2, message }]).await.unwrap();
    let cx = bosun_agent::TurnContext::new(agent, Arc::clone(&log), Default::default(), Default::default());
    let turn = tokio::spawn(async move { bosun_agent::run_turn(&cx).await });
    stage.answer("long work", "the late answer").await;
    let main = stage.call("and now?").await;
    log.background().idle().await;
    main.reply("let me see");
    stage.answer("the late answer", "done").await;
    assert_eq!(turn.await.unwrap().unwrap(), TurnEnd::Done);
    assert_eq!(State::of_journal(&host.entries()), log.with_state(Clone::clone));
}

#[tokio::test]
async fn a_turn_that_only_an_end_begins_has_no_limits_of_its_own() {
    let (model, driver) = ScriptedModel::driven();
    let scene = Scene::build(Project::new(), model, vec![], |config| {
        config.background_subagents = true;
        config.guards.max_steps = Some(3);
    });
    let mut stage = Stage { scene: Arc::new(scene), driver, held: Vec::new() };
    let turn = stage.turn("go");
    stage.answer("go", start("b", "a long dig")).await;
    let child = stage.call("a long dig").await;
    stage.answer("Started the async task", "meanwhile").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    child.reply("answer");
    stage.scene.log.background().idle().await;
    stage.scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    let end = bosun_agent::run_turn(&stage.scene.context()).await.unwrap();
    assert!(matches!(&end, TurnEnd::Failed { reason, .. } if reason.contains("limit of 3 model calls")), "{end:?}");
}

/// A host that refuses, once each, to record entries of these names, also those of its subagents, and counts these.
struct Flaky {
    inner: Arc<dyn Host>,
    refused: Arc<Mutex<Vec<&'static str>>>,
    /// How often the journal of a subagent was opened.
    opened: Arc<AtomicUsize>,
    /// Where it is set, the next end of a subagent tells that it comes and is recorded once it may.
    slow: Arc<Mutex<Option<Slow>>>,
}

type Slow = (oneshot::Sender<()>, oneshot::Receiver<()>);

impl Flaky {
    fn over(inner: Arc<dyn Host>) -> Self {
        Self { inner, refused: Arc::default(), opened: Arc::default(), slow: Arc::default() }
    }
}

impl Journal for Flaky {
    fn append(&self, entries: Vec<JournalEntry>) -> BoxFuture<'_, Result<Seq, JournalError>> {
        let mut refused = self.refused.lock().unwrap();
        let is_meant = |name: &&str| entries.iter().any(|entry| format!("{:?}", entry.body).starts_with(*name));
        if let Some(at) = refused.iter().position(is_meant) {
            refused.remove(at);
            return Box::pin(async { Err(JournalError::DiskFull) });
        }
        let slow = self.slow.lock().unwrap().take_if(|_| is_meant(&"SubagentEnded"));
        Box::pin(async move {
            if let Some((comes, may)) = slow {
                comes.send(()).unwrap();
                may.await.unwrap();
            }
            self.inner.journal().append(entries).await
        })
    }
}

impl Host for Flaky {
    fn session(&self) -> &SessionId {
        self.inner.session()
    }

    fn journal(&self) -> &dyn Journal {
        self
    }

    fn emit(&self, event: LiveEvent) {
        self.inner.emit(event);
    }

    fn child(&self, start: ChildStart) -> BoxFuture<'_, Result<OpenedChild, JournalError>> {
        Box::pin(async move {
            self.opened.fetch_add(1, Ordering::SeqCst);
            let OpenedChild { host, entries } = self.inner.child(start).await?;
            let (refused, opened, slow) = (Arc::clone(&self.refused), Arc::clone(&self.opened), Arc::clone(&self.slow));
            Ok(OpenedChild { host: Arc::new(Self { inner: host, refused, opened, slow }), entries })
        })
    }

    fn changed_files(&self) -> BoxFuture<'_, Result<Vec<ChangedFile>, JournalError>> {
        self.inner.changed_files()
    }
}

#[tokio::test]
async fn one_whose_journal_fails_has_failed_and_one_that_no_run_holds_is_not_running() {
    for refused in [vec!["Ai "], vec!["Ai ", "SubagentEnded"]] {
        let (model, driver) = ScriptedModel::driven();
        let mut scene = Scene::build(Project::new(), model, vec![], |config| config.background_subagents = true);
        let flaky = Flaky::over(Arc::clone(&scene.host) as _);
        let refuse = Arc::clone(&flaky.refused);
        scene.log = Arc::new(SessionLog::open(Arc::new(flaky), Arc::new(SystemClock), &[]));
        let mut stage = Stage { scene: Arc::new(scene), driver, held: Vec::new() };
        let turn = stage.turn("go");
        stage.answer("go", start("b", "long work")).await;
        let (child, main) = (stage.call("long work").await, stage.call("Started the async task").await);
        let (id, is_told) = (stage.child(0), refused.len() == 1);
        *refuse.lock().unwrap() = refused;
        child.reply("this is lost");
        stage.scene.log.background().idle().await;
        assert!(refuse.lock().unwrap().is_empty());
        let end = |stage: &Stage| stage.state(|state| state.subagents[0].end.clone());
        if is_told {
            let Some(TurnEnd::Failed { reason, .. }) = end(&stage) else { panic!("{:?}", end(&stage)) };
            assert!(reason.contains("the disk is full"), "{reason}");
            main.reply("hm");
            stage.answer("status: error", "done").await;
        } else {
            assert_eq!(end(&stage), None);
            let task = json!({"task_id": id.as_str()});
            main.reply(call("k", "check_async_task", task.clone()));
            let main = stage.call("could not go on").await;
            assert_eq!(serde_json::from_str::<Value>(&stage.scene.result("k")).unwrap()["status"], "error");
            main.reply(call("c", "cancel_async_task", task));
            stage.answer("Cancelled the async task", "done").await;
            assert_eq!(end(&stage), Some(TurnEnd::Stopped));
        }
        assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    }
}

/// A member of somebody's stack that panics at what subagents call.
struct Breaks;

impl Middleware for Breaks {
    fn name(&self) -> &'static str {
        "Breaks"
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        assert_eq!(cx.depth(), 0, "on purpose");
        next.run(call)
    }
}

#[tokio::test]
async fn one_that_panics_ends_its_own_turn_with_a_result_for_every_call() {
    let args = json!({"description": "break", "subagent_type": "general-purpose"});
    let model = ScriptedModel::by(move |request| match texts(request).last().unwrap().as_str() {
        "go" => Reply::new().and_call_with_id("b", "start_async_task", args.clone()),
        "break" => call("l", "ls", json!({"path": "/"})),
        _ => Reply::text("done"),
    });
    let scene = Scene::build(Project::new(), model, vec![], |config| {
        config.background_subagents = true;
        config.everywhere = vec![Arc::new(Breaks)];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    scene.log.background().idle().await;
    let told = scene.log.with_state(|state| state.subagents[0].end.clone());
    let Some(TurnEnd::Failed { reason, .. }) = &told else { panic!("{told:?}") };
    assert!(reason.contains("a part of the program broke"), "{reason}");
    let child = scene.child("b");
    let (open, end, step) =
        child.with_state(|state| (state.turn.is_some(), state.last_end.clone(), state.step.clone()));
    assert_eq!((open, end, step), (false, told, None));
    let results =
        |state: &State| state.messages.iter().filter(|message| matches!(&***message, Message::Tool(_))).count();
    assert_eq!(child.with_state(results), 1);
}

#[tokio::test]
async fn who_has_ended_is_listed_without_its_journal_and_not_kept_in_memory() {
    let (model, driver) = ScriptedModel::driven();
    let mut scene = Scene::build(Project::new(), model, vec![], |config| config.background_subagents = true);
    let flaky = Flaky::over(Arc::clone(&scene.host) as _);
    let opened = Arc::clone(&flaky.opened);
    scene.log = Arc::new(SessionLog::open(Arc::new(flaky), Arc::new(SystemClock), &[]));
    let mut stage = Stage { scene: Arc::new(scene), driver, held: Vec::new() };
    let turn = stage.turn("go");
    let task = json!({"description": "awaited work", "subagent_type": "general-purpose"});
    stage.answer("go", start("b", "quick work").and_call_with_id("t", "task", task)).await;
    stage.answer("quick work", "quick answer").await;
    stage.until(|state| state.subagents.iter().any(|sent| sent.end.is_some())).await;
    stage.answer("awaited work", "awaited answer").await;
    let main = stage.call("async_task_notification").await;
    stage.scene.log.background().idle().await;
    let children = stage.state(|state| state.subagents.iter().map(|sent| sent.child.clone()).collect::<Vec<_>>());
    for child in &children {
        assert!(stage.scene.log.find(child).is_none(), "the log of {child} was let go");
    }
    let before = opened.load(Ordering::SeqCst);
    main.reply(call("l", "list_async_tasks", json!({})));
    let main = stage.call("2 async tasks").await;
    assert_eq!(opened.load(Ordering::SeqCst), before, "a list opens no journal of who has ended");
    assert_eq!(stage.scene.result("l").matches("status: success").count(), 2, "{}", stage.scene.result("l"));
    // What it answered is in its journal.
    let asked = stage.state(|state| state.subagents.iter().find(|sent| sent.name == "general-purpose").cloned());
    main.reply(call("k", "check_async_task", json!({"task_id": asked.unwrap().child.as_str()})));
    stage.answer("answer", "done").await;
    assert_eq!(opened.load(Ordering::SeqCst), before + 1);
    assert!(children.iter().all(|child| stage.scene.log.find(child).is_none()), "nobody looks any more");
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
}

#[tokio::test]
async fn a_log_that_somebody_holds_is_the_only_one_over_its_journal() {
    let mut stage = Stage::new();
    let turn = stage.turn("go");
    let task = json!({"description": "count the files", "subagent_type": "general-purpose"});
    stage.answer("go", call("t", "task", task)).await;
    let child = stage.call("count the files").await;
    let id = stage.child(0);
    let held = stage.scene.log.find(&id).unwrap();
    child.reply("seven files");
    let main = stage.call("seven files").await;
    main.reply(call("u", "update_async_task", json!({"task_id": id.as_str(), "message": "and the folders?"})));
    stage.answer("and the folders?", "two folders").await;
    stage.until(all_ended).await;
    assert_eq!(held.with_state(|state| state.turns), 2, "what it does now is seen by who looks at it");
    stage.answer("Told the async task", "waiting").await;
    stage.answer("two folders", "done").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    drop(held);
}

#[tokio::test]
async fn one_that_ends_by_itself_while_all_are_stopped_begins_no_turn() {
    let (model, driver) = ScriptedModel::driven();
    let mut scene = Scene::build(Project::new(), model, vec![], |config| config.background_subagents = true);
    let flaky = Flaky::over(Arc::clone(&scene.host) as _);
    let (comes, coming) = oneshot::channel();
    let (may, allowed) = oneshot::channel();
    *flaky.slow.lock().unwrap() = Some((comes, allowed));
    scene.log = Arc::new(SessionLog::open(Arc::new(flaky), Arc::new(SystemClock), &[]));
    let mut stage = Stage { scene: Arc::new(scene), driver, held: Vec::new() };
    let begun = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    let runs = Arc::clone(stage.scene.log.background());
    runs.on_end(Arc::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let turn = stage.turn("go");
    stage.answer("go", start("b", "quick work")).await;
    let child = stage.call("quick work").await;
    stage.answer("Started the async task", "meanwhile").await;
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    child.reply("quick answer");
    coming.await.unwrap();
    // The person stops all when the end is not recorded yet.
    tokio::join!(biased; runs.stop_all(), async { may.send(()).unwrap() });
    assert!(stage.state(all_ended));
    assert_eq!(begun.load(Ordering::SeqCst), 0, "nobody is told to begin a turn");
}
