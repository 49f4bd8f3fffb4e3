//! What leaves the window: links of a reply and files of the project are opened in the system's programs, when a person
//! says so and not before.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, FileManager, Launcher, Window};
use crate::scene::{answer, ask, at_work, pane};

/// Opens what a link leads to, to be looked at.
fn follow(window: &Window<'_>, link: &str, host: &str) {
    window.by_role("link", link).click();
    window.by_role("dialog", "Open this link?");
    assert_eq!(window.by_css(".link-dialog strong").text(), host);
}

fn left(window: &Window<'_>) {
    window.wait_until("return document.querySelector('.link-dialog') === null");
}

#[test]
fn a_link_says_where_it_leads_and_is_opened_when_that_is_confirmed() {
    let launcher = Launcher::new();
    let desk = Desk::plan("links").env("PATH", &launcher.path()).set_up();
    let server = ModelServer::start();
    let reply = "Read [https://docs.rs/serde](https://docs.rs.evil.test/serde?a=1&b=2#top), \
                 [the news](https://p\u{430}ypal.test/news), or write to [us](mailto:crew@harbour.test).";
    server.add(Rule::turn("where").reply(reply));
    let window = at_work(&desk, &server);
    ask(&window, "where can I read more?");
    window.wait_for_text("the news");

    follow(&window, "https://docs.rs/serde", "docs.rs.evil.test");
    window.shot("asked");
    window.button("Cancel").click();
    left(&window);
    follow(&window, "https://docs.rs/serde", "docs.rs.evil.test");
    window.press("Escape");
    left(&window);
    // A name in letters that look like others stands in the letters of addresses.
    follow(&window, "the news", "xn--pypal-4ve.test");
    window.wait_for_text("Written as");
    window.shot("lookalike");
    window.button("Cancel").click();
    left(&window);
    assert!(launcher.opened().is_empty(), "it was opened before anybody said so: {:?}", launcher.opened());

    follow(&window, "https://docs.rs/serde", "docs.rs.evil.test");
    window.button("Open in the browser").click();
    let web = "https://docs.rs.evil.test/serde?a=1&b=2#top";
    launcher.wait_for(&[web]);
    left(&window);
    follow(&window, "us", "crew@harbour.test");
    window.button("Write an email").click();
    launcher.wait_for(&[web, "mailto:crew@harbour.test"]);
    assert!(window.text().contains("the news"), "the window went along:\n{}", window.text());
}

#[test]
fn files_are_opened_and_shown_by_the_systems_programs_and_no_program_is_started() {
    let launcher = Launcher::new();
    let desk = Desk::plan("openers").env("PATH", &launcher.path()).set_up();
    let manager = FileManager::start(desk.bus());
    let server = ModelServer::start();
    let call = json!({ "file_path": "/notes/a & b.md", "content": "# Both\n" });
    server.add(Rule::turn("note it").reply(Reply::call("write_file", call)).reply("It is noted."));
    let script = desk.project().join("start.sh");
    fs::write(&script, "#!/bin/sh\ntouch started\n").unwrap();
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let window = at_work(&desk, &server);
    ask(&window, "note it");
    answer(&window, "Approve");
    window.wait_for_text("It is noted.");

    pane(&window, "Changes");
    window.by_css(".change").button("Open in its default app").click();
    let at = |path: &str| desk.project().canonicalize().unwrap().join(path).to_string_lossy().into_owned();
    let (note, readme) = (at("notes/a & b.md"), at("README.md"));
    launcher.wait_for(&[&note]);

    pane(&window, "Files");
    // What is at hand shows when the pointer is over it.
    let more = |name: &str, deed: &str| {
        window.by_role("treeitem", name).click();
        window.button(&format!("More for “{name}”")).click();
        window.by_role("menuitem", deed).click();
    };
    more("README.md", "Open in its default app");
    launcher.wait_for(&[&note, &readme]);
    more("README.md", "Show in its folder");
    let (shown, shown_script) = (format!("file://{readme}"), format!("file://{}", at("start.sh")));
    manager.wait_for(&[&shown]);

    // What may be a program is shown and never opened.
    more("start.sh", "Open in its default app");
    window.wait_for_text("may be a program that the system would start");
    window.shot("program");
    more("start.sh", "Show in its folder");
    manager.wait_for(&[&shown, &shown_script]);
    assert_eq!(launcher.opened(), [note, readme], "something else was opened");
    assert!(!desk.project().join("started").exists(), "the program was started");
}
