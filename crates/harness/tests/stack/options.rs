//! Options of the factory that have no file of their own here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosun_agent::{EntryBody, IdSource, NoteKind, TurnEnd};
use bosun_backend::{CommandSwitch, Commands, FilesystemBackend, LocalShellBackend, LocalShellOptions, VirtualPath};
use bosun_harness::{DeclaredAgent, DeepAgentError, SkillSource};
use bosun_model::{Message, ModelStream};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use bosun_tools::erase;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::scene::{Deaf, Scene, prompt, scene};

fn call(id: &str, name: &str, args: Value) -> Scripted {
    Reply::new().and_call_with_id(id, name, args).into()
}

fn declared(project: Project, toml: &str, replies: Vec<Scripted>) -> Scene {
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        DeclaredAgent::parse(toml).unwrap().apply(config);
    })
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

#[tokio::test]
async fn the_form_of_what_is_read() {
    for (toml, shown) in [("", "     1\tone"), ("filesystem.read_format = 'plain'", "\none")] {
        let read = call("r", "read_file", json!({"file_path": "/a"}));
        let scene = declared(Project::new().file("a", "one\n"), toml, vec![read, "done".into()]);
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert!(scene.result("r").contains(shown), "{toml}: {:?}", scene.result("r"));
    }
}

#[tokio::test]
async fn how_many_matches_a_search_shows() {
    let grep = call("g", "grep", json!({"pattern": "x", "output_mode": "content"}));
    let project = Project::new().file("a", "x1\nx2\nx3\n");
    let scene = declared(project, "filesystem.grep_max_count = 2", vec![grep, "done".into()]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let found = scene.result("g");
    assert!(found.contains("x1") && found.contains("x2") && !found.contains("x3"), "{found}");
}

#[tokio::test]
async fn the_longest_time_of_a_command() {
    let run = call("x", "execute", json!({"command": "true", "timeout": 200}));
    let scene = declared(Project::new(), "filesystem.max_execute_timeout = 150", vec![run, "done".into()]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(scene.result("x").contains("150"), "{}", scene.result("x"));
}

#[tokio::test]
async fn what_memory_and_skills_are_read_through() {
    let trusted = Project::new()
        .file("AGENTS.md", "From the trusted place.")
        .file("skills/a/SKILL.md", "---\nname: a\ndescription: Trusted.\n---\n")
        .file("skills/b/SKILL.md", "---\nname: b\ndescription: Switched off.\n---\n");
    let context = Arc::new(FilesystemBackend::open(trusted.root(), Default::default()).unwrap());
    let project = Project::new().file("AGENTS.md", "From the project.");
    let read = call("r", "read_file", json!({"file_path": "/AGENTS.md"}));
    let scene = Scene::build(project, ScriptedModel::new(vec![read, "done".into()]), vec![], |config| {
        config.context = Some(context);
        config.memory.sources = vec![path("/AGENTS.md")];
        config.skills.sources = vec![SkillSource { path: path("/skills"), label: None }];
        config.skills.off = vec![path("/skills/b")];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let told = prompt(&scene.request(0));
    assert!(told.contains("From the trusted place.") && !told.contains("From the project."), "{told}");
    assert!(told.contains("**a**: Trusted.") && !told.contains("Switched off."), "{told}");
    assert!(scene.result("r").contains("From the project."), "the tools never look there: {}", scene.result("r"));
}

#[tokio::test]
async fn where_ids_come_from() {
    struct Numbers(AtomicUsize);
    impl IdSource for Numbers {
        fn next(&self) -> String {
            format!("n{}", self.0.fetch_add(1, Ordering::SeqCst))
        }
    }
    let scene = scene(vec!["one".into()], |config| config.ids = Arc::new(Numbers(AtomicUsize::new(7))));
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    scene.log.with_state(|state| match state.messages.last().map(|message| &**message) {
        Some(Message::Ai(reply)) => assert_eq!(reply.id.as_str(), "n7"),
        other => panic!("{other:?}"),
    });
}

#[tokio::test]
async fn the_steps_of_a_turn() {
    let look = |id: &str| call(id, "ls", json!({"path": "/"}));
    let scene = declared(Project::new(), "limits.max_steps = 2", vec![look("a"), look("b"), "done".into()]);
    assert_eq!(scene.say("go").await, TurnEnd::StepLimit { limit: 2 });
    assert_eq!(scene.model.requests().len(), 2);
    let usual = declared(Project::new(), "", vec![]);
    assert_eq!(usual.agent.limits.max_steps, 1_000, "where nothing is declared");
}

#[tokio::test]
async fn how_deep_subagents_send_subagents() {
    let send = |id: &str| call(id, "task", json!({"description": id, "subagent_type": "general-purpose"}));
    let replies = vec![send("one"), send("two"), "did it myself".into(), "done".into()];
    let scene = declared(Project::new(), "limits.max_depth = 1", replies);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!([0, 1].map(|index| delegates(&scene.request(index))), [true, false]);
    let refused = crate::scene::texts(&scene.request(2)).pop().unwrap();
    assert!(refused.contains("task is not a valid tool"), "{refused}");
}

/// Whether a request offers subagents, and speaks of them.
fn delegates(request: &bosun_model::ChatRequest) -> bool {
    let offered = request.tools.iter().any(|tool| tool.name.ends_with("task"));
    assert_eq!(crate::scene::prompt(request).contains("## Delegating"), offered);
    offered
}

#[tokio::test]
async fn no_depth_and_no_subagents_at_once_are_no_delegation() {
    for limit in ["max_depth = 0", "max_subagents = 0"] {
        let scene =
            declared(Project::new(), &format!("background_subagents = true\nlimits.{limit}"), vec!["done".into()]);
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert!(!delegates(&scene.request(0)), "{limit}");
    }
}

/// A model that knows how many of its subagents' calls are under way at once.
struct Crowd {
    model: ScriptedModel,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl bosun_model::ChatModel for Crowd {
    fn info(&self) -> &bosun_model::ModelInfo {
        self.model.info()
    }

    fn stream(
        &self,
        request: bosun_model::ChatRequest,
    ) -> bosun_model::BoxFuture<'_, Result<ModelStream, bosun_model::ModelError>> {
        Box::pin(async move {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            // Long enough for all that may begin to have begun.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            self.now.fetch_sub(1, Ordering::SeqCst);
            self.model.stream(request).await
        })
    }
}

#[tokio::test]
async fn how_many_subagents_work_at_once() {
    let model = ScriptedModel::by(|request| {
        let texts = crate::scene::texts(request);
        match (texts.first().map(String::as_str), texts.len()) {
            (Some("go"), 1) => (0..9).fold(Reply::new(), |reply, n| {
                let args = json!({"description": format!("part {n}"), "subagent_type": "general-purpose"});
                reply.and_call_with_id(format!("t{n}"), "task", args)
            }),
            _ => Reply::text("done"),
        }
    });
    let crowd = Arc::new(Crowd { model, now: AtomicUsize::new(0), most: AtomicUsize::new(0) });
    let same = Arc::clone(&crowd);
    let scene = Scene::build(Project::new(), ScriptedModel::new(Vec::<Scripted>::new()), vec![], |config| {
        config.model = same;
        DeclaredAgent::parse("limits.max_subagents = 2").unwrap().apply(config);
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(crowd.most.load(Ordering::SeqCst), 2);
}

#[test]
fn tools_that_do_not_exist_are_named_when_the_agent_is_built() {
    let project = Project::new();
    let backend = || Arc::new(FilesystemBackend::open(project.root(), Default::default()).unwrap());
    for by_name in [true, false] {
        let model = Arc::new(ScriptedModel::new(Vec::<Scripted>::new()));
        let mut config = bosun_harness::DeepAgentConfig::new(model, backend());
        if by_name {
            config.builtin_tools = Some(vec!["fly".into()]);
        } else {
            config.descriptions.insert("fly".into(), "Flies.".into());
        }
        let error = bosun_harness::create_deep_agent(config).err();
        assert!(matches!(&error, Some(DeepAgentError::UnknownTool { name, .. }) if name == "fly"), "{error:?}");
    }
}

/// What a session's notes say of names in its agent's configuration.
fn told(scene: &Scene) -> Vec<String> {
    let notes = scene.host.entries().into_iter().filter_map(|recorded| match recorded.entry.body {
        EntryBody::Noted { kind: NoteKind::NotUsed, detail, .. } => Some(detail),
        _ => None,
    });
    notes.collect()
}

/// Without them the agent works as it can; nobody is left to think that a setting holds that does not.
#[tokio::test]
async fn names_of_tools_that_are_not_here_are_told_once_as_a_turn_begins() {
    let project = Project::new();
    let files = Arc::new(FilesystemBackend::open(project.root(), Default::default()).unwrap());
    let toml = "builtin_tools = ['ls', 'execute', 'start_async_task', 'task']\n\
                descriptions.execute = 'Runs.'\n\
                approvals.tools = { execute = true, docs__serach = false }\n\
                subagents = [{ name = 'a', description = 'A.', interrupt_on = { mail__send = true, ls = true } }]\n";
    let scene = Scene::build(project, ScriptedModel::new(vec!["one", "two"]), vec![], |config| {
        config.backend = files;
        DeclaredAgent::parse(toml).unwrap().apply(config);
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.say("again").await, TurnEnd::Done);
    let offered: Vec<String> = scene.request(0).tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["ls", "task"]);
    assert_eq!(
        told(&scene),
        [
            "The agent works without tools of builtin_tools that are not available here: execute, start_async_task",
            "Approvals: something is set for docs__serach, but no tool here is called that, so it has no effect. \
             Correct the name, or add the server whose tool it is",
            "Subagents: 'a' sets how mail__send asks, but no tool here is called that, so it has no effect. Correct the \
             name, or add the server whose tool it is",
        ]
    );
}

#[tokio::test]
async fn own_tools_and_those_that_only_a_subagent_has_are_names_that_match() {
    let toml = "builtin_tools = ['task']\napprovals.tools = { execute = true, greet = true, deaf = false }\n";
    assert!(DeclaredAgent::parse(toml).unwrap_err().to_string().contains("there is no tool 'deaf' here"));
    let declared = DeclaredAgent::parse_beside(toml, &["deaf", "greet"]).unwrap();
    let scene = scene(vec!["done".into()], |config| {
        config.tools = vec![erase(Deaf)];
        declared.apply(config);
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let greet = "Approvals: something is set for greet, but no tool here is called that, so it has no effect. Correct the \
                 name, or add the server whose tool it is";
    assert_eq!(told(&scene), [greet]);
}

#[tokio::test]
async fn the_model_is_told_of_the_sandbox_for_as_long_as_commands_run_in_it() {
    let commands = CommandSwitch::default();
    let project = Project::new();
    let options = LocalShellOptions { commands: commands.clone(), ..LocalShellOptions::default() };
    let backend = Arc::new(LocalShellBackend::open(project.root(), options).unwrap());
    let scene = Scene::build(project, ScriptedModel::new(vec!["one", "two", "three"]), vec![], |config| {
        config.backend = backend;
    });
    let said = "Commands run in a sandbox: it can change the project and nothing else, and has no network; git's settings \
                and hooks are read-only, and git init works below the project's top only. Where a task needs more than \
                that, say so and look for no way around it.";
    for (request, place, told) in
        [(0, Commands::Machine, false), (1, Commands::Sandbox, true), (2, Commands::Machine, false)]
    {
        commands.set(place);
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        let prompt = prompt(&scene.request(request));
        assert_eq!((prompt.contains(said), prompt.contains("## Commands")), (told, true), "{prompt}");
    }
}
