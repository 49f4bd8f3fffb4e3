//! Agents that a file declares: `bosun run --agent`.

use std::path::PathBuf;

use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::Bench;

/// The second program's agent: three tools, an analyst with two, and an edit that asks.
const PLANNER: &str = r#"
name = "planner"
builtin_tools = ["write_todos", "read_file", "edit_file", "task"]

[[subagents]]
name = "research-analyst"
description = "Reads what is there and says what it found."
prompt = "You count carefully."
tools = ["read_file", "write_todos"]
"#;

/// The third program's agent: files are kept in the session, and what is remembered beside it.
const SCRIBE: &str = r#"
name = "scribe"

[backend]
default = "state"

[[backend.routes]]
prefix = "/conversation_history"
kind = "store"
namespace = "history"
scope = "agent"
"#;

fn agent(bench: &Bench, text: &str) -> PathBuf {
    let path = bench.data.path().join("agent.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// The second program, with a project to play it in.
fn planning(approvals: &str) -> (Bench, String) {
    let bench = Bench::new();
    bench.project.write("guests.txt", "Ann\nBob\nCyd\n");
    bench.project.write("plan.md", "# Plan\nGuests: ?\n");
    let [main, analyst] = crate::programs::analysed_by("research-analyst");
    bench.server.add(main).add(analyst);
    let file = agent(&bench, &format!("{PLANNER}\n[approvals.tools]\nedit_file = {approvals}\n"));
    (bench, file.to_str().unwrap().to_owned())
}

#[test]
fn a_declared_agent_has_its_tools_and_its_analyst_has_fewer() {
    let (bench, file) = planning("true");
    let ran = bench.run(&["--agent", &file, "--approve", "all", "complete the plan"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(bench.project.read("plan.md"), "# Plan\nGuests: 3\n");
    let requests = bench.server.requests();
    let tools = |index: usize| {
        let mut tools = requests[index].asked().tools;
        tools.sort();
        tools
    };
    assert_eq!(tools(0), ["edit_file", "read_file", "task", "write_todos"]);
    assert_eq!(tools(2), ["read_file", "write_todos"]);
    assert!(requests[2].asked().system.contains("You count carefully."), "{}", requests[2].asked().system);
}

#[test]
fn a_session_goes_on_with_the_agent_it_was_begun_with() {
    let (bench, file) = planning("true");
    let waiting = bench.run(&["--agent", &file, "complete the plan"]);
    assert_eq!(waiting.code, Some(2), "{}", waiting.err);
    let session = bench.last_session();
    let done = bench.go_on(&session, &["--approve", "edits"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "The plan is complete.\n"), "{}", done.err);
    let last = bench.server.requests().last().unwrap().asked();
    assert_eq!(last.tools.len(), 4, "{:?}", last.tools);
    std::fs::remove_file(&file).unwrap();
    let gone = bench.go_on(&session, &["complete the plan"]);
    assert!(gone.sentence().contains("cannot be used as --agent"), "{}", gone.err);
}

#[test]
fn a_declaration_with_a_mistake_is_named_before_anything_is_begun() {
    let bench = Bench::new();
    for (text, told) in [("nonsense = 1", "nonsense"), ("[backend]\ndefault = 'moon'", "moon"), ("a = ", "line 1")] {
        let file = agent(&bench, text);
        let ran = bench.run(&["--agent", file.to_str().unwrap(), "hello"]);
        assert!(
            ran.sentence().contains("agent.toml cannot be used as --agent") && ran.err.contains(told),
            "{}",
            ran.err
        );
    }
    for (text, place) in [
        ("builtin_tools = ['fly']", "builtin_tools: "),
        ("descriptions.fly = 'Flies.'", "[descriptions]: "),
        ("approvals.tools.fly = true", "[approvals.tools]: "),
        (
            "[[subagents]]\nname = 'a'\ndescription = 'A.'\ninterrupt_on.fly = true",
            "[[subagents]], 'a', interrupt_on: ",
        ),
    ] {
        let file = agent(&bench, text);
        let ran = bench.run(&["--agent", file.to_str().unwrap(), "hello"]);
        let sentence = ran.sentence();
        let told = format!("{place}there is no tool 'fly' here; available are: ls, read_file, ");
        assert!(sentence.contains("agent.toml cannot be used as --agent") && sentence.contains(&told), "{}", ran.err);
    }
    assert_eq!(bench.server.requests().len(), 0);
    assert_eq!(bench.sessions().len(), 0);
}

/// What the third program's agent writes, and where.
const WRITTEN: [&str; 4] =
    ["/draft.md", "/memories/AGENTS.md", "/skills/user/knots/SKILL.md", "/conversation_history/log.md"];

fn contents(path: &str) -> &'static str {
    if path.ends_with("SKILL.md") {
        "---\nname: knots\ndescription: Ties ropes together.\n---\nOver, under, through.\n"
    } else {
        "The sea is calm.\n"
    }
}

#[test]
fn what_is_kept_in_the_session_stays_there_and_the_rest_outlives_it() {
    let bench = Bench::new();
    let write = |reply: Reply, path: &str| {
        reply.and_call("write_file", json!({ "file_path": path, "content": contents(path) }))
    };
    let read = |reply: Reply, path: &str| reply.and_call("read_file", json!({ "file_path": path }));
    bench.server.add(Rule::turn("write it all").reply(WRITTEN.into_iter().fold(Reply::new(), write)).reply("Written."));
    for words in ["read again", "read elsewhere"] {
        bench.server.add(Rule::turn(words).reply(WRITTEN.into_iter().fold(Reply::new(), read)).reply("Read."));
    }
    let file = agent(&bench, SCRIBE);
    let agent = ["--agent", file.to_str().unwrap(), "--approve", "edits"];
    let run = |words: &str| {
        let ran = bench.run(&[&agent[..], &[words]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    run("write it all");
    assert_eq!(bench.project.tree(), Vec::<String>::new(), "the project is out of reach");
    let first = bench.last_session();
    let went_on = bench.go_on(&first, &["--approve", "edits", "read again"]);
    assert_eq!(went_on.code, Some(0), "{}", went_on.err);
    run("read elsewhere");
    let results = |words: &str| -> Vec<String> {
        let requests = bench.server.requests();
        let asked = requests.iter().rev().map(|request| request.asked()).find(|asked| asked.last_human() == words);
        let said = asked.expect("the turn").said;
        said[said.len() - WRITTEN.len()..].iter().map(|said| said.text.clone()).collect()
    };
    let kept = |path: &str, result: &str| contents(path).lines().all(|line| result.contains(line));
    let again = results("read again");
    assert!(WRITTEN.iter().zip(&again).all(|(path, result)| kept(path, result)), "the same session: {again:?}");
    let elsewhere = results("read elsewhere");
    assert!(elsewhere[0].contains("not found"), "the session's own file, in another session: {elsewhere:?}");
    let lasting = || WRITTEN.iter().zip(&elsewhere).skip(1);
    assert!(lasting().all(|(path, result)| kept(path, result)), "another session: {elsewhere:?}");
    let asked = bench.server.requests().last().unwrap().asked();
    assert!(!asked.tools.contains(&"execute".to_owned()), "{:?}", asked.tools);
    assert!(asked.system.contains("The sea is calm."), "it is remembered");
    assert!(asked.system.contains("Ties ropes together."), "the skill is known");
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::planning;
    use crate::terminal::Terminal;

    #[test]
    fn its_edit_is_accepted_edited_and_answered() {
        let edited = json!({ "file_path": "/plan.md", "old_string": "Guests: ?", "new_string": "Guests: about 3" });
        let edited = format!("e\n{edited}\n");
        let answers = [
            ("y\n", "# Plan\nGuests: 3\n", "plan.md"),
            (edited.as_str(), "# Plan\nGuests: about 3\n", "plan.md"),
            ("r\nleave the plan as it is\n", "# Plan\nGuests: ?\n", "leave the plan as it is"),
        ];
        for (keys, plan, told) in answers {
            let (bench, file) = planning("true");
            let mut terminal = Terminal::open(&bench, &["--agent", &file, "complete the plan"]);
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
    fn one_that_may_only_be_answered_offers_nothing_else() {
        let (bench, file) = planning(r#"{ allowed = ["respond"], description = "The plan is mine." }"#);
        // Not even a mode that lets everything pass makes more of it.
        let mut terminal = Terminal::open(&bench, &["--agent", &file, "--approve", "all", "complete the plan"]);
        terminal.until("[r = answer instead] ");
        assert!(terminal.shown.contains("The plan is mine."), "{}", terminal.shown);
        terminal.type_in("y\n");
        terminal.until("[r = answer instead] ");
        terminal.type_in("r\nI did it myself\n");
        let (shown, code) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(bench.project.read("plan.md"), "# Plan\nGuests: ?\n");
        assert!(bench.server.requests()[6].asked().last().contains("I did it myself"));
    }
}

#[test]
fn a_subagent_whose_model_cannot_be_had_is_named_when_the_turn_begins() {
    let bench = Bench::new();
    bench.server.add(Rule::turn("hello").reply("Hello."));
    let scout = "[[subagents]]\nname = 'scout'\ndescription = 'Looks around'\nmodel = 'nowhere:m'\n";
    let ran = bench.run(&["--agent", agent(&bench, scout).to_str().unwrap(), "hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Hello.\n"), "{}", ran.err);
    assert!(
        ran.err.contains("Subagents: 'scout' cannot be sent: its model nowhere:m is not available ("),
        "{}",
        ran.err
    );
}
