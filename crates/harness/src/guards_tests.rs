use std::sync::Arc;

use bosun_model::{StopReason, ToolCall, ToolMessage};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn step(n: usize, calls: &[(&str, i32, ToolStatus)]) -> Vec<Arc<Message>> {
    let id = |index: usize| format!("c{n}-{index}").as_str().into();
    let call = |(index, (name, arg, _)): (usize, &(&str, i32, ToolStatus))| ToolCall {
        id: id(index),
        name: (*name).to_owned(),
        args: json!({"n": arg}),
    };
    let reply = Message::Ai(AiMessage {
        id: "m".into(),
        content: vec![],
        tool_calls: calls.iter().enumerate().map(call).collect(),
        invalid_tool_calls: vec![],
        usage: None,
        stop: StopReason::ToolUse,
        model: None,
    });
    let result = |(index, (name, _, status)): (usize, &(&str, i32, ToolStatus))| {
        Message::Tool(ToolMessage { call_id: id(index), name: (*name).to_owned(), status: *status, content: vec![] })
    };
    std::iter::once(reply).chain(calls.iter().enumerate().map(result)).map(Arc::new).collect()
}

fn stuck(steps: &[&[(&str, i32, ToolStatus)]]) -> Option<String> {
    let mut messages = vec![Arc::new(Message::human("h", "go"))];
    for (n, calls) in steps.iter().enumerate() {
        messages.extend(step(n, calls));
    }
    let mut state = State::default();
    state.messages = messages;
    failing(&state, 3)
}

const BAD: ToolStatus = ToolStatus::Error;
const GOOD: ToolStatus = ToolStatus::Success;

#[test]
fn the_same_call_has_to_fail_three_times() {
    let ls = ("ls", 1, BAD);
    assert_eq!(stuck(&[&[ls], &[ls]]), None);
    assert_eq!(stuck(&[&[ls], &[ls], &[ls]]), Some("ls".into()));
    assert_eq!(stuck(&[&[ls], &[("grep", 2, GOOD)], &[ls], &[("ls", 1, GOOD), ls]]), Some("ls".into()));
}

#[test]
fn other_arguments_success_and_having_moved_on_are_no_failure() {
    let ls = ("ls", 1, BAD);
    assert_eq!(stuck(&[&[ls], &[("ls", 2, BAD)], &[("ls", 3, BAD)]]), None);
    assert_eq!(stuck(&[&[("ls", 1, GOOD)], &[("ls", 1, GOOD)], &[("ls", 1, GOOD)]]), None);
    assert_eq!(stuck(&[&[ls], &[ls], &[ls], &[("grep", 1, GOOD)]]), None);
}

#[test]
fn a_wide_step_hides_no_failure() {
    let wide = |n: i32| {
        let others = (0..80).map(move |other| ("grep", 100 * n + other, GOOD));
        [("ls", 1, BAD)].into_iter().chain(others).collect::<Vec<_>>()
    };
    let steps: Vec<_> = (1..4).map(wide).collect();
    assert_eq!(stuck(&[&steps[0], &steps[1]]), None);
    assert_eq!(stuck(&[&steps[0], &steps[1], &steps[2]]), Some("ls".into()));
}
