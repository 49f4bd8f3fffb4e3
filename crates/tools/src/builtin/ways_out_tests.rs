//! Group P of the security design through every tool that takes a path: what leads out is refused, shows nothing and
//! changes nothing, whichever tool is asked.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use bosun_model::text_of;
use serde_json::{Value, json};

use crate::fixture::Fixture;

const SECRET: &str = "kept beside the project";

/// A project with a secret beside it, and links to all that it must not reach.
fn arena() -> Fixture {
    let beside = [
        ("secret.txt", SECRET),
        ("project-evil/x.txt", SECRET),
        ("outside/deep/x.txt", SECRET),
        ("project/a.txt", "inside\n"),
    ];
    let fixture = Fixture::inside(beside);
    for (target, name) in [
        ("../secret.txt", "link.txt"),
        ("../outside", "folder"),
        ("/proc/self/environ", "environ"),
        ("/proc/self/cwd", "cwd"),
        ("/dev/fd/0", "descriptor"),
        ("/dev/zero", "zero"),
        ("/proc/1/root/etc/shadow", "shadow"),
        ("/proc/self/fd/3", "held"),
        ("/sys/kernel", "system"),
    ] {
        symlink(target, fixture.host("project").join(name)).unwrap();
    }
    fixture
}

/// One call of every tool about `path`.
fn calls(path: &str) -> [(&'static str, Value); 7] {
    [
        ("ls", json!({"path": path})),
        ("read_file", json!({"file_path": path})),
        ("write_file", json!({"file_path": path, "content": "taken over", "overwrite": true})),
        ("edit_file", json!({"file_path": path, "old_string": "kept", "new_string": "taken over"})),
        ("delete", json!({"file_path": path})),
        ("glob", json!({"pattern": "**", "path": path})),
        ("grep", json!({"pattern": "kept", "path": path})),
    ]
}

/// Everything beside the project, names and bytes.
fn beside(fixture: &Fixture) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in ["secret.txt", "project-evil", "project-evil/x.txt", "outside", "outside/deep", "outside/deep/x.txt"] {
        let host = fixture.host(name);
        let what = match host.is_dir() {
            true => std::fs::read_dir(&host).unwrap().map(|one| format!("{:?}", one.unwrap().file_name())).collect(),
            false => std::fs::read_to_string(&host).unwrap(),
        };
        found.push((name.to_owned(), what));
    }
    found
}

async fn nothing_of_it_is_reached(fixture: &Fixture, path: &str) -> Vec<(&'static str, bool, String)> {
    let before = beside(fixture);
    let mut said = Vec::new();
    for (tool, args) in calls(path) {
        let output = fixture.run(tool, args).await;
        let text = text_of(&output.content);
        assert!(!text.contains(SECRET) && !text.contains("PATH="), "{tool} {path}: {text}");
        assert_eq!(beside(fixture), before, "{tool} {path}");
        said.push((tool, output.is_error, text));
    }
    said
}

/// P01, P02, P09, P10, P16, P18, P22.
#[tokio::test]
async fn whatever_leads_out_is_refused_by_every_tool() {
    let fixture = arena();
    let out = [
        "/../../etc/passwd",
        "a/../../x",
        "..",
        "/folder/../../secret.txt",
        "..\\..\\x",
        "C:\\x",
        "\\\\host\\share",
        "\\\\?\\C:\\x",
        "~/x",
        "/folder/deep/x.txt",
        "/folder/not/there/yet.txt",
        "/cwd/secret.txt",
        "/system/notes",
    ];
    let long = ["n".repeat(256), "a/".repeat(2_500)];
    for path in out.into_iter().chain(long.iter().map(String::as_str)) {
        for (tool, is_error, text) in nothing_of_it_is_reached(&fixture, path).await {
            // A search finds nothing where there is nothing of the project's.
            let finds_nothing = matches!(tool, "glob" | "grep") && text.starts_with("No ");
            assert!((is_error && text.starts_with("Error")) || finds_nothing, "{tool} {path}: {text}");
        }
    }
    for path in ["/link.txt", "/folder", "/environ", "/descriptor", "/zero", "/shadow", "/held", "/system"] {
        for (tool, is_error, text) in nothing_of_it_is_reached(&fixture, path).await {
            // The link itself is the project's, and goes alone.
            let may = matches!(tool, "delete") || (matches!(tool, "glob" | "grep") && text.starts_with("No "));
            assert!(is_error || may, "{tool} {path}: {text}");
        }
    }
}

/// P03, P06, P07: names are only names, and what looks like a path of this machine is one of the project.
#[tokio::test]
async fn what_only_looks_like_a_way_out_stays_inside() {
    let fixture = arena();
    let host = |name: &str| fixture.host(name).to_string_lossy().into_owned();
    let names =
        ["/%2e%2e/x", "/..%2fx", "/%252e", "/\u{ff0e}\u{ff0e}\u{2215}x", "//host/x", "/...", "/report..final.md"];
    for path in names.map(ToOwned::to_owned).into_iter().chain([host("secret.txt"), host("project-evil/x.txt")]) {
        let said = nothing_of_it_is_reached(&fixture, &path).await;
        let wrote = said.iter().find(|(tool, ..)| *tool == "write_file").unwrap();
        assert!(!wrote.1, "{path}: {}", wrote.2);
    }
    assert_eq!(fixture.text("project/a.txt"), "inside\n");
}
