//! On a real terminal, by way of `script` (util-linux), which every Linux has.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use bosun_testkit::{Reply, Rule};
use serde_json::json;

use crate::bench::Bench;

/// A terminal with `bosun run` in it: what it shows, and a way to type.
pub(crate) struct Terminal {
    child: Child,
    pub(crate) shown: String,
}

impl Terminal {
    pub(crate) fn open(bench: &Bench, arguments: &[&str]) -> Self {
        let run = bench.run_command(arguments);
        let words = std::iter::once(run.get_program()).chain(run.get_args());
        let line: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        let mut command = Command::new("script");
        // A shell that stayed in between would be sent the keys' signals as well.
        command.args(["-qec", &format!("exec {}", line.join(" ")), "/dev/null"]).env_clear();
        command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("SHELL", "/bin/sh");
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script starts");
        Self { child, shown: String::new() }
    }

    /// Reads until `words` stand at the end of what is shown.
    pub(crate) fn until(&mut self, words: &str) {
        let mut bytes = self.shown.clone().into_bytes();
        let from = bytes.len();
        let out = self.child.stdout.as_mut().unwrap();
        let mut byte = [0];
        while !String::from_utf8_lossy(&bytes[from..]).contains(words) {
            assert!(out.read(&mut byte).unwrap() > 0, "{words:?} was not shown: {}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        self.shown = String::from_utf8_lossy(&bytes).into_owned();
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// What was shown until the end, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let mut rest = Vec::new();
        self.child.stdout.as_mut().unwrap().read_to_end(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code();
        (self.shown + &String::from_utf8_lossy(&rest), code)
    }
}

fn edit_and_command() -> Rule {
    Rule::turn("change")
        .reply(Reply::call("read_file", json!({ "file_path": "/a.txt" })))
        .reply(Reply::call("edit_file", json!({ "file_path": "/a.txt", "old_string": "one", "new_string": "two" })))
        .reply(Reply::call("execute", json!({ "command": "echo first > b.txt" })))
        .reply("finished")
}

#[test]
fn a_person_approves_a_diff_and_edits_a_command() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(edit_and_command());
    let mut terminal = Terminal::open(&bench, &["change it"]);
    terminal.until("n = no] ");
    assert!(terminal.shown.contains("-one\r\n+two\r\n"), "{}", terminal.shown);
    assert_eq!(bench.project.read("a.txt"), "one\n");
    terminal.type_in("y\n");
    terminal.until("$ echo first > b.txt");
    terminal.until("n = no] ");
    terminal.type_in("e\n");
    terminal.until("goes back): ");
    terminal.type_in("{\"command\": 1}\n");
    // Arguments that do not fit are said, and it is asked again.
    terminal.until("n = no] ");
    terminal.type_in("e\n{\"command\": \"echo second > b.txt\"}\n");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("finished"), "{shown}");
    assert_eq!((bench.project.read("a.txt").as_str(), bench.project.read("b.txt").as_str()), ("two\n", "second\n"));
}

#[test]
fn a_person_answers_in_the_tools_place_and_says_no() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(edit_and_command());
    let mut terminal = Terminal::open(&bench, &["change it"]);
    terminal.until("n = no] ");
    terminal.type_in("r\nuse three instead\n");
    terminal.until("$ echo first");
    terminal.until("n = no] ");
    terminal.type_in("n\nnot now\n");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(bench.project.tree(), ["a.txt"]);
    let requests = bench.server.requests();
    assert!(requests[2].asked().last().contains("use three instead"));
    assert!(requests[3].asked().last().contains("not now"));
}

/// The second program of the design, with its edit accepted, edited and answered.
#[test]
fn the_edit_of_a_plan_is_accepted_edited_and_answered() {
    let edited = json!({ "file_path": "/plan.md", "old_string": "Guests: ?", "new_string": "Guests: about 3" });
    let edited = format!("e\n{edited}\n");
    let answers = [
        ("y\n", "# Plan\nGuests: 3\n", "plan.md"),
        (edited.as_str(), "# Plan\nGuests: about 3\n", "plan.md"),
        ("r\nleave the plan as it is\n", "# Plan\nGuests: ?\n", "leave the plan as it is"),
    ];
    for (keys, plan, told) in answers {
        let bench = Bench::new();
        bench.project.write("guests.txt", "Ann\nBob\nCyd\n");
        bench.project.write("plan.md", "# Plan\nGuests: ?\n");
        let [main, analyst] = crate::programs::analysed();
        bench.server.add(main).add(analyst);
        let mut terminal = Terminal::open(&bench, &["complete the plan"]);
        terminal.until("n = no] ");
        terminal.type_in(keys);
        let (shown, code) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("The plan is complete."), "{shown}");
        assert_eq!(bench.project.read("plan.md"), plan);
        let requests = bench.server.requests();
        assert!(requests[6].asked().last().contains(told), "{:?}", requests[6].asked().last());
    }
}

#[test]
fn control_c_stops_the_turn_and_it_goes_on_later() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(edit_and_command());
    let mut terminal = Terminal::open(&bench, &["change it"]);
    terminal.until("n = no] ");
    terminal.type_in("\u{3}");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("go on with: bosun run --session"), "{shown}");
    assert_eq!(bench.project.read("a.txt"), "one\n");
}

#[test]
fn control_c_stops_a_running_command_with_its_children() {
    let bench = Bench::new();
    let command = "echo begun; sleep 60; touch late";
    bench.server.add(Rule::turn("wait").reply(Reply::call("execute", json!({ "command": command }))).reply("never"));
    let mut terminal = Terminal::open(&bench, &["--approve", "all", "wait"]);
    terminal.until("… execute");
    terminal.type_in("\u{3}");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("■ execute") && shown.contains("stopped"), "{shown}");
    assert!(bench.project.tree().is_empty());
}

#[test]
fn one_subagent_is_stopped_by_its_number_or_id_and_the_others_go_on() {
    let bench = Bench::new();
    let task = |task: &str| json!({ "description": task, "subagent_type": "general-purpose" });
    let send = Reply::new().and_call("task", task("count ducks")).and_call("task", task("count geese"));
    bench.server.add(Rule::turn("count all").reply(send).reply("Five geese."));
    for (birds, name) in [("ducks", "d"), ("geese", "g")] {
        let wait = json!({ "command": format!("touch {name}; while ! test -e {name}.end; do sleep 0.05; done") });
        let count = Rule::turn(format!("count {birds}")).reply(Reply::call("execute", wait));
        bench.server.add(count.reply(Reply::text(format!("Five {birds}."))));
    }
    let mut terminal = Terminal::open(&bench, &["--approve", "all", "count all"]);
    terminal.until("count geese");
    while !["d", "g"].iter().all(|begun| bench.project.tree().contains(&(*begun).to_owned())) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    terminal.type_in("\u{1c}");
    terminal.until("empty stops none) ");
    let listed = |birds: &str| {
        let line = terminal.shown.lines().find(|line| line.contains(&format!("  general-purpose: count {birds}  (")));
        let (number, rest) = line.unwrap().split_once("  ").unwrap();
        let id = rest.rsplit_once('(').unwrap().1.trim_end().trim_end_matches(')');
        (number.to_owned(), id.to_owned())
    };
    let ((number, _), (_, id)) = (listed("ducks"), listed("geese"));
    terminal.type_in("none of them\n");
    terminal.until("nobody at work is called 'none of them'");
    terminal.type_in("\u{1c}");
    terminal.until("empty stops none) ");
    terminal.type_in(&format!("{number}\n"));
    terminal.until("■ general-purpose: count ducks");
    terminal.type_in("\u{1c}");
    terminal.until("empty stops none) ");
    // Whoever is asked is no longer there by the time of the answer.
    bench.project.write("g.end", "");
    while bench.server.requests().len() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    terminal.type_in(&format!("{id}\n"));
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    for words in ["it may just have finished", "✓ general-purpose: count geese", "Five geese."] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(bench.server.requests().last().unwrap().to_string().contains("it was stopped"), "{shown}");
}
