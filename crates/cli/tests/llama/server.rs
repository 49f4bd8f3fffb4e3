//! Against llama-cpp-python's server, which nobody here wrote, with a model of random weights (`tests/llama`).
//! `cargo xtask test --long --only local` installs it.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests make their own files and programs"
)]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use assert_cmd::cargo::cargo_bin;
use bosun_model::{ChatModel, ChatRequest, Message, MessageBuilder, ModelEvent, StopReason, ToolChoice, ToolSpec};
use bosun_protocol::{Envelope, ItemBody, SessionEvent, TurnOutcome};
use bosun_providers::{Family, ProviderConfig, connect, list_models};
use bosun_testkit::Project;
use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

const NAME: &str = "random";

/// The server with its model, ended with this.
struct Server {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Server {
    /// Starts it and waits until it answers.
    fn start() -> Self {
        let python = std::env::var("BOSUN_LLAMA_PYTHON").expect(
            "BOSUN_LLAMA_PYTHON names a Python with llama-cpp-python; `cargo xtask test --long --only local` makes one",
        );
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("random.gguf");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/llama/model.py");
        let made = Command::new(&python).arg(script).arg(&model).status().unwrap();
        assert!(made.success(), "the model was not made");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(python);
        command.args(["-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", &port.to_string(), "--model"]);
        command.arg(&model).args(["--model_alias", NAME, "--chat_format", "chatml-function-calling"]);
        command.args(["--n_ctx", "24576", "--n_threads", "2", "--seed", "7", "--verbose", "false"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = Vec::new();
        loop {
            let line = said.next().unwrap_or_else(|| panic!("the server ended: {seen:?}")).unwrap();
            let is_up = line.contains("Uvicorn running");
            seen.push(line);
            if is_up {
                break;
            }
        }
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || said.for_each(drop));
        Self { child, port, folder }
    }

    fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn config(&self) -> ProviderConfig {
        ProviderConfig::new("llamacpp", Family::OpenAiChat, self.base_url())
    }

    fn model(&self) -> Arc<dyn ChatModel> {
        connect(&self.config(), NAME).unwrap()
    }

    /// `bosun` with nothing of this machine's own settings.
    fn bosun(&self) -> Command {
        let mut command = Command::new(cargo_bin("bosun"));
        let data = self.folder.path().join("data");
        command.env_clear().env("HOME", self.folder.path()).env("BOSUN_DATA_DIR", data).stdin(Stdio::null());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn asking(words: &str, max_output: u32) -> ChatRequest {
    let messages = vec![Message::human("h", words).into()].into();
    ChatRequest { messages, max_output: Some(max_output), ..ChatRequest::default() }
}

async fn events_of(model: &dyn ChatModel, request: ChatRequest) -> Vec<ModelEvent> {
    let stream = model.stream(request).await.unwrap();
    stream.map(|event| event.unwrap()).collect().await
}

#[tokio::test]
async fn words_stream_until_they_end_or_are_enough() {
    let server = Server::start();
    let listed = list_models(&server.config()).await.unwrap();
    assert_eq!(listed.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), [NAME]);

    let events = events_of(&*server.model(), asking("say something", 64)).await;
    let deltas = events.iter().filter(|event| matches!(event, ModelEvent::TextDelta { .. })).count();
    assert!(deltas > 1, "{events:?}");
    let Some(ModelEvent::Finished { stop }) = events.last() else { panic!("{events:?}") };
    assert!(matches!(stop, StopReason::EndTurn | StopReason::MaxTokens), "{stop:?}");

    // Leaving in the middle frees the server for the next question.
    let mut left = server.model().stream(asking("go on and on", 4_000)).await.unwrap();
    left.next().await.unwrap().unwrap();
    drop(left);
    let soon = events_of(&*server.model(), asking("and now?", 4)).await;
    assert!(matches!(soon.last(), Some(ModelEvent::Finished { .. })), "{soon:?}");
}

#[tokio::test]
async fn a_call_that_is_asked_for_keeps_to_its_grammar() {
    let server = Server::start();
    let colours = ["red", "green", "blue"];
    let schema = json!({
        "type": "object", "required": ["colour", "bright"],
        "properties": { "colour": { "enum": colours }, "bright": { "type": "boolean" } },
    });
    let pick = ToolSpec { name: "pick".into(), description: "Picks a colour.".into(), schema };
    let request = ChatRequest {
        tools: vec![pick].into(),
        tool_choice: ToolChoice::Tool("pick".into()),
        ..asking("pick one", 200)
    };
    let events = events_of(&*server.model(), request).await;
    let pieces = events.iter().filter(|event| matches!(event, ModelEvent::ToolCallDelta { .. })).count();
    assert!(pieces > 1, "the arguments came in one piece: {events:?}");
    let mut builder = MessageBuilder::new();
    events.iter().for_each(|event| builder.push(event).unwrap());
    let message = builder.finish("m".into(), "llamacpp").unwrap();
    let [call] = &message.tool_calls[..] else { panic!("{message:?}") };
    assert_eq!(call.name, "pick");
    assert!(colours.iter().any(|colour| call.args["colour"] == *colour), "{:?}", call.args);
    assert!(call.args["bright"].is_boolean(), "{:?}", call.args);
}

/// An answer of a given shape has to be handed in with a call, and the turn that is asked for one in words ends in one that
/// is asked for by name: the server's grammar keeps even this model to it.
#[test]
fn a_whole_run_of_bosun_hands_in_what_the_grammar_allows() {
    let server = Server::start();
    let project = Project::new();
    let agent = server.folder.path().join("agent.toml");
    let declared = "name = \"picker\"\nbuiltin_tools = []\n[output]\nname = \"pick\"\n[output.schema]\n\
                    type = \"object\"\nrequired = [\"colour\", \"bright\"]\n[output.schema.properties]\n\
                    colour = { enum = [\"red\", \"green\", \"blue\"] }\nbright = { type = \"boolean\" }\n";
    std::fs::write(&agent, declared).unwrap();
    let mut command = server.bosun();
    command.args(["run", "--project", project.root_str(), "--model", &format!("llamacpp:{NAME}"), "--json"]);
    command.args(["--base-url", &server.base_url(), "--agent", agent.to_str().unwrap(), "pick a colour"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let events = events(&output.stdout);
    assert!(ended(&events, TurnOutcome::Done), "{said}");
    let is_pick = |value: &Value| {
        ["red", "green", "blue"].iter().any(|colour| value["colour"] == *colour) && value["bright"].is_boolean()
    };
    let done = |event: &SessionEvent| match event {
        SessionEvent::ItemCompleted { item } => Some(item.body.clone()),
        _ => None,
    };
    let bodies: Vec<_> = events.iter().filter_map(done).collect();
    let handed_in = bodies
        .iter()
        .any(|body| matches!(body, ItemBody::Tool(tool) if tool.name == "final_answer" && is_pick(&tool.args)));
    assert!(handed_in, "no call kept to the grammar: {bodies:?}");
    let last = bodies.iter().rev().find_map(|body| match body {
        ItemBody::Ai { text, .. } => Some(text),
        _ => None,
    });
    let answer: Value = serde_json::from_str(last.unwrap()).unwrap();
    assert!(is_pick(&answer), "{answer}");
}

fn events(lines: &[u8]) -> Vec<SessionEvent> {
    let lines = std::str::from_utf8(lines).unwrap();
    lines.lines().map(|line| serde_json::from_str::<Envelope>(line).unwrap().event).collect()
}

fn ended(events: &[SessionEvent], wanted: TurnOutcome) -> bool {
    events.iter().rev().find_map(outcome_of) == Some(wanted)
}

fn outcome_of(event: &SessionEvent) -> Option<TurnOutcome> {
    match event {
        SessionEvent::TurnEnded { outcome, .. } => Some(*outcome),
        _ => None,
    }
}

/// What a model of random weights wants makes no sense; that it is streamed, run, journaled and ended in order does.
#[test]
fn a_whole_run_of_bosun_with_it() {
    let server = Server::start();
    let project = Project::new().file("notes.txt", "aye\n");
    let agent = server.folder.path().join("agent.toml");
    std::fs::write(&agent, "name = \"small\"\nbuiltin_tools = [\"ls\"]\n").unwrap();
    let mut command = server.bosun();
    command.args(["run", "--project", project.root_str(), "--model", &format!("llamacpp:{NAME}"), "--json"]);
    command.args(["--base-url", &server.base_url(), "--agent", agent.to_str().unwrap(), "--max-steps", "3"]);
    let output = command.args(["--approve", "none", "what is here?"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let events = events(&output.stdout);
    let in_order = [TurnOutcome::Done, TurnOutcome::StepLimit];
    assert!(in_order.into_iter().any(|outcome| ended(&events, outcome)), "{said}");
    for event in &events {
        if let SessionEvent::ItemCompleted { item } = event
            && let ItemBody::Tool(tool) = &item.body
        {
            assert_eq!(tool.name, "ls", "a call outside the grammar");
        }
    }
    let usage = server.bosun().args(["usage", "--json"]).output().unwrap();
    let usage: Value = serde_json::from_slice(&usage.stdout).unwrap();
    assert!(usage["total"]["calls"].as_u64().unwrap() >= 1, "{usage}");
}
