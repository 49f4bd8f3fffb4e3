//! What a person reads, finds, copies and saves of a session's files, wherever they are kept.
#![allow(clippy::disallowed_methods, reason = "tests keep their own files")]

use bosun_model::ChatRequest;
use bosun_protocol::{FindMentions, MountKind, PreviewBody, Problem, SessionId, TextPlace};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// Runs what it is told.
fn running(request: &ChatRequest) -> Reply {
    match progress(request) {
        (command, 0) => Reply::default().and_call("execute", json!({"command": command})),
        _ => Reply::text("done"),
    }
}

/// A session in which a tool gave one line of `size` letters, and where that is kept.
async fn given(size: usize) -> (Stage, SessionId, String) {
    let stage = Stage::allowing_everything(running).await;
    let session = stage.session().await;
    stage.project.write("one-line", "x".repeat(size));
    stage.sessions.send(&session, "cat one-line".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let results = stage.sessions.folder(&session, "/large_tool_results").await.unwrap().entries;
    (stage, session, results[0].path.clone())
}

#[tokio::test]
async fn all_of_a_long_line_is_read_page_by_page() {
    let (stage, session, path) = given(400_000).await;
    let read = async |path: &str| {
        let (mut text, mut pages) = (String::new(), 0);
        let mut from = Some(TextPlace { line: 1, part: 0 });
        while let Some(place) = from {
            let body = stage.sessions.file_preview(&session, path, place).await.unwrap().body;
            let PreviewBody::Text { rows, next, cut, .. } = body else { panic!("{body:?}") };
            assert!(!cut && rows.len() <= 2_000);
            text.extend(rows.iter().map(|row| row.text.as_str()));
            (from, pages) = (next, pages + 1);
        }
        (text.len(), pages)
    };
    assert_eq!(read(&path).await, (400_000, 1));
    stage.project.write("longer", "y".repeat(3_000_000));
    assert_eq!(read("/longer").await, (3_000_000, 2));
}

#[tokio::test]
async fn what_is_not_on_disk_is_copied_and_saved_whole() {
    let (stage, session, path) = given(400_000).await;
    assert_eq!(stage.sessions.file_text(&session, &path).await.unwrap().len(), 400_000);
    stage.project.write("huge", "z".repeat(4 * 1024 * 1024 + 1));
    let refused = stage.sessions.file_text(&session, "/huge").await.unwrap_err();
    assert_eq!(refused.problem, Problem::TooLargeToCopy { name: "huge".into(), megabytes: 4 });
    std::fs::write(stage.project.root().join("picture.v2.bin"), b"\0\xff").unwrap();
    assert!(stage.sessions.file_text(&session, "/picture.v2.bin").await.is_err());
    assert!(stage.sessions.file_bytes(&session, "/large_tool_results").await.is_err());
    let folder = tempfile::tempdir().unwrap();
    let save = async |path: &str| {
        let (name, bytes) = stage.sessions.file_bytes(&session, path).await.unwrap();
        let written = stage.sessions.write_file(folder.path(), &name, bytes).await.unwrap();
        (written.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&written).unwrap().len())
    };
    assert_eq!(save(&path).await, (path.rsplit('/').next().unwrap().to_owned(), 400_000));
    assert_eq!(save("/picture.v2.bin").await, ("picture.v2.bin".into(), 2));
    assert_eq!(save("/picture.v2.bin").await, ("picture.v2-2.bin".into(), 2));
}

#[tokio::test]
async fn who_wants_to_look_anew_finds_what_came_a_moment_ago() {
    let (stage, session, _) = given(400_000).await;
    let find = async || {
        let files = stage.sessions.find_files(&session, "fresh.txt").await.unwrap().entries.len();
        let query = FindMentions { project: stage.project_id.clone(), text: "fresh.txt".into(), limit: 9 };
        (files, stage.sessions.find_mentions(&query).await.unwrap().len())
    };
    tokio::time::pause();
    assert_eq!(find().await, (0, 0));
    stage.project.write("fresh.txt", "x");
    assert_eq!(find().await, (0, 0), "a letter typed costs no walk");
    stage.sessions.look_anew();
    assert_eq!(find().await, (1, 1));
}

#[tokio::test]
async fn files_and_folders_of_every_mount_are_found_by_their_names() {
    let (stage, session, path) = given(400_000).await;
    stage.project.write("deep/er/note.txt", "x");
    stage.project.write("ignored/note.log", "x");
    stage.project.write(".gitignore", "ignored/\n");
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(6)).await;
    let find = async |text: &str| {
        let found = stage.sessions.find_files(&session, text).await.unwrap();
        assert!(!found.partial);
        found.entries
    };
    let named = |entries: &[bosun_protocol::FileEntry]| {
        entries.iter().map(|entry| (entry.path.clone(), entry.is_folder, entry.on_disk)).collect::<Vec<_>>()
    };
    assert_eq!(named(&find("note").await), [("/deep/er/note.txt".into(), false, true)]);
    assert_eq!(named(&find("deep").await)[0], ("/deep".into(), true, true));
    assert_eq!(named(&find("memories").await)[0], ("/memories".into(), true, false));
    let name = path.rsplit('/').next().unwrap();
    let found = find(name).await;
    assert_eq!(
        (named(&found)[0].clone(), found[0].mount.map(|mount| mount.kind)),
        ((path, false, false), Some(MountKind::Results))
    );
    let skills = find("SKILL.md").await;
    assert!(skills.iter().all(|entry| entry.path.starts_with("/skills/builtin/")) && !skills.is_empty(), "{skills:?}");
}
