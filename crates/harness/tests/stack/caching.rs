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
