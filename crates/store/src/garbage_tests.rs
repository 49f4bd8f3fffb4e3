use std::sync::Arc;

use bosun_agent::{EntryBody, Journal, JournalEntry};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{KeyValueStore, NewSession};

async fn session(database: &Arc<Database>, id: &str, parent: Option<(&str, &str)>, named: &[&str]) {
    let new = NewSession {
        id: SessionId::new(id),
        project: "p".into(),
        parent: parent.map(|(parent, call)| (SessionId::new(parent), call.into())),
        created_at: 0,
        summary: json!({}),
    };
    database.create_session(new).await.unwrap();
    // One that is packed, and one that is too short for it.
    for title in [named.join(" and "), named.iter().map(|hash| format!("{hash} {}", "words ".repeat(99))).collect()] {
        let entry = JournalEntry { at: 0, body: EntryBody::Titled { title } };
        database.journal(&SessionId::new(id)).append(vec![entry]).await.unwrap();
    }
}

#[tokio::test]
async fn only_what_nothing_else_names_is_unnamed() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let [mine, child, shared, kept] = ['a', 'b', 'c', 'd'].map(|letter| letter.to_string().repeat(HASH));
    session(&database, "gone", None, &[&mine, &shared, &kept, "abc", &"e".repeat(HASH + 1)]).await;
    session(&database, "child", Some(("gone", "call")), &[&child]).await;
    session(&database, "stays", None, &[&shared]).await;
    let store = KeyValueStore::new(Arc::clone(&database), Arc::new(bosun_agent::SystemClock));
    let namespace = bosun_backend::Namespace::new(["reviews"]).unwrap();
    bosun_backend::Store::put(&store, &namespace, "x", json!({"/a": kept})).await.unwrap();
    assert_eq!(database.unnamed_content().await.unwrap(), Vec::<String>::new());

    database.purge_session(&SessionId::new("gone")).await.unwrap();
    drop(store);
    drop(database);
    // It is found out after a restart too, until it was done.
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(database.unnamed_content().await.unwrap(), [mine.clone(), child.clone()]);
    database.content_swept(vec![child.clone()]).await.unwrap();
    assert_eq!(database.unnamed_content().await.unwrap(), [child]);
    database.content_swept(Vec::new()).await.unwrap();
    assert_eq!(database.unnamed_content().await.unwrap(), Vec::<String>::new());
    assert_eq!(database.entries(&SessionId::new("stays"), 0).await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_room_of_what_is_gone_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let noise =
        |number: u32| format!("{:x}", u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
    let words: Vec<String> = (0..20_000).map(noise).chain(["f".repeat(HASH)]).collect();
    session(&database, "gone", None, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
    session(&database, "stays", None, &["x"]).await;
    let size = || std::fs::metadata(folder.path().join("bosun.db")).unwrap().len();
    database.purge_session(&SessionId::new("gone")).await.unwrap();
    // Closed, so that nothing is in the write-ahead log alone.
    drop(database);
    let before = size();
    let database = Database::open(folder.path()).unwrap();
    database.content_swept(Vec::new()).await.unwrap();
    assert!(size() * 2 < before, "{} of {before}", size());
    assert_eq!(database.entries(&SessionId::new("stays"), 0).await.unwrap().len(), 2);
}
