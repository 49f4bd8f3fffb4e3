//! Servers and hooks, changed one by one by their forms.
#![allow(clippy::disallowed_methods, reason = "tests look at the files that are kept")]

use std::io::{Read, Write};
use std::sync::Arc;

use bosun_harness::mcp::header_place;
use bosun_model::{ChatRequest, Message};
use bosun_protocol::{
    AdditionChange, AdditionKind, ErrorCode, ExportFormat, HookFailure, HookForm, HookPoint, HookVerdict, ItemBody,
    Problem, SecretField, ServerForm, ServerHealth, ServerReach, SessionStatus,
};
use bosun_store::{Keys, MemorySecrets, SecretStore};
use bosun_testkit::{Reply, ToolOffice};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::progress;
use super::stage::Stage;
use crate::SessionError;
use crate::export::ENGLISH;

const TOKEN: &str = "canary-of-the-door";

fn nothing(_: &ChatRequest) -> Reply {
    Reply::text("nothing")
}

pub(super) async fn staged(keyring: &Arc<MemorySecrets>) -> Stage {
    let stage = Stage::new(nothing).await;
    let keyring = Arc::clone(keyring) as Arc<dyn SecretStore>;
    stage.sessions.keep_sign_ins(Arc::new(Keys::new(keyring, Some(Arc::clone(&stage.database)))));
    stage
}

pub(super) fn field(name: &str, value: Option<&str>) -> SecretField {
    SecretField { name: name.into(), value: value.map(Into::into), in_database: false }
}

fn at(name: &str, url: String, value: Option<&str>) -> ServerForm {
    let headers = vec![field("Authorization", value)];
    ServerForm { name: name.into(), enabled: true, reach: ServerReach::Address { url, headers } }
}

pub(super) fn hook(name: &str, point: HookPoint) -> HookForm {
    HookForm {
        name: name.into(),
        enabled: true,
        point,
        tools: Vec::new(),
        command: "say".into(),
        args: vec!["all done".into()],
        env: Vec::new(),
        timeout: 20,
        on_failure: None,
    }
}

async fn health(stage: &Stage, server: &str) -> ServerHealth {
    stage.sessions.check_server(Some(&stage.project_id), server).await.unwrap().health
}

async fn put(stage: &Stage, was: Option<&str>, server: ServerForm) -> Result<(), Problem> {
    let change = AdditionChange::Server { was: was.map(Into::into), server };
    changed(stage, change).await.map(drop).map_err(|error| error.problem)
}

/// As a person does it who says yes to what begins to work with it.
pub(super) async fn changed(stage: &Stage, change: AdditionChange) -> Result<Option<String>, SessionError> {
    let shown = stage.sessions.begun_by(&change).await?;
    stage.sessions.change_additions(change, &shown).await
}

#[tokio::test]
async fn a_header_is_kept_in_the_keyring_for_its_host_and_opens_the_server() {
    let (office, keyring) = (ToolOffice::start(), Arc::new(MemorySecrets::default()));
    office.open_for(TOKEN);
    let stage = staged(&keyring).await;
    let missing = Err(Problem::ServerHeaderMissing { header: "Authorization".into() });
    assert_eq!(put(&stage, None, at("office", office.url(), None)).await, missing);
    let given = format!("Bearer {TOKEN}");
    assert_eq!(put(&stage, None, at("office", office.url(), Some(&given))).await, Ok(()));
    assert_eq!(health(&stage, "office").await, ServerHealth::Ready { tools: 1 });

    let forms = stage.sessions.addition_forms().await.unwrap();
    assert_eq!(forms.servers, [at("office", office.url(), None)]);
    for file in std::fs::read_dir(stage.data.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        assert!(!bytes.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes()), "{:?} holds it", file.path());
    }

    // It goes along with the server's name, and to no other host.
    assert_eq!(put(&stage, Some("office"), at("bureau", office.url(), None)).await, Ok(()));
    assert_eq!(health(&stage, "bureau").await, ServerHealth::Ready { tools: 1 });
    assert_eq!(put(&stage, Some("bureau"), at("bureau", "https://mcp.example.com".into(), None)).await, missing);
    let twice = put(&stage, None, at("bureau", office.url(), Some("x"))).await;
    assert_eq!(twice, Err(Problem::ServerTwice { name: "bureau".into() }));

    // What is removed leaves nothing behind, and comes back whole.
    let place = header_place("bureau", &office.url(), "Authorization").unwrap();
    assert!(keyring.get(crate::SIGN_INS, &place).await.unwrap().is_some());
    let change = AdditionChange::Remove { addition: AdditionKind::Server, name: "bureau".into() };
    let id = changed(&stage, change).await.unwrap().unwrap();
    assert!(keyring.get(crate::SIGN_INS, &place).await.unwrap().is_none());
    changed(&stage, AdditionChange::BringBack { id: id.clone() }).await.unwrap();
    assert_eq!(health(&stage, "bureau").await, ServerHealth::Ready { tools: 1 });
    let again = changed(&stage, AdditionChange::BringBack { id }).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::NotFound);
}

/// "stamp" has the server's tool called, and says what came of it.
fn stamping(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "stamp" => Reply::default().and_call_with_id("s", "office__stamp", json!({})),
        (_, 0) => Reply::text("hello"),
        _ => match request.messages.last().map(|message| &**message) {
            Some(Message::Tool(result)) => Reply::text(bosun_model::text_of(&result.content)),
            other => panic!("{other:?}"),
        },
    }
}

/// What a session began with it keeps, as far as that can be had.
#[tokio::test]
async fn a_server_with_another_name_is_gone_for_sessions_that_are_open() {
    let (office, keyring) = (ToolOffice::start(), Arc::new(MemorySecrets::default()));
    office.open_for(TOKEN);
    let stage = Stage::allowing_everything(stamping).await;
    let keys = Keys::new(Arc::clone(&keyring) as Arc<dyn SecretStore>, Some(Arc::clone(&stage.database)));
    stage.sessions.keep_sign_ins(Arc::new(keys));
    let given = format!("Bearer {TOKEN}");
    assert_eq!(put(&stage, None, at("office", office.url(), Some(&given))).await, Ok(()));
    let session = stage.session().await;
    let say = async |text: &str| {
        stage.sessions.send(&session, text.to_owned()).await.unwrap();
        let quiet = stage.sessions.quiet(&session).await.unwrap();
        assert_eq!(quiet.summary.status, SessionStatus::Idle, "{text}");
        match stage.snapshot(&session).await.items.pop().unwrap().body {
            ItemBody::Ai { text, .. } => text.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(say("hello").await, "hello");
    assert_eq!(put(&stage, Some("office"), at("bureau", office.url(), None)).await, Ok(()));
    // As when its connection breaks.
    stage.sessions.try_server_again(&session, "office").await.unwrap();
    let health = stage.sessions.server_views(&session).await.unwrap().remove(0).health;
    assert_eq!(health, ServerHealth::Failed { why: Problem::ServerWithdrawn });
    let said = say("stamp").await;
    assert!(said.contains("'office' was removed from the settings or changed there"), "{said}");
    assert_eq!(say("hello").await, "hello");
}

/// A server that refuses everybody and repeats what it was sent.
fn tell_tale() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = String::new();
            let mut part = [0; 4096];
            while !request.contains("\"initialize\"") {
                match stream.read(&mut part) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => request.push_str(&String::from_utf8_lossy(&part[..read])),
                }
            }
            let said =
                request.lines().find(|line| line.to_lowercase().starts_with("authorization")).unwrap_or("nothing");
            let body =
                json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": -32000, "message": format!("no: {said}") } });
            let body = body.to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
            write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}").ok();
        }
    });
    url
}

/// Of every secret that the app knows nothing is shown (K01, K10, N16).
#[tokio::test]
async fn what_a_header_holds_is_in_no_error_ledger_or_export() {
    let keyring = Arc::new(MemorySecrets::default());
    let stage = staged(&keyring).await;
    let given = format!("Bearer {TOKEN}");
    assert_eq!(put(&stage, None, at("office", tell_tale(), Some(&given))).await, Ok(()));
    let ServerHealth::Failed { why } = health(&stage, "office").await else { panic!("it refuses") };
    let why = why.to_string();
    assert!(why.contains("no: authorization: [redacted]") && !why.contains(TOKEN), "{why}");

    let session = stage.session().await;
    stage.sessions.send(&session, format!("it printed {TOKEN}")).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert!(serde_json::to_string(&stage.snapshot(&session).await).unwrap().contains(TOKEN));
    // The server was not reached since the start, and nothing was read from the keyring.
    let stage = stage.restarted(nothing).await;
    let keys = Keys::new(Arc::clone(&keyring) as Arc<dyn SecretStore>, Some(Arc::clone(&stage.database)));
    stage.sessions.keep_sign_ins(Arc::new(keys));
    stage.sessions.load_additions(Vec::new()).await.unwrap();
    let text = stage.sessions.export(&session, ExportFormat::Json, &ENGLISH).await.unwrap();
    assert!(text.contains("it printed [redacted]") && !text.contains(TOKEN), "{text}");
}

#[tokio::test]
async fn a_header_that_stood_in_the_text_moves_to_the_keyring() {
    let (office, keyring) = (ToolOffice::start(), Arc::new(MemorySecrets::default()));
    office.open_for(TOKEN);
    let stage = staged(&keyring).await;
    let text = format!(
        "# ours\n[mcp.office]\nurl = \"{}\"\nheaders = {{ Authorization = \"Bearer {TOKEN}\" }}\n",
        office.url()
    );
    stage.sessions.save_additions(&text).await.unwrap();
    let [form] = stage.sessions.addition_forms().await.unwrap().servers.try_into().unwrap();
    assert_eq!(form, at("office", office.url(), None));
    assert_eq!(put(&stage, Some("office"), form).await, Ok(()));
    let text = stage.sessions.additions().await.unwrap().text;
    let expected = format!("# ours\n[mcp.office]\nurl = \"{}\"\nsecret_headers = [\"Authorization\"]\n", office.url());
    assert_eq!(text, expected);
    assert_eq!(health(&stage, "office").await, ServerHealth::Ready { tools: 1 });
}

#[tokio::test]
async fn what_begins_to_work_is_told_before_and_nothing_else() {
    let stage = staged(&Arc::default()).await;
    let text = "[mcp.docs]\ncommand = \"docs\"\n\n[guards]\nmax_dollars = 5.0\n";
    stage.sessions.save_additions(text).await.unwrap();
    let begun = async |change: AdditionChange| {
        let begun = stage.sessions.begun_by(&change).await.unwrap();
        stage.sessions.change_additions(change, &begun).await.unwrap();
        begun
    };
    let hook = |was: Option<&str>, form: HookForm| AdditionChange::Hook { was: was.map(Into::into), hook: form };
    let bell =
        "[[hooks]]\nname = \"bell\"\npoint = \"turn_end\"\ncommand = \"say\"\nargs = [\"all done\"]\ntimeout = 20";
    assert_eq!(begun(hook(None, self::hook("bell", HookPoint::TurnEnd))).await, bell);
    assert_eq!(begun(hook(Some("bell"), self::hook("bell", HookPoint::TurnEnd))).await, "");
    let switch = |name: &str, addition, on| AdditionChange::Switch { addition, name: name.into(), on };
    assert_eq!(begun(switch("bell", AdditionKind::Hook, false)).await, "");
    assert_eq!(begun(switch("bell", AdditionKind::Hook, true)).await, bell);
    assert_eq!(begun(switch("docs", AdditionKind::Server, false)).await, "");
    let off = stage.sessions.check_server(None, "docs").await.unwrap_err();
    assert_eq!(off.code, ErrorCode::NotFound, "what is off is not started");
    let removed = AdditionChange::Remove { addition: AdditionKind::Hook, name: "bell".into() };
    assert_eq!(stage.sessions.begun_by(&removed).await.unwrap(), "");
    let id = changed(&stage, removed).await.unwrap().unwrap();
    let reach = ServerReach::Program { command: "docs".into(), args: Vec::new(), env: vec![field("LEVEL", Some("2"))] };
    let server = ServerForm { name: "docs".into(), enabled: false, reach };
    assert_eq!(begun(AdditionChange::Server { was: Some("docs".into()), server }).await, "");

    // Something else changed meanwhile: it comes back beside that.
    assert_eq!(begun(AdditionChange::BringBack { id }).await, "");
    let text = stage.sessions.additions().await.unwrap().text;
    let expected =
        "[mcp.docs]\ncommand = \"docs\"\nenabled = false\nsecret_env = [\"LEVEL\"]\n\n[guards]\nmax_dollars = 5.0\n\n";
    assert_eq!(text, format!("{expected}{bell}\n"));

    let wrong = hook(None, HookForm { timeout: 0, ..self::hook("late", HookPoint::TurnEnd) });
    let refused = changed(&stage, wrong).await.unwrap_err();
    assert!(matches!(refused.problem, Problem::HookTimeout { .. }), "{refused}");
    assert_eq!(stage.sessions.additions().await.unwrap().text, text);
}

/// The text may be another once the person has answered.
#[tokio::test]
async fn something_else_than_was_shown_does_not_begin_to_work() {
    let stage = staged(&Arc::default()).await;
    let off = HookForm { enabled: false, ..hook("bell", HookPoint::TurnEnd) };
    let other = HookForm { command: "other".into(), ..off.clone() };
    let put = |was: Option<&str>, hook: HookForm| AdditionChange::Hook { was: was.map(Into::into), hook };
    changed(&stage, put(None, off)).await.unwrap();
    let on = AdditionChange::Switch { addition: AdditionKind::Hook, name: "bell".into(), on: true };
    let shown = stage.sessions.begun_by(&on).await.unwrap();
    assert!(shown.contains("say"), "{shown}");
    changed(&stage, put(Some("bell"), other)).await.unwrap();
    let refused = stage.sessions.change_additions(on, &shown).await.unwrap_err();
    assert_eq!((refused.code, refused.problem), (ErrorCode::AlreadyDecided, Problem::AskChanged));
    assert!(!stage.sessions.addition_forms().await.unwrap().hooks[0].enabled);
}

/// A name that was given to another meanwhile is not there twice, and what was removed is not lost over it.
#[tokio::test]
async fn what_could_not_be_brought_back_can_be_tried_again() {
    let stage = staged(&Arc::default()).await;
    let put = |command: &str| {
        let hook = HookForm { command: command.into(), ..hook("bell", HookPoint::TurnEnd) };
        AdditionChange::Hook { was: None, hook }
    };
    let remove = || AdditionChange::Remove { addition: AdditionKind::Hook, name: "bell".into() };
    changed(&stage, put("say")).await.unwrap();
    let id = changed(&stage, remove()).await.unwrap().unwrap();
    changed(&stage, put("other")).await.unwrap();
    let back = || AdditionChange::BringBack { id: id.clone() };
    let refused = changed(&stage, back()).await.unwrap_err();
    assert!(matches!(refused.problem, Problem::HookTwice { .. }), "{refused}");
    changed(&stage, remove()).await.unwrap();
    changed(&stage, back()).await.unwrap();
    assert_eq!(stage.sessions.addition_forms().await.unwrap().hooks[0].command, "say");
}

#[tokio::test]
async fn what_happens_when_a_hook_fails_is_as_its_form_says() {
    let stage = Stage::new(nothing).await;
    let put = async |was: Option<&str>, hook: &HookForm| {
        let change = AdditionChange::Hook { was: was.map(Into::into), hook: hook.clone() };
        changed(&stage, change).await.map(drop).map_err(|error| error.problem)
    };
    let mut guard = HookForm { on_failure: Some(HookFailure::Deny), ..hook("guard", HookPoint::BeforeTool) };
    assert_eq!(put(None, &guard).await, Ok(()));
    assert_eq!(stage.sessions.addition_forms().await.unwrap().hooks, [guard.clone()]);
    assert!(stage.sessions.additions().await.unwrap().text.contains("on_failure = \"deny\""));
    guard.on_failure = None;
    assert_eq!(put(Some("guard"), &guard).await, Ok(()));
    assert!(!stage.sessions.additions().await.unwrap().text.contains("on_failure"));
    let late = HookForm { on_failure: Some(HookFailure::Ask), ..hook("late", HookPoint::TurnEnd) };
    let refused = Problem::HookFailure { hook: "late".into(), wanted: "ask".into(), point: "turn_end".into() };
    assert_eq!(put(None, &late).await, Err(refused));
}

#[tokio::test]
async fn a_hook_is_tried_in_the_project_and_no_session_hears_of_it() {
    let stage = Stage::new(nothing).await;
    let session = stage.session().await;
    let before = stage.snapshot(&session).await;
    let script = "cat > told.json; echo noise; echo 'not here' >&2; exit 2";
    let mut guard = HookForm {
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        ..hook("guard", HookPoint::BeforeTool)
    };
    changed(&stage, AdditionChange::Hook { was: None, hook: guard.clone() }).await.unwrap();
    let trial = stage.sessions.try_hook(Some(&stage.project_id), "guard").await.unwrap();
    assert_eq!((trial.exit_code, trial.signal), (Some(2), None));
    assert_eq!((trial.stdout.as_str(), trial.stderr.as_str(), trial.truncated), ("noise\n", "not here\n", false));
    assert_eq!(trial.verdict, HookVerdict::Denies { reason: Some("not here".into()) });
    let told = std::fs::read_to_string(stage.project.root().join("told.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told, serde_json::from_str::<serde_json::Value>(&trial.event).unwrap());
    assert_eq!((&told["trial"], &told["point"]), (&json!(true), &json!("before_tool")));
    assert_eq!(stage.snapshot(&session).await, before);

    // What fails is said as in a session, with what would come of it.
    guard.args = vec!["-c".into(), "kill -9 $$".into()];
    guard.on_failure = Some(HookFailure::Deny);
    changed(&stage, AdditionChange::Hook { was: Some("guard".into()), hook: guard.clone() }).await.unwrap();
    let trial = stage.sessions.try_hook(None, "guard").await.unwrap();
    assert_eq!((trial.exit_code, trial.signal), (None, Some(9)));
    let HookVerdict::Failed { why, then: HookFailure::Deny } = trial.verdict else { panic!("{trial:?}") };
    assert!(matches!(why, Problem::HookBroke { hook, point, .. } if hook == "guard" && point == "before_tool"));

    // What a person switched off, or never said yes to, does not run.
    let off = AdditionChange::Switch { addition: AdditionKind::Hook, name: "guard".into(), on: false };
    changed(&stage, off).await.unwrap();
    for name in ["guard", "nobody"] {
        assert_eq!(stage.sessions.try_hook(None, name).await.unwrap_err().code, ErrorCode::NotFound);
    }
}
