use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, ran};
use crate::stable::{Names, settled};

/// A session with an edit, a command with hostile output, a subagent, a plan, and a call that still waits.
fn told() -> Bench {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\ntwo\n");
    let errand = json!({ "description": "Look around", "subagent_type": "general-purpose" });
    let hostile = json!({ "command": "printf '\\033[31mred\\n```\\n# not a heading\\n'" });
    bench
        .server
        .add(
            Rule::turn("Please change a.txt")
                .reply(Reply::call(
                    "write_todos",
                    json!({ "todos": [{ "content": "Change it", "status": "in_progress" }] }),
                ))
                .reply(Reply::text("First a look.").and_call_with_id(
                    "call_read",
                    "read_file",
                    json!({ "file_path": "/a.txt" }),
                ))
                .reply(Reply::call(
                    "edit_file",
                    json!({ "file_path": "/a.txt", "old_string": "two", "new_string": "zwei" }),
                ))
                .reply(Reply::call("execute", hostile))
                .reply(Reply::call("task", errand))
                .reply("Changed."),
        )
        .add(Rule::turn("Look around").reply(Reply::call("ls", json!({ "path": "/" }))).reply("One file."))
        .add(Rule::turn("And delete it").reply(Reply::call("delete", json!({ "file_path": "/a.txt" }))));
    let first = bench.run(&["--approve", "all", "Please change a.txt\n\nThank you."]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    let second = bench.go_on(&bench.last_session(), &["And delete it"]);
    assert_eq!(second.code, Some(2), "{}", second.err);
    bench
}

fn sessions(bench: &Bench, arguments: &[&str]) -> Ran {
    let ran = ran(bench.bosun().arg("sessions").args(arguments));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran
}

#[test]
fn sessions_are_listed_shown_and_exported() {
    let bench = told();
    let id = bench.last_session();
    let text = |arguments: &[&str]| Names::default().text(&bench, &sessions(&bench, arguments).out);
    insta::assert_snapshot!("list", text(&["list"]));
    insta::assert_snapshot!("show", text(&["show", id.as_str()]));
    insta::assert_snapshot!("export", text(&["export", id.as_str()]));
    let json = |arguments: &[&str]| {
        let value: Value = serde_json::from_str(&sessions(&bench, arguments).out).unwrap();
        Names::default().value(&bench, value)
    };
    insta::assert_json_snapshot!("list-json", json(&["list", "--format", "json"]));
    insta::assert_json_snapshot!("export-json", json(&["export", id.as_str(), "--format", "json"]));
    let snapshot: bosun_protocol::Snapshot =
        serde_json::from_str(&sessions(&bench, &["show", id.as_str(), "--format", "json"]).out).unwrap();
    assert_eq!((snapshot.session.id, snapshot.approvals.len()), (id, 1));
}

#[test]
fn lists_are_of_one_project_where_one_is_named() {
    let bench = Bench::new();
    assert_eq!(sessions(&bench, &["list"]).out, "There are no sessions here yet.\n");
    assert_eq!(sessions(&bench, &["list", "--format", "json"]).out, "[]\n");
    bench.server.once("one");
    assert_eq!(bench.run(&["first"]).code, Some(0));
    let other = bosun_testkit::Project::new();
    let listed = |project: &str| sessions(&bench, &["list", "--project", project, "--format", "json"]).out;
    assert_eq!(listed(other.root_str()), "[]\n");
    assert!(listed(bench.project.root_str()).contains("\"title\":\"first\""));
}

#[test]
fn looking_at_sessions_changes_nothing() {
    let bench = told();
    let id = bench.last_session();
    let before = sessions(&bench, &["list", "--format", "json"]).out;
    sessions(&bench, &["show", id.as_str()]);
    sessions(&bench, &["export", id.as_str(), "--format", "json"]);
    assert_eq!(sessions(&bench, &["list", "--format", "json"]).out, before);
    assert_eq!(bench.server.requests().len(), 9);
}

#[test]
fn a_long_session_is_exported_from_its_first_item() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(Rule::looped(300, "read_file", json!({ "file_path": "/a.txt" }), "done"));
    assert_eq!(bench.run(&["read on"]).code, Some(0));
    let exported = sessions(&bench, &["export", bench.last_session().as_str(), "--format", "json"]).out;
    let archive: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(archive["items"].as_array().unwrap().len(), 302);
    assert_eq!(archive["items"][0]["body"]["text"], "read on");
}

#[test]
fn the_events_of_a_run_are_as_they_were() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(
        Rule::turn("change")
            .reply(Reply::text("Looking.").and_call("read_file", json!({ "file_path": "/a.txt" })))
            .reply(Reply::call("edit_file", json!({ "file_path": "/a.txt", "old_string": "one", "new_string": "two" })))
            .reply("Done."),
    );
    let ran = bench.run(&["--json", "--approve", "edits", "change it"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut names = Names::default();
    let events: Vec<Value> = settled(ran.events())
        .into_iter()
        .map(|event| names.value(&bench, serde_json::to_value(event).unwrap()))
        .collect();
    insta::assert_json_snapshot!("events", events);
}
