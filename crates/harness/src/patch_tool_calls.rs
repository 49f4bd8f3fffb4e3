use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, CallId, ChatRequest, ContentBlock, Message, ReplyCall, ToolMessage, ToolStatus};

use crate::looked_at::LookedAt;

/// Gives every tool call in the history its one result, right behind its reply, before the model sees it: providers refuse a
/// request in which one is missing, stands elsewhere, or belongs to nothing. The loop itself leaves none such behind;
/// histories that were imported or cut can.
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
    /// The repaired history, or `None` where nothing was amiss.
    fn patched(&mut self, messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
        let same = self.looked_at.same(messages);
        let known = if self.is_whole { messages.get(..same) } else { None };
        // The last of the known calls may have had its results behind what is the same.
        let is_reply = |message: &Arc<Message>| matches!(**message, Message::Ai(_));
        let from = known.and_then(|known| known.iter().rposition(is_reply)).unwrap_or(0);
        self.is_whole = is_whole(messages.get(from..).unwrap_or(messages));
        (!self.is_whole).then(|| repaired(messages))
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
            request.messages = messages.into();
        }
        next.run(request)
    }
}

/// `messages` with the results of each reply right behind it, in the order of its calls. A result that stands elsewhere is
/// moved, a missing one made up; what is left of results belongs to no call, or to one that has its result, and goes.
fn repaired(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut taken = vec![false; messages.len()];
    // Those that stand behind their reply first: ids may be the same in several replies.
    let mut behind: Vec<Option<usize>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let Message::Ai(reply) = &**message else { continue };
        let results = results_behind(messages, at);
        for call in reply.calls() {
            let is_free = |(place, id): &(usize, &CallId)| *id == call.id() && taken.get(*place) == Some(&false);
            let found = (at + 1..).zip(results.iter().copied()).find(is_free).map(|(place, _)| place);
            if let Some(taken) = found.and_then(|place| taken.get_mut(place)) {
                *taken = true;
            }
            behind.push(found);
        }
    }
    let mut displaced: HashMap<&CallId, VecDeque<&Arc<Message>>> = HashMap::new();
    for (message, _) in messages.iter().zip(&taken).filter(|(_, taken)| !**taken) {
        if let Message::Tool(result) = &**message {
            displaced.entry(&result.call_id).or_default().push_back(message);
        }
    }
    let mut repaired = Vec::with_capacity(messages.len());
    let mut behind = behind.into_iter();
    for message in messages.iter().filter(|message| !matches!(***message, Message::Tool(_))) {
        repaired.push(Arc::clone(message));
        let Message::Ai(reply) = &**message else { continue };
        for call in reply.calls() {
            let own = behind.next().flatten().and_then(|place| messages.get(place));
            let result = own.or_else(|| displaced.get_mut(call.id())?.pop_front());
            repaired.push(result.map_or_else(|| made_up(&call), Arc::clone));
        }
    }
    repaired
}

fn made_up(call: &ReplyCall<'_>) -> Arc<Message> {
    let text = if call.args().is_some() { NO_RESULT } else { MALFORMED };
    Arc::new(Message::Tool(ToolMessage {
        call_id: call.id().clone(),
        name: call.name().to_owned(),
        status: ToolStatus::Error,
        content: vec![ContentBlock::text(text)],
    }))
}

/// The calls whose results stand right behind the message `at`.
fn results_behind(messages: &[Arc<Message>], at: usize) -> Vec<&CallId> {
    let results = messages.get(at + 1..).unwrap_or_default().iter().map_while(|message| match &**message {
        Message::Tool(result) => Some(&result.call_id),
        Message::System(_) | Message::Human(_) | Message::Ai(_) => None,
    });
    results.collect()
}

/// Whether right behind every reply stand the results of its calls, in whatever order, and no others anywhere: so the loop
/// leaves a history, and a long one is seen to be whole without a table of its calls.
fn is_whole(messages: &[Arc<Message>]) -> bool {
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        match &**message {
            Message::System(_) | Message::Human(_) => {}
            Message::Tool(_) => return false,
            Message::Ai(reply) => {
                let results = results_behind(messages, at - 1);
                let is_answered_once = |id: &CallId| {
                    let calls = reply.calls().filter(|call| call.id() == id).count();
                    results.iter().filter(|answered| **answered == id).count() == calls
                };
                if results.len() != reply.calls().count() || !reply.calls().all(|call| is_answered_once(call.id())) {
                    return false;
                }
                at += results.len();
            }
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
    use proptest::prelude::*;
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
            dropped: None,
            usage: None,
            stop: StopReason::ToolUse,
            model: None,
            asked: None,
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
    fn a_missing_result_is_put_where_it_belongs() {
        let repaired = patched(&[reply(&["a", "b"]), result("a"), Arc::new(Message::human("h", "go on"))]).unwrap();
        let Message::Tool(patch) = &*repaired[2] else { panic!("no result after the reply") };
        assert_eq!((patch.call_id.as_str(), patch.status), ("b", ToolStatus::Error));
        assert_eq!((patch.text().as_str(), repaired.len()), (NO_RESULT, 4));
    }

    #[test]
    fn a_call_that_did_not_arrive_whole_is_told_so() {
        assert_eq!(patched(&[with_broken(&["a"], &["b"]), result("a"), result("b")]), None);
        let repaired = patched(&[with_broken(&["a"], &["b"]), result("a")]).unwrap();
        let Message::Tool(patch) = &*repaired[2] else { panic!("no result after the reply") };
        assert_eq!((patch.call_id.as_str(), patch.text().as_str(), repaired.len()), ("b", MALFORMED, 3));
    }

    #[test]
    fn displaced_doubled_and_orphaned_results_are_put_in_order() {
        let said = || Arc::new(Message::human("h", "go on"));
        let whole = [reply(&["a", "b"]), result("a"), result("b"), said(), reply(&["c"]), result("c")];
        let order = |places: &[usize]| places.iter().map(|place| Arc::clone(&whole[*place])).collect::<Vec<_>>();
        for places in [
            // A message stands between, a result before its call, one twice.
            &[0, 1, 3, 2, 4, 5][..],
            &[1, 0, 2, 3, 4, 5],
            &[0, 1, 2, 3, 5, 4, 5],
            &[0, 1, 1, 2, 2, 3, 1, 4, 5],
        ] {
            assert_eq!(patched(&order(places)).as_deref(), Some(&whole[..]), "{places:?}");
        }
        let orphans = [result("x"), reply(&["a"]), result("a"), result("y"), said(), result("z")];
        assert_eq!(patched(&orphans), Some(vec![reply(&["a"]), result("a"), said()]));
        let reused = [reply(&["a"]), result("a"), reply(&["a"]), result("a")];
        assert_eq!(patched(&reused), None, "some models count their calls anew in each reply");
    }

    /// What is no result, in its order.
    fn spoken(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
        messages.iter().filter(|message| !matches!(***message, Message::Tool(_))).cloned().collect()
    }

    proptest! {
        /// Of any order of any part of a history, some of it twice, each reply comes to be followed by one result of each
        /// of its calls and nothing else is a result.
        #[test]
        fn whatever_is_shuffled_comes_out_whole(
            places in prop::collection::vec(0..14_usize, 0..24),
        ) {
            let ids = |n: usize| (0..n % 3).map(|call| format!("{n}-{call}")).collect::<Vec<_>>();
            let mut pieces = Vec::new();
            for n in 0..6 {
                let ids = ids(n);
                pieces.push(reply(&ids.iter().map(String::as_str).collect::<Vec<_>>()));
                pieces.extend(ids.iter().map(|id| result(id)));
            }
            pieces.extend([Arc::new(Message::human("h", "go on")), result("nobody's")]);
            // A reply stands once in a history.
            let mut history: Vec<Arc<Message>> = Vec::new();
            for place in places {
                let piece = &pieces[place % pieces.len()];
                let is_reply = matches!(**piece, Message::Ai(_));
                if !(is_reply && history.iter().any(|known| Arc::ptr_eq(known, piece))) {
                    history.push(Arc::clone(piece));
                }
            }
            let repaired = patched(&history).unwrap_or_else(|| history.clone());
            prop_assert_eq!(spoken(&repaired), spoken(&history));
            prop_assert_eq!(patched(&repaired), None);
            let mut rest = repaired.iter();
            while let Some(message) = rest.next() {
                prop_assert!(!matches!(**message, Message::Tool(_)), "a result of no call");
                let Message::Ai(reply) = &**message else { continue };
                for call in &reply.tool_calls {
                    let Some(Message::Tool(answer)) = rest.next().map(|message| &**message) else {
                        return Err(TestCaseError::fail("a call without its result"));
                    };
                    prop_assert_eq!(&answer.call_id, &call.id);
                    let was_there = history.iter().any(|message| {
                        matches!(&**message, Message::Tool(result) if result.call_id == call.id)
                    });
                    prop_assert_eq!(answer.status == ToolStatus::Success, was_there);
                }
            }
        }
    }
}
