//! The session of the recorded journal, killed between any two entries of all its journals: a start on what was written goes
//! on to what an undisturbed run shows, and sends no subagent out twice.
#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use std::path::Path;

use bosun_agent::{EntryBody, Journal, JournalEntry, Policy, SessionId as CoreId};
use bosun_protocol::{Item, ItemBody, SessionId, SessionStatus, Snapshot};
use bosun_store::{Database, NewSession, StoredProject};
use bosun_testkit::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fixture::{Journals, TRIES, Transcript, record, script};
use super::stage::Stage;

/// Milliseconds since 1970, after everything that was recorded.
const LATER: i64 = 1_700_001_000_000;
const SURVEY: &str = "Survey the project";
const FIX: &str = "Fix both lines";
/// The undisturbed run needs four starts of a turn; one that never ends would need any number.
const STARTS: usize = 8;

#[tokio::test]
async fn a_session_killed_at_any_entry_goes_on_to_the_same_end() {
    let (transcript, journals, mut project) = record().await;
    let written = in_order(&journals);
    let wanted = told(&transcript.last);
    assert_eq!((wanted["approvals"].as_array().unwrap().len(), wanted["agents"].as_array().unwrap().len()), (2, 3));
    for cut in 1..=written.len() {
        if written.get(cut).is_some_and(|next| (&next.0, next.1.at) == (&written[cut - 1].0, written[cut - 1].1.at)) {
            // Both came in one append, which is written whole or not at all.
            continue;
        }
        let data = tempfile::tempdir().unwrap();
        // Ids that are given from now on are others than those that were recorded.
        std::fs::write(data.path().join("starts"), "1").unwrap();
        store(data.path(), &project, &transcript, &written[..cut]).await;
        let broke_off = written[..cut].iter().any(|(_, entry)| matches!(entry.body, EntryBody::Draft { .. }));
        TRIES.set(u32::from(broke_off));
        let stage = Stage::at(project, data, script, Policy::default(), LATER).await;
        let session = transcript.initial.session.id.clone();
        go_on(&stage, &session, cut).await;
        assert_eq!(told(&stage.snapshot(&session).await), wanted, "killed after entry {cut} of {}", written.len());
        assert_eq!(stage.project.read("a.txt"), "one\ntwo\n", "nothing was decided");
        stage.sessions.shut_down().await;
        project = stage.project;
    }
}

/// All entries as they were written, with their sessions.
fn in_order(journals: &Journals) -> Vec<(CoreId, JournalEntry)> {
    let of = |(id, entries): &(String, Vec<bosun_agent::Recorded>)| -> Vec<(CoreId, JournalEntry)> {
        entries.iter().map(|recorded| (CoreId::new(id.as_str()), recorded.entry.clone())).collect()
    };
    let mut all: Vec<_> = journals.iter().flat_map(of).collect();
    all.sort_by_key(|(_, entry)| entry.at);
    all
}

/// What a process left that wrote `entries` and no more.
async fn store(data: &Path, project: &Project, transcript: &Transcript, entries: &[(CoreId, JournalEntry)]) {
    let database = Database::open(data).unwrap();
    let summary = &transcript.initial.session;
    let path = project.root_str().to_owned();
    let id = summary.project.to_string();
    database
        .remember_project(StoredProject { id: id.clone(), path, name: "project".into(), opened_at: 1 })
        .await
        .unwrap();
    let new = |session: &CoreId, parent, summary| NewSession {
        id: session.clone(),
        project: id.clone(),
        parent,
        created_at: entries[0].1.at,
        summary,
    };
    let root = CoreId::new(summary.id.as_str());
    database.create_session(new(&root, None, serde_json::to_value(summary).unwrap())).await.unwrap();
    for (session, entry) in entries {
        if let EntryBody::SubagentStarted { call_id, child, name, description, .. } = &entry.body {
            let stored = json!({ "name": name, "description": description });
            let parent = Some((session.clone(), call_id.clone()));
            database.create_session(new(child, parent, stored)).await.unwrap();
        }
        database.journal(session).append(vec![entry.clone()]).await.unwrap();
    }
}

/// Does what a person does who finds the session: goes on with what was interrupted, and says what was not said yet.
async fn go_on(stage: &Stage, session: &SessionId, cut: usize) {
    for _ in 0..STARTS {
        let quiet = stage.sessions.quiet(session).await.unwrap();
        match quiet.summary.status {
            SessionStatus::Idle => {
                let items = stage.snapshot(session).await.items;
                let is_said = items.iter().any(|item| matches!(item.body, ItemBody::Human { .. }));
                let next = if is_said { FIX } else { SURVEY };
                stage.sessions.send(session, next.to_owned()).await.unwrap();
            }
            SessionStatus::Waiting if quiet.waiting == 2 => return,
            _ => stage.sessions.continue_turn(session).await.unwrap(),
        }
    }
    panic!("killed after entry {cut}, the session came to no end: {:?}", stage.snapshot(session).await.session);
}

/// What a person sees, without what differs from run to run: ids, times, and the half reply that broke off.
fn told(snapshot: &Snapshot) -> Value {
    let row = |item: &Item| {
        let mut body = serde_json::to_value(&item.body).unwrap();
        let fields = body.as_object_mut().unwrap();
        let passing = matches!(&item.body, ItemBody::Notice(_)) || fields.get("text") == Some(&json!("Let me "));
        if fields.get("ended_at").is_some_and(Value::is_null) {
            // Whether a call that has no end is at work, only a living process knows.
            fields.remove("state");
        }
        for differing in ["started_at", "ended_at"] {
            fields.remove(differing);
        }
        if let Some(child) = fields.get_mut("child").filter(|child| !child.is_null()) {
            *child = json!("a subagent");
        }
        (!passing).then(|| json!({ "turn": item.turn, "body": body }))
    };
    let approval = |approval: &bosun_protocol::Approval| {
        let mut asked = serde_json::to_value(approval).unwrap();
        for differing in ["session", "asked_at", "digest"] {
            asked.as_object_mut().unwrap().remove(differing);
        }
        asked
    };
    let mut approvals: Vec<Value> = snapshot.approvals.iter().map(approval).collect();
    approvals.sort_by_key(|asked| asked["call_id"].to_string());
    json!({
        "items": snapshot.items.iter().filter_map(row).collect::<Vec<_>>(),
        "todos": snapshot.todos,
        "approvals": approvals,
        "agents": snapshot.agents.iter().map(|agent| json!([agent.name, agent.description])).collect::<Vec<_>>(),
    })
}
