//! Another machine in the place of the project: files and commands are there, and whoever is asked is told so.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use std::fs;

use bosun_harness::DeclaredAgent;
use bosun_protocol::{AskedAgain, ChangeKind, ChangeScope, MountKind, Preview, ReachPlace, Undo};
use bosun_testkit::SshServer;
use pretty_assertions::assert_eq;

use super::sandbox::{approve, running, say};
use super::space::{ask, obedient};
use super::stage::Stage;

/// The folder of a machine at `/`, as a route of an agent's declaration or of the settings (`table`) has it.
fn at_root(server: &SshServer, table: &str) -> String {
    format!(
        "[[{table}]]\nprefix = '/'\nkind = 'ssh'\nhost = 'there'\nfolder = '{}'\nconfig = '{}'\n",
        server.root().display(),
        server.config().display()
    )
}

#[tokio::test]
async fn an_agent_works_on_another_machine_and_nothing_of_the_project_is_touched() {
    let Some(server) = SshServer::start() else { return };
    fs::write(server.root().join("kept.txt"), "there before\n").unwrap();
    fs::create_dir(server.root().join("skills")).unwrap();
    let stage = Stage::allowing_everything(obedient).await;
    let before = stage.project.tree();
    stage.sessions.save_additions(&at_root(&server, "routes")).await.unwrap();
    let session = stage.session().await;
    assert!(ask(&stage, &session, "read /kept.txt").await.contains("there before"));
    let ran = ask(&stage, &session, "run cat kept.txt; pwd; echo made > by-command.txt").await;
    assert!(ran.contains("there before") && ran.contains(server.root().to_str().unwrap()), "{ran}");
    ask(&stage, &session, "write /deep/new.txt from the agent").await;
    assert_eq!(fs::read_to_string(server.root().join("deep/new.txt")).unwrap(), "from the agent\n");
    assert!(server.root().join("by-command.txt").exists());
    assert_eq!(stage.project.tree(), before);
    // A path over there is one of the agent's, and its mounts give way to what is there.
    let named = format!("read {}", server.root().join("kept.txt").display());
    assert!(ask(&stage, &session, &named).await.contains("there before"));
    let listed = ask(&stage, &session, "list /").await;
    assert!(listed.contains("/_skills/") && listed.contains("/memories/"), "{listed}");
    let prompt = ask(&stage, &session, "prompt").await;
    assert!(prompt.contains("a folder of another machine, `there:"), "{prompt}");
    assert!(prompt.contains("`execute` runs a command in `there:"), "{prompt}");
    let folder = stage.sessions.folder(&session, "/").await.unwrap();
    let kept = folder.entries.iter().find(|entry| entry.name == "kept.txt").unwrap();
    assert_eq!(kept.mount.map(|mount| mount.kind), Some(MountKind::Machine));
    // Of what the command did nobody here knows; the agent's own change is told and undone over there.
    let counted: Vec<_> = super::changes::counts(&stage, &session).await.into_iter().map(|(path, ..)| path).collect();
    assert_eq!(counted, ["/deep/new.txt"]);
    let undone = stage.sessions.undo_file(&session, "/deep/new.txt", ChangeScope::Session).await.unwrap();
    assert_eq!((undone.change, undone.problem), (ChangeKind::Deleted, None));
    assert!(!server.root().join("deep/new.txt").exists());
}

#[tokio::test]
async fn a_card_says_that_its_command_runs_on_another_machine_and_comes_again_where_it_would_not() {
    let Some(server) = SshServer::start() else { return };
    let declare = |stage: &Stage| {
        stage.sessions.declare(DeclaredAgent::parse(&at_root(&server, "backend.routes")).unwrap());
    };
    let stage = Stage::new(running).await;
    declare(&stage);
    let session = stage.session().await;
    let first = say(&stage, &session, "echo ran > ran").await.unwrap();
    let reach = &first.reach;
    assert_eq!((reach.place, reach.network, reach.undo), (ReachPlace::Machine, true, Undo::No));
    assert_eq!(reach.sandbox, None);
    let Preview::Command { folder, .. } = &first.preview else { panic!("{:?}", first.preview) };
    assert_eq!(*folder, format!("there:{}", server.root().display()));
    approve(&stage, &first).await;
    assert!(server.root().join("ran").exists() && !stage.project.root().join("ran").exists());

    // What was let run over there is not run here.
    let second = say(&stage, &session, "echo again > again").await.unwrap();
    let stage = stage.restarted(running).await;
    approve(&stage, &second).await;
    stage.sessions.continue_turn(&session).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let again = stage.snapshot(&session).await.approvals.pop().unwrap();
    assert_eq!((&again.again, again.reach.place), (&Some(AskedAgain::PlaceChanged), ReachPlace::Anywhere));
    assert!(!stage.project.root().join("again").exists() && !server.root().join("again").exists());
    approve(&stage, &again).await;
    assert!(stage.project.root().join("again").exists());
}

#[tokio::test]
async fn a_file_of_another_machine_is_asked_for_as_such() {
    let Some(server) = SshServer::start() else { return };
    let stage = Stage::new(obedient).await;
    stage.sessions.save_additions(&at_root(&server, "routes")).await.unwrap();
    let session = stage.session().await;
    let asked = say(&stage, &session, "write /new.txt words").await.unwrap();
    assert_eq!((asked.reach.place, asked.reach.undo), (ReachPlace::Machine, Undo::Yes));
    approve(&stage, &asked).await;
    assert_eq!(fs::read_to_string(server.root().join("new.txt")).unwrap(), "words\n");
    let memory = say(&stage, &session, "write /memories/a.md words").await.unwrap();
    assert_eq!(memory.reach.place, ReachPlace::Memory);
}
