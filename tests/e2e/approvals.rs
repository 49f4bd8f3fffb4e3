//! Several questions at once, the question of a subagent, and open ones over a restart.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{answer, ask, at_work, card, card_is_gone, reopen};

fn write(reply: Reply, name: &str) -> Reply {
    reply.and_call("write_file", json!({ "file_path": format!("/{name}.txt"), "content": format!("{name}\n") }))
}

/// Three files in one step.
fn three() -> ModelServer {
    let server = ModelServer::start();
    let files = ["one", "two", "three"].into_iter().fold(Reply::text("Three files."), write);
    server.add(Rule::turn("three files").reply(files).reply("That is all."));
    server
}

fn written(desk: &Desk) -> Vec<&'static str> {
    ["one", "two", "three"].into_iter().filter(|name| desk.project().join(format!("{name}.txt")).exists()).collect()
}

fn together(window: &Window<'_>) {
    window.by_css(".dock input[type=checkbox]").click();
    window.wait_until("return document.querySelector('.sheet') !== null");
}

#[test]
fn several_are_answered_as_one_sheet() {
    let desk = Desk::plan("sheet").set_up();
    let server = three();
    let window = at_work(&desk, &server);
    ask(&window, "Write three files");
    card(&window);
    window.wait_for_text("1 of 3");
    together(&window);
    window.shot("together");
    for button in ["Approve", "Reject", "Approve"] {
        card(&window);
        window.button(button).click();
        if button == "Reject" {
            window.by_css("[role=dialog] textarea").write("One is enough.");
            window.by_css("[role=dialog] button.danger").click();
        }
        assert!(written(&desk).is_empty(), "an answer was carried out before the sheet was sent");
    }
    window.wait_for_text("will be rejected");
    window.shot("answered");
    window.button("Send 3 answers").click();
    window.wait_for_text("That is all.");
    assert_eq!(written(&desk), ["one", "three"]);
    window.shot("done");
}

#[test]
fn several_open_ones_survive_an_end_of_the_app_and_are_answered_one_by_one() {
    let desk = Desk::plan("restart-several").set_up();
    let server = three();
    let window = at_work(&desk, &server);
    ask(&window, "Write three files");
    window.wait_for_text("1 of 3");
    window.crash();
    assert!(written(&desk).is_empty());
    let window = reopen(&desk);
    window.wait_for_text("1 of 3");
    window.shot("again");
    answer(&window, "Approve");
    window.wait_for_text("1 of 2");
    answer(&window, "Approve");
    answer(&window, "Approve");
    window.wait_for_text("That is all.");
    assert_eq!(written(&desk), ["one", "two", "three"]);
    // The model was asked once for the step, and once with its results.
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_subagent_asks_for_itself() {
    let desk = Desk::plan("subagent").set_up();
    let server = ModelServer::start();
    let errand = json!({ "description": "Write down the number of guests", "subagent_type": "general-purpose" });
    server.add(Rule::turn("guests counted").reply(Reply::call("task", errand)).reply("It is written down.")).add(
        Rule::turn("Write down the number")
            .reply(Reply::call("write_file", json!({ "file_path": "/guests.md", "content": "3\n" })))
            .reply("There are 3."),
    );
    let window = at_work(&desk, &server);
    ask(&window, "I want the guests counted");
    card(&window);
    // Its text by WebDriver's rules leaves out what may be cut with an ellipsis.
    let head = window.script("return document.querySelector('[role=dialog] header').textContent", &[]);
    assert!(head.as_str().unwrap().contains("general-purpose"), "{head}");
    window.shot("asked");
    window.by_css("[role=tab]:nth-of-type(2)").click();
    window.shot("agents");
    window.button("Approve").click();
    card_is_gone(&window);
    window.wait_for_text("It is written down.");
    assert_eq!(fs::read_to_string(desk.project().join("guests.md")).unwrap(), "3\n");
    window.shot("done");
}
