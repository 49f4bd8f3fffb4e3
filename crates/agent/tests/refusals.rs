//! A25: how long what a person refused stays refused.
#![allow(clippy::unwrap_used, reason = "tests may fail loudly")]

use std::sync::Arc;

use bosun_agent::{
    Decision, DecisionRecord, DecisionSource, EntryBody, JournalEntry, State, SubagentMode, ToolOutcome, TurnEnd,
};
use bosun_model::{AiMessage, CallId, HumanMessage, Message, StopReason, ToolCall, ToolMessage, ToolStatus};
use bosun_tools::ToolKind;
use serde_json::json;

fn human(id: &str) -> HumanMessage {
    HumanMessage { id: id.into(), content: vec!["words".into()] }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: name.into(), args: json!({ "file_path": "/a" }) }
}

fn reply(id: &str, tool_calls: Vec<ToolCall>) -> EntryBody {
    let kinds = vec![ToolKind::Edit; tool_calls.len()];
    let message = AiMessage {
        id: id.into(),
        content: vec![],
        tool_calls,
        invalid_tool_calls: vec![],
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::EndTurn,
        model: None,
        asked: None,
    };
    EntryBody::Ai { message, kinds, cost: None }
}

fn result(id: &str, outcome: ToolOutcome) -> EntryBody {
    let message = ToolMessage {
        call_id: CallId::new(id),
        name: "edit_file".into(),
        status: ToolStatus::Success,
        content: vec!["text".into()],
    };
    EntryBody::ToolResult {
        call_id: CallId::new(id),
        message: Arc::new(Message::Tool(message)),
        outcome,
        update: Default::default(),
        artifact: Default::default(),
        started_at: None,
        allowed_by: None,
    }
}

/// A turn in which a subagent was sent beside and an edit was refused, and what came after it.
fn after(rest: Vec<EntryBody>) -> State {
    let record =
        DecisionRecord { decision: Decision::Reject { reason: None }, by: DecisionSource::Person, digest: None };
    let sent = EntryBody::SubagentStarted {
        call_id: CallId::new("t"),
        child: "child".into(),
        name: "scout".into(),
        description: String::new(),
        mode: SubagentMode::Background,
    };
    let first = vec![
        EntryBody::TurnStarted { turn: 1, message: human("h1") },
        reply("a1", vec![call("t", "start_async_task"), call("e", "edit_file")]),
        sent,
        result("t", ToolOutcome::Ran),
        EntryBody::Decided { call_id: CallId::new("e"), record },
        result("e", ToolOutcome::Rejected),
        reply("a2", vec![]),
        EntryBody::TurnEnded { turn: 1, end: TurnEnd::Done },
    ];
    let entries: Vec<JournalEntry> = first.into_iter().chain(rest).map(|body| JournalEntry { at: 0, body }).collect();
    State::fold(&entries)
}

#[test]
fn a_turn_that_goes_on_because_a_subagent_ended_does_not_ask_again() {
    let ended = EntryBody::SubagentEnded {
        child: "child".into(),
        end: TurnEnd::Done,
        update: Default::default(),
        notice: Some(human("notice-child-1")),
    };
    let goes_on = || EntryBody::TurnContinued { turn: 1 };
    let was_refused = |rest| after(rest).was_refused(&call("again", "edit_file"));
    assert!(was_refused(vec![]));
    assert!(was_refused(vec![ended.clone(), goes_on()]), "nobody spoke");
    assert!(!was_refused(vec![goes_on()]), "a person said that it goes on");
    assert!(!was_refused(vec![EntryBody::TurnStarted { turn: 2, message: human("h2") }]));
    let spoke = EntryBody::Steered { message: human("h2") };
    assert!(!was_refused(vec![ended, spoke, goes_on()]));
}
