use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

/// A place in a reply where the server waits for the test.
///
/// Once open, a gate stays open. Cloning gives the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    open: bool,
    reached: usize,
}

impl Gate {
    fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Lets every reply that waits here, and every later one, go on.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Makes later replies wait again.
    pub fn close(&self) {
        self.state.send_modify(|state| state.open = false);
    }

    /// How many replies have come to this gate so far.
    pub fn times_reached(&self) -> usize {
        self.state.borrow().reached
    }

    /// Waits until some reply has come here, so that all before the gate is on the wire.
    pub async fn reached(&self) {
        self.reached_times(1).await;
    }

    /// Waits until `times` replies have come here.
    pub async fn reached_times(&self, times: usize) {
        let mut states = self.state.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        states.wait_for(|state| state.reached >= times).await.ok();
    }

    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.reached += 1);
        let mut states = self.state.subscribe();
        states.wait_for(|state| state.open).await.ok();
    }
}

/// Gates by name; asking for one makes it.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<String, Gate>>);

impl Gates {
    pub(crate) fn get(&self, name: &str) -> Gate {
        let mut gates = self.0.lock().unwrap();
        gates.entry(name.to_owned()).or_insert_with(Gate::new).clone()
    }
}
