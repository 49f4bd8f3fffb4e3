//! A session's place in lists, and finding it.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use bosun_protocol::{ItemBody, SearchSessions, SessionId, SessionStatus, SessionSummary};
use bosun_store::NewSession;
use pretty_assertions::assert_eq;

use super::sessions::editing;
use super::stage::Stage;

async fn listed(stage: &Stage) -> Vec<SessionSummary> {
    stage.sessions.list(&stage.project_id).await.unwrap()
}

async fn one(stage: &Stage, session: &SessionId) -> SessionSummary {
    listed(stage).await.into_iter().find(|summary| summary.id == *session).unwrap()
}

#[tokio::test]
async fn a_session_is_renamed_pinned_and_archived_and_keeps_its_place() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "hello".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let before = one(&stage, &session).await;
    stage.sessions.rename(&session, "  My\nown   title ").await.unwrap();
    stage.sessions.pin(&session, true).await.unwrap();
    stage.sessions.archive(&session, true).await.unwrap();
    let wanted = SessionSummary { title: "My own title".into(), pinned: true, archived: true, ..before.clone() };
    assert_eq!(one(&stage, &session).await, wanted);
    assert!(stage.sessions.rename(&session, " \n").await.is_err());
    let stage = stage.restarted(editing).await;
    assert_eq!(one(&stage, &session).await, wanted);
    stage.sessions.pin(&session, false).await.unwrap();
    stage.sessions.archive(&session, false).await.unwrap();
    assert_eq!(one(&stage, &session).await, SessionSummary { title: "My own title".into(), ..before });
}

#[tokio::test]
async fn a_session_at_work_in_another_process_is_running_and_one_cut_by_a_crash_interrupted() {
    let stage = Stage::new(editing).await;
    let project = stage.project_id.to_string();
    let mut summary = serde_json::to_value(one(&stage, &stage.session().await).await).unwrap();
    (summary["id"], summary["status"]) = ("elsewhere".into(), serde_json::to_value(SessionStatus::Running).unwrap());
    let new = NewSession { id: "elsewhere".into(), project, parent: None, created_at: 1, summary };
    let id = stage.database.create_session(new).await.unwrap().id;
    let session = SessionId::new("elsewhere".to_owned());
    let claim = stage.database.claim(&id).unwrap();
    assert_eq!(one(&stage, &session).await.status, SessionStatus::Running);
    drop(claim);
    assert_eq!(one(&stage, &session).await.status, SessionStatus::Interrupted);
}

#[tokio::test]
async fn a_deleted_session_is_stopped_leaves_the_lists_and_can_be_brought_back() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let (_, mut changed) = stage.sessions.watch_summaries().await.unwrap();
    stage.sessions.delete(&session).await.unwrap();
    let told = changed.next().await.pop().unwrap();
    assert!(told.id == session && told.deleted_at.is_some() && told.waiting == 0, "{told:?}");
    assert_eq!(listed(&stage).await, []);
    let stage = stage.restarted(editing).await;
    assert_eq!(listed(&stage).await, []);
    let deleted = stage.sessions.deleted().await.unwrap();
    assert_eq!(deleted.iter().map(|summary| &summary.id).collect::<Vec<_>>(), [&session]);
    stage.sessions.restore(&session).await.unwrap();
    assert_eq!(stage.sessions.deleted().await.unwrap(), []);
    let back = one(&stage, &session).await;
    assert_eq!((back.deleted_at, back.title.as_str()), (None, "edit a.txt"));
    assert_eq!(stage.snapshot(&session).await.items.len(), 5);
}

#[tokio::test]
async fn what_was_deleted_long_ago_is_gone_for_good() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "hello".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.delete(&session).await.unwrap();
    let stage = stage.restarted_after(editing, 31 * 24 * 60 * 60 * 1_000).await;
    assert!(stage.sessions.restore(&session).await.is_err());
    assert_eq!(stage.database.all_sessions().await.unwrap(), []);
}

/// Where `words` were found: session, whether in a subagent, and what is shown.
async fn found(stage: &Stage, words: &str) -> Vec<(SessionId, bool, String)> {
    let query = SearchSessions { text: words.into(), project: Some(stage.project_id.clone()), limit: 50 };
    let hits = stage.sessions.search(&query).await.unwrap().into_iter();
    hits.map(|hit| {
        let text = hit.snippet.into_iter().map(|part| if part.hit { format!("[{}]", part.text) } else { part.text });
        (hit.session.id.clone(), hit.found_in != hit.session.id, text.collect())
    })
    .collect()
}

#[tokio::test]
async fn everything_that_was_said_is_found_also_in_chinese_and_by_subagents() {
    let stage = Stage::new(super::sessions::sending).await;
    let [one, two] = [stage.session().await, stage.session().await];
    for (session, text) in [(&one, "please 整理文本 today"), (&two, "Mend the tokeniser's tests")] {
        stage.sessions.send(session, text.into()).await.unwrap();
        stage.sessions.quiet(session).await.unwrap();
    }
    assert_eq!(found(&stage, "理文").await, [(one.clone(), false, "please 整[理文]本 today".into())]);
    assert_eq!(found(&stage, "tests token").await, [(two.clone(), false, "Mend the [token]iser's [tests]".into())]);
    let subagents = found(&stage, "new.txt").await;
    assert_eq!(subagents.len(), 2, "what a subagent writes is found in it: {subagents:?}");
    assert!(subagents.iter().all(|(_, in_subagent, text)| *in_subagent && text == "/[new.txt]"), "{subagents:?}");
    for nothing in ["absent", "\"", "-- ' OR 1", "please AND", "text:please"] {
        assert_eq!(found(&stage, nothing).await, [], "{nothing}");
    }
    stage.sessions.rename(&two, "Release notes").await.unwrap();
    assert_eq!(found(&stage, "release").await, [(two.clone(), false, "[Release] notes".into())]);
    stage.sessions.delete(&two).await.unwrap();
    assert_eq!(found(&stage, "release").await, []);
    stage.sessions.restore(&two).await.unwrap();
    assert_eq!(found(&stage, "release").await.len(), 1);
}

#[tokio::test]
async fn what_a_command_said_is_found_in_its_row_and_what_files_say_is_not() {
    let stage = Stage::allowing_everything(super::cut::commanding).await;
    let session = stage.session().await;
    super::cut::run(&stage, &session, "echo hal''yard; seq 3000; echo bra''ce >&2; exit 3").await;
    let row = stage.snapshot(&session).await.items.iter().find(|item| matches!(item.body, ItemBody::Tool(_))).cloned();
    for word in ["halyard", "brace"] {
        let query = SearchSessions { text: word.into(), project: None, limit: 5 };
        let hits = stage.sessions.search(&query).await.unwrap();
        let places: Vec<_> = hits.iter().map(|hit| hit.item.as_ref()).collect();
        assert_eq!(places, [row.as_ref().map(|row| &row.id)], "{word}");
    }
    assert_eq!(found(&stage, "exit code").await, [], "what frames it for the model was said by nobody");
    let stage = stage.restarted(editing).await;
    stage.sessions.send(&stage.session().await, "edit a.txt".into()).await.unwrap();
    assert_eq!(found(&stage, "halyard").await.len(), 1);
    assert_eq!(found(&stage, "two").await, [], "a file is searched where it is");
}

/// The sessions of a data folder from before there was an index.
#[tokio::test]
async fn sessions_of_an_older_format_are_found_too() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/database/format-1.db");
    std::fs::copy(fixture, folder.path().join("bosun.db")).unwrap();
    let database = bosun_store::Database::open(folder.path()).unwrap();
    let stage = Stage::over(database, folder).await;
    let query = SearchSessions { text: "Survey".into(), project: None, limit: 5 };
    let search = async || stage.sessions.search(&query).await.unwrap().len();
    // Its summary was written by hand and is none of ours, so that nothing is shown; but nothing breaks either.
    assert_eq!((search().await, search().await), (0, 0));
    assert_eq!(stage.database.unindexed_sessions().await.unwrap(), []);
    assert_eq!(stage.database.search_entries("Survey", None, 9).await.unwrap().len(), 1);
}
