//! Members, subagents and tools that a library's user brings, and where they stand.

use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext, TurnEnd};
use bosun_harness::{DeepAgentConfig, DeepAgentError, Members, ReadySubagent, SubagentSpec, create_deep_agent};
use bosun_model::{AiMessage, ChatRequest, SystemBlock};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::{Scene, everything_passes, prompt, scene};

/// A member under any name, which says in the prompt that it is there.
struct Says {
    name: &'static str,
    words: &'static str,
}

impl Middleware for Says {
    fn name(&self) -> &'static str {
        self.name
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        request.system.push(SystemBlock::new(self.words));
        next.run(request)
    }
}

fn says(name: &'static str, words: &'static str) -> Arc<dyn Middleware> {
    Arc::new(Says { name, words })
}

fn names(scene: &Scene) -> Vec<&'static str> {
    scene.agent.middleware.iter().map(|member| member.name()).collect()
}

fn send(id: &str, name: &str) -> Scripted {
    let args = json!({"description": "work", "subagent_type": name});
    Reply::new().and_call_with_id(id, "task", args).into()
}

#[test]
fn the_stack_stands_in_the_documented_order_with_ones_own_before_the_guards() {
    let scene = scene(vec![], |config| {
        config.memory.sources = vec![bosun_backend::VirtualPath::parse("/AGENTS.md").unwrap()];
        config.skills.builtin = true;
        config.middleware = vec![says("Mine", "mine"), says("Other", "other")];
        config.everywhere = vec![says("Everywhere", "everywhere")];
    });
    let expected = [
        "TodoList",
        "Memory",
        "Skills",
        "Filesystem",
        "SubAgents",
        "Summarization",
        "PromptCaching",
        "PatchToolCalls",
        "Mine",
        "Other",
        "Everywhere",
        "Guards",
        "HumanInTheLoop",
        "ModelRetry",
    ];
    assert_eq!(names(&scene), expected);
}

#[tokio::test]
async fn a_member_with_the_name_of_a_built_in_one_stands_in_its_place() {
    let replies = vec![send("t", "general-purpose"), "sub".into(), send("u", "own"), "own".into(), "done".into()];
    let scene = scene(replies, |config| {
        config.middleware = vec![says("TodoList", "I keep no list."), says("Mine", "Mine is here.")];
        config.subagents =
            vec![SubagentSpec { name: "own".into(), description: "x".into(), ..SubagentSpec::default() }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!((names(&scene)[0], names(&scene).iter().filter(|name| **name == "TodoList").count()), ("TodoList", 1));
    let told = |index: usize| {
        let request = scene.request(index);
        let has_tool = request.tools.iter().any(|tool| tool.name == "write_todos");
        ["I keep no list.", "Mine is here."]
            .map(|words| prompt(&request).contains(words))
            .into_iter()
            .chain([has_tool])
            .collect::<Vec<_>>()
    };
    assert_eq!(told(0), [true, true, false], "the agent");
    assert_eq!(told(1), [true, false, false], "its stand-in is the general-purpose subagent's, too");
    assert_eq!(told(3), [false, false, true], "a subagent of somebody's own has neither");
}

#[tokio::test]
async fn a_subagent_may_have_members_of_its_own() {
    let scene = scene(vec![send("t", "own"), "sub".into(), "done".into()], |config| {
        config.subagents = vec![SubagentSpec {
            name: "own".into(),
            description: "x".into(),
            middleware: [says("Quiet", "Speak softly."), says("TodoList", "No list.")].into_iter().collect(),
            ..SubagentSpec::default()
        }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let (main, sub) = (prompt(&scene.request(0)), prompt(&scene.request(1)));
    assert!(sub.contains("Speak softly.") && sub.contains("No list."), "{sub}");
    assert!(!main.contains("Speak softly.") && main.contains("write_todos"), "{main}");
    assert!(!scene.request(1).tools.iter().any(|tool| tool.name == "write_todos"));
    let members: Members = [says("A", "a")].into_iter().collect();
    assert_eq!((members.clone() == members, format!("{members:?}")), (true, "[\"A\"]".to_owned()));
}

#[tokio::test]
async fn a_subagent_may_be_an_agent_that_was_put_together_already() {
    let model = Arc::new(ScriptedModel::new(["from the other one"]));
    let elsewhere = Project::new();
    let backend = Arc::new(bosun_backend::LocalShellBackend::open(elsewhere.root(), Default::default()).unwrap());
    let mut other = DeepAgentConfig::new(Arc::clone(&model) as _, backend);
    other.base_prompt = Some("You are ready.".into());
    other.builtin_tools = Some(vec!["ls".into()]);
    other.policy = everything_passes();
    let ready = ReadySubagent {
        name: "ready".into(),
        description: "Is ready.".into(),
        agent: Arc::new(create_deep_agent(other).unwrap()),
    };
    let scene = scene(vec![send("t", "ready"), send("u", "nobody"), "done".into()], |config| {
        config.ready_subagents = vec![ready.clone()];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.result("t"), "from the other one");
    assert!(scene.result("u").contains("use one of: general-purpose, ready"), "{}", scene.result("u"));
    let request = model.requests().remove(0);
    assert_eq!(request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["ls"]);
    assert!(prompt(&request).starts_with("You are ready."), "{}", prompt(&request));
    let task = scene.request(0).tools.iter().find(|tool| tool.name == "task").unwrap().description.clone();
    assert!(task.contains("- ready: Is ready."), "{task}");
    let mut twice = DeepAgentConfig::new(scene.agent.model.clone(), Arc::clone(&scene.agent.backend));
    twice.ready_subagents = vec![ready.clone(), ready];
    assert_eq!(create_deep_agent(twice).err(), Some(DeepAgentError::DuplicateSubagent { name: "ready".into() }));
}
