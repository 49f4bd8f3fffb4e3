//! Subagents that work beside the session, and runs that end before they do.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, of};

fn sends_somebody(bench: &Bench) {
    let begin = json!({ "description": "look around", "subagent_type": "general-purpose" });
    bench
        .server
        .add(Rule::turn("send somebody").reply(Reply::new().and_call("start_async_task", begin)).reply("Sent."));
    bench.server.add(Rule::turn("async_task_notification").reply("They saw a boat."));
}

#[test]
fn what_one_of_them_asks_is_answered_in_another_run() {
    let bench = Bench::new();
    sends_somebody(&bench);
    let look = Reply::new().and_call("execute", json!({ "command": "echo boat > seen.txt" }));
    bench.server.add(Rule::turn("look around").reply(look).reply("There is a boat."));
    let waiting = bench.run(&["send somebody"]);
    assert_eq!((waiting.code, waiting.out.as_str()), (Some(2), "Sent.\n"), "{}", waiting.err);
    let asks = "waits for an approval: execute echo boat > seen.txt (asked by general-purpose)\n";
    assert!(waiting.err.contains(asks), "{}", waiting.err);
    let session = bench.last_session();

    // Looked at again without anyone to ask, it waits on.
    let again = bench.go_on(&session, &[]);
    assert_eq!((again.code, bench.project.exists("seen.txt")), (Some(2), false), "{}", again.err);

    let done = bench.go_on(&session, &["--approve", "all"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "They saw a boat.\n"), "{}", done.err);
    assert_eq!(bench.project.read("seen.txt"), "boat\n");
    assert_eq!(bench.go_on(&session, &[]).code, Some(1), "nothing is open any more");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_while_it_waits_for_them_says_so_and_goes_on_with_them() {
    let bench = Bench::new();
    sends_somebody(&bench);
    bench.server.add(Rule::turn("look around").reply(Reply::text("There is a boat.").and_gate("look")));
    let mut command = bench.run_command(&["--json", "send somebody"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"turn_ended\"")));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    lines.by_ref().for_each(drop);
    let stopped = of(child.wait_with_output().unwrap());
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    let told = "stopped; a subagent was still at work and goes on with the session\n";
    assert!(stopped.err.contains(told), "{}", stopped.err);

    bench.server.gate("look").open();
    let done = bench.go_on(&bench.last_session(), &[]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "They saw a boat.\n"), "{}", done.err);
}
