//! What the estimate of a long history costs, as one line of JSON.
//!
//! `cargo run --release -p bosun-harness --example bench_tokens -- [MEGABYTES] [ROUNDS]`
//!
//! A history of `MEGABYTES` (10) of words, calls and results is estimated from nothing, then once more with a step that
//! came since; the median of `ROUNDS` (9) is told.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::sync::Arc;
use std::time::Instant;

use bosun_harness::{TokenCounter, Tokenizer};
use bosun_model::{AiMessage, ChatRequest, Message, StopReason, ToolCall, ToolMessage, ToolStatus};
use serde_json::json;

/// Bytes of one step: a question, a reply with a call, and its result.
const STEP: usize = 10_000;

/// One step of a session, of about [`STEP`] bytes.
fn step(number: usize) -> [Arc<Message>; 3] {
    let (id, words) = (format!("c{number}"), "much is said here. ".repeat(STEP / 19 / 3));
    let call = ToolCall { id: id.as_str().into(), name: "write_file".into(), args: json!({ "content": words }) };
    let reply = AiMessage {
        id: format!("m{number}").as_str().into(),
        content: vec!["On it.".into()],
        tool_calls: vec![call],
        invalid_tool_calls: vec![],
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::ToolUse,
        model: None,
        asked: None,
    };
    let result = ToolMessage {
        call_id: id.as_str().into(),
        name: "write_file".into(),
        status: ToolStatus::Success,
        content: vec![words.clone().into()],
    };
    [Message::human(format!("h{number}").as_str(), words), Message::Ai(reply), Message::Tool(result)].map(Arc::new)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<usize>());
    let mut next = |usual: usize| numbers.next().unwrap_or(Ok(usual));
    let (megabytes, rounds) = (next(10)?, next(9)?.max(1));
    let steps = megabytes * 1_000_000 / STEP;
    let mut messages: Vec<Arc<Message>> = (0..steps).flat_map(step).collect();
    let request =
        |messages: &[Arc<Message>]| ChatRequest { messages: messages.to_vec().into(), ..ChatRequest::default() };
    let timed = |counter: &TokenCounter, request: &ChatRequest| {
        let begun = Instant::now();
        let tokens = counter.request(request, Tokenizer::Claude);
        (tokens, begun.elapsed().as_secs_f64() * 1_000.0)
    };
    let (mut first, mut later, mut tokens) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds {
        let counter = TokenCounter::default();
        let (all, took) = timed(&counter, &request(&messages));
        first.push(took);
        tokens = all;
        messages.extend(step(steps + round));
        let (_, took) = timed(&counter, &request(&messages));
        later.push(took);
    }
    let figures =
        json!({ "megabytes": megabytes, "tokens": tokens, "first_ms": median(first), "later_ms": median(later) });
    println!("{figures}");
    Ok(())
}
