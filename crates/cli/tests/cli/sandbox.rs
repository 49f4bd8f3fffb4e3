//! Commands of a run in a sandbox of this machine: `bosun run --sandbox`, and `commands` of a declaration.

use bosun_testkit::{Reply, Rule, is_here, missing};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::Bench;

/// A bench on which a command tries to write beside the project; `None` without bubblewrap.
fn trying() -> Option<Bench> {
    if !is_here("bwrap") {
        return missing("bubblewrap", "apt-get install bubblewrap");
    }
    let bench = Bench::new();
    let line = format!("echo x > {}/beside; echo made > made", bench.data.path().display());
    let tries = Reply::new().and_call("execute", json!({ "command": line }));
    bench.server.add(Rule::turn("try").reply(tries).reply("Tried."));
    Some(bench)
}

/// Whether what was tried came to be: in the project, and beside it.
fn made(bench: &Bench) -> (bool, bool) {
    (bench.project.root().join("made").exists(), bench.data.path().join("beside").exists())
}

#[test]
fn commands_run_in_a_sandbox_where_the_run_says_so() {
    let Some(bench) = trying() else { return };
    let ran = bench.run(&["--sandbox", "--approve", "all", "try"]);
    assert_eq!((ran.code, made(&bench)), (Some(0), (true, false)), "{}", ran.err);
    let told = bench.server.requests()[0].asked().system;
    assert!(told.contains("Commands run in a sandbox: it can change the project and nothing else"), "{told}");
    let ran = bench.run(&["--approve", "all", "try"]);
    assert_eq!((ran.code, made(&bench)), (Some(0), (true, true)), "{}: only where it is said", ran.err);
}

#[test]
fn a_session_goes_on_in_the_sandbox_it_was_begun_in() {
    let Some(bench) = trying() else { return };
    let waiting = bench.run(&["--sandbox", "try"]);
    assert_eq!((waiting.code, made(&bench)), (Some(2), (false, false)), "{}: it asks all the same", waiting.err);
    let done = bench.go_on(&bench.last_session(), &["--approve", "all"]);
    assert_eq!((done.code, made(&bench)), (Some(0), (true, false)), "{}", done.err);
}

#[test]
fn a_declaration_puts_commands_into_a_sandbox() {
    let Some(bench) = trying() else { return };
    let file = bench.data.path().join("agent.toml");
    std::fs::write(&file, "[backend]\ncommands = \"sandbox\"\n").unwrap();
    let agent = ["--agent", file.to_str().unwrap()];
    let ran = bench.run(&[&agent[..], &["--approve", "all", "try"]].concat());
    assert_eq!((ran.code, made(&bench)), (Some(0), (true, false)), "{}", ran.err);
    std::fs::write(&file, "[backend]\ndefault = \"state\"\ncommands = \"sandbox\"\n").unwrap();
    let refused = bench.run(&[&agent[..], &["try"]].concat());
    assert!(
        refused.sentence().contains("elsewhere there is none to put a sandbox around; leave it out"),
        "{}",
        refused.err
    );
}
