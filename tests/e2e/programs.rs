//! The programs that the design was tried with, in the window. The agents of the second and the third are declared in
//! `agent.toml` of the data folder.

use std::fs;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::Desk;
use crate::scene::{answer, ask, at_work, card, card_is_gone};

#[test]
fn a_folder_is_made_anew_filled_listed_read_and_run() {
    let desk = Desk::plan("program-files").set_up();
    let server = ModelServer::start();
    let mut files = Reply::text("Writing the files.");
    for (name, content) in
        [("hello.py", "print(\"Hello World\")\n"), ("one.txt", "1\n"), ("two.txt", "2\n"), ("three.txt", "3\n")]
    {
        files = files.and_call("write_file", json!({ "file_path": format!("/demo/{name}"), "content": content }));
    }
    let look = Reply::new()
        .and_call("ls", json!({ "path": "/demo" }))
        .and_call("read_file", json!({ "file_path": "/demo/hello.py" }));
    server.add(
        Rule::turn("set up the demo")
            .reply(Reply::text("Starting clean.").and_call("delete", json!({ "file_path": "/demo" })))
            .reply(Reply::call("execute", json!({ "command": "mkdir demo" })))
            .reply(files)
            .reply(look)
            .reply(Reply::call("execute", json!({ "command": "python3 demo/hello.py" })))
            .reply("It says so."),
    );
    let window = at_work(&desk, &server);
    fs::create_dir(desk.project().join("demo")).unwrap();
    fs::write(desk.project().join("demo/old.txt"), "from before\n").unwrap();
    ask(&window, "set up the demo");
    card(&window);
    window.shot("delete");
    answer(&window, "Approve");
    answer(&window, "Approve");
    window.wait_for_text("1 of 4");
    for _ in 0..4 {
        answer(&window, "Approve");
    }
    card(&window);
    window.shot("run");
    answer(&window, "Approve");
    window.wait_for_text("It says so.");
    window.shot("done");
    let mut names: Vec<_> =
        fs::read_dir(desk.project().join("demo")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["hello.py", "one.txt", "three.txt", "two.txt"]);
    let printed = server.requests()[5].asked().last().to_owned();
    assert!(printed.contains("Hello World") && printed.contains("exit code 0"), "{printed}");
}

/// One part of the second program: a subagent looks, the plan goes on, one line of a file is to change.
fn analysed(name: &str, guests: &str) -> [Rule; 2] {
    let plan = |first: &str, second: &str| {
        json!({ "todos": [
            { "content": format!("Have the {name} counted"), "status": first },
            { "content": "Write the number down", "status": second },
        ] })
    };
    let errand =
        json!({ "description": format!("Count the {name} in /guests.txt"), "subagent_type": "research-analyst" });
    let edit = json!({
        "file_path": "/plan.md",
        "old_string": format!("{name}: ?"),
        "new_string": format!("{name}: {guests}"),
    });
    let main = Rule::turn(format!("complete the {name}"))
        .reply(Reply::call("write_todos", plan("in_progress", "pending")))
        .reply(Reply::call("task", errand))
        .reply(
            Reply::call("write_todos", plan("completed", "in_progress"))
                .and_call("read_file", json!({ "file_path": "/plan.md" })),
        )
        .reply(Reply::call("edit_file", edit))
        .reply(Reply::call("write_todos", plan("completed", "completed")))
        .reply(Reply::text(format!("The {name} are complete.")));
    let analyst = Rule::turn(format!("Count the {name}"))
        .reply(Reply::call("read_file", json!({ "file_path": "/guests.txt" })))
        .reply(Reply::text(format!("There are {guests} {name}.")));
    [main, analyst]
}

/// The second program's agent, with `gate` on its edits.
fn planner(gate: &str) -> String {
    format!(
        r#"
name = "planner"
builtin_tools = ["write_todos", "read_file", "edit_file", "task"]

[approvals.tools]
edit_file = {gate}

[[subagents]]
name = "research-analyst"
description = "Reads what is there and says what it found."
tools = ["read_file", "write_todos"]
"#
    )
}

/// The third program's: its files are kept in the session, and what it learns outlives it.
const SCRIBE: &str = r#"
name = "scribe"

[approvals]
edits = "allow"

[backend]
default = "state"

[[backend.routes]]
prefix = "/conversation_history"
kind = "store"
namespace = "history"
"#;

fn declare(desk: &Desk, agent: &str) {
    fs::create_dir_all(desk.data()).unwrap();
    fs::write(desk.data().join("agent.toml"), agent).unwrap();
}

#[test]
fn a_plan_a_subagent_and_an_edit_that_is_accepted_changed_and_answered() {
    let desk = Desk::plan("program-plan").set_up();
    let server = ModelServer::start();
    for (name, guests) in [("adults", "2"), ("children", "3"), ("dogs", "1")] {
        let [main, analyst] = analysed(name, guests);
        server.add(main).add(analyst);
    }
    fs::write(desk.project().join("guests.txt"), "Ann\nBob\nCyd\n").unwrap();
    fs::write(desk.project().join("plan.md"), "# Plan\nadults: ?\nchildren: ?\ndogs: ?\n").unwrap();
    declare(&desk, &planner("true"));
    let window = at_work(&desk, &server);
    let plan = || fs::read_to_string(desk.project().join("plan.md")).unwrap();

    ask(&window, "Please complete the adults");
    answer(&window, "Approve");
    window.wait_for_text("The adults are complete.");
    window.wait_for_text("planner");
    assert!(plan().contains("adults: 2"), "{}", plan());

    ask(&window, "Now complete the children");
    card(&window);
    window.button("Edit…").click();
    let field = window.field("new_string");
    field.clear();
    field.write("children: 3 (one asleep)");
    window.button("Run as edited").click();
    card_is_gone(&window);
    window.wait_for_text("The children are complete.");
    assert!(plan().contains("children: 3 (one asleep)"), "{}", plan());

    ask(&window, "And complete the dogs");
    card(&window);
    window.button("Respond…").click();
    window.by_css("[role=dialog] textarea").write("No dogs this year.");
    window.button("Send answer").click();
    card_is_gone(&window);
    window.wait_for_text("The dogs are complete.");
    assert!(plan().contains("dogs: ?"), "{}", plan());
    window.shot("done");
    let answered = server.requests().iter().any(|request| request.asked().last().contains("No dogs this year."));
    assert!(answered, "the model never read the answer");
}

#[test]
fn an_edit_that_may_only_be_answered_offers_nothing_else() {
    let desk = Desk::plan("program-respond").set_up();
    let server = ModelServer::start();
    let [main, analyst] = analysed("dogs", "1");
    server.add(main).add(analyst);
    fs::write(desk.project().join("guests.txt"), "Ann\n").unwrap();
    fs::write(desk.project().join("plan.md"), "# Plan\ndogs: ?\n").unwrap();
    declare(&desk, &planner(r#"{ allowed = ["respond"], description = "The plan is mine." }"#));
    let window = at_work(&desk, &server);
    ask(&window, "Please complete the dogs");
    card(&window);
    window.wait_for_text("The plan is mine.");
    window.wait_until(
        "const names = [...document.querySelectorAll('[role=dialog][aria-modal=false] .answers > button')];
         return names.length === 1 && names[0].textContent.includes('Respond')",
    );
    window.shot("respond-only");
    window.button("Respond…").click();
    window.by_css("[role=dialog] textarea").write("I wrote it myself.");
    window.button("Send answer").click();
    card_is_gone(&window);
    window.wait_for_text("The dogs are complete.");
    assert_eq!(fs::read_to_string(desk.project().join("plan.md")).unwrap(), "# Plan\ndogs: ?\n");
    assert!(server.requests().iter().any(|request| request.asked().last().contains("I wrote it myself.")));
}

#[test]
fn what_is_kept_in_the_session_stays_there_and_the_rest_outlives_it() {
    const PATHS: [&str; 4] =
        ["/draft.md", "/memories/AGENTS.md", "/skills/user/knots/SKILL.md", "/conversation_history/log.md"];
    const SKILL: &str = "---\nname: knots\ndescription: Ties ropes together.\n---\nOver, under, through.\n";
    let desk = Desk::plan("program-kept").set_up();
    let server = ModelServer::start();
    let content = |path: &str| if path.ends_with("SKILL.md") { SKILL } else { "The sea is calm.\n" };
    let call = |tool: &'static str| {
        move |reply: Reply, path: &str| match tool {
            "write_file" => reply.and_call(tool, json!({ "file_path": path, "content": content(path) })),
            _ => reply.and_call(tool, json!({ "file_path": path })),
        }
    };
    let all = |tool| PATHS.into_iter().fold(Reply::new(), call(tool));
    server.add(Rule::turn("write it all").reply(all("write_file")).reply("It is written."));
    server.add(Rule::turn("read it elsewhere").reply(all("read_file")).reply("It is read."));
    declare(&desk, SCRIBE);
    let window = at_work(&desk, &server);
    let before = fs::read_dir(desk.project()).unwrap().count();
    ask(&window, "write it all");
    window.wait_for_text("It is written.");
    window.wait_for_text("scribe");
    window.shot("written");
    window.press("Control+n");
    window.wait_for_text("What should be done?");
    ask(&window, "read it elsewhere");
    window.wait_for_text("It is read.");
    assert_eq!(fs::read_dir(desk.project()).unwrap().count(), before, "the project is out of reach");
    let last = server.requests().last().unwrap().asked();
    let read: Vec<&str> = last.said[last.said.len() - PATHS.len()..].iter().map(|said| said.text.as_str()).collect();
    assert!(read[0].contains("not found"), "the session's own file, in another session: {read:?}");
    for (path, text) in PATHS.iter().zip(&read).skip(1) {
        assert!(content(path).lines().all(|line| text.contains(line)), "{path}: {text}");
    }
    assert!(last.system.contains("The sea is calm."), "it is remembered");
}
