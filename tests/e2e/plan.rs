//! The plan as a board: followed, added to, reworded, moved and dropped, and the agent is told.

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::Desk;
use crate::scene::{ask, at_work, told, type_in};

#[test]
fn a_person_changes_the_plan_on_the_board_and_the_agent_is_told() {
    let desk = Desk::plan("board").set_up();
    let server = ModelServer::start();
    let todos = json!({ "todos": [
        { "content": "Read the greeting", "status": "in_progress" },
        { "content": "Write a test", "status": "pending" },
        { "content": "Note it in the README", "status": "pending" },
    ] });
    server.add(
        Rule::turn("plan it")
            .reply(Reply::call("write_todos", todos).and_call("read_file", json!({ "file_path": "/greet.py" })))
            .reply("Planned."),
    );
    server.add(Rule::turn("go on").reply("I saw the plan."));
    let window = at_work(&desk, &server);
    ask(&window, "plan it");
    window.wait_for_text("Planned.");
    window.wait_for_text("0 of 3 done");
    window.button("Open as a board").click();
    window.wait_until("return document.querySelectorAll('.board section').length === 3");
    window.by_css(".board").field("Add a to-do…").write("Ask about umlauts");
    window.press("Enter");
    window.wait_for_text("Ask about umlauts");
    let choose = |todo: &str, what: &'static str| {
        window.by_css(".board").button(&format!("More for “{todo}”")).click();
        window.by_role("menuitem", what).click();
        window.wait_until("return document.querySelector('.menu') === null");
    };
    choose("Ask about umlauts", "Move up in the plan");
    choose("Write a test", "Edit the text");
    window.by_css(".board").field("Text of the to-do");
    window.press("Control+a");
    type_in(&window, "Write two tests");
    window.press("Enter");
    window.wait_for_text("Write two tests");
    choose("Note it in the README", "Remove from the plan");
    window.wait_until_gone("Note it in the README");
    window.shot("board");
    window.press("Escape");
    window.wait_until("return document.querySelector('.board') === null");
    ask(&window, "go on");
    window.wait_for_text("I saw the plan.");
    let asked = told(&server);
    for words in ["Ask about umlauts", "Write two tests"] {
        assert!(asked.contains(words), "the agent is not told of {words:?}");
    }
    // The work of one todo alone.
    window.by_css(".pane .open").click();
    window.wait_for_text("Only what was done for “Read the greeting”");
    window.shot("filtered");
}
