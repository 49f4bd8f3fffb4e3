//! The window is closed while a session works: the person is asked, and it becomes of the work what they say.

use std::path::Path;
use std::time::Duration;

use bosun_store::Database;
use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Notices, PATIENCE, Window, marked, wait};
use crate::scene::{answer, ask, at_work, card, reopen, type_in};

const SHEET: &str = "Close while 1 session is working?";
const DIALOG: &str = "Close Bosun?";

/// A session whose answer is held in its middle, and a person who closes the window.
fn closed<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    let window = held(desk, server);
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    window
}

fn held<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    server.add(Rule::turn("slowly").reply(Reply::text("I begin").and_gate("end").and_text(" and I end.")));
    let window = at_work(desk, server);
    ask(&window, "slowly");
    window.wait_for_text("I begin");
    window
}

/// Presses the button after a moment: WebDriver waits behind its own click for a frame, which a window that is hidden or
/// gone never draws.
fn press_soon(window: &Window<'_>, name: &str) {
    window.button(name);
    window.script(
        "const press = [...document.querySelectorAll('.close-sheet button')].find((one) => one.textContent.trim() === arguments[0]);
         setTimeout(() => press.click(), 50)",
        &[name.into()],
    );
}

fn close_when_done(window: &Window<'_>) {
    press_soon(window, "Close when done");
}

#[test]
fn a_person_who_closes_over_work_is_asked_and_goes_on_working() {
    let desk = Desk::plan("closing").without_keyring().set_up();
    let server = ModelServer::start();
    let window = closed(&desk, &server);
    window.shot("asked");
    // The safe answer has the keyboard.
    window.wait_until("return document.activeElement?.textContent === 'Keep working'");
    window.press("Enter");
    window.wait_until_gone(SHEET);
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    window.press("Escape");
    window.wait_until_gone(SHEET);

    // While it is asked, the work may come to its end.
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    server.gate("end").open();
    window.wait_for_text("No session is working any more");
    window.shot("done");
    window.button("Keep open").click();
    window.wait_until_gone("No session is working any more");
    window.wait_for_text("I begin and I end.");
    window.close();
}

#[test]
fn work_that_is_stopped_with_the_window_is_stopped_at_the_next_start_and_goes_on() {
    let desk = Desk::plan("closing-stop").without_keyring().set_up();
    let server = ModelServer::start();
    let window = closed(&desk, &server);
    press_soon(&window, "Stop and close");
    window.wait_for_end();
    let window = reopen(&desk);
    window.wait_for_text("I begin");
    window.wait_for_text("You stopped the turn.");
    window.shot("next-start");
    server.add(Rule::any().reply("Here I go on."));
    window.press("Control+k");
    window.wait_until("return document.activeElement?.closest('.palette') !== null");
    type_in(&window, "Continue the turn");
    window.press("Enter");
    window.wait_for_text("Here I go on.");
    window.close();
}

#[test]
fn subagents_in_the_background_are_stopped_with_the_window_and_the_next_turn_tells_the_agent() {
    let desk = Desk::plan("closing-beside").without_keyring().set_up();
    let server = ModelServer::start();
    let call = json!({ "description": "work beside", "subagent_type": "general-purpose" });
    server.add(Rule::turn("send it").reply(Reply::default().and_call("start_async_task", call)).reply("It is sent."));
    server.add(Rule::turn("work beside").reply(Reply::text("I work").and_gate("end").and_text(" and am done.")));
    let window = at_work(&desk, &server);
    ask(&window, "send it");
    window.wait_for_text("It is sent.");
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    press_soon(&window, "Stop and close");
    window.wait_for_end();
    server.gate("end").open();

    let window = reopen(&desk);
    window.wait_for_text("It is sent.");
    let asked = server.requests().len();
    server.add(Rule::turn("and now?").reply("I know of it."));
    ask(&window, "and now?");
    window.wait_for_text("I know of it.");
    let sent: Vec<String> = server.requests().iter().skip(asked).map(ToString::to_string).collect();
    assert!(sent.iter().any(|request| request.contains("it was stopped by the user")), "{sent:?}");
    let goes_on = |request: &String| request.contains("work beside") && !request.contains("and now?");
    assert!(!sent.iter().any(goes_on), "it does not go on by itself: {sent:?}");
    window.close();
}

#[test]
fn a_start_while_the_app_ends_waits_for_its_end_and_has_a_window_then() {
    let desk = Desk::plan("closing-again").without_keyring().env("BOSUN_LINGERS", "3000").set_up();
    let server = ModelServer::start();
    let window = closed(&desk, &server);
    press_soon(&window, "Stop and close");
    window.wait_for_text("Stopping");
    let other = desk.home().join("other-project");
    std::fs::create_dir(&other).unwrap();
    let is_app = |program: &Path| program.file_name().is_some_and(|name| name == "bosun-desktop");
    let (app, _) = marked(desk.mark()).into_iter().find(|(_, program)| is_app(program)).unwrap();
    let mut starts = [desk.start(&["other-project"]), desk.start(&[])];
    let is_over = || (!marked(desk.mark()).iter().any(|(pid, _)| *pid == app)).then_some(());
    assert!(wait(PATIENCE, is_over).is_some(), "the app goes on running\n{}", desk.said());
    desk.wait_for_window("Bosun");
    // Whichever is the app now, the other one has handed itself over.
    let ended = wait(PATIENCE, || starts.iter_mut().find_map(|start| start.try_wait().unwrap()));
    assert!(ended.is_some_and(|status| status.success()), "{}", desk.said());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let database = Database::open(&desk.data()).unwrap();
    let opened = wait(PATIENCE, || {
        let projects = runtime.block_on(database.projects()).unwrap();
        projects.iter().any(|project| project.name == "other-project").then_some(())
    });
    assert!(opened.is_some(), "the folder that was named is not open");
    desk.picture("again");
    assert!(desk.ask_to_close());
    assert!(starts.iter_mut().all(|start| start.wait().unwrap().success()));
}

#[test]
fn a_window_that_closes_when_all_is_done_goes_out_of_sight_and_ends_by_itself() {
    let desk = Desk::plan("closing-done").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    let window = closed(&desk, &server);
    window.resize(1100, 720);
    close_when_done(&window);
    desk.wait_for_no_window("Bosun");

    // A second start brings it back, and then it stays.
    assert!(desk.start_again(&[]).success());
    desk.wait_for_window("Bosun");
    window.wait_for_text("I begin");
    assert!(!window.text().contains(SHEET));
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    close_when_done(&window);
    desk.wait_for_no_window("Bosun");
    server.gate("end").open();
    window.wait_for_end();
    assert_eq!(notices.wait_for(1).summary, "Done");
    let window = desk.open_as_left(&[]);
    window.wait_until("return innerWidth === 1100 && innerHeight === 720");
    window.wait_for_text("I begin and I end.");
    window.close();
}

/// A window that went out of sight until all is done; a request comes up there.
fn asks_out_of_sight<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    let call = json!({ "file_path": "/hello.txt", "content": "hello\n" });
    let reply = Reply::text("I begin").and_gate("end").and_call("write_file", call);
    server.add(Rule::turn("slowly").reply(reply).reply("It is written."));
    let window = at_work(desk, server);
    ask(&window, "slowly");
    window.wait_for_text("I begin");
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    close_when_done(&window);
    desk.wait_for_no_window("Bosun");
    server.gate("end").open();
    window
}

#[test]
fn out_of_sight_a_request_is_told_and_a_press_brings_the_window_back() {
    let desk = Desk::plan("closing-asks").without_keyring().set_up();
    let notices = Notices::start(desk.bus());
    let server = ModelServer::start();
    let window = asks_out_of_sight(&desk, &server);
    let asked = notices.wait_for(1);
    assert_eq!(asked.summary, "Needs you");
    assert!(!window.ends_within(Duration::from_secs(3)), "it waits for the answer");
    notices.press(asked.id);
    desk.wait_for_window("Bosun");
    card(&window);
    // What only waits for a person is there again at the next start, and keeps no window open.
    window.close();
    let window = reopen(&desk);
    answer(&window, "Approve");
    window.wait_for_text("It is written.");
    window.close();
}

#[test]
fn a_page_that_hangs_keeps_no_window_open() {
    let desk = Desk::plan("closing-hangs").without_keyring().env("BOSUN_CONFIRM", "ask").set_up();
    let server = ModelServer::start();
    let window = held(&desk, &server);
    // Its frames are drawn no more, and so nothing is shown.
    window.script("window.requestAnimationFrame = () => 0", &[]);
    assert!(desk.ask_to_close());
    let dialog = desk.wait_for_window(DIALOG);
    desk.picture("asked");
    window.wait_until_gone(SHEET);
    desk.press_in(&dialog, "Escape");
    desk.wait_for_no_window(DIALOG);
    window.wait_for_text("I begin");

    // One that shows the question and hangs then gives way to the second request.
    window.reload();
    window.wait_for_text("I begin");
    assert!(desk.ask_to_close());
    window.wait_for_text(SHEET);
    std::thread::sleep(Duration::from_millis(1_200));
    assert!(desk.ask_to_close());
    let dialog = desk.wait_for_window(DIALOG);
    // Sooner a yes would not count.
    std::thread::sleep(Duration::from_millis(600));
    desk.choose_yes_in(&dialog);
    window.wait_for_end();
}

#[test]
fn out_of_sight_a_request_that_nobody_can_be_told_of_brings_the_window_back() {
    // Nothing shows notifications on this desk.
    let desk = Desk::plan("closing-untold").without_keyring().set_up();
    let server = ModelServer::start();
    let window = asks_out_of_sight(&desk, &server);
    desk.wait_for_window("Bosun");
    answer(&window, "Approve");
    window.wait_for_text("It is written.");
    window.close();
}
