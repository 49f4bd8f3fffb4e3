//! What commands change is in the list and undone like anything else; one place of a change alone; a person's own edits.
#![allow(clippy::disallowed_methods, reason = "tests look at files and edit them as a person would")]

use bosun_model::ChatRequest;
use bosun_protocol::{
    ChangeKind, ChangeScope, ChangedFile, CheckpointKind, MountKind, PreviewBody, Problem, PutAside, ReviewState,
    RewindWhat, SessionId, TextPlace, TextRow,
};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// Runs the message as a command.
fn commanding(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) => Reply::default().and_call_with_id(format!("x{}", text.len()), "execute", json!({"command": text})),
        _ => Reply::text("Done."),
    }
}

async fn ran(commands: &[&str]) -> (Stage, SessionId) {
    let stage = Stage::allowing_everything(commanding).await;
    let session = stage.session().await;
    for command in commands {
        run(&stage, &session, command).await;
    }
    (stage, session)
}

pub(super) async fn run(stage: &Stage, session: &SessionId, command: &str) {
    stage.sessions.send(session, command.to_owned()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
}

pub(super) async fn list(stage: &Stage, session: &SessionId, scope: ChangeScope) -> Vec<ChangedFile> {
    stage.sessions.changed_files(session, scope).await.unwrap().files
}

pub(super) fn names(files: &[ChangedFile]) -> Vec<(&str, ReviewState, u32, u32)> {
    files.iter().map(|file| (file.path.as_str(), file.state, file.added, file.removed)).collect()
}

const TEN: &str = "seq 1 20 > n.txt";
const TWO_PLACES: &str = "sed -i -e 's/^2$/two/' -e 's/^19$/nineteen/' n.txt";

#[tokio::test]
async fn what_a_command_did_is_listed_and_undone_and_brought_back() {
    let (stage, session) = ran(&["printf 'more\\n' >> a.txt; echo new > b.txt; rm -f gone"]).await;
    let files = list(&stage, &session, ChangeScope::Session).await;
    assert_eq!(names(&files), [("/a.txt", ReviewState::Pending, 1, 0), ("/b.txt", ReviewState::Pending, 1, 0)]);
    assert_eq!(files[1].change, ChangeKind::Created);
    assert!(files[0].command.as_deref().is_some_and(|command| command.starts_with("printf")), "{files:?}");
    assert_eq!(stage.snapshot(&session).await.changes.len(), 2, "the list of the conversation has them too");

    let stage = stage.restarted(commanding).await;
    assert_eq!(list(&stage, &session, ChangeScope::Session).await, files);
    stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(
        (stage.project.read("a.txt"), stage.project.root().join("b.txt").exists()),
        ("one\ntwo\n".into(), false)
    );
    let changes = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(names(&changes.files), [("/a.txt", ReviewState::Undone, 0, 0), ("/b.txt", ReviewState::Undone, 0, 0)]);
    stage.sessions.redo_undone(&session, changes.undone[0].seq).await.unwrap();
    assert_eq!((stage.project.read("a.txt"), stage.project.read("b.txt")), ("one\ntwo\nmore\n".into(), "new\n".into()));
    let changes = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap();
    assert_eq!((changes.undone, changes.files[0].state), (Vec::new(), ReviewState::Pending));
}

#[tokio::test]
async fn going_back_takes_what_commands_did_along() {
    let (stage, session) = ran(&["echo first >> a.txt", "echo second >> a.txt; mkdir d; echo d > d/e"]).await;
    let timeline = stage.timeline(&session).await;
    let mut places = timeline.checkpoints.iter().filter(|place| place.kind == CheckpointKind::TurnStart);
    let seq = places.next_back().unwrap().seq;
    stage.sessions.rewind(&session, seq, RewindWhat::Both, &[]).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\nfirst\n");
    assert!(!stage.project.root().join("d/e").exists());
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!(
        (stage.project.read("a.txt"), stage.project.read("d/e")),
        ("one\ntwo\nfirst\nsecond\n".into(), "d\n".into())
    );
    let undone = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap().undone;
    assert_eq!(undone, Vec::new(), "going back has its own way back");
}

#[tokio::test]
async fn one_place_is_undone_and_the_other_kept() {
    let (stage, session) = ran(&[TEN, TWO_PLACES]).await;
    let review = stage.sessions.file_review(&session, "/n.txt", ChangeScope::Turn).await.unwrap();
    assert_eq!((review.diff.hunks.len(), review.since), (2, None));
    let undo = |hunk| stage.sessions.undo_hunk(&session, "/n.txt", ChangeScope::Turn, &review.version, hunk);
    undo(0).await.unwrap();
    let text = stage.project.read("n.txt");
    assert!(text.contains("\n2\n") && text.contains("nineteen"), "{text}");
    let late = undo(0).await.unwrap_err();
    assert!(late.to_string().contains("meantime"), "{late}");

    let review = stage.sessions.file_review(&session, "/n.txt", ChangeScope::Turn).await.unwrap();
    assert_eq!(review.diff.hunks.len(), 1);
    stage.sessions.undo_hunk(&session, "/n.txt", ChangeScope::Turn, &review.version, 0).await.unwrap();
    let turn = list(&stage, &session, ChangeScope::Turn).await;
    assert_eq!(names(&turn), [("/n.txt", ReviewState::Undone, 0, 0)]);
    let undone = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap().undone;
    stage.sessions.redo_undone(&session, undone[1].seq).await.unwrap_err();
    stage.sessions.redo_undone(&session, undone[0].seq).await.unwrap();
    assert!(stage.project.read("n.txt").contains("nineteen"));
}

#[tokio::test]
async fn what_a_person_keeps_is_no_longer_open_and_undoing_all_leaves_it() {
    let (stage, session) = ran(&["seq 1 20 > a.txt", TEN]).await;
    let review = stage.sessions.file_review(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    assert_eq!(review.diff.hunks.len(), 1);
    stage.sessions.keep_changes(&session, Some("/a.txt"), ChangeScope::Session).await.unwrap();
    run(&stage, &session, "sed -i -e 's/^2$/two/' -e 's/^19$/nineteen/' a.txt").await;
    let review = stage.sessions.file_review(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    assert_eq!(review.diff.hunks.len(), 2, "only what came after is open");
    stage.sessions.keep_hunk(&session, "/a.txt", &review.version, 1).await.unwrap();
    let files = list(&stage, &session, ChangeScope::Session).await;
    assert_eq!(names(&files), [("/a.txt", ReviewState::Pending, 1, 1), ("/n.txt", ReviewState::Pending, 20, 0)]);
    stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    let text = stage.project.read("a.txt");
    assert!(text.contains("\n2\n") && text.contains("nineteen"), "{text}");
    assert!(!stage.project.root().join("n.txt").exists());
    let files = list(&stage, &session, ChangeScope::Session).await;
    assert_eq!((files[0].state, files[1].state), (ReviewState::Kept, ReviewState::Undone));
    stage.sessions.undo_file(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n", "what was kept whole can still go");
}

#[tokio::test]
async fn two_who_keep_at_once_lose_nothing_of_each_others() {
    let (stage, session) = ran(&["seq 1 20 > a.txt", TEN]).await;
    for _ in 0..10 {
        let keep = |path| stage.sessions.keep_changes(&session, Some(path), ChangeScope::Session);
        let (one, two) = tokio::join!(keep("/a.txt"), keep("/n.txt"));
        one.and(two).unwrap();
        let files = list(&stage, &session, ChangeScope::Session).await;
        assert_eq!([files[0].state, files[1].state], [ReviewState::Kept; 2]);
        stage.sessions.reopen_change(&session, "/a.txt", ChangeScope::Session).await.unwrap();
        stage.sessions.reopen_change(&session, "/n.txt", ChangeScope::Session).await.unwrap();
    }
}

#[tokio::test]
async fn a_persons_own_edits_are_shown_apart_and_stay() {
    let (stage, session) = ran(&[TEN, TWO_PLACES]).await;
    let path = stage.project.root().join("n.txt");
    let edited = stage.project.read("n.txt").replace("\n10\n", "\nten\nmine\n");
    std::fs::write(&path, &edited).unwrap();
    let files = list(&stage, &session, ChangeScope::Turn).await;
    assert_eq!((files[0].edited_since, files[0].added, files[0].removed), (true, 2, 2));
    let review = stage.sessions.file_review(&session, "/n.txt", ChangeScope::Turn).await.unwrap();
    let since = review.since.unwrap();
    assert_eq!((since.added, since.removed, review.diff.hunks.len()), (2, 1, 2));
    stage.sessions.undo_hunk(&session, "/n.txt", ChangeScope::Turn, &review.version, 1).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), edited.replace("nineteen", "19"));

    let edited = stage.project.read("n.txt").replace("two", "TWO");
    std::fs::write(&path, &edited).unwrap();
    let review = stage.sessions.file_review(&session, "/n.txt", ChangeScope::Turn).await.unwrap();
    let refused =
        stage.sessions.undo_hunk(&session, "/n.txt", ChangeScope::Turn, &review.version, 0).await.unwrap_err();
    assert!(refused.to_string().contains("changed since"), "{refused}");
    assert_eq!(stage.project.read("n.txt"), edited, "nothing was touched");
}

/// What no entry names would stay in the data folder for good.
#[tokio::test]
async fn what_a_person_wrote_is_kept_where_it_goes_and_not_where_it_is_only_looked_at() {
    let (stage, session) = ran(&[TEN, TWO_PLACES, "echo more >> a.txt"]).await;
    let path = stage.project.root().join("n.txt");
    let edited = stage.project.read("n.txt").replace("\n10\n", "\nten\n");
    std::fs::write(&path, &edited).unwrap();
    std::fs::write(stage.project.root().join("a.txt"), "of another\n").unwrap();
    let blobs = bosun_backend::BlobStore::open(stage.database.blobs_folder()).unwrap();
    let (own, before) = (bosun_backend::ContentHash::of(edited.as_bytes()), blobs.usage().await.unwrap());
    let turns = stage.timeline(&session).await.checkpoints;
    let seq = turns.iter().filter(|place| place.kind == CheckpointKind::TurnStart).nth(1).unwrap().seq;
    let preview = stage.sessions.preview_rewind(&session, seq).await.unwrap();
    let problems: Vec<_> = preview.files.iter().map(|file| file.problem.is_some()).collect();
    assert_eq!(problems, [true, false], "the one cannot go back, the other can");
    stage.sessions.rewind(&session, seq, RewindWhat::Files, &[]).await.unwrap_err();
    assert_eq!(blobs.usage().await.unwrap(), before, "nothing was put back");
    std::fs::write(stage.project.root().join("a.txt"), "one\ntwo\nmore\n").unwrap();
    stage.sessions.rewind(&session, seq, RewindWhat::Files, &[]).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), edited.replace("two", "2").replace("nineteen", "19"));
    assert!(blobs.contains(&own).await.unwrap(), "what was there when it was can come again");
}

#[tokio::test]
async fn the_sessions_version_comes_back_over_what_was_saved_over_it_and_that_can_come_again() {
    let (stage, session) = ran(&[TEN, TWO_PLACES, "mkdir d; echo d > d/e"]).await;
    let path = stage.project.root().join("n.txt");
    let ours = stage.project.read("n.txt");
    std::fs::write(&path, "an old buffer\n").unwrap();
    std::fs::remove_dir_all(stage.project.root().join("d")).unwrap();

    let end = stage.timeline(&session).await.checkpoints.last().unwrap().seq;
    let then = stage.sessions.file_at(&session, end, "/n.txt").await.unwrap();
    assert_eq!(then.text.as_deref(), Some(ours.as_str()), "what was done since is not what it was then");
    assert!(stage.sessions.file_at(&session, end, "/d/e").await.unwrap().exists);
    let refused = stage.sessions.undo_file(&session, "/n.txt", ChangeScope::Session).await.unwrap_err();
    assert_eq!(refused.problem, Problem::ChangedSince { path: "/n.txt".into() });

    stage.sessions.restore_version(&session, "/n.txt").await.unwrap();
    stage.sessions.restore_version(&session, "/d/e").await.unwrap();
    assert_eq!((stage.project.read("n.txt"), stage.project.read("d/e")), (ours.clone(), "d\n".into()));
    let restored = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap();
    assert!(restored.files.iter().all(|file| !file.edited_since && file.command.is_some()), "{restored:?}");
    let aside: Vec<_> = restored.undone.iter().map(|undone| (undone.paths.concat(), undone.what)).collect();
    assert_eq!(aside, [("/d/e".to_owned(), PutAside::OwnEdits), ("/n.txt".to_owned(), PutAside::OwnEdits)]);
    let then = stage.sessions.file_at(&session, end, "/n.txt").await.unwrap();
    assert_eq!(then.text.as_deref(), Some(ours.as_str()), "what was put aside is not what it was then, either");

    let stage = stage.restarted(commanding).await;
    assert_eq!(stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap(), restored);
    stage.sessions.restore_version(&session, "/n.txt").await.unwrap();
    let again = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(again, restored, "what is there needs no restoring");
    stage.sessions.redo_undone(&session, restored.undone[1].seq).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), "an old buffer\n");
    let files = list(&stage, &session, ChangeScope::Session).await;
    assert_eq!(names(&files), [("/d/e", ReviewState::Pending, 1, 0), ("/n.txt", ReviewState::Pending, 20, 0)]);
    assert!(files[1].edited_since, "it is the person's again, and shown apart");
    let unknown = stage.sessions.restore_version(&session, "/a.txt").await.unwrap_err();
    assert_eq!(unknown.problem, Problem::NotChanged { path: "/a.txt".into() });
}

#[tokio::test]
async fn what_is_too_large_is_named_and_going_back_leaves_it() {
    let (stage, session) = ran(&["head -c 5000000 /dev/zero > big.bin; echo x >> a.txt"]).await;
    let changes = stage.sessions.changed_files(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(names(&changes.files), [("/a.txt", ReviewState::Pending, 1, 0)]);
    let unkept = &changes.unkept[0];
    assert_eq!((unkept.path.as_str(), unkept.before, unkept.after), ("/big.bin", None, Some(5_000_000)));
    let seq = stage.timeline(&session).await.checkpoints[0].seq;
    let preview = stage.sessions.preview_rewind(&session, seq).await.unwrap();
    let files: Vec<_> = preview.files.iter().map(|file| (file.path.as_str(), file.problem.is_some())).collect();
    assert_eq!(
        (files, preview.unkept),
        (vec![("/a.txt", false)], vec!["/big.bin".to_owned()]),
        "it is in nobody's way"
    );
    stage.sessions.rewind(&session, seq, RewindWhat::Files, &[]).await.unwrap();
    assert_eq!(
        (stage.project.read("a.txt"), stage.project.root().join("big.bin").exists()),
        ("one\ntwo\n".into(), true)
    );
}

#[tokio::test]
async fn scopes_begin_where_they_say() {
    let (stage, session) = ran(&["echo 1 > one", "echo 2 > two"]).await;
    let paths = async |scope| {
        let files = list(&stage, &session, scope).await;
        files.into_iter().map(|file| file.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(ChangeScope::Session).await, ["/one", "/two"]);
    assert_eq!(paths(ChangeScope::Turn).await, ["/two"]);
    assert_eq!(paths(ChangeScope::Step).await, Vec::<String>::new(), "the last step said that it is done");
}

#[tokio::test]
async fn the_files_of_a_session_are_looked_at_with_their_mounts() {
    let (stage, session) =
        ran(&["mkdir d; echo x > d/f; printf '\\0bin' > data; printf '%%PDF-1.4' > a.pdf; seq 1 3000 > long"]).await;
    let root = stage.sessions.folder(&session, "/").await.unwrap();
    let shown: Vec<(&str, bool, Option<MountKind>)> = root
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.is_folder, entry.mount.as_ref().map(|mount| mount.kind)))
        .collect();
    assert!(shown.contains(&("d", true, None)) && shown.contains(&("a.txt", false, None)), "{shown:?}");
    assert!(shown.contains(&("memories", true, Some(MountKind::Memory))), "{shown:?}");
    assert!(shown.contains(&("large_tool_results", true, Some(MountKind::Results))), "{shown:?}");
    assert!(stage.sessions.folder(&session, "/memories").await.is_ok());
    let at = |line| TextPlace { line, part: 0 };
    let body = async |path: &str, line| stage.sessions.file_preview(&session, path, at(line)).await.unwrap().body;
    let rows = vec![TextRow { line: 1, part: 0, text: "x".into() }];
    assert_eq!(body("/d/f", 1).await, PreviewBody::Text { rows, total: 1, next: None, cut: false });
    assert_eq!(body("/data", 1).await, PreviewBody::Binary);
    assert_eq!(body("/a.pdf", 1).await, PreviewBody::Pdf);
    let PreviewBody::Text { rows, next, .. } = body("/long", 1).await else { panic!() };
    assert_eq!((rows.len(), next), (2_000, Some(at(2_001))));
    let PreviewBody::Text { rows, total, next, .. } = body("/long", 2_001).await else { panic!() };
    assert_eq!((rows[0].line, rows.len(), total, rows[0].text.as_str(), next), (2_001, 1_000, 3_000, "2001", None));
    assert!(stage.sessions.file_preview(&session, "/nowhere", at(1)).await.is_err());
    assert!(stage.sessions.host_file(&session, "/memories/x").await.is_err());
    assert_eq!(stage.sessions.host_file(&session, "/d/f").await.unwrap(), stage.project.root().join("d/f"));
}
