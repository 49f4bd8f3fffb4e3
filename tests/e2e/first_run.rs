//! The first minutes of somebody with a key: choose a model, open a folder, work. Where the key goes, and where it does not.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule, Script, Wire};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{answer, ask, files_with, project};

const KEY: &str = "sk-canary-7f3a90b2c4d1";

/// A server that refuses whoever has another key.
fn guarded() -> ModelServer {
    let server = ModelServer::with(Script { key: Some(KEY.into()), ..Script::default() });
    server.add(Rule::turn("Answer with one word").reply("Ready."));
    server.add(
        Rule::turn("say hello")
            .reply(Reply::call("write_file", json!({ "file_path": "/hello.txt", "content": "hello\n" })))
            .reply("It is written."),
    );
    server
}

/// Adds a server of the person's own, with its key, on the second page of first run.
fn add_server(window: &Window<'_>, server: &ModelServer) {
    window.button("Continue").click();
    window.shot("model");
    window.button("Your own server").click();
    window.field("Base URL").write(&server.base_url(Wire::OpenAi));
    window.field("Name").write("Desk");
    window.field("Key, if it needs one").write(KEY);
    window.shot("server");
    window.button("Save").click();
}

/// Chooses the server's model and opens the project in which to work.
fn choose_and_open(window: &Window<'_>, desk: &Desk) {
    window.by_css(".pick button").click();
    window.by_role("option", "test-model").click();
    window.wait_for_text("test-model · Desk");
    window.button("Continue").click();
    desk.pick(&desk.project());
    window.button("Choose a folder…").click();
    window.wait_until("return document.querySelector('.chosen') !== null");
    window.shot("folder");
    window.button("Start working").click();
    window.wait_for_text("What should be done?");
}

fn work(window: &Window<'_>, desk: &Desk) {
    ask(window, "say hello");
    answer(window, "Approve");
    window.wait_for_text("It is written.");
    assert_eq!(fs::read_to_string(desk.project().join("hello.txt")).unwrap(), "hello\n");
}

#[test]
fn a_key_goes_to_the_keyring_and_into_no_file() {
    let desk = Desk::plan("first-run").set_up();
    if !desk.has_keyring() {
        return eprintln!("skipped: install gnome-keyring and libsecret-tools");
    }
    let server = guarded();
    project(&desk.project());
    let window = desk.open();
    window.wait_for_text("What it does to your files");
    window.shot("files");
    add_server(&window, &server);
    window.wait_for_text("key in the keyring");
    window.by_css(".cards article button.head").click();
    window.button("Test call").click();
    window.wait_for_text("Works: test-model answered in");
    window.shot("tested");
    choose_and_open(&window, &desk);
    work(&window, &desk);
    window.shot("working");
    window.crash();

    // A new start finds it again without being told.
    let window = desk.open();
    window.wait_for_text("It is written.");
    window.press("Control+,");
    window.wait_for_text("key in the keyring");
    window.shot("settings");
    let kept = files_with(&desk.data(), KEY);
    assert!(kept.is_empty(), "the key stands in {kept:?}");
    assert!(files_with(&desk.home().join(".cache"), KEY).is_empty());
}

#[test]
fn without_a_keyring_a_key_is_good_for_this_run_and_is_never_written_down() {
    let desk = Desk::plan("no-keyring").without_keyring().set_up();
    let server = guarded();
    project(&desk.project());
    let window = desk.open();
    add_server(&window, &server);
    window.wait_for_text("key for this run only");
    window.by_css(".cards article button.head").click();
    window.wait_for_text("forgotten when Bosun closes");
    window.shot("in-memory");
    choose_and_open(&window, &desk);
    work(&window, &desk);
    window.close();
    let kept = [files_with(&desk.data(), KEY), files_with(&desk.home(), KEY)].concat();
    assert!(kept.is_empty(), "the key stands in {kept:?}");

    let window = desk.open();
    window.wait_for_text("It is written.");
    ask(&window, "say hello again");
    window.wait_for_text("The provider did not accept the key");
    window.shot("forgotten");
}
