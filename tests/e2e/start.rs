//! The window opens, is ours, and closes; nothing of it stays behind.

use crate::harness::Desk;

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
