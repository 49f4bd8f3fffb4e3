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
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::ToolUse,
        model: None,
        asked: None,
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
    state.messages = messages.into();
    failing(&state, 3, changes)
}

fn changes(tool: &str) -> bool {
    matches!(tool, "execute" | "edit_file")
}

/// Steps of one call each: its name, its argument, and what it said where it is a command that failed.
fn stuck_with(calls: &[(&str, i32, Option<&str>)]) -> Option<String> {
    let steps: Vec<[(&str, i32, ToolStatus); 1]> = calls.iter().map(|(name, arg, _)| [(*name, *arg, GOOD)]).collect();
    let mut state = State::default();
    state.messages = vec![Arc::new(Message::human("h", "go"))].into();
    let mut said = serde_json::Map::new();
    for (n, (step_of, (_, _, words))) in steps.iter().zip(calls).enumerate() {
        state.messages.extend(step(n, step_of));
        said.extend(words.map(|words| (format!("c{n}-0"), json!(words))));
    }
    state.fields.insert(FIELD.into(), said.into());
    failing(&state, 3, changes)
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

#[test]
fn a_command_fails_again_while_it_says_the_same_and_nothing_was_done() {
    let make = ("execute", 1, Some("no rule"));
    assert_eq!(stuck_with(&[make, make]), None);
    assert_eq!(stuck_with(&[make, make, make]), Some("execute".into()));
    let (look, other_failed) = (("ls", 2, None), ("execute", 3, Some("bad")));
    assert_eq!(stuck_with(&[make, look, make, other_failed, make]), Some("execute".into()));
}

#[test]
fn a_command_that_says_something_else_or_follows_a_change_is_another_try() {
    let make = ("execute", 1, Some("no rule"));
    assert_eq!(stuck_with(&[make, make, ("execute", 1, Some("2 errors"))]), None);
    for done in [("edit_file", 2, None), ("execute", 2, None), ("execute", 1, None)] {
        assert_eq!(stuck_with(&[make, make, done, make]), None, "{done:?}");
        assert_eq!(stuck_with(&[done, make, make, make]), Some("execute".into()), "{done:?}");
        assert_eq!(stuck_with(&[make, make, make, done]), None, "it moved on: {done:?}");
    }
}

/// Steps of one call each, whose results are errors that say something; one that says nothing is a success.
fn stuck_saying(calls: &[(&str, i32, &str)]) -> Option<String> {
    let mut state = State::default();
    state.messages = vec![Arc::new(Message::human("h", "go"))].into();
    for (n, (name, arg, words)) in calls.iter().enumerate() {
        let status = if words.is_empty() { GOOD } else { BAD };
        for message in step(n, &[(*name, *arg, status)]) {
            let mut message = Arc::unwrap_or_clone(message);
            if let Message::Tool(result) = &mut message {
                result.content = vec![words.replace("ID", result.call_id.as_str()).as_str().into()];
            }
            state.messages.push(Arc::new(message));
        }
    }
    failing(&state, 3, changes)
}

/// Tools of servers tell by an error that tests failed.
#[test]
fn an_error_that_says_something_else_or_follows_a_change_is_another_try() {
    let (edit, look) = (("edit_file", 9, ""), ("ls", 9, ""));
    let tests = |words| ("ci__run_tests", 1, words);
    let (five, three, one) = (tests("5 failures"), tests("3 failures"), tests("1 failure"));
    assert_eq!(stuck_saying(&[edit, five, edit, three, edit, one]), None);
    assert_eq!(stuck_saying(&[five, three, one]), None);
    assert_eq!(stuck_saying(&[edit, five, edit, five, edit, five]), None);
    assert_eq!(stuck_saying(&[edit, five, look, five, five]), Some("ci__run_tests".into()));
    let named = tests("the call ID took 3 s and found 5 failures");
    assert_eq!(stuck_saying(&[named, named, named]), Some("ci__run_tests".into()), "each names itself");
}

#[test]
fn of_a_call_that_a_person_changed_it_counts_what_ran() {
    // Three different calls, in the place of each of which the same ran; and one call, in whose place three others ran.
    let counted = |calls: [i32; 3], ran: [i32; 3]| {
        let steps = calls.map(|arg| [("ls", arg, BAD)]);
        let mut state = State::default();
        state.messages = vec![Arc::new(Message::human("h", "go"))].into();
        state.messages.extend(steps.iter().enumerate().flat_map(|(n, calls)| step(n, calls)));
        let notes = ran.iter().enumerate().map(|(n, arg)| (format!("c{n}-0"), json!(digest(&json!({ "n": arg })))));
        state.fields.insert(EDITED_FIELD.into(), Value::Object(notes.take(2).collect()));
        failing(&state, 3, changes)
    };
    // The last one nobody changed.
    assert_eq!(counted([1, 2, 7], [7, 7, 0]), Some("ls".into()));
    assert_eq!(counted([7, 7, 7], [1, 2, 0]), None);
}

#[test]
fn a_command_fails_by_its_code_and_not_when_it_is_stopped() {
    let output = |code: Option<i32>, is_error: bool| {
        let artifact = bosun_tools::Artifact { exit_code: code, ..Default::default() };
        ToolOutput { artifact, is_error, ..ToolOutput::text("words after 3 ms") }
    };
    let timed_out = said(&output(Some(124), false));
    assert!(timed_out.is_some() && timed_out == said(&output(Some(1), false)));
    assert_eq!(
        [(Some(0), false), (None, false), (Some(-15), true)].map(|(code, stopped)| said(&output(code, stopped))),
        [None, None, None]
    );
}

#[test]
fn calls_that_fail_side_by_side_have_failed_once() {
    let ls = ("ls", 1, BAD);
    assert_eq!(stuck(&[&[ls, ls, ls]]), None, "the model has not seen that it fails");
    assert_eq!(stuck(&[&[ls, ls, ls], &[ls, ls]]), None);
    assert_eq!(stuck(&[&[ls, ls], &[ls], &[ls, ls]]), Some("ls".into()));
}
