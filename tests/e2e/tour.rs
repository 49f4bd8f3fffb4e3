//! The tour, from the first page to its end, as somebody without a key takes it.

use std::fs;

use crate::harness::Desk;
use crate::scene::answer;

/// What a person reads and presses, in one language.
struct Words {
    next: &'static str,
    tour: &'static str,
    scripted: &'static str,
    send: &'static str,
    approve: &'static str,
    end: &'static str,
    /// The title of the system's dialog that confirms what is grave; `None` where the desk says yes by itself.
    dialog: Option<&'static str>,
}

fn take(desk: &Desk, words: &Words) {
    let window = desk.open();
    window.button(words.next).click();
    window.shot("model");
    let place = desk.home().join("projects");
    fs::create_dir(&place).unwrap();
    desk.pick(&place);
    window.button(words.tour).click();
    window.wait_for_text(words.scripted);
    window.shot("begin");
    let script = place.join("bosun-tour/total.sh");
    let before = fs::read_to_string(&script).unwrap();
    window.button(words.send).click();

    crate::scene::card(&window);
    window.shot("edit");
    assert_eq!(fs::read_to_string(&script).unwrap(), before, "nothing may change before the answer");
    answer(&window, words.approve);
    crate::scene::card(&window);
    window.shot("command");
    assert_eq!(fs::read_to_string(&script).unwrap(), before.replace("NR > 2", "NR > 1"));
    match words.dialog {
        None => answer(&window, words.approve),
        Some(title) => {
            window.button(words.approve).click();
            let dialog = desk.wait_for_window(title);
            desk.picture("dialog");
            // Sooner a yes would not count.
            std::thread::sleep(std::time::Duration::from_millis(600));
            desk.choose_yes_in(&dialog);
        }
    }
    window.wait_for_text(words.end);
    window.wait_until("return document.querySelectorAll('.dot.running, .dot.waiting').length === 0");
    // Cards that went and rows that came have not left the last words out of sight.
    window.wait_until(
        "const log = document.querySelector('.log'); return log.scrollHeight - log.scrollTop - log.clientHeight <= 32",
    );
    assert!(window.text().contains(words.scripted), "the window no longer says that the model is scripted");
    window.shot("end");
    // The sum that the script printed, not the one that the model was told to say.
    assert!(window.text().contains("40.50"));
}

#[test]
fn the_tour_ends_with_a_repaired_file() {
    let words = Words {
        next: "Continue",
        tour: "Take the tour",
        scripted: "Scripted tour",
        send: "Send",
        approve: "Approve",
        end: "One character changed",
        dialog: None,
    };
    take(&Desk::plan("tour-en").set_up(), &words);
}

#[test]
fn the_tour_in_chinese() {
    let words = Words {
        next: "继续",
        tour: "开始导览",
        scripted: "脚本导览",
        send: "发送",
        approve: "批准",
        end: "只改了一个字符",
        dialog: Some("Bosun 请你确认"),
    };
    let desk = Desk::plan("tour-zh").small().theme("dark").language("zh-CN").env("BOSUN_CONFIRM", "ask");
    take(&desk.set_up(), &words);
}
