//! Rules about paths, in the stack.

use bosun_agent::{EntryBody, Policy};
use bosun_harness::DeclaredAgent;
use bosun_testkit::{Project, Reply, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::Scene;

fn at_work(replies: Vec<bosun_testkit::Scripted>) -> Scene {
    let project = Project::new().file("secret/key", "s3cret\n").file("pub/a.txt", "one\n");
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        // Everything that changes something asks.
        config.policy = Policy::default();
        let rules = "[[permissions]]\noperations = ['read', 'write']\npaths = ['/secret/**']\nmode = 'deny'";
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
    // What is denied does not even ask.
    let scene = at_work(replies);
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

/// The ids of those of `calls` that ask, under rules of which `/docs` asks.
async fn asking<const N: usize>(calls: [(&str, &str, serde_json::Value); N]) -> Vec<String> {
    let project = Project::new().file("pub/a.txt", "one\n").file("docs/a.md", "one\n").file("docs/pub/b.md", "two\n");
    std::os::unix::fs::symlink("../docs/a.md", project.root().join("pub/link")).unwrap();
    std::os::unix::fs::symlink("docs", project.root().join("shelf")).unwrap();
    let step =
        calls.iter().fold(Reply::new(), |step, (id, tool, args)| step.and_call_with_id(*id, *tool, args.clone()));
    let rules = "[[permissions]]\noperations = ['read']\npaths = ['/docs/pub/**']\nmode = 'allow'\n\
                 [[permissions]]\noperations = ['read', 'write']\npaths = ['/docs/**']\nmode = 'interrupt'";
    let scene = Scene::build(project, ScriptedModel::new([step, Reply::text("done")]), vec![], |config| {
        config.approval_timeout = Some(std::time::Duration::from_millis(300));
        DeclaredAgent::parse(rules).unwrap().apply(config);
    });
    scene.say("go").await;
    let asked = scene.host.entries().into_iter().filter_map(|recorded| match recorded.entry.body {
        EntryBody::Asked { ask, .. } => {
            assert!(format!("{:?}", ask.reason).contains("/docs/** asks"), "{:?}", ask.reason);
            Some(ask.call.id.to_string())
        }
        _ => None,
    });
    let mut asked: Vec<String> = asked.collect();
    asked.sort();
    asked
}

#[tokio::test]
async fn a_path_that_interrupts_asks_whatever_else_is_allowed() {
    let file = |path: &str| json!({ "file_path": path });
    let asked = asking([
        ("a-file", "read_file", file("/docs/a.md")),
        ("b-link", "read_file", file("/pub/link")),
        ("c-linked-folder", "ls", json!({ "path": "/shelf" })),
        ("no-other", "read_file", file("/pub/a.txt")),
        ("no-allowed", "read_file", file("/docs/pub/b.md")),
    ]);
    assert_eq!(asked.await, ["a-file", "b-link", "c-linked-folder"]);
}

#[tokio::test]
async fn what_looks_at_a_folder_asks_for_all_that_may_be_in_it() {
    let asked = asking([
        ("a-all", "grep", json!({ "pattern": "one", "output_mode": "content" })),
        ("b-root", "ls", json!({ "path": "/" })),
        ("c-pattern", "glob", json!({ "pattern": "/docs/*", "path": "/pub" })),
        ("d-folder", "glob", json!({ "pattern": "*", "path": "/docs" })),
        ("e-gone", "delete", json!({ "file_path": "/docs" })),
        ("no-other", "grep", json!({ "pattern": "one", "path": "/pub" })),
        ("no-allowed", "grep", json!({ "pattern": "two", "path": "/docs/pub" })),
    ]);
    assert_eq!(asked.await, ["a-all", "b-root", "c-pattern", "d-folder", "e-gone"]);
}

/// A subagent with rules of its own, sent by an agent that may do all but look at secrets.
fn with_a_narrow_one(replies: Vec<bosun_testkit::Scripted>, rules: &str) -> Scene {
    let declared = format!(
        "[[permissions]]\noperations = ['read', 'write']\npaths = ['/secret/**']\nmode = 'deny'\n\
         [[subagents]]\nname = 'narrow'\ndescription = 'Sees little.'\npermissions = [{rules}]"
    );
    let project = Project::new().file("secret/key", "s3cret\n").file("pub/a.txt", "one\n").file("docs/a.md", "two\n");
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        DeclaredAgent::parse(&declared).unwrap().apply(config);
    })
}

fn send(id: &str, name: &str) -> bosun_testkit::Scripted {
    let args = json!({"description": "look around", "subagent_type": name});
    Reply::new().and_call_with_id(id, "task", args).into()
}

#[tokio::test]
async fn a_subagent_may_do_less_with_paths_than_its_parent_and_so_may_those_it_sends() {
    let look = |prefix: &str| {
        let path = |path: &str| json!({"file_path": path});
        Reply::new()
            .and_call_with_id(format!("{prefix}-docs"), "read_file", path("/docs/a.md"))
            .and_call_with_id(format!("{prefix}-secret"), "read_file", path("/secret/key"))
            .and_call_with_id(format!("{prefix}-pub"), "read_file", path("/pub/a.txt"))
            .and_call_with_id(format!("{prefix}-write"), "write_file", json!({"file_path": "/pub/new", "content": "x"}))
    };
    let replies = vec![
        send("t", "narrow"),
        look("child").into(),
        send("deep", "general-purpose"),
        look("below").into(),
        "seen".into(),
        "told".into(),
        Reply::new().and_call_with_id("own", "read_file", json!({"file_path": "/docs/a.md"})).into(),
        "done".into(),
    ];
    // What it allows of `/secret` is nothing: the rules of its parent hold, too.
    let rules = "{ operations = ['read'], paths = ['/secret/**'], mode = 'allow' }, \
                 { operations = ['read'], paths = ['/docs/**'], mode = 'deny' }, \
                 { operations = ['write'], paths = ['/**'], mode = 'deny' }";
    let scene = with_a_narrow_one(replies, rules);
    scene.say("go").await;
    for (request, who) in [(2, "it"), (4, "one that it sends")] {
        let told = crate::scene::texts(&scene.request(request));
        let told: Vec<&str> = told.iter().rev().take(4).rev().map(String::as_str).collect();
        assert!(told[0].contains("permission denied for read on /docs/a.md"), "{who}: {told:?}");
        assert!(told[1].contains("permission denied for read on /secret/key"), "{who}: {told:?}");
        assert!(told[2].contains("one"), "{who}: {told:?}");
        assert!(told[3].contains("permission denied for write on /pub/new"), "{who}: {told:?}");
        let offered: Vec<String> = scene.request(request).tools.iter().map(|tool| tool.name.clone()).collect();
        assert!(!offered.contains(&"execute".to_owned()), "a command could do what the rules forbid: {offered:?}");
    }
    assert!(scene.result("own").contains("two"), "its parent reads on: {}", scene.result("own"));
    assert!(!scene.project.exists("pub/new"));
}

#[tokio::test]
async fn a_path_may_ask_for_one_subagent_alone() {
    let read = |id: &str| Reply::new().and_call_with_id(id, "read_file", json!({"file_path": "/docs/a.md"}));
    let replies = vec![read("own").into(), send("t", "narrow"), read("asks").into()];
    let rules = "{ operations = ['read'], paths = ['/docs/**'], mode = 'interrupt' }";
    let scene = with_a_narrow_one(replies, rules);
    let message = bosun_model::HumanMessage { id: "h1".into(), content: vec!["go".into()] };
    scene.log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    let cx = scene.context();
    let turn = tokio::spawn(async move { bosun_agent::run_turn(&cx).await });
    let asked = async {
        loop {
            let child = scene.host.child_of(&bosun_model::CallId::from("t"));
            let entries = child.map(|child| child.entries()).unwrap_or_default();
            let ask = entries.into_iter().find_map(|recorded| match recorded.entry.body {
                EntryBody::Asked { ask, .. } => Some(ask),
                _ => None,
            });
            if let Some(ask) = ask {
                return ask;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    let ask = tokio::time::timeout(std::time::Duration::from_secs(10), asked).await.unwrap();
    assert!(format!("{:?}", ask.reason).contains("/docs/** asks"), "{:?}", ask.reason);
    assert!(scene.result("own").contains("two"), "{}", scene.result("own"));
    turn.abort();
}
