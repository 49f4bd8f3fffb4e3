//! Changes of the agent as a person goes through them: both sides beside each other, words about a line, pictures and
//! other files that are no text.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, PATIENCE, Window, wait};
use crate::scene::{answer, ask, at_work, pane, told, type_in};

fn numbers() -> String {
    (1..=20).map(|number| format!("{number}\n")).collect()
}

/// A window in which the agent wrote two of twenty lines anew.
fn two_places<'d>(desk: &'d Desk, server: &ModelServer) -> Window<'d> {
    let edit = |old: &str, new: &str| json!({ "file_path": "/numbers.txt", "old_string": format!("\n{old}\n"), "new_string": format!("\n{new}\n") });
    server.add(
        Rule::turn("as words")
            .reply(Reply::call("read_file", json!({ "file_path": "/numbers.txt" })))
            .reply(Reply::call("edit_file", edit("2", "two")))
            .reply(Reply::call("edit_file", edit("19", "nineteen")))
            .reply("Two are words now."),
    );
    fs::write(desk.project().join("numbers.txt"), numbers()).unwrap();
    let window = at_work(desk, server);
    ask(&window, "Write numbers as words");
    answer(&window, "Approve");
    answer(&window, "Approve");
    window.wait_for_text("Two are words now.");
    pane(&window, "Changes");
    window.wait_until("return document.querySelectorAll('.inspector [data-hunk]').length === 2");
    window
}

#[test]
fn what_is_said_about_a_line_of_a_change_reaches_the_model() {
    let desk = Desk::plan("line-comment").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("too long a word").reply("I will shorten it."));
    let window = two_places(&desk, &server);
    window.by_css(".inspector .added .pick").click();
    let draft = "return document.querySelector('.composer textarea').value";
    window.wait_until(&format!("{draft} === '@numbers.txt:2\\n> two\\n'"));
    // The caret is behind it.
    type_in(&window, "One letter, please.");
    // The second line by keys alone, as it was.
    window.by_css(".inspector ul[aria-label='Changed files'] button").click();
    for key in ["]", "]", "Down", "Down", "Down", "Down", "c"] {
        window.press(key);
    }
    window.wait_until(&format!("{draft}.endsWith('@numbers.txt:19 (removed)\\n> 19\\n')"));
    window.shot("quoted");
    type_in(&window, "This is too long a word.");
    window.press("Enter");
    window.wait_for_text("I will shorten it.");
    let asked = server.requests().pop().unwrap().asked();
    let said = asked.last_human();
    for words in
        ["numbers.txt:2\n> two\nOne letter, please.", "numbers.txt:19 (removed)\n> 19\nThis is too long a word."]
    {
        assert!(said.contains(words), "{words:?} was not said: {said}");
    }
    assert!(told(&server).contains("nineteen"), "the file that was named is not told");
}

#[test]
fn one_place_is_undone_with_both_sides_beside_each_other_by_keyboard() {
    let desk = Desk::plan("both-sides").set_up();
    let server = ModelServer::start();
    let window = two_places(&desk, &server);
    window.button("Open with more room").click();
    let wide = window.by_role("dialog", "Changes");
    wide.button("Before and after side by side").click();
    window.wait_until(
        "const pair = [...document.querySelectorAll('.dialog .pair')].find((one) => one.querySelector('.added'));
         const [old, now] = pair?.querySelectorAll('.half') ?? [];
         return old?.innerText.trim() === '2\\n2' && now?.innerText.trim() === '2\\ntwo'
           && old.getBoundingClientRect().right <= now.getBoundingClientRect().left + 1",
    );
    window.shot("sides");
    for key in ["]", "]", "u"] {
        window.press(key);
    }
    let file = desk.project().join("numbers.txt");
    let half = numbers().replacen("\n2\n", "\ntwo\n", 1);
    let is = |wanted: &str| wait(PATIENCE, || (fs::read_to_string(&file).unwrap() == wanted).then_some(())).is_some();
    assert!(is(&half), "{:?}", fs::read_to_string(&file).unwrap());
    window.wait_until("return document.querySelectorAll('.dialog [data-hunk]').length === 1");
    window.shot("one-left");
    window.by_css(".dialog").button("Bring it back").click();
    assert!(is(&half.replacen("\n19\n", "\nnineteen\n", 1)), "{:?}", fs::read_to_string(&file).unwrap());
    // Both sides stay beside each other, here and in the pane.
    window.wait_until("return document.querySelectorAll('.dialog [data-hunk]').length === 2");
    window.press("Escape");
    window.wait_until("return document.querySelectorAll('.inspector .pair').length > 0");
    window.button("Undo the changes to numbers.txt").click();
    assert!(is(&numbers()), "{:?}", fs::read_to_string(&file).unwrap());
}

/// Four blue pixels by two.
const BLUE: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x04\x00\x00\x00\x02\x08\x02\x00\x00\x00\xf0\xca\
    \xea4\x00\x00\x00\x0fIDATx\xdac``\xf8\x8f\x84\x908\x00_\xba\x07\xf9\xf0\xabR\xa5\x00\x00\x00\x00\
    IEND\xaeB`\x82";

/// As many red ones.
const RED: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x04\x00\x00\x00\x02\x08\x02\x00\x00\x00\xf0\xca\
    \xea4\x00\x00\x00\x10IDATx\xdac\xf8\xcf\xc0\x00G\x0c\xc8\x1c\x00o\xaa\x07\xf9h\xdd\xaf\xa7\x00\
    \x00\x00\x00IEND\xaeB`\x82";

#[test]
fn pictures_are_shown_before_and_after_and_what_is_no_text_goes_back_whole() {
    const BEFORE: &[u8] = b"\x00\x01\x02\xff before";
    let desk = Desk::plan("pictures").set_up();
    let server = ModelServer::start();
    let command =
        "cp spare/red.png logo.png && cp spare/red.png second.png && printf '\\0\\377 after, and more' > data.bin";
    let call = Reply::call("execute", json!({ "command": command }));
    server.add(Rule::turn("paint it").reply(call).reply("It is painted."));
    let at = |name: &str| desk.project().join(name);
    fs::create_dir(at("spare")).unwrap();
    for (name, bytes) in [("spare/red.png", RED), ("logo.png", BLUE), ("data.bin", BEFORE)] {
        fs::write(at(name), bytes).unwrap();
    }
    let window = at_work(&desk, &server);
    ask(&window, "paint it red");
    answer(&window, "Approve");
    window.wait_for_text("It is painted.");
    assert_eq!(fs::read(at("logo.png")).unwrap(), RED);
    pane(&window, "Changes");
    let list = window.by_css(".inspector ul[aria-label='Changed files']");
    list.button("logo.png").click();
    // The page may draw them: each has its own colour.
    let colours = "return [...document.querySelectorAll('.inspector .sides img')].map((picture) => {
        if (!picture.complete || picture.naturalWidth !== 4) return picture.alt;
        const canvas = Object.assign(document.createElement('canvas'), { width: 4, height: 2 });
        const brush = canvas.getContext('2d');
        brush.drawImage(picture, 0, 0);
        return `${picture.alt} ${[...brush.getImageData(1, 1, 1, 1).data]}`;
    }).join('; ')";
    let shows = |wanted: &str| {
        let seen = wait(PATIENCE, || (window.script(colours, &[]) == wanted).then_some(()));
        assert!(seen.is_some(), "{wanted:?} is not shown: {}", window.script(colours, &[]));
    };
    shows("logo.png: Before 0,0,255,255; logo.png: After 255,0,0,255");
    window.shot("picture");
    list.button("second.png").click();
    shows("second.png: After 255,0,0,255");
    window.wait_for_text("no file");
    list.button("data.bin").click();
    window.wait_until(
        "const facts = [...document.querySelectorAll('.inspector .facts')].map((one) => one.innerText);
         return document.querySelector('.inspector .sides img') === null && facts.length === 2
           && facts[0].startsWith('11 B') && facts[1].startsWith('18 B') && facts[0].slice(-12) !== facts[1].slice(-12)",
    );
    window.shot("no-text");
    for name in ["data.bin", "logo.png", "second.png"] {
        list.button(name).click();
        window.button(&format!("Undo the changes to {name}")).click();
        window.wait_until(&format!(
            "const rows = [...document.querySelectorAll('.inspector ul[aria-label=\"Changed files\"] li')];
             return rows.find((row) => row.innerText.includes('{name}'))?.innerText.includes('undone') !== false"
        ));
    }
    assert_eq!(
        (fs::read(at("data.bin")).unwrap(), fs::read(at("logo.png")).unwrap()),
        (BEFORE.to_vec(), BLUE.to_vec())
    );
    assert!(!at("second.png").exists(), "what was made is still there");
}
