//! What a session's changes count as, and how they are undone.

use bosun_model::ChatRequest;
use bosun_protocol::ChangeKind;
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::{edit, progress};
use super::stage::Stage;

/// Edits as the message says: pairs of words, one after the other, then a subagent where it is to go on.
pub(super) fn rewriting(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    let words: Vec<&str> = text.split_whitespace().collect();
    match (words.as_slice(), done) {
        (["send", description @ ..], 0) => {
            let args = json!({"description": description.join(" "), "subagent_type": "general-purpose"});
            Reply::default().and_call_with_id("t", "task", args)
        }
        (["rewrite", ..], 0) => Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/a.txt"})),
        (["rewrite", words @ ..], done) => match words.get(2 * (done - 1)..2 * done) {
            Some([old, new]) => edit(&format!("e{done}"), old, new),
            _ => Reply::text("Done."),
        },
        _ => Reply::text("Done."),
    }
}

pub(super) async fn counts(stage: &Stage, session: &bosun_protocol::SessionId) -> Vec<(String, ChangeKind, u32, u32)> {
    let changes = stage.snapshot(session).await.changes;
    changes.into_iter().map(|change| (change.path, change.change, change.added, change.removed)).collect()
}

#[tokio::test]
async fn changes_count_from_the_first_bytes_to_the_last_and_what_is_edited_back_as_nothing() {
    let stage = Stage::allowing_edits(rewriting).await;
    let session = stage.session().await;
    let says = async |text: &str| {
        stage.sessions.send(&session, text.into()).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
        counts(&stage, &session).await
    };
    let changed = |added, removed| vec![("/a.txt".to_owned(), ChangeKind::Changed, added, removed)];
    assert_eq!(says("rewrite one 1 1 uno").await, changed(1, 1), "one line changed, however often");
    assert_eq!(says("rewrite uno one").await, changed(0, 0));
    assert_eq!(says("send rewrite one 1 two 2 1 uno").await, changed(2, 2), "a subagent's changes are counted too");
    assert_eq!(stage.project.read("a.txt"), "uno\n2\n");
    let stage = stage.restarted(rewriting).await;
    assert_eq!(counts(&stage, &session).await, changed(2, 2));
}

#[tokio::test]
async fn changes_to_one_file_by_a_subagent_and_then_by_the_session_count_the_same_after_a_restart() {
    let stage = Stage::allowing_edits(rewriting).await;
    let session = stage.session().await;
    for text in ["send rewrite one 1", "rewrite 1 one two 2"] {
        stage.sessions.send(&session, text.into()).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
    }
    let before = counts(&stage, &session).await;
    assert_eq!(before, [("/a.txt".to_owned(), ChangeKind::Changed, 1, 1)]);
    let stage = stage.restarted(rewriting).await;
    assert_eq!(counts(&stage, &session).await, before);
}
