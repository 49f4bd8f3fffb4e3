//! What a call changed is in its result however it ended, and a call cut off by a crash goes on from what is on disk.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may touch files and fail loudly")]

use std::sync::Arc;

use bosun_agent::{
    Activity, Agent, AgentParts, ChangeIntent, EntryBody, JournalEntry, Limits, MemoryHost, Policy, Recorded,
    SessionLog, SystemClock, ToolOutcome, TurnContext, TurnEnd, UuidSource, run_turn,
};
use bosun_backend::{
    Backend, ContentHash, FilesystemBackend, FilesystemOptions, ObjectKind, PlannedChange, VirtualPath,
};
use bosun_model::{AiMessage, HumanMessage, Message, StopReason, ToolCall};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use bosun_tools::{Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase, file_tools};
use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Means to empty `/a` and `/b`, empties `/a`, and then ends as asked.
struct Halfway;

#[derive(Deserialize, JsonSchema)]
struct HalfwayInput {
    end: String,
}

impl Tool for Halfway {
    const NAME: &'static str = "halfway";
    type Input = HalfwayInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "changes half of it".into()
    }

    async fn call(&self, cx: &ToolContext, input: HalfwayInput) -> Result<ToolOutput, ToolError> {
        cx.witness.intend(emptied("/a")).await?;
        cx.witness.intend(emptied("/b")).await?;
        cx.backend.upload(vec![(path("/a"), Vec::new())]).await.remove(0)?;
        match input.end.as_str() {
            "fail" => Err(ToolError::Model("Error: no".into())),
            "break" => panic!("on purpose"),
            "fatal" => Err(ToolError::Fatal("it cannot go on".into())),
            _ => {
                cx.output.output(b"halfway");
                cx.cancel.cancelled().await;
                cx.witness.intend(emptied("/c")).await?;
                Ok(ToolOutput::text("a change was let through after the stop"))
            }
        }
    }
}

fn emptied(name: &str) -> PlannedChange {
    PlannedChange {
        path: path(name),
        object: ObjectKind::File,
        before: Some(name.as_bytes().into()),
        unkept: None,
        after: Some(Vec::new().into()),
        mode: Some(0o644),
    }
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

struct Scene {
    project: Project,
    host: Arc<MemoryHost>,
    cx: TurnContext,
}

fn scene(project: Project, entries: Vec<EntryBody>, replies: Vec<Scripted>) -> Scene {
    let recorded = |(seq, body)| Recorded { seq, entry: JournalEntry { at: 0, body } };
    let entries: Vec<Recorded> = (1..).zip(entries).map(recorded).collect();
    let backend = FilesystemBackend::open(project.root(), FilesystemOptions::default()).unwrap();
    let mut tools = file_tools(&backend);
    tools.push(erase(Halfway));
    let agent = Agent::new(AgentParts {
        name: "main".into(),
        model: Arc::new(ScriptedModel::new(replies)),
        middleware: vec![],
        tools,
        system: vec![],
        backend: Arc::new(backend) as Arc<dyn Backend>,
        blobs: None,
        subagents: None,
        limits: Limits::default(),
        ids: Arc::new(UuidSource),
        policy: Policy::default(),
    });
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let host = MemoryHost::with_entries("s".into(), entries.clone()).on_live(move |_, event| {
        if matches!(event, bosun_agent::LiveEvent::Output { .. }) {
            stop.cancel();
        }
    });
    let host = Arc::new(host);
    let log = Arc::new(SessionLog::open(Arc::clone(&host) as _, Arc::new(SystemClock), &entries));
    Scene { project, host, cx: TurnContext::new(Arc::new(agent.unwrap()), log, cancel, Activity::default()) }
}

fn begun() -> EntryBody {
    EntryBody::TurnStarted { turn: 1, message: HumanMessage { id: "h".into(), content: vec!["go".into()] } }
}

fn proposed(name: &str, args: Value) -> EntryBody {
    let message = AiMessage {
        id: "m".into(),
        content: vec![],
        tool_calls: vec![ToolCall { id: "1".into(), name: name.into(), args }],
        invalid_tool_calls: vec![],
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::ToolUse,
        model: None,
        asked: None,
    };
    EntryBody::Ai { message, kinds: vec![ToolKind::Edit], cost: None }
}

/// The intent to delete the file `name`, which holds its own path.
fn doomed(name: &str) -> EntryBody {
    let before = Some(ContentHash::of(name.as_bytes()));
    let intent = ChangeIntent { path: path(name), before, after: None, mode: Some(0o644) };
    EntryBody::ChangeIntended { call_id: "1".into(), intent }
}

/// A folder of which `files` are left, as a crash left it whose intents were `intents`.
fn crashed(files: &[&str], intents: &[&str]) -> Scene {
    let project = files.iter().fold(Project::new().dir("dir"), |project, file| project.file(&file[1..], file));
    let mut entries = vec![begun(), proposed("delete", json!({"file_path": "/dir"}))];
    entries.extend(intents.iter().map(|name| doomed(name)));
    scene(project, entries, vec!["done".into()])
}

/// How the call `1` ended: outcome, text, and the paths it changed.
fn result(scene: &Scene) -> (ToolOutcome, String, Vec<String>) {
    let results = scene.host.entries().into_iter().filter_map(|recorded| match recorded.entry.body {
        EntryBody::ToolResult { outcome, message, artifact, .. } => match &*message {
            Message::Tool(message) => {
                let paths = artifact.changes.iter().map(|change| change.path.to_string()).collect();
                Some((outcome, message.text(), paths))
            }
            _ => None,
        },
        _ => None,
    });
    let mut results: Vec<_> = results.collect();
    assert_eq!(results.len(), 1);
    results.remove(0)
}

#[tokio::test]
async fn a_call_that_ends_badly_tells_what_it_changed() {
    for (end, outcome, turn) in [
        ("fail", ToolOutcome::Ran, TurnEnd::Done),
        ("break", ToolOutcome::Ran, TurnEnd::Done),
        ("fatal", ToolOutcome::Cancelled, TurnEnd::failed("it cannot go on")),
        ("never", ToolOutcome::Cancelled, TurnEnd::Stopped),
    ] {
        let project = Project::new().file("a", "/a").file("b", "/b");
        let call = Reply::default().and_call_with_id("1", "halfway", json!({"end": end}));
        let scene = scene(project, vec![], vec![call.into(), "done".into()]);
        scene.cx.log().record(vec![begun()]).await.unwrap();
        assert_eq!(run_turn(&scene.cx).await, Ok(turn), "{end}");
        let (found, _, changed) = result(&scene);
        assert_eq!((found, changed), (outcome, vec!["/a".to_owned()]), "{end}");
    }
}

#[tokio::test]
async fn a_change_made_right_before_a_crash_is_told() {
    let args = json!({"file_path": "/new", "content": "new"});
    let intent = ChangeIntent { path: path("/new"), before: None, after: Some(ContentHash::of(b"new")), mode: None };
    let intended = EntryBody::ChangeIntended { call_id: "1".into(), intent };
    let entries = vec![begun(), proposed("write_file", args), intended];
    let scene = scene(Project::new().file("new", "new"), entries, vec!["done".into()]);
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let (outcome, text, changed) = result(&scene);
    assert_eq!((outcome, changed), (ToolOutcome::Ran, vec!["/new".to_owned()]));
    assert!(text.contains("The change to /new was made"), "{text}");
}

#[tokio::test]
async fn a_folder_that_was_half_deleted_goes_wholly_and_all_of_it_is_told() {
    let (a, b, c) = ("/dir/a", "/dir/b", "/dir/c");
    for (files, intents) in
        [(&[c][..], &[a, b][..]), (&[b, c], &[a, b]), (&[a, b, c], &[a, b, c]), (&[], &[a, b, c]), (&[a, b, c], &[])]
    {
        let scene = crashed(files, intents);
        assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
        let (outcome, text, mut changed) = result(&scene);
        changed.sort();
        assert_eq!((outcome, changed), (ToolOutcome::Ran, vec![a.into(), b.into(), c.into()]), "{files:?}: {text}");
        assert!(!text.contains("Error"), "{text}");
        assert!(!scene.project.exists("dir"), "{files:?}");
    }
}

#[tokio::test]
async fn a_deleted_folder_is_not_looked_for_again() {
    let scene = crashed(&[], &["/dir/a", "/dir/b"]);
    std::fs::remove_dir(scene.project.root().join("dir")).unwrap();
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let (outcome, text, changed) = result(&scene);
    assert_eq!((outcome, changed.len()), (ToolOutcome::Ran, 2), "{text}");
}

#[tokio::test]
async fn only_what_someone_else_changed_is_a_conflict_and_few_are_named() {
    let names: Vec<String> = (10..40).map(|n| format!("/dir/{n}")).collect();
    let intents: Vec<&str> = names.iter().map(String::as_str).collect();
    let scene = crashed(&intents[20..], &intents);
    for name in &names[..15] {
        scene.project.write(&name[1..], "someone else's");
    }
    assert_eq!(run_turn(&scene.cx).await, Ok(TurnEnd::Done));
    let (outcome, text, changed) = result(&scene);
    assert_eq!((outcome, &changed[..]), (ToolOutcome::Unknown, &names[15..20]));
    assert!(text.contains("5 are made and 10 are not"), "{text}");
    assert!(text.contains("/dir/10, ") && text.contains("/dir/19 and 5 more") && !text.contains("/dir/20"), "{text}");
    assert_eq!(scene.project.read("dir/10"), "someone else's");
}
