//! What a person approved with a command is what its scripts held then (security.md A12).

use std::os::unix::fs::symlink;
use std::sync::Arc;

use bosun_agent::{
    ApprovalMode, Ask, AskReason, AskedAgain, Decision, EntryBody, PermissionRule, Policy, Standing, TurnEnd,
};
use bosun_backend::{
    Access, Backend, CommandSwitch, Commands, CompositeBackend, ContentHash, LocalExecutorOptions, LocalShellBackend,
    LocalShellOptions, Route, SandboxBackend, StateBackend, VirtualPath, local_process,
};
use bosun_testkit::{Project, Reply, Scripted};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Scene, behind, from};

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
    assert!(many.is_intact() && !Ask { more_scripts: false, ..many }.is_intact());
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

/// What was approved for a sandbox never runs without one unasked, a script in it or not.
#[tokio::test]
async fn a_command_that_was_approved_for_a_sandbox_is_asked_for_again_without_one() {
    let commands = CommandSwitch::from(Commands::Sandbox);
    let project = project();
    let options = LocalShellOptions { commands: commands.clone(), ..LocalShellOptions::default() };
    let backend = Arc::new(LocalShellBackend::open(project.root(), options).unwrap());
    let steps = vec![runs("x", "echo ran > ran").into(), "done".into()];
    let scene = behind(backend, project, Policy::default(), steps, vec![], vec![]);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    let first = ask(&scene);
    assert!(first.sandbox.as_deref().is_some_and(|words| words.starts_with("a sandbox: ")), "{first:?}");
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    commands.set(Commands::Machine);
    assert_eq!(scene.run_until_quiet().await, None);
    let second = ask(&scene);
    assert_eq!((second.again, second.sandbox), (Some(AskedAgain::SandboxOff), None));
    assert!(second.digest != first.digest, "an answer to the first is none to the second");
    assert!(!scene.project.root().join("ran").exists());
    scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(scene.project.root().join("ran").exists());
}

/// The mode lets commands run as long as a sandbox holds them, and no longer.
#[tokio::test]
async fn what_runs_freely_in_the_sandbox_asks_once_it_is_off() {
    let commands = CommandSwitch::from(Commands::Sandbox);
    let project = project();
    let options = LocalShellOptions { commands: commands.clone(), ..LocalShellOptions::default() };
    let backend = Arc::new(LocalShellBackend::open(project.root(), options).unwrap());
    let policy = Policy { standing: Standing::new(ApprovalMode::Sandbox, Vec::new()), ..Policy::default() };
    let steps =
        vec![runs("x", "sh x.sh").into(), runs("y", "rm -rf tools").into(), runs("z", "sh x.sh").into(), "done".into()];
    let scene = behind(backend, project, policy, steps, vec![], vec![]);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None);
    assert_eq!(ask(&scene).call.id.as_str(), "y", "what destroys asks; the script did not");
    commands.set(Commands::Machine);
    scene.decide(&scene.log, "y", Decision::Reject { reason: None }).await.unwrap();
    assert_eq!(scene.run_until_quiet().await, None);
    let bare = ask(&scene);
    assert_eq!((bare.call.id.as_str(), &bare.sandbox), ("z", &None));
}

/// What is asked for a line, over the backend that `opened` makes of the project.
async fn asked(project: Project, opened: impl Fn(&Project) -> Arc<dyn Backend>, line: &str) -> Ask {
    let line = line.replace("ROOT", project.root_str());
    let backend = opened(&project);
    let scene = behind(backend, project, Policy::default(), vec![runs("x", &line).into()], vec![], vec![]);
    scene.begin().await;
    assert_eq!(scene.run_until_quiet().await, None, "{line}");
    ask(&scene)
}

fn here(project: &Project) -> Arc<dyn Backend> {
    Arc::new(LocalShellBackend::open(project.root(), LocalShellOptions::default()).unwrap())
}

#[tokio::test]
async fn a_script_outside_or_one_that_cannot_be_looked_at_is_said() {
    let project = || {
        let project = project().file("deny/y.sh", "true\n").dir("empty");
        symlink("/etc/hosts", project.root().join("link.sh")).unwrap();
        symlink("loop.sh", project.root().join("loop.sh")).unwrap();
        symlink("x.sh", project.root().join("inside.sh")).unwrap();
        project
    };
    let cases: [(&str, &[&str], bool); 15] = [
        ("sh /tmp/x.sh", &[], true),
        ("sh ../x.sh", &[], true),
        (". /etc/profile", &[], true),
        ("/tmp/tool a", &[], true),
        ("cd /tmp && make", &[], true),
        ("python3 /dev/stdin", &[], true),
        ("sh link.sh", &["/link.sh"], true),
        ("sh loop.sh", &["/loop.sh"], true),
        ("sh inside.sh", &["/inside.sh"], false),
        ("cd nope; sh x.sh", &["/x.sh"], false),
        ("sh none.sh; sh none/x.sh; sh x.sh/y; sh empty", &[], false),
        ("/usr/bin/env sh ROOT/x.sh", &["/x.sh"], false),
        ("sh < /dev/null; /bin/ls", &[], false),
        ("sh /x.sh", &[], true),
        ("wrap python3 /opt/x.py", &[], false),
    ];
    for (line, names, more) in cases {
        let ask = asked(project(), here, line).await;
        assert_eq!((scripts(&ask).as_slice(), ask.more_scripts), (names, more), "{line}");
    }
}

#[tokio::test]
async fn what_is_put_where_nobody_looks_is_asked_for_again() {
    for name in ["new.sh", "x.sh"] {
        let scene = scene(vec![runs("x", &format!("sh {name}")).into()]);
        scene.begin().await;
        assert_eq!(scene.run_until_quiet().await, None);
        assert!(!ask(&scene).more_scripts);
        scene.decide(&scene.log, "x", Decision::Approve).await.unwrap();
        let at = scene.project.root().join(name);
        if at.exists() {
            std::fs::remove_file(&at).unwrap();
        }
        symlink("/etc/hosts", at).unwrap();
        assert_eq!(scene.run_until_quiet().await, None, "{name}");
        let again = ask(&scene);
        assert_eq!(again.again, Some(AskedAgain::ScriptChanged { path: format!("/{name}") }));
        assert!(again.more_scripts);
    }
}

#[tokio::test]
async fn scripts_of_another_place_are_compared_by_any_of_their_names() {
    for (line, names, more) in [
        ("sh x.sh; sh none.sh", vec!["/x.sh"], false),
        ("sh ROOT/x.sh", vec!["/x.sh"], false),
        ("cd ROOT/tools && make", vec!["/tools/Makefile"], false),
        ("sh /etc/x.sh", vec![], true),
        ("sh ../x.sh", vec![], true),
        ("/bin/sh x.sh", vec!["/x.sh"], false),
    ] {
        let project = project();
        let executor = local_process(project.root(), LocalExecutorOptions::default()).unwrap();
        let place: Arc<dyn Backend> = Arc::new(SandboxBackend::open(executor).await);
        let ask = asked(project, |_| Arc::clone(&place), line).await;
        assert_eq!((scripts(&ask), ask.more_scripts), (names, more), "{line}");
    }
}

#[tokio::test]
async fn a_route_has_scripts_that_nobody_looks_at() {
    let routed = |project: &Project| -> Arc<dyn Backend> {
        let kept = Route {
            prefix: VirtualPath::parse("/memories").unwrap(),
            backend: Arc::new(StateBackend::new([])),
            access: Access::ReadWrite,
        };
        Arc::new(CompositeBackend::new(here(project), vec![kept]).unwrap())
    };
    // The shell finds the project's own folder where the agent finds what is kept elsewhere.
    for (line, more) in [("sh memories/x.sh", true), ("sh x.sh", false)] {
        let ask = asked(project().file("memories/x.sh", "true\n"), routed, line).await;
        assert_eq!(ask.more_scripts, more, "{line}");
    }
}

#[tokio::test]
async fn what_a_program_finds_in_the_folders_above_counts_where_it_is_there() {
    let project =
        || project().file("package.json", "{}").file("a/b/package.json", "{}").file("justfile", "").dir("a/c");
    for (line, names) in [
        ("cd a/b && npm test", vec!["/a/b/package.json", "/package.json"]),
        ("cd a/c && pnpm test", vec!["/package.json"]),
        ("cd a; yarn", vec!["/package.json"]),
        ("cd a && just x; cd tools && make", vec!["/justfile", "/tools/Makefile"]),
        ("cd a && make", vec![]),
    ] {
        let ask = asked(project(), here, line).await;
        assert_eq!((scripts(&ask), ask.more_scripts), (names, false), "{line}");
    }
}
