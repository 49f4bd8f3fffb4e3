//! What is set while the window is at work: keys of commands, language and theme, what may be spent.

use bosun_model::Usage;
use bosun_protocol::{Language, Theme};
use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{answer, ask, at_work, reopen, settings, shut_settings, stored};

/// Gives "New session" other keys, and leaves them at `keys` if they are taken.
fn change_keys(window: &Window<'_>, chord: &str) {
    window.button("Change the shortcut for “New session”").click();
    window.wait_for_text("Press the keys…");
    window.press(chord);
}

/// The old keys do nothing and the new ones begin a session. What is pressed last is heard last.
fn new_keys_work(window: &Window<'_>, reply: &str) {
    window.press("Control+n");
    window.press("Control+/");
    window.by_css("[role=dialog]");
    assert!(window.text().contains(reply), "the old keys left the session:\n{}", window.text());
    window.press("Escape");
    window.wait_until("return document.querySelector('[role=dialog]') === null");
    window.press("Control+j");
    window.wait_for_text("What should be done?");
    assert!(!window.text().contains(reply), "it is the same session:\n{}", window.text());
}

#[test]
fn keys_that_are_taken_are_refused_and_others_hold_also_after_a_restart() {
    let desk = Desk::plan("keys").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("hello").reply("Hello yourself."));
    let window = at_work(&desk, &server);
    ask(&window, "hello");
    window.wait_for_text("Hello yourself.");
    settings(&window, "Shortcuts");
    change_keys(&window, "Control+k");
    window.wait_for_text("Ctrl K is taken by “Find a command, a session or a file”.");
    window.press("Control+c");
    window.wait_for_text("Ctrl C is reserved.");
    window.shot("taken");
    // It still waits for keys.
    window.press("Control+j");
    window.wait_for_text("Ctrl J");
    window.shot("given");
    shut_settings(&window);
    new_keys_work(&window, "Hello yourself.");
    window.close();
    assert_eq!(stored(&desk).shortcuts.into_iter().collect::<Vec<_>>(), [("newSession".to_owned(), "j".to_owned())]);

    let window = reopen(&desk);
    window.wait_until("return document.querySelector('textarea:enabled') !== null");
    window.by_css("button.open").click();
    window.wait_for_text("Hello yourself.");
    new_keys_work(&window, "Hello yourself.");
}

#[test]
fn language_and_theme_change_while_a_reply_streams_and_nothing_is_lost() {
    let desk = Desk::plan("live-settings").set_up();
    let server = ModelServer::start();
    let reply =
        Reply::text("I begin").and_gate("half").and_text(" and I go on").and_gate("more").and_text(" and I end.");
    server.add(Rule::turn("tell me").reply(reply));
    let window = at_work(&desk, &server);
    ask(&window, "tell me");
    window.wait_for_text("I begin");
    window.field("Message").write("half a thought");
    settings(&window, "Appearance");
    window.by_css("label:has(input[value=dark])").click();
    window.wait_until("return document.documentElement.dataset.theme === 'dark'");
    server.gate("half").open();
    window.by_css("label:has(input[value=zh-CN])").click();
    window.wait_for_text("文字大小");
    window.wait_until("return document.documentElement.lang === 'zh-CN'");
    shut_settings(&window);
    window.wait_for_text("I begin and I go on");
    window.shot("changed");
    let draft = "return document.querySelector('.composer textarea').value";
    assert_eq!(window.script(draft, &[]), "half a thought");
    server.gate("more").open();
    window.wait_for_text("I begin and I go on and I end.");
    window.wait_until("return document.querySelector('button.stop') === null");
    assert_eq!(server.requests().len(), 1, "the model was asked again");
    assert_eq!(window.script(draft, &[]), "half a thought");
    window.close();
    let kept = stored(&desk);
    assert_eq!((kept.theme, kept.language), (Theme::Dark, Language::SimplifiedChinese));

    let window = reopen(&desk);
    window.wait_for_text("I begin and I go on and I end.");
    window.wait_until(
        "return document.documentElement.dataset.theme === 'dark' && document.documentElement.lang === 'zh-CN'",
    );
    window.shot("again");
    assert_eq!(window.script(draft, &[]), "half a thought");
}

/// How often the model was asked: its server also tells which models there are.
fn asked(server: &ModelServer) -> usize {
    server.requests().iter().filter(|request| request.method == "POST").count()
}

/// Writes `sum` where a session stops.
fn stop_at(window: &Window<'_>, sum: &str) {
    let field = window.by_role("spinbutton", "One session: Stop at");
    field.clear();
    field.write(sum);
    window.press("Tab");
}

#[test]
fn a_turn_stops_at_what_may_be_spent_and_goes_on_when_that_is_raised() {
    let desk = Desk::plan("budget").set_up();
    let server = ModelServer::start();
    let write = json!({ "file_path": "/hello.txt", "content": "hello\n" });
    let dear = Usage { input: Some(100_000), output: Some(1_000), ..Usage::default() };
    server.add(Rule::turn("say hello").reply(Reply::call("write_file", write).usage(dear)).reply("It is written."));
    let window = at_work(&desk, &server);
    settings(&window, "Models");
    window.by_css("button[aria-label^='Add model details']").click();
    window.by_role("option", "test-model").click();
    let form = window.by_css("form[aria-label='Edit the details of test-model']");
    for (field, price) in [("Input, $ per million", "10"), ("Output, $ per million", "20")] {
        form.by_label(field).write(price);
    }
    form.button("Save").click();
    window.wait_for_text("out per million");
    stop_at(&window, "0.5");
    window.shot("set");
    shut_settings(&window);

    ask(&window, "say hello");
    answer(&window, "Approve");
    window.wait_for_text("The budget is used up, so this turn stopped.");
    window.wait_for_text("budget of $0.50 for this session is used up ($1.02 spent)");
    window.shot("stopped");
    assert_eq!(asked(&server), 1, "the model was asked over the limit");
    assert_eq!(std::fs::read_to_string(desk.project().join("hello.txt")).unwrap(), "hello\n", "what was done is kept");

    // Before it is raised, to go on leads to the same place.
    window.button("Continue").click();
    window.wait_until("return document.querySelectorAll('.notice').length > 1");
    assert_eq!(asked(&server), 1, "the model was asked over the limit");
    window.button("Model settings").click();
    stop_at(&window, "5");
    shut_settings(&window);
    window.button("Continue").click();
    window.wait_for_text("It is written.");
    window.shot("gone-on");
    assert_eq!(asked(&server), 2);
}
