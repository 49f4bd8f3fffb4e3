//! What a person approved with a command is what its scripts held then (security.md A12).

use bosun_agent::{Ask, AskReason, Decision, Policy, TurnEnd};
use bosun_testkit::{Project, Reply, Scripted};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Scene, from};

fn runs(id: &str, command: &str) -> Reply {
    Reply::default().and_call_with_id(id, "execute", json!({"command": command}))
}

fn scene(replies: Vec<Scripted>) -> Scene {
    let project = Project::new().file("x.sh", "echo harmless\n").file("tools/Makefile", "all:\n\t@echo made\n");
    from(project, Policy::default(), replies, vec![], vec![])
}

fn ask(scene: &Scene) -> Ask {
    scene.log.with_state(|state| state.waiting().next().and_then(|call| call.ask.clone())).unwrap()
}

fn scripts(ask: &Ask) -> Vec<&str> {
    ask.scripts.iter().filter(|script| script.hash.is_some()).map(|script| script.path.as_str()).collect()
}

#[tokio::test]
async fn a_script_that_changed_after_its_command_was_approved_is_asked_for_again() {
    for command in ["sh x.sh", "true; sh ./x.sh", "cd tools && sh ../x.sh"] {
        let scene = scene(vec![runs("x", command).into(), "done".into()]);
        scene.begin().await;
        assert_eq!(scene.run_until_quiet().await, None);
        let first = ask(&scene);
        assert_eq!((scripts(&first), &first.reason), (vec!["/x.sh"], &AskReason::CommandsAsk));
        scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
        scene.project.write("x.sh", "echo harmful\n");
        // As after a restart: the decision is there, and the command has not started.
        assert_eq!(scene.run_until_quiet().await, None, "{command}");
        let second = ask(&scene);
        assert_eq!(second.reason, AskReason::ScriptChanged { path: "/x.sh".into() });
        assert!(second.digest != first.digest && second.allowed == first.allowed);
        scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
        assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
        assert!(scene.result("x").1.contains("harmful"), "{}", scene.result("x").1);
    }
}

#[tokio::test]
async fn a_script_that_comes_to_be_there_after_its_command_was_approved_is_asked_for_again() {
    for (command, name) in [("sh new.sh", "new.sh"), ("cd tools; make", "tools/GNUmakefile")] {
        let scene = scene(vec![runs("x", command).into(), "done".into()]);
        scene.begin().await;
        assert_eq!(scene.run_until_quiet().await, None);
        scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
        scene.project.write(name, "all:\n\t@echo harmful\n");
        assert_eq!(scene.run_until_quiet().await, None, "{command}");
        assert_eq!(ask(&scene).reason, AskReason::ScriptChanged { path: format!("/{name}") });
    }
}

#[tokio::test]
async fn what_a_program_goes_by_without_naming_it_counts_and_what_it_reads_does_not() {
    let scene = scene(vec![runs("x", "cd tools; make; cat ../notes.txt").into(), "done".into()]);
    scene.project.write("notes.txt", "one");
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    assert_eq!(scripts(&ask(&scene)), ["/tools/Makefile"]);
    scene.project.write("notes.txt", "two");
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(scene.result("x").1.contains("two"), "{}", scene.result("x").1);
}

#[tokio::test]
async fn a_script_that_the_same_step_changes_first_was_asked_for_beside_its_command() {
    let read = Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/x.sh"}));
    let edit = json!({"file_path": "/x.sh", "old_string": "harmless", "new_string": "new"});
    let reply = Reply::default().and_call_with_id("w", "edit_file", edit);
    let reply = reply.and_call_with_id("x", "execute", json!({"command": "sh x.sh"}));
    let scene = scene(vec![read.into(), reply.into(), "done".into()]);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    for id in ["x", "w"] {
        scene.decide(&scene.log, id, Decision::Approve).await.unwrap();
    }
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(scene.result("x").1.contains("new"), "{}", scene.result("x").1);
}
