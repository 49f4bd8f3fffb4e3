//! Subagents in their hundreds: none lost, none crossed.

use bosun_agent::{EntryBody, Recorded, TurnEnd};
use bosun_model::{CallId, ChatRequest, Message, text_of};
use bosun_testkit::{Project, Reply, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::{Scene, texts};

/// What a model of many says: the session's agent sends `count` at once, each of them lists the folder `turns` times
/// and says whose work it did.
fn crowd(count: usize, turns: usize) -> impl Fn(&ChatRequest) -> Reply {
    move |request| {
        let said = texts(request);
        let task = said.first().cloned().unwrap_or_default();
        let results = request.messages.iter().filter(|message| matches!(&***message, Message::Tool(_))).count();
        if task == "go" {
            return match results {
                0 => (0..count).fold(Reply::new(), |reply, n| {
                    let args = json!({"description": format!("work {n}"), "subagent_type": "general-purpose"});
                    reply.and_call_with_id(format!("t{n}"), "task", args)
                }),
                _ => Reply::text("done"),
            };
        }
        match results {
            results if results < turns => Reply::new().and_call("ls", json!({"path": "/"})),
            _ => Reply::text(format!("did {task} in {results}")),
        }
    }
}

async fn all_answer(count: usize, at_once: usize, turns: usize) {
    let model = ScriptedModel::by(crowd(count, turns)).forgetful();
    let scene = Scene::build(Project::new().file("a.txt", "a"), model, vec![], |config| {
        config.limits.max_subagents = at_once;
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let results: Vec<(CallId, String)> = scene.log.with_state(|state| {
        let results = state.messages.iter().filter_map(|message| match &**message {
            Message::Tool(result) => Some((result.call_id.clone(), text_of(&result.content))),
            _ => None,
        });
        results.collect()
    });
    let expected: Vec<(CallId, String)> =
        (0..count).map(|n| (CallId::new(format!("t{n}")), format!("did work {n} in {turns}"))).collect();
    assert_eq!(results, expected);
    let steps = |entries: Vec<Recorded>| {
        entries.iter().filter(|recorded| matches!(recorded.entry.body, EntryBody::Ai { .. })).count()
    };
    for n in 0..count {
        let child = scene.host.child_of(&CallId::new(format!("t{n}"))).unwrap();
        assert_eq!(steps(child.entries()), turns + 1, "{n}");
    }
    assert!(scene.log.with_state(|state| state.subagents.iter().all(|sent| sent.end == Some(TurnEnd::Done))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_with_three_tool_turns_each() {
    all_answer(200, 200, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_in_flight_and_a_thousand_in_line() {
    all_answer(1_000, 1_000, 1).await;
    all_answer(1_000, 8, 0).await;
}
