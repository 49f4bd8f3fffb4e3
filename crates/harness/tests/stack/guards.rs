use std::sync::Arc;

use bosun_agent::{
    Decision, DecisionSource, EntryBody, NoteKind, Policy, Recorded, SessionLog, State, SystemClock, TurnEnd, run_turn,
};
use bosun_harness::{Compaction, GuardOptions, SubagentSpec, Threshold};
use bosun_model::{HumanMessage, Message, ModelInfo, Price, Stays, Usage, text_of};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use bosun_tools::erase;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::{Deaf, Scene, scene, texts};

fn usage(input: u64) -> Usage {
    Usage { input: Some(input), output: Some(0), ..Usage::default() }
}

/// A step that costs `input` tokens and lists a folder, another one each time.
fn look(n: usize, input: u64) -> Scripted {
    let args = json!({"path": format!("/{n}")});
    Reply::new().and_call_with_id(format!("c{n}"), "ls", args).usage(usage(input)).into()
}

fn reason(end: TurnEnd) -> String {
    match end {
        TurnEnd::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn tokens_are_counted_over_the_tree_and_the_turn_can_go_on() {
    let task = json!({"description": "look", "subagent_type": "general-purpose"});
    let task = Reply::new().and_call_with_id("t", "task", task).usage(usage(100));
    let replies = vec![task.into(), look(1, 100), look(2, 300), "looked".into(), "done".into()];
    let scene = scene(replies, |config| config.guards.max_tokens = Some(500));
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 500 tokens, subagents included"), "{told}");
    assert!(scene.result("t").contains("its limit of 500 tokens"), "{}", scene.result("t"));
    assert_eq!(scene.model.requests().len(), 3);
    assert_eq!(go_on(&scene).await, TurnEnd::Done);
    // The subagent went on where it was, and nobody heard that it had stopped.
    assert_eq!((&*texts(&scene.request(3))[0], texts(&scene.request(3)).len()), ("look", 5));
    assert_eq!(scene.result("t"), "looked");
    assert_eq!(texts(&scene.request(4)), ["go", "", "looked"]);
}

/// The turn, continued to its end.
async fn go_on(scene: &Scene) -> TurnEnd {
    scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    run_turn(&scene.context()).await.unwrap()
}

/// A model by what its agent was asked first and how many results it has.
fn by_task(reply: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::by(move |request| {
        let results = request.messages.iter().filter(|message| matches!(&***message, Message::Tool(_))).count();
        reply(&texts(request)[0], results)
    })
}

fn send(reply: Reply, task: &str) -> Reply {
    let args = json!({"description": task, "subagent_type": "general-purpose"});
    reply.and_call_with_id(task, "task", args).usage(usage(10))
}

fn list(id: &str, input: u64) -> Reply {
    Reply::new().and_call_with_id(id, "ls", json!({"path": "/"})).usage(usage(input))
}

#[tokio::test]
async fn all_whom_a_limit_of_the_tree_ended_go_on_where_they_were_and_the_others_do_nothing_again() {
    // One is done before the limit, one is beyond it with another below itself.
    let model = by_task(|task, results| match (task, results) {
        ("go", 0) => send(send(Reply::new(), "one"), "two").and_call_with_id("l", "ls", json!({"path": "/"})),
        ("go", _) => Reply::text("done"),
        ("one", _) => Reply::text("one is done"),
        ("two", 0) => send(Reply::new(), "below"),
        ("below", 0) => list("x", 1_000),
        ("below", _) => Reply::text("below is done"),
        (_, _) => Reply::text("two is done"),
    });
    let scene = Scene::build(Project::new(), model, vec![], |config| config.guards.max_tokens = Some(500));
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 500 tokens"), "{told}");
    let requests = scene.model.requests().len();
    // The app is closed and opened meanwhile.
    let log = SessionLog::open(Arc::clone(&scene.host) as _, Arc::new(SystemClock), &scene.host.entries());
    let scene = Scene { log: Arc::new(log), ..scene };
    assert_eq!(go_on(&scene).await, TurnEnd::Done);
    assert_eq!(["one", "two"].map(|id| scene.result(id)), ["one is done", "two is done"]);
    assert_eq!(scene.model.requests().len(), requests + 3, "below, two and the session's own, each once more");
    let child = scene.host.child_of(&"two".into()).unwrap().child_of(&"below".into()).unwrap();
    let began = |recorded: &Recorded| matches!(recorded.entry.body, EntryBody::TurnStarted { .. });
    assert_eq!(child.entries().iter().filter(|recorded| began(recorded)).count(), 1);
    assert_eq!(
        State::fold(scene.host.entries().iter().map(|recorded| &recorded.entry)),
        scene.log.with_state(State::clone)
    );
}

#[tokio::test]
async fn a_limit_that_is_reached_again_can_be_continued_again() {
    let replies = vec![send(Reply::new(), "t").into(), look(1, 500), look(2, 500), "looked".into(), "done".into()];
    let scene = scene(replies, |config| config.guards.max_tokens = Some(500));
    for _ in 0..2 {
        let end =
            if scene.log.with_state(|state| state.turns) == 0 { scene.say("go").await } else { go_on(&scene).await };
        assert!(reason(end).contains("its limit of 500 tokens"));
    }
    assert_eq!(go_on(&scene).await, TurnEnd::Done);
    assert_eq!(scene.result("t"), "looked");
}

#[tokio::test]
async fn what_a_person_says_instead_is_answered_by_a_model_that_knows_how_the_subagent_can_go_on() {
    let replies = vec![send(Reply::new(), "t").into(), look(1, 500), "never mind".into()];
    let scene = scene(replies, |config| {
        config.guards.max_tokens = Some(500);
        config.background_subagents = true;
    });
    assert!(reason(scene.say("go").await).contains("its limit of 500 tokens"));
    assert_eq!(scene.say("leave it").await, TurnEnd::Done);
    let said = texts(&scene.last_request());
    let told = "Error: the subagent did not finish: the turn reached its limit of 500 tokens, subagents included. It knows \
                what it did: update_async_task with the id s/t has it go on.";
    assert_eq!(said, ["go", "", told, "leave it"]);
    // A turn that goes on after that opens nothing again.
    assert!(scene.log.with_state(|state| state.step.is_none()));
}

#[tokio::test]
async fn money_is_counted_by_the_price_of_the_model() {
    let replies: Vec<Scripted> = (0..5).map(|n| look(n, 1_000_000)).collect();
    let info = ModelInfo {
        provider: "scripted".into(),
        name: "dear".into(),
        context_window: None,
        max_output: None,
        abilities: Default::default(),
        price: Some(Price { input: 2.0, output: 8.0, ..Price::FREE }),
        steps: Vec::new(),
        scripted: false,
        stays: Stays::No,
    };
    let model = ScriptedModel::new(replies).with_info(info);
    let scene = Scene::build(Project::new(), model, vec![], |config| config.guards.max_dollars = Some(5.5));
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 5.5 US dollars"), "{told}");
    assert_eq!(scene.model.requests().len(), 3);
}

#[tokio::test]
async fn model_calls_of_the_tree_have_a_limit() {
    let replies: Vec<Scripted> = (0..9).map(|n| look(n, 1)).collect();
    let scene = scene(replies, |config| config.guards.max_steps = Some(4));
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 4 model calls"), "{told}");
    assert_eq!(scene.model.requests().len(), 4);
    assert_eq!(scene.log.with_state(|state| state.step.clone()), None);
}

#[tokio::test]
async fn no_summary_is_asked_for_beyond_a_limit() {
    let steps = (0..2).map(|n| look(n, 300));
    let scene = scene(steps.chain(["the story".into(), "done".into()]).collect(), |config| {
        config.guards.max_tokens = Some(500);
        config.summarization.trigger = vec![Threshold::Messages(5).into()];
        config.summarization.keep = Some(Threshold::Messages(1));
    });
    let told = reason(scene.say(&"please ".repeat(100)).await);
    assert!(told.contains("its limit of 500 tokens"), "{told}");
    assert_eq!(scene.model.requests().len(), 2);
    assert_eq!(scene.log.with_state(Compaction::of), Compaction::default());
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_answer_in_time_ends_the_turn() {
    let (model, mut driver) = ScriptedModel::driven();
    let scene = Scene::build(Project::new(), model, vec![], |config| config.guards.max_seconds = Some(30));
    let (end, _call) = tokio::join!(scene.say("go"), driver.next());
    let told = reason(end);
    assert!(told.contains("its limit of 30 seconds of work"), "{told}");
}

/// A scene with a tool that never ends, and a minute.
fn within_a_minute(replies: Vec<Scripted>) -> Scene {
    scene(replies, |config| {
        config.tools = vec![erase(Deaf)];
        config.background_subagents = true;
        config.guards.max_seconds = Some(60);
    })
}

fn call(id: &str, name: &str, args: serde_json::Value) -> Scripted {
    Reply::new().and_call_with_id(id, name, args).into()
}

#[tokio::test(start_paused = true)]
async fn calls_that_run_when_the_time_is_over_are_ended_with_all_below_them() {
    let task = json!({"description": "wait", "subagent_type": "general-purpose"});
    let replies = vec![call("t", "task", task), call("d", "deaf", json!({})), "waited".into(), "go on".into()];
    let scene = within_a_minute(replies);
    let begun = tokio::time::Instant::now();
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 60 seconds of work"), "{told}");
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
    let child = scene.child("t");
    let ends = [&*scene.log, &child].map(|log| log.with_state(|state| (state.turn.is_some(), state.step.is_some())));
    assert_eq!(ends, [(false, false); 2], "everything has its end and its result");
    let told = reason(child.with_state(|state| state.last_end.clone()).unwrap());
    assert!(told.contains("its limit of 60 seconds of work"), "{told}");
    assert!(
        scene.result("t").contains("did not finish: the turn reached its limit of 60 seconds"),
        "{}",
        scene.result("t")
    );
    // Continued it has a minute again, and so has the subagent.
    assert_eq!(go_on(&scene).await, TurnEnd::Done);
    assert_eq!(scene.result("t"), "waited");
}

#[tokio::test(start_paused = true)]
async fn a_subagent_beside_works_on_the_time_of_its_tree() {
    let start = json!({"description": "wait", "subagent_type": "general-purpose"});
    let model = ScriptedModel::by(move |request| {
        let said: Vec<String> = texts(request);
        let has_results = request.messages.iter().any(|message| matches!(&**message, Message::Tool(_)));
        match (said[0].as_str(), has_results) {
            ("go", false) => Reply::new().and_call_with_id("b", "start_async_task", start.clone()),
            ("go", true) => Reply::text("it is on its way"),
            _ => Reply::new().and_call_with_id("d", "deaf", json!({})),
        }
    });
    let scene = Scene::build(Project::new(), model, vec![], |config| {
        config.tools = vec![erase(Deaf)];
        config.background_subagents = true;
        config.guards.max_seconds = Some(60);
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let begun = tokio::time::Instant::now();
    scene.log.background().idle().await;
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
    let end = scene.log.with_state(|state| state.subagents[0].end.clone());
    assert!(reason(end.unwrap()).contains("its limit of 60 seconds of work"));
    // Its end begins a turn that has no time of its own.
    let requests = scene.model.requests().len();
    scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    let notice = scene.log.with_state(|state| text_of(state.messages.last().unwrap().content()));
    assert!(notice.contains("its limit of 60 seconds"), "{notice}");
    let told = reason(run_turn(&scene.context()).await.unwrap());
    assert!(told.contains("its limit of 60 seconds") && scene.model.requests().len() == requests, "{told}");
    // Who continues it gives it its limits again.
    scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    assert_eq!(run_turn(&scene.context()).await.unwrap(), TurnEnd::Done);
    assert!(scene.model.requests().len() > requests);
}

/// Sends two subagents at once, of which one has its slot: that one waits for what never ends, until it was told so.
fn one_slot(tool: &'static str) -> Scene {
    let send = move |task: &str| json!({"description": task, "subagent_type": "general-purpose"});
    let model = ScriptedModel::by(move |request| {
        let said: Vec<String> = texts(request);
        let has_results = request.messages.iter().any(|message| matches!(&**message, Message::Tool(_)));
        match (said[0].as_str(), has_results) {
            ("go", false) => {
                Reply::new().and_call_with_id("a", tool, send("first")).and_call_with_id("b", tool, send("second"))
            }
            ("go", true) => Reply::text("that is all"),
            ("first", false) => Reply::new().and_call_with_id("d", "deaf", json!({})),
            (task, _) => Reply::text(format!("{task} is done")),
        }
    });
    Scene::build(Project::new(), model, vec![], |config| {
        config.tools = vec![erase(Deaf)];
        config.background_subagents = true;
        config.guards.max_seconds = Some(60);
        config.limits.max_subagents = 1;
    })
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_its_slot_when_the_time_is_over_goes_on_with_the_turn() {
    let scene = one_slot("task");
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 60 seconds of work"), "{told}");
    assert!(scene.result("b").contains("before it ran"), "{}", scene.result("b"));
    assert_eq!(go_on(&scene).await, TurnEnd::Done);
    assert_eq!(["a", "b"].map(|id| scene.result(id)), ["first is done", "second is done"]);
    assert_eq!(State::of_journal(&scene.host.entries()), scene.log.with_state(Clone::clone));
}

#[tokio::test(start_paused = true)]
async fn subagents_beside_that_a_limit_ended_go_on_with_the_turn_whether_they_had_begun_or_not() {
    let scene = one_slot("start_async_task");
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    scene.log.background().idle().await;
    let ends = || scene.log.with_state(|state| state.subagents.iter().map(|sent| sent.end.clone()).collect::<Vec<_>>());
    for end in ends() {
        assert!(reason(end.unwrap()).contains("its limit of 60 seconds of work"));
    }
    // What begins by itself has no limits of its own; who continues it gives all of them theirs again.
    let told = reason(go_on(&scene).await);
    assert!(told.contains("its limit of 60 seconds"), "{told}");
    assert_eq!(go_on(&scene).await, TurnEnd::Done);
    scene.log.background().idle().await;
    assert_eq!(ends(), [Some(TurnEnd::Done), Some(TurnEnd::Done)]);
    // Read or not yet read.
    let told: Vec<HumanMessage> = scene.log.with_state(|state| {
        let humans = state.messages.iter().filter_map(|message| match &**message {
            Message::Human(human) => Some(human.clone()),
            _ => None,
        });
        humans.chain(state.steering.iter().cloned()).collect()
    });
    let ids: std::collections::HashSet<_> = told.iter().map(|message| message.id.clone()).collect();
    assert_eq!(ids.len(), told.len(), "each message has an id of its own");
    let told = told.iter().map(|message| text_of(&message.content)).collect::<Vec<_>>().join("\n");
    assert_eq!(told.matches("had been ended by a limit and goes on now").count(), 2, "{told}");
    assert!(told.contains("first is done") && told.contains("second is done"), "{told}");
    assert!(!told.contains("status: error"), "{told}");
    assert_eq!(State::of_journal(&scene.host.entries()), scene.log.with_state(Clone::clone));
}

/// What the model was told it has to answer for itself.
#[tokio::test(start_paused = true)]
async fn a_subagent_beside_whose_end_the_model_has_read_is_not_taken_up_by_itself() {
    let scene = one_slot("start_async_task");
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    scene.log.background().idle().await;
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    scene.log.record(vec![EntryBody::TurnContinued { turn: 2 }]).await.unwrap();
    assert_eq!(scene.log.with_state(|state| state.at_work_beside().count()), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_person_takes_to_decide_is_no_work() {
    let write = |id: &str, path: &str| call(id, "write_file", json!({"file_path": path, "content": "x"}));
    let scene = scene(vec![write("a", "/a.txt"), write("b", "/b.txt"), "done".into()], |config| {
        config.policy = Policy::default();
        config.guards.max_seconds = Some(30);
    });
    let mut turn = std::pin::pin!(scene.say("go"));
    for id in ["a", "b"] {
        tokio::select! {
            end = &mut turn => panic!("the turn ended: {end:?}"),
            () = tokio::time::sleep(std::time::Duration::from_secs(3_600)) => {}
        }
        let call = id.into();
        let as_given = |_: &str, args: &serde_json::Value| Ok(args.clone());
        let decided = scene.log.decide(&call, None, Decision::Approve, DecisionSource::Person, &as_given);
        decided.await.unwrap();
    }
    assert_eq!(turn.await, TurnEnd::Done);
    assert_eq!(["a.txt", "b.txt"].map(|name| scene.project.read(name)), ["x", "x"]);
}

#[tokio::test]
async fn the_same_failing_call_three_times_ends_the_turn_and_words_of_a_person_free_it() {
    let bad = |id: &str| Scripted::from(Reply::new().and_call_with_id(id, "ls", json!({"path": "/nowhere"})));
    let scene = scene(vec![bad("a"), bad("b"), bad("c"), bad("d"), bad("e"), "done".into()], |_| {});
    let told = reason(scene.say("go").await);
    assert!(told.contains("the same call of ls 3 times"), "{told}");
    scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    let told = reason(run_turn(&scene.context()).await.unwrap());
    assert!(told.contains("the same call of ls 3 times") && scene.model.requests().len() == 4, "{told}");
    assert_eq!(scene.say("once more, then stop").await, TurnEnd::Done);
}

#[tokio::test]
async fn the_same_failing_command_three_times_ends_the_turn_unless_something_was_done() {
    // What looks like Bosun's own words is framed, by another line for each call.
    let make = |id: &str| call(id, "execute", json!({"command": "echo 'make: exit code 2'; exit 1"}));
    let told = reason(scene(vec![make("a"), make("b"), make("c"), "done".into()], |_| {}).say("go").await);
    assert!(told.contains("the same call of execute 3 times"), "{told}");
    let write = call("w", "write_file", json!({"file_path": "/rule", "content": "x"}));
    let mended = scene(vec![make("a"), make("b"), write, make("c"), "done".into()], |_| {});
    assert_eq!(mended.say("go").await, TurnEnd::Done);
    let counted = |id: &str| call(id, "execute", json!({"command": "echo x >> n; wc -l < n; exit 1"}));
    let moving = scene(vec![counted("a"), counted("b"), counted("c"), "done".into()], |_| {});
    assert_eq!(moving.say("go").await, TurnEnd::Done);
    assert_eq!(moving.project.read("n"), "x\nx\nx\n");
}

#[tokio::test]
async fn a_failure_that_says_another_time_is_the_same() {
    let timed = |id: &str| call(id, "execute", json!({"command": "echo \"1 failed in 0.$(date +%N)s\"; exit 1"}));
    let told = reason(scene(vec![timed("a"), timed("b"), timed("c"), "done".into()], |_| {}).say("go").await);
    assert!(told.contains("the same call of execute 3 times"), "{told}");
}

#[tokio::test]
async fn a_person_who_changes_each_call_into_the_same_failing_one_is_told() {
    let look = |id: &str, path: &str| call(id, "ls", json!({"path": path}));
    let replies = vec![look("a", "/one"), look("b", "/two"), look("c", "/three"), "done".into()];
    let scene = scene(replies, |config| {
        config.policy =
            Policy { interrupt_on: [("ls".to_owned(), Some(Default::default()))].into(), ..Policy::default() };
    });
    let mut turn = std::pin::pin!(scene.say("go"));
    for id in ["a", "b", "c"] {
        let decided = async {
            let id = id.into();
            while !scene.log.with_state(|state| state.open_call(&id).is_some_and(bosun_agent::OpenCall::is_waiting)) {
                tokio::task::yield_now().await;
            }
            let edit = Decision::Edit { args: json!({"path": "/nowhere"}) };
            let as_given = |_: &str, args: &serde_json::Value| Ok(args.clone());
            scene.log.decide(&id, None, edit, DecisionSource::Person, &as_given).await.unwrap();
        };
        tokio::select! {
            end = &mut turn => panic!("the turn ended: {end:?}"),
            () = decided => {}
        }
    }
    let told = reason(turn.await);
    assert!(told.contains("the same call of ls 3 times"), "{told}");
}

/// What was said of a limit of money that does not hold.
fn uncounted(scene: &Scene) -> Vec<String> {
    let notes = scene.host.entries().into_iter().filter_map(|recorded| match recorded.entry.body {
        EntryBody::Noted { kind: NoteKind::PriceUnknown, detail, .. } => Some(detail),
        _ => None,
    });
    notes.collect()
}

#[tokio::test]
async fn a_limit_of_money_that_does_not_count_a_model_is_said_once_a_turn() {
    let task = |id: &str| call(id, "task", json!({"description": "look", "subagent_type": "reader"}));
    let info = |name: &str, price| ModelInfo {
        provider: "house".into(),
        name: name.into(),
        context_window: None,
        max_output: None,
        abilities: Default::default(),
        price,
        steps: Vec::new(),
        scripted: false,
        stays: Stays::No,
    };
    let price = Price { input: 2.0, output: 8.0, ..Price::FREE };
    let of_turn = |own: Option<Price>, readers: Option<Price>, max_dollars: Option<f64>| async move {
        let model = ScriptedModel::new(vec![task("a"), task("b"), "done".into()]).with_info(info("main", own));
        let reader = ScriptedModel::new(["read", "read"]).with_info(info("small", readers));
        let scene = Scene::build(Project::new(), model, vec![], |config| {
            config.guards.max_dollars = max_dollars;
            config.models.insert("house:small".into(), Arc::new(reader));
            config.subagents = vec![SubagentSpec {
                name: "reader".into(),
                description: "Reads.".into(),
                model: Some("house:small".into()),
                ..SubagentSpec::default()
            }];
        });
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        uncounted(&scene)
    };
    let told = |model: &str| {
        vec![format!(
            "A turn may cost $2.5, but the price of house:{model} is not known, so its cost is not counted. Enter the \
             price in Settings, Models, or set a limit of tokens"
        )]
    };
    assert_eq!(of_turn(None, None, Some(2.5)).await, told("main"));
    assert_eq!(of_turn(Some(price), None, Some(2.5)).await, told("small"));
    assert_eq!(of_turn(Some(price), Some(price), Some(2.5)).await, Vec::<String>::new());
    assert_eq!(of_turn(None, None, None).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_guard_against_repetition_can_be_taken_off() {
    let bad = |n: usize| Scripted::from(Reply::new().and_call_with_id(format!("c{n}"), "ls", json!({"path": "/no"})));
    let replies: Vec<Scripted> = (0..6).map(bad).chain(["done".into()]).collect();
    let options = GuardOptions { same_failures: 0, ..GuardOptions::default() };
    let scene = scene(replies, |config| config.guards = options);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
}

#[tokio::test]
async fn a_reply_with_nothing_in_it_ends_the_turn() {
    let scene = scene(vec!["".into()], |_| {});
    assert_eq!(scene.say("go").await, TurnEnd::Empty);
}

/// What some servers say of what a reply took.
fn nothing_said() -> Usage {
    Usage::default()
}

#[tokio::test]
async fn a_reply_without_usage_counts_as_what_it_is_estimated_at() {
    let quiet = |n: usize| {
        let args = json!({"path": format!("/{n}")});
        Scripted::from(Reply::new().and_call_with_id(format!("c{n}"), "ls", args).usage(nothing_said()))
    };
    let scene = scene((0..5).map(quiet).collect(), |config| config.guards.max_tokens = Some(10));
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 10 tokens"), "{told}");
    assert_eq!(scene.model.requests().len(), 1);
    // Money, by the estimate; and half of what is to be known is not all of it.
    for usage in [nothing_said(), usage(1)] {
        let usage = Usage { output: None, ..usage };
        let words = "word ".repeat(1_000);
        let reply = |n: usize| Reply::text(words.clone()).and_call_with_id(format!("c{n}"), "ls", json!({"path": "/"}));
        let replies = (0..5).map(|n| reply(n).usage(usage));
        let price = Price { input: 0.0, output: 1_000.0, ..Price::FREE };
        let info = ModelInfo {
            provider: "house".into(),
            name: "quiet".into(),
            context_window: None,
            max_output: None,
            abilities: Default::default(),
            price: Some(price),
            steps: Vec::new(),
            scripted: false,
            stays: Stays::No,
        };
        let model = ScriptedModel::new(replies).with_info(info);
        let scene = Scene::build(Project::new(), model, vec![], |config| config.guards.max_dollars = Some(2.0));
        let told = reason(scene.say("go").await);
        assert!(told.contains("its limit of 2 US dollars"), "{told}");
        assert_eq!(scene.model.requests().len(), 2, "about 1,250 tokens each");
    }
}

#[tokio::test]
async fn a_summary_without_usage_counts_as_what_it_is_estimated_at() {
    let long = |n: usize| Reply::text(format!("{n}: {}", "and so on ".repeat(500))).usage(usage(1)).into();
    let summary = Reply::text("the story so far").usage(nothing_said()).into();
    let scene = scene((0..3).map(long).chain([summary, "four".into()]).collect(), |config| {
        config.guards.max_tokens = Some(2_000);
        config.summarization.trigger = vec![Threshold::Messages(6).into()];
        config.summarization.keep = Some(Threshold::Messages(2));
    });
    for turn in 0..3 {
        assert_eq!(scene.say(&format!("request {turn}")).await, TurnEnd::Done);
    }
    let told = reason(scene.say("and now?").await);
    assert!(told.contains("its limit of 2000 tokens"), "{told}");
    assert_eq!(scene.model.requests().len(), 4, "nothing after the summary");
}
