use std::sync::Arc;

use bosun_agent::SystemClock;
use bosun_backend::{Namespace, Store, StoreQuery};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{HOLDING, KeyValueStore};
use crate::Database;

fn store() -> (tempfile::TempDir, KeyValueStore) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    (folder, KeyValueStore::new(database, Arc::new(SystemClock)))
}

fn namespace(parts: &[&str]) -> Namespace {
    Namespace::new(parts.iter().copied()).unwrap()
}

async fn found(store: &KeyValueStore, text: &str) -> Vec<String> {
    let query = StoreQuery {
        namespace: namespace(&["memories"]),
        key_prefix: None,
        text: Some(text.into()),
        limit: 10,
        offset: 0,
    };
    store.search(query).await.unwrap().into_iter().map(|hit| hit.item.key).collect()
}

#[tokio::test]
async fn values_come_back_and_keep_their_birth() {
    let (_folder, store) = store();
    let space = namespace(&["memories", "user"]);
    store.put(&space, "/a.md", json!({"content": "one"})).await.unwrap();
    let first = store.get(&space, "/a.md").await.unwrap().unwrap();
    store.put(&space, "/a.md", json!({"content": "two"})).await.unwrap();
    let second = store.get(&space, "/a.md").await.unwrap().unwrap();
    assert_eq!((second.value, second.created_at), (json!({"content": "two"}), first.created_at));
    assert!(store.delete(&space, "/a.md").await.unwrap());
    assert!(!store.delete(&space, "/a.md").await.unwrap());
    assert_eq!(store.get(&space, "/a.md").await.unwrap(), None);
}

#[tokio::test]
async fn text_is_found_in_words_and_in_chinese_and_hostile_syntax_is_only_text() {
    let (_folder, store) = store();
    let space = namespace(&["memories"]);
    store.put(&space, "prose", json!("Prefers résumés in plain text")).await.unwrap();
    store.put(&space, "zh", json!("发布说明写在变更记录里")).await.unwrap();
    assert_eq!(found(&store, "resumes plain").await, ["prose"]);
    assert_eq!(found(&store, "变更记录").await, ["zh"]);
    for hostile in ["\"", "a AND", "NEAR(", "*", "name:x", "-", "' OR 1=1", "(", "变更\""] {
        found(&store, hostile).await;
    }
}

#[tokio::test]
async fn namespaces_are_listed_by_whole_parts() {
    let (_folder, store) = store();
    for parts in [&["memories", "user"][..], &["memories", "p1"], &["memories_evil"]] {
        store.put(&namespace(parts), "k", json!(1)).await.unwrap();
    }
    let listed = store.list_namespaces(&["memories".to_owned()]).await.unwrap();
    assert_eq!(listed, [namespace(&["memories", "p1"]), namespace(&["memories", "user"])]);
}

#[tokio::test]
async fn a_file_is_found_by_its_words_alone_and_at_the_beginning_of_a_line() {
    let (_folder, store) = store();
    let space = namespace(&["memories"]);
    store.put(&space, "/a.md", json!({"content": "first\nsecond \"third\"", "encoding": "utf-8"})).await.unwrap();
    assert_eq!(found(&store, "second").await, ["/a.md"]);
    assert_eq!(found(&store, "encoding").await, Vec::<String>::new());
    store.put(&space, "/a.md", json!({"content": "other", "encoding": "utf-8"})).await.unwrap();
    assert_eq!(found(&store, "second").await, Vec::<String>::new());
    assert_eq!(found(&store, "other").await, ["/a.md"]);
}

#[tokio::test]
async fn the_index_of_runs_is_asked_once_and_not_for_every_file() {
    let (_folder, store) = store();
    let plan = store.database.read(|connection| {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {HOLDING}"))?;
        let rows = explain.query_map(["n", "/", "0", "words : \"abc\""], |row| row.get::<_, String>(3))?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?)
    });
    let plan = plan.await.unwrap();
    let position = |what: &str| plan.iter().position(|step| step.contains(what));
    let index = position("SCAN found VIRTUAL TABLE INDEX");
    let files = position("SEARCH kv USING INTEGER PRIMARY KEY");
    assert!(index.is_some() && index < files, "{plan:#?}");
    assert!(position("USING INDEX key_values_unindexed").is_some(), "{plan:#?}");
}
