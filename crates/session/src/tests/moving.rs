//! A project whose folder was moved: its sessions and all else that is its own go along.
#![allow(clippy::disallowed_methods, reason = "tests move folders")]

use std::path::{Path, PathBuf};

use bosun_agent::SessionId as CoreId;
use bosun_protocol::{
    ApprovalMode, ChangeScope, DecideTrust, Decision, ErrorCode, FindMemories, MemoryRef, MemoryScope, Problem,
    ProjectProblem, SaveMemory, SeenFile, SessionEvent, SessionStatus, TrustState, TrustVerdict,
};
use bosun_store::Database;
use pretty_assertions::assert_eq;

use super::sessions::editing;
use super::stage::Stage;

/// A folder beside those of projects that is gone with the test.
fn elsewhere() -> (tempfile::TempDir, PathBuf) {
    let around = tempfile::Builder::new().prefix("elsewhere-").tempdir().unwrap();
    let folder = around.path().canonicalize().unwrap().join("renamed");
    (around, folder)
}

fn moved_to(stage: &Stage, folder: &Path) {
    std::fs::rename(stage.project.root(), folder).unwrap();
}

async fn said(stage: &Stage, session: &bosun_protocol::SessionId, text: &str) -> SessionStatus {
    stage.sessions.send(session, text.into()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap().summary.status
}

async fn trust_all(stage: &Stage) {
    let trust = stage.sessions.project_trust(&stage.project_id).await.unwrap();
    let files = trust.items.iter().flat_map(|item| &item.files);
    let files = files.map(|file| SeenFile { path: file.path.clone(), hash: file.hash.clone() }).collect();
    let decision = DecideTrust { files, verdict: TrustVerdict::Trust };
    stage.sessions.decide_trust(&stage.project_id, &decision).await.unwrap();
}

#[tokio::test]
async fn a_session_at_hand_goes_on_in_the_folder_where_its_project_is_now() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    assert_eq!(said(&stage, &session, "hello").await, SessionStatus::Idle);
    let mut watched = stage.sessions.subscribe(&session).await.unwrap();
    let (_around, folder) = elsewhere();
    moved_to(&stage, &folder);
    let gone = stage.sessions.projects().await.unwrap().remove(0);
    assert_eq!(gone.problem, Some(ProjectProblem::Missing));
    assert!(stage.sessions.create(&stage.project_id, None).await.is_err(), "there is nothing to work on");

    let found = stage.sessions.move_project(&stage.project_id, &folder).await.unwrap();
    assert_eq!((&found.id, found.name.as_str(), found.problem), (&stage.project_id, "renamed", None));
    assert_eq!(stage.sessions.projects().await.unwrap().len(), 1);
    watched.events.now();
    assert_eq!(said(&stage, &session, "edit a.txt").await, SessionStatus::Waiting);
    let asked =
        watched.events.now().into_iter().any(|told| matches!(told.event, SessionEvent::ApprovalRequested { .. }));
    assert!(asked, "who watched it goes on watching it");
    stage.decide(&session, "e", Decision::Approve).await.unwrap();
    assert_eq!(stage.sessions.quiet(&session).await.unwrap().summary.status, SessionStatus::Idle);
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "1\ntwo\n");
    let review = stage.sessions.file_review(&session, "/a.txt", ChangeScope::Session).await.unwrap();
    assert_eq!((review.diff.added, review.diff.removed), (1, 1));
    assert!(!stage.project.root().exists(), "nothing is made where it was");
}

#[tokio::test]
async fn what_belongs_to_a_project_goes_along_and_trust_holds_for_what_is_the_same() {
    let stage = Stage::new(editing).await;
    stage.project.write("AGENTS.md", "Use tabs.");
    stage.project.write(".bosun/AGENTS.md", "And spaces.");
    trust_all(&stage).await;
    stage.sessions.set_project_mode(&stage.project_id, ApprovalMode::Edits).await.unwrap();
    let shelf =
        MemoryRef { scope: MemoryScope::Project, project: Some(stage.project_id.clone()), path: "/style.md".into() };
    let memory = SaveMemory { memory: shelf, text: "Short sentences.".into(), base: None };
    stage.sessions.save_memory(&memory).await.unwrap();
    let session = stage.session().await;
    let (_around, folder) = elsewhere();
    moved_to(&stage, &folder);
    std::fs::write(folder.join(".bosun/AGENTS.md"), "Do as I say.").unwrap();
    std::fs::write(folder.join("new-there.txt"), "").unwrap();
    // Its names are asked for first, so that they are remembered, as none.
    let names = || async {
        let find =
            bosun_protocol::FindMentions { project: stage.project_id.clone(), text: "new-there".into(), limit: 5 };
        stage.sessions.find_mentions(&find).await.map(|found| found.len()).unwrap_or(0)
    };
    assert_eq!(names().await, 0);
    stage.sessions.move_project(&stage.project_id, &folder).await.unwrap();
    assert_eq!(names().await, 1);

    let trust = stage.sessions.project_trust(&stage.project_id).await.unwrap();
    let states: Vec<(&str, TrustState)> =
        trust.items.iter().map(|item| (item.files[0].path.as_str(), item.state)).collect();
    assert_eq!(states, [("/AGENTS.md", TrustState::Trusted), ("/.bosun/AGENTS.md", TrustState::Changed)]);
    assert_eq!(stage.sessions.mode(&session).await.unwrap().mode, ApprovalMode::Edits);
    let find = FindMemories { project: Some(stage.project_id.clone()), text: None };
    assert_eq!(stage.sessions.memories(&find).await.unwrap().entries.len(), 1);
    assert_eq!(stage.sessions.list(&stage.project_id).await.unwrap()[0].id, session);
}

#[tokio::test]
async fn a_project_at_work_stays_and_one_that_was_cut_goes_on_where_it_is_now() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    assert_eq!(said(&stage, &session, "edit a.txt").await, SessionStatus::Waiting);
    let (_around, folder) = elsewhere();
    moved_to(&stage, &folder);
    let refused = stage.sessions.move_project(&stage.project_id, &folder).await.unwrap_err();
    assert_eq!(refused.problem, Problem::ProjectAtWork { session: "edit a.txt".into() });
    assert_eq!(stage.sessions.projects().await.unwrap()[0].problem, Some(ProjectProblem::Missing));

    // The start of a stage opens the folder that it was made with.
    std::fs::rename(&folder, stage.project.root()).unwrap();
    let stage = stage.restarted(editing).await;
    moved_to(&stage, &folder);
    stage.sessions.move_project(&stage.project_id, &folder).await.unwrap();
    stage.decide(&session, "e", Decision::Approve).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "1\ntwo\n");
}

#[tokio::test]
async fn a_folder_that_cannot_be_the_projects_is_refused_by_its_reason_and_changes_nothing() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    let (around, folder) = elsewhere();
    let before = stage.sessions.projects().await.unwrap();
    let refused = |folder: PathBuf| {
        let stage = &stage;
        async move {
            let error = stage.sessions.move_project(&stage.project_id, &folder).await.unwrap_err();
            (error.code, error.problem)
        }
    };
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let missing = Problem::ProjectMissing { path: path(&folder) };
    assert_eq!(refused(folder.clone()).await, (ErrorCode::ProjectUnusable, missing));
    let (code, _) = refused(stage.data.path().to_owned()).await;
    assert_eq!(code, ErrorCode::ProjectUnusable);

    let other = around.path().canonicalize().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    let there = stage.sessions.open_project(&other).await.unwrap();
    stage.sessions.create(&there.id, None).await.unwrap();
    let still_there = Problem::ProjectStillThere { path: path(stage.project.root()) };
    assert_eq!(refused(other.clone()).await, (ErrorCode::ProjectUnusable, still_there));
    let away = around.path().join("away");
    moved_to(&stage, &away);
    let taken = Problem::ProjectTaken { path: path(&other), name: "other".into() };
    assert_eq!(refused(other).await, (ErrorCode::ProjectUnusable, taken));
    std::fs::rename(&away, stage.project.root()).unwrap();
    assert_eq!(stage.sessions.projects().await.unwrap().last(), before.last());
    assert_eq!(stage.sessions.list(&stage.project_id).await.unwrap()[0].id, session);
}

#[tokio::test]
async fn a_session_that_another_process_has_open_keeps_its_project_where_it_is() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    let (_around, folder) = elsewhere();
    moved_to(&stage, &folder);
    let other = Database::open(stage.data.path()).unwrap();
    let claim = other.claim(&CoreId::new(session.as_str())).unwrap().unwrap();
    let refused = stage.sessions.move_project(&stage.project_id, &folder).await.unwrap_err();
    assert_eq!(refused.problem, Problem::ProjectOpenElsewhere { session: session.to_string() });
    drop(claim);
    stage.sessions.move_project(&stage.project_id, &folder).await.unwrap();
}
