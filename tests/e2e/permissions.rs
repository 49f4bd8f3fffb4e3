//! Answers that hold for later: rules made on the card and on a sheet of several, guards that they do not pass, modes,
//! and diagnostics that hold nothing that was said.

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{answer, ask, at_work, card, card_is_gone};

/// Runs one command for each message that names it.
fn runner(commands: &[(&str, &str)]) -> ModelServer {
    let server = ModelServer::start();
    for (words, command) in commands {
        let call = Reply::call("execute", json!({ "command": command }));
        server.add(Rule::turn(*words).reply(call).reply(format!("{words} is done.").as_str()));
    }
    server
}

/// Opens for how long an answer holds, and chooses `scope`, counted from "once".
fn hold(window: &Window<'_>, scope: usize) {
    window.by_css(".answers .scope").click();
    window.by_css(&format!(".scope label:nth-of-type({scope})")).click();
}

#[test]
fn a_rule_for_the_session_passes_the_next_call_and_a_guard_still_asks() {
    let desk = Desk::plan("rule").set_up();
    let server = runner(&[("first", "echo one"), ("second", "echo two"), ("third", "echo three > /dev/null")]);
    let window = at_work(&desk, &server);
    ask(&window, "the first");
    card(&window);
    hold(&window, 2);
    window.field("Commands that pass").clear();
    window.field("Commands that pass").write("echo *");
    window.wait_for_text("Would have answered 1 of 1 past request.");
    window.shot("rehearsed");
    answer(&window, "Approve and let pass");
    window.wait_for_text("first is done.");

    ask(&window, "the second");
    window.wait_for_text("second is done.");
    ask(&window, "the third");
    card(&window);
    window.shot("guarded");
    window.button("Reject").click();
    window.by_css("[role=dialog] button.danger").click();
    card_is_gone(&window);
    window.wait_for_text("third is done.");
    window.press("Control+,");
    window.by_role("tab", "Permissions").click();
    window.wait_for_text("echo *");
    window.shot("rules");
    window.button("Remove the rule “echo *”").click();
    window.wait_until_gone("echo *");
}

#[test]
fn several_answers_each_hold_as_long_as_chosen_on_their_sheet() {
    let desk = Desk::plan("sheet-rules").set_up();
    let server = ModelServer::start();
    let both = ["echo one", "echo two"]
        .into_iter()
        .fold(Reply::text("Two commands."), |reply, line| reply.and_call("execute", json!({ "command": line })));
    server.add(Rule::turn("both").reply(both).reply("Both ran."));
    server.add(
        Rule::turn("again").reply(Reply::call("execute", json!({ "command": "echo two" }))).reply("It ran again."),
    );
    let window = at_work(&desk, &server);
    ask(&window, "both");
    card(&window);
    window.by_css(".dock input[type=checkbox]").click();
    window.wait_until("return document.querySelector('.sheet') !== null");
    window.button("Approve").click();
    card(&window);
    hold(&window, 3);
    window.wait_for_text("Would have answered");
    window.button("Approve and let pass").click();
    window.wait_for_text("will be approved · This project");
    window.shot("answered");
    window.button("Send 2 answers").click();
    window.wait_for_text("Both ran.");
    ask(&window, "again");
    window.wait_for_text("It ran again.");
}

#[test]
fn a_mode_lets_edits_pass_or_refuses_every_change() {
    let desk = Desk::plan("modes").set_up();
    let server = ModelServer::start();
    for name in ["one", "two"] {
        let call = Reply::call("write_file", json!({ "file_path": format!("/{name}.txt"), "content": "x\n" }));
        server.add(Rule::turn(name).reply(call).reply(format!("{name}: that is all.").as_str()));
    }
    let window = at_work(&desk, &server);
    let choose = |mode: &'static str| {
        window.by_css(".chip.mode").click();
        window.by_role("menuitemradio", mode).click();
        window.wait_until("return document.querySelector('.menu') === null");
    };
    choose("Edit freely in the project");
    ask(&window, "one");
    window.wait_for_text("one: that is all.");
    assert!(desk.project().join("one.txt").exists(), "an edit asked although edits pass");
    choose("Plan only");
    window.shot("plan-only");
    ask(&window, "two");
    window.wait_for_text("two: that is all.");
    assert!(!desk.project().join("two.txt").exists(), "a change was made although only planning was asked for");
}

#[test]
fn diagnostics_are_looked_at_before_they_are_saved_and_hold_nothing_that_was_said() {
    let desk = Desk::plan("diagnostics").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("canary").reply("Noted."));
    let window = at_work(&desk, &server);
    ask(&window, "a canary in the tower");
    window.wait_for_text("Noted.");
    window.press("Control+,");
    window.by_role("tab", "Data and privacy").click();
    window.wait_for_text("No telemetry");
    window.button("Preview").click();
    window.wait_until("return document.querySelector('.settings pre') !== null");
    window.shot("preview");
    let text = window.by_css(".settings pre").text();
    assert!(text.contains("Bosun") && !text.contains("canary") && !text.contains("Noted."), "{text}");
    let out = desk.home().join("out");
    std::fs::create_dir(&out).unwrap();
    desk.pick(&out);
    window.button("Write it as a file…").click();
    window.wait_for_text("Written to");
    let written = std::fs::read_dir(&out).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    assert!(written.into_iter().all(|written| written.contains("Bosun") && !written.contains("canary")));
}
