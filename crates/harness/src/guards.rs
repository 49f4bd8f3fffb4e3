use std::time::Duration;

use bosun_agent::{AgentError, BoxFuture, Halt, Middleware, NextModel, State, TurnContext, is_news};
use bosun_model::{AiMessage, ChatRequest, Message, ToolStatus};
use serde_json::Value;

/// What a turn may cost at most, with all its subagents. Reaching a limit ends the turn with a sentence that says so;
/// everything is kept, and continuing the turn gives it the same limits again.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardOptions {
    /// Model calls of the whole tree. Those of one agent have a limit of their own ([`bosun_agent::Limits`]).
    pub max_steps: Option<u64>,
    /// Tokens read and written.
    pub max_tokens: Option<u64>,
    /// US dollars. Models without a known price count as free.
    pub max_dollars: Option<f64>,
    /// Seconds at work. What a person takes to decide is not counted.
    pub max_seconds: Option<u64>,
    /// The same call that failed so often ends the turn; 0 never does.
    pub same_failures: usize,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self { max_steps: None, max_tokens: None, max_dollars: None, max_seconds: None, same_failures: 3 }
    }
}

/// Ends turns that run away. It stands behind everything that makes model calls of its own, so that it sees them all.
pub struct Guards {
    options: GuardOptions,
}

/// Failures are looked for among so many of the last messages, so that a step costs the same in a long turn.
const LOOK_BACK: usize = 60;

impl Guards {
    pub fn new(options: GuardOptions) -> Self {
        Self { options }
    }

    /// Why the turn may not go on.
    fn reason(&self, cx: &TurnContext) -> Option<Halt> {
        let GuardOptions { max_steps, max_tokens, max_dollars, max_seconds, same_failures } = &self.options;
        let spent = cx.spent();
        if let Some(limit) = max_steps.filter(|limit| spent.steps() >= *limit) {
            return Some(Halt::LimitOfSteps { limit: limit.to_string() });
        }
        if let Some(limit) = max_tokens.filter(|limit| spent.tokens() >= *limit) {
            return Some(Halt::LimitOfTokens { limit: limit.to_string() });
        }
        if let Some(limit) = max_dollars.filter(|limit| spent.dollars() >= *limit) {
            return Some(Halt::LimitOfDollars { limit: limit.to_string() });
        }
        if let Some(limit) = max_seconds.filter(|limit| cx.activity().worked_for().as_secs() >= *limit) {
            return Some(out_of_time(limit));
        }
        let tool = cx.log().with_state(|state| failing(state, *same_failures))?;
        Some(Halt::SameFailures { tool, times: same_failures.to_string() })
    }

    /// What is left of the time, where there is a limit.
    fn time_left(&self, cx: &TurnContext) -> Option<(u64, Duration)> {
        let limit = self.options.max_seconds?;
        Some((limit, Duration::from_secs(limit).saturating_sub(cx.activity().worked_for())))
    }
}

fn out_of_time(limit: u64) -> Halt {
    Halt::LimitOfSeconds { limit: limit.to_string() }
}

/// The tool of a call that failed `times` times in this turn, its last failure in the last step. A turn that was just
/// continued may try once more.
fn failing(state: &State, times: usize) -> Option<String> {
    if times == 0 || state.turn.is_some_and(|turn| turn.steps == 0) {
        return None;
    }
    let recent = state.messages.iter().rev().take(LOOK_BACK);
    let is_said = |message: &Message| matches!(message, Message::Human(human) if !is_news(human));
    let turn: Vec<&Message> = recent.map(|message| &**message).take_while(|message| !is_said(message)).collect();
    let failed: Vec<_> = turn
        .iter()
        .filter_map(|message| match message {
            Message::Tool(result) if result.status == ToolStatus::Error => Some(&result.call_id),
            _ => None,
        })
        .collect();
    let mut calls = turn.iter().filter_map(|message| match message {
        Message::Ai(reply) => Some(reply.tool_calls.iter().filter(|call| failed.contains(&&call.id))),
        _ => None,
    });
    let last: Vec<(&str, &Value)> = calls.next()?.map(|call| (call.name.as_str(), &call.args)).collect();
    let before: Vec<(&str, &Value)> = calls.flatten().map(|call| (call.name.as_str(), &call.args)).collect();
    let count = |call: &(&str, &Value)| {
        let same = |known: &&(&str, &Value)| known == &call;
        last.iter().filter(same).count() + before.iter().filter(same).count()
    };
    last.iter().find(|call| count(call) >= times).map(|(name, _)| (*name).to_owned())
}

impl Middleware for Guards {
    fn name(&self) -> &'static str {
        "Guards"
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            if let Some(halt) = self.reason(cx) {
                return Err(halt.into());
            }
            let reply = match self.time_left(cx) {
                None => next.run(request).await?,
                Some((limit, left)) => match tokio::time::timeout(left, next.run(request)).await {
                    Ok(reply) => reply?,
                    Err(_elapsed) => return Err(out_of_time(limit).into()),
                },
            };
            cx.spent().add(reply.usage, cx.agent().model.info().price);
            Ok(reply)
        })
    }
}

#[cfg(test)]
#[path = "guards_tests.rs"]
mod tests;
