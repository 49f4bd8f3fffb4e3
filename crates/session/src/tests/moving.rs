//! A project whose folder was moved: its sessions and all else that is its own go along.
#![allow(clippy::disallowed_methods, reason = "tests move folders")]

use std::path::{Path, PathBuf};

use bosun_agent::SessionId as CoreId;
use bosun_protocol::{
    ApprovalMode, ChangeScope, DecideTrust, Decision, ErrorCode, FindMemories, MemoryRef, MemoryScope, ModelRef,
    Problem, ProjectId, ProjectModel, ProjectProblem, SaveMemory, SeenFile, SessionEvent, SessionStatus, Settings,
    Theme, TrustState, TrustVerdict,
};
use bosun_store::{APP_SETTINGS, Database};
use pretty_assertions::assert_eq;

use super::sessions::editing;
use super::stage::Stage;
use crate::SessionError;

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
async fn who_looks_at_the_list_hears_of_a_folder_that_goes_and_that_comes_back() {
    let stage = Stage::new(editing).await;
    let (projects, mut watch) = stage.sessions.watch_projects().await.unwrap();
    assert_eq!(projects[0].problem, None);
    let (around, folder) = elsewhere();
    // One that is opened meanwhile is followed too.
    let other = around.path().canonicalize().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    let hear = async |watch: &mut crate::ProjectsWatch| {
        let told = tokio::time::timeout(std::time::Duration::from_secs(10), watch.next()).await.unwrap().unwrap();
        let mut told: Vec<_> = told.into_iter().map(|project| (project.name, project.problem)).collect();
        told.sort_by(|a, b| a.0.cmp(&b.0));
        told
    };
    let name = stage.project.root().file_name().unwrap().to_string_lossy().into_owned();
    let named = |name: &str, problem| (name.to_owned(), problem);
    let gone = Some(ProjectProblem::Missing);
    // What happens before somebody waits is heard as well.
    moved_to(&stage, &folder);
    assert_eq!(hear(&mut watch).await, [named(&name, gone)]);
    stage.sessions.open_project(&other).await.unwrap();
    std::fs::remove_dir(&other).unwrap();
    let both = |one, two| {
        let mut both = [named(&name, one), named("other", two)];
        both.sort_by(|a, b| a.0.cmp(&b.0));
        both
    };
    assert_eq!(hear(&mut watch).await, both(gone, gone));
    std::fs::create_dir(&other).unwrap();
    assert_eq!(hear(&mut watch).await, both(gone, None));
    std::fs::rename(&folder, stage.project.root()).unwrap();
    assert_eq!(hear(&mut watch).await, both(None, None));
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
async fn a_project_that_gives_way_leaves_what_was_deleted_in_it_and_nothing_that_was_chosen_for_it() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    let (around, _) = elsewhere();
    let other = around.path().canonicalize().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    let there = stage.sessions.open_project(&other).await.unwrap().id;
    stage.sessions.set_project_mode(&there, ApprovalMode::Edits).await.unwrap();
    let sandboxed = there.to_string();
    let hold = move |kept: &mut crate::permissions::Kept| {
        kept.sandboxed.insert(sandboxed);
        Ok(())
    };
    stage.sessions.permissions().change(hold).await.unwrap();
    let model = ProjectModel { model: ModelRef { provider: "p".into(), name: "m".into() }, effort: None };
    let settings =
        Settings { projects: [(there.to_string(), model)].into(), theme: Theme::Dark, ..Settings::default() };
    stage.database.set_setting(APP_SETTINGS, &settings).await.unwrap();
    let shelf = |project: &ProjectId| MemoryRef {
        scope: MemoryScope::Project,
        project: Some(project.clone()),
        path: "/style.md".into(),
    };
    let memory = SaveMemory { memory: shelf(&there), text: "Short sentences.".into(), base: None };
    stage.sessions.save_memory(&memory).await.unwrap();
    let scripted = ModelRef { provider: "scripted".into(), name: "m".into() };
    let at_hand = stage.sessions.create(&there, Some(scripted)).await.unwrap().id;
    let put_away = stage.sessions.create(&there, None).await.unwrap().id;
    assert_eq!(said(&stage, &at_hand, "hello").await, SessionStatus::Idle);
    stage.sessions.delete(&put_away).await.unwrap();
    let away = around.path().join("away");
    moved_to(&stage, &away);

    let taken = Problem::ProjectTaken { path: other.to_string_lossy().into_owned(), name: "other".into() };
    let refused = |error: SessionError| assert_eq!(error.problem, taken);
    refused(stage.sessions.move_project(&stage.project_id, &other).await.unwrap_err());
    let mut watched = stage.sessions.subscribe(&at_hand).await.unwrap();
    stage.sessions.delete(&at_hand).await.unwrap();
    refused(stage.sessions.move_project(&stage.project_id, &other).await.unwrap_err());
    watched.events.now();
    stage.sessions.restore(&at_hand).await.unwrap();
    assert!(!watched.events.now().is_empty(), "who watches what was deleted there goes on watching it");
    stage.sessions.delete(&at_hand).await.unwrap();
    stage.sessions.delete_memory(&shelf(&there)).await.unwrap();
    std::fs::remove_dir(&other).unwrap();
    std::fs::rename(&away, &other).unwrap();
    stage.sessions.move_project(&stage.project_id, &other).await.unwrap();

    // What was deleted is the moved project's, and comes back at work in it.
    let deleted = stage.sessions.deleted().await.unwrap();
    assert_eq!(deleted.len(), 2);
    assert!(deleted.iter().all(|summary| summary.project == stage.project_id), "{deleted:?}");
    stage.sessions.restore(&at_hand).await.unwrap();
    stage.sessions.restore(&put_away).await.unwrap();
    let mut listed: Vec<_> =
        stage.sessions.list(&stage.project_id).await.unwrap().into_iter().map(|summary| summary.id).collect();
    listed.sort();
    let mut all = vec![session, at_hand.clone(), put_away];
    all.sort();
    assert_eq!(listed, all);
    assert_eq!(said(&stage, &at_hand, "edit a.txt").await, SessionStatus::Waiting, "it asks, as this project does");
    stage.decide(&at_hand, "e", Decision::Approve).await.unwrap();
    stage.sessions.quiet(&at_hand).await.unwrap();
    assert_eq!(std::fs::read_to_string(other.join("a.txt")).unwrap(), "1\ntwo\n");
    let find = FindMemories { project: Some(stage.project_id.clone()), text: None };
    let memories = stage.sessions.memories(&find).await.unwrap();
    assert_eq!((memories.entries.len(), memories.deleted.len()), (0, 1));

    // Nothing that was chosen for the other is chosen for this one, or kept.
    assert_eq!(stage.sessions.mode(&at_hand).await.unwrap().project, ApprovalMode::Ask);
    assert_eq!(stage.sessions.sandboxed_projects().await.unwrap().projects, []);
    let kept: Settings = stage.database.setting(APP_SETTINGS).await.unwrap().unwrap();
    assert_eq!(kept, Settings { theme: Theme::Dark, ..Settings::default() });
    assert!(stage.sessions.projects().await.unwrap().iter().all(|project| project.id != there));
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
