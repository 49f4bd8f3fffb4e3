//! What outlives a cut, and what goes when nobody wants it any more.
#![allow(clippy::disallowed_methods, reason = "tests look at files and make them old")]

use std::time::{Duration, SystemTime};

use bosun_model::ChatRequest;
use bosun_protocol::{ChangeScope, ItemBody, SessionId, StorageKind, ToolState};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::{Stage, noise};

/// Runs the message as a command.
pub(super) fn commanding(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) => Reply::default().and_call_with_id(format!("x{}", text.len()), "execute", json!({"command": text})),
        _ => Reply::text("Done."),
    }
}

pub(super) async fn run(stage: &Stage, session: &SessionId, command: &str) {
    stage.sessions.send(session, command.to_owned()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
}

#[tokio::test]
async fn what_a_command_changed_before_the_app_ended_is_listed_and_undone() {
    let stage = Stage::allowing_everything(commanding).await;
    let session = stage.session().await;
    run(&stage, &session, "true").await;
    stage.sessions.send(&session, "printf mine > a.txt; echo x > new.txt; sleep 60".into()).await.unwrap();
    while !stage.project.exists("new.txt") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let stage = stage.restarted(commanding).await;
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let rows = stage.snapshot(&session).await.items;
    let unknown = rows.iter().find_map(|item| match &item.body {
        ItemBody::Tool(tool) if tool.state == ToolState::Unknown => Some(tool.output.clone()),
        _ => None,
    });
    assert!(unknown.unwrap().contains("these files changed: /a.txt, /new.txt"));
    let listed = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap();
    let paths: Vec<&str> = listed.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["/a.txt", "/new.txt"]);
    assert!(listed.files[0].command.as_deref().is_some_and(|command| command.starts_with("printf mine")));
    stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!((stage.project.read("a.txt").as_str(), stage.project.exists("new.txt")), ("one\ntwo\n", false));
}

/// As if everything that is kept had been stored so long ago.
pub(super) fn age(stage: &Stage) {
    let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    for folder in
        std::fs::read_dir(stage.data.path().join("blobs")).unwrap().flatten().filter(|one| one.path().is_dir())
    {
        for blob in std::fs::read_dir(folder.path()).unwrap().flatten() {
            std::fs::File::options().write(true).open(blob.path()).unwrap().set_modified(long_ago).unwrap();
        }
    }
}

pub(super) async fn kept_bytes(stage: &Stage) -> u64 {
    let storage = stage.sessions.storage().await.unwrap();
    storage.parts.iter().find(|part| part.kind == StorageKind::Blobs).map_or(0, |part| part.bytes)
}

#[tokio::test]
async fn bytes_that_only_a_deleted_session_kept_go_with_it_and_the_others_can_still_undo() {
    let stage = Stage::allowing_everything(commanding).await;
    let (gone, stays) = (stage.session().await, stage.session().await);
    let large = noise(200_000);
    std::fs::write(stage.project.root().join("large.txt"), &large).unwrap();
    run(&stage, &gone, "rm large.txt; echo 1 >> a.txt").await;
    run(&stage, &stays, "echo 2 >> a.txt").await;
    stage.sessions.delete(&gone).await.unwrap();
    age(&stage);
    let before = kept_bytes(&stage).await;
    assert!(before > 150_000, "{before}");

    let month = 31 * 24 * 60 * 60 * 1_000;
    let stage = stage.restarted_after(commanding, month).await;
    // What a start does beside everything else is waited for here.
    stage.sessions.sweep().await.unwrap();
    while kept_bytes(&stage).await > before - 150_000 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stage.sessions.sweep().await.unwrap().blobs, 0, "nothing is left to do");
    stage.sessions.undo_changes(&stays, ChangeScope::Session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n1\n");
}

#[tokio::test]
async fn permission_bits_come_back_with_the_bytes() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::allowing_everything(commanding).await;
    let session = stage.session().await;
    let mode = |name: &str| std::fs::metadata(stage.project.at(name)).unwrap().permissions().mode() & 0o777;
    for (name, bits) in [("run.sh", 0o755), ("secret", 0o600)] {
        std::fs::write(stage.project.at(name), "before\n").unwrap();
        std::fs::set_permissions(stage.project.at(name), std::fs::Permissions::from_mode(bits)).unwrap();
    }
    run(&stage, &session, "rm run.sh; echo after > secret; chmod 644 secret").await;
    stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!((mode("run.sh"), mode("secret")), (0o755, 0o600));
    assert_eq!(
        (stage.project.read("run.sh").as_str(), stage.project.read("secret").as_str()),
        ("before\n", "before\n")
    );
}
