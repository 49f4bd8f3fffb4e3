//! A session's place in lists.

use bosun_protocol::{SessionId, SessionSummary};
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
    stage.sessions.restore(&session).await.unwrap();
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
