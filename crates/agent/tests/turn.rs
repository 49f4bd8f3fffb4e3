//! The loop over a scripted model, an in-memory journal and a backend that only counts.
//!
//! What is checked here holds for every tool and every host: results in call order, one fact once, a turn that can be
//! dropped at any entry and taken up again.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may spawn and fail loudly")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bosun_agent::{
    Activity, Agent, AgentParts, EntryBody, Limits, LiveEvent, MemoryHost, Policy, Recorded, SessionLog, State,
    SystemClock, ToolOutcome, TurnContext, TurnEnd, UuidSource, run_turn,
};
use bosun_model::{HumanMessage, Message, ModelErrorKind, ToolStatus};
use bosun_testkit::{Ending, Part, Reply, Scripted, ScriptedModel};
use bosun_tools::{DynTool, StateUpdate, Todo, TodoStatus, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

#[path = "turn/support.rs"]
mod support;

use support::NoFiles;

/// Waits at a barrier until `together` calls run at once, then answers with its name.
struct Meet {
    barrier: Arc<Barrier>,
    runs: Arc<AtomicU32>,
}

#[derive(Deserialize, JsonSchema)]
struct MeetInput {
    name: String,
}

impl Tool for Meet {
    const NAME: &'static str = "meet";
    type Input = MeetInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "meets the others".into()
    }

    async fn call(&self, _cx: &ToolContext, input: MeetInput) -> Result<ToolOutput, ToolError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.barrier.wait().await;
        Ok(ToolOutput::text(input.name))
    }
}

/// Panics, fails, waits for ever, tells what it did when it is stopped, or plans, as asked.
struct Act;

#[derive(Deserialize, JsonSchema)]
struct ActInput {
    how: String,
}

impl Tool for Act {
    const NAME: &'static str = "act";
    type Input = ActInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "acts".into()
    }

    async fn call(&self, cx: &ToolContext, input: ActInput) -> Result<ToolOutput, ToolError> {
        match input.how.as_str() {
            "panic" => panic!("on purpose"),
            "fail" => Err(ToolError::Model("Error: no".into())),
            "wait" => {
                cx.cancel.cancelled().await;
                Err(ToolError::Cancelled)
            }
            "tell" => {
                cx.cancel.cancelled().await;
                Ok(ToolOutput { stopped: true, ..ToolOutput::error("half of it") })
            }
            "plan" => {
                let todos = vec![Todo { content: "one".into(), status: TodoStatus::InProgress }];
                Ok(ToolOutput {
                    update: StateUpdate { todos: Some(todos), ..StateUpdate::default() },
                    ..ToolOutput::text("planned")
                })
            }
            other => Ok(ToolOutput::text(other)),
        }
    }
}

struct Scene {
    model: Arc<ScriptedModel>,
    host: Arc<MemoryHost>,
    cx: TurnContext,
    runs: Arc<AtomicU32>,
}

fn agent(model: Arc<ScriptedModel>, tools: Vec<Arc<dyn DynTool>>, limits: Limits) -> Arc<Agent> {
    Arc::new(
        Agent::new(AgentParts {
            name: "main".into(),
            model,
            middleware: vec![],
            tools,
            system: vec![],
            backend: Arc::new(NoFiles),
            blobs: None,
            subagents: None,
            limits,
            ids: Arc::new(UuidSource),
            policy: Policy::default(),
        })
        .unwrap(),
    )
}

fn scene_from(entries: Vec<Recorded>, replies: Vec<Scripted>, together: usize, limits: Limits) -> Scene {
    let model = Arc::new(ScriptedModel::new(replies));
    let runs = Arc::new(AtomicU32::new(0));
    let meet = Meet { barrier: Arc::new(Barrier::new(together)), runs: Arc::clone(&runs) };
    let host = Arc::new(MemoryHost::with_entries("s".into(), entries.clone()));
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &entries));
    let agent = agent(Arc::clone(&model), vec![erase(meet), erase(Act)], limits);
    let cx = TurnContext::new(agent, log, CancellationToken::new(), Activity::default());
    Scene { model, host, cx, runs }
}

async fn scene(replies: Vec<Scripted>, together: usize) -> Scene {
    let scene = scene_from(vec![], replies, together, Limits::default());
    begin(&scene.cx).await;
    scene
}

async fn begin(cx: &TurnContext) {
    let message = HumanMessage { id: "h".into(), content: vec!["go".into()] };
    cx.log().record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
}

fn results(scene: &Scene) -> Vec<(String, ToolStatus, String)> {
    scene.cx.log().with_state(|state| {
        state
            .messages
            .iter()
            .filter_map(|message| match &**message {
                Message::Tool(result) => Some((result.call_id.to_string(), result.status, result.text())),
                Message::System(_) | Message::Human(_) | Message::Ai(_) => None,
            })
            .collect()
    })
}

fn call(name: &str, args: serde_json::Value, id: &str) -> Reply {
    Reply::default().and_call_with_id(id, name, args)
}

#[tokio::test]
async fn calls_of_a_step_run_side_by_side_and_their_results_stand_in_call_order() {
    let reply = call("meet", json!({"name": "a"}), "1")
        .and_call_with_id("2", "meet", json!({"name": "b"}))
        .and_call_with_id("3", "act", json!({"how": "quick"}))
        .and_call_with_id("4", "meet", json!({"name": "c"}));
    let scene = scene(vec![reply.into(), "done".into()], 3).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let ids: Vec<String> = results(&scene).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["1", "2", "3", "4"]);
    assert_eq!(scene.runs.load(Ordering::SeqCst), 3);
    assert_eq!(scene.model.requests().len(), 2);
}

#[tokio::test]
async fn every_failure_inside_a_tool_is_an_error_result() {
    let reply = call("act", json!({"how": "panic"}), "1")
        .and_call_with_id("2", "act", json!({"how": "fail"}))
        .and_call_with_id("3", "nope", json!({}))
        .and_call_with_id("4", "act", json!({"how": 5}));
    let scene = scene(vec![reply.into(), "done".into()], 1).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let results = results(&scene);
    assert_eq!(results.iter().filter(|(_, status, _)| *status == ToolStatus::Error).count(), 4);
    assert!(results[2].2.contains("nope is not a valid tool"), "{:?}", results[2]);
    assert!(results[3].2.contains("Error invoking tool 'act'"), "{:?}", results[3]);
}

#[tokio::test]
async fn the_name_of_a_tool_that_is_none_does_not_come_back_whole() {
    let reply = call(&"nope".repeat(30_000), json!({}), "1");
    let scene = scene(vec![reply.into(), "done".into()], 1).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let text = &results(&scene)[0].2;
    assert!(text.contains("nope is not a valid tool") && text.len() < 1_000, "{text:.300}");
}

#[tokio::test]
async fn the_live_state_is_the_fold_of_the_journal() {
    let reply = call("act", json!({"how": "plan"}), "1").and_call_with_id("2", "meet", json!({"name": "a"}));
    let scene = scene(vec![reply.into(), "done".into()], 1).await;
    run_turn(&scene.cx).await.unwrap();
    let entries = scene.host.entries();
    let folded = State::fold(entries.iter().map(|recorded| &recorded.entry));
    scene.cx.log().with_state(|live| assert_eq!(&folded, live));
    assert_eq!(folded.todos.len(), 1);
}

#[tokio::test]
async fn a_turn_cut_at_any_entry_goes_on_to_the_same_end_and_repeats_nothing_recorded() {
    let step = || call("meet", json!({"name": "a"}), "1").and_call_with_id("2", "act", json!({"how": "hello"}));
    let whole = scene(vec![step().into(), "done".into()], 1).await;
    run_turn(&whole.cx).await.unwrap();
    let entries = whole.host.entries();
    for cut in 1..entries.len() {
        let head = entries[..cut].to_vec();
        let replied = head.iter().filter(|r| matches!(r.entry.body, EntryBody::Ai { .. })).count();
        let rest: Vec<Scripted> = [Scripted::from(step()), "done".into()].into_iter().skip(replied).collect();
        let scene = scene_from(head.clone(), rest, 1, Limits::default());
        assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done), "cut at {cut}");
        let started = head.iter().any(|r| matches!(r.entry.body, EntryBody::CallStarted { .. }));
        let finished = head
            .iter()
            .any(|r| matches!(&r.entry.body, EntryBody::ToolResult { call_id, .. } if call_id.as_str() == "2"));
        let all = results(&scene);
        assert_eq!(all.len(), 2, "cut at {cut}");
        let text = &all[1].2;
        if started && !finished {
            assert!(text.contains("not known"), "cut at {cut}: {text}");
        } else {
            assert_eq!(text, "hello", "cut at {cut}");
        }
    }
}

#[tokio::test]
async fn after_a_stop_every_call_has_a_result() {
    let reply = call("act", json!({"how": "wait"}), "1").and_call_with_id("2", "act", json!({"how": "tell"}));
    let scene = scene(vec![reply.into()], 1).await;
    let cancel = scene.cx.cancel().clone();
    let cx = scene.cx.clone();
    let turn = tokio::spawn(async move { run_turn(&cx).await });
    while scene.host.entries().iter().filter(|r| matches!(r.entry.body, EntryBody::CallStarted { .. })).count() < 2 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    assert_eq!(turn.await.unwrap(), Ok(TurnEnd::Stopped));
    let mut ended: Vec<(String, ToolOutcome, String)> = scene
        .host
        .entries()
        .iter()
        .filter_map(|r| match &r.entry.body {
            EntryBody::ToolResult { call_id, outcome, message, .. } => match &**message {
                Message::Tool(message) => Some((call_id.to_string(), *outcome, message.text())),
                _ => None,
            },
            _ => None,
        })
        .collect();
    ended.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    let cut = "Cancelled by the user while it ran; look at what it may have changed before you repeat it.";
    assert_eq!(
        ended,
        [("1".into(), ToolOutcome::Cancelled, cut.into()), ("2".into(), ToolOutcome::Cancelled, "half of it".into()),]
    );
    scene.cx.log().with_state(|state| assert!(state.step.is_none()));
}

#[tokio::test]
async fn the_step_limit_saves_and_can_be_continued() {
    let replies: Vec<Scripted> = (0..5).map(|n| call("act", json!({"how": "x"}), &n.to_string()).into()).collect();
    let scene = scene_from(vec![], replies, 1, Limits { max_steps: 2, ..Limits::default() });
    begin(&scene.cx).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::StepLimit { limit: 2 }));
    scene.cx.log().record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::StepLimit { limit: 2 }));
    assert_eq!(results(&scene).len(), 4);
}

#[tokio::test]
async fn a_reply_cut_in_the_middle_of_a_call_runs_nothing_and_says_so() {
    let reply = Reply { ending: Ending::CutInCall, ..Reply::text("Let me ").and_call("act", json!({"how": "x"})) };
    let scene = scene(vec![reply.into()], 1).await;
    let end = run_turn(&scene.cx).await.unwrap();
    assert!(matches!(&end, TurnEnd::Failed { reason, .. } if reason.contains("ended before")), "{end:?}");
    let entries = scene.host.entries();
    let failed = entries.iter().find_map(|r| match &r.entry.body {
        EntryBody::ModelFailed { error, partial, .. } => Some((error.kind, partial.clone())),
        _ => None,
    });
    assert_eq!(failed, Some((ModelErrorKind::StreamCut, "Let me ".to_owned())));
    assert_eq!(results(&scene), vec![]);
}

#[tokio::test]
async fn a_reply_with_more_calls_than_it_may_have_is_answered_and_the_turn_goes_on() {
    let calls = bosun_model::MOST_CALLS + 50;
    let reply =
        (0..calls).fold(Reply::new(), |reply, n| reply.and_call_with_id(format!("c{n}"), "act", json!({"how": "x"})));
    let scene = scene(vec![reply.into(), "done".into()], 1).await;
    assert_eq!(run_turn(&scene.cx).await.unwrap(), TurnEnd::Done);
    let results = results(&scene);
    assert_eq!(results.len(), bosun_model::MOST_CALLS + 1);
    let (id, status, text) = results.last().unwrap();
    let told = "Error invoking tool 'act': a reply can make at most 10000 calls, so this one and the 49 after it were left \
                out. It was not run; call it again in full.";
    assert_eq!((id.as_str(), *status, text.as_str()), ("c10000", ToolStatus::Error, told));
}

#[tokio::test]
async fn a_reply_with_nothing_in_it_ends_the_turn() {
    let scene = scene(vec![Reply::text("  ").into()], 1).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Empty));
}

#[tokio::test]
async fn calls_that_share_an_id_are_told_apart() {
    let same = || call("act", json!({"how": "hello"}), "0").and_call_with_id("0", "act", json!({"how": "again"}));
    let scene = scene(vec![same().into(), same().into(), "done".into()], 1).await;
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let ids: std::collections::HashSet<String> = results(&scene).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_of_a_reply_is_saved_within_a_second_also_when_nothing_more_comes() {
    let (model, mut driver) = ScriptedModel::driven();
    let host = Arc::new(MemoryHost::new("s".into()));
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &[]));
    let agent = agent(Arc::new(model), vec![], Limits::default());
    let cx = TurnContext::new(agent, log, CancellationToken::new(), Activity::default());
    begin(&cx).await;
    let drafts = || {
        let entries = host.entries();
        let draft = |recorded: Recorded| match recorded.entry.body {
            EntryBody::Draft { text, .. } => Some(text),
            _ => None,
        };
        entries.into_iter().filter_map(draft).collect::<Vec<_>>()
    };
    let model = async {
        let call = driver.next().await;
        call.text("half a ");
        call.text("sentence");
        tokio::time::sleep(std::time::Duration::from_millis(1_001)).await;
        assert_eq!(drafts(), ["half a sentence"]);
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert_eq!(drafts().len(), 1, "what did not grow is not saved again");
        call.text(", and its end");
        tokio::time::sleep(std::time::Duration::from_millis(1_001)).await;
        assert_eq!(drafts(), ["half a sentence", ", and its end"], "what is saved is not saved again");
    };
    tokio::select! {
        end = run_turn(&cx) => panic!("the turn ended: {end:?}"),
        () = model => {}
    }
}

#[tokio::test]
async fn all_that_was_shown_of_a_reply_is_saved_when_it_comes_to_nothing() {
    let thought = Part::Reasoning { text: "let me see".into(), signature: None };
    let reply = Reply { parts: vec![thought], ending: Ending::CutInCall, ..Reply::default() };
    let scene = scene(vec![reply.and_call("act", json!({"how": "x"})).into()], 1).await;
    run_turn(&scene.cx).await.unwrap();
    let saved: Vec<EntryBody> = scene.host.entries().into_iter().skip(1).map(|recorded| recorded.entry.body).collect();
    assert!(
        matches!(&saved[0], EntryBody::Draft { text, reasoning, .. } if text.is_empty() && reasoning == "let me see")
    );
    assert!(matches!(&saved[1], EntryBody::ModelFailed { .. }), "{saved:?}");
}

#[tokio::test]
async fn a_turn_that_goes_on_behind_the_models_own_words_ends_its_request_with_a_persons() {
    let (model, mut driver) = ScriptedModel::driven();
    let shown = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&shown);
    let host = MemoryHost::new("s".into()).on_live(move |_, event| {
        if matches!(event, LiveEvent::TextDelta { .. }) {
            told.notify_one();
        }
    });
    let host = Arc::new(host);
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &[]));
    let agent = agent(Arc::new(model), vec![], Limits::default());
    let context =
        || TurnContext::new(Arc::clone(&agent), Arc::clone(&log), CancellationToken::new(), Activity::default());
    let stopped = context();
    begin(&stopped).await;
    let model = async {
        let call = driver.next().await;
        call.text("half a sentence");
        shown.notified().await;
        stopped.cancel().cancel();
        call
    };
    let (end, _call) = tokio::join!(run_turn(&stopped), model);
    assert_eq!(end, Ok(TurnEnd::Stopped));
    log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    let model = async {
        let call = driver.next().await;
        let request = call.request.clone();
        call.reply(Reply::text("the other half"));
        request
    };
    let resumed = context();
    let (end, request) = tokio::join!(run_turn(&resumed), model);
    assert_eq!(end, Ok(TurnEnd::Done));
    let said: Vec<&Message> = request.messages.iter().map(|message| &**message).collect();
    assert!(matches!(said[..], [Message::Human(_), Message::Ai(_), Message::Human(_)]), "{said:?}");
    let folded = State::fold(host.entries().iter().map(|recorded| &recorded.entry));
    log.with_state(|live| assert_eq!(&folded, live));
}
