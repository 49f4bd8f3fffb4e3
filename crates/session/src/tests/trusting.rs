//! A project's hooks and servers while its session is open: what was trusted can change, and so can a person's mind (security.md C02).
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use bosun_agent::{PermissionRule, Policy};
use bosun_harness::Extras;
use bosun_model::ChatRequest;
use bosun_protocol::{
    AskReason, DecideTrust, Decision, ItemBody, Problem, SeenFile, ServerHealth, SessionId, TrustVerdict,
};
use bosun_testkit::{Project, Reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;

const CONFIG: &str =
    "[[hooks]]\nname = 'guard'\npoint = 'before_tool'\non_failure = 'deny'\ncommand = 'sh'\nargs = ['guard.sh']\n";
const OWN: &str = "[[hooks]]\nname = 'guard'\npoint = 'turn_start'\ncommand = 'sh'\nargs = ['-c', 'echo own >> own']\n";

/// Lists the project, or edits what it is told to.
fn working(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "look" => Reply::default().and_call("ls", json!({ "path": "/" })),
        (text, 0) if text.starts_with('/') => Reply::default().and_call("read_file", json!({ "file_path": text })),
        (text, 1) if text.starts_with('/') => {
            let args = json!({ "file_path": text, "old_string": "e", "new_string": "f" });
            Reply::default().and_call("edit_file", args)
        }
        _ => Reply::text("Done."),
    }
}

fn write(stage: &Stage, path: &str, text: &str) {
    let path = stage.project.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn lines(stage: &Stage, path: &str) -> usize {
    std::fs::read_to_string(stage.project.root().join(path)).unwrap_or_default().lines().count()
}

/// The last result of a call, once the turn for `text` has ended.
async fn result(stage: &Stage, session: &SessionId, text: &str) -> String {
    stage.sessions.send(session, text.to_owned()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    let items = stage.snapshot(session).await.items.into_iter().rev();
    let mut outputs = items.filter_map(|item| match item.body {
        ItemBody::Tool(tool) => Some(tool.output),
        _ => None,
    });
    outputs.next().unwrap_or_default()
}

async fn decide(stage: &Stage, verdict: TrustVerdict) {
    let trust = stage.sessions.project_trust(&stage.project_id).await.unwrap();
    let files = trust.items.iter().flat_map(|item| &item.files);
    let files = files.map(|file| SeenFile { path: file.path.clone(), hash: file.hash.clone() }).collect();
    stage.sessions.decide_trust(&stage.project_id, &DecideTrust { files, verdict }).await.unwrap();
}

#[tokio::test]
async fn a_hook_of_the_project_runs_only_as_long_as_it_is_what_was_trusted() {
    let stage = Stage::new(working).await;
    let guard = "echo ran >> ran\n";
    write(&stage, ".bosun/config.toml", CONFIG);
    write(&stage, "guard.sh", guard);
    decide(&stage, TrustVerdict::Trust).await;
    // The person's own has the same name.
    stage.sessions.add(Extras::parse(OWN).unwrap(), Vec::new()).await.unwrap();
    let session = stage.session().await;
    assert!(result(&stage, &session, "look").await.contains("guard.sh"));
    assert_eq!((lines(&stage, "ran"), lines(&stage, "own")), (1, 1));

    write(&stage, "guard.sh", "echo evil >> evil\n");
    let refused = result(&stage, &session, "look").await;
    assert!(refused.contains("is not what you trusted"), "{refused}");
    write(&stage, "guard.sh", guard);
    assert!(result(&stage, &session, "look").await.contains("guard.sh"), "it is what was trusted again");
    assert_eq!((lines(&stage, "ran"), lines(&stage, "evil")), (2, 0));

    // One more is the next session's; this one goes on as it began.
    write(&stage, ".bosun/config.toml", &format!("{CONFIG}{}", CONFIG.replace("'guard'", "'more'")));
    decide(&stage, TrustVerdict::Trust).await;
    assert!(result(&stage, &session, "look").await.contains("guard.sh"));
    assert_eq!(lines(&stage, "ran"), 3);

    decide(&stage, TrustVerdict::NotNow).await;
    let refused = result(&stage, &session, "look").await;
    assert!(refused.contains("is not what you trusted"), "{refused}");
    assert_eq!((lines(&stage, "ran"), lines(&stage, "own")), (3, 5));
}

const SERVED: &str = "[mcp.far]\ncommand = 'sh'\nargs = ['server.sh']\n";
const SERVER: &str = r#"echo $$ > pid
id() { printf '%s' "$1" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) answer "$(id "$line")" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}' ;;
    *'"tools/list"'*) answer "$(id "$line")" '{"tools":[{"name":"act","description":"Acts.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) touch acted ;;
  esac
done
"#;

/// Calls the project's server where it is told to; else says what of it is offered.
fn calling(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "call" => Reply::default().and_call_with_id("c", "far__act", json!({})),
        _ => Reply::text(match request.tools.iter().any(|tool| tool.name.starts_with("far__")) {
            true => "It is there.",
            false => "It is gone.",
        }),
    }
}

async fn said(stage: &Stage, session: &SessionId) -> String {
    match stage.snapshot(session).await.items.pop().unwrap().body {
        ItemBody::Ai { text, .. } => text.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_of_the_project_ends_when_it_is_not_trusted_any_more() {
    let stage = Stage::new(calling).await;
    write(&stage, ".bosun/config.toml", SERVED);
    write(&stage, "server.sh", SERVER);
    decide(&stage, TrustVerdict::Trust).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "which?".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(said(&stage, &session).await, "It is there.");
    stage.sessions.send(&session, "call".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    stage.decide(&session, "c", Decision::Approve).await.unwrap();
    let root = stage.project.root();
    let until = async |wanted: &dyn Fn() -> bool| {
        let reached = async {
            while !wanted() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), reached).await.expect("it comes to that");
    };
    until(&|| root.join("acted").exists()).await;

    decide(&stage, TrustVerdict::NotNow).await;
    stage.sessions.quiet(&session).await.unwrap();
    let items = stage.snapshot(&session).await.items;
    let output = items.iter().rev().find_map(|item| match &item.body {
        ItemBody::Tool(tool) => Some(tool.output.clone()),
        _ => None,
    });
    let output = output.unwrap();
    assert!(output.contains("was ended during the call, because the user does not trust it any more"), "{output}");
    assert_eq!(said(&stage, &session).await, "It is gone.", "with the next step of the same turn");
    let pid = std::fs::read_to_string(root.join("pid")).unwrap();
    #[cfg(target_os = "linux")]
    until(&|| !std::path::Path::new("/proc").join(pid.trim()).exists()).await;
    let health = stage.sessions.server_views(&session).await.unwrap().remove(0).health;
    let untrusted = ServerHealth::Failed { why: Problem::ServerUntrusted };
    assert_eq!(health, untrusted);
    stage.sessions.send(&session, "which?".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(said(&stage, &session).await, "It is gone.");

    // A person may change their mind again.
    decide(&stage, TrustVerdict::Trust).await;
    stage.sessions.send(&session, "which?".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(said(&stage, &session).await, "It is there.");
}

#[tokio::test]
async fn what_a_hook_is_started_from_is_edited_by_nobody_unasked() {
    // As with *Allow edits*.
    let policy = Policy { edits: PermissionRule::Allow { name: "edits".into() }, ..Policy::default() };
    let project = Project::new().file("a.txt", "one\ntwo\n");
    let stage = Stage::at(project, tempfile::tempdir().unwrap(), working, policy, 0).await;
    write(&stage, "lint.sh", "echo lint\n");
    let own = OWN.replace("['-c', 'echo own >> own']", "['./lint.sh']");
    stage.sessions.add(Extras::parse(&own).unwrap(), Vec::new()).await.unwrap();
    let session = stage.session().await;
    result(&stage, &session, "/a.txt").await;
    assert!(stage.snapshot(&session).await.approvals.is_empty());
    result(&stage, &session, "/lint.sh").await;
    let approval = stage.snapshot(&session).await.approvals.remove(0);
    assert_eq!(approval.reason, AskReason::ProtectedName { name: "/lint.sh".into() });
    stage.decide(&session, approval.call_id.as_str(), Decision::Approve).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.project.read("lint.sh"), "fcho lint\n");
}
