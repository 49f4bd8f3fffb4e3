use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, CallId, ChatRequest, ContentBlock, Message, ToolMessage, ToolStatus};

/// Gives every tool call in the history a result before the model sees it: providers refuse a request in which one is
/// missing. The loop itself leaves none behind; histories that were imported or cut can.
#[derive(Default)]
pub struct PatchToolCalls;

impl Middleware for PatchToolCalls {
    fn name(&self) -> &'static str {
        "PatchToolCalls"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        if let Some(messages) = patched(&request.messages) {
            request.messages = messages;
        }
        next.run(request)
    }
}

/// The repaired history, or `None` where nothing was missing.
fn patched(messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
    if is_whole(messages) {
        return None;
    }
    let answered: HashSet<&CallId> = messages
        .iter()
        .filter_map(|message| match &**message {
            Message::Tool(result) => Some(&result.call_id),
            Message::System(_) | Message::Human(_) | Message::Ai(_) => None,
        })
        .collect();
    let mut repaired = Vec::with_capacity(messages.len());
    let mut missing = false;
    for message in messages {
        repaired.push(Arc::clone(message));
        let Message::Ai(reply) = &**message else { continue };
        for call in reply.calls().filter(|call| !answered.contains(call.id())) {
            let text = if call.args().is_some() { NO_RESULT } else { MALFORMED };
            missing = true;
            repaired.push(Arc::new(Message::Tool(ToolMessage {
                call_id: call.id().clone(),
                name: call.name().to_owned(),
                status: ToolStatus::Error,
                content: vec![ContentBlock::text(text)],
            })));
        }
    }
    missing.then_some(repaired)
}

/// Whether the results of every reply stand right behind it, in whatever order: so the loop leaves a history, and a long one
/// is seen to be whole without a table of its calls.
fn is_whole(messages: &[Arc<Message>]) -> bool {
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        let Message::Ai(reply) = &**message else { continue };
        let results = || {
            rest.as_slice().iter().map_while(|message| match &**message {
                Message::Tool(result) => Some(&result.call_id),
                Message::System(_) | Message::Human(_) | Message::Ai(_) => None,
            })
        };
        if !reply.calls().all(|call| results().any(|answered| answered == call.id())) {
            return false;
        }
    }
    true
}

const NO_RESULT: &str = "No result of this call was recorded; it may have been cancelled or interrupted.";
const MALFORMED: &str = "The arguments of this call were malformed or truncated, so it was not run.";

#[cfg(test)]
mod tests {
    use bosun_model::{InvalidToolCall, StopReason, ToolCall};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn reply(calls: &[&str]) -> Arc<Message> {
        with_broken(calls, &[])
    }

    /// A reply of which the calls `broken` did not arrive whole.
    fn with_broken(calls: &[&str], broken: &[&str]) -> Arc<Message> {
        let tool_calls =
            calls.iter().map(|id| ToolCall { id: (*id).into(), name: "ls".into(), args: json!({}) }).collect();
        let broken = broken.iter().map(|id| InvalidToolCall {
            id: (*id).into(),
            name: "ls".into(),
            args: "{\"path".into(),
            reason: "it ends too early".into(),
            place: 1,
        });
        Arc::new(Message::Ai(AiMessage {
            id: "m".into(),
            content: vec![],
            tool_calls,
            invalid_tool_calls: broken.collect(),
            usage: None,
            stop: StopReason::ToolUse,
            model: None,
        }))
    }

    fn result(id: &str) -> Arc<Message> {
        Arc::new(Message::Tool(ToolMessage {
            call_id: id.into(),
            name: "ls".into(),
            status: ToolStatus::Success,
            content: vec![],
        }))
    }

    #[test]
    fn a_whole_history_is_left_alone() {
        assert_eq!(patched(&[reply(&["a"]), result("a")]), None);
    }

    #[test]
    fn a_missing_result_is_put_right_after_its_call() {
        let repaired = patched(&[reply(&["a", "b"]), result("a"), Arc::new(Message::human("h", "go on"))]).unwrap();
        let Message::Tool(patch) = &*repaired[1] else { panic!("no result after the reply") };
        assert_eq!((patch.call_id.as_str(), patch.status), ("b", ToolStatus::Error));
        assert_eq!((patch.text().as_str(), repaired.len()), (NO_RESULT, 4));
    }

    #[test]
    fn a_call_that_did_not_arrive_whole_is_told_so() {
        assert_eq!(patched(&[with_broken(&["a"], &["b"]), result("a"), result("b")]), None);
        let repaired = patched(&[with_broken(&["a"], &["b"]), result("a")]).unwrap();
        let Message::Tool(patch) = &*repaired[1] else { panic!("no result after the reply") };
        assert_eq!((patch.call_id.as_str(), patch.text().as_str(), repaired.len()), ("b", MALFORMED, 3));
    }
}
