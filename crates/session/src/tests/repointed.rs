//! A folder that is a link to elsewhere by the time something in it is put back (security.md A11).
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests look at files and change them as a person would")]

use std::os::unix::fs::symlink;

use bosun_model::ChatRequest;
use bosun_protocol::{ChangeScope, Problem, RewindWhat, SessionId};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// Reads `docs/a.txt`, changes it, makes `docs/new.txt` and deletes `docs/gone.txt`.
fn working(request: &ChatRequest) -> Reply {
    let reads = |id: &str, path: &str| Reply::default().and_call_with_id(id, "read_file", json!({"file_path": path}));
    match progress(request).1 {
        0 => reads("r", "/docs/a.txt"),
        1 => {
            let edit = json!({"file_path": "/docs/a.txt", "old_string": "one", "new_string": "1"});
            Reply::default().and_call_with_id("e", "edit_file", edit)
        }
        2 => {
            let new = json!({"file_path": "/docs/new.txt", "content": "new\n"});
            Reply::default().and_call_with_id("n", "write_file", new)
        }
        3 => Reply::default().and_call_with_id("d", "delete", json!({"file_path": "/docs/gone.txt"})),
        _ => Reply::text("Done."),
    }
}

/// The session has done its work, and `docs` leads to a folder beside the project that looks the same.
async fn led_out() -> (Stage, SessionId, tempfile::TempDir) {
    let stage = Stage::allowing_everything(working).await;
    stage.project.write("docs/a.txt", "one\n");
    stage.project.write("docs/gone.txt", "gone\n");
    let session = stage.session().await;
    stage.sessions.send(&session, "work".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!((stage.project.read("docs/a.txt"), stage.project.exists("docs/gone.txt")), ("1\n".into(), false));
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a.txt"), "1\n").unwrap();
    std::fs::write(outside.path().join("new.txt"), "new\n").unwrap();
    std::fs::rename(stage.project.at("docs"), stage.project.at("was")).unwrap();
    symlink(outside.path(), stage.project.at("docs")).unwrap();
    (stage, session, outside)
}

fn untouched(outside: &tempfile::TempDir) {
    let read = |name: &str| std::fs::read_to_string(outside.path().join(name)).ok();
    assert_eq!([read("a.txt"), read("new.txt"), read("gone.txt")], [Some("1\n".into()), Some("new\n".into()), None]);
}

#[tokio::test]
async fn an_undo_touches_nothing_outside() {
    let (stage, session, outside) = led_out().await;
    for path in ["/docs/a.txt", "/docs/new.txt", "/docs/gone.txt"] {
        let refused = stage.sessions.undo_file(&session, path, ChangeScope::Session).await.unwrap_err();
        let why = Box::new(Problem::OutsideRoot { path: path.into() });
        assert_eq!(refused.problem, Problem::LeftAsItIs { why });
        untouched(&outside);
    }
    let undone = stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(undone.iter().filter(|file| file.problem.is_some()).count(), 3, "{undone:?}");
    untouched(&outside);
}

#[tokio::test]
async fn neither_a_restored_version_nor_a_way_back_touches_anything_outside() {
    let (stage, session, outside) = led_out().await;
    std::fs::write(outside.path().join("a.txt"), "1\n").unwrap();
    for path in ["/docs/a.txt", "/docs/new.txt", "/docs/gone.txt"] {
        stage.sessions.restore_version(&session, path).await.unwrap_err();
        untouched(&outside);
    }
    let first = stage.timeline(&session).await.checkpoints.remove(0).seq;
    stage.sessions.rewind(&session, first, RewindWhat::Files, &[]).await.unwrap_err();
    untouched(&outside);
}

#[tokio::test]
async fn what_was_undone_comes_back_to_nothing_outside() {
    let (stage, session, outside) = led_out().await;
    std::fs::remove_file(stage.project.at("docs")).unwrap();
    std::fs::rename(stage.project.at("was"), stage.project.at("docs")).unwrap();
    stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(stage.project.read("docs/a.txt"), "one\n");
    let undone = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap().undone;
    std::fs::rename(stage.project.at("docs"), stage.project.at("was")).unwrap();
    symlink(outside.path(), stage.project.at("docs")).unwrap();
    let again = stage.sessions.redo_undone(&session, undone[0].seq).await.unwrap();
    assert!(again.iter().all(|file| file.problem.is_some()), "{again:?}");
    untouched(&outside);
}
