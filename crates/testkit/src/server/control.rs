//! The control address, for tests that run the server as another process. See the crate's docs.

use serde_json::{Value, json};

use super::http::Request;
use super::{Outcome, Shared};
use crate::Rule;

/// Status and JSON body for a request below `/_control/`.
pub(super) fn answer(shared: &Shared, request: &Request) -> (u16, Value) {
    let path: Vec<&str> = request.path.trim_start_matches("/_control/").split('/').collect();
    match (request.method.as_str(), path.as_slice()) {
        ("GET", ["requests"]) => (200, requests(shared)),
        ("GET", ["unmatched"]) => (200, json!(shared.state().unmatched)),
        ("POST", ["rules"]) => match serde_json::from_slice::<Rule>(&request.body) {
            Ok(rule) => {
                shared.state().rules.push((rule, 0));
                (200, json!({}))
            }
            Err(error) => (400, json!({ "error": error.to_string() })),
        },
        ("DELETE", ["rules"]) => {
            shared.state().rules.clear();
            (200, json!({}))
        }
        ("GET", ["gates", name]) => (200, json!({ "reached": shared.gates.get(name).times_reached() })),
        ("POST", ["gates", name, "open"]) => {
            shared.gates.get(name).open();
            (200, json!({}))
        }
        ("POST", ["gates", name, "close"]) => {
            shared.gates.get(name).close();
            (200, json!({}))
        }
        _ => (404, json!({ "error": "no such control" })),
    }
}

fn requests(shared: &Shared) -> Value {
    let state = shared.state();
    let rows = state.requests.iter().map(|request| {
        let body = serde_json::from_slice::<Value>(&request.body)
            .unwrap_or_else(|_| json!(String::from_utf8_lossy(&request.body)));
        json!({
            "method": request.method,
            "path": request.path,
            "headers": request.headers,
            "body": body,
            "outcome": match request.outcome {
                Outcome::Open => "open",
                Outcome::Answered => "answered",
                Outcome::ClientGone => "client_gone",
            },
        })
    });
    rows.collect()
}
