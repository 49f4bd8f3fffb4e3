//! What was acknowledged is there after `kill -9`, whole, at whatever moment it comes: a real process that writes, and
//! its end.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests start processes and look at files")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use bosun_agent::{EntryBody, Journal, JournalEntry, SessionId};
use bosun_store::{Database, NewSession, SessionJournal};

const FOLDER: &str = "BOSUN_TEST_DURABILITY";
/// Entries of one append: a unit that is stored whole or not at all.
const UNIT: u64 = 3;
const WRITERS: usize = 4;

fn session_id(writer: usize) -> SessionId {
    SessionId::new(format!("session-{writer}"))
}

/// The `place`th entry of a unit, with enough in it to lie on several pages.
fn entry(unit: u64, place: u64) -> JournalEntry {
    let title = format!("{unit}/{place} {}", "x".repeat(usize::try_from(unit % 7).unwrap() * 900));
    JournalEntry { at: 1, body: EntryBody::Titled { title } }
}

/// What the killed process does: writers side by side, each telling what was acknowledged.
#[test]
#[ignore = "runs in a process of its own, started by the test below"]
fn write_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = Database::open(Path::new(&folder)).unwrap();
        let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(Arc::clone(&database), writer))).collect();
        futures_util::future::join_all(writers).await;
    });
}

async fn write(database: Arc<Database>, writer: usize) {
    let id = session_id(writer);
    if database.session(&id).await.unwrap().is_none() {
        let summary = serde_json::json!({});
        let new = NewSession { id: id.clone(), project: "p".into(), parent: None, created_at: 1, summary };
        database.create_session(new).await.unwrap();
    }
    let journal: SessionJournal = database.journal(&id);
    let first = database.entries(&id, 0).await.unwrap().len() as u64 / UNIT;
    for unit in first.. {
        let entries = (0..UNIT).map(|place| entry(unit, place)).collect();
        let seq = journal.append(entries).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {writer} {seq}").unwrap();
        out.flush().unwrap();
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "write_until_killed", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn every_acknowledged_append_is_there_after_kill_9_and_nothing_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = [0_u64; WRITERS];
    // Each round goes on with what the killed one left, and is killed at another moment.
    for round in 0..8 {
        let mut child = start(folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen = 0;
        while let Some(line) = lines.next().transpose().unwrap() {
            // The harness of the child writes lines of its own.
            let Some((writer, seq)) = line.split_once("acknowledged ").and_then(|(_, rest)| rest.split_once(' '))
            else {
                continue;
            };
            acknowledged[writer.parse::<usize>().unwrap()] = seq.parse().unwrap();
            seen += 1;
            if seen == 5 + round * 17 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(seen >= 5 + round * 17, "the writer ended by itself");
        check(folder.path(), acknowledged).await;
    }
}

async fn check(folder: &Path, acknowledged: [u64; WRITERS]) {
    let database = Database::open(folder).unwrap();
    for (writer, acknowledged) in acknowledged.into_iter().enumerate() {
        let entries = match database.session(&session_id(writer)).await.unwrap() {
            Some(_) => database.entries(&session_id(writer), 0).await.unwrap(),
            None => Vec::new(),
        };
        let found = entries.len() as u64;
        assert!(found >= acknowledged, "writer {writer}: {acknowledged} acknowledged, {found} found");
        assert_eq!(found % UNIT, 0, "writer {writer}: a unit is stored whole");
        for (place, recorded) in (0_u64..).zip(&entries) {
            assert_eq!(recorded.seq, place + 1);
            assert_eq!(recorded.entry, entry(place / UNIT, place % UNIT));
        }
    }
    drop(database);
    let file = rusqlite::Connection::open(folder.join("bosun.db")).unwrap();
    let verdict: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}
