use std::io::Read;
use std::process::Stdio;

use bosun_protocol::{ItemBody, ModelSettings, NetworkSettings, SessionEvent, TurnOutcome};
use bosun_providers::tour;
use bosun_store::{Database, MODEL_SETTINGS};
use bosun_testkit::{Ending, ModelServer, Reply, Rule, Script, Wire};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, of, ran};

fn read_and_tell() -> Rule {
    Rule::turn("what does it say")
        .reply(Reply::text("Let me look.").and_call("read_file", json!({ "file_path": "/notes.txt" })))
        .reply("It says: aye.")
}

#[test]
fn a_task_is_answered_in_text_on_both_wires() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let bench = Bench::on(wire);
        bench.project.write("notes.txt", "aye\n");
        bench.server.add(read_and_tell());
        let ran = bench.run(&["what does it say?"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.out, "Let me look.\nIt says: aye.\n");
        assert_eq!(ran.err, "✓ read_file /notes.txt  1 line\n");
        let asked = &bench.server.requests()[1].asked();
        assert!(asked.last().contains("aye"), "{}", asked.last());
    }
}

/// One stands in the project, as a rule.
#[test]
fn the_project_is_the_folder_one_is_in() {
    let bench = Bench::new();
    bench.project.write("notes.txt", "aye\n");
    bench.server.add(read_and_tell());
    let mut command = bench.bosun();
    command.args(["run", "--model", "openai:m", "--base-url", &bench.server.base_url(bench.wire), "what does it say?"]);
    let there = ran(command.env("OPENAI_API_KEY", "sk-test").current_dir(bench.project.root_str()));
    assert_eq!((there.code, there.out.as_str()), (Some(0), "Let me look.\nIt says: aye.\n"), "{}", there.err);
}

#[test]
fn the_same_task_gives_the_same_events_on_both_wires() {
    let kinds = [Wire::Anthropic, Wire::OpenAi].map(|wire| {
        let bench = Bench::on(wire);
        bench.project.write("notes.txt", "aye\n");
        bench.server.add(read_and_tell());
        let ran = bench.run(&["--json", "what does it say?"]);
        assert_eq!((ran.code, ran.outcome()), (Some(0), Some(TurnOutcome::Done)), "{}", ran.err);
        assert_eq!(ran.err, "");
        let completed = ran.events().into_iter().filter_map(|event| match event {
            SessionEvent::ItemCompleted { item } => Some(match item.body {
                ItemBody::Human { text, .. } => format!("human {text}"),
                ItemBody::Ai { text, .. } => format!("ai {text}"),
                ItemBody::Tool(tool) => format!("{} {:?} {}", tool.name, tool.state, tool.args),
                ItemBody::Notice(notice) => format!("{:?}", notice.code),
            }),
            _ => None,
        });
        completed.collect::<Vec<_>>()
    });
    assert_eq!(kinds[0], kinds[1]);
    assert_eq!(
        kinds[0],
        [
            "human what does it say?",
            "ai Let me look.",
            r#"read_file Done {"file_path":"/notes.txt"}"#,
            "ai It says: aye."
        ]
    );
}

#[test]
fn text_is_on_standard_output_while_the_model_still_writes() {
    let bench = Bench::new();
    bench.server.once(Reply::text("early").and_gate("rest").and_text(" late"));
    let mut child = bench.run_command(&["say"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut early = [0; 5];
    child.stdout.as_mut().unwrap().read_exact(&mut early).unwrap();
    assert_eq!(&early, b"early");
    bench.server.gate("rest").open();
    let ran = of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), " late\n"));
}

#[test]
fn nothing_a_model_or_a_tool_says_acts_on_the_terminal() {
    let bench = Bench::new();
    bench.server.add(
        Rule::turn("go")
            .reply(
                Reply::text("\u{1b}[2Jgone\u{9b}31m")
                    .and_call("read_file", json!({ "file_path": "/\u{1b}]0;owned\u{7}" })),
            )
            .reply("done"),
    );
    for arguments in [&["go"][..], &["--json", "go"]] {
        let ran = bench.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for text in [&ran.out, &ran.err] {
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        }
    }
    assert!(bench.run(&["go"]).out.starts_with("⟨ESC⟩[2Jgone⟨CSI⟩31m\n"));
}

#[test]
fn without_storing_nothing_is_left() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(
        Rule::turn("change")
            .reply(Reply::call("read_file", json!({ "file_path": "/a.txt" })))
            .reply(Reply::call("edit_file", json!({ "file_path": "/a.txt", "old_string": "one", "new_string": "two" })))
            .reply("changed"),
    );
    let ran = bench.run(&["--no-store", "--approve", "edits", "change it"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "changed\n"), "{}", ran.err);
    assert_eq!(bench.project.read("a.txt"), "two\n");
    assert!(!bench.data().exists());
    assert_eq!(bench.project.tree(), ["a.txt"]);
}

#[test]
fn the_step_limit_saves_and_the_session_goes_on() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    bench.server.add(Rule::looped(3, "read_file", json!({ "file_path": "/a.txt" }), "all read"));
    let ran = bench.run(&["--max-steps", "2", "read"]);
    assert!(
        ran.sentence().contains("not done within 2 model calls, the limit of --max-steps; everything is saved"),
        "{}",
        ran.err
    );
    let session = bench.last_session();
    assert!(ran.err.contains(&format!("bosun run --session {session}")), "{}", ran.err);
    let ran = bench.go_on(&session, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "all read\n"), "{}", ran.err);
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn a_done_session_goes_on_with_a_new_task_and_knows_the_old_one() {
    let bench = Bench::new();
    bench.server.once("one").once("two");
    assert_eq!(bench.run(&["first"]).code, Some(0));
    let session = bench.last_session();
    assert!(bench.go_on(&session, &[]).sentence().contains("nothing to go on with"));
    let ran = bench.go_on(&session, &["second"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "two\n"), "{}", ran.err);
    let said: Vec<String> = bench.server.requests()[1].asked().said.into_iter().map(|said| said.text).collect();
    assert_eq!(said, ["first", "one", "second"]);
    assert_eq!(bench.sessions().len(), 1);
}

#[test]
fn a_failed_turn_can_be_tried_again() {
    let bench = Bench::new();
    bench
        .server
        .once(
            Reply::text("half")
                .and_call("write_file", json!({ "file_path": "/x", "content": "y" }))
                .ending(Ending::CutInCall),
        )
        .once("whole");
    let ran = bench.run(&["--approve", "all", "say"]);
    let sentence = ran.sentence();
    let cut = format!("the reply from 127.0.0.1:{} broke off before it was complete", bench.server.port());
    assert!(sentence.contains(&cut) && sentence.ends_with("; try again"), "{sentence}");
    assert_eq!(ran.out, "half\n", "what came of the reply is printed once");
    assert!(!bench.project.exists("x"), "no call is made from a part of one");
    let ran = bench.go_on(&bench.last_session(), &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "whole\n"), "{}", ran.err);
}

/// N19: a machine that slept finds the line dead in the middle of a reply.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_falls_silent_is_kept_and_not_asked_for_twice() {
    let bench = Bench::new();
    {
        let network = NetworkSettings { idle_seconds: Some(1), ..NetworkSettings::default() };
        let settings = ModelSettings { network, ..ModelSettings::default() };
        Database::open(&bench.data()).unwrap().set_setting(MODEL_SETTINGS, &settings).await.unwrap();
    }
    let words = "half of an answer, and then the lid is closed for eight hours";
    bench.server.once(Reply::text(words).ending(Ending::HangAfterBytes(600))).once("whole");
    let first = bench.run(&["say"]);
    assert!(first.sentence().contains("sent nothing more for 1 s"), "{}", first.err);
    assert!(first.out.starts_with("half of an") && first.out.len() < words.len(), "{}", first.out);
    assert_eq!(bench.server.requests().len(), 1);
    let again = bench.go_on(&bench.last_session(), &[]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "whole\n"), "{}", again.err);
}

#[test]
fn a_server_of_this_machine_needs_no_key() {
    let bench = Bench::new();
    bench.server.once("free");
    let mut command = bench.bosun();
    command.args(["run", "--project", bench.project.root_str(), "--model", "openai:any"]);
    let ran = ran(command.args(["--base-url", &bench.server.base_url(Wire::OpenAi), "hello"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "free\n"), "{}", ran.err);
    assert_eq!(bench.server.requests()[0].header("authorization"), None);
}

#[test]
fn the_key_of_the_environment_is_sent_and_shown_nowhere() {
    let mut bench = Bench::new();
    bench.server = ModelServer::with(Script { key: Some("sk-canary".into()), ..Script::default() });
    bench.server.once("right");
    let ran = crate::bench::ran(bench.run_command(&["--json", "hello"]).env("OPENAI_API_KEY", "sk-canary"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let ran = crate::bench::ran(bench.run_command(&["hello"]).env("OPENAI_API_KEY", "sk-wrong-canary"));
    let sentence = ran.sentence();
    assert!(!ran.err.contains("canary") && !ran.out.contains("canary"), "{sentence}");
}

#[test]
fn a_command_finds_the_key_neither_in_its_environment_nor_in_ours() {
    let bench = Bench::new();
    let look = json!({ "command": "env; cat /proc/$PPID/environ /proc/$(ps -o ppid= -p $PPID | tr -d ' ')/environ" });
    bench.server.add(Rule::turn("look").reply(Reply::call("execute", look)).reply("looked"));
    let ran = ran(bench.run_command(&["--approve", "all", "look"]).env("OPENAI_API_KEY", "sk-canary"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "looked\n"), "{}", ran.err);
    let requests = bench.server.requests();
    let seen = requests[1].asked();
    assert!(seen.last().contains("PATH=") && !seen.last().contains("canary"), "{}", seen.last());
}

/// K08: what a crash would write down has keys in it.
#[cfg(unix)]
#[test]
fn a_crash_leaves_no_core_file() {
    let bench = Bench::new();
    let look = json!({ "command": "ulimit -Hc; ulimit -Sc" });
    bench.server.add(Rule::turn("look").reply(Reply::call("execute", look)).reply("looked"));
    let ran = bench.run(&["--approve", "all", "look"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let seen = bench.server.requests()[1].asked();
    assert!(seen.last().starts_with("0\n0\n"), "{}", seen.last());
}

/// K06: an address, a key or a proxy that a project brings is not used, however it is written down.
#[test]
fn a_project_chooses_neither_the_address_nor_the_proxy_nor_the_key() {
    let bench = Bench::new();
    let other = ModelServer::start();
    let (url, host) = (other.base_url(Wire::OpenAi), other.url());
    let dotenv = format!(
        "OPENAI_BASE_URL={url}\nOPENAI_API_BASE={url}\nOPENAI_API_KEY=sk-of-the-project\nHTTP_PROXY={host}\nALL_PROXY={host}\n"
    );
    bench.project.write(".env", &dotenv);
    bench.project.write(".bosun/settings.json", json!({ "base_url": url, "network": { "proxy": host } }).to_string());
    bench.project.write(".bosun/config.toml", format!("base_url = \"{url}\"\n[network]\nproxy = \"{host}\"\n"));
    bench.project.write(".codex/config.toml", format!("[model_providers.openai]\nbase_url = \"{url}\"\n"));
    bench.project.write(".claude/settings.json", json!({ "env": { "ANTHROPIC_BASE_URL": host } }).to_string());
    bench.server.once("here");
    // A variable that other programs go by is none of Bosun's either.
    let ran = ran(bench.run_command(&["hello"]).env("OPENAI_BASE_URL", &url).current_dir(bench.project.root_str()));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "here\n"), "{}", ran.err);
    assert_eq!(bench.server.requests()[0].header("authorization"), Some("Bearer sk-test"));
    assert_eq!(other.requests(), []);
}

#[test]
fn the_tour_needs_neither_key_nor_network() {
    let bench = Bench::new();
    for (path, text) in tour::sample_project(tour::Language::English) {
        bench.project.write(path, text);
    }
    let before = bench.project.read("total.sh");
    let mut command = bench.bosun();
    command.args(["run", "--project", bench.project.root_str(), "--model", "tour:en", "--approve", "all", "hello"]);
    let ran = ran(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("One character changed"), "{}", ran.out);
    assert_eq!(bench.project.read("total.sh"), before.replace("NR > 2", "NR > 1"));
}

#[test]
fn a_run_waits_for_what_works_beside_it_and_ends_with_what_came_of_it() {
    let bench = Bench::new();
    let begin = json!({ "description": "look around", "subagent_type": "general-purpose" });
    bench
        .server
        .add(Rule::turn("send somebody").reply(Reply::new().and_call("start_async_task", begin)).reply("Sent."));
    let look = Reply::new().and_call("execute", json!({ "command": "sleep 0.5 && echo seen" }));
    bench.server.add(Rule::turn("look around").reply(look).reply("There is a boat."));
    bench.server.add(Rule::turn("async_task_notification").reply("They saw a boat."));
    let ran = bench.run(&["--approve", "all", "send somebody"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out, "Sent.\nThey saw a boat.\n", "{}", ran.err);
    let asked = bench.server.requests();
    assert!(asked.last().unwrap().asked().last().contains("There is a boat."));
    let rows: Vec<&str> = ran.err.lines().filter(|line| line.contains("general-purpose: ")).collect();
    assert_eq!(rows.len(), 1, "{}", ran.err);
    assert!(rows[0].starts_with("✓ general-purpose: look around  ") && rows[0].ends_with(" tokens"), "{}", rows[0]);
}

/// A project that begins: its files are written in one step, into folders that are not there yet.
#[test]
fn several_files_of_a_new_folder_are_written_in_one_step() {
    let bench = Bench::new();
    let file = |name: &str| json!({ "file_path": format!("/new/deep/{name}"), "content": name });
    let names = ["a.txt", "b.txt", "c.txt", "d.txt"];
    let all = names.into_iter().fold(Reply::new(), |reply, name| reply.and_call("write_file", file(name)));
    bench.server.add(Rule::turn("begin").reply(all).reply("Written."));
    let ran = bench.run(&["--approve", "edits", "begin"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for name in names {
        assert_eq!(bench.project.read(&format!("new/deep/{name}")), name, "{}", ran.err);
    }
}

#[test]
fn a_file_is_read_and_edited_in_one_step_in_call_order() {
    let bench = Bench::new();
    bench.project.write("a.txt", "one\n");
    let edit = |old: &str, new: &str| json!({ "file_path": "/a.txt", "old_string": old, "new_string": new });
    let read = json!({ "file_path": "/a.txt" });
    let step = Reply::call("read_file", read.clone())
        .and_call("edit_file", edit("one", "two"))
        .and_call("read_file", read)
        .and_call("edit_file", edit("two", "three"));
    bench.server.add(Rule::turn("count").reply(step).reply("Counted."));
    let ran = bench.run(&["--approve", "edits", "count"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(bench.project.read("a.txt"), "three\n", "{}", ran.err);
    let results = bench.server.requests()[1].asked();
    assert!(format!("{results:?}").contains("two"), "what is read after the first edit has it: {results:?}");
}
