mod wording;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bosun_agent::{
    AgentError, BoxFuture, Decision, Halt, Middleware, NextModel, NextTool, State, TurnContext, is_news,
};
use bosun_backend::ContentHash;
use bosun_model::{AiMessage, CallId, ChatRequest, Message, ToolCall, ToolMessage, ToolStatus, text_of};
use bosun_tools::{Reducer, StateField, StateUpdate, ToolKind, ToolOutput, without_boundary};
use serde_json::{Map, Value, json};

use crate::tokens::{TokenCounter, Tokenizer};
use crate::{counted, unpriced};

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
    /// The same call that failed so often ends the turn; 0 never does. A command fails where its exit code says so.
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
    counter: TokenCounter,
}

/// The state field with what failed commands said, by call.
const FIELD: &str = "failed_commands";
/// The state field with what ran in the place of what the model asked for, by call.
const EDITED_FIELD: &str = "edited_calls";
const SHORTEST_ID: usize = 4;
/// Failures are looked for in so many of the last steps, so that a step costs the same in a long turn.
const LOOK_BACK: usize = 30;

impl Guards {
    pub fn new(options: GuardOptions) -> Self {
        Self { options, counter: TokenCounter::default() }
    }

    /// Whether it matters what calls take.
    fn counts(&self) -> bool {
        self.options.max_tokens.is_some() || self.options.max_dollars.is_some()
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
        let tools = &cx.agent().tools;
        let may_change = |name: &str| {
            let kind = tools.get(name).map_or(ToolKind::Other, |tool| tool.kind());
            !matches!(kind, ToolKind::Read | ToolKind::Plan)
        };
        let tool = cx.log().with_state(|state| failing(state, times, may_change))?;
        Some(Halt::SameFailures { tool, times: times.to_string() })
    }
}

/// A call with what it ran and what it said when it failed.
type Failure<'a> = (&'a str, Cow<'a, str>, Cow<'a, str>);

/// The tool of a call that failed in `times` steps of this turn, the last of them the last step. Calls side by side count
/// once: the model had not seen that one fails when it made the others. A turn that was just continued may try once more.
///
/// A command fails where it ends with a code that is not 0, every other tool where its result is an error. It is the same
/// failure while it says the same and nothing else was done that `may_change` something, by the tool's name: whoever looks
/// whether a mend helped runs the same again. Of a call that a person changed it counts what ran.
fn failing<'a>(state: &'a State, times: usize, may_change: impl Fn(&str) -> bool) -> Option<String> {
    if times == 0 || state.turn.is_some_and(|turn| turn.steps == 0) {
        return None;
    }
    let is_said = |message: &Message| matches!(message, Message::Human(human) if !is_news(human));
    let noted = |field: &str| state.fields.get(field).and_then(Value::as_object);
    let (commands, edited) = (noted(FIELD), noted(EDITED_FIELD));
    let of_call = |notes: Option<&'a Map<String, Value>>, call: &ToolCall| notes?.get(call.id.as_str())?.as_str();
    let mut results: HashMap<&CallId, &ToolMessage> = HashMap::new();
    let mut counts: HashMap<Failure<'_>, usize> = HashMap::new();
    let (mut steps, mut last, mut changed) = (0, Vec::new(), false);
    for message in state.messages.iter().rev().take_while(|message| !is_said(message)) {
        match &**message {
            Message::Tool(result) => {
                results.insert(&result.call_id, result);
            }
            Message::Ai(reply) => {
                steps += 1;
                let mut of_step = HashSet::new();
                for call in reply.tool_calls.iter().rev() {
                    let Some(result) = results.get(&call.id) else { continue };
                    let said = match (result.status, of_call(commands, call)) {
                        (ToolStatus::Error, _) => error_of(result).into(),
                        (ToolStatus::Success, Some(said)) => Cow::Borrowed(said),
                        (ToolStatus::Success, None) => {
                            changed |= may_change(&call.name);
                            continue;
                        }
                    };
                    if changed {
                        continue;
                    }
                    let ran = of_call(edited, call).map_or_else(|| digest(&call.args).into(), Cow::Borrowed);
                    let failed = (call.name.as_str(), ran, said);
                    if steps == 1 {
                        last.push(failed.clone());
                    }
                    if of_step.insert(failed.clone()) {
                        *counts.entry(failed).or_default() += 1;
                    }
                }
            }
            Message::Human(_) | Message::System(_) => {}
        }
        // What failed before something was done is another failure, and where nothing failed last nothing did again.
        if changed || steps == LOOK_BACK || (steps > 0 && last.is_empty()) {
            break;
        }
    }
    let repeated = last.iter().rev().find(|call| counts.get(call).is_some_and(|count| *count >= times));
    repeated.map(|(name, ..)| (*name).to_owned())
}

/// What a failed command said, in short; `None` for everything else. A command that was stopped did not fail.
fn said(output: &ToolOutput) -> Option<Value> {
    output.artifact.exit_code.filter(|code| *code != 0 && !output.is_error)?;
    Some(in_short(&text_of(&output.content)).into())
}

/// What a result says that is an error, in short. Its call may be named in it, which is another each time; an id of few
/// letters may be any word of it.
fn error_of(result: &ToolMessage) -> String {
    let (text, id) = (result.text(), result.call_id.as_str());
    in_short(&if id.len() < SHORTEST_ID { text } else { text.replace(id, "#") })
}

/// The same for what says the same but for the time and the place.
fn in_short(text: &str) -> String {
    short(wording::steady(&without_boundary(text)).as_bytes())
}

/// What a person had run in the place of what the model asked for; `None` where they changed nothing.
fn edited(cx: &TurnContext, id: &CallId) -> Option<Value> {
    cx.log().with_state(|state| match &state.open_call(id)?.decision.as_ref()?.decision {
        Decision::Edit { args } => Some(digest(args).into()),
        Decision::Approve | Decision::Reject { .. } | Decision::Respond { .. } => None,
    })
}

fn digest(args: &Value) -> String {
    short(args.to_string().as_bytes())
}

/// Enough of a hash to tell what few calls ran and said.
fn short(bytes: &[u8]) -> String {
    ContentHash::of(bytes).as_str().chars().take(16).collect()
}

impl Middleware for Guards {
    fn name(&self) -> &'static str {
        "Guards"
    }

    fn fields(&self) -> Vec<StateField> {
        [FIELD, EDITED_FIELD].map(|field| StateField::new(field, Reducer::Merge).private()).into()
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            if let Some(limit) = self.options.max_dollars {
                unpriced::tell(cx, limit, cx.agent().model.chosen()).await?;
            }
            Ok(StateUpdate::default())
        })
    }

    /// Notes of failed commands what they said, before anybody outside of here shortens it, and of calls that a person
    /// changed what ran: the model's message keeps what it asked for.
    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(async move {
            let id = call.id.clone();
            let mut output = next.run(call).await?;
            let notes = [(FIELD, said(&output)), (EDITED_FIELD, edited(cx, &id))];
            let noted =
                notes.into_iter().filter_map(|(field, note)| Some((field.to_owned(), json!({ id.as_str(): note? }))));
            output.update.fields.extend(noted);
            Ok(output)
        })
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
            let read = self.counts().then(|| request.clone());
            let reply = next.run(request).await?;
            let model = cx.asked();
            let Some(read) = &read else {
                cx.spent().add(reply.spent(), reply.cost(&model));
                return Ok(reply);
            };
            let of_reply = counted::of_call(&self.counter, read, &reply, Tokenizer::of(&model));
            let dropped = reply.dropped.unwrap_or_default();
            // What is known counts, whatever is not.
            let costs = [dropped.cost, model.cost(&of_reply)].into_iter().flatten();
            cx.spent().add(Some(dropped.usage.plus(of_reply)), costs.reduce(|sum, cost| sum + cost));
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
