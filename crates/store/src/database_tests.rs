use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosun_agent::{EntryBody, Journal, JournalEntry, JournalError, SessionId};
use pretty_assertions::assert_eq;
use rusqlite::Connection;
use serde_json::json;

use super::Database;
use crate::{DatabaseError, NewSession, OpenError};

fn titled(text: &str) -> JournalEntry {
    JournalEntry { at: 1, body: EntryBody::Titled { title: text.into() } }
}

async fn session(database: &Database, id: &str) -> SessionId {
    let id = SessionId::new(id);
    let new =
        NewSession { id: id.clone(), project: "p".into(), parent: None, created_at: 1, summary: json!({"title": ""}) };
    database.create_session(new).await.unwrap();
    id
}

/// Text that hardly packs, as long on disk as it is here.
fn noise(length: usize) -> String {
    let mut seed = 0x9e37_79b9_u32;
    let next = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        char::from(b'!' + (seed >> 16) as u8 % 90)
    };
    (0..length).map(next).collect()
}

/// What is acknowledged outlives a loss of power, which only this shows: a process that is killed loses nothing anyway.
#[tokio::test]
async fn every_commit_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let set = database.write(|connection| {
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let journal = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))?;
        Ok((journal, number("synchronous")?))
    });
    assert_eq!(set.await.unwrap(), ("wal".to_owned(), 2));
}

#[tokio::test]
async fn many_questions_at_once_take_few_readers() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (asking, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let questions = (0..100).map(|number: i64| {
        let (asking, most) = (Arc::clone(&asking), Arc::clone(&most));
        database.read(move |connection| {
            most.fetch_max(asking.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let answer = connection.query_row("SELECT ?1 + 1", [number], |row| row.get::<_, i64>(0))?;
            std::thread::sleep(std::time::Duration::from_millis(1));
            asking.fetch_sub(1, Ordering::SeqCst);
            Ok(answer)
        })
    });
    let answers: Result<Vec<i64>, _> = futures_util::future::try_join_all(questions).await;
    assert_eq!(answers.unwrap(), Vec::from_iter(1..=100));
    let kept = database.readers.lock().unwrap().len();
    assert!(most.load(Ordering::SeqCst) <= super::READERS && kept <= super::READERS, "{most:?}, {kept}");
    for _ in 0..=super::READERS {
        database.read(|_| -> Result<(), DatabaseError> { panic!("a defect") }).await.unwrap_err();
    }
    assert_eq!(database.read(|_| Ok(1)).await.unwrap(), 1);
}

#[tokio::test]
async fn entries_come_back_in_order_with_the_summary_of_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let id = {
        let database = Database::open(folder.path()).unwrap();
        let id = session(&database, "s").await;
        let journal = database.journal(&id);
        assert_eq!(journal.append(vec![titled("a"), titled("b")]).await, Ok(2));
        assert_eq!(journal.append_with(vec![titled("c")], Some(json!({"title": "c"}))).await, Ok(3));
        id
    };
    let database = Database::open(folder.path()).unwrap();
    let entries = database.entries(&id, 1).await.unwrap();
    let found: Vec<(u64, JournalEntry)> = entries.into_iter().map(|entry| (entry.seq, entry.entry)).collect();
    assert_eq!(found, [(2, titled("b")), (3, titled("c"))]);
    let picked = database.entries_at(&id, vec![3, 9, 1]).await.unwrap();
    let picked: Vec<(u64, JournalEntry)> = picked.into_iter().map(|entry| (entry.seq, entry.entry)).collect();
    assert_eq!(picked, [(3, titled("c")), (1, titled("a"))]);
    assert_eq!(database.session(&id).await.unwrap().unwrap().summary, json!({"title": "c"}));
}

#[tokio::test]
async fn writers_at_once_each_get_their_own_answer() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let ids = [session(&database, "a").await, session(&database, "b").await];
    let writes = (0..200).map(|n: usize| {
        let journal = database.journal(&ids[n % 2]);
        async move { journal.append(vec![titled(&n.to_string())]).await }
    });
    let missing = database.journal(&"nobody".into());
    let (written, refused) = tokio::join!(futures_util::future::join_all(writes), missing.append(vec![titled("x")]));
    assert!(written.iter().all(Result::is_ok));
    assert_eq!(refused, Err(JournalError::NotFound));
    for id in &ids {
        assert_eq!(database.entries(id, 0).await.unwrap().len(), 100);
    }
}

#[tokio::test]
async fn a_write_that_fails_takes_back_what_it_wrote_and_nothing_of_those_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let writes = (0..90).map(|n| {
        database.write(move |connection| {
            connection.execute("INSERT INTO settings (name, value) VALUES (?1, 'x')", [format!("{n:02}")])?;
            // The first of all, the first of a commit and those in the middle of one.
            if n % 3 == 0 { Err(DatabaseError::Unavailable { reason: n.to_string() }) } else { Ok(n) }
        })
    });
    for (n, outcome) in futures_util::future::join_all(writes).await.into_iter().enumerate() {
        match n % 3 {
            0 => assert_eq!(outcome, Err(DatabaseError::Unavailable { reason: n.to_string() })),
            _ => assert_eq!(outcome, Ok(n)),
        }
    }
    let kept = database.read(|connection| {
        let mut names = connection.prepare("SELECT name FROM settings ORDER BY name")?;
        Ok(names.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?)
    });
    let expected: Vec<String> = (0..90).filter(|n| n % 3 != 0).map(|n| format!("{n:02}")).collect();
    assert_eq!(kept.await.unwrap(), expected);
}

#[tokio::test]
async fn while_another_program_holds_the_lock_that_is_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let id = session(&database, "s").await;
    let other = Connection::open(folder.path().join("bosun.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(database.journal(&id).append(vec![titled("a")]).await, Err(JournalError::Locked));
    let outcome = database.write(|_| Ok(())).await;
    assert_eq!(outcome, Err(DatabaseError::Locked));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(database.journal(&id).append(vec![titled("b")]).await, Ok(1));
}

#[tokio::test]
async fn a_full_disk_is_said_and_the_database_goes_on_when_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let id = session(&database, "s").await;
    let journal = database.journal(&id);
    database.limit_size(60 * 4_096).await.unwrap();
    let mut written = 0;
    let error = loop {
        match journal.append(vec![titled(&noise(8_000))]).await {
            Ok(seq) => written = seq,
            Err(error) => break error,
        }
    };
    assert_eq!(error, JournalError::DiskFull);
    database.limit_size(u64::MAX).await.unwrap();
    assert_eq!(journal.append(vec![titled("again")]).await, Ok(written + 1));
    assert_eq!(database.entries(&id, 0).await.unwrap().len() as u64, written + 1);
}

#[tokio::test]
async fn an_entry_of_a_newer_kind_is_named_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let id = session(&database, "s").await;
    database.journal(&id).append(vec![titled("a")]).await.unwrap();
    database
        .write(|connection| {
            connection.execute(
                "INSERT INTO entries SELECT session, 2, 1, '{\"entry\":\"from_the_future\"}' FROM entries",
                [],
            )?;
            Ok(())
        })
        .await
        .unwrap();
    let error = database.entries(&id, 0).await.unwrap_err();
    assert!(error.to_string().starts_with("entry 2 of the session cannot be read"), "{error}");
}

#[tokio::test]
async fn the_same_call_finds_the_same_subagent() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let parent = session(&database, "s").await;
    let child = |id: &str| NewSession {
        id: id.into(),
        project: "p".into(),
        parent: Some((parent.clone(), "call".into())),
        created_at: 2,
        summary: json!({}),
    };
    let first = database.create_session(child("c1")).await.unwrap();
    assert_eq!(database.create_session(child("c2")).await.unwrap(), first);
    assert_eq!(database.children(&parent).await.unwrap(), [first]);
    assert_eq!(database.sessions("p").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_session_is_run_by_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let id = session(&database, "s").await;
    let claim = database.claim(&id).unwrap();
    assert!(claim.is_some());
    assert!(database.claim(&id).unwrap().is_none());
    assert!(database.is_claimed(&id));
    drop(claim);
    assert!(!database.is_claimed(&id));
    assert!(database.claim(&id).unwrap().is_some());
}

#[cfg(unix)]
#[tokio::test]
async fn a_start_clears_the_locks_that_nobody_holds_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (left, held) = (session(&database, "left").await, session(&database, "held").await);
    drop(database.claim(&left).unwrap());
    let claim = database.claim(&held).unwrap();
    let again = Database::open(folder.path()).unwrap();
    let running = folder.path().join("running");
    assert!(!running.join("left").exists() && running.join("held").exists());
    assert!(again.is_claimed(&held) && !again.is_claimed(&left));
    assert!(again.claim(&left).unwrap().is_some());
    drop(claim);
}

#[test]
fn opening_what_exists_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("data");
    assert!(Database::open_existing(&place).unwrap().is_none());
    assert!(!place.exists());
    drop(Database::open(&place).unwrap());
    assert!(Database::open_existing(&place).unwrap().is_some());
}

#[test]
fn looking_whether_a_database_could_be_made_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b/bosun");
    Database::could_be_in(&deep).unwrap();
    Database::could_be_in(folder.path()).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    std::fs::write(folder.path().join("a"), "").unwrap();
    let error = Database::could_be_in(&deep).unwrap_err().to_string();
    assert!(error.contains("a file is in its place") && error.contains("BOSUN_DATA_DIR"), "{error}");
    assert!(std::fs::read(folder.path().join("a")).is_ok_and(|bytes| bytes.is_empty()));
}

#[test]
fn a_data_folder_that_cannot_be_had_is_named_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("below")] {
        let error = Database::open(&place).unwrap_err();
        let told = format!(
            "the data folder {} cannot be used: a file is in its place. Choose another with BOSUN_DATA_DIR",
            place.display()
        );
        assert_eq!(error.to_string(), told);
        assert!(std::error::Error::source(&error).is_none(), "the cause is told once");
    }
}

fn refusal(prepare: impl FnOnce(&std::path::Path)) -> OpenError {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bosun.db");
    prepare(&file);
    let before = std::fs::read(&file).ok();
    let error = Database::open(folder.path()).unwrap_err();
    assert_eq!(std::fs::read(&file).ok(), before, "a refused file must stay as it was");
    error
}

#[test]
fn what_is_not_ours_is_refused_and_left_alone() {
    let random =
        refusal(|file| std::fs::write(file, b"not a database, but long enough to look at".repeat(40)).unwrap());
    assert!(matches!(random, OpenError::NotADatabase { .. }), "{random}");
    let folder = refusal(|file| std::fs::create_dir(file).unwrap());
    assert!(matches!(folder, OpenError::NotADatabase { .. }), "{folder}");
    let other = refusal(|file| {
        Connection::open(file).unwrap().execute_batch("PRAGMA application_id = 7; CREATE TABLE t (x)").unwrap();
    });
    assert!(matches!(other, OpenError::OtherApplication { .. }), "{other}");
    let newer = refusal(|file| {
        Connection::open(file)
            .unwrap()
            .execute_batch("PRAGMA application_id = 0x4273756e; PRAGMA user_version = 99; CREATE TABLE t (x)")
            .unwrap();
    });
    assert!(matches!(newer, OpenError::Newer { found: 99, .. }), "{newer}");
}

#[test]
fn an_empty_file_is_a_fresh_start_and_a_second_opening_works() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bosun.db"), b"").unwrap();
    let first: Arc<Database> = Database::open(folder.path()).unwrap();
    let second = Database::open(folder.path());
    assert!(second.is_ok());
    drop(first);
}

/// As where a window and a run are started for the first time together.
#[test]
fn who_opens_a_new_database_at_once_finds_it_whole() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let open = || Database::open(folder.path()).map(drop);
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            opened.into_iter().for_each(|opened| opened.join().unwrap().unwrap());
        });
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_look_in() {
    use std::os::unix::fs::PermissionsExt;
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data");
    let _database = Database::open(&folder).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("bosun.db"))), (0o700, 0o600));
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_look_into_is_closed_and_a_shared_one_is_left() {
    use std::os::unix::fs::PermissionsExt;
    let outer = tempfile::tempdir().unwrap();
    let opened_with = |name: &str, mode: u32| {
        let folder = outer.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        drop(Database::open(&folder).unwrap());
        std::fs::metadata(&folder).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!((opened_with("open", 0o755), opened_with("shared", 0o1777)), (0o700, 0o1777));
}

/// The write-ahead log's size.
fn wal(folder: &std::path::Path) -> u64 {
    std::fs::metadata(folder.join("bosun.db-wal")).map_or(0, |wal| wal.len())
}

#[tokio::test]
async fn the_write_ahead_log_stays_small_in_a_long_session_and_is_gone_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let id = session(&database, "s").await;
    let journal = database.journal(&id);
    let mut most = 0;
    for n in 0..800 {
        journal.append(vec![titled(&noise(40_000))]).await.unwrap();
        if n % 50 == 0 {
            assert_eq!(database.entries(&id, n).await.unwrap().len(), 1);
        }
        most = most.max(wal(folder.path()));
    }
    assert!(most < 8 << 20, "{most} bytes for 32 MB");
    drop((journal, database));
    assert_eq!(wal(folder.path()), 0);
}

/// A reader that stays makes the log grow; once it is gone, the log is cut.
#[tokio::test]
async fn a_log_that_grew_behind_a_long_reader_is_cut_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let id = session(&database, "s").await;
    let journal = database.journal(&id);
    let reader = Connection::open(folder.path().join("bosun.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    for _ in 0..300 {
        journal.append(vec![titled(&noise(40_000))]).await.unwrap();
    }
    assert!(wal(folder.path()) > 8 << 20);
    reader.execute_batch("COMMIT").unwrap();
    for _ in 0..3 {
        journal.append(vec![titled(&noise(40_000))]).await.unwrap();
    }
    assert!(wal(folder.path()) <= 4 << 20, "{}", wal(folder.path()));
}
