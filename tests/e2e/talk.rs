//! What goes along with a message and what waits behind a turn: attachments, mentions, commands, the queue, steering.

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::{Desk, Window};
use crate::scene::{ask, at_work, reopen, told};

/// A turn that goes on until `gate` opens, and replies to what comes after it.
fn held() -> ModelServer {
    let server = ModelServer::start();
    let look = Reply::text("I begin.").and_gate("go").and_call("read_file", json!({ "file_path": "/greet.py" }));
    server.add(Rule::turn("hold on").reply(look).reply("The long work is done."));
    server.add(Rule::turn("Only look").reply("I only look."));
    server.add(Rule::turn("shorter").reply("I keep it short, then."));
    server.add(Rule::turn("changelog").reply("The changelog is tidy."));
    server
}

#[test]
fn what_waits_is_changed_moved_deleted_survives_a_stop_and_a_restart_and_is_sent() {
    let desk = Desk::plan("queue").set_up();
    let server = held();
    let window = at_work(&desk, &server);
    ask(&window, "hold on");
    window.wait_for_text("I begin.");
    for words in ["Tidy the changelog", "Delete me", "And look around"] {
        window.field("Message").write(words);
        window.press("Enter");
        window.by_css(".queue").by_css("li:last-child");
        window.wait_until(&format!("return document.querySelector('.queue').innerText.includes('{words}')"));
    }
    window.by_css(".queue li:nth-child(2)").button("Delete from the queue").click();
    window.wait_until("return document.querySelectorAll('.queue li').length === 2");
    window.by_css(".queue li:nth-child(2)").button("Move up in the queue").click();
    window.wait_until("return document.querySelector('.queue li').innerText.includes('look around')");
    window.by_css(".queue li:first-child").button("Edit the message").click();
    let field = window.by_css(".queue textarea");
    field.clear();
    field.write("Say it shorter");
    window.by_css(".queue").button("Save").click();
    window.wait_until("return document.querySelector('.queue li').innerText.includes('Say it shorter')");
    window.shot("queue");
    window.button("Stop").click();
    window.wait_for_text("You stopped the turn.");
    window.crash();
    server.gate("go").open();

    let window = reopen(&desk);
    window.wait_until("return document.querySelectorAll('.queue li').length === 2");
    window.shot("after-restart");
    window.by_css(".queue li:first-child").button("Stop the turn and send it now").click();
    window.wait_for_text("I keep it short, then.");
    window.wait_for_text("The changelog is tidy.");
    window.wait_until("return document.querySelector('.queue') === null");
}

#[test]
fn a_running_turn_is_steered_at_its_next_step() {
    let desk = Desk::plan("steer").set_up();
    let server = held();
    let window = at_work(&desk, &server);
    ask(&window, "hold on");
    window.wait_for_text("I begin.");
    window.field("Message").write("Only look, please");
    window.press("Control+Enter");
    window.wait_until("return [...document.querySelectorAll('.human')].at(-1).innerText.includes('Only look')");
    server.gate("go").open();
    window.wait_for_text("I only look.");
    window.shot("steered");
    assert!(told(&server).contains("Only look, please"), "the turn was not told at its next step");
}

/// Puts a file into the message box as `event` does: WebDriver plays neither clipboards nor other windows.
fn bring(window: &Window<'_>, event: &str, name: &str) {
    window.script(
        "const [event, name] = arguments;
         const data = new DataTransfer();
         data.items.add(new File(['The tower is 31 m high.\\n'], name, { type: 'text/plain' }));
         const field = document.querySelector('.composer textarea');
         const told = { bubbles: true, cancelable: true };
         if (event === 'paste') field.dispatchEvent(new ClipboardEvent('paste', { ...told, clipboardData: data }));
         if (event === 'drop') for (const type of ['dragover', 'drop'])
           field.dispatchEvent(new DragEvent(type, { ...told, dataTransfer: data }));
         if (event === 'pick') {
           const picker = document.querySelector('.composer input[type=file]');
           picker.files = data.files;
           picker.dispatchEvent(new Event('change', { bubbles: true }));
         }",
        &[json!(event), json!(name)],
    );
    window.wait_until(&format!("return document.querySelector('.composer').innerText.includes('{name}')"));
}

#[test]
fn files_are_pasted_dropped_and_picked_and_things_are_named() {
    let desk = Desk::plan("attach").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("how high").reply("31 m."));
    let window = at_work(&desk, &server);
    for event in ["paste", "drop", "pick"] {
        bring(&window, event, &format!("{event}.txt"));
    }
    window.button("Remove “drop.txt”").click();
    window.wait_until("return !document.querySelector('.composer').innerText.includes('drop.txt')");
    window.field("Message").write("how high, by ");
    window.button("Mention a file, folder, memory or session (@)").click();
    window.field("Message").write("gre");
    window.wait_until("return document.querySelector('.suggest [role=option]') !== null");
    window.shot("mention");
    window.press("Enter");
    window.wait_until("return document.querySelector('.composer textarea').value.includes('@greet.py')");
    window.press("Enter");
    window.wait_for_text("31 m.");
    window.shot("sent");
    let asked = told(&server);
    assert_eq!(asked.matches("The tower is 31 m high.").count(), 2, "{asked}");
    assert!(asked.contains("def greet(name)"), "what was named is not told");
}

#[test]
fn commands_of_the_message_box_are_done_and_are_no_message() {
    let desk = Desk::plan("slash").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("hello").reply("Hello yourself."));
    let window = at_work(&desk, &server);
    ask(&window, "hello");
    window.wait_for_text("Hello yourself.");
    window.field("Message").write("/timeline");
    window.wait_until("return document.querySelector('.suggest [role=option]') !== null");
    window.press("Enter");
    window.wait_until("return document.querySelector('[role=tab][data-state=active]').innerText.includes('Timeline')");
    window.press("Control+f");
    window.by_css(".find input").write("yourself");
    window.wait_for_text("1 of 1");
    window.shot("found");
    assert_eq!(server.requests().len(), 1, "a command was sent to the model");
}
