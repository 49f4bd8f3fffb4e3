use std::sync::Arc;

use bosun_agent::{
    AgentError, BoxFuture, Decision, DecisionSource, EntryBody, Halt, Middleware, NextModel, NoteKind, OpenCall,
    Recorded, TurnContext, TurnEnd, run_turn,
};
use bosun_harness::{SUBAGENT_TOOLS, SubagentSpec};
use bosun_model::{
    AiMessage, CallId, ChatModel, ChatRequest, Effort, Message, ModelError, ModelErrorKind, ModelInfo, OutputSchema,
    Stays, ToolChoice, Usage,
};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::scene::{Scene, prompt, scene, texts};

fn send(id: &str, name: &str) -> Scripted {
    let args = json!({"description": format!("work for {id}"), "subagent_type": name});
    Reply::new().and_call_with_id(id, "task", args).into()
}

fn spec(name: &str) -> SubagentSpec {
    SubagentSpec { name: name.into(), description: format!("the {name}"), ..SubagentSpec::default() }
}

fn verdict() -> OutputSchema {
    let schema = json!({
        "type": "object",
        "properties": {"good": {"type": "boolean"}, "why": {"type": "string"}},
        "required": ["good"],
    });
    OutputSchema { name: "verdict".into(), schema }
}

fn hand_in(args: Value) -> Scripted {
    Reply::new().and_call_with_id("f", "final_answer", args).into()
}

#[tokio::test]
async fn an_own_general_purpose_takes_the_place_of_the_built_in() {
    let scene = scene(vec![send("a", "general-purpose"), "seen".into(), "done".into()], |config| {
        config.subagents = vec![SubagentSpec { tools: Some(vec!["ls".into()]), ..spec("general-purpose") }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.model.requests()[1].tools.len(), 1);
}

/// What is derived from a list of tools goes by the list: where each subagent has one of its own, all of it is done again.
#[tokio::test]
async fn subagents_of_one_name_are_made_once_and_send_the_same_list_of_tools() {
    let work = |id: &str, name: &str| (id.to_owned(), json!({"description": id, "subagent_type": name}));
    let sent = [work("a", "reader"), work("b", "reader"), work("c", "general-purpose")];
    let send = sent.into_iter().fold(Reply::new(), |reply, (id, args)| reply.and_call_with_id(id, "task", args));
    let replies: Vec<Scripted> = vec![send.into(), "one".into(), "two".into(), "three".into(), "done".into()];
    let scene = scene(replies, |config| {
        config.subagents = vec![SubagentSpec { tools: Some(vec!["ls".into()]), ..spec("reader") }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let requests = scene.model.requests();
    let lists: Vec<_> = requests[1..4].iter().map(|request| Arc::clone(&request.tools)).collect();
    let readers: Vec<_> = lists.iter().filter(|tools| tools.len() == 1).collect();
    assert!(readers.len() == 2 && Arc::ptr_eq(readers[0], readers[1]), "{readers:?}");
}

#[tokio::test]
async fn a_subagent_has_its_own_prompt_tools_and_model() {
    let own = Arc::new(ScriptedModel::new(["from the other model"]));
    let other = Arc::clone(&own);
    let scene = scene(vec![send("t", "reader"), "done".into()], |config| {
        config.models = [("test:other".to_owned(), other as _)].into();
        config.subagents = vec![SubagentSpec {
            prompt: "Read slowly.".into(),
            tools: Some(vec!["read_file".into(), "ls".into()]),
            model: Some("test:other".into()),
            ..spec("reader")
        }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.result("t"), "from the other model");
    let request = own.requests().remove(0);
    assert_eq!(request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["ls", "read_file"]);
    assert!(prompt(&request).contains("Read slowly.") && !prompt(&request).contains("write_todos"));
    assert_eq!(texts(&request), ["work for t"]);
}

#[tokio::test]
async fn a_subagent_thinks_as_its_definition_says_and_else_as_is_asked_for_all() {
    let scene = scene(
        vec![send("t", "thinker"), "from t".into(), send("u", "plain"), "from u".into(), "done".into()],
        |config| {
            config.subagents = vec![SubagentSpec { effort: Some(Effort::Low), ..spec("thinker") }, spec("plain")];
            config.everywhere = vec![Arc::new(Usual(Effort::High))];
        },
    );
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let efforts: Vec<_> = scene.model.requests().iter().map(|request| request.effort).collect();
    let (low, high) = (Some(Effort::Low), Some(Effort::High));
    assert_eq!(efforts, [high, low, high, high, high]);
}

/// What holds for every agent that does not say otherwise, as a session does it.
struct Usual(Effort);

impl Middleware for Usual {
    fn name(&self) -> &'static str {
        "Usual"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        request.effort = request.effort.or(Some(self.0));
        next.run(request)
    }
}

#[tokio::test]
async fn what_a_subagent_cannot_be_is_told_to_the_model() {
    let subagents = || vec![SubagentSpec { model: Some("nobody:nothing".into()), ..spec("a") }, spec("b")];
    let replies = vec![send("a1", "a"), send("c1", "c"), "done".into()];
    let scene = scene(replies, |config| config.subagents = subagents());
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(scene.result("a1").contains("the subagent's model 'nobody:nothing' is not set up"));
    assert!(scene.result("c1").contains("use one of: general-purpose, a, b"), "{}", scene.result("c1"));
}

#[tokio::test]
async fn a_subagent_works_without_tools_that_are_not_here_and_the_person_is_told_once() {
    let replies = vec![send("b1", "b"), "looked".into(), "done".into(), send("b2", "b"), "again".into(), "done".into()];
    let scene = scene(replies, |config| {
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        config.subagents = vec![
            SubagentSpec { tools: names(&["ls", "fly", "search_docs"]), ..spec("b") },
            SubagentSpec { tools: names(&["task", "compact_conversation", "write_todos", "execute"]), ..spec("c") },
        ];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.say("once more").await, TurnEnd::Done);
    assert_eq!((&*scene.result("b1"), &*scene.result("b2")), ("looked", "again"));
    let offered = scene.request(1).tools;
    assert_eq!(offered.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["ls"]);
    let told = scene.host.entries().into_iter().filter_map(|recorded| match recorded.entry.body {
        EntryBody::Noted { kind: NoteKind::DefinitionWrong, detail, .. } => Some(detail),
        _ => None,
    });
    let expected = "Subagents: 'b' works without tools that are not available here: fly, search_docs";
    assert_eq!(told.collect::<Vec<_>>(), [expected]);
}

#[tokio::test]
async fn the_tools_that_a_subagent_may_name_are_those_that_there_are() {
    let replies = vec![send("t", "general-purpose"), "looked".into(), "done".into()];
    let scene = scene(replies, |config| {
        let all = SUBAGENT_TOOLS.iter().map(|name| (*name).to_owned()).collect();
        config.subagents = vec![SubagentSpec { tools: Some(all), ..spec("all") }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let is_note = |recorded: &Recorded| matches!(recorded.entry.body, EntryBody::Noted { .. });
    assert!(!scene.host.entries().iter().any(is_note), "all of these are there");
    let offered = scene.request(1).tools;
    let unknown = offered.iter().map(|tool| tool.name.as_str()).filter(|name| !SUBAGENT_TOOLS.contains(name));
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_subagent_asks_more_than_its_parent_and_never_less() {
    let mut asks = spec("careful");
    asks.interrupt_on = [("ls".to_owned(), Default::default())].into();
    let list = Reply::new().and_call_with_id("l", "ls", json!({"path": "/"}));
    let scene = scene(vec![send("t", "careful"), list.into()], |config| config.subagents = vec![asks]);
    let cx = scene.context();
    let message = bosun_model::HumanMessage { id: "h".into(), content: vec!["go".into()] };
    scene.log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    let turn = tokio::time::timeout(std::time::Duration::from_millis(300), bosun_agent::run_turn(&cx)).await;
    assert!(turn.is_err(), "it waits for a person: {turn:?}");
    let child = scene.host.child_of(&CallId::from("t")).unwrap();
    assert!(child.entries().iter().any(|recorded| matches!(recorded.entry.body, EntryBody::Asked { .. })));
}

/// Who chose a model of this machine sends nothing anywhere else.
#[tokio::test]
async fn a_model_elsewhere_gets_nothing_from_one_of_this_machine() {
    let elsewhere = Arc::new(ScriptedModel::new(["from elsewhere"]));
    let info = ModelInfo { stays: Stays::Yes, ..elsewhere.info().clone() };
    let near = Arc::new(ScriptedModel::new(["from beside"]).with_info(info.clone()));
    let replies = vec![send("t", "far"), send("u", "near"), "done".into()];
    let models = [("test:far".to_owned(), Arc::clone(&elsewhere) as _), ("test:near".to_owned(), near as _)];
    let own = ScriptedModel::new(replies).with_info(info);
    let scene = Scene::build(Project::new(), own, vec![], |config| {
        config.models = models.into();
        let spec = |name: &str| SubagentSpec { model: Some(format!("test:{name}")), ..spec(name) };
        config.subagents = vec![spec("far"), spec("near")];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let refused = scene.result("t");
    assert!(refused.contains("'test:far' does not run on this machine"), "{refused}");
    assert!(elsewhere.requests().is_empty());
    assert_eq!(scene.result("u"), "from beside");
}

#[tokio::test]
async fn a_structured_answer_is_checked_and_handed_on_as_json() {
    let replies = vec![
        send("t", "judge"),
        "It is good.".into(),
        hand_in(json!({"why": "no verdict"})),
        hand_in(json!({"good": true, "why": "tested"})),
        "done".into(),
    ];
    let scene = scene(replies, |config| {
        config.subagents = vec![SubagentSpec { output: Some(verdict()), ..spec("judge") }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(serde_json::from_str::<Value>(&scene.result("t")).unwrap(), json!({"good": true, "why": "tested"}));
    assert_eq!(scene.model.requests().len(), 5, "the last words of the subagent cost no call");
    let reminded = texts(&scene.request(2));
    assert!(reminded.last().unwrap().contains("final_answer"), "{reminded:?}");
}

#[tokio::test]
async fn a_turn_of_the_main_agent_may_end_in_json_too() {
    let scene = scene(vec![hand_in(json!({"good": false}))], |config| config.output = Some(verdict()));
    assert_eq!(scene.say("is it good?").await, TurnEnd::Done);
    assert_eq!(scene.log.with_state(|state| state.last_text()).unwrap(), r#"{"good":false}"#);
    scene.model.then(hand_in(json!({"good": true})));
    assert_eq!(scene.say("and now?").await, TurnEnd::Done);
    assert_eq!(scene.log.with_state(|state| state.last_text()).unwrap(), r#"{"good":true}"#);
}

/// What a person made of an answer is the answer.
#[tokio::test]
async fn an_answer_that_a_person_changed_is_handed_in_as_they_changed_it() {
    let scene = scene(vec![hand_in(json!({"good": false}))], |config| {
        config.output = Some(verdict());
        config.policy.interrupt_on = [("final_answer".to_owned(), Some(Default::default()))].into();
    });
    let edit = Decision::Edit { args: json!({"good": true, "why": "I looked"}) };
    assert_eq!(answered(&scene, vec![("f", edit)]).await, TurnEnd::Done);
    assert_eq!(scene.log.with_state(|state| state.last_text()).unwrap(), r#"{"good":true,"why":"I looked"}"#);
}

/// A turn in which a person decides calls, one after the other.
async fn answered(scene: &Scene, decisions: Vec<(&str, Decision)>) -> TurnEnd {
    let mut turn = std::pin::pin!(scene.say("is it good?"));
    let decided = async {
        for (id, decision) in decisions {
            let id = id.into();
            while !scene.log.with_state(|state| state.open_call(&id).is_some_and(OpenCall::is_waiting)) {
                tokio::task::yield_now().await;
            }
            let as_given = |_: &str, args: &Value| Ok(args.clone());
            scene.log.decide(&id, None, decision, DecisionSource::Person, &as_given).await.unwrap();
        }
    };
    tokio::select! {
        end = &mut turn => panic!("the turn ended: {end:?}"),
        () = decided => {}
    }
    turn.await
}

/// What a person says in the place of the tool is for the model, which goes on from it.
#[tokio::test]
async fn an_answer_that_a_person_answered_is_not_handed_in() {
    let again = Reply::new().and_call_with_id("g", "final_answer", json!({"good": true}));
    let scene = scene(vec![hand_in(json!({"good": false})), again.into()], |config| {
        config.output = Some(verdict());
        config.policy.interrupt_on = [("final_answer".to_owned(), Some(Default::default()))].into();
    });
    let said = Decision::Respond { text: "no, look again".into() };
    assert_eq!(answered(&scene, vec![("f", said), ("g", Decision::Approve)]).await, TurnEnd::Done);
    assert_eq!(scene.log.with_state(|state| state.last_text()).unwrap(), r#"{"good":true}"#);
    assert_eq!(texts(&scene.request(1)).last().unwrap(), "no, look again");
}

/// behaviour.md 7.
#[tokio::test]
async fn a_subagent_whose_last_reply_is_empty_has_answered_with_what_it_said_before() {
    let said = Reply::new().and_text("It is in /a.txt. \n").and_call("ls", json!({"path": "/"}));
    let silent = Reply::new().and_call("ls", json!({"path": "/"}));
    let replies = vec![send("t", "general-purpose"), said.into(), "".into()];
    let rest = vec![send("u", "general-purpose"), silent.into(), "".into(), "done".into()];
    let scene = scene([replies, rest].concat(), |_| {});
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.result("t"), "It is in /a.txt.");
    assert!(scene.result("u").starts_with("Error: the subagent ended without an answer"), "{}", scene.result("u"));
}

#[tokio::test]
async fn a_model_that_will_not_hand_in_is_made_to_and_else_fails_and_can_go_on() {
    let scene = scene(vec!["a".into(), "b".into(), "c".into()], |config| config.output = Some(verdict()));
    let end = scene.say("is it good?").await;
    assert!(matches!(end, TurnEnd::Failed { halt: Some(Halt::AnswerNotHandedIn), .. }), "{end:?}");
    assert_eq!(scene.log.with_state(|state| state.last_text()).unwrap(), "c");
    assert_eq!(scene.log.with_state(|state| state.usage.output), Some(15), "what the others cost is counted");
    // And apart from the reply's own, by which the window's filling is judged.
    let output = |usage: Option<Usage>| usage.and_then(|usage| usage.output);
    let counted = scene.log.with_state(|state| match &**state.messages.last().unwrap() {
        Message::Ai(last) => (output(last.usage), output(last.dropped.map(|dropped| dropped.usage))),
        other => panic!("{other:?}"),
    });
    assert_eq!(counted, (Some(5), Some(10)));
    let forced = ToolChoice::Tool("final_answer".into());
    let choices: Vec<_> = scene.model.requests().into_iter().map(|request| request.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, forced]);
    scene.model.then(hand_in(json!({"good": false})));
    scene.log.record(vec![EntryBody::TurnContinued { turn: 1 }]).await.unwrap();
    assert_eq!(run_turn(&scene.context()).await.unwrap(), TurnEnd::Done);
    assert_eq!(scene.log.with_state(|state| state.last_text()).unwrap(), r#"{"good":false}"#);
}

#[tokio::test]
async fn what_a_subagent_says_in_the_place_of_its_answer_is_no_success() {
    let replies = vec![send("t", "judge"), "a".into(), "b".into(), "I think so.".into(), "done".into()];
    let scene = scene(replies, |config| {
        config.subagents = vec![SubagentSpec { output: Some(verdict()), ..spec("judge") }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let told = scene.result("t");
    assert!(
        told.starts_with("Error: the subagent did not finish: the model did not give its answer in the required form"),
        "{told}"
    );
    assert!(told.ends_with("So far it had said: I think so."), "{told}");
}

#[tokio::test]
async fn words_that_are_the_answer_are_taken_as_it() {
    let replies = vec!["a".into(), "b".into(), r#"{"good":true,"why":"tested"}"#.into()];
    let scene = scene(replies, |config| config.output = Some(verdict()));
    assert_eq!(scene.say("is it good?").await, TurnEnd::Done);
}

#[tokio::test]
async fn a_subagent_that_spawns_itself_stops_at_the_limit() {
    let mut replies: Vec<Scripted> = (0..4).map(|depth| send(&format!("t{depth}"), "general-purpose")).collect();
    replies.extend(["three", "two", "one", "zero"].map(Scripted::from));
    let scene = scene(replies, |_| {});
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let requests = scene.model.requests();
    assert_eq!(requests.len(), 8);
    let offered = |request: &ChatRequest| request.tools.iter().any(|tool| tool.name == "task");
    assert_eq!([0, 1, 2, 3].map(|depth| offered(&requests[depth])), [true, true, true, false]);
    let refused = texts(&requests[4]).pop().unwrap();
    assert!(refused.contains("task is not a valid tool"), "{refused}");
}

/// A long answer with its middle, which no cap may take away.
#[tokio::test]
async fn a_long_answer_is_in_its_file_as_a_whole_and_without_one_says_what_is_missing() {
    let lines: Vec<String> = (0..30_000).map(|line| format!("finding {line}")).collect();
    let answer = lines.join("\n");
    for (evicts, told) in [(true, "and is in the file /large_tool_results/t."), (false, "characters left out")] {
        let replies = vec![send("t", "general-purpose"), Reply::text(answer.clone()).into(), "done".into()];
        let scene = scene(replies, |config| {
            if !evicts {
                config.filesystem.evict_results_over = 0;
            }
        });
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert!(scene.result("t").contains(told), "{evicts}");
        let file = scene.project.at("large_tool_results/t");
        assert_eq!(std::fs::read_to_string(file).ok(), evicts.then(|| answer.clone()));
    }
}

#[tokio::test]
async fn a_subagents_own_step_limit_and_failure_are_results_for_its_parent() {
    let list = || Scripted::from(Reply::new().and_text("looking").and_call("ls", json!({"path": "/"})));
    let failure = ModelError::new(ModelErrorKind::InvalidRequest, "scripted", "bad luck");
    let replies = vec![send("t1", "short"), list(), list(), send("t2", "short"), failure.into(), "done".into()];
    let scene = scene(replies, |config| {
        config.subagents = vec![SubagentSpec { max_steps: Some(2), ..spec("short") }];
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(scene.result("t1").contains("it reached its limit of 2 steps. So far it had said: looking"));
    assert!(scene.result("t2").contains("bad luck"), "{}", scene.result("t2"));
}

#[tokio::test]
async fn subagents_side_by_side_answer_in_the_order_of_their_calls() {
    let mut reply = Reply::new();
    for n in 0..20 {
        let args = json!({"description": format!("part {n}"), "subagent_type": "general-purpose"});
        reply = reply.and_call_with_id(format!("t{n}"), "task", args);
    }
    let mut replies: Vec<Scripted> = vec![reply.into()];
    replies.extend((0..20).map(|_| Scripted::from("an answer")));
    replies.push("done".into());
    let scene = Scene::build(Project::new(), ScriptedModel::new(replies), vec![], |_| {});
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    for n in 0..20 {
        assert_eq!(scene.result(&format!("t{n}")), "an answer");
        let child = scene.host.child_of(&CallId::new(format!("t{n}"))).unwrap();
        let told = format!("{:?}", child.entries());
        assert!(told.contains(&format!("part {n}\"")), "{told}");
    }
}
