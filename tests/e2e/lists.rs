//! The list of sessions: found, renamed, pinned, written out, archived, deleted and brought back; what waits in any of them.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, PATIENCE, Window, wait};
use crate::scene::{ask, at_work, card_is_gone, type_in};

fn choose(window: &Window<'_>, title: &str, what: &'static str) {
    window.button(&format!("More for “{title}”")).click();
    window.by_role("menuitem", what).click();
    window.wait_until("return document.querySelector('.menu') === null");
}

fn titles(window: &Window<'_>) -> String {
    window.by_css("aside.left").text()
}

#[test]
fn a_session_is_renamed_pinned_written_out_archived_deleted_and_brought_back() {
    let desk = Desk::plan("lists").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("tower").reply("It is 31 m high. ![spy](https://spy.example/x.png)"));
    let window = at_work(&desk, &server);
    ask(&window, "the tower");
    window.wait_for_text("It is 31 m high.");
    choose(&window, "the tower", "Rename");
    window.field("Title of the session");
    window.press("Control+a");
    type_in(&window, "Heights");
    window.press("Enter");
    window.button("More for “Heights”");
    choose(&window, "Heights", "Pin");
    window.wait_until("return document.querySelector('aside.left').innerText.includes('Pinned')");

    let out = desk.home().join("out");
    fs::create_dir(&out).unwrap();
    desk.pick(&out);
    for format in ["Export as Markdown", "Export as JSON", "Export as a web page"] {
        choose(&window, "Heights", format);
        window.wait_for_text("nothing in it looks like a key");
        window.button("Choose a folder…").click();
        window.wait_for_text("Written to");
    }
    let files = || fs::read_dir(&out).unwrap().map(|file| file.unwrap().path());
    window.wait_until("return true");
    let kinds: std::collections::BTreeSet<String> =
        files().map(|file| file.extension().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["html", "json", "md"]);
    let page = files().find(|file| file.extension().is_some_and(|kind| kind == "html")).unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("31 m high") && !page.contains("<img") && !page.contains("<script"), "{page}");

    choose(&window, "Heights", "Archive");
    window.wait_for_text("“Heights” was archived");
    window.button("Undo").click();
    window.button("More for “Heights”");
    choose(&window, "Heights", "Delete");
    window.wait_for_text("“Heights” was deleted");
    window.shot("deleted");
    window.button("Undo").click();
    window.button("More for “Heights”");
    // It stays so over a restart.
    window.close();
    let window = desk.open();
    window.button("More for “Heights”");
    assert!(titles(&window).contains("Pinned"));
}

#[test]
fn what_was_said_in_any_session_is_found_from_the_palette() {
    let desk = Desk::plan("search").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("tower").reply("It is 31 m high."));
    server.add(Rule::turn("bridge").reply("It is 90 m long."));
    let window = at_work(&desk, &server);
    ask(&window, "the tower");
    window.wait_for_text("31 m high");
    window.press("Control+n");
    ask(&window, "the bridge");
    window.wait_for_text("90 m long");
    window.press("Control+k");
    window.by_css(".palette input").write("31 m");
    window.wait_for_text("Said in sessions");
    window.wait_until(
        "const hit = [...document.querySelectorAll('.palette [role=option]')].find((one) => one.innerText.includes('31'));
         hit?.click();
         return hit !== undefined",
    );
    window.wait_until("return document.querySelector('h1')?.innerText.includes('the tower')");
    window.shot("found");
}

#[test]
fn sessions_work_side_by_side_and_what_waits_is_answered_from_one_place() {
    let desk = Desk::plan("side-by-side").set_up();
    let server = ModelServer::start();
    for name in ["one", "two"] {
        let call = Reply::call("write_file", json!({ "file_path": format!("/{name}.txt"), "content": name }));
        server.add(Rule::turn(name).reply(call).reply(format!("{name} is written.").as_str()));
    }
    server.add(Rule::turn("chat").reply("Chatting."));
    let window = at_work(&desk, &server);
    for name in ["one", "two"] {
        ask(&window, name);
        window.wait_for_text("asked because");
        window.press("Control+n");
        window.wait_for_text("What should be done?");
    }
    ask(&window, "chat");
    window.wait_for_text("Chatting.");
    assert!(titles(&window).contains("Needs you"));
    window.button("Waiting for you").click();
    window.wait_until("return document.querySelectorAll('[role=dialog] [role=dialog]').length === 2");
    window.shot("inbox");
    for _ in 0..2 {
        window.wait_until(
            "const card = document.querySelector('[role=dialog] [role=dialog]');
             if (card === null) return false;
             if (window.cardSeen?.card !== card) window.cardSeen = { card, at: performance.now() };
             return performance.now() - window.cardSeen.at > 700",
        );
        window.by_css("[role=dialog] [role=dialog]").button("Approve").click();
        card_is_gone(&window);
    }
    window.wait_for_text("Nothing is waiting for you");
    window.press("Escape");
    // The card goes with the answer, and the call runs behind it.
    for name in ["one", "two"] {
        let file = desk.project().join(format!("{name}.txt"));
        assert!(wait(PATIENCE, || file.exists().then_some(())).is_some(), "{name} was not written");
    }
    // Their ends were not looked at yet.
    window.wait_until("return document.querySelectorAll('aside.left .fresh').length === 2");
    window.shot("unread");
    window.press("Control+2");
    window.wait_until("return document.querySelectorAll('aside.left .fresh').length === 1");
}
