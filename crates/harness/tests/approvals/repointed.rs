//! A path that leads elsewhere by the time of its effect: nobody approved a change there (security.md A11).
#![cfg(unix)]

use std::os::unix::fs::symlink;

use bosun_agent::AskReason;
use pretty_assertions::assert_eq;

use super::*;

/// A project with a folder, beside a folder of the same shape that is not the agent's.
struct Beside {
    scene: Scene,
    outside: tempfile::TempDir,
}

fn write(id: &str, path: &str) -> Reply {
    Reply::default().and_call_with_id(id, "write_file", json!({"file_path": path, "content": "theirs"}))
}

/// What changes something in `/docs`, each over a file that is there or one that is new.
fn changes() -> Vec<Reply> {
    let edit = json!({"file_path": "/docs/a.txt", "old_string": "one", "new_string": "1"});
    vec![
        write("c", "/docs/new.txt"),
        write("c", "/docs/deep/new.txt"),
        Reply::default().and_call_with_id("c", "edit_file", edit),
        Reply::default().and_call_with_id("c", "delete", json!({"file_path": "/docs/a.txt"})),
        Reply::default().and_call_with_id("c", "delete", json!({"file_path": "/docs/sub"})),
    ]
}

fn beside(policy: Policy, reply: impl FnOnce(&std::path::Path) -> Reply) -> Beside {
    let project = Project::new().file("docs/a.txt", "one\n").file("docs/sub/b.txt", "two\n");
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("sub")).unwrap();
    std::fs::write(outside.path().join("a.txt"), "one\n").unwrap();
    std::fs::write(outside.path().join("sub/b.txt"), "two\n").unwrap();
    let read = Reply::default().and_call_with_id("r", "read_file", json!({"file_path": "/docs/a.txt"}));
    let replies = [read, reply(outside.path()), Reply::text("done")].into_iter().map(Into::into).collect();
    Beside { scene: from(project, policy, replies, vec![], vec![]), outside }
}

impl Beside {
    /// `/docs` is a link from now on.
    fn repoint(&self, to: &std::path::Path) {
        std::fs::rename(self.scene.project.at("docs"), self.scene.project.at("was")).unwrap();
        symlink(to, self.scene.project.at("docs")).unwrap();
    }

    fn nothing_outside_changed(&self, what: &str) {
        let mut there: Vec<String> = walked(self.outside.path());
        there.sort();
        assert_eq!(there, ["a.txt", "sub/b.txt"], "{what}");
        let read = |name: &str| std::fs::read_to_string(self.outside.path().join(name)).unwrap();
        assert_eq!((read("a.txt"), read("sub/b.txt")), ("one\n".into(), "two\n".into()), "{what}");
    }
}

fn walked(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(walked(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            found.push(name);
        }
    }
    found
}

#[tokio::test]
async fn an_approved_change_is_not_made_where_a_link_leads_out_by_now() {
    for reply in changes() {
        let what = format!("{reply:?}");
        let there = beside(Policy::default(), |_| reply);
        there.scene.begin().await;
        assert_eq!(there.scene.run_until_quiet().await, None, "{what}");
        there.scene.decide(&there.scene.log, "c", Decision::Approve).await.unwrap();
        there.repoint(there.outside.path());
        assert_eq!(there.scene.run_until_quiet().await, Some(TurnEnd::Done), "{what}");
        there.nothing_outside_changed(&what);
        let said = there.scene.result("c").1;
        assert!(said.contains("outside"), "{said}");
    }
}

fn free() -> Policy {
    let allow = || PermissionRule::Allow { name: "all pass".into() };
    Policy { edits: allow(), commands: allow(), ..Policy::default() }
}

/// What a command of the same step makes of the folder is there when the change is: nobody is asked about either.
fn with_command(command: &str, change: Reply) -> Reply {
    let first = Reply::default().and_call_with_id("x", "execute", json!({"command": command}));
    Reply { parts: [first.parts, change.parts].concat(), ..change }
}

#[tokio::test]
async fn a_change_that_needs_no_approval_is_not_made_where_a_command_before_it_leads_out() {
    for reply in changes() {
        let what = format!("{reply:?}");
        let there = beside(free(), |outside| {
            with_command(&format!("mv docs was && ln -s '{}' docs", outside.display()), reply)
        });
        there.scene.begin().await;
        assert_eq!(there.scene.run_until_quiet().await, Some(TurnEnd::Done), "{what}");
        assert!(there.scene.project.at("docs").is_symlink(), "{what}");
        there.nothing_outside_changed(&what);
        let said = there.scene.result("c").1;
        assert!(said.contains("outside"), "{said}");
    }
}

const HOOKS: &str = "mkdir -p .git/hooks && mv docs was && ln -s .git/hooks docs";

#[tokio::test]
async fn a_change_that_needs_no_approval_asks_where_a_command_before_it_led_it_to_a_protected_name() {
    let there = beside(free(), |_| with_command(HOOKS, write("c", "/docs/pre-commit")));
    there.scene.begin().await;
    assert_eq!(there.scene.run_until_quiet().await, None);
    assert!(there.scene.project.at("docs").is_symlink());
    let asked = there.scene.log.with_state(|state| state.open_call(&"c".into())?.ask.clone()).unwrap();
    assert!(matches!(asked.reason, AskReason::ProtectedName { .. }), "{asked:?}");
    assert!(!there.scene.project.exists(".git/hooks/pre-commit"));
}

/// Answers the call, after which `/docs` leads to the folder of hooks, and gives what the model is told of it.
async fn decided_and_repointed(there: &Beside, decision: Decision) -> String {
    there.scene.begin().await;
    assert_eq!(there.scene.run_until_quiet().await, None);
    there.scene.decide(&there.scene.log, "c", decision).await.unwrap();
    std::fs::create_dir_all(there.scene.project.at(".git/hooks")).unwrap();
    there.repoint(std::path::Path::new(".git/hooks"));
    assert_eq!(there.scene.run_until_quiet().await, Some(TurnEnd::Done));
    assert!(!there.scene.project.exists(".git/hooks/pre-commit"));
    there.scene.result("c").1
}

#[tokio::test]
async fn an_approved_change_is_not_made_in_another_place_of_the_project() {
    let content = json!({"file_path": "/docs/pre-commit", "content": "mine"});
    for decision in [Decision::Approve, Decision::Edit { args: content }] {
        let there = beside(Policy::default(), |_| write("c", "/docs/pre-commit"));
        let said = decided_and_repointed(&there, decision.clone()).await;
        assert!(said.contains("has come to lead elsewhere"), "{decision:?} {said}");
    }
}

#[tokio::test]
async fn a_change_of_a_path_that_a_person_entered_is_not_made_where_that_leads_elsewhere() {
    let own = |path: &str| Decision::Edit { args: json!({"file_path": path, "content": "mine"}) };
    let there = beside(Policy::default(), |_| write("c", "/other/new.txt"));
    let said = decided_and_repointed(&there, own("/docs/pre-commit")).await;
    assert!(said.contains("leads elsewhere"), "{said}");
    // Where only the path that was asked for leads elsewhere, theirs is as good as it was.
    let there = beside(Policy::default(), |_| write("c", "/docs/new.txt"));
    let said = decided_and_repointed(&there, own("/was/mine.txt")).await;
    assert!(said.contains("What ran"), "{said}");
    assert_eq!(there.scene.project.read("was/mine.txt"), "mine");
}
