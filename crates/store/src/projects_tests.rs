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
    let done = ProjectMove::Done { project: moved.clone(), gone: Some("there".into()) };
    assert_eq!(database.move_project(moved.clone(), Vec::new()).await.unwrap(), done);
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
        let refused = database.move_project(project("moved", "/new"), Vec::new()).await.unwrap();
        assert_eq!(refused, ProjectMove::Taken { by: project("there", "/new") }, "{own}");
        assert_eq!(database.projects().await.unwrap(), before, "{own}");
    }
}

#[tokio::test]
async fn what_was_deleted_of_a_project_that_gives_way_can_be_brought_back_in_the_other() {
    let database = two().await;
    session(&database, "t", "there").await;
    session(&database, "u", "there").await;
    remember(&database, "there").await;
    let namespace = |project: &str| StoreScope::Project(project.into()).namespace("memories").unwrap();
    let store = KeyValueStore::new(Arc::clone(&database), Arc::new(Noon));
    store.delete(&namespace("there"), "/AGENTS.md").await.unwrap();
    let there = || project("moved", "/new");
    let only_one = database.move_project(there(), vec![SessionId::new("t")]).await.unwrap();
    assert!(matches!(only_one, ProjectMove::Taken { .. }), "one is not deleted");
    assert_eq!(database.sessions("there").await.unwrap().len(), 2);

    let deleted = ["t", "u"].map(SessionId::new).to_vec();
    let moved = database.move_project(there(), deleted).await.unwrap();
    assert_eq!(moved, ProjectMove::Done { project: there(), gone: Some("there".into()) });
    let mut sessions: Vec<String> =
        database.sessions("moved").await.unwrap().into_iter().map(|session| session.id.to_string()).collect();
    sessions.sort();
    assert_eq!(sessions, ["s", "t", "u"]);
    assert_eq!(database.versions(&namespace("moved"), "/AGENTS.md").await.unwrap().len(), 1);
    assert_eq!(database.values(&namespace("moved")).await.unwrap().len(), 1, "its own is as it was");
    assert_eq!(database.versions(&namespace("there"), "/AGENTS.md").await.unwrap(), []);
}

#[tokio::test]
async fn a_project_that_nobody_knows_moves_nothing_with_it() {
    let database = two().await;
    let before = database.projects().await.unwrap();
    let unknown = database.move_project(project("nobody", "/new"), Vec::new()).await;
    assert!(matches!(unknown, Err(DatabaseError::NotFound { .. })), "{unknown:?}");
    assert_eq!(database.projects().await.unwrap(), before, "the one that was there is there still");
}

#[tokio::test]
async fn a_project_that_came_back_to_its_own_folder_is_as_it_was() {
    let database = two().await;
    let same = StoredProject { opened_at: 5, ..project("moved", "/old") };
    let done = ProjectMove::Done { project: same.clone(), gone: None };
    assert_eq!(database.move_project(same, Vec::new()).await.unwrap(), done);
    assert_eq!(database.projects().await.unwrap().len(), 2);
}
