//! `bosun tools` on every kind of backend, with the real places behind them.

use std::fs;

use bosun_testkit::{PODMAN_SETTINGS, PODMAN_WORDS, Project, SshServer, busybox_image, is_here, missing, ran};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::tools::{Desk, calls, told};

/// A round of all file tools below `/desk`, ten calls of which two are refused.
fn round() -> Vec<(&'static str, Value)> {
    let edit =
        |old: &str| ("edit_file", json!({ "file_path": "/desk/b.txt", "old_string": old, "new_string": "two\n" }));
    vec![
        ("write_file", json!({ "file_path": "/desk/a.txt", "content": "one\nneedle\n" })),
        ("write_file", json!({ "file_path": "/desk/b.txt", "content": "one\n" })),
        ("read_file", json!({ "file_path": "/desk/a.txt", "offset": 1, "limit": 1 })),
        edit("one\n"),
        edit("nowhere"),
        ("ls", json!({ "path": "/desk" })),
        ("glob", json!({ "pattern": "*.txt", "path": "/desk" })),
        ("grep", json!({ "pattern": "needle", "path": "/desk" })),
        ("delete", json!({ "file_path": "/desk/a.txt" })),
        ("read_file", json!({ "file_path": "/desk/a.txt" })),
    ]
}

/// That the round went as it goes everywhere.
#[track_caller]
fn assert_round(answers: &[Value]) {
    let told = told(&answers[..10]);
    let statuses: Vec<&str> = told.iter().map(|(status, _)| *status).collect();
    let right =
        ["success", "success", "success", "success", "error", "success", "success", "success", "success", "error"];
    assert_eq!(statuses, right, "{answers:#?}");
    assert!(told[2].1.contains("needle") && !told[2].1.contains("one"), "{answers:#?}");
    assert!(told[4].1.contains("nowhere") && told[9].1.contains("/desk/a.txt"), "{answers:#?}");
    assert_eq!([told[5].1, told[6].1], ["/desk/a.txt\n/desk/b.txt"; 2]);
    assert_eq!(told[7].1, "/desk/a.txt");
}

/// The round, and a command that reads what it wrote.
#[track_caller]
fn assert_round_with_commands(desk: &Desk, arguments: &[&str]) {
    assert_eq!(notes_of_a_round_with_commands(desk, arguments), "");
}

/// What is said beside the answers.
#[track_caller]
fn notes_of_a_round_with_commands(desk: &Desk, arguments: &[&str]) -> String {
    let mut all = round();
    all.push(("execute", json!({ "command": "cat desk/b.txt; ls desk; exit 3" })));
    let (answers, notes) = desk.tools_and_notes(arguments, &calls(&all));
    assert_round(&answers);
    assert_eq!(answers[10]["artifact"]["exit_code"], 3, "{answers:#?}");
    let said = told(&answers)[10].1;
    assert!(said.contains("two") && said.contains("b.txt") && !said.contains("a.txt"), "{answers:#?}");
    notes
}

#[test]
fn kinds_without_a_shell() {
    let project = Project::new();
    let desk = Desk::new(&project);
    for kind in ["state", "filesystem", "store:notes/mine"] {
        assert_round(&desk.tools(&["--backend", kind], &calls(&round())));
    }
    assert_eq!(project.read("desk/b.txt"), "two\n");
}

#[test]
fn kinds_of_this_machine_with_a_shell() {
    for kind in ["shell", "composite", "sandbox"] {
        if kind == "sandbox" && !is_here("bwrap") {
            missing::<()>("bubblewrap", "apt-get install bubblewrap");
            continue;
        }
        let project = Project::new();
        assert_round_with_commands(&Desk::new(&project), &["--backend", kind]);
        assert_eq!(project.read("desk/b.txt"), "two\n", "{kind}");
    }
}

#[test]
fn the_app_s_own_folders_are_mounted_in_composite_and_the_project_keeps_clear_of_them() {
    let project = Project::new();
    let input = [
        ("write_file", json!({ "file_path": "/memories/project/note.md", "content": "kept\n" })),
        ("ls", json!({ "path": "/" })),
    ];
    let answers = Desk::new(&project).tools(&["--backend", "composite"], &calls(&input));
    assert_eq!(told(&answers)[0].0, "success", "{answers:#?}");
    assert!(told(&answers)[1].1.contains("/memories/"), "{answers:#?}");
    assert!(fs::read_dir(project.root()).unwrap().next().is_none(), "nothing of it is in the project");
}

#[test]
fn another_machine_and_what_is_said_where_it_cannot_be_reached() {
    let Some(server) = SshServer::start() else { return };
    let project = Project::new();
    let desk = Desk::new(&project);
    let config = server.config();
    let there = |place: &'static str| ["--ssh-config", config.to_str().unwrap(), "--backend", place];
    let place: &'static str = format!("ssh:there:{}", server.root().display()).leak();
    assert_round_with_commands(&desk, &there(place));
    assert_eq!(fs::read_to_string(server.root().join("desk/b.txt")).unwrap(), "two\n");
    assert!(fs::read_dir(project.root()).unwrap().next().is_none(), "the project here is not touched");

    let refused = desk.refused(&there("ssh:there:/no/such/folder"));
    assert!(refused.contains("/no/such/folder") && refused.contains("there"), "{refused}");
    server.forget();
    let answers = desk.tools(&there(place), &calls(&[("ls", json!({ "path": "/" }))]));
    let (status, said) = told(&answers)[0];
    assert!(status == "error" && said.contains("there") && said.contains("key"), "{answers:#?}");
}

#[test]
fn a_container_and_what_is_said_where_there_is_none() {
    let Some(image) = busybox_image() else { return };
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("containers.conf");
    fs::write(&settings, PODMAN_SETTINGS).unwrap();
    let settings = settings.to_str().unwrap();
    let project = Project::new().file("kept.txt", "here\n");
    let desk = Desk::new(&project).with("CONTAINERS_CONF", settings.to_owned());
    assert_round_with_commands(&desk, &["--backend", &format!("container:{image}")]);
    assert_eq!(project.read("desk/b.txt"), "two\n");

    let other = Project::new().file("kept.txt", "here\n");
    let desk = Desk::new(&other).with("CONTAINERS_CONF", settings.to_owned());
    let notes = notes_of_a_round_with_commands(&desk, &["--backend", &format!("container-copy:{image}")]);
    assert!(notes.contains("a copy of the project, which goes at the end") && notes.lines().count() == 1, "{notes}");
    assert!(!other.root().join("desk").exists(), "a copy is changed, not the project");

    let refused = desk.refused(&["--backend", "container:localhost:1/bosun-test-nowhere"]);
    assert!(refused.contains("localhost:1/bosun-test-nowhere"), "{refused}");
}

/// A container that somebody else made and that goes with this.
struct There(String);

impl There {
    fn of(image: &str) -> Self {
        let name = format!("bosun-test-tools-{}", std::process::id());
        Self::podman(&format!("run --detach {} --network none --name {name} {image} /bin/sleep 600", PODMAN_WORDS[1]));
        Self(name)
    }

    fn podman(words: &str) {
        let words: Vec<&str> = PODMAN_WORDS[0].split_whitespace().chain(words.split_whitespace()).collect();
        ran("/usr/bin/podman", &words);
    }
}

impl Drop for There {
    fn drop(&mut self) {
        Self::podman(&format!("rm --force --time 0 {}", self.0));
    }
}

/// Where it would be left out, that is said; below a folder of another the project is that one's.
#[test]
fn a_container_that_is_there_takes_no_project() {
    let Some(image) = busybox_image() else { return };
    let there = There::of(image);
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("containers.conf");
    fs::write(&settings, PODMAN_SETTINGS).unwrap();
    let project = Project::new().file("kept.txt", "here\n");
    let desk = Desk::new(&project).with("CONTAINERS_CONF", settings.to_str().unwrap().to_owned());
    let refused = desk.refused(&["--backend", &format!("container:{}", there.0)]);
    assert!(refused.contains("already exists") && refused.contains("leave out the folder"), "{refused}");
    let list = calls(&[("ls", json!({ "path": "/" })), ("ls", json!({ "path": "/box" }))]);
    let answers = desk.tools(&["--route", &format!("/box=container:{}", there.0)], &list);
    assert!(told(&answers)[0].1.contains("/kept.txt") && told(&answers)[1].1.contains("/box/bin/"), "{answers:#?}");
}
