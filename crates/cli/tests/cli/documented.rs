//! `docs/cli.md` says what the program does: its examples are taken from a run, its flags from the program.
//! With `BOSUN_UPDATE_DOCS=1` the examples are written anew.

use std::path::PathBuf;

use bosun_protocol::SessionEvent;
use bosun_testkit::{Ending, Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, ran};
use crate::stable::{Names, settled};

const BEGIN: &str = "<!-- examples: begin (made by a test; BOSUN_UPDATE_DOCS=1 makes them anew) -->\n";
const END: &str = "<!-- examples: end -->";

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")
}

/// Every kind of event, in the order of the document. The match keeps the list whole.
fn kind(event: &SessionEvent) -> (&'static str, &'static str) {
    match event {
        SessionEvent::SessionUpdated { .. } => (
            "session_updated",
            "The session's row in lists: title, status, model, tokens. The first one names the session.",
        ),
        SessionEvent::TurnStarted { .. } => ("turn_started", "A turn began or goes on."),
        SessionEvent::TurnEnded { .. } => {
            ("turn_ended", "It ended: `done`, `failed`, `stopped` or `step_limit`. The exit code follows it.")
        }
        SessionEvent::ItemStarted { .. } => ("item_started", "A new row: a reply, or a call."),
        SessionEvent::ItemDelta { .. } => {
            ("item_delta", "Growth of a row (`text`, `reasoning`, `output`). Provisional: the completed row counts.")
        }
        SessionEvent::ItemUpdated { .. } => ("item_updated", "A row that changed and is not finished."),
        SessionEvent::ItemCompleted { .. } => {
            ("item_completed", "A row as it stays: `human`, `ai`, `tool` or `notice`.")
        }
        SessionEvent::ItemRemoved { .. } => {
            ("item_removed", "A row that came to nothing: a call of a reply that was cut. Nothing was done from it.")
        }
        SessionEvent::TodosReplaced { .. } => ("todos_replaced", "The plan."),
        SessionEvent::TodoWorked { .. } => {
            ("todo_worked", "What was done for one line of the plan so far, by the agent and its subagents.")
        }
        SessionEvent::ApprovalRequested { .. } => {
            ("approval_requested", "A call waits for a person, with everything to be seen before deciding.")
        }
        SessionEvent::ApprovalResolved { .. } => {
            ("approval_resolved", "It was decided, or lapsed (`record` is null) because the turn was stopped.")
        }
        SessionEvent::QueueReplaced { .. } => ("queue_replaced", "Messages that wait for the running turn to end."),
        SessionEvent::AgentUpdated { .. } => {
            ("agent_updated", "An agent of the tree: the session's own, or a subagent.")
        }
        SessionEvent::FileChanged { .. } => ("file_changed", "What the session did to one file so far."),
        // The window alone goes back; no run tells it.
        SessionEvent::Reset { .. } => ("reset", "The session was taken back: everything is as in `snapshot`."),
    }
}

const KINDS: [&str; 15] = [
    "session_updated",
    "turn_started",
    "item_started",
    "item_delta",
    "item_updated",
    "item_completed",
    "item_removed",
    "todos_replaced",
    "todo_worked",
    "approval_requested",
    "approval_resolved",
    "file_changed",
    "agent_updated",
    "queue_replaced",
    "turn_ended",
];

/// A session in which everything happens that there is an event for.
fn everything() -> (Bench, Vec<SessionEvent>) {
    let bench = Bench::new();
    let cut = Reply::call("write_file", json!({ "file_path": "/hello.txt", "content": "Ahoy\n" }));
    bench.server.once(cut.ending(Ending::CutInCall));
    bench.server.add(
        Rule::turn("Greet the crew")
            .reply(Reply::call("write_todos", json!({ "todos": [{ "content": "Greet", "status": "in_progress" }] })))
            .reply(Reply::text("Writing.").and_call_with_id(
                "call_1",
                "write_file",
                json!({ "file_path": "/hello.txt", "content": "Ahoy\n" }),
            ))
            .reply("Done."),
    );
    bench.server.add(Rule::turn("Thank you").reply("Welcome."));
    let failed = bench.run(&["--json", "Greet the crew"]);
    assert_eq!(failed.code, Some(1), "{}", failed.err);
    let waiting = bench.go_on(&bench.last_session(), &["--json"]);
    assert_eq!(waiting.code, Some(2), "{}", waiting.err);
    let done = bench.go_on(&bench.last_session(), &["--json", "--approve", "edits", "Thank you"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let events = [failed, waiting, done].iter().flat_map(|ran| settled(ran.events())).collect();
    (bench, events)
}

#[test]
fn every_event_is_documented_with_a_line_of_a_real_run() {
    let (bench, events) = everything();
    let mut names = Names::default();
    let mut examples = String::new();
    for (seq, wanted) in (1..).zip(KINDS) {
        let mut found = events.iter().filter(|event| kind(event).0 == wanted);
        let event = match wanted {
            // Its last state says more than its first.
            "agent_updated" | "session_updated" | "turn_ended" | "item_completed" => found.next_back(),
            _ => found.next(),
        };
        let event = event.unwrap_or_else(|| panic!("no {wanted} in the run"));
        let line = names.value(&bench, json!({ "seq": seq, "event": event }));
        examples.push_str(&format!("`{wanted}`: {}\n\n```json\n{line}\n```\n\n", kind(event).1));
    }
    let text = std::fs::read_to_string(document()).unwrap();
    let (head, rest) = text.split_once(BEGIN).expect("the place of the examples");
    let (written, tail) = rest.split_once(END).expect("the end of the examples");
    if std::env::var_os("BOSUN_UPDATE_DOCS").is_some() {
        std::fs::write(document(), format!("{head}{BEGIN}{examples}{END}{tail}")).unwrap();
    } else {
        assert_eq!(written, examples, "docs/cli.md is out of date; run this test with BOSUN_UPDATE_DOCS=1");
    }
}

#[test]
fn every_flag_is_documented() {
    let text = std::fs::read_to_string(document()).unwrap();
    let bench = Bench::new();
    let sessions = ["list", "show", "export", "compact", "summary", "undo-summary"].map(|name| ["sessions", name]);
    for command in [&["run"][..], &["tools"]].into_iter().chain(sessions.iter().map(|command| &command[..])) {
        let help = ran(bench.bosun().args(command).arg("--help")).out;
        let flags = help.split_whitespace().filter(|word| word.starts_with("--"));
        for flag in flags.map(|flag| flag.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())) {
            let known = text.contains(&format!("`{flag}")) || matches!(flag, "--help" | "--version");
            assert!(known, "{flag} of {command:?} is not in docs/cli.md");
        }
    }
}
