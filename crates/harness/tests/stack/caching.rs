use std::sync::Arc;

use bosun_harness::{HookConfig, HookPoint, Hooks};
use bosun_model::CacheLifetime;
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn every_request_begins_with_the_bytes_of_the_one_before() {
    let call = |id: &str, name: &str, args| Scripted::from(Reply::new().and_call_with_id(id, name, args));
    let todos = json!({"todos": [{"content": "look", "status": "in_progress"}]});
    let replies = vec![
        call("a", "ls", json!({"path": "/"})),
        call("b", "write_todos", todos),
        call("c", "read_file", json!({"file_path": "/a.txt"})),
        "done".into(),
        call("d", "grep", json!({"pattern": "one"})),
        "done again".into(),
    ];
    let project = Project::new().file("a.txt", "one\n").file("AGENTS.md", "note");
    let scene = Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        config.memory.sources = vec![bosun_backend::VirtualPath::parse("/AGENTS.md").unwrap()];
        config.cache = CacheLifetime::OneHour;
    });
    scene.say("look around").await;
    scene.say("and again").await;
    let requests = scene.model.requests();
    assert_eq!(requests.len(), 6);
    for pair in requests.windows(2) {
        let bytes = |request: &bosun_model::ChatRequest, messages: usize| {
            serde_json::to_vec(&(&*request.tools, &request.messages[..messages])).unwrap()
        };
        let shared = pair[0].messages.len();
        assert_eq!(bytes(&pair[0], shared), bytes(&pair[1], shared));
        assert_eq!(pair[0].system, pair[1].system);
        assert!(pair[1].cache.tools && pair[1].cache.conversation);
        assert_eq!(pair[1].cache.lifetime, CacheLifetime::OneHour);
    }
}

/// What hooks give to read stands in one request alone, so it stands behind what a provider keeps.
#[tokio::test]
async fn every_request_begins_with_the_bytes_of_the_one_before_up_to_what_hooks_add() {
    let call = |id: &str| Scripted::from(Reply::new().and_call_with_id(id, "ls", json!({"path": "/"})));
    let replies = vec![call("a"), call("b"), "done".into(), "done again".into()];
    let project = Project::new().file("told", "0");
    let folder = project.root().to_owned();
    // Another text with every call.
    let script = r#"n=$(cat told); echo $((n + 1)) > told; printf '{"context":"word %s"}' "$n""#;
    let hook = |point: HookPoint| HookConfig {
        name: point.word().into(),
        point,
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        tools: Vec::new(),
        timeout: 20,
        env: Default::default(),
        secret_env: Vec::new(),
        pass_env: Vec::new(),
        on_failure: None,
        enabled: true,
    };
    let scene = Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        let hooks = vec![hook(HookPoint::TurnStart), hook(HookPoint::BeforeModel)];
        config.everywhere = vec![Arc::new(Hooks::new(hooks, folder).unwrap())];
    });
    scene.say("look around").await;
    scene.say("and again").await;
    let requests = scene.model.requests();
    let staying = |request: &bosun_model::ChatRequest| request.messages.len() - request.cache.passing;
    assert_eq!(requests.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [2, 4, 6, 8]);
    assert_eq!(requests.iter().map(staying).collect::<Vec<_>>(), [1, 3, 5, 7]);
    for pair in requests.windows(2) {
        let kept = staying(&pair[0]);
        assert_eq!(pair[0].messages[..kept], pair[1].messages[..kept]);
        assert_ne!(pair[0].messages.last(), pair[1].messages.last());
        assert!(pair[1].cache.conversation && pair[0].system == pair[1].system);
    }
}
