//! First run, a turn with its panes, and every page of the settings in both sizes, themes and languages, for a person to look
//! at; the other screens are in `ui/browser/shots.mjs`. What is asserted is only that each is there.

use bosun_protocol::{Language, Theme};
use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::{Value, json};

use crate::harness::{Desk, Window};
use crate::scene::{Look, card, card_is_gone, project, reopen, seed};

const TASK: &str = "Greet every guest by name, and check that nothing else calls greet";

fn todos(done: usize) -> Value {
    let words = ["Find every caller of greet", "Use an f-string", "Run it once", "Note it in the README"];
    let status = |at: usize| match at.cmp(&done) {
        std::cmp::Ordering::Less => "completed",
        std::cmp::Ordering::Equal => "in_progress",
        std::cmp::Ordering::Greater => "pending",
    };
    json!({ "todos": words.iter().enumerate().map(|(at, content)| json!({ "content": content, "status": status(at) })).collect::<Vec<_>>() })
}

/// A turn with a plan, a search, a subagent, a change and a command.
fn story() -> ModelServer {
    let server = ModelServer::start();
    let edit = json!({
        "file_path": "/greet.py",
        "old_string": "    print(\"Hello \" + name)",
        "new_string": "    greeting = f\"Hello, {name}!\"\n    print(greeting)",
    });
    let errand = json!({ "description": "Count the callers of greet", "subagent_type": "general-purpose" });
    let summary = "Done. `greet` takes any name now:\n\n```python\ngreeting = f\"Hello, {name}!\"\n```\n\n\
                   - one caller, in `greet.py` itself\n- it still runs, see the output above";
    server
        .add(
            Rule::turn(TASK)
                .reply(
                    Reply::text("I will look for the callers first, then change the greeting in one place.")
                        .and_call("write_todos", todos(0))
                        .and_call("grep", json!({ "pattern": "greet", "output_mode": "content" }))
                        .and_call("read_file", json!({ "file_path": "/greet.py" })),
                )
                .reply(Reply::call("task", errand))
                .reply(Reply::call("write_todos", todos(1)).and_call("edit_file", edit))
                .reply(Reply::call("write_todos", todos(2)).and_call("execute", json!({ "command": "cat greet.py" })))
                .reply(Reply::call("write_todos", todos(4)))
                .reply(summary),
        )
        .add(
            Rule::turn("Count the callers")
                .reply(Reply::call("grep", json!({ "pattern": "greet(", "output_mode": "content" })))
                .reply("There is one caller, in `greet.py` itself."),
        );
    server
}

fn screens(window: &Window<'_>) {
    window.by_css("textarea").write(TASK);
    window.press("Enter");
    card(window);
    window.shot("asked");
    // Letters typed in the message are text; from the card they answer it.
    window.press("Shift+Tab");
    window.press("y");
    card_is_gone(window);
    card(window);
    window.shot("command");
    window.press("Shift+Tab");
    window.press("y");
    card_is_gone(window);
    window.wait_for_text("f\"Hello, {name}!\"");
    window.wait_until("return document.querySelectorAll('.dot.running, .dot.waiting').length === 0");
    window.shot("done");
    // A narrow window keeps the pane in a drawer.
    if window.script("return document.querySelector('[role=tab]') === null", &[]) == true {
        window.press("Control+Shift+D");
    }
    for pane in ["agents", "changes"] {
        let tab = if pane == "agents" { 2 } else { 3 };
        window.by_css(&format!("[role=tab]:nth-of-type({tab})")).click();
        window.shot(pane);
    }
    window.press("Control+,");
    window.by_css("[role=dialog] [role=tab]");
    let sections = window.script("return document.querySelectorAll('[role=dialog] [role=tab]').length", &[]);
    for section in 1..=sections.as_u64().unwrap() {
        window.by_css(&format!("[role=dialog] [role=tab]:nth-of-type({section})")).click();
        window.shot("settings");
    }
    window.press("Escape");
    window.wait_until("return document.querySelector('[role=dialog]') === null");
    window.press("Control+/");
    window.by_css("[role=dialog]");
    window.shot("keys");
}

/// The pages that somebody sees who has set up nothing yet.
fn welcome(desk: &Desk, language: Language) {
    let (next, tour, scripted) = match language {
        Language::SimplifiedChinese => ("继续", "开始导览", "脚本导览"),
        _ => ("Continue", "Take the tour", "Scripted tour"),
    };
    let window = desk.open();
    window.button(next);
    window.shot("welcome");
    window.button(next).click();
    window.button(tour);
    window.shot("model");
    let place = desk.home().join("projects");
    std::fs::create_dir(&place).unwrap();
    desk.pick(&place);
    window.button(tour).click();
    window.wait_for_text(scripted);
    window.shot("tour");
    window.close();
}

fn look(plan: crate::harness::Plan, look: Look) {
    let (theme, language) = look;
    let plan = if theme == Theme::Dark { plan.theme("dark") } else { plan };
    let plan = if language == Language::SimplifiedChinese { plan.language("zh-CN") } else { plan };
    let desk = plan.set_up();
    welcome(&desk, language);
    let server = story();
    seed(&desk, &server, look);
    project(&desk.project());
    let window = reopen(&desk);
    window.wait_until("return document.querySelector('textarea:enabled') !== null");
    screens(&window);
}

#[test]
fn light_and_english() {
    look(Desk::plan("look-light-en"), (Theme::Light, Language::English));
}

#[test]
fn light_and_english_on_a_small_screen() {
    look(Desk::plan("look-light-en-small").small(), (Theme::Light, Language::English));
}

#[test]
fn light_and_chinese() {
    look(Desk::plan("look-light-zh"), (Theme::Light, Language::SimplifiedChinese));
}

#[test]
fn light_and_chinese_on_a_small_screen() {
    look(Desk::plan("look-light-zh-small").small(), (Theme::Light, Language::SimplifiedChinese));
}

#[test]
fn dark_and_english() {
    look(Desk::plan("look-dark-en"), (Theme::Dark, Language::English));
}

#[test]
fn dark_and_english_on_a_small_screen() {
    look(Desk::plan("look-dark-en-small").small(), (Theme::Dark, Language::English));
}

#[test]
fn dark_and_chinese() {
    look(Desk::plan("look-dark-zh"), (Theme::Dark, Language::SimplifiedChinese));
}

#[test]
fn dark_and_chinese_on_a_small_screen() {
    look(Desk::plan("look-dark-zh-small").small(), (Theme::Dark, Language::SimplifiedChinese));
}
