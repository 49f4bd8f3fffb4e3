//! Laws of the stack, over made-up work.

use std::sync::Arc;

use bosun_agent::{Middleware, State};
use bosun_model::{CallId, ChatRequest, Message};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use proptest::prelude::*;
use serde_json::json;

use crate::scene::Scene;

/// One thing the model does in a step.
#[derive(Clone, Debug)]
enum Act {
    Look,
    LookNowhere,
    Write(u8),
    Plan(u8),
    Unknown,
    Broken,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Act::Look),
        Just(Act::LookNowhere),
        (0..3_u8).prop_map(Act::Write),
        (0..4_u8).prop_map(Act::Plan),
        Just(Act::Unknown),
        Just(Act::Broken),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Vec<Act>>> {
    prop::collection::vec(prop::collection::vec(act(), 1..4), 0..5)
}

fn script(steps: &[Vec<Act>]) -> Vec<Scripted> {
    let reply = |(step, acts): (usize, &Vec<Act>)| {
        // Calls of one step run side by side: what a listing shows of a folder that is written to meanwhile is as it comes.
        let writes = acts.iter().any(|act| matches!(act, Act::Write(_)));
        let place = if writes { "/kept" } else { "/" };
        let reply = acts.iter().enumerate().fold(Reply::new().and_text("on it"), |reply, (index, act)| {
            let id = format!("c{step}-{index}");
            match act {
                Act::Look => reply.and_call_with_id(id, "ls", json!({"path": place})),
                Act::LookNowhere => reply.and_call_with_id(id, "ls", json!({"path": format!("/no{step}")})),
                Act::Write(n) => {
                    let args = json!({"file_path": format!("/f{n}.txt"), "content": format!("{step}")});
                    reply.and_call_with_id(id, "write_file", args)
                }
                Act::Plan(n) => {
                    let todo = |n: u8| json!({"content": format!("part {n}"), "status": "pending"});
                    let todos: Vec<_> = (0..*n).map(todo).collect();
                    reply.and_call_with_id(id, "write_todos", json!({"todos": todos}))
                }
                Act::Unknown => reply.and_call_with_id(id, "no_such_tool", json!({})),
                Act::Broken => {
                    reply.part(bosun_testkit::Part::RawCall { name: "ls".into(), json: "{\"path".into(), id: Some(id) })
                }
            }
        });
        Scripted::from(reply)
    };
    steps.iter().enumerate().map(reply).chain(["done".into()]).collect()
}

/// A member that does nothing.
struct Nothing;

impl Middleware for Nothing {
    fn name(&self) -> &'static str {
        "Nothing"
    }
}

fn work(steps: &[Vec<Act>], nothings: usize) -> Scene {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let scene =
            Scene::build(Project::new().file("kept/a.txt", "a"), ScriptedModel::new(script(steps)), vec![], |config| {
                config.guards.same_failures = 0;
                config.middleware = (0..nothings).map(|_| Arc::new(Nothing) as Arc<dyn Middleware>).collect();
            });
        scene.say("go").await;
        scene
    })
}

fn bytes(request: &ChatRequest, messages: usize) -> Vec<u8> {
    let system: Vec<(&str, bool)> = request.system.iter().map(|block| (block.text.as_str(), block.cache)).collect();
    serde_json::to_vec(&(system, &*request.tools, &request.messages[..messages])).unwrap()
}

/// The requests without the ids that are new in every run.
fn shown(scene: &Scene) -> Vec<String> {
    let text = |request: &ChatRequest| bosun_testkit::transcript(&request.messages);
    scene.model.requests().iter().map(text).collect()
}

/// All of a request but its messages.
fn around(request: &ChatRequest) -> impl PartialEq + std::fmt::Debug + use<> {
    let request = request.clone();
    let ChatRequest {
        system,
        messages: _,
        tools,
        tool_choice,
        max_output,
        cache,
        effort,
        output,
        conversation,
        caller,
    } = request;
    (system, tools, tool_choice, max_output, cache, effort, output, conversation, caller)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_state_is_the_fold_of_the_journal_and_every_call_has_its_result(steps in steps()) {
        let scene = work(&steps, 0);
        let entries = scene.host.entries();
        let folded = State::fold(entries.iter().map(|recorded| &recorded.entry));
        prop_assert!(scene.log.with_state(|live| &folded == live), "{folded:?}");
        let mut open: Vec<CallId> = Vec::new();
        for message in &folded.messages {
            match &**message {
                Message::Ai(reply) => {
                    prop_assert!(open.is_empty(), "a reply before all results: {:?}", open);
                    open.extend(reply.tool_calls.iter().map(|call| call.id.clone()));
                    open.extend(reply.invalid_tool_calls.iter().map(|call| call.id.clone()));
                }
                Message::Tool(result) => {
                    let place = open.iter().position(|id| *id == result.call_id);
                    prop_assert!(place.is_some(), "a result without a call: {}", result.call_id);
                    open.retain(|id| *id != result.call_id);
                }
                Message::Human(_) | Message::System(_) => {}
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn a_request_begins_with_the_one_before(steps in steps()) {
        for pair in work(&steps, 0).model.requests().windows(2) {
            let shared = pair[0].messages.len();
            prop_assert_eq!(bytes(&pair[0], shared), bytes(&pair[1], shared));
        }
    }

    #[test]
    fn members_that_do_nothing_change_nothing(steps in steps(), nothings in 1..4_usize) {
        let (without, with) = (work(&steps, 0), work(&steps, nothings));
        prop_assert_eq!(shown(&without), shown(&with));
        let (first, second) = (without.model.requests(), with.model.requests());
        prop_assert_eq!(first.len(), second.len());
        for (first, second) in first.iter().zip(&second) {
            prop_assert_eq!(around(first), around(second));
        }
    }
}
