//! What a person approved with a command is what its scripts held then (security.md A12).

use bosun_agent::{Ask, AskReason, AskedAgain, Decision, EntryBody, PermissionRule, Policy, TurnEnd};
use bosun_backend::ContentHash;
use bosun_testkit::{Project, Reply, Scripted};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Scene, from};

fn runs(id: &str, command: &str) -> Reply {
    Reply::default().and_call_with_id(id, "execute", json!({"command": command}))
}

fn project() -> Project {
    Project::new().file("x.sh", "echo harmless\n").file("tools/Makefile", "all:\n\t@echo made\n")
}

fn over(project: Project, replies: Vec<Scripted>) -> Scene {
    from(project, Policy::default(), replies, vec![], vec![])
}

fn scene(replies: Vec<Scripted>) -> Scene {
    over(project(), replies)
}

fn ask(scene: &Scene) -> Ask {
    scene.log.with_state(|state| state.waiting().next().and_then(|call| call.ask.clone())).unwrap()
}

fn scripts(ask: &Ask) -> Vec<&str> {
    ask.scripts.iter().filter(|script| script.is_there()).map(|script| script.path.as_str()).collect()
}

#[tokio::test]
async fn a_script_that_changed_after_its_command_was_approved_is_asked_for_again() {
    let lines = [
        "sh x.sh",
        "true; sh ./x.sh",
        "cd tools && sh ../x.sh",
        "cd 'ROOT' && sh x.sh",
        "(cd tools && true) && sh x.sh",
        "timeout 60 sh 'ROOT/x.sh'",
    ];
    for command in lines {
        let project = project();
        let command = &command.replace("ROOT", project.root().to_str().unwrap());
        let scene = over(project, vec![runs("x", command).into(), "done".into()]);
        scene.begin().await;
        assert_eq!(scene.run_until_quiet().await, None);
        let first = ask(&scene);
        assert_eq!((scripts(&first), &first.reason), (vec!["/x.sh"], &AskReason::CommandsAsk));
        scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
        scene.project.write("x.sh", "echo harmful\n");
        // As after a restart: the decision is there, and the command has not started.
        assert_eq!(scene.run_until_quiet().await, None, "{command}");
        let second = ask(&scene);
        assert_eq!(second.again, Some(AskedAgain::ScriptChanged { path: "/x.sh".into() }));
        assert_eq!(second.reason, AskReason::CommandsAsk, "why it asked first is still so");
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
        assert_eq!(ask(&scene).again, Some(AskedAgain::ScriptChanged { path: format!("/{name}") }));
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

#[tokio::test]
async fn a_script_that_the_same_step_changes_without_asking_is_asked_for() {
    let read = Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/x.sh"}));
    let edit = json!({"file_path": "/x.sh", "old_string": "harmless", "new_string": "new"});
    let reply = Reply::default().and_call_with_id("w", "edit_file", edit);
    let reply = reply.and_call_with_id("x", "execute", json!({"command": "sh x.sh"}));
    let edits = PermissionRule::Allow { name: "edits pass".into() };
    let policy = Policy { edits, ..Policy::default() };
    let first = from(project(), policy.clone(), vec![read.into(), reply.into()], vec![], vec![]);
    first.begin().await;
    assert_eq!(first.run_until_quiet().await, None);
    let mut entries = first.host.entries();
    for recorded in &mut entries {
        if let EntryBody::Asked { ask } = &mut recorded.entry.body {
            // As where the command was asked for before the change was made.
            ask.scripts[0].hash = Some(ContentHash::of(b"echo harmless\n"));
        }
    }
    let scene = from(first.project, policy, vec![], entries, vec![]);
    assert_eq!(scene.run_until_quiet().await, None);
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, None);
    assert_eq!(ask(&scene).again, Some(AskedAgain::ScriptChanged { path: "/x.sh".into() }));
}

#[tokio::test]
async fn a_command_that_a_person_changed_is_checked_like_one_they_approved() {
    let scene = scene(vec![runs("x", "sh x.sh").into(), "done".into()]);
    scene.project.write("y.sh", "echo other\n");
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    let again = async |path: &str| {
        assert_eq!(scene.run_until_quiet().await, None, "{path}");
        let ask = ask(&scene);
        assert_eq!(scripts(&ask), [path]);
        (ask.again.unwrap(), ask.call.args)
    };
    let edited = |line: &str| Decision::Edit { args: json!({"command": line}) };
    scene.decide(&scene.log, "x", edited("sh -e x.sh")).await.unwrap();
    scene.project.write("x.sh", "echo harmful\n");
    let changed = AskedAgain::ScriptChanged { path: "/x.sh".into() };
    assert_eq!(again("/x.sh").await, (changed, json!({"command": "sh -e x.sh"})));
    scene.decide(&scene.log, "x", edited("sh -e y.sh")).await.unwrap();
    let named = AskedAgain::ScriptNamed { path: "/y.sh".into() };
    assert_eq!(again("/y.sh").await, (named, json!({"command": "sh -e y.sh"})));
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    let result = scene.result("x").1;
    assert!(result.contains("The user changed this call") && result.contains("other"), "{result}");
}

#[tokio::test]
async fn what_a_command_only_reads_or_writes_may_change_before_it_starts() {
    let line = "awk 1 live.log > out.txt; sh -e x.sh live.log >> out.txt; git add live.log; cat out.txt";
    let scene = scene(vec![runs("x", line).into(), "done".into()]);
    scene.begin().await;
    scene.project.write("live.log", "one\n");
    assert_eq!(scene.run_until_quiet().await, None);
    assert_eq!(scripts(&ask(&scene)), ["/x.sh"]);
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    scene.project.write("live.log", "two\n");
    scene.project.write("out.txt", "");
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(scene.result("x").1.contains("two"), "{}", scene.result("x").1);
}

#[tokio::test]
async fn scripts_that_are_not_there_hide_none_that_is_and_too_many_are_said() {
    let absent: String = (0..40).map(|at| format!("sh {at}.sh; ")).collect();
    let asked = async |line: String| {
        let scene = scene(vec![runs("x", &line).into()]);
        for at in 0..20 {
            scene.project.write(&format!("s{at}.sh"), "true\n");
        }
        scene.begin().await;
        assert_eq!(scene.run_until_quiet().await, None);
        ask(&scene)
    };
    let few = asked(format!("{absent} sh x.sh")).await;
    assert_eq!((scripts(&few), few.more_scripts), (vec!["/x.sh"], false));
    let most: String = (0..16).map(|at| format!("sh s{at}.sh; ")).collect();
    let many = asked(format!("{most} sh s16.sh")).await;
    assert_eq!((scripts(&many).len(), many.more_scripts), (16, true));
    assert!(many.digest != Ask::digest_of(&many.call, &many.preview, &many.scripts, false));
    assert!(asked("sh $WHICH".into()).await.more_scripts);
}

#[tokio::test]
async fn a_file_too_large_to_read_is_compared_by_size_and_time() {
    let scene = scene(vec![runs("x", "sh large.sh; echo ran").into(), "done".into()]);
    let large = std::fs::File::create(scene.project.root().join("large.sh")).unwrap();
    // Nothing of this would be there in time were it read.
    large.set_len(1 << 40).unwrap();
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    let first = ask(&scene);
    assert_eq!((scripts(&first), &first.scripts[0].hash), (vec!["/large.sh"], &None));
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    large.set_len(10).unwrap();
    assert_eq!(scene.run_until_quiet().await, None);
    assert_eq!(ask(&scene).again, Some(AskedAgain::ScriptChanged { path: "/large.sh".into() }));
}

#[tokio::test]
async fn a_second_request_says_the_sandbox_of_now() {
    let first = scene(vec![runs("x", "sh x.sh").into()]);
    first.begin().await;
    assert_eq!(first.run_until_quiet().await, None);
    first.decide(&first.log, "x", Decision::Approve).await.unwrap();
    let mut entries = first.host.entries();
    for recorded in &mut entries {
        if let EntryBody::Asked { ask } = &mut recorded.entry.body {
            ask.sandbox = Some("one that is gone".into());
        }
    }
    first.project.write("x.sh", "echo harmful\n");
    let second = from(first.project, Policy::default(), vec![], entries, vec![]);
    assert_eq!(second.run_until_quiet().await, None);
    let ask = ask(&second);
    assert_eq!((ask.again.is_some(), ask.sandbox), (true, None));
}
