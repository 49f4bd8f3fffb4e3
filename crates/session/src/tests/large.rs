//! What of a session is large: named in its journals and not held in them, and gone with the last session that names it.
#![allow(clippy::disallowed_methods, reason = "tests write files that commands show")]

use bosun_agent::{EntryBody, JournalEntry, SessionId as CoreId};
use bosun_backend::{FileData, VirtualPath};
use bosun_model::{ChatRequest, Message};
use bosun_protocol::{SessionId, TextPlace};
use bosun_testkit::Reply;
use bosun_tools::StateUpdate;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::cut::{age, kept_bytes};
use super::sessions::progress;
use super::stage::{Stage, noise};

/// Runs the message as a command, sends three subagents to read the file that it names, or reads it.
fn handing_on(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    match text.split_once(' ') {
        _ if done > 0 => Reply::text(last_result(request)),
        Some(("send", file)) => ["x", "y", "z"].iter().fold(Reply::default(), |reply, id| {
            let args = json!({"description": format!("look {file}"), "subagent_type": "general-purpose"});
            reply.and_call_with_id(*id, "task", args)
        }),
        Some(("look", file)) => {
            Reply::default().and_call_with_id("l", "read_file", json!({"file_path": file, "offset": 9_000, "limit": 3}))
        }
        _ => Reply::default().and_call_with_id("big", "execute", json!({"command": text})),
    }
}

fn last_result(request: &ChatRequest) -> String {
    match request.messages.last().map(|message| &**message) {
        Some(Message::Tool(result)) => bosun_model::text_of(&result.content),
        _ => String::new(),
    }
}

async fn say(stage: &Stage, session: &SessionId, text: &str) -> String {
    stage.sessions.send(session, text.to_owned()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    let journals = journals(stage, session).await;
    let said = journals[0].iter().rev().find_map(|body| match body {
        EntryBody::Ai { message, .. } => Some(message.text()),
        _ => None,
    });
    said.unwrap_or_default()
}

/// The journal of a session, and those of the subagents it sent.
async fn journals(stage: &Stage, session: &SessionId) -> Vec<Vec<EntryBody>> {
    let root = CoreId::new(session.as_str());
    let mut ids = vec![root.clone()];
    ids.extend(stage.database.children(&root).await.unwrap().into_iter().map(|child| child.id));
    let mut journals = Vec::new();
    for id in ids {
        let entries = stage.database.entries(&id, 0).await.unwrap();
        journals.push(entries.into_iter().map(|recorded| recorded.entry.body).collect());
    }
    journals
}

fn bytes(journal: &[EntryBody]) -> usize {
    journal.iter().map(|body| serde_json::to_string(body).unwrap().len()).sum()
}

#[tokio::test]
async fn a_large_result_is_once_on_disk_however_many_subagents_get_it() {
    let stage = Stage::allowing_everything(handing_on).await;
    let session = stage.session().await;
    let all: String = (1..=750_000).map(|row| format!("{row}\n")).collect();
    say(&stage, &session, "seq 1 750000").await;
    let answer = say(&stage, &session, "send /large_tool_results/big").await;
    assert!(answer.contains("9001"), "{answer}");
    let journals = journals(&stage, &session).await;
    assert_eq!(journals.len(), 4);
    let written: usize = journals.iter().map(|journal| bytes(journal)).sum();
    assert!(written * 20 < all.len(), "{written} bytes in the journals for a result of {}", all.len());
    assert!(kept_bytes(&stage).await < all.len() as u64, "and once beside them");
    // It is there after a restart too, whole.
    let stage = stage.restarted(handing_on).await;
    assert!(say(&stage, &session, "look /large_tool_results/big").await.contains("9001"));
    let shown =
        stage.sessions.file_preview(&session, "/large_tool_results/big", TextPlace { line: 1, part: 0 }).await.unwrap();
    assert_eq!(shown.size, Some(all.len() as u64));
}

/// Counts its calls from 0 in every conversation, as some providers do.
fn counting(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    let run = |command: String| {
        Reply::default().and_call_with_id("functions.execute:0", "execute", json!({"command": command}))
    };
    match (text.split_once(' '), done) {
        (Some(("read", file)), 0) => Reply::default().and_call("read_file", json!({"file_path": file, "limit": 1})),
        (Some(("dig", rows)), 0) => run(format!("seq {rows}")),
        (None, 0) => run("seq 1 40000".into()),
        (None, 1) => ["100000 130000", "200000 230000"].iter().fold(Reply::default(), |reply, rows| {
            let args = json!({"description": format!("dig {rows}"), "subagent_type": "general-purpose"});
            reply.and_call("task", args)
        }),
        _ => Reply::text(last_result(request)),
    }
}

#[tokio::test]
async fn large_results_of_subagents_under_the_same_id_are_each_there_after_a_restart() {
    let stage = Stage::allowing_everything(counting).await;
    let session = stage.session().await;
    say(&stage, &session, "go").await;
    let mut rows: Vec<(String, String)> = Vec::new();
    for journal in journals(&stage, &session).await {
        let stub = journal.iter().find_map(|body| match body {
            EntryBody::ToolResult { message, .. } => Some(bosun_model::text_of(message.content())),
            _ => None,
        });
        let stub = stub.unwrap();
        let place = stub.split_once(" in the file ").and_then(|(_, rest)| rest.split_once(".\n")).unwrap().0;
        let first = stub.split_once("\n\n").unwrap().1.split_whitespace().nth(1).unwrap();
        rows.push((place.to_owned(), first.to_owned()));
    }
    let mut firsts: Vec<&str> = rows.iter().map(|(_, first)| first.as_str()).collect();
    firsts.sort_unstable();
    assert_eq!(firsts, ["1", "100000", "200000"]);
    let stage = stage.restarted(counting).await;
    for (place, first) in &rows {
        let read = say(&stage, &session, &format!("read {place}")).await;
        assert!(read.split_whitespace().any(|word| word == first), "{place} of {first}: {read}");
    }
}

/// Files of journals from before stay where they are and are read from there; what is written of them anew is their name.
#[tokio::test]
async fn a_journal_that_holds_a_large_file_is_read_and_copied_no_more() {
    let stage = Stage::allowing_everything(handing_on).await;
    let session = stage.session().await;
    let stage = stage.restarted(handing_on).await;
    let all: String = (1..=100_000).map(|row| format!("{row}\n")).collect();
    let file = (VirtualPath::parse("/large_tool_results/old").unwrap(), Some(FileData::of(all.as_bytes(), None, 0)));
    let update = StateUpdate { files: vec![file], ..StateUpdate::default() };
    let entry = JournalEntry { at: 1, body: EntryBody::Updated { by: "Filesystem".into(), update } };
    let journal = stage.database.journal(&CoreId::new(session.as_str()));
    journal.append_with(vec![entry], None).await.unwrap();
    assert!(say(&stage, &session, "send /large_tool_results/old").await.contains("9001"));
    let journals = journals(&stage, &session).await;
    assert!(bytes(&journals[0]) > all.len());
    assert!(journals[1..].iter().all(|journal| bytes(journal) * 20 < all.len()));
}

#[tokio::test]
async fn what_a_session_keeps_goes_with_the_last_that_names_it() {
    let stage = Stage::allowing_everything(handing_on).await;
    let shared = noise(200_000);
    for (name, text) in [("shared", &shared), ("own", &shared.chars().rev().collect())] {
        std::fs::write(stage.project.root().join(name), text).unwrap();
    }
    let (gone, stays) = (stage.session().await, stage.session().await);
    say(&stage, &gone, "cat shared").await;
    say(&stage, &gone, "cat shared own").await;
    say(&stage, &stays, "cat shared").await;
    stage.sessions.delete(&gone).await.unwrap();
    age(&stage);
    let before = kept_bytes(&stage).await;
    let month = 31 * 24 * 60 * 60 * 1_000;
    let stage = stage.restarted_after(handing_on, month).await;
    swept_below(&stage, before - 150_000).await;
    let read =
        stage.sessions.file_preview(&stays, "/large_tool_results/big", TextPlace { line: 1, part: 0 }).await.unwrap();
    assert_eq!(read.size, Some(200_000), "the other session names it");
    let left = kept_bytes(&stage).await;
    assert!(left > 150_000, "{left}");
    stage.sessions.delete(&stays).await.unwrap();
    let stage = stage.restarted_after(handing_on, month).await;
    swept_below(&stage, left - 150_000).await;
}

/// What a start does beside everything else is waited for.
async fn swept_below(stage: &Stage, bytes: u64) {
    stage.sessions.sweep().await.unwrap();
    let swept = async {
        while kept_bytes(stage).await > bytes {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let in_time = tokio::time::timeout(std::time::Duration::from_secs(60), swept).await;
    let left = kept_bytes(stage).await;
    assert!(in_time.is_ok(), "after a minute there are {left} bytes, not {bytes} or fewer");
}
