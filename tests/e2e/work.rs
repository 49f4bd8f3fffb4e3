//! The paths a person takes through the main job: ask, approve, edit, answer, refuse, stop, come back to an open question.

use std::path::Path;

use bosun_protocol::{Language, ModelRef, Settings, Theme};
use bosun_store::{Database, ProviderAccount};
use bosun_testkit::{ModelServer, Reply, Rule, Wire};
use serde_json::json;

use crate::harness::{Desk, Window};

/// Theme and language.
type Look = (Theme, Language);

const LOOK: Look = (Theme::Light, Language::English);

/// A person who has used Bosun before: a server of their own is set up and first run is behind them.
pub fn seed(desk: &Desk, server: &ModelServer, look: Look) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = Database::open(&desk.data()).unwrap();
        let account = ProviderAccount {
            id: "desk".into(),
            label: "Desk".into(),
            family: "openai_chat".into(),
            base_url: server.base_url(Wire::OpenAi),
        };
        database.save_account(account).await.unwrap();
        let model = ModelRef { provider: "desk".into(), name: "test-model".into() };
        let settings = Settings { model: Some(model), welcomed: true, theme: look.0, language: look.1 };
        database.set_setting("settings", &settings).await.unwrap();
    });
}

fn project(folder: &Path) {
    std::fs::write(folder.join("greet.py"), "def greet(name):\n    print(\"Hello \" + name)\n\n\ngreet(\"you\")\n")
        .unwrap();
    std::fs::write(folder.join("README.md"), "# Greeter\n").unwrap();
}

fn edit(new: &str) -> Reply {
    Reply::text("The greeting is built by hand; an f-string is clearer.").and_call_with_id(
        "edit",
        "edit_file",
        json!({"file_path": "/greet.py", "old_string": "    print(\"Hello \" + name)", "new_string": new}),
    )
}

/// The story that most scenarios share: plan, look, edit, say.
fn story() -> ModelServer {
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
            .reply("Done: `greet.py` uses an f-string now."),
    );
    server
}

fn at_work<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    seed(desk, server, LOOK);
    project(&desk.project());
    let window = desk.open_with(&[&desk.project().to_string_lossy()]);
    window.wait_for_text("What should be done?");
    window
}

fn ask(window: &Window<'_>, words: &str) {
    window.field("Message").write(words);
    window.button("Send").click();
}

/// Waits for the card, and then as long as a person needs to see it: the card counts nothing before.
fn card(window: &Window<'_>) {
    window.wait_until("return document.querySelector('[role=dialog]') !== null");
    window.wait_until("window.cardSeen ??= performance.now(); return performance.now() - window.cardSeen > 700");
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
    window.button("Approve").click();
    window.wait_for_text("uses an f-string now");
    window.shot("done");
    assert!(greeting(&desk).contains("f\"Hello, {name}!\""), "{}", greeting(&desk));
}

#[test]
fn a_call_can_be_edited_answered_and_refused() {
    for (name, button) in [("edit", "Edit…"), ("respond", "Respond…"), ("reject", "Reject")] {
        let desk = Desk::plan(name).set_up();
        let server = story();
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
        window.wait_for_text("uses an f-string now");
        window.shot("after");
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
    let window = desk.open_with(&[&desk.project().to_string_lossy()]);
    window.by_label("Make the greeting clearer").click();
    card(&window);
    window.shot("again");
    window.button("Approve").click();
    window.wait_for_text("uses an f-string now");
    assert!(greeting(&desk).contains("f\"Hello, {name}!\""));
}

#[test]
fn a_turn_can_be_stopped() {
    let desk = Desk::plan("stop").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("wait").reply(Reply::text("I begin").and_gate("never")));
    let window = at_work(&desk, &server);
    ask(&window, "wait for it");
    window.wait_for_text("I begin");
    window.button("Stop").click();
    window.wait_for_text("You stopped the turn.");
    window.shot("stopped");
    server.gate("never").open();
}

#[test]
fn every_look_shows_the_same_work() {
    let looks = [
        (Desk::plan("look-light-en"), (Theme::Light, Language::English)),
        (Desk::plan("look-dark-en-small").small(), (Theme::Dark, Language::English)),
        (Desk::plan("look-light-zh-small").small(), (Theme::Light, Language::SimplifiedChinese)),
        (Desk::plan("look-dark-zh"), (Theme::Dark, Language::SimplifiedChinese)),
    ];
    for (plan, look) in looks {
        let desk = plan.set_up();
        let server = story();
        seed(&desk, &server, look);
        project(&desk.project());
        let window = desk.open_with(&[&desk.project().to_string_lossy()]);
        window.wait_until("return document.querySelector('textarea') !== null");
        window.by_css("textarea").write("Make the greeting clearer");
        window.press("Enter");
        card(&window);
        window.shot("asked");
        window.press("y");
        window.wait_for_text("f-string");
        window.wait_until("return document.querySelector('[role=dialog]') === null");
        window.shot("done");
    }
}
