//! What is kept and undone is what the scope shows: the last step, the last turn, or all that the session did.
#![allow(clippy::disallowed_methods, reason = "tests look at files and edit them as a person would")]

use bosun_model::ChatRequest;
use bosun_protocol::{ChangeScope, CheckpointKind, Problem, ReviewState, RewindWhat, SessionId};
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

#[tokio::test]
async fn what_a_person_changed_between_two_changes_of_the_agent_stays_and_is_not_shown_as_the_agents() {
    let (stage, session) = worked().await;
    let path = stage.project.root().join("n.txt");
    let mine = (14, "mine");
    std::fs::write(&path, lines(&[ALL[0], ALL[1], mine, ALL[2]])).unwrap();
    run(&stage, &session, "sed -i 's/^5$/five/' n.txt").await;
    let shown = [("/n.txt", Pending, 4, 4), ("/one", Pending, 1, 0), ("/two", Pending, 1, 0)];
    assert_eq!(names(&list(&stage, &session, Session).await), shown);
    let summed = stage.snapshot(&session).await.changes.into_iter().find(|change| change.path == "/n.txt").unwrap();
    assert_eq!((summed.added, summed.removed), (4, 4), "the sum of the conversation leaves it out too");
    let review = stage.sessions.file_review(&session, "/n.txt", Session).await.unwrap();
    assert!(!format!("{:?}", review.diff).contains("mine"), "{:?}", review.diff);

    stage.sessions.undo_changes(&session, Session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[mine]));
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Undone, 0, 0));
    let stage = stage.restarted(stepping).await;
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Undone, 0, 0));
    bring_back(&stage, &session).await;
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], (5, "five"), ALL[1], mine, ALL[2]]));
    assert_eq!(names(&list(&stage, &session, Session).await), shown);
}

#[tokio::test]
async fn going_back_leaves_what_a_person_changed_between_the_changes() {
    let (stage, session) = worked().await;
    let path = stage.project.root().join("n.txt");
    let mine = (14, "mine");
    std::fs::write(&path, lines(&[ALL[0], ALL[1], mine, ALL[2]])).unwrap();
    run(&stage, &session, "sed -i 's/^5$/five/' n.txt").await;
    let timeline = stage.timeline(&session).await;
    let starts = timeline.checkpoints.iter().filter(|place| place.kind == CheckpointKind::TurnStart);
    let second = starts.map(|place| place.seq).nth(1).unwrap();
    let preview = stage.sessions.preview_rewind(&session, second).await.unwrap();
    let file = preview.files.iter().find(|file| file.path == "/n.txt").unwrap();
    assert_eq!((file.added, file.removed, &file.problem), (3, 3, &None));
    let diff = stage.sessions.preview_rewind_file(&session, second, "/n.txt").await.unwrap();
    assert!(!format!("{diff:?}").contains("-mine"), "{diff:?}");
    stage.sessions.rewind(&session, second, RewindWhat::Both, &[]).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], mine]));
    stage.sessions.undo_rewind(&session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], (5, "five"), ALL[1], mine, ALL[2]]));
}

#[tokio::test]
async fn what_a_person_kept_holds_what_they_changed_before_and_gets_what_they_change_later() {
    let (stage, session) = worked().await;
    let path = stage.project.root().join("n.txt");
    let (first, later) = ((7, "first"), (14, "later"));
    std::fs::write(&path, lines(&[ALL[0], first, ALL[1], ALL[2]])).unwrap();
    run(&stage, &session, "sed -i 's/^5$/five/' n.txt").await;
    stage.sessions.keep_changes(&session, Some("/n.txt"), Session).await.unwrap();
    std::fs::write(&path, lines(&[ALL[0], (5, "five"), first, ALL[1], later, ALL[2]])).unwrap();
    run(&stage, &session, "sed -i 's/^17$/seventeen/' n.txt").await;
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Pending, 1, 1));
    stage.sessions.undo_changes(&session, Session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], (5, "five"), first, ALL[1], later, ALL[2]]));
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Kept, 4, 4));
}

#[tokio::test]
async fn what_a_person_wrote_over_a_change_of_the_agent_is_theirs() {
    let (stage, session) = worked().await;
    let theirs = (10, "TEN");
    std::fs::write(stage.project.root().join("n.txt"), lines(&[ALL[0], theirs, ALL[2]])).unwrap();
    run(&stage, &session, "sed -i 's/^5$/five/' n.txt").await;
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Pending, 3, 3));
    stage.sessions.undo_file(&session, "/n.txt", Turn).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], theirs, ALL[2]]), "the last turn came after it");
    stage.sessions.undo_file(&session, "/n.txt", Session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[theirs]));
    bring_back(&stage, &session).await;
    bring_back(&stage, &session).await;
    let review = stage.sessions.file_review(&session, "/n.txt", Session).await.unwrap();
    let last = u32::try_from(review.diff.hunks.len()).unwrap() - 1;
    stage.sessions.keep_hunk(&session, "/n.txt", &review.version, last).await.unwrap();
    stage.sessions.undo_changes(&session, Session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[theirs, ALL[2]]), "what was kept stays, and theirs too");
}

#[tokio::test]
async fn where_a_person_wrote_into_a_change_of_the_agent_it_is_undone_place_by_place_only() {
    let stage = Stage::allowing_everything(stepping).await;
    let session = stage.session().await;
    run(&stage, &session, "seq 1 9 > made; sed -i 's/^two$/a\\nb\\nc/' a.txt").await;
    stage.project.write("made", "1\n2\nmine\n4\n5\n6\n7\n8\n9\n");
    stage.project.write("a.txt", "one\na\nB\nc\n");
    run(&stage, &session, "echo more >> made; echo more >> a.txt").await;
    for path in ["/made", "/a.txt"] {
        let refused = stage.sessions.undo_file(&session, path, Session).await.unwrap_err();
        assert_eq!(refused.problem, Problem::ChangedBetween { path: path.into() });
    }
    let shown = |review: &bosun_protocol::FileReview| (review.diff.added, review.diff.removed);
    let made = stage.sessions.file_review(&session, "/made", Session).await.unwrap();
    assert_eq!(shown(&made), (10, 0), "the file is the agent's");
    let refused = stage.sessions.undo_hunk(&session, "/made", Session, &made.version, 0).await.unwrap_err();
    assert_eq!(refused.problem, Problem::ChangedBetween { path: "/made".into() });
    let edited = stage.sessions.file_review(&session, "/a.txt", Session).await.unwrap();
    assert_eq!(shown(&edited), (3, 1), "without the line of the person");
    assert_eq!(
        stage.sessions.keep_changes(&session, None, Turn).await.unwrap(),
        [Problem::EarlierOpen { path: "/a.txt".into() }, Problem::EarlierOpen { path: "/made".into() }]
    );
    stage.sessions.undo_hunk(&session, "/a.txt", Session, &edited.version, 0).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\nB\n");
    stage.sessions.undo_changes(&session, Turn).await.unwrap();
    assert_eq!(stage.project.read("made"), "1\n2\nmine\n4\n5\n6\n7\n8\n9\n");
}

#[tokio::test]
async fn what_was_put_back_where_two_turns_changed_the_same_line_is_no_change_of_the_last() {
    let (stage, session) = worked().await;
    run(&stage, &session, "sed -i -e 's/^nineteen$/neunzehn/' -e 's/^5$/five/' n.txt").await;
    let review = stage.sessions.file_review(&session, "/n.txt", Session).await.unwrap();
    let last = u32::try_from(review.diff.hunks.len()).unwrap() - 1;
    stage.sessions.undo_hunk(&session, "/n.txt", Session, &review.version, last).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[ALL[0], (5, "five"), ALL[1]]));
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/n.txt", Pending, 1, 1)]);
    stage.sessions.undo_changes(&session, Turn).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[..2]), "it stays undone");
    assert_eq!(names(&list(&stage, &session, Turn).await), [("/n.txt", Undone, 0, 0)]);
}

#[tokio::test]
async fn what_was_kept_goes_back_with_the_file_and_comes_again_with_it() {
    let (stage, session) = worked().await;
    stage.sessions.keep_changes(&session, None, Session).await.unwrap();
    let kept = list(&stage, &session, Session).await;
    stage.sessions.undo_file(&session, "/n.txt", Session).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Undone, 0, 0));
    bring_back(&stage, &session).await;
    assert_eq!(list(&stage, &session, Session).await, kept);
    let timeline = stage.timeline(&session).await;
    let starts = timeline.checkpoints.iter().filter(|place| place.kind == CheckpointKind::TurnStart);
    let second = starts.map(|place| place.seq).nth(1).unwrap();
    stage.sessions.rewind(&session, second, RewindWhat::Files, &[]).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Session).await)[0], ("/n.txt", Kept, 1, 1));
    stage.sessions.undo_changes(&session, Session).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[..1]), "what was rewound does not come again");
}

#[tokio::test]
async fn a_place_that_was_undone_stays_undone_when_the_last_turn_is() {
    let (stage, session) = worked().await;
    let review = stage.sessions.file_review(&session, "/n.txt", Session).await.unwrap();
    stage.sessions.undo_hunk(&session, "/n.txt", Session, &review.version, 0).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&ALL[1..]));
    let turn = [("/n.txt", Pending, 2, 2), ("/two", Pending, 1, 0)];
    assert_eq!(names(&list(&stage, &session, Turn).await), turn);
    stage.sessions.undo_changes(&session, Turn).await.unwrap();
    assert_eq!(stage.project.read("n.txt"), lines(&[]));
    bring_back(&stage, &session).await;
    bring_back(&stage, &session).await;
    assert_eq!(stage.project.read("n.txt"), lines(&ALL));
    assert_eq!(names(&list(&stage, &session, Turn).await), turn);

    let review = stage.sessions.file_review(&session, "/n.txt", Turn).await.unwrap();
    stage.sessions.undo_hunk(&session, "/n.txt", Turn, &review.version, 0).await.unwrap();
    assert_eq!(names(&list(&stage, &session, Turn).await)[0], ("/n.txt", Pending, 1, 1));
    bring_back(&stage, &session).await;
    assert_eq!(names(&list(&stage, &session, Turn).await), turn, "what came again is a change of the turn again");
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
