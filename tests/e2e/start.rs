//! The window opens, is ours, and closes; nothing of it stays behind.

use bosun_store::Database;
use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, PATIENCE, running_with, wait};
use crate::scene::{ask, at_work, card};

#[test]
fn the_window_opens_fills_the_screen_and_closes() {
    let desk = Desk::plan("start").set_up();
    let window = desk.open();
    window.wait_until("return document.body !== null && document.body.innerText.trim() !== ''");
    assert_eq!(window.script("return location.origin", &[]), "tauri://localhost");
    assert_eq!(window.script("return [innerWidth, innerHeight]", &[]), serde_json::json!([1440, 900]));
    window.shot("open");
    window.close();
}

#[test]
fn the_window_fits_a_small_screen() {
    let desk = Desk::plan("start-small").small().theme("dark").language("zh-CN").set_up();
    let window = desk.open();
    window.wait_until("return document.body !== null && document.body.innerText.trim() !== ''");
    assert_eq!(window.script("return [innerWidth, innerHeight]", &[]), serde_json::json!([1024, 700]));
    // Nothing may need a sideways scroll.
    window.wait_until("return document.documentElement.scrollWidth <= innerWidth");
    window.shot("open");
}

#[test]
fn a_second_start_hands_its_folder_to_the_window_that_is_open() {
    let desk = Desk::plan("second").set_up();
    let server = ModelServer::start();
    let window = at_work(&desk, &server);
    let other = desk.home().join("other-project");
    std::fs::create_dir(&other).unwrap();
    assert!(desk.start_again(&[]).success());
    assert!(desk.start_again(&["other-project"]).success());
    window.wait_for_text("other-project");
    window.shot("handed-over");
    assert!(!desk.start_again(&["one", "two"]).success(), "a command line that makes no sense is refused");
    window.close();
}

#[test]
fn the_window_opens_as_it_was_left() {
    let desk = Desk::plan("as-left").set_up();
    let window = desk.open();
    window.wait_for_text("Welcome to Bosun");
    window.resize(1100, 720);
    window.close();
    let window = desk.open_as_left(&[]);
    window.wait_until("return innerWidth === 1100 && innerHeight === 720");
}

#[test]
fn a_link_leads_to_its_session_and_decides_nothing() {
    let desk = Desk::plan("link").without_keyring().set_up();
    let server = ModelServer::start();
    let call = Reply::call("write_file", json!({ "file_path": "/hello.txt", "content": "hello\n" }));
    server.add(Rule::turn("write it").reply(call).reply("It is written."));
    let window = at_work(&desk, &server);
    ask(&window, "write it");
    card(&window);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stored = runtime.block_on(async { Database::open(&desk.data()).unwrap().all_sessions().await.unwrap() });
    let link = format!("bosun://session/{}", stored[0].id);
    window.button("New session").click();
    window.wait_for_text("What should be done?");
    assert!(desk.start_again(&[&link]).success());
    card(&window);
    window.shot("led-there");
    assert!(!desk.start_again(&[&format!("{link}?decision=approve")]).success(), "a link says nothing else");
    assert!(!desk.project().join("hello.txt").exists());
    window.close();
}

/// With a driver that shows nothing: the window counts as blank however it is drawn.
#[test]
fn a_window_that_stays_blank_starts_again_once_in_safe_drawing() {
    let desk = Desk::plan("blank").without_keyring().env("BOSUN_BLANK", "3000").set_up();
    let log = || std::fs::read_to_string(desk.data().join("logs/bosun.log")).unwrap_or_default();
    let mark = || std::fs::read_to_string(desk.data().join("safe-graphics")).ok();
    let (again, over) = ("starting again in safe drawing", "in safe drawing too");
    let project = desk.project().to_string_lossy().into_owned();
    let safely = format!("--safe-graphics\0--\0{project}");
    let mut app = desk.start(&["--", &project]);
    assert!(app.wait().expect("the app can be waited for").success(), "{}", log());
    assert_eq!(mark().as_deref(), Some(env!("CARGO_PKG_VERSION")));
    // The second one is as blank, and stays: there is nothing safer.
    let said = wait(PATIENCE, || log().contains(over).then_some(()));
    assert!(said.is_some(), "{}", log());
    assert_eq!((log().matches(again).count(), log().matches(over).count()), (1, 1), "{}", log());
    desk.wait_for_window("Bosun");
    assert!(running_with(&safely), "not as it was started");
    desk.picture("safe");
    assert!(desk.ask_to_close());
    desk.wait_for_no_window("Bosun");
    assert!(wait(PATIENCE, || (!running_with(&safely)).then_some(())).is_some(), "it did not end");

    // The next start draws safely from the beginning.
    let mut next = desk.start(&[]);
    let said = wait(PATIENCE, || (log().matches(over).count() == 2).then_some(()));
    assert!(said.is_some() && log().matches(again).count() == 1, "{}", log());
    assert!(next.try_wait().expect("the app can be asked").is_none(), "it ended");
    assert!(desk.ask_to_close());
    assert!(next.wait().expect("the app can be waited for").success());
}
