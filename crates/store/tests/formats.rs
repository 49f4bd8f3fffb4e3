//! Databases of every format there was still open, with everything that was in them.
//!
//! A format's database under `tests/fixtures/database` is written once, by the version that brought the format, with
//! `BOSUN_UPDATE_FIXTURES=1 cargo nextest run -p bosun-store formats`, and never again.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests look at files and fail loudly")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_agent::{Clock, Recorded, SessionId, State};
use bosun_backend::{Held, Namespace, Store, StoreQuery};
use bosun_model::Usage;
use bosun_store::{
    CallingAgent, Database, FORMAT, KeyValueStore, NewSession, StoredCall, StoredProject, StoredVerdict, Verdict,
};
use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        1_700_000_000_000
    }
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn database_of(format: i64) -> PathBuf {
    fixtures().join(format!("database/format-{format}.db"))
}

/// The journals that a format's database was written with, by session; the first is the root's.
fn journals(path: &Path) -> Vec<(String, Vec<Recorded>)> {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What every format had of an account.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Account {
    id: String,
    label: String,
    family: String,
    base_url: String,
}

fn account() -> Account {
    let [id, label, family, base_url] =
        ["work", "Work", "openai_chat", "https://api.example.com/v1"].map(str::to_owned);
    Account { id, label, family, base_url }
}

/// A database with something in every table.
async fn fill(database: &Arc<Database>, journals: &[(String, Vec<Recorded>)]) {
    let project =
        StoredProject { id: "project".into(), path: "/nowhere/demo".into(), name: "demo".into(), opened_at: 7 };
    database.remember_project(project).await.unwrap();
    let root = SessionId::new(journals[0].0.as_str());
    for (n, (id, entries)) in journals.iter().enumerate() {
        let new = NewSession {
            id: SessionId::new(id.as_str()),
            project: "project".into(),
            parent: (n > 0).then(|| (root.clone(), format!("call-{n}").as_str().into())),
            created_at: 5,
            summary: json!({ "title": format!("session {n}") }),
        };
        database.create_session(new).await.unwrap();
        let journal = database.journal(&SessionId::new(id.as_str()));
        for recorded in entries {
            journal.append_with(vec![recorded.entry.clone()], None).await.unwrap();
        }
    }
    database.set_setting("settings", &json!({ "theme": "dark" })).await.unwrap();
    database.save_account("work", &account()).await.unwrap();
    let store = KeyValueStore::new(Arc::clone(database), Arc::new(Noon));
    store.put(&Namespace::new(["memories"]).unwrap(), "tone", json!("be brief 简短")).await.unwrap();
    let user = Namespace::new(["memories", "user"]).unwrap();
    store.put(&user, "/a.md", json!("once")).await.unwrap();
    store.by("s1").put(&user, "/a.md", json!("now")).await.unwrap();
    database.decide_trust("project", vec![verdict()]).await.unwrap();
    database.note_call(call());
}

fn call() -> StoredCall {
    StoredCall {
        session: SessionId::new("s1"),
        project: "project".into(),
        at: 7,
        day: "2026-11-21".into(),
        provider: "anthropic".into(),
        model: "claude".into(),
        purpose: "answer".into(),
        milliseconds: 900,
        usage: Usage { input: Some(100), output: Some(10), ..Usage::default() },
        cost: Some(0.25),
        agent: Some(CallingAgent { session: SessionId::new("s2"), name: "scout".into() }),
    }
}

fn verdict() -> StoredVerdict {
    StoredVerdict {
        path: "/AGENTS.md".into(),
        verdict: Verdict::Trusted,
        hash: "ab".into(),
        content: Some(b"Be kind.".to_vec()),
        decided_at: 9,
    }
}

/// The first format with earlier versions of values, and with trust.
const KNOWLEDGE: i64 = 4;

/// The first format with what model calls cost.
const CALLS: i64 = 5;

/// The first format with whose they were.
const CALLERS: i64 = 7;

async fn has_knowledge(database: &Database) {
    let user = Namespace::new(["memories", "user"]).unwrap();
    assert_eq!(database.values(&user).await.unwrap()[0].author.as_deref(), Some("s1"));
    assert_eq!(database.versions(&user, "/a.md").await.unwrap()[0].value, json!("once"));
    assert_eq!(database.verdicts("project").await.unwrap(), [verdict()]);
}

/// What an older format wrote is found, changed and deleted in the indexes of this one.
async fn indexes_follow(store: &KeyValueStore, format: i64) {
    let namespace = Namespace::new(["memories"]).unwrap();
    let has = async |run: &str| match store.holding(&namespace, "", run, 10).await.unwrap() {
        Held::These(items) => items.iter().any(|item| item.value.as_str().is_some_and(|text| text.contains(run))),
        _ => panic!("format {format}: the index can tell of {run}"),
    };
    assert!(has("简").await && has("brief").await, "format {format}");
    store.put(&namespace, "tone", json!("be kind 和气")).await.unwrap();
    assert!(has("和").await && !has("简").await && !has("brief").await, "format {format}");
    store.delete(&namespace, "tone").await.unwrap();
    assert!(!has("和").await, "format {format}");
}

#[tokio::test]
async fn formats_are_written_once() {
    let path = database_of(FORMAT);
    if path.exists() {
        return;
    }
    assert!(std::env::var_os("BOSUN_UPDATE_FIXTURES").is_some(), "{} is missing", path.display());
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let source = fixtures().join("journal/entries.json");
    fill(&database, &journals(&source)).await;
    drop(database);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = rusqlite::Connection::open(folder.path().join("bosun.db")).unwrap();
    file.execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();
    std::fs::copy(source, path.with_extension("json")).unwrap();
}

#[tokio::test]
async fn formats_of_every_version_open_with_all_that_was_in_them() {
    for format in 1..=FORMAT {
        let folder = tempfile::tempdir().unwrap();
        let fixture = database_of(format);
        std::fs::copy(&fixture, folder.path().join("bosun.db")).unwrap();
        let database = Database::open(folder.path()).unwrap_or_else(|error| panic!("format {format}: {error}"));
        let journals = journals(&fixture.with_extension("json"));
        for (n, (id, entries)) in journals.iter().enumerate() {
            let id = SessionId::new(id.as_str());
            let stored = database.session(&id).await.unwrap().unwrap();
            assert_eq!((stored.created_at, stored.parent.is_some()), (5, n > 0), "format {format}");
            assert_eq!(stored.summary["title"], format!("session {n}"));
            let found = database.entries(&id, 0).await.unwrap();
            assert_eq!(&found, entries, "format {format}");
            assert!(!State::fold(found.iter().map(|entry| &entry.entry)).messages.is_empty());
        }
        assert_eq!(database.projects().await.unwrap()[0].path, "/nowhere/demo");
        assert_eq!(database.sessions("project").await.unwrap().len(), 1);
        assert_eq!(database.setting::<Value>("settings").await.unwrap(), Some(json!({ "theme": "dark" })));
        assert_eq!(database.accounts::<Account>().await.unwrap(), [account()]);
        let store = KeyValueStore::new(Arc::clone(&database), Arc::new(Noon));
        let kept = store.get(&Namespace::new(["memories"]).unwrap(), "tone").await.unwrap().unwrap();
        assert_eq!(kept.value, json!("be brief 简短"));
        let text = Some("brief".to_owned());
        let query = StoreQuery {
            namespace: Namespace::new(["memories"]).unwrap(),
            key_prefix: None,
            text,
            limit: 2,
            offset: 0,
        };
        assert_eq!(store.search(query).await.unwrap().len(), 1, "format {format} is searched");
        indexes_follow(&store, format).await;
        let file = rusqlite::Connection::open(folder.path().join("bosun.db")).unwrap();
        for index in ["key_values_runs", "key_values_words"] {
            let check = format!("INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)");
            file.execute(&check, []).unwrap_or_else(|error| panic!("format {format}, {index}: {error}"));
        }
        if format >= KNOWLEDGE {
            has_knowledge(&database).await;
        }
        if format >= CALLS {
            let agent = call().agent.filter(|_| format >= CALLERS);
            let calls = database.calls_of_session(&SessionId::new("s1"), 2).await.unwrap();
            assert_eq!(calls, [StoredCall { agent, ..call() }], "format {format}");
        }
        let backup = folder.path().join(format!("bosun.db.format-{format}"));
        assert_eq!(backup.exists(), format < FORMAT, "an older format is kept beside the new one");
    }
}
