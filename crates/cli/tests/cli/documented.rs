//! `docs/cli.md` says what the program does: its examples are taken from a run, its flags from the program.
//! With `BOSUN_UPDATE_DOCS=1` the examples are written anew.

use std::collections::BTreeSet;
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

/// The flags of `command` and of the commands below it, as its help has them.
fn flags_of(bench: &Bench, command: &[&str]) -> BTreeSet<String> {
    let help = ran(bench.bosun().args(command).arg("--help")).out;
    // What is said of a flag stands behind or below it.
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let named = lines.filter_map(|line| flags_in(line).next());
    let mut flags: BTreeSet<String> = named.filter(|flag| !matches!(flag.as_str(), "--help" | "--version")).collect();
    for below in commands_in(&help) {
        flags.extend(flags_of(bench, &[command, &[below]].concat()));
    }
    flags
}

/// The names below `Commands:`.
fn commands_in(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help")
}

fn flags_in(text: &str) -> impl Iterator<Item = String> {
    let words = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .filter(|word| word.starts_with("--") && word.len() > 2);
    words.map(str::to_owned)
}

/// Both ways: what there is stands in the part of its command, and what stands there is there.
#[test]
fn every_flag_is_documented_and_every_documented_flag_is_one() {
    let text = std::fs::read_to_string(document()).unwrap();
    let bench = Bench::new();
    let help = ran(bench.bosun().arg("--help")).out;
    let commands: Vec<&str> = commands_in(&help).collect();
    assert!(commands.len() > 8, "{help}");
    for command in commands {
        let (_, part) =
            text.split_once(&format!("\n## bosun {command}\n")).unwrap_or_else(|| panic!("no part for {command}"));
        let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
        let quoted = part.split('`').skip(1).step_by(2);
        let code = part.lines().filter(|line| line.starts_with("    "));
        // What another command is told to do is no flag of this one.
        let own = |text: &&str| !text.starts_with("bosun ") || text.starts_with(&format!("bosun {command}"));
        let documented: BTreeSet<String> = quoted.filter(own).chain(code).flat_map(flags_in).collect();
        assert_eq!(documented, flags_of(&bench, &[command]), "docs/cli.md (left) and the program, of bosun {command}");
    }
}
