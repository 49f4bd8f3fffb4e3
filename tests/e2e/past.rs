//! Looking back: any place of a session as it was, another way from there, going back with files and returning.

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{answer, ask, at_work, pane};

/// Writes a file for each of two messages.
fn two_files() -> ModelServer {
    let server = ModelServer::start();
    for name in ["one", "two"] {
        let call = Reply::call("write_file", json!({ "file_path": format!("/{name}.txt"), "content": name }));
        server.add(Rule::turn(format!("file {name}")).reply(call).reply(format!("{name} is written.").as_str()));
    }
    server.add(Rule::turn("limerick").reply("There was an old man."));
    server
}

fn worked<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    let window = at_work(desk, server);
    for name in ["one", "two"] {
        ask(&window, &format!("Write the file {name}"));
        answer(&window, "Approve");
        window.wait_for_text(&format!("{name} is written."));
    }
    window
}

fn there(desk: &Desk) -> Vec<&'static str> {
    ["one", "two"].into_iter().filter(|name| desk.project().join(format!("{name}.txt")).exists()).collect()
}

/// Opens what can be done with the place where the second turn begins, and chooses one of it.
fn at_second_turn(window: &Window<'_>, choice: &'static str) {
    pane(window, "Timeline");
    window.button("More for “Write the file two”").click();
    window.by_role("menuitem", choice).click();
}

#[test]
fn a_place_is_looked_at_gone_back_to_with_its_files_and_returned_from() {
    let desk = Desk::plan("rewind").set_up();
    let server = two_files();
    let window = worked(&desk, &server);
    at_second_turn(&window, "View as it was");
    window.by_css(".past .talk");
    window.wait_for_text("Nothing can be changed here.");
    let past = window.by_css(".past").text();
    assert!(past.contains("one is written.") && !past.contains("two is written."), "{past}");
    window.shot("past");
    window.press("Escape");

    at_second_turn(&window, "Rewind to here…");
    window.wait_for_text("would be restored");
    window.shot("preview");
    assert_eq!(there(&desk), ["one", "two"], "the preview did something");
    window.by_css("[role=dialog] footer .btn.primary").click();
    window.wait_until_gone("two is written.");
    assert_eq!(there(&desk), ["one"]);
    window.shot("back");
    window.button("Undo last rewind").click();
    window.wait_for_text("two is written.");
    assert_eq!(there(&desk), ["one", "two"]);
    window.by_css(".pane .top label:nth-of-type(2)").click();
    window.wait_for_text("you approved");
    window.shot("ledger");
}

#[test]
fn another_way_from_an_earlier_place_leaves_the_first_session_as_it_is() {
    let desk = Desk::plan("fork").set_up();
    let server = two_files();
    let window = worked(&desk, &server);
    at_second_turn(&window, "Fork from here");
    window.wait_until_gone("two is written.");
    ask(&window, "Write a limerick instead");
    window.wait_for_text("There was an old man.");
    window.shot("forked");
    // The session before it in the list is the first one, whole.
    window.press("Control+2");
    window.wait_for_text("two is written.");
    assert!(!window.text().contains("There was an old man."));
}

#[test]
fn a_message_is_said_differently_in_a_session_of_its_own() {
    let desk = Desk::plan("edit-message").set_up();
    let server = two_files();
    let window = worked(&desk, &server);
    window.script(
        "const all = document.querySelectorAll('[aria-label=\"Edit it in a new session\"]');
         [...all].at(-1).click()",
        &[],
    );
    let field = window.field("The message in other words");
    window.wait_until("return document.activeElement.value === 'Write the file two'");
    field.clear();
    field.write("Write a limerick");
    window.button("Send in a new session").click();
    window.wait_until_gone("two is written.");
    window.wait_for_text("There was an old man.");
    assert_eq!(there(&desk), ["one", "two"], "saying something differently touched files");
}
