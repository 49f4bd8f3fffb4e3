//! Hooks: a person's own programs at the points of the stack. A hook is told what goes on as JSON on its standard input
//! and may refuse it, make it ask, or add something to read; it can never allow what would ask without it, nor change
//! a call. A hook that fails is said, and a guard that fails makes the call ask.

mod answer;
pub(crate) mod config;
mod event;
mod run;
mod trial;

use std::path::PathBuf;
use std::sync::Arc;

use bosun_agent::{
    AgentError, BoxFuture, Middleware, NextModel, NextTool, NoteAbout, OpenCall, State, TurnContext, TurnEnd, is_news,
};
use bosun_mcp::{TokenStore, UnkeptTokens, Voucher};
use bosun_model::{AiMessage, ChatRequest, ContentBlock, HumanMessage, Message, MessageId, ToolCall};
use bosun_tools::{ASK_MORE_TOOL, SENDING_TOOLS, StateUpdate, Task, Tool as _, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

pub use config::{HookConfig, HookError, HookPoint, OnFailure};
pub use trial::{HookTrial, HookVerdict};

use self::run::Outcome;
use crate::summarization::Compaction;
use crate::{told, tool_names};

/// Hooks that run at once.
const AT_ONCE: usize = 8;
/// The field that holds what the hooks at the start of the turn had to say.
const CONTEXT_FIELD: &str = "hook_context";
/// The tag around what hooks add.
const FRAME: &str = "hook_context";
/// The field that says which summary the hooks were told of.
const COMPACTION_FIELD: &str = "hook_compaction";

/// The hooks of a person's settings as a member of the stack.
pub struct Hooks {
    hooks: Vec<Hook>,
    folder: PathBuf,
    slots: Semaphore,
    /// Where values of their variables are kept.
    tokens: Arc<dyn TokenStore>,
}

struct Hook {
    config: HookConfig,
    /// Who is asked before each run of one that the project brought.
    voucher: Option<Arc<dyn Voucher>>,
}

impl Hooks {
    /// The hooks of `hooks` that are enabled, run in `folder` in their order. Two may have one name, as those of a project
    /// and of a person.
    ///
    /// # Errors
    /// [`HookError`] for the first that is not written as it should be.
    pub fn new(hooks: Vec<HookConfig>, folder: PathBuf) -> Result<Self, HookError> {
        let (slots, tokens) = (Semaphore::new(AT_ONCE), Arc::new(UnkeptTokens::default()));
        Self { hooks: Vec::new(), folder, slots, tokens }.with(hooks, None)
    }

    /// With those that a project brought, which run before the others as long as `voucher` vouches for them.
    ///
    /// # Errors
    /// As [`Hooks::new`].
    pub fn with_brought(mut self, hooks: Vec<HookConfig>, voucher: &Arc<dyn Voucher>) -> Result<Self, HookError> {
        let own = std::mem::take(&mut self.hooks);
        let mut all = self.with(hooks, Some(voucher))?;
        all.hooks.extend(own);
        Ok(all)
    }

    fn with(mut self, hooks: Vec<HookConfig>, voucher: Option<&Arc<dyn Voucher>>) -> Result<Self, HookError> {
        for config in hooks {
            config.check()?;
            if config.enabled {
                self.hooks.push(Hook { config, voucher: voucher.map(Arc::clone) });
            }
        }
        Ok(self)
    }

    /// Has them take the values of their variables that are kept from `tokens`.
    #[must_use]
    pub fn keeping(self, tokens: &Arc<dyn TokenStore>) -> Self {
        Self { tokens: Arc::clone(tokens), ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    fn has(&self, point: HookPoint) -> bool {
        self.hooks.iter().any(|hook| hook.config.point == point)
    }

    /// Ends the turn where a hook refuses what goes on at `point`; gives what the hooks add.
    async fn gate(&self, cx: &TurnContext, point: HookPoint, event: Value) -> Result<Vec<String>, AgentError> {
        let outcome = self.run(cx, point, None, event).await?;
        match outcome.denied {
            Some(denial) => {
                // Only the message that the hook was told of is taken back, and only from the end.
                let is_last = |state: &State| matches!(state.messages.last().map(|last| &**last), Some(Message::Human(human)) if !is_news(human));
                let message = point == HookPoint::TurnStart && cx.log().with_state(is_last);
                Err(denial.halt(message).into())
            }
            None => Ok(outcome.context),
        }
    }

    async fn started(&self, cx: &TurnContext) -> Result<StateUpdate, AgentError> {
        told::tell(cx, self.name(), &self.unmatched(cx)).await?;
        let context = self.gate(cx, HookPoint::TurnStart, event::turn_start(cx)).await?;
        let had = cx.log().with_state(|state| state.fields.get(CONTEXT_FIELD).is_some_and(|value| !value.is_null()));
        let mut update = StateUpdate::default();
        if !context.is_empty() {
            update.fields.push((CONTEXT_FIELD.into(), Value::String(context.join("\n"))));
        } else if had {
            update.fields.push((CONTEXT_FIELD.into(), Value::Null));
        }
        Ok(update)
    }

    async fn ask_model(
        &self,
        cx: &TurnContext,
        mut request: ChatRequest,
        next: NextModel<'_>,
    ) -> Result<AiMessage, AgentError> {
        self.tell_of_compaction(cx).await?;
        let told =
            cx.log().with_state(|state| state.fields.get(CONTEXT_FIELD).and_then(Value::as_str).map(str::to_owned));
        let mut context: Vec<String> = told.into_iter().collect();
        if self.has(HookPoint::BeforeModel) {
            context.extend(self.gate(cx, HookPoint::BeforeModel, event::before_model(&request)).await?);
        }
        if !context.is_empty() {
            add(&mut request, &context.join("\n"));
        }
        next.run(request).await
    }

    /// What is told of hooks that are for calls of tools that there are not.
    fn unmatched(&self, cx: &TurnContext) -> Vec<NoteAbout> {
        let here = cx.agent().tools.names();
        let known: Vec<&str> = tool_names::own().map(|name| -> &str { name }).chain(here).collect();
        let unmatched = self.hooks.iter().filter_map(|Hook { config: hook, .. }| {
            let tools = tool_names::missing(&hook.tools, |pattern| config::matches_any(pattern, &known))?;
            Some(NoteAbout::HookUnmatched { hook: hook.name.clone(), tools })
        });
        unmatched.collect()
    }

    /// Runs the hooks for compaction once for each summary.
    async fn tell_of_compaction(&self, cx: &TurnContext) -> Result<(), AgentError> {
        if !self.has(HookPoint::Compaction) {
            return Ok(());
        }
        let (compaction, seen) =
            cx.log().with_state(|state| (Compaction::of(state), state.fields.get(COMPACTION_FIELD).cloned()));
        let Some(summary) = &compaction.summary else { return Ok(()) };
        let mark = json!([compaction.made, summary.made_at, summary.cutoff]);
        if seen.as_ref() == Some(&mark) {
            return Ok(());
        }
        self.run(cx, HookPoint::Compaction, None, event::compaction(summary)).await?;
        let update = StateUpdate { fields: vec![(COMPACTION_FIELD.into(), mark)], ..StateUpdate::default() };
        run::record(cx, update).await
    }

    async fn run_tool(&self, cx: &TurnContext, call: ToolCall, next: NextTool<'_>) -> Result<ToolOutput, AgentError> {
        // The end of one that works beside is told by its own last turn.
        let sends = SENDING_TOOLS.contains(&call.name.as_str()) || call.name == ASK_MORE_TOOL;
        let awaits = call.name == Task::NAME;
        let told = event::tool(&call, next.tool().kind());
        // What asks already, or has sent a subagent, has been through here before the app was closed.
        let begun = |open: &OpenCall| open.ask.is_some() || open.child.is_some();
        let asked = cx.log().with_state(|state| state.open_call(&call.id).is_some_and(begun));
        let before = [(true, HookPoint::BeforeTool), (sends, HookPoint::SubagentStart)];
        for (_, point) in before.into_iter().filter(|(applies, _)| *applies && !asked) {
            let outcome = self.run(cx, point, Some(&call.name), json!({ "tool": told })).await?;
            if let Some(denial) = outcome.denied {
                return Ok(ToolOutput::error(format!(
                    "Error: {} was not run: {} Do not try the same again; go on without it or another way.",
                    call.name,
                    denial.sentence()
                )));
            }
            if let Some(reason) = outcome.asks {
                cx.require_ask(&call.id, reason);
            }
        }
        let (name, id) = (call.name.clone(), call.id.clone());
        let mut output = next.run(call).await?;
        let ran = cx
            .log()
            .with_state(|state| state.open_call(&id).map_or_else(|| told.clone(), |open| event::ran(&told, open)));
        for (_, point) in
            [(awaits, HookPoint::SubagentEnd), (true, HookPoint::AfterTool)].into_iter().filter(|(applies, _)| *applies)
        {
            let event = json!({ "tool": ran, "result": event::result(&output) });
            let outcome = match self.run(cx, point, Some(&name), event).await {
                // What it did is recorded, whatever would have been said of it.
                Err(AgentError::Cancelled) => break,
                outcome => outcome?,
            };
            let notes = outcome.context.into_iter().chain(outcome.failures);
            output.content.extend(notes.map(ContentBlock::text));
        }
        Ok(output)
    }

    /// Observes: what the hooks say cannot change what has happened, only be noted.
    async fn observe(&self, cx: &TurnContext, point: HookPoint, event: Value) -> Result<Outcome, AgentError> {
        if self.has(point) { self.run(cx, point, None, event).await } else { Ok(Outcome::default()) }
    }
}

/// Adds what hooks say at the end of the conversation, for this request alone: what a hook says before a call holds for
/// that call, and all of it kept would fill the conversation. It is marked as passing, so that a provider keeps what stands
/// before it.
fn add(request: &mut ChatRequest, text: &str) {
    let text = inside(text);
    let text = format!("<{FRAME}>\nAdded by the user's own hooks:\n{text}\n</{FRAME}>");
    let message = HumanMessage { id: MessageId::new("hook_context"), content: vec![ContentBlock::text(text)] };
    request.messages.push(Arc::new(Message::Human(message)));
    request.cache.passing += 1;
}

/// `text` as it can stand in the frame: what would end it, or begin another, is no tag any more. A hook may pass on what
/// others wrote.
fn inside(text: &str) -> String {
    let is_frame = |rest: &str| {
        let name = rest.trim_start_matches([' ', '\t', '\r', '\n', '/']);
        name.get(..FRAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(FRAME))
    };
    let mut parts = text.split('<');
    let mut inside = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        inside.push_str(if is_frame(part) { "<\\" } else { "<" });
        inside.push_str(part);
    }
    inside
}

impl Middleware for Hooks {
    fn name(&self) -> &'static str {
        "Hooks"
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(self.started(cx))
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(self.ask_model(cx, request, next))
    }

    fn after_model<'a>(
        &'a self,
        cx: &'a TurnContext,
        message: &'a AiMessage,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            self.observe(cx, HookPoint::AfterModel, event::after_model(message)).await?;
            Ok(StateUpdate::default())
        })
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(self.run_tool(cx, call, next))
    }

    fn after_turn<'a>(
        &'a self,
        cx: &'a TurnContext,
        end: &'a TurnEnd,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            self.observe(cx, HookPoint::TurnEnd, json!({ "end": end })).await?;
            if cx.is_beside() {
                let answer = cx.log().with_state(|state| state.last_text());
                self.observe(cx, HookPoint::SubagentEnd, event::ended_beside(end, answer)).await?;
            }
            Ok(StateUpdate::default())
        })
    }
}
