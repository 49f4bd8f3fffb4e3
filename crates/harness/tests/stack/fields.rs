//! Fields of the state that tools, members and configurations declare.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_agent::{State, TurnEnd};
use bosun_harness::{DeclaredAgent, DeepAgentConfig, create_deep_agent};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use bosun_tools::{Reducer, StateField, StateUpdate, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scene::{Scene, scene};

/// Writes what it is given to the fields.
struct Note;

#[derive(Debug, Deserialize, JsonSchema)]
struct NoteInput {
    /// What to write, by field.
    fields: serde_json::Map<String, Value>,
}

impl Tool for Note {
    const NAME: &'static str = "note";
    type Input = NoteInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Plan
    }

    fn description(&self) -> Cow<'_, str> {
        "Notes something.".into()
    }

    async fn call(&self, _cx: &ToolContext, input: NoteInput) -> Result<ToolOutput, ToolError> {
        let update = StateUpdate { fields: input.fields.into_iter().collect(), ..StateUpdate::default() };
        Ok(ToolOutput { update, ..ToolOutput::text("noted") })
    }

    fn fields(&self) -> Vec<StateField> {
        vec![StateField::new("findings", Reducer::Append)]
    }
}

fn configure(config: &mut DeepAgentConfig) {
    config.tools = vec![erase(Note)];
    config.fields = vec![
        StateField::new("sources", Reducer::Merge),
        StateField::new("verdict", Reducer::Replace),
        StateField::new("own", Reducer::Append).private(),
    ];
}

fn noting(replies: Vec<Scripted>) -> Scene {
    scene(replies, configure)
}

fn note(id: &str, fields: Value) -> Scripted {
    Reply::new().and_call_with_id(id, "note", json!({ "fields": fields })).into()
}

fn send(ids: &[&str]) -> Reply {
    let task = |id: &&str| json!({"description": format!("work for {id}"), "subagent_type": "general-purpose"});
    ids.iter().fold(Reply::new(), |reply, id| reply.and_call_with_id(*id, "task", task(id)))
}

fn field(scene: &Scene, name: &str) -> Option<Value> {
    scene.log.with_state(|state| state.fields.get(name).cloned())
}

#[tokio::test]
async fn what_is_written_is_merged_as_declared_and_the_journal_says_how() {
    let replies = vec![
        note("a", json!({"findings": "one", "sources": {"x": 1, "y": 2}, "verdict": "good"})),
        note("b", json!({"findings": ["two"], "sources": {"x": null, "z": 3}, "verdict": "bad"})),
        "done".into(),
    ];
    let scene = noting(replies);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(field(&scene, "findings"), Some(json!(["one", "two"])));
    assert_eq!(field(&scene, "sources"), Some(json!({"y": 2, "z": 3})));
    assert_eq!(field(&scene, "verdict"), Some(json!("bad")));
    // Whoever folds the journal knows nothing of the agent.
    assert_eq!(State::of_journal(&scene.host.entries()), scene.log.with_state(Clone::clone));
}

#[tokio::test]
async fn a_subagent_gets_the_fields_and_brings_back_what_it_added() {
    let replies = vec![
        note("a", json!({"findings": ["one"], "own": ["mine"], "sources": {"x": 1}})),
        send(&["t"]).into(),
        note("s", json!({"findings": ["two"], "own": ["its"], "sources": {"y": 2}})),
        "it is so".into(),
        "done".into(),
    ];
    let scene = noting(replies);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(field(&scene, "findings"), Some(json!(["one", "two"])));
    assert_eq!(field(&scene, "sources"), Some(json!({"x": 1, "y": 2})));
    assert_eq!(field(&scene, "own"), Some(json!(["mine"])), "what is private stays with its agent");
}

#[tokio::test]
async fn of_two_side_by_side_nothing_is_lost_and_a_clash_is_said() {
    let both = |n: u32| json!({"fields": {"findings": [n], "verdict": n, "sources": {format!("s{n}"): n}}});
    let (model, mut driver) = ScriptedModel::driven();
    let scene = Arc::new(Scene::build(Project::new(), model, vec![], configure));
    let saying = Arc::clone(&scene);
    let turn = tokio::spawn(async move { saying.say("go").await });
    driver.next().await.reply(send(&["t1", "t2"]));
    // Both begin before either has written anything.
    let begun = [driver.next().await, driver.next().await];
    for (n, call) in (1..).zip(begun) {
        call.reply(Reply::new().and_call("note", both(n)));
    }
    for text in ["ended", "ended", "done"] {
        driver.next().await.reply(text);
    }
    assert_eq!(turn.await.unwrap(), TurnEnd::Done);
    let mut findings = field(&scene, "findings").unwrap().as_array().unwrap().clone();
    findings.sort_by_key(Value::as_u64);
    assert_eq!(findings, [json!(1), json!(2)]);
    assert_eq!(field(&scene, "sources"), Some(json!({"s1": 1, "s2": 2})));
    let told = ["t1", "t2"].map(|id| scene.result(id));
    let clashes = told.iter().filter(|text| text.contains("the state field 'verdict'")).count();
    assert_eq!(clashes, 1, "{told:?}");
    assert!(told.iter().all(|text| text.starts_with("ended")));
}

#[tokio::test]
async fn fields_are_declared_in_toml_and_once() {
    let declared = || {
        let text = r#"state = { findings = { reducer = "append" }, sources = { reducer = "merge", private = true } }"#;
        DeclaredAgent::parse(text).unwrap()
    };
    let scene = scene(vec![note("a", json!({"sources": {"x": 1}})), "done".into()], |config| {
        config.tools = vec![erase(Note)];
        declared().apply(config);
    });
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(field(&scene, "sources"), Some(json!({"x": 1})));
    let fields: Vec<_> =
        scene.agent.fields().map(|field| (field.name.as_str(), field.reducer, field.private)).collect();
    // The first two are of a member that every stack has.
    let expected = [
        ("edited_calls", Reducer::Merge, true),
        ("failed_commands", Reducer::Merge, true),
        ("findings", Reducer::Append, false),
        ("sources", Reducer::Merge, true),
    ];
    assert_eq!(fields, expected);
    let mut config = DeepAgentConfig::new(Arc::clone(&scene.model) as _, Arc::clone(&scene.agent.backend));
    config.tools = vec![erase(Note)];
    config.fields = vec![StateField::new("findings", Reducer::Merge)];
    let error = create_deep_agent(config).err().unwrap().to_string();
    assert!(error.contains("'findings' is declared twice"), "{error}");
    assert!(DeclaredAgent::parse(r#"state = { x = { reducer = "add" } }"#).is_err());
}
