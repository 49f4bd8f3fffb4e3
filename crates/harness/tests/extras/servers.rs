use std::sync::Arc;

use bosun_agent::{Policy, TurnEnd};
use bosun_harness::mcp::{Health, TokenStore, Unkept, UnkeptTokens};
use bosun_harness::{Compaction, Extras, OpenExtras};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::scene::{Scene, prompt, small};

/// A server as a shell script, with this many tools, each described by `words`.
fn settings(tools: usize, words: &str) -> Extras {
    let script = format!(
        r#"
id() {{ printf '%s' "$1" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }}
answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$1" "$2"; }}
list() {{
  n=0; all=''
  while [ $n -lt {tools} ]; do
    all="$all$sep"'{{"name":"tool'$n'","description":"{words}","inputSchema":{{"type":"object","properties":{{"x":{{"type":"integer"}}}}}}}}'
    sep=','; n=$((n + 1))
  done
  answer "$1" '{{"tools":['"$all"']}}'
}}
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) answer "$(id "$line")" '{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"f","version":"1"}}}}' ;;
    *'"tools/list"'*) list "$(id "$line")" ;;
    *'"tools/call"'*) answer "$(id "$line")" '{{"content":[{{"type":"text","text":"called"}}]}}' ;;
  esac
done"#
    );
    let text = json!({ "mcp": { "far": { "command": "sh", "args": ["-c", script] } } });
    serde_json::from_value(text).unwrap()
}

async fn open(extras: &Extras, project: &Project) -> OpenExtras {
    let tokens: Arc<dyn TokenStore> = Arc::new(UnkeptTokens::default());
    extras.open(None, project.root(), Arc::new(Unkept::default()), &tokens).await.unwrap()
}

fn scene(project: Project, open: &OpenExtras, replies: Vec<Scripted>) -> Scene {
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        open.extend(config);
    })
}

fn call(id: &str, name: &str, args: Value) -> Scripted {
    Reply::new().and_call_with_id(id, name, args).into()
}

fn offered(scene: &Scene, index: usize) -> Vec<String> {
    let request = scene.request(index);
    request.tools.iter().map(|tool| tool.name.clone()).filter(|name| name.contains("__")).collect()
}

#[tokio::test]
async fn a_few_tools_are_offered_as_they_are_and_called() {
    let project = Project::new();
    let extras = open(&settings(2, "Does things."), &project).await;
    let scene = scene(project, &extras, vec![call("c", "far__tool1", json!({ "x": "7" })), "done".into()]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(offered(&scene, 0), ["far__tool0", "far__tool1"]);
    assert_eq!(scene.result("c"), "called");
}

/// A server with the tool `first`, and after a call of it `second` as well, of which it says that its tools changed.
/// `before` runs when it starts.
fn growing(before: &str) -> Extras {
    let script = format!(
        r#"
{before}
id() {{ printf '%s' "$1" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }}
answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$1" "$2"; }}
tool() {{ printf '{{"name":"%s","description":"Does it.","inputSchema":{{"type":"object"}}}}' "$1"; }}
all=$(tool first)
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) answer "$(id "$line")" '{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"f","version":"1"}}}}' ;;
    *'"tools/list"'*) answer "$(id "$line")" '{{"tools":['"$all"']}}' ;;
    *'"tools/call"'*)
      all="$(tool first),$(tool second)"
      printf '{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}\n'
      answer "$(id "$line")" '{{"content":[{{"type":"text","text":"called"}}]}}' ;;
  esac
done"#
    );
    serde_json::from_value(json!({ "mcp": { "far": { "command": "sh", "args": ["-c", script] } } })).unwrap()
}

/// Looks again, as before each turn, until there are other tools than those that were given.
async fn looked_again(extras: &OpenExtras) {
    let other = async {
        while !extras.look_again().await {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), other).await.unwrap();
}

#[tokio::test]
async fn a_server_that_did_not_come_up_is_tried_again_before_a_later_turn() {
    let project = Project::new();
    let extras = open(&growing("[ -e tried ] || { touch tried; exit 3; }"), &project).await;
    let first = scene(project, &extras, vec!["done".into()]);
    first.say("go").await;
    assert_eq!(offered(&first, 0), Vec::<String>::new());
    assert!(matches!(extras.servers.views()[0].health, Health::Failed { .. }));
    looked_again(&extras).await;
    let later = scene(Project::new(), &extras, vec![call("c", "far__first", json!({})), "done".into()]);
    later.say("go").await;
    assert_eq!((offered(&later, 0), later.result("c")), (vec!["far__first".to_owned()], "called".to_owned()));
}

#[tokio::test]
async fn a_tool_that_a_server_adds_is_offered_in_the_next_turn() {
    let project = Project::new();
    let extras = open(&growing(""), &project).await;
    let first = scene(project, &extras, vec![call("c", "far__first", json!({})), "done".into()]);
    assert!(!extras.look_again().await, "nothing changed yet");
    first.say("go").await;
    assert_eq!(offered(&first, 1), ["far__first"]);
    looked_again(&extras).await;
    let later = scene(Project::new(), &extras, vec!["done".into()]);
    later.say("go").await;
    assert_eq!(offered(&later, 0), ["far__first", "far__second"]);
    assert!(!extras.look_again().await, "an agent that has them is not built anew");
}

#[tokio::test]
async fn calls_of_servers_ask_unless_a_person_said_otherwise() {
    let project = Project::new();
    let mut settings = settings(2, "Does things.");
    let config = settings.mcp.get_mut("far").unwrap();
    config.tools.insert("tool1".into(), bosun_harness::mcp::Approval::Allow);
    let extras = open(&settings, &project).await;
    let replies = vec![Reply::new().and_call_with_id("a", "far__tool0", json!({})).and_call_with_id(
        "b",
        "far__tool1",
        json!({}),
    )];
    let scene = Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        config.policy = Policy::default();
        extras.extend(config);
    });
    let open_call = |id: &str| {
        scene.log.with_state(|state| {
            let call = state.open_call(&id.into());
            call.map(|call| (call.is_waiting(), call.result.is_some()))
        })
    };
    tokio::select! {
        end = scene.say("go") => panic!("the turn ended: {end:?}"),
        () = async {
            while open_call("a") != Some((true, false)) || open_call("b") != Some((false, true)) {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        } => {}
    }
}

#[tokio::test]
async fn many_tools_are_looked_for_before_they_fill_the_context() {
    let project = Project::new();
    let extras = open(&settings(400, &"words ".repeat(40)), &project).await;
    assert_eq!(extras.tools().len(), 400);
    let replies = vec![
        Reply::new()
            .and_call_with_id("s", "search_tools", json!({ "query": "tool17" }))
            .and_call_with_id("t", "search_tools", json!({ "query": "tool399" }))
            .into(),
        call("c", "far__tool17", json!({ "x": 1 })),
        "done".into(),
    ];
    let scene = scene(project, &extras, replies);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(offered(&scene, 0), Vec::<String>::new());
    assert!(prompt(&scene.request(0)).contains("there are 400 more, of this server: far"));
    assert!(scene.result("s").contains("- far__tool17: words words"), "{}", scene.result("s"));
    // What two searches of one step found is all there, in the order of the list.
    let found = offered(&scene, 1);
    assert!(found.contains(&"far__tool17".to_owned()) && found.contains(&"far__tool399".to_owned()), "{found:?}");
    assert!(found.len() < 25, "{found:?}");
    assert_eq!(scene.result("c"), "called");
}

#[tokio::test]
async fn fewer_tools_are_many_for_a_small_window() {
    // About 2,000 tokens of descriptions.
    for (window, shown) in [(100_000, 25), (8_000, 0)] {
        let project = Project::new();
        let extras = open(&settings(25, &"words ".repeat(40)), &project).await;
        let scene = Scene::build(project, small(vec!["done".into()], window), vec![], |config| extras.extend(config));
        assert_eq!(scene.say("go").await, TurnEnd::Done);
        assert_eq!(offered(&scene, 0).len(), shown, "{window}");
        assert_eq!(scene.request(0).tools.iter().any(|tool| tool.name == "search_tools"), shown == 0);
    }
}

/// More tools than the window holds, in a conversation that fills half of it. They are not sent, so they fill nothing.
async fn in_a_small_window(replies: Vec<Scripted>) -> Scene {
    let lines = "A line of a file that is neither short nor long, of which a hundred are many words.\n".repeat(180);
    let project = Project::new().file("a.txt", lines.clone()).file("b.txt", lines);
    let extras = open(&settings(400, &"words ".repeat(40)), &project).await;
    let scene = Scene::build(project, small(replies, 32_000), vec![], |config| extras.extend(config));
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(offered(&scene, 0), Vec::<String>::new());
    scene
}

fn read(id: &str, file: &str) -> Scripted {
    call(id, "read_file", json!({ "file_path": file, "limit": 200 }))
}

#[tokio::test]
async fn tools_that_are_not_sent_make_no_summary() {
    let replies = vec![read("a", "/a.txt"), read("b", "/b.txt"), "done".into(), "more".into()];
    let scene = in_a_small_window(replies).await;
    assert_eq!(scene.say("go on").await, TurnEnd::Done);
    assert_eq!(scene.log.with_state(Compaction::of), Compaction::default());
    assert_eq!(scene.model.requests().len(), 4, "no request that nobody asked for");
}

#[tokio::test]
async fn the_model_that_asks_for_a_summary_is_measured_without_them() {
    let compact = call("c", "compact_conversation", json!({}));
    let scene = in_a_small_window(vec![read("a", "/a.txt"), compact, "done".into()]).await;
    assert!(scene.result("c").contains("nothing to compact yet"), "{}", scene.result("c"));
}

/// The providers know the tools of a request by their address.
#[tokio::test]
async fn the_same_tools_are_the_same_list_from_step_to_step() {
    let search = call("s", "search_tools", json!({ "query": "tool17" }));
    let replies = vec![read("a", "/a.txt"), search, read("b", "/b.txt"), "done".into()];
    let requests = in_a_small_window(replies).await.model.requests();
    let same: Vec<bool> = requests.windows(2).map(|pair| Arc::ptr_eq(&pair[0].tools, &pair[1].tools)).collect();
    assert_eq!(same, [true, false, true], "only what was found changes them");
}

#[tokio::test]
async fn a_server_that_does_not_come_up_leaves_the_session_as_it_is() {
    let project = Project::new();
    let extras: Extras = serde_json::from_value(json!({ "mcp": { "gone": { "command": "no-such-server" } } })).unwrap();
    let extras = open(&extras, &project).await;
    assert!(extras.tools().is_empty());
    assert!(matches!(&extras.servers.views()[..], [view] if matches!(view.health, Health::Failed { .. })));
    let scene = scene(project, &extras, vec!["done".into()]);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
}

#[test]
fn settings_are_read_and_checked_as_a_whole() {
    let text = r#"
[mcp.files]
command = "mcp-server-filesystem"
args = ["."]

[[hooks]]
name = "guard"
point = "before_tool"
command = "./guard"
"#;
    let extras = Extras::parse(text).unwrap();
    assert!(!extras.is_empty() && Extras::default().is_empty());
    let wrong = text.replace("command = \"./guard\"", "command = \"./guard\"\ntimeout = 0");
    assert!(Extras::parse(&wrong).unwrap_err().to_string().contains("use 1 to 600"));
    assert!(Extras::parse("[hook]").unwrap_err().to_string().contains("'hook' is not known here"));
}
