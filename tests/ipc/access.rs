//! Who may call at all.

use serde_json::json;

use crate::page::Page;

#[test]
fn the_page_calls_our_commands_and_none_of_tauris_own() {
    let page = Page::open();
    assert_eq!(page.ok("start", json!({}))["version"], env!("CARGO_PKG_VERSION"));
    let own = [
        "plugin:window|close",
        "plugin:event|emit",
        "plugin:event|listen",
        "plugin:app|version",
        "plugin:path|resolve_directory",
        "plugin:webview|create_webview_window",
        "plugin:dialog|open",
        "plugin:fs|read_file",
        "plugin:opener|open_url",
        "plugin:shell|execute",
    ];
    for command in own.into_iter().chain(["no_such_command", "START", ""]) {
        let error = page.call(command, json!({})).expect_err(command).to_string();
        assert!(error.contains("not allowed") || error.contains("not found"), "{command}: {error}");
    }
}

#[test]
fn no_other_window_and_no_other_origin_may_call() {
    let other = Page::plan().label("other").open();
    assert!(other.call("start", json!({})).unwrap_err().to_string().contains("not allowed"));
    let page = Page::open();
    for url in [
        "https://evil.example",
        "http://localhost:5174",
        "tauri://evil",
        "data:text/html,x",
        "file:///x",
        "about:blank",
    ] {
        let error = page.call_from(url, "start", json!({})).expect_err(url).to_string();
        assert!(error.contains("not allowed"), "{url}: {error}");
    }
}
