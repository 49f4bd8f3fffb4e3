use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, CallId, ChatRequest, ContentBlock, Message, ToolMessage, ToolStatus};

use crate::looked_at::LookedAt;

/// Gives every tool call in the history a result before the model sees it: providers refuse a request in which one is
/// missing. The loop itself leaves none behind; histories that were imported or cut can.
#[derive(Default)]
pub struct PatchToolCalls {
    whole: Mutex<Whole>,
}

/// The history that was found whole last; of the next one only what is new is looked at.
#[derive(Default)]
struct Whole {
    looked_at: LookedAt,
    is_whole: bool,
}

impl Whole {
    /// The repaired history, or `None` where nothing was missing.
    fn patched(&mut self, messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
        let same = self.looked_at.same(messages);
        let known = if self.is_whole { messages.get(..same) } else { None };
        // The last of the known calls may have had its results behind what is the same.
        let is_reply = |message: &Arc<Message>| matches!(**message, Message::Ai(_));
        let from = known.and_then(|known| known.iter().rposition(is_reply)).unwrap_or(0);
        self.is_whole = is_whole(messages.get(from..).unwrap_or(messages));
        if self.is_whole { None } else { patched(messages) }
    }
}

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
        let patched = self.whole.lock().unwrap_or_else(PoisonError::into_inner).patched(&request.messages);
        if let Some(messages) = patched {
            request.messages = messages;
        }
        next.run(request)
    }
}

/// The repaired history, or `None` where nothing was missing, as where a result stands far behind its call.
fn patched(messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
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
            call_places: Vec::new(),
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

    fn patched(messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
        Whole::default().patched(messages)
    }

    #[test]
    fn a_whole_history_is_left_alone() {
        assert_eq!(patched(&[reply(&["a"]), result("a")]), None);
    }

    #[test]
    fn what_is_the_same_as_before_is_not_taken_for_more_than_it_was() {
        let mut whole = Whole::default();
        let history =
            [reply(&["a"]), result("a"), reply(&["b", "c"]), result("b"), result("c"), reply(&["d"]), result("d")];
        assert_eq!([2, 5, 7].map(|end| whole.patched(&history[..end])), [None, None, None]);
        // Taken back into the middle of a step: the result of c is not there any more.
        let mut rewound = history[..4].to_vec();
        rewound.push(Arc::new(Message::human("h", "go on")));
        assert_eq!(whole.patched(&rewound).unwrap().len(), 6);
        assert_eq!(whole.patched(&rewound).unwrap().len(), 6, "and each time anew");
        assert_eq!(whole.patched(&history), None);
        let mut open = history.to_vec();
        open.push(reply(&["e"]));
        assert_eq!(whole.patched(&open).unwrap().len(), 9);
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
