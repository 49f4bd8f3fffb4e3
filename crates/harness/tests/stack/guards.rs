use bosun_agent::{EntryBody, TurnEnd, run_turn};
use bosun_harness::GuardOptions;
use bosun_model::{ModelInfo, Price, Usage};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::{Scene, scene};

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
    let replies = vec![task.into(), look(1, 100), look(2, 300), "done".into()];
    let scene = scene(replies, |config| config.guards.max_tokens = Some(500));
    let told = reason(scene.say("go").await);
    assert!(told.contains("its limit of 500 tokens, subagents included"), "{told}");
    assert!(scene.result("t").contains("its limit of 500 tokens"), "{}", scene.result("t"));
    assert_eq!(scene.model.requests().len(), 3);
    scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    assert_eq!(run_turn(&scene.context()).await, Ok(TurnEnd::Done));
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
        price: Some(Price { input: 2.0, output: 8.0, cache_read: None, cache_write: None, cache_write_hour: None }),
        scripted: false,
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

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_answer_in_time_ends_the_turn() {
    let (model, mut driver) = ScriptedModel::driven();
    let scene = Scene::build(Project::new(), model, vec![], |config| config.guards.max_seconds = Some(30));
    let (end, _call) = tokio::join!(scene.say("go"), driver.next());
    let told = reason(end);
    assert!(told.contains("its limit of 30 seconds of work"), "{told}");
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
