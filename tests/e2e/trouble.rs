//! A model that cannot be reached or does not do as it should, a database that another program holds, and a page that goes
//! away in the middle. The window says what is wrong and what to do, and nothing is lost.

use std::net::TcpListener;
use std::time::Duration;

use bosun_testkit::{Ending, ModelServer, Reply, Rule, Script};
use serde_json::json;

use crate::harness::{Desk, Window, wait};
use crate::scene::{LOOK, answer, ask, at_work, project, reopen, seed, seed_at};

const KEY: &str = "sk-wrong-55aa77cc99ee";

fn with_server_at<'d>(desk: &'d Desk, base_url: &str) -> Window<'d> {
    seed_at(desk, base_url, LOOK);
    project(&desk.project());
    reopen(desk)
}

#[test]
fn a_wrong_key_is_refused_in_the_providers_words_without_the_key() {
    let desk = Desk::plan("wrong-key").set_up();
    let server = ModelServer::start();
    let refusal = format!("Incorrect API key provided: {KEY}. You can find yours at the desk.");
    server.answer_models_with(Reply::error(401, "authentication_error", &refusal));
    for said in ["hello", "Answer with one word"] {
        server.add(Rule::turn(said).reply(Reply::error(401, "authentication_error", &refusal)));
    }
    let window = at_work(&desk, &server);
    window.press("Control+,");
    window.by_css(".cards article button.head").click();
    window.field("Desk: Key").write(KEY);
    window.button("Save key").click();
    window.wait_for_text(
        "key for this run only|key in the keyring".split('|').nth(usize::from(desk.has_keyring())).unwrap(),
    );
    // A test call is made by itself.
    window.wait_for_text("The provider refused");
    window.wait_for_text("Incorrect API key provided");
    window.shot("test-call");
    assert!(!window.text().contains(KEY), "the key is on the screen");
    window.press("Escape");
    window.wait_until("return document.querySelector('[role=dialog]') === null");

    ask(&window, "hello");
    window.wait_for_text("The provider did not accept the key");
    window.wait_for_text("Incorrect API key provided");
    assert!(!window.text().contains(KEY), "the key is on the screen");
    window.shot("in-session");
    assert!(crate::scene::files_with(&desk.data(), KEY).is_empty(), "the key is in a file");
    window.button("Settings").click();
}

#[test]
fn an_address_where_no_model_is_says_so_and_can_be_tried_again() {
    let desk = Desk::plan("no-server").set_up();
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    drop(silent);
    let window = with_server_at(&desk, &format!("http://127.0.0.1:{port}/v1"));
    ask(&window, "hello");
    window.wait_for_text("The model did not answer");
    window.shot("nobody");
    assert!(window.text().contains(&format!("127.0.0.1:{port}")), "the address is not named:\n{}", window.text());
    // What answers there then is a web site.
    let site = ModelServer::at(Script::default(), port).unwrap();
    site.add(Rule::turn("hello").reply(Reply::html("<html><title>Welcome to the hotel</title></html>")));
    window.button("Try again").click();
    window.wait_until("return document.querySelectorAll('.notice.bad').length > 1");
    window.wait_for_text("Welcome to the hotel");
    assert!(window.text().contains("check the base URL"), "the way out is not named:\n{}", window.text());
    window.shot("web-page");
    drop(site);
    let server = ModelServer::at(Script::default(), port).unwrap();
    server.add(Rule::turn("hello").reply("Here I am."));
    window.button("Try again").click();
    window.wait_for_text("Here I am.");
}

#[test]
fn a_stream_cut_in_a_call_runs_nothing_and_goes_on_when_tried_again() {
    let desk = Desk::plan("cut").set_up();
    let server = ModelServer::start();
    let call = || {
        Reply::text("Writing it.").and_call("write_file", json!({ "file_path": "/hello.txt", "content": "hello\n" }))
    };
    server.add(Rule::any().reply(call().ending(Ending::CutInCall)).reply(call()).reply("It is written."));
    let window = at_work(&desk, &server);
    ask(&window, "say hello");
    window.wait_for_text("The reply was cut off. Nothing in it was carried out.");
    window.shot("cut");
    assert!(!desk.project().join("hello.txt").exists() && window.count("[role=dialog]") == 0);
    window.button("Try again").click();
    answer(&window, "Approve");
    window.wait_for_text("It is written.");
    assert!(desk.project().join("hello.txt").exists());
    window.shot("done");
}

#[test]
fn calls_that_cannot_be_made_are_rows_that_say_why_and_the_turn_comes_to_its_end() {
    const BYTES: &[u8] = b"\x00\x01\x02\xff\xfe";
    let desk = Desk::plan("bad-calls").set_up();
    let server = ModelServer::start();
    server.add(
        Rule::turn("look at the logo")
            .reply(Reply::call("write_file", json!({ "path": "/logo.bin", "content": "x" })))
            .reply(Reply::call("read_file", json!({ "file_path": "/logo.bin" })))
            .reply(Reply::call("edit_file", json!({ "file_path": "/logo.bin", "old_string": "a", "new_string": "b" })))
            .reply("It is a picture."),
    );
    let logo = desk.project().join("logo.bin");
    std::fs::write(&logo, BYTES).unwrap();
    let window = at_work(&desk, &server);
    ask(&window, "look at the logo");
    window.wait_for_text("As things stand, the call would fail");
    window.shot("asked");
    answer(&window, "Approve");
    window.wait_for_text("It is a picture.");
    window.wait_until("return document.querySelector('button.stop') === null");
    window.shot("said");
    let rows = "return [...document.querySelectorAll('.tool .head')].map((row) => row.innerText.trim().split(/\\s+/).join(' '))";
    let rows = window.script(rows, &[]);
    assert_eq!(rows, json!(["Write logo.bin not run", "Read logo.bin failed", "Edited logo.bin failed"]));
    let text = window.text();
    for words in ["'file_path' is missing ('path' is not an argument here)", "is not UTF-8 text", "is binary, and text"]
    {
        assert!(text.contains(words), "{words:?} is not said:\n{text}");
    }
    assert!(!text.contains("Changed since the agent read them"), "nothing was changed:\n{text}");
    assert_eq!(std::fs::read(logo).unwrap(), BYTES);
}

#[test]
fn a_database_that_is_locked_in_a_turn_halts_it_with_the_way_out_and_it_goes_on_afterwards() {
    let desk = Desk::plan("locked-in-turn").set_up();
    let server = ModelServer::start();
    let reply = Reply::text("I begin").and_gate("half").and_text(" and I end.");
    server.add(Rule::turn("tell me").reply(reply));
    let window = at_work(&desk, &server);
    ask(&window, "tell me");
    window.wait_for_text("I begin");
    let other = rusqlite::Connection::open(desk.data().join("bosun.db")).unwrap();
    other.busy_timeout(Duration::from_secs(10)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    server.gate("half").open();
    window.wait_for_text("The turn was halted because it cannot be recorded");
    window.wait_for_text("Bosun's database is locked by another program; close that program, then continue");
    window.shot("halted");
    assert!(window.text().contains("tell me"), "the person's words are lost:\n{}", window.text());
    other.execute_batch("ROLLBACK").unwrap();
    window.button("Try again").click();
    window.wait_until("return document.querySelector('.chip.state')?.innerText.trim() === 'done'");
    window.shot("gone-on");
    // The reply was whole: it is recorded with the end of the turn, and nobody pays for it twice.
    assert!(window.text().contains("I begin and I end."), "{}", window.text());
    assert_eq!(server.requests().len(), 1);
    assert!(!window.text().contains("interrupted"), "the turn did not end:\n{}", window.text());
}

#[test]
fn a_page_that_reloads_in_a_turn_shows_it_again_and_the_turn_goes_on() {
    let desk = Desk::plan("reload").set_up();
    let server = ModelServer::start();
    server.add(
        Rule::turn("say hello").reply(Reply::text("I begin").and_gate("half").and_text(" and I end.")).reply("never"),
    );
    let window = at_work(&desk, &server);
    ask(&window, "say hello");
    window.wait_for_text("I begin");
    window.reload();
    window.wait_for_text("I begin");
    window.shot("half");
    server.gate("half").open();
    window.wait_for_text("I begin and I end.");
    window.shot("whole");
    assert_eq!(server.requests().len(), 1, "the model was asked again");
    // What is typed afterwards reaches the session that the page found again.
    seed(&desk, &server, LOOK);
    server.add(Rule::turn("go on").reply("Gladly."));
    ask(&window, "go on");
    window.wait_for_text("Gladly.");
}

/// WebDriver goes with the page's process, so that a person at the keyboard is played here.
#[test]
fn a_page_whose_process_ends_in_a_turn_is_there_again_and_the_turn_goes_on() {
    let desk = Desk::plan("page-killed").env("TAURI_WEBVIEW_AUTOMATION", "false").set_up();
    let server = ModelServer::start();
    server
        .add(Rule::turn("first").reply(Reply::text("I begin").and_gate("half").and_text(" and I end.")).reply("never"));
    server.add(Rule::turn("second").reply("I am still here."));
    seed(&desk, &server, LOOK);
    project(&desk.project());
    let mut app = desk.start(&[&desk.project().to_string_lossy()]);
    let window = desk.wait_for_window("Bosun");
    // Nobody tells here when the page listens, and what is typed before is lost.
    std::thread::sleep(Duration::from_secs(3));
    let say = |words: &str, requests: usize| {
        let said = wait(Duration::from_secs(60), || {
            desk.press_in(&window, "ctrl+a");
            desk.type_in(&window, words);
            desk.press_in(&window, "Return");
            wait(Duration::from_secs(3), || (server.requests().len() >= requests).then_some(()))
        });
        assert!(said.is_some(), "{words:?} did not reach the model\n{}", desk.said());
    };
    say("first", 1);
    desk.crash_page();
    desk.picture("half");
    server.gate("half").open();
    say("second", 2);
    let said = server.requests()[1].asked().said.clone();
    assert!(said.iter().any(|one| one.text == "I begin and I end."), "the first turn did not go on: {said:?}");
    desk.picture("whole");
    assert!(desk.ask_to_close(), "there is no window to close\n{}", desk.said());
    assert!(app.wait().expect("the app can be waited for").success());
}
