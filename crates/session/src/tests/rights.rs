//! Who changed the rights of a file: the agent's own change of them is undone, and that of others stays.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests look at files and change them as a person would")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use bosun_agent::{EntryBody, Journal, JournalEntry, SessionId as CoreId};
use bosun_model::ChatRequest;
use bosun_protocol::{ChangeScope, ChangedRights, CheckpointKind, ReviewState, RewindWhat, SessionId};
use bosun_store::NewSession;
use bosun_testkit::Reply;
use bosun_tools::ChangeRecord;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::reviews::{list, names, run};
use super::sessions::{edit, progress};
use super::stage::Stage;

use ChangeScope::{Session, Turn};
use ReviewState::{Kept, Pending, Undone};

/// Runs the message as a command; `edit A B` has the editing tool put `B` for `A` in `a.txt`, and `delete` the file deleted.
fn working(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    let words: Vec<&str> = text.split(' ').collect();
    let read = || Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/a.txt"}));
    match (words.as_slice(), done) {
        (["edit", ..] | ["delete"], 0) => read(),
        (["edit", from, to], 1) => edit("e", from, to),
        (["delete"], 1) => Reply::default().and_call_with_id("d", "delete", json!({"file_path": "/a.txt"})),
        (["edit", ..] | ["delete"], _) => Reply::text("Done."),
        (_, 0) => Reply::default().and_call_with_id("x", "execute", json!({"command": text})),
        _ => Reply::text("Done."),
    }
}

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// A session in which the messages were said, each of them a turn, over a file with the rights 644.
async fn worked(turns: &[&str]) -> (Stage, SessionId) {
    let stage = Stage::allowing_everything(working).await;
    stage.project.write("a.txt", TEXT);
    give(&stage, 0o644);
    let session = stage.session().await;
    for turn in turns {
        run(&stage, &session, turn).await;
    }
    (stage, session)
}

/// A person gives the file other rights.
fn give(stage: &Stage, mode: u32) {
    std::fs::set_permissions(stage.project.root().join("a.txt"), Permissions::from_mode(mode)).unwrap();
}

fn rights(stage: &Stage) -> u32 {
    std::fs::metadata(stage.project.root().join("a.txt")).unwrap().permissions().mode() & 0o777
}

fn text(stage: &Stage) -> String {
    stage.project.read("a.txt")
}

async fn undo(stage: &Stage, session: &SessionId, scope: ChangeScope) {
    let undone = stage.sessions.undo_changes(session, scope).await.unwrap();
    assert!(undone.iter().all(|file| file.problem.is_none()), "{undone:?}");
}

/// The last undo is taken back.
async fn redo(stage: &Stage, session: &SessionId) {
    let undone = stage.sessions.changed_files(session, Session).await.unwrap().undone;
    stage.sessions.redo_undone(session, undone[0].seq).await.unwrap();
}

const FIRST: &str = "sed -i s/2/two/ a.txt";
const SECOND: &str = "sed -i s/8/eight/ a.txt";

#[tokio::test]
async fn rights_that_a_person_gave_between_two_changes_stay_whatever_made_them() {
    for (first, second) in
        [(FIRST, SECOND), (FIRST, "edit 8 eight"), ("edit 2 two", SECOND), ("edit 2 two", "edit 8 eight")]
    {
        let (stage, session) = worked(&[first]).await;
        give(&stage, 0o755);
        run(&stage, &session, second).await;
        let stage = stage.restarted(working).await;
        undo(&stage, &session, Session).await;
        assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o755), "{first}, {second}");
        redo(&stage, &session).await;
        assert_eq!((text(&stage).contains("eight"), rights(&stage)), (true, 0o755), "{first}, {second}");
        undo(&stage, &session, Turn).await;
        assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o755), "{first}, {second}");
    }
}

#[tokio::test]
async fn rights_that_a_person_gave_behind_the_last_change_stay() {
    let (stage, session) = worked(&[FIRST]).await;
    give(&stage, 0o600);
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o600));
    redo(&stage, &session).await;
    assert_eq!(rights(&stage), 0o600);
}

#[tokio::test]
async fn rights_that_the_agent_gave_are_listed_undone_and_given_again() {
    let (stage, session) = worked(&[FIRST, "chmod 755 a.txt"]).await;
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/a.txt", Pending, 0, 0)]);
    let review = stage.sessions.file_review(&session, "/a.txt", Turn).await.unwrap();
    let shown = ChangedRights { before: "rw-r--r--".into(), after: "rwxr-xr-x".into() };
    assert_eq!((review.rights, review.diff.hunks.len()), (Some(shown), 0));
    undo(&stage, &session, Turn).await;
    assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o644));
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/a.txt", Undone, 0, 0)]);
    redo(&stage, &session).await;
    assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o755));
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/a.txt", Pending, 0, 0)]);
    stage.sessions.undo_file(&session, "/a.txt", Session).await.unwrap();
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o644));
}

#[tokio::test]
async fn a_file_of_which_only_the_rights_were_changed_is_kept_and_undone_as_any_other() {
    let (stage, session) = worked(&["chmod 755 a.txt"]).await;
    assert_eq!(names(&list(&stage, &session, Session).await), [("/a.txt", Pending, 0, 0)]);
    let stage = stage.restarted(working).await;
    stage.sessions.keep_changes(&session, None, Session).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Session).await), [("/a.txt", Kept, 0, 0)]);
    undo(&stage, &session, Session).await;
    assert_eq!(rights(&stage), 0o755, "what is kept stays");
    stage.sessions.reopen_change(&session, "/a.txt", Session).await.unwrap();
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o644));
    run(&stage, &session, "chmod 600 a.txt; chmod 644 a.txt").await;
    assert_eq!(names(&list(&stage, &session, Turn).await), [], "it is as it was before it");
}

#[tokio::test]
async fn what_the_agent_closed_to_writing_is_opened_and_put_back() {
    let (stage, session) = worked(&[FIRST, "chmod 444 a.txt"]).await;
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o644));
    redo(&stage, &session).await;
    assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o444));
}

#[tokio::test]
async fn a_place_is_undone_and_kept_without_the_rights() {
    let (stage, session) = worked(&["sed -i -e s/1/one/ -e s/9/nine/ a.txt; chmod 755 a.txt"]).await;
    let review = stage.sessions.file_review(&session, "/a.txt", Session).await.unwrap();
    stage.sessions.undo_hunk(&session, "/a.txt", Session, &review.version, 1).await.unwrap();
    assert_eq!((text(&stage).contains("nine"), rights(&stage)), (false, 0o755));
    let review = stage.sessions.file_review(&session, "/a.txt", Session).await.unwrap();
    stage.sessions.keep_hunk(&session, "/a.txt", &review.version, 0).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Session).await), [("/a.txt", Pending, 0, 0)]);
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage).contains("one"), rights(&stage)), (true, 0o644));
}

#[tokio::test]
async fn of_rights_that_both_changed_each_bit_is_as_who_changed_it_last_wants_it() {
    let (stage, session) = worked(&["chmod 600 a.txt"]).await;
    give(&stage, 0o700);
    run(&stage, &session, FIRST).await;
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o744));
    redo(&stage, &session).await;
    assert_eq!(rights(&stage), 0o700);
}

#[tokio::test]
async fn going_back_leaves_the_rights_that_were_given_before_and_those_that_others_gave() {
    let (stage, session) = worked(&["chmod 755 a.txt", FIRST]).await;
    let timeline = stage.timeline(&session).await;
    let starts = timeline.checkpoints.iter().filter(|place| place.kind == CheckpointKind::TurnStart);
    let second = starts.map(|place| place.seq).nth(1).unwrap();
    give(&stage, 0o775);
    run(&stage, &session, "sed -i s/8/eight/ a.txt; chmod g-r a.txt").await;
    stage.sessions.rewind(&session, second, RewindWhat::Files, &[]).await.unwrap();
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o775));
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!((text(&stage).contains("eight"), rights(&stage)), (true, 0o735));
}

#[tokio::test]
async fn a_file_that_comes_back_has_its_rights_again() {
    let (stage, session) = worked(&[]).await;
    give(&stage, 0o751);
    run(&stage, &session, "delete").await;
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o751));

    let (stage, session) = worked(&["rm a.txt"]).await;
    run(&stage, &session, "printf hello > a.txt; chmod 700 a.txt").await;
    undo(&stage, &session, Turn).await;
    assert!(!stage.project.root().join("a.txt").exists());
    redo(&stage, &session).await;
    assert_eq!((text(&stage), rights(&stage)), ("hello".into(), 0o700));
}

/// The same session as an older version recorded it, which knew of the rights before a change alone.
async fn recorded_before(stage: &Stage, session: &SessionId) -> SessionId {
    let known = CoreId::new(session.as_str());
    let mut entries = stage.database.entries(&known, 0).await.unwrap();
    for recorded in &mut entries {
        if let EntryBody::ToolResult { artifact, .. } = &mut recorded.entry.body {
            artifact.changes.iter_mut().for_each(|change| change.mode_after = None);
        }
    }
    let stored = stage.database.sessions(stage.project_id.as_str()).await.unwrap();
    let stored = stored.into_iter().find(|stored| stored.id == known).unwrap();
    let id = CoreId::new("older");
    let new = NewSession {
        id: id.clone(),
        project: stored.project,
        parent: None,
        created_at: stored.created_at,
        summary: stored.summary,
    };
    stage.database.create_session(new).await.unwrap();
    let entries = entries.into_iter().map(|recorded| recorded.entry).collect();
    Journal::append(&stage.database.journal(&id), entries).await.unwrap();
    SessionId::new(id.as_str())
}

#[tokio::test]
async fn in_a_journal_without_the_rights_after_a_change_those_before_the_first_come_back() {
    let (stage, session) = worked(&[FIRST]).await;
    give(&stage, 0o755);
    run(&stage, &session, SECOND).await;
    let older = recorded_before(&stage, &session).await;
    let review = stage.sessions.file_review(&older, "/a.txt", Session).await.unwrap();
    assert_eq!(review.rights, None, "nobody knows whose they are");
    undo(&stage, &older, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o644));
}

#[tokio::test]
async fn rights_that_a_person_gave_behind_what_an_older_version_recorded_stay() {
    for (second, left) in [(SECOND, 0o755), ("edit 8 eight", 0o755), ("chmod 700 a.txt", 0o755)] {
        let (stage, session) = worked(&[FIRST]).await;
        let older = recorded_before(&stage, &session).await;
        give(&stage, 0o755);
        run(&stage, &older, second).await;
        let review = stage.sessions.file_review(&older, "/a.txt", Session).await.unwrap();
        assert_eq!(review.rights.is_some(), second.starts_with("chmod"), "{second}");
        undo(&stage, &older, Session).await;
        assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), left), "{second}");
    }
}

#[tokio::test]
async fn what_the_session_met_or_left_closed_is_put_back_and_closed_again() {
    let (stage, session) = worked(&["chmod 444 a.txt", FIRST]).await;
    undo(&stage, &session, Turn).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o444));
    redo(&stage, &session).await;
    assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o444));
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o644));

    let (stage, session) = worked(&["sed -i s/2/two/ a.txt; chmod 444 a.txt"]).await;
    let review = stage.sessions.file_review(&session, "/a.txt", Session).await.unwrap();
    stage.sessions.undo_hunk(&session, "/a.txt", Session, &review.version, 0).await.unwrap();
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o444));

    let (stage, session) = worked(&[]).await;
    give(&stage, 0o440);
    run(&stage, &session, FIRST).await;
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o440));
}

#[tokio::test]
async fn what_a_person_closed_since_is_left_as_it_is() {
    let (stage, session) = worked(&[FIRST]).await;
    give(&stage, 0o444);
    stage.sessions.undo_changes(&session, Session).await.unwrap_err();
    assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o444));
}

#[tokio::test]
async fn what_cannot_be_put_back_stays_closed() {
    let (stage, session) = worked(&["chmod 444 a.txt", FIRST]).await;
    let folder = |mode| std::fs::set_permissions(stage.project.root(), Permissions::from_mode(mode)).unwrap();
    for scope in [Turn, Session] {
        folder(0o555);
        let refused = stage.sessions.undo_changes(&session, scope).await;
        folder(0o755);
        refused.unwrap_err();
        assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o444));
    }
    undo(&stage, &session, Session).await;
    assert_eq!((text(&stage), rights(&stage)), (TEXT.into(), 0o644));
}

/// The app ended while it took the last change back, for which it had opened the file, or not.
async fn cut(turns: &[&str], is_opened: bool) -> (Stage, SessionId) {
    let (stage, session) = worked(turns).await;
    stage.sessions.shut_down().await;
    let id = CoreId::new(session.as_str());
    let entries = stage.database.entries(&id, 0).await.unwrap();
    let mut made = entries.iter().filter_map(|recorded| match &recorded.entry.body {
        EntryBody::ToolResult { artifact, .. } => artifact.changes.first().cloned(),
        _ => None,
    });
    let ChangeRecord { path, before, after, mode, mode_after } = made.next_back().unwrap();
    let opened = is_opened.then(|| path.clone()).into_iter().collect();
    let back = ChangeRecord { path, before: after, after: before, mode: mode_after, mode_after: mode };
    let body = EntryBody::RestoreIntended { changes: vec![back], opened };
    Journal::append(&stage.database.journal(&id), vec![JournalEntry { at: i64::MAX, body }]).await.unwrap();
    (stage, session)
}

#[tokio::test]
async fn a_closed_file_is_closed_again_where_the_app_ended_while_it_was_put_back() {
    let left = TEXT.replace('2', "two");
    let others = left.replace('8', "a person's");
    for (found, state) in [(TEXT, Undone), (left.as_str(), Pending), (others.as_str(), Pending)] {
        let (stage, session) = cut(&["chmod 444 a.txt", FIRST], true).await;
        give(&stage, 0o644);
        stage.project.write("a.txt", found);
        let stage = stage.restarted(working).await;
        assert_eq!(list(&stage, &session, Turn).await[0].state, state);
        assert_eq!((text(&stage).as_str(), rights(&stage)), (found, 0o444));
    }
}

#[tokio::test]
async fn a_file_that_was_not_opened_is_not_closed_where_the_app_ended_while_it_was_put_back() {
    let (stage, session) = cut(&["chmod 444 a.txt", FIRST], false).await;
    give(&stage, 0o644);
    let stage = stage.restarted(working).await;
    assert_eq!(list(&stage, &session, Turn).await[0].state, Pending);
    assert_eq!(rights(&stage), 0o644);
}

#[tokio::test]
async fn rights_that_a_person_gave_behind_an_undo_that_was_cut_off_stay() {
    let both = "sed -i s/2/two/ a.txt; chmod 755 a.txt";
    for (turn, found, expected, state) in [
        (both, 0o755, 0o644, Undone),
        (both, 0o644, 0o644, Undone),
        (both, 0o700, 0o700, Undone),
        ("chmod 755 a.txt", 0o755, 0o644, Undone),
        ("chmod 755 a.txt", 0o644, 0o644, Undone),
        ("chmod 755 a.txt", 0o700, 0o700, Pending),
    ] {
        let (stage, session) = cut(&[turn], false).await;
        give(&stage, found);
        stage.project.write("a.txt", TEXT);
        let stage = stage.restarted(working).await;
        assert_eq!(list(&stage, &session, Turn).await[0].state, state, "{turn}, {found:o}");
        assert_eq!(rights(&stage), expected, "{turn}, {found:o}");
    }
}

#[tokio::test]
async fn the_sessions_version_comes_back_over_a_file_that_it_left_closed_and_over_no_other() {
    let saved = |stage: &Stage| {
        give(stage, 0o644);
        stage.project.write("a.txt", "an old buffer\n");
        give(stage, 0o444);
    };
    let (stage, session) = worked(&["sed -i s/2/two/ a.txt; chmod 444 a.txt"]).await;
    saved(&stage);
    stage.sessions.restore_version(&session, "/a.txt").await.unwrap();
    assert_eq!((text(&stage).contains("two"), rights(&stage)), (true, 0o444));
    redo(&stage, &session).await;
    assert_eq!((text(&stage).as_str(), rights(&stage)), ("an old buffer\n", 0o444));

    let (stage, session) = worked(&[FIRST]).await;
    saved(&stage);
    stage.sessions.restore_version(&session, "/a.txt").await.unwrap_err();
    assert_eq!((text(&stage).as_str(), rights(&stage)), ("an old buffer\n", 0o444));
}

#[tokio::test]
async fn what_the_sessions_version_came_back_over_comes_again_whatever_rights_a_person_gave() {
    let turns: [&[&str]; 5] = [
        &[FIRST],
        &["edit 2 two"],
        &[FIRST, SECOND],
        &["sed -i s/2/two/ a.txt; chmod 755 a.txt"],
        &["chmod 755 a.txt"],
    ];
    for turns in turns {
        for (before, after) in [(None, Some(0o600)), (Some(0o755), None), (Some(0o755), Some(0o700)), (None, None)] {
            let what = format!("{turns:?}, {before:?}, {after:?}");
            let (stage, session) = worked(turns).await;
            let left = text(&stage);
            before.into_iter().for_each(|mode| give(&stage, mode));
            stage.project.write("a.txt", "an old buffer\n");
            after.into_iter().for_each(|mode| give(&stage, mode));
            let given = rights(&stage);
            stage.sessions.restore_version(&session, "/a.txt").await.unwrap();
            assert_eq!((text(&stage), rights(&stage)), (left.clone(), given), "{what}");
            let stage = stage.restarted(working).await;
            let undone = stage.sessions.changed_files(&session, Session).await.unwrap().undone;
            let again = stage.sessions.redo_undone(&session, undone[0].seq).await;
            assert!(again.is_ok(), "{what}: {again:?}");
            assert_eq!((text(&stage).as_str(), rights(&stage)), ("an old buffer\n", given), "{what}");
        }
    }
}
