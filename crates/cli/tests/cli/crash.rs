//! `kill -9` in the middle of a turn: another run goes on, and nothing that was done is done again.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use bosun_protocol::{SessionStatus, ToolState};
use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::bench::{Bench, ran};

const STEPS: usize = 12;

/// Steps that each write a file of their own and append a line to a log. The model waits before each.
fn script() -> Rule {
    let step = |rule: Rule, n: usize| {
        rule.reply(
            Reply::new()
                .and_gate(n.to_string())
                .and_text(format!("step {n}"))
                .and_call("write_file", json!({ "file_path": format!("/{n}.txt"), "content": format!("{n}\n") }))
                .and_call("execute", json!({ "command": format!("echo {n} >> log.txt") })),
        )
    };
    (0..STEPS).fold(Rule::turn("work"), step).reply(Reply::new().and_gate(STEPS.to_string()).and_text("all done"))
}

fn spawn(bench: &Bench, first: bool) -> Child {
    let mut command = if first {
        bench.run_command(&["--approve", "all", "work"])
    } else {
        let mut command = bench.bosun();
        command.args(["run", "--approve", "all", "--session", bench.last_session().as_str()]);
        command
    };
    command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Waits for something that another process brings about.
fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The rows of the session's calls: name, state, output.
fn rows(bench: &Bench) -> Vec<(String, ToolState, String)> {
    let exported = ran(bench.bosun().args(["sessions", "export", bench.last_session().as_str(), "--format", "json"]));
    let archive: Value = serde_json::from_str(&exported.out).unwrap();
    let items = archive["items"].as_array().unwrap().iter().map(|item| &item["body"]);
    let tools = items.filter(|body| body["kind"] == "tool");
    tools
        .map(|body| {
            let state = serde_json::from_value(body["state"].clone()).unwrap();
            (body["name"].as_str().unwrap().to_owned(), state, body["output"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_a_turn_still_ends_with_everything_done_once() {
    let bench = Bench::new();
    bench.server.add(script());
    for step in 0..STEPS {
        let mut child = spawn(&bench, step == 0);
        let gate = bench.server.gate(&step.to_string());
        let reached = tokio::time::timeout(Duration::from_secs(60), gate.reached()).await;
        assert!(reached.is_ok(), "step {step} was not reached; the run: {:?}", child.try_wait());
        gate.open();
        // The delays walk through what follows: a reply, two intents, two effects, two results, the next model call.
        std::thread::sleep(Duration::from_millis(step as u64 * 4));
        child.kill().unwrap();
        child.wait().unwrap();
        // A command that is just being started has what its parent had open for a moment longer, the session's claim too.
        wait_for("the end of the run", || bench.sessions()[0].status == SessionStatus::Interrupted);
    }
    bench.server.gate(&STEPS.to_string()).open();
    let last = bench.go_on(&bench.last_session(), &["--approve", "all"]);
    assert_eq!((last.code, last.out.ends_with("all done\n")), (Some(0), true), "{}", last.err);
    for n in 0..STEPS {
        assert_eq!(bench.project.read(&format!("{n}.txt")), format!("{n}\n"));
    }
    let log = if bench.project.exists("log.txt") { bench.project.read("log.txt") } else { String::new() };
    let mut lines: Vec<usize> = log.lines().map(|line| line.parse().unwrap()).collect();
    let rows = rows(&bench);
    let commands: Vec<_> = rows.iter().filter(|(name, ..)| name == "execute").collect();
    assert_eq!((rows.len(), commands.len()), (STEPS * 2, STEPS), "every call stands there once");
    for (n, (_, state, output)) in commands.iter().enumerate() {
        match state {
            ToolState::Done => assert!(lines.contains(&n), "{n} was recorded as done"),
            ToolState::Unknown => assert!(output.contains("was not run again"), "{output}"),
            other => panic!("command {n} is {other:?}: {output}"),
        }
    }
    let before = lines.len();
    lines.dedup();
    assert_eq!(lines.len(), before, "a command ran twice: {log}");
    assert!(lines.is_sorted());
}

#[test]
fn a_command_that_ran_when_the_program_died_is_not_run_again() {
    let bench = Bench::new();
    bench.server.add(
        Rule::turn("work")
            .reply(Reply::call(
                "execute",
                json!({ "command": "echo begun >> log.txt; sleep 30; echo ended >> log.txt" }),
            ))
            .reply("looked"),
    );
    let mut child = spawn(&bench, true);
    wait_for("the command", || bench.project.exists("log.txt"));
    child.kill().unwrap();
    child.wait().unwrap();
    let went_on = bench.go_on(&bench.last_session(), &["--approve", "all"]);
    assert_eq!((went_on.code, went_on.out.as_str()), (Some(0), "looked\n"), "{}", went_on.err);
    assert!(went_on.err.contains("outcome unknown"), "{}", went_on.err);
    assert_eq!(bench.project.read("log.txt"), "begun\n");
    assert!(bench.server.requests()[1].asked().last().contains("was not run again"));
}

#[test]
fn text_that_was_shown_is_not_lost_with_the_program() {
    let bench = Bench::new();
    bench.server.once(Reply::text("a whole second of text").and_gate("never")).once("again");
    let mut child = spawn(&bench, true);
    let shown = || {
        let exported = ran(bench.bosun().args(["sessions", "list", "--format", "json"]));
        exported.out.contains("work")
    };
    wait_for("the session", shown);
    wait_for("the model call", || !bench.server.requests().is_empty());
    // Drafts are kept once a second.
    std::thread::sleep(Duration::from_millis(1_500));
    child.kill().unwrap();
    child.wait().unwrap();
    let session = bench.last_session();
    let exported = ran(bench.bosun().args(["sessions", "export", session.as_str()]));
    assert!(exported.out.contains("a whole second of text"), "{}", exported.out);
    assert_eq!(bench.go_on(&session, &[]).out, "again\n");
    bench.server.gate("never").open();
}
