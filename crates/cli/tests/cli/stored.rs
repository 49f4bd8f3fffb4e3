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
fn a_folder_that_is_gone_still_has_its_sessions() {
    let mut bench = told();
    let gone = std::mem::take(&mut bench.project);
    let path = gone.root_str().to_owned();
    gone.close();
    let listed = sessions(&bench, &["list", "--project", &path]);
    assert_eq!((listed.code, listed.out.lines().count()), (Some(0), 1), "{}{}", listed.out, listed.err);
    assert!(listed.out.contains(&path), "{}", listed.out);
}

#[test]
fn a_project_that_was_moved_has_its_sessions_at_its_new_folder() {
    let mut bench = Bench::new();
    bench.server.once("one");
    assert_eq!(bench.run(&["first"]).code, Some(0));
    let id = bench.last_session();
    let gone = std::mem::take(&mut bench.project);
    let (old, new) = (gone.root_str().to_owned(), bench.project.root_str().to_owned());
    let arguments = ["move-project", old.as_str(), new.as_str()];
    let too_early = ran(bench.bosun().arg("sessions").args(["move-project", new.as_str(), old.as_str()]));
    assert_eq!(too_early.code, Some(1));
    assert!(too_early.err.contains(&format!("no project was ever opened at {new}")), "{}", too_early.err);
    gone.close();
    let moved = sessions(&bench, &arguments).out;
    assert!(moved.starts_with("The project '") && moved.ends_with(&format!(" is at {new} now.\n")), "{moved}");
    let listed = |project: &str| sessions(&bench, &["list", "--project", project, "--format", "json"]).out;
    assert!(listed(&new).contains(&format!("{:?}", id.as_str())), "{}", listed(&new));
    assert_eq!(listed(&old), "[]\n");
    // What is there goes on there.
    bench.server.once("two");
    let second = bench.go_on(&id, &["second"]);
    assert_eq!(second.code, Some(0), "{}", second.err);
    let again = ran(bench.bosun().arg("sessions").args(arguments));
    assert_eq!(again.code, Some(1), "it is not there any more");
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

/// The recorded journal that the projection, the window's reducer and the restart are checked against too: parallel
/// calls, a subagent, two pending approvals, a cut reply.
mod fixture {
    use bosun_agent::{EntryBody, Recorded};
    use bosun_protocol::{Envelope, Item, Snapshot};
    use bosun_store::{Database, NewSession, StoredProject};
    use serde::Deserialize;

    use pretty_assertions::assert_eq;

    use super::*;

    #[derive(Deserialize)]
    struct Transcript {
        initial: Snapshot,
        #[serde(rename = "envelopes")]
        _envelopes: Vec<Envelope>,
        #[serde(rename = "final")]
        last: Snapshot,
    }

    fn read<T: for<'de> Deserialize<'de>>(name: &str) -> T {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/journal");
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    }

    async fn load(bench: &Bench, transcript: &Transcript, journals: &[(String, Vec<Recorded>)]) {
        let database = Database::open(&bench.data()).unwrap();
        let summary = &transcript.initial.session;
        let project = StoredProject {
            id: summary.project.to_string(),
            path: bench.project.root_str().to_owned(),
            name: "project".into(),
            opened_at: 1,
        };
        database.remember_project(project).await.unwrap();
        for (id, entries) in journals {
            let parent = journals.iter().find_map(|(parent, entries)| {
                entries.iter().find_map(|recorded| match &recorded.entry.body {
                    EntryBody::SubagentStarted { call_id, child, .. } if child.as_str() == id => {
                        Some((parent.as_str().into(), call_id.clone()))
                    }
                    _ => None,
                })
            });
            let agent = transcript.last.agents.iter().find(|agent| agent.session.as_str() == id).unwrap();
            let stored = match &parent {
                Some(_) => json!({ "name": agent.name, "description": agent.description }),
                None => serde_json::to_value(summary).unwrap(),
            };
            let new = NewSession {
                id: id.as_str().into(),
                project: summary.project.to_string(),
                parent,
                created_at: summary.created_at,
                summary: stored,
            };
            database.create_session(new).await.unwrap();
            let entries = entries.iter().map(|recorded| recorded.entry.clone()).collect();
            database.journal(&id.as_str().into()).append_with(entries, None).await.unwrap();
        }
    }

    /// A row without what only a living process knows.
    fn row(item: &Item) -> Value {
        let mut row = serde_json::to_value(item).unwrap();
        row.as_object_mut().unwrap().remove("at");
        if row["body"]["ended_at"].is_null() {
            for live in ["started_at", "state"] {
                row["body"].as_object_mut().unwrap().remove(live);
            }
        }
        row
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_recorded_journal_is_exported_as_every_other_reader_sees_it() {
        let bench = Bench::new();
        let transcript: Transcript = read("projection.json");
        let journals: Vec<(String, Vec<Recorded>)> = read("entries.json");
        load(&bench, &transcript, &journals).await;
        let id = transcript.last.session.id.as_str();
        let exported = sessions(&bench, &["export", id, "--format", "json"]).out;
        let archive: Value = serde_json::from_str(&exported).unwrap();
        let items: Vec<Item> = serde_json::from_value(archive["items"].clone()).unwrap();
        let sorted = |items: &[Item]| {
            let mut rows: Vec<(String, Value)> = items.iter().map(|item| (item.id.to_string(), row(item))).collect();
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            rows
        };
        assert_eq!(sorted(&items), sorted(&transcript.last.items));
        assert_eq!(archive["todos"], serde_json::to_value(&transcript.last.todos).unwrap());
        let mut approvals: Vec<bosun_protocol::Approval> =
            serde_json::from_value(archive["approvals"].clone()).unwrap();
        let mut wanted = transcript.last.approvals.clone();
        for list in [&mut approvals, &mut wanted] {
            list.sort_by(|a, b| a.call_id.as_str().cmp(b.call_id.as_str()));
        }
        assert_eq!(approvals, wanted);
        assert_eq!(archive["subagents"][0]["subagents"][0]["session"]["id"], journals[2].0.as_str());
        insta::assert_snapshot!(
            "export-fixture",
            Names::default().text(&bench, &sessions(&bench, &["export", id]).out)
        );
    }
}
