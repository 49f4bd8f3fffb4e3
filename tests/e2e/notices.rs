//! The desktop tells a person who looks elsewhere what a session came to, and a press leads there.

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Notices};
use crate::scene::{answer, ask, at_work, card};

#[test]
fn a_session_that_needs_someone_is_told_and_a_press_leads_to_its_request() {
    let desk = Desk::plan("notices").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    let call = Reply::call("write_file", json!({ "file_path": "/hello.txt", "content": "hello\n" }));
    server.add(Rule::turn("say <b>hello</b>").reply(call).reply("It is written."));
    let window = at_work(&desk, &server);
    desk.look_away();
    ask(&window, "say <b>hello</b>");
    card(&window);
    let asked = notices.wait_for(1);
    notices.wait_for_badge(1);
    assert_eq!((asked.summary.as_str(), asked.body.as_str()), ("Needs you", "say &lt;b&gt;hello&lt;/b&gt;"));
    assert_eq!((asked.actions[0].as_str(), asked.entry.as_str(), asked.replaces), ("default", "Bosun", 0));

    // The person was somewhere else in the window; the press leads to the request and decides nothing.
    window.button("New session").click();
    window.wait_for_text("What should be done?");
    window.wait_until("return document.querySelector('.log') === null");
    notices.press(asked.id);
    card(&window);
    window.shot("led-there");
    assert!(!desk.project().join("hello.txt").exists());

    desk.look_away();
    answer(&window, "Approve");
    window.wait_for_text("It is written.");
    notices.wait_for_badge(0);
    let done = notices.wait_for(2);
    assert_eq!((done.summary.as_str(), done.replaces), ("Done", 0), "the first is gone with its press");
    window.close();
}

#[test]
fn who_looks_at_the_window_or_wants_quiet_is_told_nothing() {
    let desk = Desk::plan("notices-quiet").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    server.add(Rule::turn("hello").reply("Hello yourself."));
    server.add(Rule::turn("again").reply("And again."));
    let window = at_work(&desk, &server);
    desk.look_at_window();
    ask(&window, "hello");
    window.wait_for_text("Hello yourself.");
    desk.look_away();
    ask(&window, "again");
    window.wait_for_text("And again.");
    assert_eq!(notices.wait_for(1).summary, "Done");
    assert_eq!(notices.count(), 1, "the first was seen as it came");
}

#[test]
fn a_session_that_another_one_hides_is_told_of_also_in_front() {
    let desk = Desk::plan("notices-hidden").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    server.add(Rule::turn("slowly").reply(Reply::text("I begin").and_gate("end").and_text(" and I end.")));
    let window = at_work(&desk, &server);
    desk.look_at_window();
    ask(&window, "slowly");
    window.wait_for_text("I begin");
    window.button("New session").click();
    window.wait_for_text("What should be done?");
    window.wait_until("return document.querySelector('.log') === null");
    server.gate("end").open();
    assert_eq!(notices.wait_for(1).summary, "Done");
}

#[test]
fn a_press_and_a_second_start_bring_the_window_to_the_front_with_the_token_of_the_desktop() {
    let desk = Desk::plan("notices-token").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    server.add(Rule::turn("hello").reply("Hello yourself."));
    let window = at_work(&desk, &server);
    desk.look_away();
    ask(&window, "hello");
    let done = notices.wait_for(1);
    notices.press_with(done.id, "shell/notice-1_TIME41");
    desk.wait_for_token("shell/notice-1_TIME41");

    let other = desk.home().join("other-project");
    std::fs::create_dir(&other).unwrap();
    let lent = ("XDG_ACTIVATION_TOKEN", "shell/start-2_TIME42");
    assert!(desk.start_again_with(&["other-project"], lent).success());
    desk.wait_for_token("shell/start-2_TIME42");
    window.wait_for_text("other-project");
    assert!(desk.start_again_with(&[], ("DESKTOP_STARTUP_ID", "shell/start-3_TIME43")).success());
    desk.wait_for_token("shell/start-3_TIME43");
    window.close();
}

#[test]
fn a_request_that_is_answered_in_the_window_is_told_no_longer() {
    let desk = Desk::plan("notices-answered").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    let call = Reply::call("write_file", json!({ "file_path": "/hello.txt", "content": "hello\n" }));
    server.add(Rule::turn("say hello").reply(call).reply(Reply::text("I go on").and_gate("end").and_text(".")));
    let window = at_work(&desk, &server);
    desk.look_away();
    ask(&window, "say hello");
    let asked = notices.wait_for(1);
    desk.look_at_window();
    answer(&window, "Approve");
    window.wait_for_text("I go on");
    notices.wait_for_withdrawn(&[asked.id]);
    server.gate("end").open();
    window.wait_for_text("I go on.");
    assert_eq!(notices.count(), 1, "the end was seen as it came");
    window.close();
}
