//! Servers of tools on the command line, and signing in at them.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use bosun_testkit::{Rule, ToolOffice};
use pretty_assertions::assert_eq;

use crate::bench::{Bench, ran};

fn config(bench: &Bench, office: &ToolOffice) -> String {
    let path = bench.data.path().join("extras.toml");
    let text = format!("[mcp.office]\nurl = \"{}\"\n[mcp.here]\ncommand = \"nothing\"\n", office.url());
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn servers_are_listed_without_being_started() {
    let (bench, office) = (Bench::new(), ToolOffice::start());
    let nothing = ran(bench.bosun().args(["mcp", "list"]));
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), "There are no servers of tools here yet.\n"));
    let listed = ran(bench.bosun().args(["mcp", "list", "--config", &config(&bench, &office)]));
    let address = office.url();
    let expected =
        format!("here                  a program of this machine\noffice                {address}  not signed in\n");
    assert_eq!((listed.code, listed.out), (Some(0), expected), "{}", listed.err);
    assert!(office.asked("/mcp").is_empty());
}

#[test]
fn a_run_says_how_to_sign_in_and_goes_on_without_the_server() {
    let (bench, office) = (Bench::new(), ToolOffice::start());
    let path = bench.data.path().join("extras.toml");
    std::fs::write(&path, format!("[mcp.office]\nurl = \"{}\"\n", office.url())).unwrap();
    bench.server.add(Rule::turn("hello").reply("hello"));
    let ran = bench.run(&["--config", path.to_str().unwrap(), "hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{}", ran.err);
    assert!(ran.err.contains(&format!("bosun mcp sign-in office --config {}", path.display())), "{}", ran.err);
}

#[test]
fn signing_in_shows_the_page_and_says_when_no_keyring_keeps_it() {
    let (bench, office) = (Bench::new(), ToolOffice::start());
    let mut command = bench.bosun();
    command.args(["mcp", "sign-in", "office", "--config", &config(&bench, &office)]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with(&format!("{}/authorize?", office.address)), "{url}");
    assert!(ToolOffice::sign_in(url.trim()).contains("signed in"));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{err}");
    assert!(err.contains("no keyring keeps it"), "{err}");
    assert_eq!(office.asked("/token").len(), 1);
}

#[test]
fn what_is_no_server_or_no_place_to_sign_in_is_said() {
    let (bench, office) = (Bench::new(), ToolOffice::start());
    let config = config(&bench, &office);
    for (server, reason) in [("nobody", "no tool server called 'nobody'"), ("here", "which needs no sign-in")] {
        for what in ["sign-in", "sign-out"] {
            let outcome = ran(bench.bosun().args(["mcp", what, server, "--config", &config]));
            assert!(outcome.sentence().contains(reason), "{}", outcome.err);
        }
    }
}
