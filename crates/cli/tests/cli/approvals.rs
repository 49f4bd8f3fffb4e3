use bosun_protocol::{ItemBody, SessionEvent, SessionStatus, ToolState};
use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, Ran};

/// Writes a file and appends a line to another by a command, in one step, then ends.
fn two_changes() -> Rule {
    Rule::turn("change")
        .reply(
            Reply::new()
                .and_call("write_file", json!({ "file_path": "/new.txt", "content": "new\n" }))
                .and_call("execute", json!({ "command": "echo ran >> log.txt" })),
        )
        .reply("finished")
}

/// The states in which the calls of a run ended.
fn states(ran: &Ran) -> Vec<(String, ToolState)> {
    let finished = ran.events().into_iter().filter_map(|event| match event {
        SessionEvent::ItemCompleted { item } => Some(item.body),
        _ => None,
    });
    let mut states: Vec<_> = finished
        .filter_map(|body| match body {
            ItemBody::Tool(tool) => Some((tool.name, tool.state)),
            _ => None,
        })
        .collect();
    states.sort_by(|a, b| a.0.cmp(&b.0));
    states
}

fn state_list(ran: &Ran) -> Vec<ToolState> {
    states(ran).into_iter().map(|(_, state)| state).collect()
}

#[test]
fn what_nobody_can_approve_waits_and_goes_on_in_another_run() {
    let bench = Bench::new();
    bench.server.add(two_changes());
    let waiting = bench.run(&["change things"]);
    assert_eq!((waiting.code, waiting.out.as_str()), (Some(2), ""), "{}", waiting.err);
    assert!(waiting.err.contains("waits for an approval: write_file /new.txt\n"), "{}", waiting.err);
    assert!(waiting.err.contains("waits for an approval: execute echo ran >> log.txt\n"), "{}", waiting.err);
    assert!(bench.project.tree().is_empty());
    let session = bench.sessions().remove(0);
    assert_eq!((session.status, session.waiting), (SessionStatus::Waiting, 2));
    assert!(waiting.err.contains(&format!("go on with: bosun run --session {}\n", session.id)), "{}", waiting.err);

    // Looked at again without anyone to ask, it waits on.
    assert_eq!(bench.go_on(&session.id, &[]).code, Some(2));
    assert!(bench.project.tree().is_empty());

    let done = bench.go_on(&session.id, &["--approve", "all"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "finished\n"), "{}", done.err);
    assert_eq!(bench.project.read("new.txt"), "new\n");
    assert_eq!(bench.project.read("log.txt"), "ran\n");
    assert_eq!(bench.server.requests().len(), 2, "the model is not asked again for what it said");
    assert_eq!(bench.sessions()[0].status, SessionStatus::Idle);
}

#[test]
fn all_lets_everything_pass_without_asking() {
    let bench = Bench::new();
    bench.server.add(two_changes());
    let ran = bench.run(&["--json", "--approve", "all", "change things"]);
    assert_eq!((ran.code, state_list(&ran)), (Some(0), vec![ToolState::Done, ToolState::Done]), "{}", ran.err);
    assert!(!ran.events().iter().any(|event| matches!(event, SessionEvent::ApprovalRequested { .. })));
    assert_eq!(bench.project.read("log.txt"), "ran\n");
}

#[test]
fn edits_lets_files_pass_and_answers_commands() {
    let bench = Bench::new();
    bench.server.add(two_changes());
    let ran = bench.run(&["--json", "--approve", "edits", "change things"]);
    assert_eq!((ran.code, state_list(&ran)), (Some(0), vec![ToolState::Rejected, ToolState::Done]), "{}", ran.err);
    assert_eq!(bench.project.tree(), ["new.txt"]);
    let told = bench.server.requests()[1].asked();
    assert!(told.said.iter().any(|said| said.text.contains("--approve edits")), "{:?}", told.said);
}

#[test]
fn edits_answers_waiting_calls_alike() {
    let bench = Bench::new();
    bench.server.add(two_changes());
    assert_eq!(bench.run(&["change things"]).code, Some(2));
    let ran = bench.go_on(&bench.last_session(), &["--json", "--approve", "edits"]);
    assert_eq!((ran.code, state_list(&ran)), (Some(0), vec![ToolState::Rejected, ToolState::Done]), "{}", ran.err);
    assert_eq!(bench.project.tree(), ["new.txt"]);
}

#[test]
fn edits_does_not_cover_files_that_later_run_code() {
    let bench = Bench::new();
    bench.server.add(
        Rule::turn("hook")
            .reply(Reply::call("write_file", json!({ "file_path": "/.envrc", "content": "echo hi\n" })))
            .reply("finished"),
    );
    let ran = bench.run(&["--approve", "edits", "hook it"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let session = bench.last_session();
    assert_eq!(bench.go_on(&session, &["--approve", "edits"]).code, Some(2));
    assert!(!bench.project.exists(".envrc"));
    assert_eq!(bench.go_on(&session, &["--approve", "all"]).code, Some(0));
    assert!(bench.project.exists(".envrc"));
}

#[test]
fn none_answers_everything_with_a_rejection() {
    let bench = Bench::new();
    bench.server.add(two_changes()).add(two_changes());
    let ran = bench.run(&["--json", "--approve", "none", "change things"]);
    assert_eq!((ran.code, state_list(&ran)), (Some(0), vec![ToolState::Rejected, ToolState::Rejected]), "{}", ran.err);
    assert!(bench.project.tree().is_empty());
    assert_eq!(bench.run(&["change things"]).code, Some(2));
    let ran = bench.go_on(&bench.last_session(), &["--json", "--approve", "none"]);
    assert_eq!((ran.code, state_list(&ran)), (Some(0), vec![ToolState::Rejected, ToolState::Rejected]), "{}", ran.err);
    assert!(bench.project.tree().is_empty());
}

#[test]
fn a_subagents_call_waits_and_goes_on_too() {
    let bench = Bench::new();
    let task = json!({ "description": "write the report", "subagent_type": "general-purpose" });
    bench.server.add(Rule::turn("have it written").reply(Reply::call("task", task)).reply("all written")).add(
        Rule::turn("write the report")
            .reply(Reply::call("write_file", json!({ "file_path": "/report.md", "content": "# Report\n" })))
            .reply("written"),
    );
    let ran = bench.run(&["have it written"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("write_file /report.md (asked by general-purpose)"), "{}", ran.err);
    let ran = bench.go_on(&bench.last_session(), &["--approve", "edits"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "all written\n"), "{}", ran.err);
    assert_eq!(bench.project.read("report.md"), "# Report\n");
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn a_new_task_waits_behind_the_open_turn() {
    let bench = Bench::new();
    bench.server.add(two_changes()).add(Rule::turn("and now").reply("second answer"));
    assert_eq!(bench.run(&["change things"]).code, Some(2));
    let ran = bench.go_on(&bench.last_session(), &["--approve", "all", "and now?"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "finished\nsecond answer\n"), "{}", ran.err);
    assert_eq!(bench.project.read("log.txt"), "ran\n");
}

#[test]
fn without_storing_a_waiting_call_cannot_go_on_and_that_is_said() {
    let bench = Bench::new();
    bench.server.add(two_changes());
    let ran = bench.run(&["--no-store", "change things"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("nothing was stored") && !ran.err.contains("--session"), "{}", ran.err);
    assert!(bench.project.tree().is_empty() && !bench.data().exists());
}
