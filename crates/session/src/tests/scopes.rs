//! What is kept and undone is what the scope shows: the last step, the last turn, or all that the session did.
#![allow(clippy::disallowed_methods, reason = "tests look at files and edit them as a person would")]

use bosun_model::ChatRequest;
use bosun_protocol::{ChangeScope, Problem, ReviewState, SessionId};
use bosun_testkit::{Ending, Reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::reviews::{list, names, run};
use super::sessions::progress;
use super::stage::Stage;

use ChangeScope::{Session, Step, Turn};
use ReviewState::{Kept, Pending, Undone};

/// Runs the message as commands, one with each step; after the last one the model fails, so that this step stays the last.
fn stepping(request: &ChatRequest) -> Reply {
    let (text, done) = progress(request);
    match text.split(" && then ").nth(done) {
        Some(command) => {
            let id = format!("x{}-{done}", text.len());
            Reply::default().and_call_with_id(id, "execute", json!({"command": command}))
        }
        None => Reply { ending: Ending::CutAfterBytes(20), ..Reply::text("I beg") },
    }
}

/// The first turn makes the file and changes the line 2, the second the lines 10 and, with its last step, 19.
async fn worked() -> (Stage, SessionId) {
    let stage = Stage::allowing_everything(stepping).await;
    stage.project.write("n.txt", lines(&[]));
    let session = stage.session().await;
    for text in [
        "sed -i 's/^2$/two/' n.txt; echo 1 > one",
        "sed -i 's/^10$/ten/' n.txt; echo 2 > two && then sed -i 's/^19$/nineteen/' n.txt",
    ] {
        run(&stage, &session, text).await;
    }
    (stage, session)
}

/// The lines from 1 to 20, of which these are others.
fn lines(others: &[(usize, &str)]) -> String {
    let line = |at: usize| others.iter().find(|(other, _)| *other == at).map(|(_, text)| format!("{text}\n"));
    (1..=20).map(|at| line(at).unwrap_or_else(|| format!("{at}\n"))).collect()
}

const ALL: [(usize, &str); 3] = [(2, "two"), (10, "ten"), (19, "nineteen")];

/// The last undo can be taken back.
async fn bring_back(stage: &Stage, session: &SessionId) {
    let undone = stage.sessions.changed_files(session, Session).await.unwrap().undone;
    stage.sessions.redo_undone(session, undone[0].seq).await.unwrap();
}

#[tokio::test]
async fn undoing_all_of_a_scope_leaves_what_was_before_it() {
    let (stage, session) = worked().await;
    let files = list(&stage, &session, Step).await;
    assert_eq!(names(&files), [("/n.txt", Pending, 1, 1)]);
    let undone = stage.sessions.undo_changes(&session, Step).await.unwrap();
    assert_eq!(undone.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/n.txt"]);
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[..2]));
    assert_eq!(names(&list(&stage, &session, Step).await), [("/n.txt", Undone, 0, 0)]);
    let left = [("/n.txt", Pending, 1, 1), ("/two", Pending, 1, 0)];
    assert_eq!(names(&list(&stage, &session, Turn).await), left);
    bring_back(&stage, &session).await;
    assert_eq!(stage.project.read("n.txt"), lines(&ALL));

    let undone = stage.sessions.undo_changes(&session, Turn).await.unwrap();
    assert_eq!(undone.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/n.txt", "/two"]);
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[..1]));
    let there = |name: &str| stage.project.root().join(name).exists();
    assert_eq!((there("one"), there("two")), (true, false));
    let files = list(&stage, &session, Session).await;
    assert_eq!(names(&files), [("/n.txt", Pending, 1, 1), ("/one", Pending, 1, 0), ("/two", Undone, 0, 0)]);
    assert_eq!(names(&list(&stage, &session, Step).await), [("/n.txt", Undone, 0, 0)]);
    let nothing = stage.sessions.undo_file(&session, "/n.txt", Turn).await.unwrap_err();
    assert_eq!(nothing.problem, Problem::AsBefore { path: "/n.txt".into() });
    bring_back(&stage, &session).await;
    assert_eq!((stage.project.read("n.txt"), there("two")), (lines(&ALL), true));
}

#[tokio::test]
async fn one_file_of_a_scope_is_undone_past_the_persons_own_edits_or_left_where_they_meet() {
    let (stage, session) = worked().await;
    let path = stage.project.root().join("n.txt");
    let mine = [ALL[0], ALL[1], (14, "mine"), ALL[2]];
    std::fs::write(&path, lines(&mine)).unwrap();
    stage.sessions.undo_file(&session, "/n.txt", Turn).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], mine[2]]));
    assert!(stage.project.root().join("two").exists(), "the other file was not meant");
    bring_back(&stage, &session).await;
    assert_eq!(stage.project.read("n.txt"), lines(&mine));
    let met = lines(&[ALL[0], (10, "TEN"), ALL[2]]);
    std::fs::write(&path, &met).unwrap();
    let refused = stage.sessions.undo_file(&session, "/n.txt", Turn).await.unwrap_err();
    assert_eq!(refused.problem, Problem::ChangedSince { path: "/n.txt".into() });
    let undone = stage.sessions.undo_changes(&session, Turn).await.unwrap();
    let problems: Vec<_> = undone.iter().map(|file| (file.path.as_str(), file.problem.is_some())).collect();
    assert_eq!((problems, stage.project.read("n.txt")), (vec![("/n.txt", true), ("/two", false)], met));
}

#[tokio::test]
async fn what_is_kept_of_a_scope_leaves_the_rest_open_and_stays_when_that_is_undone() {
    let (stage, session) = worked().await;
    assert_eq!(stage.sessions.keep_changes(&session, None, Step).await.unwrap(), []);
    assert_eq!(names(&list(&stage, &session, Step).await), [("/n.txt", Kept, 1, 1)]);
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/n.txt", Pending, 1, 1), ("/two", Pending, 1, 0)]);
    let review = stage.sessions.file_review(&session, "/n.txt", Turn).await.unwrap();
    assert_eq!((review.diff.hunks.len(), review.diff.added), (1, 1), "the line that is kept is not shown as open");
    stage.sessions.undo_hunk(&session, "/n.txt", Turn, &review.version, 0).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], ALL[2]]));
    bring_back(&stage, &session).await;

    assert_eq!(stage.sessions.keep_changes(&session, Some("/n.txt"), Turn).await.unwrap(), []);
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/n.txt", Kept, 2, 2), ("/two", Pending, 1, 0)]);
    let open = [("/n.txt", Pending, 1, 1), ("/one", Pending, 1, 0), ("/two", Pending, 1, 0)];
    assert_eq!(names(&list(&stage, &session, Session).await), open);
    let stage = stage.restarted(stepping).await;
    assert_eq!(names(&list(&stage, &session, Session).await), open);
    stage.sessions.undo_changes(&session, Session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[1..]), "what was kept stays");
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Kept, 2, 2));
}

#[tokio::test]
async fn what_was_kept_of_a_scope_is_opened_again_or_undone_with_it_alone() {
    let (stage, session) = worked().await;
    stage.sessions.keep_changes(&session, None, Session).await.unwrap();
    stage.sessions.reopen_change(&session, "/n.txt", Turn).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Turn).await)[0], ("/n.txt", Pending, 2, 2));
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Pending, 2, 2));
    stage.sessions.keep_changes(&session, Some("/n.txt"), Turn).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Kept, 3, 3));
    stage.sessions.undo_file(&session, "/n.txt", Turn).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[..1]));
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Kept, 1, 1));
    bring_back(&stage, &session).await;
    assert_eq!(stage.project.read("n.txt"), lines(&ALL));
}

#[tokio::test]
async fn what_stands_on_earlier_changes_that_are_open_is_not_kept_alone_and_nothing_is_lost() {
    let (stage, session) = worked().await;
    run(&stage, &session, "sed -i 's/^two$/zwei/' n.txt; echo more >> one; echo 3 > three").await;
    let before = list(&stage, &session, Session).await;
    let problems = stage.sessions.keep_changes(&session, None, Turn).await.unwrap();
    let earlier = |path: &str| Problem::EarlierOpen { path: path.into() };
    assert_eq!(problems, [earlier("/n.txt"), earlier("/one")]);
    let open = [("/n.txt", Pending, 1, 1), ("/one", Pending, 1, 0), ("/three", Kept, 1, 0)];
    assert_eq!(names(&list(&stage, &session, Turn).await), open);
    assert_eq!(list(&stage, &session, Session).await[..2], before[..2]);
    stage.sessions.undo_changes(&session, Turn).await.unwrap();
    assert_eq!((stage.project.read("n.txt"), stage.project.read("one")), (lines(&ALL), "1\n".into()));
    assert!(stage.project.root().join("three").exists(), "what was kept stays");
}

#[tokio::test]
async fn what_a_person_undoes_is_no_change_of_the_last_turn() {
    let (stage, session) = worked().await;
    stage.sessions.undo_file(&session, "/one", Session).await.unwrap();
    let turn = [("/n.txt", Pending, 2, 2), ("/two", Pending, 1, 0)];
    assert_eq!(names(&list(&stage, &session, Turn).await), turn);
    stage.sessions.undo_file(&session, "/n.txt", Session).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Turn).await)[0], ("/n.txt", Undone, 0, 0));
    let undone = stage.sessions.undo_changes(&session, Turn).await.unwrap();
    assert_eq!(undone.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/two"]);
    assert_eq!(stage.project.read("n.txt"), lines(&[]));
}

#[cfg(unix)]
#[tokio::test]
async fn rights_that_an_earlier_turn_gave_stay_when_the_last_one_is_undone() {
    use std::os::unix::fs::PermissionsExt;
    let (stage, session) = worked().await;
    run(&stage, &session, "chmod 755 n.txt").await;
    run(&stage, &session, "sed -i 's/^5$/five/' n.txt").await;
    stage.sessions.undo_changes(&session, Turn).await.unwrap();
    let mode = || std::fs::metadata(stage.project.root().join("n.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!((stage.project.read("n.txt"), mode()), (lines(&ALL), 0o755));
    bring_back(&stage, &session).await;
    assert_eq!(mode(), 0o755);
}
