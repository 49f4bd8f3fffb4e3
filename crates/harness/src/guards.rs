use std::collections::{HashMap, HashSet};

use bosun_agent::{AgentError, BoxFuture, Halt, Middleware, NextModel, NextTool, State, TurnContext, is_news};
use bosun_backend::ContentHash;
use bosun_model::{AiMessage, CallId, ChatRequest, Message, ToolCall, ToolStatus, text_of};
use bosun_tools::{Reducer, StateField, StateUpdate, ToolKind, ToolOutput, without_boundary};
use serde_json::{Value, json};

use crate::unpriced;

/// What a turn may cost at most, with all its subagents. Reaching a limit ends the turn with a sentence that says so;
/// everything is kept, and continuing the turn gives it the same limits again.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardOptions {
    /// Model calls of the whole tree. Those of one agent have a limit of their own ([`bosun_agent::Limits`]).
    pub max_steps: Option<u64>,
    /// Tokens read and written.
    pub max_tokens: Option<u64>,
    /// US dollars. What a model without a known price costs is not counted, which is said.
    pub max_dollars: Option<f64>,
    /// Seconds at work. What a person takes to decide is not counted. What runs when they are over is ended.
    pub max_seconds: Option<u64>,
    /// The same call that failed so often ends the turn; 0 never does.
    pub same_failures: usize,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self { max_steps: None, max_tokens: None, max_dollars: None, max_seconds: None, same_failures: 3 }
    }
}

/// Ends turns that run away. It stands behind everything that makes model calls of its own, so that it sees them all, and
/// is asked before those that members make beside the conversation. The time holds without it too
/// ([`bosun_agent::Limits::max_work`]): a call that runs for long makes no model call.
pub struct Guards {
    options: GuardOptions,
}

/// Failures are looked for in so many of the last steps, so that a step costs the same in a long turn.
const LOOK_BACK: usize = 30;

impl Guards {
    pub fn new(options: GuardOptions) -> Self {
        Self { options }
    }

    /// The limit that the turn has reached.
    fn limit(&self, cx: &TurnContext) -> Option<Halt> {
        let GuardOptions { max_steps, max_tokens, max_dollars, max_seconds, .. } = &self.options;
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
            return Some(Halt::LimitOfSeconds { limit: limit.to_string() });
        }
        None
    }

    /// The call that is made again and again.
    fn repetition(&self, cx: &TurnContext) -> Option<Halt> {
        let times = self.options.same_failures;
        let tool = cx.log().with_state(|state| failing(state, times))?;
        Some(Halt::SameFailures { tool, times: times.to_string() })
    }
}

/// The tool of a call that failed `times` times in this turn, its last failure in the last step. A turn that was just
/// continued may try once more.
fn failing(state: &State, times: usize) -> Option<String> {
    if times == 0 || state.turn.is_some_and(|turn| turn.steps == 0) {
        return None;
    }
    let is_said = |message: &Message| matches!(message, Message::Human(human) if !is_news(human));
    let mut failed: HashSet<&CallId> = HashSet::new();
    let mut steps: Vec<Vec<(&str, &Value)>> = Vec::new();
    for message in state.messages.iter().rev().take_while(|message| !is_said(message)) {
        match &**message {
            Message::Tool(result) if result.status == ToolStatus::Error => {
                failed.insert(&result.call_id);
            }
            Message::Ai(reply) => {
                let calls = reply.tool_calls.iter().filter(|call| failed.contains(&call.id));
                steps.push(calls.map(|call| (call.name.as_str(), &call.args)).collect());
            }
            Message::Tool(_) | Message::Human(_) | Message::System(_) => {}
        }
        if steps.len() == LOOK_BACK {
            break;
        }
    }
    let mut counts: HashMap<(&str, &Value), usize> = HashMap::new();
    steps.iter().flatten().for_each(|call| *counts.entry(*call).or_default() += 1);
    let last = steps.first()?;
    last.iter().find(|call| counts.get(call).is_some_and(|count| *count >= times)).map(|(name, _)| (*name).to_owned())
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
            if let Some(halt) = self.limit(cx).or_else(|| self.repetition(cx)) {
                return Err(halt.into());
            }
            let reply = next.run(request).await?;
            cx.spent().add(reply.usage, cx.agent().model.info().price);
            Ok(reply)
        })
    }

    fn before_side_call<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move { self.limit(cx).map_or(Ok(()), |halt| Err(halt.into())) })
    }
}

#[cfg(test)]
#[path = "guards_tests.rs"]
mod tests;
    fn fields(&self) -> Vec<StateField> {
        vec![StateField::new(FIELD, Reducer::Merge).private()]
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            if let Some(limit) = self.options.max_dollars {
                unpriced::tell(cx, limit, cx.agent().model.info()).await?;
            }
            Ok(StateUpdate::default())
        })
    }

    /// Notes of failed commands what they said, before anybody outside of here shortens it.
    fn wrap_tool_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(async move {
            let id = call.id.to_string();
            let mut output = next.run(call).await?;
            let noted = said(&output).map(|said| (FIELD.to_owned(), json!({ id: said })));
            output.update.fields.extend(noted);
            Ok(output)
        })
    }

