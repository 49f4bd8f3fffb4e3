//! Where commands run: what a person chose for a project, what a declaration wants, and what it is known by.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use std::path::PathBuf;

use bosun_agent::Grave;
use bosun_harness::DeclaredAgent;
use bosun_model::ChatRequest;
use bosun_protocol::{
    Approval, AskedAgain, ChangeScope, CommandPlace, Decide, Decision, ModelRef, ProjectId, ReachPlace, RuleDraft,
    RuleScope, SandboxedProjects, SessionId, Undo,
};
use bosun_testkit::{Project, Reply, missing};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

/// Runs the command that the message is, once.
pub(super) fn running(request: &ChatRequest) -> Reply {
    match progress(request) {
        (line, 0) => Reply::default().and_call("execute", json!({"command": line})),
        _ => Reply::text("Done."),
    }
}

/// `None` where there is no sandbox, which CI has to have.
async fn with_a_sandbox(stage: Stage) -> Option<Stage> {
    match stage.sessions.sandbox_problem().await {
        None => Some(stage),
        Some(problem) => missing(&problem.to_string(), "apt-get install bubblewrap"),
    }
}

pub(super) async fn say(stage: &Stage, session: &SessionId, line: &str) -> Option<Approval> {
    stage.sessions.send(session, line.into()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    stage.snapshot(session).await.approvals.pop()
}

pub(super) async fn approve(stage: &Stage, approval: &Approval) {
    let (session, call_id) = (approval.session.clone(), approval.call_id.clone());
    let decide = Decide { session, call_id, digest: approval.digest.clone(), decision: Decision::Approve };
    stage.sessions.decide(vec![decide]).await.unwrap();
    stage.sessions.quiet(&approval.session).await.unwrap();
}

/// A file beside the project, and a command that tries to make it.
fn beside(stage: &Stage, name: &str) -> (PathBuf, String) {
    let path = stage.data.path().join(name);
    let line = format!("echo x > {}; echo done >> {name}", path.display());
    (path, line)
}

#[tokio::test]
async fn what_is_chosen_for_a_project_holds_at_once_and_after_a_restart_and_for_no_other() {
    let Some(stage) = with_a_sandbox(Stage::allowing_everything(running).await).await else { return };
    let session = stage.session().await;
    let (free, line) = beside(&stage, "free");
    say(&stage, &session, &line).await;
    assert!(free.exists(), "nothing holds a command where nothing was chosen");

    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Sandbox).await.unwrap();
    let (held, line) = beside(&stage, "held");
    say(&stage, &session, &line).await;
    assert!(!held.exists() && stage.project.root().join("held").exists(), "a session at work goes by it");

    let stage = stage.restarted(running).await;
    let chosen = SandboxedProjects { all: false, projects: vec![stage.project_id.clone()] };
    assert_eq!(stage.sessions.sandboxed_projects().await.unwrap(), chosen);
    let (later, line) = beside(&stage, "later");
    say(&stage, &session, &line).await;
    assert!(!later.exists() && stage.project.root().join("later").exists());

    let elsewhere = Project::new();
    let other = stage.sessions.open_project(elsewhere.root()).await.unwrap().id;
    let model = ModelRef { provider: "scripted".into(), name: "m".into() };
    let other = stage.sessions.create(&other, Some(model)).await.unwrap().id;
    let (freed, line) = beside(&stage, "elsewhere");
    say(&stage, &other, &line).await;
    assert!(freed.exists(), "another project is as it was");

    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Machine).await.unwrap();
    let (again, line) = beside(&stage, "again");
    say(&stage, &session, &line).await;
    assert!(again.exists());
    assert_eq!(stage.sessions.sandboxed_projects().await.unwrap(), SandboxedProjects::default());
    let unknown = stage.sessions.set_command_place(&ProjectId::new("nobody"), CommandPlace::Sandbox).await;
    assert!(unknown.is_err());
}

#[tokio::test]
async fn what_a_command_in_the_sandbox_changed_is_found_and_undone() {
    let Some(stage) = with_a_sandbox(Stage::allowing_everything(running).await).await else { return };
    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Sandbox).await.unwrap();
    let session = stage.session().await;
    say(&stage, &session, "echo three >> a.txt; echo new > b.txt").await;
    assert_eq!(
        (stage.project.read("a.txt").as_str(), stage.project.read("b.txt").as_str()),
        ("one\ntwo\nthree\n", "new\n")
    );
    let counted: Vec<_> = super::changes::counts(&stage, &session).await.into_iter().map(|(path, ..)| path).collect();
    assert_eq!(counted, ["/a.txt", "/b.txt"], "and nothing of what covers the project meanwhile");
    stage.sessions.undo_changes(&session, ChangeScope::Session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "one\ntwo\n");
    assert!(!stage.project.root().join("b.txt").exists());
}

#[tokio::test]
async fn a_card_says_that_its_command_runs_in_the_sandbox_and_comes_again_when_it_would_not() {
    let Some(stage) = with_a_sandbox(Stage::new(running).await).await else { return };
    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Sandbox).await.unwrap();
    let session = stage.session().await;
    let first = say(&stage, &session, "echo ran > ran").await.unwrap();
    let reach = &first.reach;
    assert_eq!((reach.place, reach.network, reach.undo), (ReachPlace::Project, false, Undo::No));
    assert!(reach.sandbox.is_some(), "it asks in the sandbox too");

    let stage = stage.restarted(running).await;
    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Machine).await.unwrap();
    approve(&stage, &first).await;
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let again = stage.snapshot(&session).await.approvals.pop().unwrap();
    assert_eq!((&again.again, &again.reach.sandbox), (&Some(AskedAgain::SandboxOff), &None));
    assert!(!stage.project.root().join("ran").exists());
    approve(&stage, &again).await;
    assert!(stage.project.root().join("ran").exists());
}

#[tokio::test]
async fn a_call_in_the_sandbox_is_confirmed_as_a_rule_alone() {
    let Some(stage) = with_a_sandbox(Stage::new(running).await).await else { return };
    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Sandbox).await.unwrap();
    let session = stage.session().await;
    let Approval { session: by, call_id, digest, .. } = say(&stage, &session, "cargo test").await.unwrap();
    let draft = RuleDraft {
        session: by.clone(),
        call_id: call_id.clone(),
        scope: RuleScope::Project,
        pattern: "cargo test".into(),
    };
    let of_another = RuleDraft { call_id: "another".into(), ..draft.clone() };
    let decide = [Decide { session: by, call_id, digest, decision: Decision::Approve }];
    for drafts in [vec![], vec![of_another]] {
        assert_eq!(stage.sessions.grave_calls(&decide, &drafts).await.unwrap(), [], "it is let run once");
    }
    let found = stage.sessions.grave_calls(&decide, &[draft]).await.unwrap();
    assert_eq!(found.iter().map(|call| &call.why[..]).collect::<Vec<_>>(), [[Grave::UnsandboxedLater]]);
}

#[tokio::test]
async fn a_declaration_wants_the_sandbox_whatever_is_chosen() {
    let Some(stage) = with_a_sandbox(Stage::allowing_everything(running).await).await else { return };
    stage.sessions.declare(DeclaredAgent::parse("backend.commands = 'sandbox'").unwrap());
    assert!(stage.sessions.sandboxed_projects().await.unwrap().all);
    stage.sessions.set_command_place(&stage.project_id, CommandPlace::Machine).await.unwrap();
    let session = stage.session().await;
    let (held, line) = beside(&stage, "held");
    say(&stage, &session, &line).await;
    assert!(!held.exists() && stage.project.root().join("held").exists());
}

/// As `bosun run --sandbox` has it.
#[tokio::test]
async fn a_process_can_want_it_of_every_project() {
    let Some(stage) = with_a_sandbox(Stage::allowing_everything(running).await).await else { return };
    let session = stage.session().await;
    stage.sessions.sandbox_commands().await.unwrap();
    let (held, line) = beside(&stage, "held");
    say(&stage, &session, &line).await;
    assert!(!held.exists() && stage.project.root().join("held").exists());
    assert_eq!(stage.sessions.sandboxed_projects().await.unwrap(), SandboxedProjects { all: true, projects: vec![] });
}
