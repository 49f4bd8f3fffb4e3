use std::sync::Arc;

use bosun_model::Message;

use crate::tokens::{TokenCounter, Tokenizer};

/// How much of the end of a conversation stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Messages(usize),
    Tokens(u64),
}

/// Where to cut `messages`: what is before goes into the summary. 0 where there is nothing to cut.
///
/// A call and its results are never parted, and the last group stays whatever it costs.
pub(crate) fn cutoff(messages: &[Arc<Message>], keep: Keep, counter: &TokenCounter, tokenizer: Tokenizer) -> usize {
    let wanted = match keep {
        Keep::Messages(count) => messages.len().saturating_sub(count),
        Keep::Tokens(most) => {
            let mut left = most;
            let mut at = messages.len();
            for (index, message) in messages.iter().enumerate().rev() {
                let cost = counter.messages(std::slice::from_ref(message), tokenizer);
                let Some(rest) = left.checked_sub(cost) else { break };
                (left, at) = (rest, index);
            }
            at
        }
    };
    let latest = group_start(messages, messages.len().saturating_sub(1));
    group_start(messages, wanted.min(latest))
}

/// The message that `at` belongs to: of a result, the reply that made the call.
fn group_start(messages: &[Arc<Message>], at: usize) -> usize {
    let is_result = |index: usize| messages.get(index).is_some_and(|message| matches!(**message, Message::Tool(_)));
    let mut start = at;
    while start > 0 && is_result(start) {
        start -= 1;
    }
    if !is_result(start) {
        return start;
    }
    // Results without a reply before them: they go into the summary.
    (at..messages.len()).find(|index| !is_result(*index)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use bosun_model::{AiMessage, StopReason, ToolCall, ToolMessage, ToolStatus};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn history() -> Vec<Arc<Message>> {
        let human = |text: &str| Message::human("h", text);
        let ai = |calls: usize| {
            let call = |n: usize| ToolCall { id: format!("c{n}").into(), name: "ls".into(), args: json!({}) };
            Message::Ai(AiMessage {
                id: "m".into(),
                content: vec!["x".into()],
                tool_calls: (0..calls).map(call).collect(),
                invalid_tool_calls: vec![],
                call_places: Vec::new(),
                dropped: None,
                usage: None,
                stop: StopReason::EndTurn,
                model: None,
                asked: None,
            })
        };
        let result = || {
            Message::Tool(ToolMessage {
                call_id: "c0".into(),
                name: "ls".into(),
                status: ToolStatus::Success,
                content: vec!["y".repeat(400).into()],
            })
        };
        [human("a"), ai(2), result(), result(), ai(0), human("b"), ai(2), result(), result()]
            .into_iter()
            .map(Arc::new)
            .collect()
    }

    #[test]
    fn a_call_and_its_results_stay_together() {
        let messages = history();
        let counter = TokenCounter::default();
        let at = |keep| cutoff(&messages, keep, &counter, Tokenizer::Common);
        assert_eq!(at(Keep::Messages(6)), 1);
        assert_eq!(at(Keep::Messages(5)), 4);
        assert_eq!(at(Keep::Messages(1)), 6);
        assert_eq!(at(Keep::Messages(0)), 6);
        assert_eq!(at(Keep::Messages(100)), 0);
        assert_eq!(at(Keep::Tokens(0)), 6);
        assert_eq!(at(Keep::Tokens(1_000_000)), 0);
        assert_eq!(at(Keep::Tokens(219)), 5);
        assert_eq!(at(Keep::Tokens(240)), 4);
    }

    #[test]
    fn results_without_a_reply_are_cut_off() {
        let messages: Vec<_> = history().into_iter().skip(2).collect();
        assert_eq!(cutoff(&messages, Keep::Messages(6), &TokenCounter::default(), Tokenizer::Common), 2);
    }
}
