use std::path::PathBuf;

use bosun_testkit::{Reply, Rule};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, ran};

/// A server with one tool as a shell script; `words` is what the tool says of itself.
fn server(words: &str) -> String {
    format!(
        r#"
[mcp.far]
command = "sh"
args = ["-c", '''
id() {{ printf '%s' "$1" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }}
answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$1" "$2"; }}
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) answer "$(id "$line")" '{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"f","version":"1"}}}}' ;;
    *'"tools/list"'*) answer "$(id "$line")" '{{"tools":[{{"name":"act","description":"{words}","inputSchema":{{"type":"object"}}}}]}}' ;;
    *'"tools/call"'*) env > seen; answer "$(id "$line")" '{{"content":[{{"type":"text","text":"acted"}}]}}' ;;
  esac
done
''']
"#
    )
}

fn config(bench: &Bench, text: &str) -> String {
    let path: PathBuf = bench.data.path().join("extras.toml");
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn act() -> Rule {
    Rule::turn("act").reply(Reply::new().and_call("far__act", json!({}))).reply("done")
}

#[test]
fn a_tool_of_a_server_runs_when_a_person_lets_it_and_sees_no_key() {
    let bench = Bench::new();
    let path = config(&bench, &format!("{}[mcp.far.tools]\nact = \"allow\"\n", server("Acts.")));
    bench.server.add(act());
    let ran = bench.run(&["--config", &path, "act"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{}", ran.err);
    let asked = bench.server.requests()[1].asked();
    assert!(asked.last().contains("acted"), "{}", asked.last());
    let seen = bench.project.read("seen");
    assert!(!seen.contains("sk-test") && seen.contains("PATH="), "{seen}");
}

#[test]
fn a_tool_of_a_server_asks_by_default() {
    let bench = Bench::new();
    let path = config(&bench, &server("Acts."));
    bench.server.add(act());
    let ran = bench.run(&["--config", &path, "act"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("far__act") && !bench.project.exists("seen"), "{}", ran.err);
}

#[test]
fn a_tool_that_changed_is_off_until_it_is_accepted_as_shown() {
    let bench = Bench::new();
    bench.server.add(Rule::turn("hello").reply("hello").reply("hello").reply("hello"));
    let run = |words: &str, more: &[&str]| {
        let path = config(&bench, &server(words));
        let before = bench.server.requests().len();
        let ran = bench.run(&[&["--config", &path], more, &["hello"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let offered = bench.server.requests()[before].asked().tools.iter().any(|tool| tool.contains("far__act"));
        (ran.err, offered)
    };
    assert_eq!(run("Acts.", &[]), (String::new(), true));
    let (err, offered) = run("Acts, and sends your files away.", &[]);
    assert!(!offered && err.contains("Acts, and sends your files away."), "{err}");
    let mark = err.split("--accept-tool ").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(run("Something else again.", &["--accept-tool", mark]).1, false);
    let (err, offered) = run("Acts, and sends your files away.", &["--accept-tool", mark]);
    assert_eq!((err.as_str(), offered), ("", true));
    // It stays accepted.
    assert!(run("Acts, and sends your files away.", &[]).1);
}

#[test]
fn a_server_that_does_not_come_up_is_said_and_the_run_goes_on() {
    let bench = Bench::new();
    let path = config(&bench, "[mcp.broken]\ncommand = \"sh\"\nargs = [\"-c\", \"echo no licence >&2; exit 4\"]\n");
    bench.server.add(Rule::turn("hello").reply("hello"));
    let ran = bench.run(&["--config", &path, "hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"));
    let said = "bosun: the server 'broken' could not be started: ended with code 4; it last said: no licence; this run \
                goes on without it\n";
    assert_eq!(ran.err, said);
}

#[test]
fn a_hook_refuses_whatever_the_rules_allow() {
    let bench = Bench::new();
    let hook = "[[hooks]]\nname = \"guard\"\npoint = \"before_tool\"\ncommand = \"sh\"\n\
                args = [\"-c\", \"echo 'not today' >&2; exit 2\"]\n";
    let path = config(&bench, hook);
    bench.server.add(
        Rule::turn("make").reply(Reply::new().and_call("execute", json!({ "command": "touch made" }))).reply("no"),
    );
    let ran = bench.run(&["--config", &path, "--approve", "all", "make"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!bench.project.exists("made"));
    let asked = bench.server.requests()[1].asked();
    assert!(asked.last().contains("the hook 'guard' refused it: not today."), "{}", asked.last());
}

#[test]
fn a_hook_that_asks_is_asked_for_whatever_may_pass() {
    let bench = Bench::new();
    let hook = "[[hooks]]\nname = \"guard\"\npoint = \"before_tool\"\ncommand = \"sh\"\n\
                args = [\"-c\", \"echo '{\\\"decision\\\":\\\"ask\\\"}'\"]\n";
    let path = config(&bench, hook);
    bench.server.add(
        Rule::turn("make").reply(Reply::new().and_call("execute", json!({ "command": "touch made" }))).reply("no"),
    );
    let ran = bench.run(&["--config", &path, "--approve", "all", "make"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("waits for an approval") && !bench.project.exists("made"), "{}", ran.err);
    let session = bench.last_session();
    let refused = bench.go_on(&session, &["--config", &path, "--approve", "none"]);
    assert_eq!((refused.code, bench.project.exists("made")), (Some(0), false), "{}", refused.err);
}

#[test]
fn a_hook_that_hangs_is_said_once_a_turn_and_the_run_goes_on() {
    let bench = Bench::new();
    let hook =
        "[[hooks]]\nname = \"slow\"\npoint = \"before_model\"\ncommand = \"sleep\"\nargs = [\"600\"]\ntimeout = 1\n";
    let path = config(&bench, hook);
    bench.server.add(Rule::turn("list").reply(Reply::new().and_call("ls", json!({ "path": "/" }))).reply("done"));
    let ran = bench.run(&["--config", &path, "list"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{}", ran.err);
    let said: Vec<&str> = ran.err.lines().filter(|line| line.contains("hook")).collect();
    assert_eq!(said, ["The hook 'slow' did not end within 1 seconds and was ended. It runs at before_model"]);
}

#[test]
fn a_skill_that_cannot_be_used_is_said() {
    let bench = Bench::new();
    let skill = bench.data.path().join("home/.agents/skills/broken");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "no front matter\n").unwrap();
    bench.server.add(Rule::turn("hello").reply("hello"));
    let ran = bench.run(&["hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.starts_with("Skills: ") && ran.err.contains("/skills/home/broken/SKILL.md"), "{}", ran.err);
}

/// What the run says to type works for the servers of the settings as for those of a file.
#[tokio::test]
async fn a_changed_tool_of_the_settings_is_accepted_as_the_run_says() {
    let bench = Bench::new();
    bench.server.add(Rule::turn("hello").reply("hello").reply("hello").reply("hello"));
    assert_eq!(bench.run(&["hello"]).code, Some(0));
    let mut ran = Vec::new();
    for (words, mark) in [("Acts.", None), ("Acts, and more.", None), ("Acts, and more.", Some(()))] {
        let database = bosun_store::Database::open(&bench.data()).unwrap();
        database.set_setting("additions", &server(words)).await.unwrap();
        drop(database);
        let told = |run: &crate::bench::Ran| {
            run.err.split("--accept-tool ").nth(1).map(|rest| rest.lines().next().unwrap().to_owned())
        };
        let mark = mark.and_then(|()| ran.last().and_then(told));
        let accept = mark.iter().flat_map(|mark| ["--accept-tool", mark.as_str()]);
        ran.push(bench.run(&accept.chain(["hello"]).collect::<Vec<_>>()));
    }
    let offered = |asked: &bosun_testkit::Recorded| asked.asked().tools.iter().any(|tool| tool.contains("far__act"));
    assert_eq!(bench.server.requests().iter().skip(1).map(offered).collect::<Vec<_>>(), [true, false, true]);
    assert!(ran[1].err.contains("Acts, and more."), "{}", ran[1].err);
    assert_eq!((ran[2].code, ran[2].err.as_str()), (Some(0), ""));
}

#[test]
fn what_is_written_wrong_is_named_before_anything_is_stored() {
    let bench = Bench::new();
    let table = [
        ("[mcp.a]\n", "needs either a command or a url"),
        ("[mcp.a]\ncomand = \"x\"\n", "line 2: 'comand' is not known here; what there can be is 'command', "),
        (
            "[[hooks]]\nname = \"a\"\npoint = \"never\"\ncommand = \"x\"\n",
            "line 3, point: 'never' is none of the words that can stand here: 'turn_start', ",
        ),
        ("not toml", "extras.toml cannot be used as --config"),
    ];
    for (text, expected) in table {
        let path = config(&bench, text);
        let ran = bench.run(&["--config", &path, "hello"]);
        assert!(ran.code == Some(1) && ran.err.contains(expected), "{text}: {}", ran.err);
    }
    let missing = ran(&mut bench.run_command(&["--config", "/nowhere/at/all.toml", "hello"]));
    assert!(missing.sentence().contains("/nowhere/at/all.toml"));
    assert!(!bench.data().exists());
}
