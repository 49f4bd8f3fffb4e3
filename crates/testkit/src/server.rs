//! The server's face to a test; the connections are in `serve`, the bytes in `http`.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use serde_json::Value;
use tokio::sync::{oneshot, watch};

use crate::gate::Gates;
use crate::wire::Ids;
use crate::{Asked, Gate, Log, Reply, Rule, Script, Wire};

mod control;
mod google;
mod http;
mod serve;
mod sigv4;

pub use google::GOOGLE_REFRESH_TOKEN;
pub use sigv4::{AWS_ACCESS_KEY, AWS_SECRET_KEY, AWS_SESSION_TOKEN};

/// A scripted model behind real HTTP on a loopback port. See the crate's docs.
///
/// It runs on a thread of its own with its own runtime, so a test may use paused time, block, or have no runtime at all.
/// Dropping it stops it and panics if a request met no rule.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// One request as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub method: String,
    /// With the query, as it was asked for.
    pub path: String,
    /// In order, names as they were written.
    pub headers: Vec<(String, String)>,
    pub body: Arc<[u8]>,
    pub outcome: Outcome,
    /// Requests with the same number came over the same connection.
    pub connection: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Open,
    /// The answer was sent as scripted, cuts included.
    Answered,
    /// The client closed the connection before that.
    ClientGone,
}

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    gates: Gates,
    ids: Ids,
    /// How often the state changed; what waits for requests and outcomes listens here.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<(Rule, usize)>,
    models: Vec<String>,
    models_reply: Option<Reply>,
    /// By path; they go before whatever else is at an address.
    at: HashMap<String, Reply>,
    /// Whether whoever signs is believed.
    believes_signatures: bool,
    key: Option<String>,
    log: Log,
    requests: Vec<Recorded>,
    unmatched: Vec<String>,
}

impl ModelServer {
    /// A server without rules on a free port.
    pub fn start() -> Self {
        Self::with(Script::default())
    }

    /// A server that follows `script`, on a free port.
    pub fn with(script: Script) -> Self {
        Self::at(script, 0).unwrap()
    }

    /// A server that follows `script` on `port` (0: any free one).
    pub fn at(script: Script, port: u16) -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state = State {
            rules: script.rules.into_iter().map(|rule| (rule, 0)).collect(),
            models: if script.models.is_empty() { vec!["test-model".into()] } else { script.models },
            key: script.key,
            log: script.log,
            ..State::default()
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            gates: Gates::default(),
            ids: Ids::default(),
            changes: watch::Sender::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("model-server".into()).spawn({
            let shared = Arc::clone(&shared);
            move || serve::run(listener, shared, stopped)
        })?;
        Ok(Self { shared, address, stop: Some(stop), thread: Some(thread) })
    }

    /// Adds a rule after those that are there.
    pub fn add(&self, rule: Rule) -> &Self {
        self.shared.state().rules.push((rule, 0));
        self
    }

    /// Answers the next request that nothing before this matches with `reply`, once.
    pub fn once(&self, reply: impl Into<Reply>) -> &Self {
        self.add(Rule::any().reply(reply))
    }

    /// Answers `GET /v1/models` with `reply` from now on.
    /// Believes whoever signs in AWS's way, for tests with an account of their own.
    pub fn believe_signatures(&self) -> &Self {
        self.shared.state().believes_signatures = true;
        self
    }

    pub fn answer_models_with(&self, reply: Reply) -> &Self {
        self.shared.state().models_reply = Some(reply);
        self
    }

    /// Answers every request to `path` with `reply`, which is an HTTP reply or hangs: what a server has beside its lists.
    pub fn answer_at(&self, path: &str, reply: Reply) -> &Self {
        self.shared.state().at.insert(path.to_owned(), reply);
        self
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL as that vendor's own SDK wants it: with `/v1` for OpenAI, without a version for the others.
    pub fn base_url(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic | Wire::Gemini | Wire::Ollama | Wire::Bedrock => self.url(),
            // Its region and project stand in the address.
            Wire::Vertex | Wire::VertexGemini => format!("{}/v1/projects/test-project/locations/us-east5", self.url()),
            Wire::OpenAi | Wire::OpenAiResponses => format!("{}/v1", self.url()),
        }
    }

    /// The gate of that name, which [`Reply::and_gate`] waits at. Closed until opened.
    pub fn gate(&self, name: &str) -> Gate {
        self.shared.gates.get(name)
    }

    /// Every request so far, answered or not.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// Waits until `count` requests have come.
    pub async fn saw_requests(&self, count: usize) {
        self.wait_until(|state| state.requests.len() >= count).await;
    }

    /// Waits until request number `index` (from 0) is over, and tells how.
    pub async fn outcome(&self, index: usize) -> Outcome {
        self.wait_until(|state| state.requests.get(index).is_some_and(|request| request.outcome != Outcome::Open))
            .await;
        self.requests()[index].outcome
    }

    /// Forgives requests that met no rule, and returns what was said about each.
    pub fn take_unmatched(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().unmatched)
    }

    /// Panics if a request met no rule, with its body. Dropping the server does the same.
    pub fn verify(&self) {
        let unmatched = self.take_unmatched();
        assert!(unmatched.is_empty(), "no rule for {} request(s):\n{}", unmatched.len(), unmatched.join("\n"));
    }

    async fn wait_until(&self, done: impl Fn(&State) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        while !done(&self.shared.state()) {
            // The sender lives in `shared`, so waiting cannot fail.
            changes.changed().await.ok();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.unwrap();
                self.verify();
            }
        }
    }
}

impl Recorded {
    /// The first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON. Panics when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Which wire the path belongs to; `None` for anything that is not a model call.
    pub fn wire(&self) -> Option<Wire> {
        serve::wire_of(&self.path)
    }

    /// The body as a rule sees it. Panics when it is not a model call.
    pub fn asked(&self) -> Asked {
        Asked::parse(self.wire().unwrap(), &self.path, &self.body).unwrap()
    }
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.method, self.path, String::from_utf8_lossy(&self.body))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Keeps a request; the number is for [`Self::close`]. `None` when the log is off.
    fn record(&self, request: &http::Request, connection: u64) -> Option<usize> {
        let mut state = self.state();
        if state.log == Log::Off {
            return None;
        }
        state.requests.push(Recorded {
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: request.body.as_slice().into(),
            outcome: Outcome::Open,
            connection,
        });
        let index = state.requests.len() - 1;
        drop(state);
        self.changed();
        Some(index)
    }

    fn close(&self, index: Option<usize>, outcome: Outcome) {
        if let Some(index) = index {
            if let Some(request) = self.state().requests.get_mut(index) {
                request.outcome = outcome;
            }
            self.changed();
        }
    }

    /// The reply to `asked`; using it up is part of choosing.
    fn choose(&self, asked: &Asked) -> Option<Reply> {
        let mut state = self.state();
        for (rule, used) in &mut state.rules {
            if let Some(reply) = rule.answer(asked, *used) {
                *used += 1;
                return Some(reply);
            }
        }
        None
    }

    fn miss(&self, what: String) {
        self.state().unmatched.push(what);
        self.changed();
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
