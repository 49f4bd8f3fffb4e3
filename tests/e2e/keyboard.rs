//! The whole way without a pointer: first run, a request that is edited before it is approved, going back.

use bosun_testkit::{ModelServer, Reply, Rule, Wire};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{card, card_is_gone, project, type_in};

/// Presses `key` until the focus is on what is called `label`.
fn tab_to(window: &Window<'_>, key: &str, label: &str) {
    let focused = "const one = document.activeElement;
        if (one.matches('body, main, [role=dialog]')) return '';
        const name = one.getAttribute('aria-label') ?? one.labels?.[0]?.innerText ?? one.innerText ?? '';
        return name.replace(/\\s+/g, ' ').trim()";
    let mut passed = Vec::new();
    for _ in 0..80 {
        let name = window.script(focused, &[]).as_str().unwrap_or_default().to_owned();
        if name.starts_with(label) {
            return;
        }
        passed.push(name);
        window.press(key);
    }
    panic!("{label:?} cannot be reached with {key}; passed: {passed:?}");
}

#[test]
fn first_run_an_edited_approval_and_going_back_by_keyboard_alone() {
    let desk = Desk::plan("keyboard").set_up();
    let server = ModelServer::start();
    let call = json!({ "file_path": "/hello.txt", "content": "hello" });
    server.add(Rule::turn("say hello").reply(Reply::call("write_file", call)).reply("It is written."));
    // What is set up is called once.
    server.add(Rule::turn("Answer with one word").reply("Ready."));
    project(&desk.project());
    let window = desk.open();
    window.wait_for_text("What it does to your files");
    tab_to(&window, "Tab", "Continue");
    window.press("Enter");
    window.wait_for_text("Choose a model");
    tab_to(&window, "Tab", "Your own server");
    window.press("Enter");
    for (field, words) in [("Base URL", server.base_url(Wire::OpenAi)), ("Name", "desk".to_owned())] {
        tab_to(&window, "Tab", field);
        type_in(&window, &words);
    }
    tab_to(&window, "Tab", "Save");
    window.press("Enter");
    window.wait_until("return document.querySelector('.pick button') !== null");
    window.shot("server");
    tab_to(&window, "Shift+Tab", "Model for new sessions");
    window.press("Enter");
    window.wait_until("return document.querySelector('[role=option]') !== null");
    type_in(&window, "test-model");
    window.wait_until("return document.querySelector('[role=option]')?.innerText.includes('test-model')");
    window.press("Enter");
    window.wait_for_text("test-model · desk");
    tab_to(&window, "Tab", "Continue");
    window.press("Enter");
    desk.pick(&desk.project());
    tab_to(&window, "Tab", "Choose a folder…");
    window.press("Enter");
    window.wait_until("return document.querySelector('.chosen') !== null");
    tab_to(&window, "Tab", "Start working");
    window.press("Enter");
    window.wait_for_text("What should be done?");

    tab_to(&window, "Tab", "Message");
    type_in(&window, "say hello");
    window.press("Enter");
    card(&window);
    // Letters typed in the message are text; from the card they answer it.
    window.press("Shift+Tab");
    window.press("e");
    window.wait_until("return document.querySelector('[role=dialog] form') !== null");
    tab_to(&window, "Tab", "content");
    window.press("Control+a");
    type_in(&window, "good day");
    window.shot("edited");
    tab_to(&window, "Tab", "Run as edited");
    window.press("Enter");
    card_is_gone(&window);
    window.wait_for_text("It is written.");
    let file = desk.project().join("hello.txt");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "good day");

    window.press("Escape");
    window.press("Escape");
    window.wait_for_text("would be restored");
    window.shot("going-back");
    tab_to(&window, "Tab", "Rewind");
    window.press("Enter");
    window.wait_until_gone("It is written.");
    assert!(!file.exists(), "the file was not taken back");
    window.shot("back");
}
