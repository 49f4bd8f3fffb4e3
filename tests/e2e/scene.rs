//! What the scenarios share: a person who is set up, a project, and the moves that all of them make.

use std::path::Path;

use bosun_protocol::{Language, ModelRef, Settings, Theme};
use bosun_providers::SavedAccount;
use bosun_store::Database;
use bosun_testkit::{ModelServer, Wire};

use crate::harness::{Desk, Element, Window};

/// Theme and language.
pub type Look = (Theme, Language);

pub const LOOK: Look = (Theme::Light, Language::English);

/// A person who has used Bosun before: a server of their own is set up and first run is behind them.
pub fn seed(desk: &Desk, server: &ModelServer, look: Look) {
    seed_at(desk, &server.base_url(Wire::OpenAi), look);
}

/// The same with a server at `base_url`.
pub fn seed_at(desk: &Desk, base_url: &str, look: Look) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = Database::open(&desk.data()).unwrap();
        let account = SavedAccount {
            id: "desk".into(),
            label: "Desk".into(),
            family: "openai_chat".into(),
            base_url: base_url.into(),
            chosen: false,
        };
        database.save_account(&account.id, &account).await.unwrap();
        let model = ModelRef { provider: "desk".into(), name: "test-model".into() };
        let settings =
            Settings { model: Some(model), welcomed: true, theme: look.0, language: look.1, ..Settings::default() };
        database.set_setting("settings", &settings).await.unwrap();
    });
}

/// A small program to work on.
pub fn project(folder: &Path) {
    let greet = "def greet(name):\n    print(\"Hello \" + name)\n\n\ngreet(\"you\")\n";
    std::fs::write(folder.join("greet.py"), greet).unwrap();
    std::fs::write(folder.join("README.md"), "# Greeter\n").unwrap();
}

/// The window of a person who is set up, with the project open and nothing asked yet.
pub fn at_work<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    seed(desk, server, LOOK);
    project(&desk.project());
    let window = reopen(desk);
    window.wait_for_text("What should be done?");
    window
}

/// Starts the app on the desk's project.
pub fn reopen(desk: &Desk) -> Window<'_> {
    desk.open_with(&[&desk.project().to_string_lossy()])
}

pub fn ask(window: &Window<'_>, words: &str) {
    window.field("Message").write(words);
    window.button("Send").click();
}

/// Waits for a card, and then as long as a person needs to see it: nothing counts before.
pub fn card(window: &Window<'_>) {
    window.wait_until(
        "const card = document.querySelector('[role=dialog][aria-modal=false]');
         if (card === null) return false;
         if (window.cardSeen?.card !== card) window.cardSeen = { card, at: performance.now() };
         return performance.now() - window.cardSeen.at > 700",
    );
}

/// Presses `button` on the card that is open or comes next, and waits until that card is gone.
pub fn answer(window: &Window<'_>, button: &str) {
    card(window);
    window.button(button).click();
    card_is_gone(window);
}

/// Waits until the card that [`card`] saw last is no longer there.
pub fn card_is_gone(window: &Window<'_>) {
    window.wait_until("return !window.cardSeen.card.isConnected");
}

/// Every file below `folder`, which may not exist, whose bytes hold `needle`.
pub fn files_with(folder: &Path, needle: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

/// What the model was asked last, as it went over the wire.
pub fn told(server: &ModelServer) -> String {
    server.requests().pop().map(|request| String::from_utf8_lossy(&request.body).into_owned()).unwrap_or_default()
}

/// Opens the tab of the side pane that is called so.
pub fn pane(window: &Window<'_>, name: &str) {
    window.by_role("tab", name).click();
    window.wait_until("return document.querySelector('.inspector [role=tab][data-state=active]') !== null");
}

/// Types where the focus is, key by key: nothing is clicked, cleared or left, as WebDriver's own typing would do.
pub fn type_in(window: &Window<'_>, words: &str) {
    for letter in words.chars() {
        window.press(&letter.to_string());
    }
}

/// Opens a section of the settings.
pub fn settings(window: &Window<'_>, section: &'static str) {
    window.press("Control+,");
    window.by_role("tab", section).click();
}

/// Leaves the settings.
pub fn shut_settings(window: &Window<'_>) {
    window.press("Escape");
    window.wait_until("return document.querySelector('.dialog') === null");
}

/// Writes into a field of several lines.
pub fn write_lines(window: &Window<'_>, field: &Element<'_>, lines: &[&str]) {
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            window.press("Enter");
        }
        field.write(line);
    }
}

/// Chooses from a list that the system shows, which WebDriver does not reach.
pub fn choose(window: &Window<'_>, list: &str, value: &str) {
    window.by_css(list);
    window.script(
        "const [list, value] = arguments;
         const field = document.querySelector(list);
         field.value = value;
         field.dispatchEvent(new Event('change', { bubbles: true }))",
        &[list.into(), value.into()],
    );
}

/// The settings as the app has stored them.
pub fn stored(desk: &Desk) -> Settings {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let database = Database::open(&desk.data()).unwrap();
    runtime.block_on(database.setting("settings")).unwrap().unwrap()
}
