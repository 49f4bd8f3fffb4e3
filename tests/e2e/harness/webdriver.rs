//! The part of W3C WebDriver the scenarios use, spoken to WebKitWebDriver.

use serde_json::{Value, json};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::http;
use super::process::Owned;
use super::wait;

/// A command that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the app may be unseen while it starts.
const START: Duration = Duration::from_secs(3);

/// The key under which WebDriver hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Why the driver did not do as told: WebDriver's own error code and its message.
#[derive(Debug)]
pub struct Refusal {
    pub code: String,
    pub message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// A running WebKitWebDriver. It drives one app at a time.
pub struct Driver {
    port: u16,
    process: Owned,
}

impl Driver {
    /// The app inherits the environment of `command`.
    pub fn start(mut command: Command, log: Stdio) -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        command.arg(format!("--port={port}")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut driver = Self { port, process: Owned::start(&mut command) };
        let ready = wait(Duration::from_secs(10), || {
            driver.process.assert_alive();
            driver.call("GET", "/status", &Value::Null).ok()
        });
        assert!(ready.is_some(), "WebKitWebDriver did not answer on port {port}");
        driver
    }

    /// Starts `binary` under automation and returns the session once its page is there. The driver itself never notices
    /// an app that ends before it has a window, so `is_running` is asked meanwhile.
    pub fn open(&self, binary: &Path, arguments: &[&str], is_running: &dyn Fn() -> bool) -> Result<Session, Refusal> {
        let options = json!({ "binary": binary, "args": arguments });
        let body = json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let (port, (sender, answer)) = (self.port, mpsc::channel());
        // The answer may come after nobody waits for it any more.
        thread::spawn(move || sender.send(call(port, "POST", "/session", &body)).ok());
        let mut last_seen = Instant::now();
        loop {
            match answer.recv_timeout(Duration::from_millis(50)) {
                Ok(value) => {
                    let value = value?;
                    let id = value["sessionId"].as_str().unwrap_or_default();
                    return Ok(Session { port, base: format!("/session/{id}") });
                }
                Err(_) if is_running() => last_seen = Instant::now(),
                Err(_) if last_seen.elapsed() < START => {}
                Err(_) => {
                    let message = format!("{} ended before its window was there", binary.display());
                    return Err(Refusal { code: "no app".to_owned(), message });
                }
            }
        }
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refusal> {
        call(self.port, method, path, body)
    }
}

/// One app under automation.
pub struct Session {
    port: u16,
    base: String,
}

impl Session {
    pub fn get(&self, path: &str) -> Result<Value, Refusal> {
        call(self.port, "GET", &format!("{}{path}", self.base), &Value::Null)
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value, Refusal> {
        call(self.port, "POST", &format!("{}{path}", self.base), body)
    }

    pub fn delete(&self, path: &str) -> Result<Value, Refusal> {
        call(self.port, "DELETE", &format!("{}{path}", self.base), &Value::Null)
    }

    /// Runs the body of a function; `arguments` are its `arguments`.
    pub fn script(&self, body: &str, arguments: &[Value]) -> Result<Value, Refusal> {
        self.post("/execute/sync", &json!({ "script": body, "args": arguments }))
    }

    /// Runs the body of a function whose last argument is called with the result.
    pub fn script_async(&self, body: &str, arguments: &[Value]) -> Result<Value, Refusal> {
        self.post("/execute/async", &json!({ "script": body, "args": arguments }))
    }
}

/// The id of an element in an answer.
pub fn element_id(value: &Value) -> Option<&str> {
    value[ELEMENT].as_str()
}

/// An element as an argument of a script.
pub fn element_argument(id: &str) -> Value {
    json!({ ELEMENT: id })
}

fn call(port: u16, method: &str, path: &str, body: &Value) -> Result<Value, Refusal> {
    let text = if method == "POST" { body.to_string() } else { String::new() };
    let refusal = |code: &str, message: String| Refusal { code: code.to_owned(), message };
    let (status, answer) =
        http::request(port, method, path, &text, PATIENCE).map_err(|fault| refusal("no answer", fault))?;
    let mut answer: Value =
        serde_json::from_str(&answer).map_err(|error| refusal("not JSON", format!("{error}: {answer}")))?;
    let value = answer["value"].take();
    if status == 200 {
        return Ok(value);
    }
    let said = |key: &str| value[key].as_str().unwrap_or("?").to_owned();
    Err(Refusal { code: said("error"), message: format!("{method} {path}: {}", said("message")) })
}
