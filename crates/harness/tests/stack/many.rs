//! Subagents in their hundreds: none lost, none crossed.

use bosun_agent::{EntryBody, Recorded, TurnEnd};
use bosun_backend::VirtualPath;
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

/// What a model says that counts the calls of each conversation from 0: the session's agent and each that it sends have a
/// result too large for a conversation, under the same id, and the subagents send one more each.
fn counting(count: usize) -> impl Fn(&ChatRequest) -> Reply {
    move |request| {
        let task = texts(request).first().cloned().unwrap_or_default();
        let results = request.messages.iter().filter(|message| matches!(&***message, Message::Tool(_))).count();
        let say = || {
            let command = json!({"command": format!("yes '{task}' | head -n 400")});
            Reply::new().and_call_with_id("functions.execute:0", "execute", command)
        };
        let send = |reply: Reply, n: usize, what: String| {
            let args = json!({"description": what, "subagent_type": "general-purpose"});
            reply.and_call_with_id(format!("functions.task:{}", n + 1), "task", args)
        };
        match (results, task.as_str()) {
            (0, _) => say(),
            (1, "go") => (0..count).fold(Reply::new(), |reply, n| send(reply, n, format!("work {n}"))),
            (1, below) if !below.ends_with("below") => send(Reply::new(), 0, format!("{below} below")),
            _ => Reply::text(format!("did {task}")),
        }
    }
}

/// The first word of a result that is in a file, and the place of the file.
fn kept(texts: &[String]) -> Vec<VirtualPath> {
    let places = texts.iter().filter_map(|text| text.split_once(" in the file ")?.1.split_once(".\n"));
    places.map(|(place, _)| VirtualPath::parse(place).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_results_under_the_same_id_are_kept_apart_in_parent_and_children() {
    let model = ScriptedModel::by(counting(40));
    let scene = Scene::build(Project::new(), model, vec![], |config| config.filesystem.evict_results_over = 100);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let requests = scene.model.requests();
    let mut places = std::collections::BTreeMap::new();
    for request in &requests {
        let texts = texts(request);
        for place in kept(&texts) {
            let owner = places.entry(place).or_insert_with(|| texts[0].clone());
            assert_eq!(*owner, texts[0], "one place for two agents");
        }
    }
    assert_eq!(places.len(), 81, "{places:?}");
    let (main, _) = places.iter().find(|(_, owner)| *owner == "go").unwrap();
    assert_eq!(main.as_str(), "/large_tool_results/functions_execute:0");
    for (place, owner) in &places {
        let whole = scene.project.read(place.as_str().trim_start_matches('/'));
        assert!(whole.starts_with(&format!("{owner}\n").repeat(400)), "{place} of {owner}: {whole:.60}");
    }
}
