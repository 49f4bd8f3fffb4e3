use std::sync::Arc;
use std::time::{Duration, Instant};

use bosun_agent::{
    AskReason, Decision, DecisionSource, EntryBody, NoteKind, Policy, Recorded, SessionLog, TurnContext, TurnEnd,
    run_turn,
};
use bosun_harness::mcp::{TokenStore, UnkeptTokens};
use bosun_harness::{
    Artifacts, HookConfig, HookPoint, HookVerdict, Hooks, OnFailure, Summarization, SummarizationOptions, Threshold,
};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::scene::{Scene, texts};

#[tokio::test]
async fn a_hook_for_calls_of_tools_that_there_are_not_is_told_once() {
    let for_tools = |name: &str, tools: &[&str]| {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        HookConfig { tools, ..hook(name, HookPoint::BeforeTool, "true") }
    };
    let hooks = vec![
        for_tools("guard", &["execute", "exceute", "web__*"]),
        for_tools("format", &["*_file", "search_memories", "ls"]),
        HookConfig { enabled: false, ..for_tools("off", &["nothing"]) },
    ];
    let task = json!({ "description": "look", "subagent_type": "general-purpose" });
    let scene = scene(vec![call("t", "task", task), "looked".into(), "done".into(), "again".into()], hooks);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(scene.say("again").await, TurnEnd::Done);
    let told = scene.host.entries().into_iter().filter_map(|recorded| match recorded.entry.body {
        EntryBody::Noted { kind: NoteKind::NotUsed, detail, .. } => Some(detail),
        _ => None,
    });
    let expected = "The hook 'guard' is for calls of exceute, web__*, but no tool here is called that, so it does not run \
                    for them. Correct the name, or add the server whose tool it is";
    assert_eq!(told.collect::<Vec<_>>(), [expected]);
}

/// A shell script as a hook.
fn hook(name: &str, point: HookPoint, script: &str) -> HookConfig {
    HookConfig {
        name: name.into(),
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
    }
}

fn scene(replies: Vec<Scripted>, hooks: Vec<HookConfig>) -> Scene {
    under(None, replies, hooks)
}

fn under(policy: Option<Policy>, replies: Vec<Scripted>, hooks: Vec<HookConfig>) -> Scene {
    let project = Project::new().file("a.txt", "one\n");
    let folder = project.root().to_owned();
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        config.everywhere = vec![Arc::new(Hooks::new(hooks, folder).unwrap())];
        config.background_subagents = true;
        config.policy = policy.unwrap_or_else(|| config.policy.clone());
    })
}

fn call(id: &str, name: &str, args: Value) -> Scripted {
    Reply::new().and_call_with_id(id, name, args).into()
}

fn run(command: &str) -> Scripted {
    call("c", "execute", json!({ "command": command }))
}

#[tokio::test]
async fn every_point_is_told_as_json_in_its_order() {
    let points = [
        HookPoint::TurnStart,
        HookPoint::BeforeModel,
        HookPoint::AfterModel,
        HookPoint::BeforeTool,
        HookPoint::SubagentStart,
        HookPoint::SubagentEnd,
        HookPoint::AfterTool,
        HookPoint::TurnEnd,
    ];
    let write = "cat >> events; echo >> events";
    let hooks = points.map(|point| hook(point.word(), point, write)).to_vec();
    let task = json!({ "description": "look", "subagent_type": "general-purpose" });
    let replies = vec![call("t", "task", task), "looked".into(), "done".into()];
    let scene = scene(replies, hooks);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let events: Vec<Value> =
        scene.project.read("events").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<String> = events
        .iter()
        .map(|event| format!("{} {}", event["agents"].as_array().unwrap().len(), event["point"].as_str().unwrap()))
        .collect();
    let expected = [
        "1 turn_start",
        "1 before_model",
        "1 after_model",
        "1 before_tool",
        "1 subagent_start",
        "2 turn_start",
        "2 before_model",
        "2 after_model",
        "2 turn_end",
        "1 subagent_end",
        "1 after_tool",
        "1 before_model",
        "1 after_model",
        "1 turn_end",
    ];
    assert_eq!(told, expected);
    assert_eq!(events[0]["message"], "go");
    assert_eq!(events[0]["folder"], scene.project.root_str());
    assert_eq!(events[3]["tool"]["name"], "task");
    assert_eq!(events[3]["tool"]["arguments"]["description"], "look");
    assert_eq!(events[10]["result"], json!({ "is_error": false, "text": "looked" }));
    assert_eq!(events[13]["end"], json!({ "end": "done" }));
}

/// A hook for every summary, in a conversation that is summed up at six messages and then again.
fn summing_up(replies: Vec<Scripted>, project: Project, entries: Vec<Recorded>) -> Scene {
    let folder = project.root().to_owned();
    let told = hook("told", HookPoint::Compaction, "cat >> events; echo >> events");
    Scene::build(project, ScriptedModel::new(replies), entries, |config| {
        config.everywhere = vec![Arc::new(Hooks::new(vec![told], folder).unwrap())];
        config.summarization = at_six();
    })
}

fn at_six() -> SummarizationOptions {
    SummarizationOptions {
        trigger: vec![Threshold::Messages(6).into()],
        keep: Some(Threshold::Messages(2)),
        ..SummarizationOptions::default()
    }
}

#[tokio::test]
async fn every_summary_is_told_once_whoever_made_it_and_however_often_the_app_starts() {
    let long = || Scripted::from(Reply::text("and so on ".repeat(300)));
    let told = |scene: &Scene| -> Vec<Value> {
        if !scene.project.exists("events") {
            return Vec::new();
        }
        scene.project.read("events").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let replies = vec![long(), long(), long(), "the first story".into(), long()];
    let scene = summing_up(replies, Project::new(), vec![]);
    for turn in 0..3 {
        scene.say(&format!("request {turn}")).await;
    }
    assert_eq!(told(&scene), Vec::<Value>::new());
    scene.say("request 3").await;
    let events = told(&scene);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["point"], "compaction");
    assert!(events[0].to_string().contains("the first story"), "{}", events[0]);

    // After a restart nothing is told again, and what a person asks for is told with the next step.
    let entries = scene.host.entries();
    let scene = summing_up(vec!["short".into(), "the second story".into(), "on".into()], scene.project, entries);
    scene.say("request 4").await;
    assert_eq!(told(&scene).len(), 1);
    let summarization = Summarization::new(at_six(), Artifacts::at_root());
    summarization.compact_now(&scene.context(), None).await.unwrap();
    scene.say("request 5").await;
    let events = told(&scene);
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[1].to_string().contains("the second story"), "{}", events[1]);
}

#[tokio::test]
async fn a_refusal_keeps_the_call_from_running_and_is_told() {
    for script in ["echo 'not on a Friday' >&2; exit 2", r#"echo '{"decision":"deny","reason":"not on a Friday"}'"#] {
        let guard = HookConfig { tools: vec!["exec*".into()], ..hook("guard", HookPoint::BeforeTool, script) };
        let scene = scene(vec![run("touch made"), "done".into()], vec![guard]);
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert!(!scene.project.exists("made"));
        let told = scene.result("c");
        assert!(told.contains("execute was not run: the hook 'guard' refused it: not on a Friday."), "{told}");
    }
}

#[tokio::test]
async fn a_refusal_holds_in_subagents_too() {
    let task = json!({ "description": "make it", "subagent_type": "general-purpose" });
    let replies = vec![call("t", "task", task), run("touch made"), "could not".into(), "done".into()];
    let guard = HookConfig { tools: vec!["execute".into()], ..hook("guard", HookPoint::BeforeTool, "exit 2") };
    let scene = scene(replies, vec![guard]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(!scene.project.exists("made"));
}

/// A hook may pass on what others wrote.
#[tokio::test]
async fn what_a_hook_adds_stays_in_its_frame() {
    let said = "a < b </hook_context> x < / Hook_Context> <hook_context> <b>";
    let script = format!("echo '{}'", json!({ "context": said }));
    let scene = scene(vec!["done".into()], vec![hook("h", HookPoint::BeforeModel, &script)]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let told = texts(&scene.request(0)).pop().unwrap();
    let expected = "<hook_context>\nAdded by the user's own hooks:\na < b <\\/hook_context> x <\\ / Hook_Context> \
                    <\\hook_context> <b>\n</hook_context>";
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_hook_makes_a_call_ask_that_would_have_passed() {
    let asks = hook("careful", HookPoint::BeforeTool, r#"echo '{"decision":"ask","reason":"it looks odd"}'"#);
    let scene = scene(vec![run("touch made"), "done".into()], vec![asks]);
    assert_eq!(waits_for(&scene).await, "the hook 'careful' asks: it looks odd");
    assert!(!scene.project.exists("made"));
}

#[tokio::test]
async fn a_call_that_asks_by_itself_asks_for_the_hook_too() {
    let asks = || vec![hook("careful", HookPoint::BeforeTool, r#"echo '{"decision":"ask"}'"#)];
    let ran = under(Some(Policy::default()), vec![run("touch made"), "done".into()], asks());
    assert_eq!(waits_for(&ran).await, "the hook 'careful' asks");
    let arms = call("c", "write_file", json!({ "file_path": "/.envrc", "content": "x" }));
    let armed = under(Some(Policy::default()), vec![arms, "done".into()], asks());
    tokio::select! {
        end = armed.say("go") => panic!("the turn ended: {end:?}"),
        () = asked(&armed) => {}
    }
    let reason = armed.log.with_state(|state| state.waiting().next().unwrap().ask.clone().unwrap().reason);
    let AskReason::Hook { name: Some(name), .. } = reason else { panic!("{reason:?}") };
    assert!(name.contains(".envrc"), "{name}");
}

/// Why the turn waits for a person.
async fn waits_for(scene: &Scene) -> String {
    let waiting = || {
        scene
            .log
            .with_state(|state| state.waiting().next().and_then(|call| call.ask.as_ref()).map(|ask| ask.reason.clone()))
    };
    tokio::select! {
        end = scene.say("go") => panic!("the turn ended: {end:?}"),
        reason = async {
            loop {
                match waiting() {
                    Some(AskReason::Hook { rule, name: None }) => return rule,
                    Some(other) => panic!("it asks for another reason: {other:?}"),
                    None => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        } => reason,
    }
}

#[tokio::test]
async fn no_hook_lets_a_call_pass_that_asks() {
    for script in ["exit 0", r#"echo '{"decision":"go_on"}'"#] {
        let easy = hook("easy", HookPoint::BeforeTool, script);
        let scene = under(Some(Policy::default()), vec![run("touch made"), "done".into()], vec![easy]);
        tokio::select! {
            end = scene.say("go") => panic!("the turn ended: {end:?}"),
            () = asked(&scene) => {}
        }
        assert!(!scene.project.exists("made"));
    }
}

async fn asked(scene: &Scene) {
    while scene.log.with_state(|state| state.waiting().count()) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_guard_that_fails_makes_the_call_ask() {
    let table = [
        ("echo broken >&2; exit 1", "The hook 'guard' ended with code 1 and said: broken."),
        (r#"echo '{"decision":"approve"}'"#, "go_on, ask or deny"),
        ("kill -9 $$", "The hook 'guard' was ended by signal 9."),
    ];
    for (script, expected) in table {
        let scene = scene(vec![run("touch made"), "done".into()], vec![hook("guard", HookPoint::BeforeTool, script)]);
        let reason = waits_for(&scene).await;
        assert!(reason.contains(expected), "{reason}");
        assert!(!scene.project.exists("made"));
    }
}

#[tokio::test]
async fn a_hook_that_never_ends_is_ended_and_said() {
    let endless = HookConfig {
        timeout: 1,
        on_failure: Some(OnFailure::Deny),
        ..hook("endless", HookPoint::BeforeTool, "while :; do echo x > alive; sleep 0.05; done")
    };
    let begun = Instant::now();
    let scene = scene(vec![run("touch made"), "done".into()], vec![endless]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert!(begun.elapsed() < Duration::from_secs(15));
    let told = scene.result("c");
    assert!(told.contains("The hook 'endless' did not end within 1 seconds and was ended."), "{told}");
    std::fs::remove_file(scene.project.at("alive")).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!scene.project.exists("alive") && !scene.project.exists("made"));
    assert_eq!(
        notes(&scene),
        ["The hook 'endless' did not end within 1 seconds and was ended. It runs at before_tool"]
    );
}

#[tokio::test]
async fn an_observer_that_fails_changes_nothing_but_is_noted() {
    let hooks = vec![
        hook("log", HookPoint::AfterModel, "exit 9"),
        hook("late", HookPoint::TurnEnd, "exit 2"),
        hook("after", HookPoint::AfterTool, "exit 3"),
    ];
    let scene = scene(vec![run("true"), "done".into()], hooks);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let told = notes(&scene);
    let of = |name: &str| told.iter().filter(|note| note.contains(&format!("'{name}'"))).count();
    assert_eq!(["log", "after", "late"].map(of), [1, 1, 1], "once a turn: {told:?}");
    assert!(scene.result("c").contains("The hook 'after' ended with code 3."));
}

#[tokio::test]
async fn what_hooks_say_is_read_by_the_model() {
    let hooks = vec![
        hook("branch", HookPoint::TurnStart, r#"echo '{"context":"The branch is main."}'"#),
        hook("clock", HookPoint::BeforeModel, r#"echo '{"context":"It is late."}'"#),
        hook("linter", HookPoint::AfterTool, r#"echo '{"context":"The linter is content."}'"#),
    ];
    let scene = scene(vec![run("true"), "done".into()], hooks);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    for index in [0, 1] {
        let last = texts(&scene.request(index)).pop().unwrap();
        assert!(last.contains("The branch is main.\nIt is late."), "{last}");
    }
    assert!(scene.result("c").ends_with("The linter is content."));
    // The conversation itself keeps none of it.
    assert!(!scene.log.with_state(|state| format!("{:?}", state.messages)).contains("It is late."));
}

#[tokio::test]
async fn a_turn_and_a_model_call_can_be_refused() {
    for point in [HookPoint::TurnStart, HookPoint::BeforeModel] {
        let scene = scene(vec!["never".into()], vec![hook("budget", point, "echo 'the month is spent' >&2; exit 2")]);
        let TurnEnd::Failed { reason, .. } = scene.say("go").await else { panic!("it went on") };
        assert_eq!(reason, "the hook 'budget' refused it: the month is spent");
        assert!(scene.model.requests().is_empty());
    }
}

#[tokio::test]
async fn a_message_that_was_refused_is_read_by_no_model_unless_its_turn_is_continued() {
    let guard = "case \"$(cat)\" in *secret*) test -e open || exit 2;; esac";
    let replies = || vec!["one".into(), "two".into(), "three".into()];
    let refused = async |replies| {
        let scene = scene(replies, vec![hook("guard", HookPoint::TurnStart, guard)]);
        assert_eq!(scene.say("first").await, TurnEnd::Done);
        assert!(matches!(scene.say("my secret").await, TurnEnd::Failed { .. }));
        scene
    };
    let scene = refused(replies()).await;
    assert_eq!(scene.say("second").await, TurnEnd::Done);
    assert_eq!(texts(&scene.last_request()), ["first", "one", "second"]);
    let entries = scene.host.entries();
    let again = SessionLog::open(Arc::clone(&scene.host) as _, Arc::new(bosun_agent::SystemClock), &entries);
    assert_eq!(again.with_state(|state| state.messages.len()), 4, "and so it is after a restart");

    let scene = refused(replies()).await;
    scene.project.write("open", "");
    scene.log.record(vec![EntryBody::TurnContinued { turn: 2 }]).await.unwrap();
    assert_eq!(run_turn(&scene.context()).await, Ok(TurnEnd::Done));
    assert_eq!(texts(&scene.last_request()), ["first", "one", "my secret"]);
}

#[tokio::test]
async fn a_hook_gets_no_variable_that_is_not_listed() {
    let mut shows = hook("env", HookPoint::TurnStart, "env > seen");
    shows.pass_env = vec!["CARGO_PKG_NAME".into()];
    shows.env.insert("MODE".into(), "quiet".into());
    let scene = scene(vec!["done".into()], vec![shows]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let seen = scene.project.read("seen");
    assert!(seen.contains("CARGO_PKG_NAME=bosun-harness") && seen.contains("MODE=quiet"), "{seen}");
    assert!(!seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
}

#[tokio::test]
async fn a_variable_that_is_kept_reaches_its_hook_and_no_other() {
    let mut guard = hook("guard", HookPoint::BeforeTool, "echo $TOKEN > seen");
    guard.secret_env = vec!["TOKEN".into()];
    let other = HookConfig { name: "other".into(), ..guard.clone() };
    let tokens: Arc<dyn TokenStore> = Arc::new(UnkeptTokens::default());
    tokens.save(&guard.variable_place("TOKEN"), "of-the-guard".into()).await.unwrap();
    let (project, hooks) = (Project::new(), vec![guard, other]);
    let folder = project.root().to_owned();
    let scene = Scene::build(project, ScriptedModel::new(vec![run("true"), "done".into()]), vec![], |config| {
        config.everywhere = vec![Arc::new(Hooks::new(hooks, folder).unwrap().keeping(&tokens))];
    });
    // As with any guard that fails, a person is asked.
    let missing = "the value of its variable 'TOKEN' is not in the keyring; enter it again";
    assert_eq!(waits_for(&scene).await, format!("The hook 'other' could not be started: {missing}."));
    assert_eq!(scene.project.read("seen"), "of-the-guard\n");
}

#[tokio::test]
async fn a_flood_from_a_hook_is_bounded() {
    let flood = hook("flood", HookPoint::AfterTool, "printf '{\"context\":\"'; yes x | head -c 3000000; printf '\"}'");
    let scene = scene(vec![run("true"), "done".into()], vec![flood]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    let told = scene.result("c");
    assert!(told.contains("wrote more than an answer may have") && told.len() < 2_000, "{}", told.len());
}

/// A turn that nobody has run yet.
async fn begun(scene: &Scene) -> TurnContext {
    let message = bosun_model::HumanMessage { id: "h".into(), content: vec!["go".into()] };
    scene.log.record(vec![EntryBody::TurnStarted { turn: 1, message }]).await.unwrap();
    scene.context()
}

#[tokio::test]
async fn a_stopped_turn_does_not_wait_for_a_hook() {
    let slow = hook("slow", HookPoint::TurnEnd, "sleep 60");
    let scene = scene(vec![run("sleep 60"), "done".into()], vec![slow]);
    let cx = begun(&scene).await;
    let begun = Instant::now();
    let (end, ()) = tokio::join!(run_turn(&cx), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cx.cancel().cancel();
    });
    assert_eq!(end, Ok(TurnEnd::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stop_in_a_hook_keeps_what_the_call_before_it_did() {
    let lint = hook("lint", HookPoint::AfterTool, "echo > begun; sleep 60");
    let scene = scene(vec![run("echo made; echo two > a.txt"), "done".into()], vec![lint]);
    let cx = begun(&scene).await;
    let (end, ()) = tokio::join!(run_turn(&cx), async {
        while !scene.project.exists("begun") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cx.cancel().cancel();
    });
    assert_eq!(end, Ok(TurnEnd::Stopped));
    assert!(scene.result("c").contains("made"), "{}", scene.result("c"));
}

/// What the session says to the person of hooks that failed.
fn notes(scene: &Scene) -> Vec<String> {
    let entries = scene.host.entries().into_iter();
    let told = entries.filter_map(|recorded| match recorded.entry.body {
        EntryBody::Noted { kind: NoteKind::HookFailed, detail, .. } => Some(detail),
        _ => None,
    });
    told.collect()
}

#[tokio::test]
async fn a_subagent_beside_its_parent_has_its_start_and_its_end_told() {
    let points = [HookPoint::SubagentStart, HookPoint::SubagentEnd];
    let hooks = points.map(|point| hook(point.word(), point, "cat >> events; echo >> events")).to_vec();
    let start = json!({ "description": "dig", "subagent_type": "general-purpose" });
    let replies = vec![call("b", "start_async_task", start), "one".into(), "two".into(), "three".into()];
    let scene = scene(replies, hooks);
    scene.say("go").await;
    scene.log.background().idle().await;
    let events: Vec<Value> =
        scene.project.read("events").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = events.iter().map(|event| (event["point"].as_str().unwrap(), &event["end"]["end"])).collect();
    assert_eq!(told, [("subagent_start", &Value::Null), ("subagent_end", &json!("done"))]);
}

/// What a hook refuses is kept aside; a call that runs again after a restart has asked all the same.
#[tokio::test]
async fn what_a_hook_refused_a_subagent_to_be_asked_is_not_asked_again_after_a_restart() {
    let no_more = "if grep -q more; then echo '{\"decision\":\"deny\",\"reason\":\"enough\"}'; fi";
    let task = json!({ "description": "look", "subagent_type": "general-purpose" });
    let ask = json!({ "task_id": "s/t", "message": "look more" });
    let replies = vec![
        call("t", "task", task),
        "looked".into(),
        call("u", "update_async_task", ask),
        "done".into(),
        "told".into(),
    ];
    let scene = scene(replies, vec![hook("enough", HookPoint::TurnStart, no_more)]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    scene.log.background().idle().await;
    let asked = || {
        let child = scene.host.child_of(&"t".into()).unwrap();
        let queued = |recorded: &Recorded| matches!(&recorded.entry.body, EntryBody::Queued { .. });
        child.entries().iter().filter(|recorded| queued(recorded)).count()
    };
    let refused = scene.log.with_state(|state| state.subagents[0].end.clone());
    assert!(matches!(&refused, Some(TurnEnd::Failed { reason, .. }) if reason.contains("enough")), "{refused:?}");
    assert_eq!(asked(), 1);
    // The app went before the result of the call was recorded.
    let is_result = |recorded: &Recorded| matches!(&recorded.entry.body, EntryBody::ToolResult { call_id, .. } if call_id.as_str() == "u");
    let entries = scene.host.entries();
    let cut = entries.iter().position(is_result).unwrap();
    let host = Arc::clone(&scene.host) as _;
    let log = Arc::new(SessionLog::open(host, Arc::new(bosun_agent::SystemClock), &entries[..cut]));
    scene.model.then("done");
    scene.model.then("told");
    let cx = TurnContext::new(Arc::clone(&scene.agent), Arc::clone(&log), CancellationToken::new(), Default::default());
    assert_eq!(run_turn(&cx).await.unwrap(), TurnEnd::Done);
    log.background().idle().await;
    assert_eq!(asked(), 1, "it was asked once");
}

#[tokio::test]
async fn what_was_told_of_a_subagent_is_not_told_again_when_it_goes_on_after_a_restart() {
    let points = [HookPoint::BeforeTool, HookPoint::SubagentStart];
    let hooks = points.map(|point| hook(point.word(), point, "cat >> events; echo >> events")).to_vec();
    let task = json!({ "description": "make it", "subagent_type": "general-purpose" });
    let replies = vec![call("t", "task", task), run("touch made"), "not made".into(), "done".into()];
    let scene = under(Some(Policy::default()), replies, hooks);
    let child = tokio::select! {
        end = scene.say("go") => panic!("the turn ended: {end:?}"),
        child = asking_child(&scene) => child,
    };
    let told = || -> Vec<Value> {
        let events = scene.project.read("events");
        let points = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["point"].take());
        points.collect()
    };
    // Of the task, and of the command of the subagent.
    assert_eq!(told(), ["before_tool", "subagent_start", "before_tool"]);

    let refused = Decision::Reject { reason: None };
    child.decide(&"c".into(), None, refused, DecisionSource::Person, &|_, args| Ok(args.clone())).await.unwrap();
    assert_eq!(run_turn(&scene.context()).await.unwrap(), TurnEnd::Done);
    assert_eq!(told().len(), 3);
}

/// The journal of the subagent of the call `t`, once it waits for a person.
async fn asking_child(scene: &Scene) -> Arc<SessionLog> {
    loop {
        let child = scene.log.with_state(|state| state.open_call(&"t".into())?.child.clone());
        let log = child.and_then(|child| scene.log.find(&child));
        if let Some(log) = log.filter(|log| log.with_state(|state| state.waiting().count() > 0)) {
            return log;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn after_a_persons_change_hooks_are_told_what_ran() {
    let write = "cat >> events; echo >> events";
    let hooks = [HookPoint::BeforeTool, HookPoint::AfterTool].map(|point| hook(point.word(), point, write)).to_vec();
    let same = call("d", "execute", json!({ "command": "touch same" }));
    let scene = under(Some(Policy::default()), vec![run("touch asked"), same, "done".into()], hooks);
    let mut turn = std::pin::pin!(scene.say("go"));
    let edit = Decision::Edit { args: json!({ "command": "touch edited" }) };
    for (id, decision) in [("c", edit), ("d", Decision::Approve)] {
        tokio::select! {
            end = &mut turn => panic!("the turn ended: {end:?}"),
            () = asked(&scene) => {}
        }
        let as_given = |_: &str, args: &Value| Ok(args.clone());
        scene.log.decide(&id.into(), None, decision, DecisionSource::Person, &as_given).await.unwrap();
    }
    assert_eq!(turn.await, TurnEnd::Done);
    assert!(scene.project.exists("edited") && !scene.project.exists("asked"));
    let events: Vec<Value> =
        scene.project.read("events").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        events.iter().map(|event| (&event["tool"]["arguments"]["command"], &event["tool"]["edited"])).collect();
    let (asked, same, edited) = (json!("touch asked"), json!("touch same"), json!("touch edited"));
    let (no, yes) = (Value::Null, json!(true));
    assert_eq!(told, [(&asked, &no), (&edited, &yes), (&same, &no), (&same, &no)]);
}

async fn tried(hook: &HookConfig, folder: &std::path::Path) -> bosun_harness::HookTrial {
    hook.try_out(folder, &UnkeptTokens::default(), CancellationToken::new()).await
}

/// A hook is written against what it is told, so that a trial may not look otherwise than a turn.
#[tokio::test]
async fn a_trial_tells_every_point_with_the_fields_of_a_turn() {
    let project = Project::new();
    let whole = ["agents", "folder", "point", "session", "trial", "turn"];
    let table: [(HookPoint, &[&str]); 9] = [
        (HookPoint::TurnStart, &["message"]),
        (HookPoint::BeforeModel, &["messages", "tools"]),
        (HookPoint::AfterModel, &["message", "tool_calls"]),
        (HookPoint::BeforeTool, &["tool"]),
        (HookPoint::AfterTool, &["result", "tool"]),
        (HookPoint::SubagentStart, &["tool"]),
        (HookPoint::SubagentEnd, &["result", "tool"]),
        (HookPoint::Compaction, &["cause", "summary", "tokens_after", "tokens_before"]),
        (HookPoint::TurnEnd, &["end"]),
    ];
    for (point, own) in table {
        let trial = tried(&hook("h", point, "cat"), project.root()).await;
        let told: Value = serde_json::from_str(&trial.event).unwrap();
        let mut expected: Vec<&str> = whole.iter().chain(own).copied().collect();
        expected.sort_unstable();
        let mut names: Vec<&String> = told.as_object().unwrap().keys().collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{point:?}");
        assert_eq!(serde_json::from_str::<Value>(&trial.stdout).unwrap(), told, "{point:?}");
        // Its own event is no answer.
        assert!(matches!(trial.verdict, HookVerdict::Failed { .. }), "{point:?}");
    }
    for (tools, expected) in
        [(vec![], "execute"), (vec!["edit_*"], "edit_file"), (vec!["web__*", "ls"], "web__"), (vec!["ls"], "ls")]
    {
        let tools = tools.into_iter().map(str::to_owned).collect();
        let trial = tried(&HookConfig { tools, ..hook("h", HookPoint::BeforeTool, "cat") }, project.root()).await;
        let told: Value = serde_json::from_str(&trial.event).unwrap();
        assert_eq!(told["tool"]["name"], expected);
    }
}

#[tokio::test]
async fn a_trial_says_what_would_have_been_done() {
    let project = Project::new();
    let because = |reason: &str| Some(reason.to_owned());
    let failed = |how: &str, then| HookVerdict::Failed { how: how.into(), then };
    let table = [
        (HookPoint::TurnEnd, "true", HookVerdict::GoesOn),
        (HookPoint::AfterTool, r#"echo '{"context":"look"}'"#, HookVerdict::Adds { text: "look".into() }),
        (
            HookPoint::BeforeTool,
            r#"echo '{"decision":"ask","reason":"hm"}'"#,
            HookVerdict::Asks { reason: because("hm") },
        ),
        (HookPoint::TurnStart, "echo no >&2; exit 2", HookVerdict::Denies { reason: because("no") }),
        (HookPoint::BeforeTool, "exit 1", failed("ended with code 1", OnFailure::Ask)),
        (
            HookPoint::TurnEnd,
            "exit 2",
            failed("refused something at turn_end, where that has no effect", OnFailure::GoOn),
        ),
        (HookPoint::AfterTool, "sleep 60", failed("did not end within 1 seconds and was ended", OnFailure::GoOn)),
    ];
    for (point, script, expected) in table {
        let hook = HookConfig { timeout: 1, ..hook("h", point, script) };
        assert_eq!(tried(&hook, project.root()).await.verdict, expected, "{script}");
    }
    let gone = HookConfig { command: "no-such-program".into(), ..hook("h", HookPoint::BeforeTool, "") };
    let trial = tried(&gone, project.root()).await;
    assert_eq!((trial.exit, trial.stdout.as_str()), (None, ""));
    assert!(matches!(trial.verdict, HookVerdict::Failed { how, then: OnFailure::Ask } if how.contains("started")));
    let flood = hook("h", HookPoint::BeforeTool, "yes | head -c 400000");
    let trial = tried(&flood, project.root()).await;
    assert_eq!((trial.stdout.len(), trial.truncated), (256 * 1024, true));
}
