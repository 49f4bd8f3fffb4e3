//! The programs that the design was tried with, headless.

use bosun_protocol::{ItemBody, SessionEvent, TodoStatus, ToolState};
use bosun_testkit::{Reply, Rule, Wire};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::Bench;

fn hello_program() -> Rule {
    let write = |reply: Reply, name: &str, content: &str| {
        reply.and_call("write_file", json!({ "file_path": format!("/demo/{name}"), "content": content }))
    };
    let mut files = write(Reply::text("Writing the files."), "hello.py", "print(\"Hello World\")\n");
    for name in ["one.txt", "two.txt", "three.txt"] {
        files = write(files, name, &format!("{name}\n"));
    }
    Rule::turn("set up the demo")
        .reply(Reply::text("Starting clean.").and_call("execute", json!({ "command": "rm -rf demo && mkdir demo" })))
        .reply(files)
        .reply(
            Reply::new()
                .and_call("ls", json!({ "path": "/demo" }))
                .and_call("read_file", json!({ "file_path": "/demo/hello.py" })),
        )
        .reply(Reply::call("execute", json!({ "command": "python3 demo/hello.py" })))
        .reply("It prints Hello World.")
}

#[test]
fn a_folder_is_made_anew_filled_listed_read_and_run() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let bench = Bench::on(wire);
        // Once there is such a folder, and once there is none to remove.
        if wire == Wire::Anthropic {
            bench.project.write("demo/old.txt", "from before\n");
        }
        bench.server.add(hello_program());
        let ran = bench.run(&["--approve", "all", "set up the demo"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.out, "Starting clean.\nWriting the files.\nIt prints Hello World.\n");
        assert_eq!(bench.project.tree(), ["demo/", "demo/hello.py", "demo/one.txt", "demo/three.txt", "demo/two.txt"]);
        let asked = bench.server.requests()[3].asked();
        let results: Vec<&str> = asked.said.iter().rev().take(2).map(|said| said.text.as_str()).collect();
        assert!(results[0].contains("print(\"Hello World\")"), "{results:?}");
        assert!(results[1].contains("/demo/hello.py") && !results[1].contains("old.txt"), "{results:?}");
        // Everything but the interpreter is ours.
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        if is_ci || std::process::Command::new("python3").arg("--version").output().is_ok() {
            assert!(bench.server.requests()[4].asked().last().contains("Hello World"));
            assert!(ran.err.contains("✓ execute python3 demo/hello.py  exit 0"), "{}", ran.err);
        }
    }
}

/// The second program: a plan, an analyst who looks, a file read and one line of it changed.
pub(crate) fn analysed() -> [Rule; 2] {
    analysed_by("general-purpose")
}

/// The same with the analyst called `subagent`.
pub(crate) fn analysed_by(subagent: &str) -> [Rule; 2] {
    let plan = |first: &str, second: &str| {
        json!({ "todos": [
            { "content": "Have the guests counted", "status": first },
            { "content": "Write the number down", "status": second },
        ] })
    };
    let errand = json!({ "description": "Count the guests in /guests.txt", "subagent_type": subagent });
    let edit = json!({ "file_path": "/plan.md", "old_string": "Guests: ?", "new_string": "Guests: 3" });
    let main = Rule::turn("complete the plan")
        .reply(Reply::call("write_todos", plan("in_progress", "pending")))
        .reply(Reply::call("task", errand))
        .reply(
            Reply::new()
                .and_call("write_todos", plan("completed", "in_progress"))
                .and_call("read_file", json!({ "file_path": "/plan.md" })),
        )
        .reply(Reply::call("edit_file", edit))
        .reply(Reply::call("write_todos", plan("completed", "completed")))
        .reply("The plan is complete.");
    let analyst = Rule::turn("Count the guests")
        .reply(Reply::call("read_file", json!({ "file_path": "/guests.txt" })))
        .reply("There are 3 guests.");
    [main, analyst]
}

#[test]
fn a_plan_a_subagent_and_an_edit_come_together() {
    for mode in ["all", "edits"] {
        let bench = Bench::new();
        bench.project.write("guests.txt", "Ann\nBob\nCyd\n");
        bench.project.write("plan.md", "# Plan\nGuests: ?\n");
        let [main, analyst] = analysed();
        bench.server.add(main).add(analyst);
        let ran = bench.run(&["--json", "--approve", mode, "complete the plan"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(bench.project.read("plan.md"), "# Plan\nGuests: 3\n");
        let events = ran.events();
        let todos = events.iter().rev().find_map(|event| match event {
            SessionEvent::TodosReplaced { todos } => Some(todos),
            _ => None,
        });
        assert!(todos.unwrap().iter().all(|todo| todo.status == TodoStatus::Completed));
        let errand = events.iter().find_map(|event| match event {
            SessionEvent::ItemCompleted { item } => match &item.body {
                ItemBody::Tool(tool) if tool.name == "task" => Some(tool),
                _ => None,
            },
            _ => None,
        });
        let errand = errand.expect("the delegation");
        assert_eq!(errand.state, ToolState::Done);
        assert!(errand.output.contains("There are 3 guests.") && errand.child.is_some());
        let changed = events
            .iter()
            .any(|event| matches!(event, SessionEvent::FileChanged { change } if change.path == "/plan.md"));
        assert!(changed);
    }
}

#[test]
fn the_edit_waits_where_nobody_can_approve_and_is_made_once() {
    let bench = Bench::new();
    bench.project.write("guests.txt", "Ann\nBob\nCyd\n");
    bench.project.write("plan.md", "# Plan\nGuests: ?\n");
    let [main, analyst] = analysed();
    bench.server.add(main).add(analyst);
    let waiting = bench.run(&["complete the plan"]);
    assert_eq!(waiting.code, Some(2), "{}", waiting.err);
    assert!(waiting.err.contains("waits for an approval: edit_file /plan.md"), "{}", waiting.err);
    assert_eq!(bench.project.read("plan.md"), "# Plan\nGuests: ?\n");
    let done = bench.go_on(&bench.last_session(), &["--approve", "edits"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "The plan is complete.\n"), "{}", done.err);
    assert_eq!(bench.project.read("plan.md"), "# Plan\nGuests: 3\n");
    assert_eq!(bench.server.requests().len(), 8);
}
