//! What a hook is told.

use bosun_agent::{Decision, OpenCall, TurnContext, TurnEnd, is_news};
use bosun_model::{AiMessage, ChatRequest, Message, ToolCall, text_of};
use bosun_tools::{ToolKind, ToolOutput};
use serde_json::{Value, json};

use crate::summarization::Summary;

/// Characters of a text; what is longer is cut and says so.
const LONGEST: usize = 64_000;

pub(super) fn turn_start(cx: &TurnContext) -> Value {
    let message = cx.log().with_state(|state| {
        state.messages.iter().rev().find_map(|message| match &**message {
            Message::Human(human) if !is_news(human) => Some(text_of(&human.content)),
            _ => None,
        })
    });
    json!({ "message": cut(&message.unwrap_or_default()) })
}

pub(super) fn before_model(request: &ChatRequest) -> Value {
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    json!({ "messages": request.messages.len(), "tools": tools })
}

pub(super) fn after_model(message: &AiMessage) -> Value {
    let calls: Vec<Value> = message.tool_calls.iter().map(|call| json!({ "name": call.name, "id": call.id })).collect();
    json!({ "message": cut(&message.text()), "tool_calls": calls })
}

pub(super) fn tool(call: &ToolCall, kind: ToolKind) -> Value {
    json!({ "name": call.name, "kind": kind, "id": call.id, "arguments": call.args })
}

/// `told` as it ran: with the arguments that a person put in the place of the model's.
pub(super) fn ran(told: &Value, open: &OpenCall) -> Value {
    let mut ran = told.clone();
    let decision = open.decision.as_ref().map(|record| &record.decision);
    if let (Some(Decision::Edit { args }), Some(fields)) = (decision, ran.as_object_mut()) {
        fields.insert("arguments".to_owned(), args.clone());
        fields.insert("edited".to_owned(), Value::Bool(true));
    }
    ran
}

pub(super) fn result(output: &ToolOutput) -> Value {
    json!({ "is_error": output.is_error, "text": cut(&text_of(&output.content)) })
}

pub(super) fn ended_beside(end: &TurnEnd, answer: Option<String>) -> Value {
    json!({ "end": end, "result": { "is_error": *end != TurnEnd::Done, "text": cut(&answer.unwrap_or_default()) } })
}

pub(super) fn compaction(summary: &Summary) -> Value {
    json!({
        "summary": cut(&summary.text),
        "cause": summary.cause,
        "tokens_before": summary.tokens_before,
        "tokens_after": summary.tokens_after,
    })
}

/// `own` with what every event says.
pub(super) fn whole(cx: &TurnContext, point: &str, folder: &str, own: Value) -> Value {
    let turn = cx.log().with_state(|state| state.turn.map_or(state.turns, |turn| turn.number));
    of(point, json!(cx.log().session()), turn, json!(cx.path()), folder, own)
}

pub(super) fn of(point: &str, session: Value, turn: u32, agents: Value, folder: &str, own: Value) -> Value {
    let mut event = json!({
        "point": point,
        "session": session,
        "turn": turn,
        "agents": agents,
        "folder": folder,
    });
    if let (Value::Object(event), Value::Object(own)) = (&mut event, own) {
        event.extend(own);
    }
    event
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}\n[cut]", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
