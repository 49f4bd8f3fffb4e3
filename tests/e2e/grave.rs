//! What is grave is confirmed in a dialog of the system, beside the page and out of its reach (security.md A23).

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::Desk;
use crate::scene::{ask, at_work, card};

const DIALOG: &str = "Bosun asks you to confirm";

#[test]
fn a_command_without_a_sandbox_runs_when_the_systems_dialog_is_pressed_and_not_before() {
    let desk = Desk::plan("grave").without_keyring().env("BOSUN_CONFIRM", "ask").set_up();
    let server = ModelServer::start();
    let call = Reply::call("execute", json!({ "command": "echo aye > made.txt" }));
    server.add(Rule::turn("make it").reply(call).reply("It is made."));
    let window = at_work(&desk, &server);
    let made = desk.project().join("made.txt");
    ask(&window, "make it");
    card(&window);
    window.button("Approve").click();
    let dialog = desk.wait_for_window(DIALOG);
    desk.picture("asked");
    // A script presses everything there is in the page, and calls the command itself: none of it reaches the dialog.
    window.script(
        "for (const one of document.querySelectorAll('button')) if (/Approve/.test(one.textContent)) one.click()",
        &[],
    );
    assert!(!made.exists());
    desk.press_in(&dialog, "Escape");
    desk.wait_for_no_window(DIALOG);
    window.wait_for_text("not confirmed");
    assert!(!made.exists(), "the person said no");

    card(&window);
    window.button("Approve").click();
    let dialog = desk.wait_for_window(DIALOG);
    // Sooner a yes would not count.
    std::thread::sleep(std::time::Duration::from_millis(600));
    desk.choose_yes_in(&dialog);
    window.wait_for_text("It is made.");
    assert_eq!(std::fs::read_to_string(&made).unwrap(), "aye\n");
    window.close();
}
