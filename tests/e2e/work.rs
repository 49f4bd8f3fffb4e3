//! The paths a person takes through the main job: ask, approve, edit, answer, refuse, stop, come back to an open question.

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, PATIENCE, running_with, wait};
use crate::scene::{answer, ask, at_work, card, reopen};

fn edit(new: &str) -> Reply {
    Reply::text("The greeting is built by hand; an f-string is clearer.").and_call_with_id(
        "edit",
        "edit_file",
        json!({"file_path": "/greet.py", "old_string": "    print(\"Hello \" + name)", "new_string": new}),
    )
}

/// The story that most scenarios share: plan, look, edit, say.
pub fn story() -> ModelServer {
    story_that_ends("Done: `greet.py` uses an f-string now.")
}

fn story_that_ends(words: &str) -> ModelServer {
    let server = ModelServer::start();
    server.add(
        Rule::turn("greeting")
            .reply(
                Reply::text("I will look at the greeting first.")
                    .and_call_with_id(
                        "plan",
                        "write_todos",
                        json!({"todos": [
                            {"content": "Read greet.py", "status": "in_progress"},
                            {"content": "Use an f-string", "status": "pending"}
                        ]}),
                    )
                    .and_call_with_id("look", "read_file", json!({"file_path": "/greet.py"})),
            )
            .reply(edit("    print(f\"Hello, {name}!\")"))
            .reply(words),
    );
    server
}

fn greeting(desk: &Desk) -> String {
    std::fs::read_to_string(desk.project().join("greet.py")).unwrap()
}

#[test]
fn an_edit_is_asked_for_approved_and_on_disk() {
    let desk = Desk::plan("approve").set_up();
    let server = story();
    let window = at_work(&desk, &server);
    window.shot("empty");
    ask(&window, "Make the greeting clearer");
    card(&window);
    window.shot("asked");
    assert!(greeting(&desk).contains("\"Hello \" + name"), "nothing may change before the answer");
    answer(&window, "Approve");
    window.wait_for_text("uses an f-string now");
    window.shot("done");
    assert!(greeting(&desk).contains("f\"Hello, {name}!\""), "{}", greeting(&desk));
}

#[test]
fn a_call_can_be_edited_answered_and_refused() {
    for (name, button, ending, read) in [
        ("edit", "Edit…", "Done, with your words in it.", "The user changed this call before it ran"),
        ("respond", "Respond…", "Then it stays as it is.", "Leave it as it is."),
        ("reject", "Reject", "You refused it, so nothing was changed.", "The user rejected"),
    ] {
        let desk = Desk::plan(name).set_up();
        let server = story_that_ends(ending);
        let window = at_work(&desk, &server);
        ask(&window, "Make the greeting clearer");
        card(&window);
        window.button(button).click();
        window.shot("opened");
        match name {
            "edit" => {
                let field = window.field("new_string");
                field.clear();
                field.write("    print(\"Hi \" + name)");
                window.shot("filled");
                window.button("Run as edited").click();
            }
            "respond" => {
                window.by_css("[role=dialog] textarea").write("Leave it as it is.");
                window.button("Send answer").click();
            }
            _ => window.by_css("[role=dialog] button.danger").click(),
        }
        window.wait_for_text(ending);
        window.shot("after");
        let told = server.requests().last().unwrap().asked().last().to_owned();
        assert!(told.contains(read), "{name}: the model read {told}");
        let changed = greeting(&desk).contains("Hi ");
        assert_eq!(changed, name == "edit", "{name}: {}", greeting(&desk));
    }
}

#[test]
fn an_open_question_is_there_again_after_a_restart() {
    let desk = Desk::plan("restart").set_up();
    let server = story();
    let window = at_work(&desk, &server);
    ask(&window, "Make the greeting clearer");
    window.wait_for_text("asked because");
    window.crash();
    let window = reopen(&desk);
    card(&window);
    window.shot("again");
    answer(&window, "Approve");
    window.wait_for_text("uses an f-string now");
    assert!(greeting(&desk).contains("f\"Hello, {name}!\""));
}

#[test]
fn a_turn_can_be_stopped() {
    let desk = Desk::plan("stop").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("wait").reply(Reply::text("I begin").and_gate("never")));
    // A time that no other process of this machine sleeps for.
    let time = format!("600.{}", std::process::id());
    let command = json!({ "command": format!("sleep {time}; touch late.txt") });
    server.add(Rule::turn("sleep").reply(Reply::call("execute", command)));
    let window = at_work(&desk, &server);
    ask(&window, "wait for it");
    window.wait_for_text("I begin");
    window.button("Stop").click();
    window.wait_for_text("You stopped the turn.");
    window.shot("stopped");
    server.gate("never").open();

    // A command ends with the turn that ran it.
    ask(&window, "sleep for a while");
    answer(&window, "Approve");
    assert!(wait(PATIENCE, || running_with(&time).then_some(())).is_some(), "the command never ran");
    window.wait_for_text("Running sleep");
    window.shot("running");
    window.button("Stop").click();
    // Nothing went wrong, so the row is shut; what came until then is in it.
    window.wait_for_text("· stopped");
    window.button("Ran sleep").click();
    window.wait_for_text("It was stopped before it finished.");
    assert!(!window.text().contains("Command was stopped"), "words for the model");
    window.wait_until("return document.body.innerText.split('You stopped the turn.').length === 3");
    window.shot("stopped-command");
    assert!(window.text().contains("You approved it.") && !window.text().contains("Running sleep"));
    assert!(wait(PATIENCE, || (!running_with(&time)).then_some(())).is_some(), "the command goes on");
    assert!(!desk.project().join("late.txt").exists(), "what came after it was done");
}
