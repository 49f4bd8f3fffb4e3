//! Rules about paths, in the stack.

use bosun_agent::{EntryBody, Policy};
use bosun_harness::DeclaredAgent;
use bosun_testkit::{Project, Reply, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::Scene;

fn at_work(replies: Vec<bosun_testkit::Scripted>, policy: Option<Policy>) -> Scene {
    let project = Project::new().file("secret/key", "s3cret\n").file("pub/a.txt", "one\n").file("docs/a.md", "one\n");
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        if let Some(policy) = policy {
            config.policy = policy;
        }
        let rules = "[[permissions]]\noperations = ['read', 'write']\npaths = ['/secret/**']\nmode = 'deny'\n\
                     [[permissions]]\noperations = ['read']\npaths = ['/docs/**']\nmode = 'interrupt'";
        DeclaredAgent::parse(rules).unwrap().apply(config);
    })
}

#[tokio::test]
async fn denied_paths_are_refused_to_the_agent_and_to_its_subagents_and_nobody_is_asked() {
    let read = |id: &str| Reply::new().and_call_with_id(id, "read_file", json!({"file_path": "/secret/key"}));
    let write = json!({"file_path": "/secret/new", "content": "x"});
    let task = json!({"description": "read it", "subagent_type": "general-purpose"});
    let replies = vec![
        read("r").and_call_with_id("w", "write_file", write).and_call_with_id("l", "ls", json!({"path": "/"})).into(),
        Reply::new().and_call_with_id("t", "task", task).into(),
        read("deep").into(),
        "it is refused".into(),
        "done".into(),
    ];
    // Everything that changes something asks; what is denied does not even ask.
    let scene = at_work(replies, Some(Policy::default()));
    scene.say("go").await;
    assert!(scene.result("r").starts_with("Error: permission denied for read on /secret/key"), "{}", scene.result("r"));
    assert!(
        scene.result("w").starts_with("Error: permission denied for write on /secret/new"),
        "{}",
        scene.result("w")
    );
    assert!(!scene.result("l").contains("secret") && scene.result("l").contains("/pub/"), "{}", scene.result("l"));
    let deep = crate::scene::texts(&scene.request(3));
    assert!(deep.last().unwrap().contains("permission denied for read on /secret/key"), "{deep:?}");
    assert!(!scene.model.requests().iter().flat_map(crate::scene::texts).any(|text| text.contains("s3cret")));
    let entries = scene.host.entries();
    assert!(!entries.iter().any(|recorded| matches!(recorded.entry.body, EntryBody::Asked { .. })));
}

#[tokio::test]
async fn a_path_that_interrupts_asks_whatever_else_is_allowed() {
    let read = Reply::new().and_call_with_id("p", "read_file", json!({"file_path": "/pub/a.txt"})).and_call_with_id(
        "d",
        "read_file",
        json!({"file_path": "/docs/a.md"}),
    );
    let scene = at_work(vec![read.into(), "done".into()], None);
    let cx = {
        let message = bosun_model::HumanMessage { id: "h1".into(), content: vec!["go".into()] };
        scene.log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
        scene.context()
    };
    let turn = tokio::spawn(async move { bosun_agent::run_turn(&cx).await });
    let asked = async {
        loop {
            let ask = scene.log.with_state(|state| state.waiting().next().and_then(|call| call.ask.clone()));
            if let Some(ask) = ask {
                return ask;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    let ask = tokio::time::timeout(std::time::Duration::from_secs(10), asked).await.unwrap();
    assert_eq!(ask.call.id.as_str(), "d");
    assert!(format!("{:?}", ask.reason).contains("/docs/** asks"), "{:?}", ask.reason);
    turn.abort();
}
