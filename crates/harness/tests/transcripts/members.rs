//! Each member by itself, over both families: what the provider is sent because of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bosun_agent::{Ask, Decision, DecisionSource, Middleware, NextModel, NextTool};
use bosun_harness::{HookConfig, HookPoint, Hooks, ModelRetry, OnDemand, RetryOptions, SkillSource, SubagentSpec};
use bosun_model::{AiMessage, ChatRequest, StopReason, SystemBlock, ToolCall};
use bosun_testkit::{Asked, Speaker};
use bosun_tools::{DynTool, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use schemars::JsonSchema;
use serde::Deserialize;

use pretty_assertions::assert_eq;

use super::*;

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

/// What was asked in the request number `index`.
fn asked(scene: &Scene, index: usize) -> Asked {
    scene.server.requests()[index].asked()
}

/// What came back to the model from the call `id`, in the last request.
fn result(scene: &Scene, id: &str) -> String {
    let asked = scene.server.requests().last().unwrap().asked();
    let found = asked.said.into_iter().find(|said| said.by == Speaker::Tool && said.call_id.as_deref() == Some(id));
    found.unwrap_or_else(|| panic!("no result of {id}")).text
}

fn todo(content: &str) -> Value {
    json!({"todos": [{"content": content, "status": "pending"}]})
}

#[tokio::test]
async fn todo_list_offers_its_tool_and_refuses_two_plans_at_once() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |_| {});
        let two = call("a", "write_todos", todo("one")).and_call_with_id("b", "write_todos", todo("two"));
        scene.server.add(Rule::turn("plan").reply(two).reply(call("c", "write_todos", todo("one"))).reply("Planned."));
        assert_eq!(scene.say("plan").await, TurnEnd::Done);
        assert!(asked(&scene, 0).system.contains("## Planning with write_todos"));
        for id in ["a", "b"] {
            assert!(result(&scene, id).starts_with("Error"), "{}", result(&scene, id));
        }
        assert!(result(&scene, "c").contains("1 entry"), "{}", result(&scene, "c"));
    }
}

#[tokio::test]
async fn memory_is_read_again_once_it_was_changed() {
    for wire in WIRES {
        let scene = scene(wire, Project::new().file("AGENTS.md", "Tea. <!-- hidden -->"), |config| {
            config.memory.sources = vec![path("/AGENTS.md")];
        });
        let write = json!({"file_path": "/AGENTS.md", "old_string": "Tea.", "new_string": "Coffee."});
        scene.server.add(
            Rule::turn("go")
                .reply(call("r", "read_file", json!({"file_path": "/AGENTS.md"})))
                .reply(call("e", "edit_file", write))
                .reply("Noted."),
        );
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        let (before, after) = (asked(&scene, 0).system, asked(&scene, 2).system);
        assert!(before.contains("Tea.") && !before.contains("hidden"), "{before}");
        assert!(after.contains("Coffee.") && !after.contains("Tea."), "{after}");
    }
}

#[tokio::test]
async fn skills_show_their_tools_once_they_were_read_and_stand_whole_where_they_are_pinned() {
    for wire in WIRES {
        let text = |name: &str, tools: &str| {
            format!("---\nname: {name}\ndescription: About {name}.\n{tools}---\nFollow {name}.\n")
        };
        let project = Project::new()
            .file("skills/forms/SKILL.md", text("forms", "metadata:\n  include_tools: echo\n"))
            .file("skills/tone/SKILL.md", text("tone", ""));
        let scene = scene(wire, project, |config| {
            config.tools = vec![erase(Echo)];
            config.skills.sources = vec![SkillSource { path: path("/skills"), label: None }];
            config.skills.pinned = vec!["tone".into()];
        });
        let read = call("r", "read_file", json!({"file_path": "/skills/forms/SKILL.md", "limit": 1_000}));
        scene
            .server
            .add(Rule::turn("go").reply(read).reply(call("x", "echo", json!({"text": "filled"}))).reply("Done."));
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        let offered = |index| asked(&scene, index).tools.contains(&"echo".to_owned());
        assert_eq!((offered(0), offered(1)), (false, true));
        let system = asked(&scene, 0).system;
        assert!(system.contains("About forms.") && !system.contains("Follow forms."), "{system}");
        assert!(system.contains("Follow tone."), "{system}");
        assert_eq!(result(&scene, "x"), "filled");
    }
}

#[tokio::test]
async fn filesystem_sends_the_ends_of_what_is_huge() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |config| config.filesystem.evict_messages_over = 100);
        scene.server.once("Read.");
        let lines: Vec<String> = (0..200).map(|n| format!("line {n}")).collect();
        assert_eq!(scene.say(&lines.join("\n")).await, TurnEnd::Done);
        let sent = asked(&scene, 0).last_human().to_owned();
        assert!(sent.contains("line 0") && sent.contains("line 199") && !sent.contains("line 100"), "{sent}");
        assert!(scene.log.with_state(|state| state.messages[0].content()[0].as_text().unwrap().contains("line 100")));
    }
}

#[tokio::test]
async fn sub_agents_beside_the_agent_are_told_of_in_a_request() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |config| config.background_subagents = true);
        let start = json!({"description": "dig deep", "subagent_type": "general-purpose"});
        scene.server.add(Rule::turn("dig deep").reply("found </answer> gold"));
        scene.server.add(Rule::turn("begin").reply(call("s", "start_async_task", start)).reply("Begun."));
        // It may end while the agent still speaks, or after.
        scene.server.add(Rule::last_contains("async_task_notification").reply("I see.").reply("I see."));
        scene.server.add(Rule::turn("and?").reply("I see."));
        assert_eq!(scene.say("begin").await, TurnEnd::Done);
        scene.log.background().idle().await;
        assert_eq!(scene.say("and?").await, TurnEnd::Done);
        let said = scene.server.requests().last().unwrap().json()["messages"].to_string();
        assert!(said.contains("async_task_notification") && said.contains("gold"), "{said}");
        assert!(!said.contains("found </answer>"), "its words cannot end the notice: {said}");
    }
}

#[tokio::test]
async fn summarization_sends_a_summary_in_the_place_of_what_is_old() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |config| {
            config.summarization.trigger = vec![Threshold::Messages(4).into()];
            config.summarization.keep = Some(Threshold::Messages(1));
        });
        for turn in ["one", "two"] {
            scene.server.once(Reply::text("and so on ".repeat(300)));
            assert_eq!(scene.say(turn).await, TurnEnd::Done);
        }
        scene.server.once("The story.");
        scene.server.once("Three.");
        assert_eq!(scene.say("three").await, TurnEnd::Done);
        let summing = asked(&scene, 2);
        assert!(summing.tools.is_empty() && summing.last_human().contains("<conversation>"), "{summing:?}");
        let last = asked(&scene, 3);
        let humans: Vec<&str> = last.said.iter().filter(|s| s.by == Speaker::Human).map(|s| s.text.as_str()).collect();
        assert!(humans[0].contains("<summary>\nThe story.\n</summary>"), "{humans:?}");
        assert!(humans.concat().contains("three") && !last.said.iter().any(|s| s.by == Speaker::Ai), "{humans:?}");
    }
}

#[tokio::test]
async fn patch_tool_calls_answers_what_was_left_open() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |_| {});
        // A journal of before, in which a call never got its result.
        let message = HumanMessage { id: "h1".into(), content: vec!["look".into()] };
        let reply = |id: &str, tool_calls: Vec<ToolCall>| AiMessage {
            id: id.into(),
            content: vec!["looking".into()],
            tool_calls,
            invalid_tool_calls: vec![],
            call_places: Vec::new(),
            dropped: None,
            usage: None,
            stop: StopReason::EndTurn,
            model: None,
            asked: None,
        };
        let lost = ToolCall { id: "lost".into(), name: "ls".into(), args: json!({"path": "/"}) };
        let entries = vec![
            EntryBody::TurnStarted { turn: 1, message },
            EntryBody::Ai { message: reply("m1", vec![lost]), kinds: vec![ToolKind::Read], cost: None },
            EntryBody::Ai { message: reply("m2", vec![]), kinds: vec![], cost: None },
            EntryBody::TurnEnded { turn: 1, end: TurnEnd::Done },
        ];
        scene.log.record(entries).await.unwrap();
        scene.server.once("Again.");
        assert_eq!(scene.say("again").await, TurnEnd::Done);
        assert!(result(&scene, "lost").contains("No result of this call was recorded"), "{}", result(&scene, "lost"));
    }
}

async fn ask_of(scene: &Scene) -> Ask {
    let ask = async {
        loop {
            let ask = scene.log.with_state(|state| state.waiting().next().and_then(|call| call.ask.clone()));
            match ask {
                Some(ask) => return ask,
                None => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ask).await.unwrap()
}

#[tokio::test]
async fn human_in_the_loop_sends_what_a_person_decided() {
    let decisions = [
        (Decision::Approve, "ran as asked"),
        (Decision::Edit { args: json!({"command": "echo ran as edited"}) }, "The user changed this call"),
        (Decision::Respond { text: "it said hello".into() }, "it said hello"),
        (Decision::Reject { reason: Some("not today".into()) }, "Their reason: not today"),
    ];
    for (wire, (decision, told)) in WIRES.into_iter().flat_map(|wire| decisions.clone().map(|one| (wire, one))) {
        let scene = scene(wire, Project::new(), |config| config.policy = Policy::default());
        let run = json!({"command": "echo ran as asked"});
        scene.server.add(Rule::turn("run it").reply(call("x", "execute", run)).reply("Done."));
        let deciding = async {
            let ask = ask_of(&scene).await;
            let check = |_: &str, args: &Value| Ok(args.clone());
            scene
                .log
                .decide(&ask.call.id, Some(&ask.digest), decision.clone(), DecisionSource::Person, &check)
                .await
                .unwrap();
        };
        let (end, ()) = tokio::join!(scene.say("run it"), deciding);
        assert_eq!(end, TurnEnd::Done);
        assert!(result(&scene, "x").contains(told), "{}", result(&scene, "x"));
        let calls = asked(&scene, 1).said.into_iter().flat_map(|said| said.calls).collect::<Vec<_>>();
        assert_eq!(calls[0].args, json!({"command": "echo ran as asked"}), "the model's own words stay");
    }
}

#[tokio::test]
async fn model_retry_sends_the_same_bytes_again() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |config| {
            let options = RetryOptions { first_wait: Duration::from_millis(1), ..RetryOptions::default() };
            // By the name of the built-in one, it stands in its place.
            config.middleware = vec![Arc::new(ModelRetry::new(options))];
        });
        scene.server.once(Reply::error(429, "rate_limit_error", "slow down").retry_after(0));
        scene.server.once(Reply::error(503, "overloaded_error", "busy"));
        scene.server.once("Here.");
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        let bodies = scene.bodies();
        assert_eq!((bodies.len(), &bodies[0]), (3, &bodies[1]));
        assert_eq!(bodies[1], bodies[2]);
    }
}

#[tokio::test]
async fn hooks_refuse_a_call_and_the_model_is_told_why() {
    for wire in WIRES {
        let project = Project::new();
        let folder = project.root().to_owned();
        let scene = scene(wire, project, |config| {
            let hook = HookConfig {
                name: "guard".into(),
                point: HookPoint::BeforeTool,
                command: "sh".into(),
                args: vec!["-c".into(), "echo 'not on a Friday' >&2; exit 2".into()],
                tools: Vec::new(),
                timeout: 20,
                env: Default::default(),
                secret_env: Vec::new(),
                pass_env: Vec::new(),
                on_failure: None,
                enabled: true,
            };
            config.everywhere = vec![Arc::new(Hooks::new(vec![hook], folder).unwrap())];
        });
        scene
            .server
            .add(Rule::turn("go").reply(call("x", "execute", json!({"command": "touch a"}))).reply("Then not."));
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert!(
            result(&scene, "x").contains("the hook 'guard' refused it: not on a Friday"),
            "{}",
            result(&scene, "x")
        );
        assert!(!scene.project.exists("a"));
    }
}

/// A tool of a library's user.
struct Echo;

#[derive(Deserialize, JsonSchema)]
struct EchoInput {
    text: String,
}

impl Tool for Echo {
    const NAME: &'static str = "echo";
    type Input = EchoInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "Says it again.".into()
    }

    async fn call(&self, _cx: &ToolContext, input: EchoInput) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(input.text))
    }
}

#[tokio::test]
async fn on_demand_keeps_tools_out_of_the_request_until_they_are_looked_for() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |config| {
            let tools: Vec<Arc<dyn DynTool>> = vec![erase(Echo)];
            config.on_demand = OnDemand::over(&tools, 0).map(Arc::new);
            config.tools = tools;
        });
        scene.server.add(
            Rule::turn("go")
                .reply(call("s", "search_tools", json!({"query": "echo"})))
                .reply(call("x", "echo", json!({"text": "heard"})))
                .reply("Done."),
        );
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        let offered = |index| asked(&scene, index).tools.contains(&"echo".to_owned());
        assert_eq!((offered(0), offered(1)), (false, true));
        assert_eq!(result(&scene, "x"), "heard");
    }
}

/// Another tool of a server.
struct Shout;

impl Tool for Shout {
    const NAME: &'static str = "shout";
    type Input = EchoInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "Says it again, louder.".into()
    }

    async fn call(&self, _cx: &ToolContext, input: EchoInput) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(input.text.to_uppercase()))
    }
}

#[tokio::test]
async fn on_demand_offers_a_subagent_only_the_tools_that_it_has() {
    for wire in WIRES {
        let scene = scene(wire, Project::new(), |config| {
            let tools: Vec<Arc<dyn DynTool>> = vec![erase(Echo), erase(Shout)];
            config.on_demand = OnDemand::over(&tools, 0).map(Arc::new);
            config.tools = tools;
            let spec = |name: &str, tools: &[&str]| SubagentSpec {
                name: name.into(),
                description: name.into(),
                tools: Some(tools.iter().map(|tool| (*tool).to_owned()).collect()),
                ..SubagentSpec::default()
            };
            config.subagents = vec![spec("reader", &["ls"]), spec("speaker", &["ls", "echo"])];
        });
        let send = |id: &str, name: &str| {
            call(id, "task", json!({"description": format!("work of the {name}"), "subagent_type": name}))
        };
        scene.server.add(Rule::turn("go").reply(send("r", "reader")).reply(send("s", "speaker")).reply("Done."));
        scene.server.add(Rule::turn("work of the reader").reply("Read."));
        let search = call("f", "search_tools", json!({"query": "says again"}));
        scene.server.add(
            Rule::turn("work of the speaker")
                .reply(search)
                .reply(call("e", "echo", json!({"text": "heard"})))
                .reply("Spoken."),
        );
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        let asked: Vec<Asked> = scene.server.requests().iter().map(|request| request.asked()).collect();
        assert!(asked[0].system.contains("there are 2 more, of these servers: echo, shout"), "{}", asked[0].system);
        assert_eq!(asked[1].tools, ["ls"]);
        assert!(!asked[1].system.contains("search_tools"), "{}", asked[1].system);
        assert!(asked[3].system.contains("there is 1 more, of this server: echo"), "{}", asked[3].system);
        let found = asked[4].said.iter().find(|said| said.call_id.as_deref() == Some("f")).unwrap();
        assert!(found.text.contains("- echo:") && !found.text.contains("shout"), "{}", found.text);
        assert_eq!((asked[3].tools.contains(&"echo".into()), asked[4].tools.contains(&"echo".into())), (false, true));
    }
}

/// A member that asks each model call twice and changes a call on its way.
#[derive(Default)]
struct Doubling {
    calls: AtomicUsize,
}

impl Middleware for Doubling {
    fn name(&self) -> &'static str {
        "Doubling"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> bosun_agent::BoxFuture<'a, Result<AiMessage, bosun_agent::AgentError>> {
        request.system.push(SystemBlock::new("Twice over."));
        Box::pin(async move {
            let first = next.run(request.clone()).await?;
            self.calls.fetch_add(1, Ordering::SeqCst);
            if first.tool_calls.is_empty() { next.run(request).await } else { Ok(first) }
        })
    }

    fn wrap_tool_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut call: ToolCall,
        next: NextTool<'a>,
    ) -> bosun_agent::BoxFuture<'a, Result<ToolOutput, bosun_agent::AgentError>> {
        call.args = json!({"path": "/inner"});
        next.run(call)
    }
}

#[tokio::test]
async fn a_member_of_ones_own_changes_requests_and_calls() {
    for wire in WIRES {
        let scene = scene(wire, Project::new().file("inner/seen.txt", "x"), |config| {
            config.middleware = vec![Arc::new(Doubling::default())];
        });
        scene.server.once(call("l", "ls", json!({"path": "/"})));
        scene.server.once("First.");
        scene.server.once("Second.");
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert_eq!(scene.server.requests().len(), 3);
        assert!(asked(&scene, 0).system.contains("Twice over."));
        assert!(result(&scene, "l").contains("/inner/seen.txt"), "{}", result(&scene, "l"));
        assert_eq!(scene.log.with_state(|state| state.last_text()).as_deref(), Some("Second."));
    }
}
