//! The recorded journal under `tests/fixtures/journal`: parallel calls, a nested subagent, two pending approvals, a cut
//! reply. It is the shared truth of the projection here, the reducer of the UI, restarts, and the CLI's export.
//!
//! `BOSUN_UPDATE_FIXTURES=1 cargo nextest run -p bosun-session fixture` records it anew.
#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use bosun_agent::{Recorded, SessionId as CoreId};
use bosun_model::ChatRequest;
use bosun_protocol::{Envelope, SessionId, Snapshot};
use bosun_testkit::{Ending, Project, Reply};
use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::projection::{Projection, Subject};
use crate::view::View;

use super::sessions::{edit, progress};
use super::stage::Stage;

#[derive(Serialize, Deserialize)]
pub(super) struct Transcript {
    pub initial: Snapshot,
    envelopes: Vec<Envelope>,
    #[serde(rename = "final")]
    pub last: Snapshot,
}

/// The journals of the session and its subagents, by session; the first is the root's.
pub(super) type Journals = Vec<(String, Vec<Recorded>)>;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/journal")
}

fn read<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// What the recorded session shows at its end.
pub(super) fn last() -> Snapshot {
    read::<Transcript>("projection.json").last
}

pub(super) fn script(request: &ChatRequest) -> Reply {
    let read = |id: &str| Reply::default().and_call_with_id(id, "read_file", json!({"file_path": "/a.txt"}));
    match progress(request) {
        (text, 0) if text.starts_with("Survey") => Reply::text("Looking at **three** things at once.")
            .and_call_with_id(
                "plan",
                "write_todos",
                json!({"todos": [
                    {"content": "Find the TODOs", "status": "in_progress"},
                    {"content": "整理文本", "status": "pending"}
                ]}),
            )
            .and_call_with_id("look", "read_file", json!({"file_path": "/a.txt"}))
            .and_call_with_id("find", "grep", json!({"pattern": "TODO"}))
            .and_call_with_id("gone", "read_file", json!({"file_path": "/none.txt"})),
        (text, _) if text.starts_with("Survey") => Reply::text("One TODO, in `src/b.txt`."),
        (text, 0) if text.starts_with("Fix") && !text.contains("again") && first_try(request) => {
            Reply { ending: Ending::CutInCall, ..Reply::text("Let me ").and_call("ls", json!({"path": "/"})) }
        }
        (text, 0) if text.starts_with("Fix") => Reply::text("I send a helper for the one half.")
            .and_call_with_id(
                "half",
                "task",
                json!({"description": "Tidy line two", "subagent_type": "general-purpose"}),
            )
            .and_call_with_id(
                "mine",
                "edit_file",
                json!({
                    "file_path": "/a.txt", "old_string": "one", "new_string": "1"
                }),
            ),
        (text, 0) if text.starts_with("Tidy") => Reply::default().and_call_with_id(
            "deeper",
            "task",
            json!({"description": "Count the lines", "subagent_type": "general-purpose"}),
        ),
        (text, 1) if text.starts_with("Tidy") => read("child-look"),
        (text, 2) if text.starts_with("Tidy") => edit("theirs", "two", "2"),
        (text, 0) if text.starts_with("Count") => read("deep-look"),
        (text, _) if text.starts_with("Count") => Reply::text("Two lines."),
        _ => Reply::text("Done."),
    }
}

/// Whether the turn was not taken up again: then its message is the last thing in the request.
fn first_try(request: &ChatRequest) -> bool {
    TRIES.with(|tries| {
        let first = tries.get() == 0;
        tries.set(tries.get() + 1);
        first && !request.messages.is_empty()
    })
}

thread_local! {
    /// How often the second message was put to the model; the first of its replies breaks off.
    pub(super) static TRIES: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Plays the script to the two approvals. The project is given back as it was at the end: nothing was decided.
pub(super) async fn record() -> (Transcript, Journals, Project) {
    let stage = Stage::new(script).await;
    let session = stage.session().await;
    let mut subscription = stage.sessions.subscribe(&session).await.unwrap();
    for text in ["Survey the project", "Fix both lines"] {
        stage.sessions.send(&session, text.into()).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
    }
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    while stage.snapshot(&session).await.approvals.len() < 2 {
        subscription_pause().await;
    }
    let last = stage.snapshot(&session).await;
    let envelopes = subscription.events.now();
    let mut journals = Vec::new();
    let mut open = vec![session.clone()];
    let database = bosun_store::Database::open(stage.data.path()).unwrap();
    while let Some(id) = open.pop() {
        let id = CoreId::new(id.as_str());
        journals.push((id.to_string(), database.entries(&id, 0).await.unwrap()));
        open.extend(database.children(&id).await.unwrap().into_iter().map(|child| SessionId::new(child.id.as_str())));
    }
    stage.sessions.shut_down().await;
    (Transcript { initial: subscription.snapshot, envelopes, last }, journals, stage.project)
}

async fn subscription_pause() {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
}

fn check_law(transcript: &Transcript) {
    let mut views: Vec<Snapshot> = vec![transcript.initial.clone()];
    for envelope in &transcript.envelopes {
        let mut view = View::of_reader(views.last().unwrap().clone());
        view.apply(&envelope.event);
        view.seq = envelope.seq;
        views.push(view.snapshot());
    }
    assert_eq!(views.last().unwrap(), &transcript.last);
    for (k, start) in views.iter().enumerate() {
        let mut view = View::of_reader(start.clone());
        // From the beginning again: what is known already changes nothing.
        for envelope in transcript.envelopes.iter().filter(|envelope| envelope.seq > start.seq) {
            view.apply(&envelope.event);
            view.seq = envelope.seq;
        }
        assert_eq!(view.snapshot(), transcript.last, "from event {k}");
    }
}

#[tokio::test]
async fn fixture_snapshot_and_events_make_the_snapshot_at_the_end() {
    let (live, journals, _) = record().await;
    check_law(&live);
    if std::env::var_os("BOSUN_UPDATE_FIXTURES").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        let write = |name: &str, text: String| std::fs::write(folder().join(name), text + "\n").unwrap();
        write("projection.json", serde_json::to_string_pretty(&live).unwrap());
        write("entries.json", serde_json::to_string_pretty(&journals).unwrap());
    }
    check_law(&read("projection.json"));
}

/// The root's view as its journal alone gives it, with the streams of the subagents left out.
fn projected(transcript: &Transcript, entries: &[Recorded]) -> Projection {
    let mut projection = Projection::new(Subject {
        id: CoreId::new(transcript.initial.session.id.as_str()),
        project: transcript.initial.session.project.clone(),
        parent: None,
        path: vec!["main".into()],
        task: None,
        created_at: transcript.initial.session.created_at,
        model: transcript.initial.session.model.clone(),
    });
    entries.iter().for_each(|entry| projection.apply(entry));
    projection
}

#[test]
fn fixture_entries_alone_show_the_same_rows_and_plan() {
    let transcript: Transcript = read("projection.json");
    let journals: Journals = read("entries.json");
    let projection = projected(&transcript, &journals[0].1);
    let view = projection.view().snapshot();
    let by_id = |snapshot: &Snapshot| -> BTreeMap<String, serde_json::Value> {
        let row = |item: &bosun_protocol::Item| (item.id.to_string(), row_of(item));
        snapshot.items.iter().map(row).collect()
    };
    assert_eq!(by_id(&view), by_id(&transcript.last));
    assert_eq!(view.todos, transcript.last.todos);
    let mine = transcript.last.approvals.iter().filter(|approval| approval.session == view.session.id);
    assert_eq!(view.approvals, mine.cloned().collect::<Vec<_>>());
}

/// A row without what only a living process knows: when a row was first seen and when a call began to run.
fn row_of(item: &bosun_protocol::Item) -> serde_json::Value {
    let mut row = serde_json::to_value(item).unwrap();
    row.as_object_mut().unwrap().remove("at");
    if row["body"]["ended_at"].is_null() {
        for live in ["started_at", "state"] {
            row["body"].as_object_mut().unwrap().remove(live);
        }
    }
    row
}
