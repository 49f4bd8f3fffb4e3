//! Every member of the stack, and the stack as a whole, over real HTTP: the agent speaks to a model server through the
//! provider's own adapter.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may touch files and fail loudly")]

use std::sync::Arc;

use bosun_agent::{
    Activity, EntryBody, MemoryHost, PermissionRule, Policy, SessionLog, SystemClock, TurnContext, TurnEnd, run_turn,
};
use bosun_backend::{LocalShellBackend, LocalShellOptions, VirtualPath};
use bosun_harness::{Artifacts, Compaction, DeepAgentConfig, Hooks, Threshold, create_deep_agent};
use bosun_model::{HumanMessage, OutputSchema, Usage};
use bosun_providers::{Family, ProviderConfig, connect};
use bosun_testkit::{ModelServer, Project, Reply, Rule, Wire, transcript};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[path = "transcripts/members.rs"]
mod members;
#[path = "transcripts/overflow.rs"]
mod overflow;
#[path = "transcripts/skills.rs"]
mod skills;

struct Scene {
    server: ModelServer,
    project: Project,
    log: Arc<SessionLog>,
    cx: TurnContext,
}

fn scene(wire: Wire, project: Project, configure: impl FnOnce(&mut DeepAgentConfig)) -> Scene {
    let server = ModelServer::start();
    let family = if wire == Wire::Anthropic { Family::Anthropic } else { Family::OpenAiChat };
    let provider = ProviderConfig::new("test", family, server.base_url(wire)).with_key("sk-test");
    let backend = LocalShellBackend::open(project.root(), LocalShellOptions::default()).unwrap();
    let mut config = DeepAgentConfig::new(connect(&provider, "test-model").unwrap(), Arc::new(backend));
    let pass = |what: &str| PermissionRule::AllowAll { name: format!("{what} pass") };
    config.policy = Policy { edits: pass("edits"), commands: pass("commands"), ..Policy::default() };
    config.artifacts = Artifacts::at_root();
    configure(&mut config);
    let agent = Arc::new(create_deep_agent(config).unwrap());
    let host = Arc::new(MemoryHost::new("s".into()));
    let log = Arc::new(SessionLog::open(host, Arc::new(SystemClock), &[]));
    let cx = TurnContext::new(agent, Arc::clone(&log), CancellationToken::new(), Activity::default());
    Scene { server, project, log, cx }
}

impl Scene {
    async fn say(&self, text: &str) -> TurnEnd {
        let turn = self.log.with_state(|state| state.turns) + 1;
        let message = HumanMessage { id: format!("h{turn}").as_str().into(), content: vec![text.into()] };
        self.log.record(vec![EntryBody::TurnStarted { turn, message }]).await.unwrap();
        run_turn(&self.cx).await.unwrap()
    }

    /// The bodies of all requests so far.
    fn bodies(&self) -> Vec<Value> {
        self.server.requests().iter().map(|request| request.json()).collect()
    }

    fn transcript(&self) -> String {
        self.log.with_state(|state| transcript(&state.messages))
    }
}

fn call(id: &str, name: &str, args: Value) -> Reply {
    Reply::new().and_call_with_id(id, name, args)
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

#[tokio::test]
async fn the_whole_stack_at_work() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let project = Project::new().file("AGENTS.md", "Tests: make.").file("a.txt", "one\ntwo\n");
        let scene = scene(wire, project, |config| {
            config.memory.sources = vec![path("/AGENTS.md")];
            config.skills.builtin = true;
        });
        let plan = |first: &str, second: &str| json!({"todos": [{"content": "look", "status": first}, {"content": "change", "status": second}]});
        let edit = json!({"file_path": "/a.txt", "old_string": "one", "new_string": "1"});
        let task = json!({"description": "count the lines of /a.txt", "subagent_type": "general-purpose"});
        scene.server.add(
            Rule::turn("tidy up")
                .reply(call("p1", "write_todos", plan("in_progress", "pending")))
                .reply(call("t1", "task", task).and_call_with_id("r1", "read_file", json!({"file_path": "/a.txt"})))
                .reply(call("e1", "edit_file", edit))
                .reply(call("x1", "execute", json!({"command": "cat a.txt"})))
                .reply(call("p2", "write_todos", plan("completed", "completed")))
                .reply("All is tidy."),
        );
        scene.server.add(
            Rule::turn("count the lines").reply(call("g1", "grep", json!({"pattern": "o"}))).reply("It has two lines."),
        );
        assert_eq!(scene.say("tidy up").await, TurnEnd::Done);
        assert_eq!(scene.project.read("a.txt"), "1\ntwo\n");
        insta::assert_snapshot!("the_whole_stack_at_work", scene.transcript());
    }
}

#[tokio::test]
async fn breakpoints_of_the_cache_and_the_same_bytes_before_them() {
    let scene = scene(Wire::Anthropic, Project::new().file("AGENTS.md", "note"), |config| {
        config.memory.sources = vec![path("/AGENTS.md")];
    });
    let usage = Usage { input: Some(100), output: Some(5), cache_read: Some(80), ..Usage::default() };
    scene.server.add(
        Rule::turn("look")
            .reply(call("a", "ls", json!({"path": "/"})))
            .reply(call("b", "glob", json!({"pattern": "*"})))
            .reply(Reply::text("Seen.").usage(usage)),
    );
    assert_eq!(scene.say("look").await, TurnEnd::Done);
    let bodies = scene.bodies();
    let marked = |value: &Value| value.get("cache_control").is_some();
    for body in &bodies {
        let system = body["system"].as_array().unwrap();
        assert!(marked(body["tools"].as_array().unwrap().last().unwrap()), "after the tools");
        assert!(system.iter().rev().take(2).all(marked), "after the standing prompt and after the memory");
        assert!(system.last().unwrap()["text"].as_str().unwrap().starts_with("<agent_memory>"));
        let last = body["messages"].as_array().unwrap().last().unwrap();
        assert!(marked(last["content"].as_array().unwrap().last().unwrap()), "after the newest message: {last}");
        assert!(body.to_string().matches("cache_control").count() <= 4, "more than the provider takes");
    }
    for pair in bodies.windows(2) {
        assert_eq!((&pair[0]["tools"], &pair[0]["system"]), (&pair[1]["tools"], &pair[1]["system"]));
        let plain = |body: &Value| without_marks(&body["messages"]).as_array().unwrap().clone();
        let (before, after) = (plain(&pair[0]), plain(&pair[1]));
        assert_eq!(before[..], after[..before.len()]);
    }
    assert_eq!(scene.log.with_state(|state| state.usage.cache_read), Some(80), "hits are counted");
}

/// What hooks say stands in one request alone: the breakpoint stands before it, or nothing of the conversation would ever
/// be read from the cache.
#[tokio::test]
async fn the_breakpoint_of_the_conversation_stands_before_what_hooks_say() {
    let project = Project::new();
    let folder = project.root().to_owned();
    let scene = scene(Wire::Anthropic, project, |config| {
        let hook = |point: &str, says: &str| {
            let command = json!(["-c", format!("printf '{{\"context\":\"{says}\"}}'")]);
            json!({"name": point, "point": point, "command": "sh", "args": command})
        };
        let hooks = [hook("turn_start", "begun"), hook("before_model", "mind")];
        let hooks = hooks.map(|hook| serde_json::from_value(hook).unwrap()).into();
        config.everywhere = vec![Arc::new(Hooks::new(hooks, folder).unwrap())];
    });
    scene.server.add(
        Rule::any()
            .reply(call("a", "ls", json!({"path": "/"})))
            .reply(call("b", "glob", json!({"pattern": "*"})))
            .reply("Seen.")
            .reply("The same."),
    );
    assert_eq!(scene.say("look").await, TurnEnd::Done);
    assert_eq!(scene.say("and now").await, TurnEnd::Done);
    // The blocks of a conversation, and how many there are to the one with the mark.
    let blocks = |body: &Value| {
        let turns = body["messages"].as_array().unwrap().iter();
        let blocks: Vec<Value> = turns.flat_map(|turn| turn["content"].as_array().unwrap().clone()).collect();
        let marked = blocks.iter().position(|block| block.get("cache_control").is_some()).unwrap() + 1;
        (blocks.iter().map(without_marks).collect::<Vec<_>>(), marked)
    };
    let bodies = scene.bodies();
    assert_eq!(bodies.len(), 4);
    for pair in bodies.windows(2) {
        let ((before, marked), (after, _)) = (blocks(&pair[0]), blocks(&pair[1]));
        assert_eq!(marked, before.len() - 1, "{before:?}");
        assert!(before.last().unwrap()["text"].as_str().unwrap().contains("begun\nmind"), "{before:?}");
        assert_eq!(before[..marked], after[..marked]);
    }
}

/// What a provider that caches by itself goes by: the bytes of a request, from its first on.
#[tokio::test]
async fn a_request_repeats_the_bytes_of_the_one_before_up_to_its_last_message() {
    let scene = scene(Wire::OpenAi, Project::new().file("AGENTS.md", "note"), |config| {
        config.memory.sources = vec![path("/AGENTS.md")];
    });
    scene.server.add(
        Rule::turn("look")
            .reply(call("a", "ls", json!({"path": "/"})))
            .reply(call("b", "glob", json!({"pattern": "*"})).and_call_with_id("c", "ls", json!({"path": "/no"})))
            .reply("Seen."),
    );
    scene.server.add(Rule::turn("and now").reply("The same."));
    assert_eq!(scene.say("look").await, TurnEnd::Done);
    assert_eq!(scene.say("and now").await, TurnEnd::Done);
    let bodies: Vec<String> =
        scene.server.requests().iter().map(|request| String::from_utf8(request.body.to_vec()).unwrap()).collect();
    assert_eq!(bodies.len(), 4);
    for pair in bodies.windows(2) {
        let (before, after): (Raw<'_>, Raw<'_>) =
            (serde_json::from_str(&pair[0]).unwrap(), serde_json::from_str(&pair[1]).unwrap());
        let place = pair[0].find(before.messages.get()).unwrap();
        let shared = pair[0][..place + before.messages.get().len()].strip_suffix(']').unwrap();
        assert!(pair[1].starts_with(&format!("{shared},")), "{}\n{}", pair[0], pair[1]);
        assert_eq!(before.tools.get(), after.tools.get());
    }
}

/// Parts of a request's body as they were written.
#[derive(serde::Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    messages: &'a serde_json::value::RawValue,
    #[serde(borrow)]
    tools: &'a serde_json::value::RawValue,
}

fn without_marks(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cache_control");
            kept.map(|(name, value)| (name.clone(), without_marks(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_marks).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn a_call_that_did_not_arrive_whole_is_answered_and_the_next_request_is_sound() {
    let scene = scene(Wire::OpenAi, Project::new(), |_| {});
    let broken = Reply::new().part(bosun_testkit::Part::RawCall {
        name: "ls".into(),
        json: "{\"path\": ".into(),
        id: Some("b".into()),
    });
    scene.server.add(Rule::turn("go").reply(broken).reply("Understood."));
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    insta::assert_snapshot!(scene.transcript());
}

#[tokio::test]
async fn large_results_and_refused_calls() {
    let scene = scene(Wire::OpenAi, Project::new(), |config| {
        config.policy.edits = PermissionRule::Reject { name: "nothing is written".into() };
        config.filesystem.evict_results_over = 200;
    });
    scene.server.add(
        Rule::turn("go")
            .reply(call("x", "execute", json!({"command": "seq 1 1000"})))
            .reply(call("w", "write_file", json!({"file_path": "/a", "content": "x"})))
            .reply("Done."),
    );
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(scene.project.read("large_tool_results/x").starts_with("1\n2\n"));
    insta::assert_snapshot!(scene.transcript());
}

#[tokio::test]
async fn an_answer_of_a_shape_and_a_guard() {
    let schema = json!({"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]});
    let scene = scene(Wire::Anthropic, Project::new(), |config| {
        config.output = Some(OutputSchema { name: "count".into(), schema });
        config.guards.max_tokens = Some(50);
    });
    scene.server.add(Rule::turn("count").reply(call("f", "final_answer", json!({"lines": "2"}))));
    assert_eq!(scene.say("count").await, TurnEnd::Done);
    scene.server.add(Rule::turn("run away").reply(call("l1", "ls", json!({"path": "/"})).usage(Usage {
        input: Some(60),
        output: Some(1),
        ..Usage::default()
    })));
    let TurnEnd::Failed { reason, .. } = scene.say("run away").await else { panic!("it went on") };
    assert!(reason.contains("its limit of 50 tokens"), "{reason}");
    insta::assert_snapshot!(scene.transcript());
}
