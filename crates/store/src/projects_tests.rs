use std::sync::Arc;

use bosun_agent::{Clock, SessionId};
use bosun_backend::Store;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{KeyValueStore, NewSession, StoredVerdict, Verdict};

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        12
    }
}

fn project(id: &str, path: &str) -> StoredProject {
    StoredProject { id: id.into(), path: path.into(), name: path.trim_start_matches('/').into(), opened_at: 1 }
}

async fn session(database: &Database, id: &str, project: &str) {
    let new = NewSession {
        id: SessionId::new(id),
        project: project.into(),
        parent: None,
        created_at: 1,
        summary: json!({ "title": id }),
    };
    database.create_session(new).await.unwrap();
}

async fn remember(database: &Arc<Database>, project: &str) {
    let store = KeyValueStore::new(Arc::clone(database), Arc::new(Noon));
    let namespace = StoreScope::Project(project.into()).namespace("memories").unwrap();
    store.put(&namespace, "/AGENTS.md", json!({ "content": "Tabs.", "encoding": "utf-8" })).await.unwrap();
}

async fn trust(database: &Database, project: &str) {
    let trusted = StoredVerdict {
        path: "/AGENTS.md".into(),
        verdict: Verdict::Trusted,
        hash: project.into(),
        content: None,
        decided_at: 1,
    };
    database.decide_trust(project, vec![trusted]).await.unwrap();
}

/// A database in which a project was at work in `/old`, and another one was opened at `/new`.
async fn two() -> Arc<Database> {
    let database = Database::in_memory().unwrap();
    database.remember_project(project("moved", "/old")).await.unwrap();
    database.remember_project(project("there", "/new")).await.unwrap();
    session(&database, "s", "moved").await;
    remember(&database, "moved").await;
    trust(&database, "moved").await;
    database
}

#[tokio::test]
async fn a_project_has_all_that_is_its_own_at_its_new_folder() {
    let database = two().await;
    trust(&database, "there").await;
    let moved = StoredProject { opened_at: 9, ..project("moved", "/new") };
    assert_eq!(database.move_project(moved.clone()).await.unwrap(), ProjectMove::Done(moved.clone()));
    assert_eq!(database.projects().await.unwrap(), std::slice::from_ref(&moved));
    assert_eq!(database.project_at("/old").await.unwrap(), None);
    assert_eq!(database.project_at("/new").await.unwrap(), Some(moved));
    assert_eq!(database.sessions("moved").await.unwrap().len(), 1);
    assert_eq!(database.verdicts("moved").await.unwrap()[0].hash, "moved", "what the person trusted in it");
    assert_eq!(database.verdicts("there").await.unwrap(), []);
    // Its old place is free again.
    let anew = database.remember_project(project("anew", "/old")).await.unwrap();
    assert_eq!(anew.id, "anew");
}

#[tokio::test]
async fn the_folder_of_a_project_with_something_of_its_own_is_not_taken() {
    for own in ["a session", "a memory"] {
        let database = two().await;
        match own {
            "a session" => session(&database, "t", "there").await,
            _ => remember(&database, "there").await,
        }
        let before = database.projects().await.unwrap();
        let refused = database.move_project(project("moved", "/new")).await.unwrap();
        assert_eq!(refused, ProjectMove::Taken { by: project("there", "/new") }, "{own}");
        assert_eq!(database.projects().await.unwrap(), before, "{own}");
    }
}

#[tokio::test]
async fn a_project_that_nobody_knows_moves_nothing_with_it() {
    let database = two().await;
    let before = database.projects().await.unwrap();
    let unknown = database.move_project(project("nobody", "/new")).await;
    assert!(matches!(unknown, Err(DatabaseError::NotFound { .. })), "{unknown:?}");
    assert_eq!(database.projects().await.unwrap(), before, "the one that was there is there still");
}

#[tokio::test]
async fn a_project_that_came_back_to_its_own_folder_is_as_it_was() {
    let database = two().await;
    let same = StoredProject { opened_at: 5, ..project("moved", "/old") };
    assert_eq!(database.move_project(same.clone()).await.unwrap(), ProjectMove::Done(same));
    assert_eq!(database.projects().await.unwrap().len(), 2);
}
