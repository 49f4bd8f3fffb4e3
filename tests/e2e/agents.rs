//! Subagents in their pane, and the kinds of them in settings; where commands run; what is written and not sent.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{answer, ask, at_work, card, pane, reopen, told};

fn settings(window: &Window<'_>, section: &'static str) {
    window.button("Settings").click();
    window.by_role("tab", section).click();
}

fn shut(window: &Window<'_>) {
    window.press("Escape");
    window.wait_until("return document.querySelector('.dialog') === null");
}

#[test]
fn of_two_subagents_one_is_stopped_and_the_other_answered_in_the_pane_of_agents() {
    let desk = Desk::plan("agents-pane").set_up();
    let server = ModelServer::start();
    let errand = |what: &str| json!({ "description": what, "subagent_type": "general-purpose" });
    let writes = |path: &str| Reply::call("write_file", json!({ "file_path": path, "content": "3\n" }));
    server.add(
        Rule::turn("count everything")
            .reply(Reply::call("task", errand("Count the guests")).and_call("task", errand("Count the chairs")))
            .reply("All is counted."),
    );
    server.add(Rule::turn("Count the guests").reply(writes("/guests.md")).reply("Guests are counted."));
    server.add(Rule::turn("Count the chairs").reply(writes("/chairs.md")).reply("Chairs are counted."));
    let window = at_work(&desk, &server);
    ask(&window, "count everything");
    pane(&window, "Agents");
    let agent = |words: &str| {
        format!(
            "[...document.querySelectorAll('[role=group] [role=treeitem]')].find((one) => one.textContent.includes('{words}'))"
        )
    };
    // Both wait, under the agent that sent them.
    window.wait_until(
        "const all = [...document.querySelectorAll('[role=tree] [role=group] [role=treeitem]')];
         return all.length === 2 && all.every((one) => one.textContent.includes('waiting for you'))",
    );
    window.shot("tree");
    window.script(&format!("{}.click()", agent("Count the chairs")), &[]);
    window.wait_until("return document.querySelector('.detail header').textContent.includes('Count the chairs')");
    window.button("Stop general-purpose").click();
    window.wait_until(&format!("return {}.textContent.includes('cancelled')", agent("Count the chairs")));
    assert!(!desk.project().join("chairs.md").exists());

    window.script(&format!("{}.click()", agent("Count the guests")), &[]);
    window.wait_until("return document.querySelector('.detail [role=dialog]')?.textContent.includes('guests.md')");
    card(&window);
    window.by_css(".detail").button("Approve").click();
    window.wait_for_text("All is counted.");
    window.wait_until(&format!("return {}.textContent.includes('done')", agent("Count the guests")));
    window.shot("done");
    assert_eq!(fs::read_to_string(desk.project().join("guests.md")).unwrap(), "3\n");
    assert!(!desk.project().join("chairs.md").exists(), "who was stopped wrote all the same");
    let last = told(&server);
    assert!(last.contains("Guests are counted.") && !last.contains("Chairs are counted."), "{last}");
}

#[test]
fn commands_run_where_the_switch_of_the_sandbox_says() {
    let desk = Desk::plan("sandbox-switch").set_up();
    let server = ModelServer::start();
    let outside = desk.home().join("outside.txt");
    let line = |name: &str| format!("echo {name} > {name}.txt; echo {name} >> '{}'", outside.display());
    for name in ["held", "free"] {
        let call = Reply::call("execute", json!({ "command": line(name) }));
        server.add(Rule::turn(format!("make it {name}")).reply(call).reply(format!("It is {name}.").as_str()));
    }
    let window = at_work(&desk, &server);
    window.wait_for_text("Sandbox: off, asks");
    let name = desk.project().file_name().unwrap().to_string_lossy().into_owned();
    let turn = || {
        settings(&window, "Sandbox");
        window.by_css(".settings").by_label(&name).click();
    };
    turn();
    window.wait_for_text("In the sandbox");
    window.shot("on");
    shut(&window);
    window.wait_for_text("Sandbox: on");
    ask(&window, "make it held");
    answer(&window, "Approve");
    window.wait_for_text("It is held.");
    assert_eq!(fs::read_to_string(desk.project().join("held.txt")).unwrap(), "held\n");
    assert!(!outside.exists(), "a command in the sandbox wrote outside of the project");

    turn();
    window.wait_for_text("With your rights");
    shut(&window);
    window.wait_for_text("Sandbox: off, asks");
    ask(&window, "make it free");
    answer(&window, "Approve");
    window.wait_for_text("It is free.");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "free\n");
}

#[test]
fn a_kind_of_subagent_is_written_in_settings_sent_switched_off_and_brought_back() {
    let desk = Desk::plan("subagent-editor").set_up();
    let server = ModelServer::start();
    let errand = json!({ "description": "Count the lines", "subagent_type": "counter" });
    server.add(Rule::turn("send it").reply(Reply::call("task", errand)).reply("It was sent."));
    server.add(Rule::turn("Count the lines").reply("There are five."));
    server.add(Rule::turn("another").reply("Another one."));
    let window = at_work(&desk, &server);
    settings(&window, "Subagents");
    window.button("New subagent").click();
    window.field("Name").write("counter");
    window.field("When should it be sent?").write("To count anything");
    window.field("Its instructions").write("Count twice.");
    // What is begun is there again after the dialog was shut.
    shut(&window);
    window.wait_for_text("not saved");
    settings(&window, "Subagents");
    window.button("New subagent").click();
    assert_eq!(window.field("Name").value(), "counter");
    assert_eq!(window.field("Its instructions").value(), "Count twice.");
    window.shot("editor");
    window.button("Save").click();
    window.wait_for_text("To count anything");
    shut(&window);

    ask(&window, "send it");
    window.wait_for_text("It was sent.");
    let asked: Vec<String> =
        server.requests().iter().map(|one| String::from_utf8_lossy(&one.body).into_owned()).collect();
    assert!(asked.iter().any(|one| one.contains("Count twice.")), "its instructions are not told to it");

    settings(&window, "Subagents");
    window.by_role("checkbox", "May be sent: counter").click();
    window.wait_until("return [...document.querySelectorAll('.settings .badge')].some((one) => one.textContent)");
    window.button("Edit").click();
    window.button("Delete").click();
    window.wait_for_text("Deleted “counter”");
    window.button("Bring back").click();
    window.wait_for_text("To count anything");
    window.shot("back");
    shut(&window);
}

#[test]
fn what_is_written_and_not_sent_is_there_after_a_restart() {
    let desk = Desk::plan("draft").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("first").reply("That was the first."));
    let window = at_work(&desk, &server);
    ask(&window, "first");
    window.wait_for_text("That was the first.");
    let draft = "half a thought,\nwith a second line";
    window.field("Message").write("half a thought,");
    window.press("Shift+Enter");
    crate::scene::type_in(&window, "with a second line");
    window.wait_until("return localStorage.getItem('bosun.drafts')?.includes('second line') === true");
    window.close();
    let window = reopen(&desk);
    window.wait_for_text("That was the first.");
    assert_eq!(window.field("Message").value(), draft);
    // It belongs to its session.
    window.press("Control+n");
    window.wait_for_text("What should be done?");
    assert_eq!(window.field("Message").value(), "");
}
