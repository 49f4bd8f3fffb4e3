//! What a command did to files is gone through, place by place, and undone; files of the session are looked at.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::Desk;
use crate::scene::{answer, ask, at_work};

const COMMAND: &str =
    "sed -i -e 's/^2$/two/' -e 's/^19$/nineteen/' numbers.txt && mkdir notes && echo made > notes/new.txt";

fn counting() -> ModelServer {
    let server = ModelServer::start();
    let call = Reply::call("execute", json!({ "command": COMMAND }));
    server.add(Rule::turn("numbers").reply(call).reply("The numbers are words now."));
    server
}

#[test]
fn what_a_command_changed_is_undone_in_one_place_and_kept_in_the_other() {
    let desk = Desk::plan("files").set_up();
    let server = counting();
    let window = at_work(&desk, &server);
    let numbers = desk.project().join("numbers.txt");
    let twenty: String = (1..=20).map(|number| format!("{number}\n")).collect();
    fs::write(&numbers, &twenty).unwrap();
    ask(&window, "Write the numbers as words");
    answer(&window, "Approve");
    window.wait_for_text("The numbers are words now.");

    window.by_css("[role=tab]:nth-of-type(3)").click();
    window.by_css("ul[aria-label='Changed files'] li:nth-child(2) button").click();
    window.wait_for_text("Changed by a command:");
    window.shot("changes");
    window.button("Undo change 1").click();
    window.wait_for_text("1 file was put back.");
    assert_eq!(fs::read_to_string(&numbers).unwrap(), twenty.replace("19", "nineteen"));
    window.button("Keep the changes to numbers.txt").click();
    window.wait_until("return document.querySelector('.badge.good') !== null");
    window.shot("kept");

    // What a person does to the file beside it is noticed, and shown apart.
    fs::write(&numbers, twenty.replace("19", "nineteen").replace("10\n", "ten\n")).unwrap();
    window.wait_for_text("Changed since, by you or another program");
    window.shot("since");

    // Over that the agent's version comes back, and what was there again over it.
    let mine = fs::read_to_string(&numbers).unwrap();
    window.button("Restore the agent’s version of numbers.txt").click();
    window.wait_for_text("The agent’s version of 1 file is back; what was there is kept.");
    assert_eq!(fs::read_to_string(&numbers).unwrap(), twenty.replace("19", "nineteen"));
    window.shot("restored");
    window.button("Bring that back").click();
    window.wait_for_text("Changed since, by you or another program");
    assert_eq!(fs::read_to_string(&numbers).unwrap(), mine);
}

#[test]
fn files_are_looked_at_and_new_ones_appear_by_themselves() {
    let desk = Desk::plan("look").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("hello").reply("Hello yourself."));
    let window = at_work(&desk, &server);
    ask(&window, "Say hello");
    window.wait_for_text("Hello yourself.");
    window.by_css("[role=tab]:nth-of-type(4)").click();
    window.wait_for_text("large_tool_results");
    window.wait_until(
        "const row = [...document.querySelectorAll('[role=treeitem]')].find((row) => row.innerText.includes('README.md'));
         row?.click();
         return row !== undefined",
    );
    window.wait_until("return document.querySelector('.md h2')?.innerText === 'Greeter'");
    window.by_css("label:has(input[value=source])").click();
    window.wait_for_text("# Greeter");
    fs::write(desk.project().join("fresh.txt"), "new").unwrap();
    window.wait_for_text("fresh.txt");
    window.shot("tree");
}
