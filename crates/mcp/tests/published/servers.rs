//! Against the servers of `tests/mcp`, as they come from npm and PyPI. `cargo xtask test` installs them.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests make their own files and programs"
)]

#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "../support/stage.rs"]
mod stage;

use std::io::BufRead;
use std::path::PathBuf;

use bosun_mcp::{Health, ServerConfig};
use bosun_model::ContentBlock;
use bosun_tools::ToolKind;
use pretty_assertions::assert_eq;
use serde_json::json;
use stage::{Stage, program, text_of};

/// A server in Python, made with the SDK of the protocol's own people.
fn python() -> ServerConfig {
    let python = std::env::var("BOSUN_MCP_PYTHON")
        .expect("BOSUN_MCP_PYTHON names a Python with the package mcp; `cargo xtask test --only mcp` makes one");
    program(&python, &[concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/server.py")])
}

/// The start script of a package from npm.
fn package(name: &str) -> String {
    let installed =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/node_modules/@modelcontextprotocol");
    let script = installed.join(name).join("dist/index.js");
    assert!(script.is_file(), "{} is missing; `cargo xtask test --only mcp` installs it", script.display());
    script.to_string_lossy().into_owned()
}

async fn everything() -> Stage {
    let stage = Stage::started(program("node", &[&package("server-everything"), "stdio"])).await;
    assert!(matches!(stage.health(), Health::Ready { tools } if tools > 5), "{:?}", stage.servers.views());
    stage
}

#[tokio::test]
async fn the_everything_server_echoes_and_adds() {
    let stage = everything().await;
    let tool = stage.tool("s__echo");
    assert_eq!(tool.kind(), ToolKind::Other);
    assert_eq!(stage.text("s__echo", json!({ "message": "hello" })).await, "Echo: hello");
    let sum = stage.text("s__get-sum", json!({ "a": 2, "b": "3" })).await;
    assert!(sum.contains('5'), "{sum}");
    let refused = stage.refusal("s__echo", json!({})).await;
    assert!(refused.contains("'message' is missing"), "{refused}");
}

#[tokio::test]
async fn the_everything_server_shows_pictures_resources_and_structure() {
    let stage = everything().await;
    let picture = stage.call("s__get-tiny-image", json!({})).await.unwrap();
    assert!(picture.content.iter().any(|block| matches!(block, ContentBlock::Media(_))), "{:?}", text_of(&picture));
    let resource = stage.text("s__get-resource-reference", json!({ "resourceType": "Text", "resourceId": 1 })).await;
    assert!(resource.contains("[resource demo://"), "{resource}");
    let links = stage.text("s__get-resource-links", json!({ "count": 2 })).await;
    assert!(links.matches("[resource ").count() >= 2, "{links}");
    let weather = stage.text("s__get-structured-content", json!({ "location": "New York" })).await;
    assert!(weather.contains("temperature"), "{weather}");
}

#[tokio::test]
async fn the_everything_server_gets_no_variable_that_is_not_listed() {
    let stage = everything().await;
    let environment = stage.text("s__get-env", json!({})).await;
    // Set by cargo for this test, and so in the environment of whoever would pass it on.
    assert!(environment.contains("PATH") && !environment.contains("CARGO_MANIFEST_DIR"), "{environment}");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up_and_the_server_lives() {
    let mut config = program("node", &[&package("server-everything"), "stdio"]);
    config.call_timeout = 2;
    let stage = Stage::started(config).await;
    let refusal = stage.refusal("s__trigger-long-running-operation", json!({ "duration": 60, "steps": 2 })).await;
    assert!(refusal.contains("did not answer within 2 seconds"), "{refusal}");
    assert_eq!(stage.text("s__echo", json!({ "message": "still" })).await, "Echo: still");
}

#[tokio::test]
async fn the_filesystem_server_reads_and_writes_below_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().canonicalize().expect("a path");
    let root = place.to_string_lossy();
    let stage = Stage::started(program("node", &[&package("server-filesystem"), &root])).await;
    let file = format!("{root}/note.txt");
    stage.text("s__write_file", json!({ "path": file, "content": "written\n" })).await;
    assert_eq!(std::fs::read_to_string(place.join("note.txt")).expect("the file"), "written\n");
    assert_eq!(stage.text("s__read_text_file", json!({ "path": file })).await, "written\n");
    let outside = stage.call("s__read_text_file", json!({ "path": "/etc/hostname" })).await.unwrap();
    assert!(outside.is_error && text_of(&outside).contains("denied"), "{}", text_of(&outside));
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_servers() {
    let stage = everything().await;
    let tool = stage.tool("s__echo");
    stage.servers.shut_down().await;
    assert_eq!(stage.health(), Health::Stopped);
    let refusal = stage.run(&*tool, json!({ "message": "x" })).await.unwrap_err().to_string();
    assert!(refusal.contains("ended with its session"), "{refusal}");
}

#[tokio::test]
async fn a_server_in_python_answers_typed_and_nested_arguments() {
    let stage = Stage::started(python()).await;
    assert_eq!(stage.names(), ["s__add", "s__fail", "s__picture", "s__plan", "s__route"]);
    assert_eq!(stage.text("s__add", json!({ "a": 2, "b": "40" })).await, "42");
    let route = json!({ "route": { "start": { "name": "A" }, "stops": [{ "name": "B" }, { "name": "C" }] } });
    assert_eq!(stage.text("s__route", route).await, "A > B > C");
    let plan = stage.text("s__plan", json!({ "days": 2 })).await;
    assert!(plan.contains("\"day\":2") || plan.contains("\"day\": 2"), "{plan}");
    let picture = stage.call("s__picture", json!({})).await.unwrap();
    assert!(matches!(picture.content.last(), Some(ContentBlock::Media(_))), "{}", text_of(&picture));
    let failed = stage.call("s__fail", json!({})).await.unwrap();
    assert!(failed.is_error && text_of(&failed).contains("Error executing tool fail"), "{}", text_of(&failed));
}

#[tokio::test]
async fn a_server_in_python_that_was_killed_is_started_again() {
    let stage = Stage::started(python()).await;
    let refusal = stage.refusal("s__fail", json!({ "how": "hard" })).await;
    assert!(refusal.contains("ended with code 9"), "{refusal}");
    assert_eq!(stage.text("s__add", json!({ "a": 1, "b": 1 })).await, "2");
}

/// The same server over HTTP, and where it listens.
fn over_http(more: &[&str]) -> (Killed, ServerConfig) {
    let ServerConfig { command, args, .. } = python();
    let mut program = std::process::Command::new(command.expect("a program"));
    program.args(args).arg("--http").args(more).stdout(std::process::Stdio::piped());
    let mut child = program.spawn().expect("the server");
    let mut address = String::new();
    std::io::BufReader::new(child.stdout.take().expect("its output")).read_line(&mut address).expect("its address");
    (Killed(child), ServerConfig { url: Some(address.trim().to_owned()), ..ServerConfig::default() })
}

/// Ends with the test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().expect("it was there");
        self.0.wait().expect("it ended");
    }
}

#[tokio::test]
async fn a_server_over_http_answers_and_is_found_again_after_it_was_away() {
    let (server, config) = over_http(&[]);
    let url = config.url.clone();
    let address = reqwest::Url::parse(url.as_deref().expect("its address")).expect("a URL");
    let port = address.port().expect("a port").to_string();
    let stage = Stage::started(config).await;
    assert_eq!(stage.health(), Health::Ready { tools: 5 });
    assert_eq!(stage.text("s__add", json!({ "a": 2, "b": 3 })).await, "5");
    drop(server);
    let refusal = stage.refusal("s__add", json!({ "a": 2, "b": 3 })).await;
    assert!(refusal.contains("could not be reached"), "{refusal}");
    assert!(matches!(stage.health(), Health::Failed { .. }));
    let (_back, again) = over_http(&["--port", &port]);
    assert_eq!(again.url, url);
    stage.servers.look_again().await;
    assert_eq!(stage.health(), Health::Ready { tools: 5 });
    assert_eq!(stage.text("s__add", json!({ "a": 2, "b": 4 })).await, "6");
}

#[tokio::test]
async fn a_server_over_http_wants_its_key() {
    let (_server, config) = over_http(&["--key", "k-123"]);
    assert_eq!(Stage::started(config.clone()).await.health(), Health::NeedsSignIn);
    let mut keyed = config;
    keyed.headers.insert("Authorization".into(), "Bearer k-123".into());
    assert_eq!(Stage::started(keyed).await.text("s__add", json!({ "a": 1, "b": 1 })).await, "2");
}

#[tokio::test]
async fn nobody_at_an_address_is_said() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("its address"));
    drop(listener);
    let stage = Stage::started(ServerConfig { url: Some(url), ..ServerConfig::default() }).await;
    assert!(
        stage.reason().contains("could not be started") && stage.reason().contains("refused"),
        "{}",
        stage.reason()
    );
}
