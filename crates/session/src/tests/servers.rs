//! Servers of tools in a session that stays open.

use std::time::Duration;

use bosun_agent::{EntryBody, SessionId as CoreId};
use bosun_harness::Extras;
use bosun_model::ChatRequest;
use bosun_protocol::{ErrorCode, ItemBody, ServerHealth, SessionId, SessionStatus};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// A server with one tool that does not come up the first time.
fn late() -> Extras {
    let script = r#"
[ -e tried ] || { touch tried; exit 3; }
id() { printf '%s' "$1" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) answer "$(id "$line")" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}' ;;
    *'"tools/list"'*) answer "$(id "$line")" '{"tools":[{"name":"act","description":"Acts.","inputSchema":{"type":"object"}}]}' ;;
  esac
done"#;
    serde_json::from_value(json!({ "mcp": { "far": { "command": "sh", "args": ["-c", script] } } })).unwrap()
}

/// Says which tools of the server it was offered.
fn offered(request: &ChatRequest) -> Reply {
    let names = request.tools.iter().map(|tool| tool.name.as_str()).filter(|name| name.starts_with("far__"));
    Reply::text(format!("offered: {}", names.collect::<Vec<_>>().join(" ")))
}

async fn said(stage: &Stage, session: &SessionId) -> String {
    stage.sessions.send(session, "which?".into()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    match stage.snapshot(session).await.items.pop().unwrap().body {
        ItemBody::Ai { text, .. } => text.to_string(),
        other => panic!("{other:?}"),
    }
}

/// A server that never says a word, and is waited for as long as a person may say.
fn hanging() -> Extras {
    serde_json::from_value(json!({ "mcp": { "far": { "command": "sleep", "args": ["600"], "start_timeout": 600 } } }))
        .unwrap()
}

async fn begun_with_a_hanging_server() -> (Stage, SessionId) {
    let stage = Stage::new(offered).await;
    stage.sessions.add(hanging(), Vec::new()).await.unwrap();
    let session = stage.session().await;
    let kept = stage.sessions.send(&session, "which?".into());
    tokio::time::timeout(Duration::from_secs(60), kept).await.expect("no server is waited for").unwrap();
    (stage, session)
}

#[tokio::test]
async fn a_message_is_kept_before_a_hanging_server_is_waited_for() {
    let (stage, session) = begun_with_a_hanging_server().await;
    let entries = stage.database.entries(&CoreId::new(session.as_str()), 0).await.unwrap();
    assert!(matches!(entries.last().unwrap().entry.body, EntryBody::TurnStarted { turn: 1, .. }), "{entries:?}");

    // The app goes meanwhile, and the server is not there any more.
    let stage = stage.restarted(offered).await;
    let found = stage.snapshot(&session).await;
    assert!(matches!(&found.items[0].body, ItemBody::Human { text, .. } if **text == "which?"), "{:?}", found.items);
    assert_eq!(found.session.status, SessionStatus::Interrupted);
    stage.sessions.continue_turn(&session).await.unwrap();
    let quiet = stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(quiet.summary.status, SessionStatus::Idle);
    assert_eq!(stage.snapshot(&session).await.items.iter().filter(|item| item.turn == 1).count(), 2);
}

#[tokio::test]
async fn a_turn_that_waits_for_a_hanging_server_can_be_stopped() {
    let (stage, session) = begun_with_a_hanging_server().await;
    tokio::time::timeout(Duration::from_secs(60), stage.sessions.stop(&session)).await.expect("it stops").unwrap();
    assert_eq!(stage.snapshot(&session).await.session.status, SessionStatus::Stopped);
}

#[tokio::test]
async fn a_person_has_a_server_tried_again() {
    let stage = Stage::new(offered).await;
    stage.sessions.add(late(), Vec::new()).await.unwrap();
    let session = stage.session().await;
    assert_eq!(said(&stage, &session).await, "offered: ");
    let unknown = stage.sessions.try_server_again(&session, "near").await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    stage.sessions.try_server_again(&session, "far").await.unwrap();
    let health = stage.sessions.server_views(&session).await.unwrap().remove(0).health;
    assert_eq!(health, ServerHealth::Ready { tools: 1 });
    assert_eq!(said(&stage, &session).await, "offered: far__act");
}

#[tokio::test]
async fn a_server_that_did_not_come_up_has_its_tools_in_a_later_turn() {
    let stage = Stage::new(offered).await;
    stage.sessions.add(late(), Vec::new()).await.unwrap();
    let session = stage.session().await;
    assert_eq!(said(&stage, &session).await, "offered: ");
    let health = stage.sessions.server_views(&session).await.unwrap().remove(0).health;
    assert!(matches!(health, ServerHealth::Failed { .. }), "{health:?}");
    let later = async {
        while said(&stage, &session).await != "offered: far__act" {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), later).await.expect("it is tried again");
}
