use std::sync::Arc;

use bosun_model::{AiMessage, Asked, ChatRequest, ModelError, ToolCall};
use bosun_tools::{DynTool, StateField, StateUpdate, ToolOutput};

use crate::{AgentError, BoxFuture, TurnContext, TurnEnd, model_call, tool_call};

/// A member of the stack around model and tool calls. First registered is outermost.
///
/// It keeps no per-session state in `self`: what it must remember it puts into the state with a [`StateUpdate`], so
/// that a stack rebuilt from the journal behaves the same.
pub trait Middleware: Send + Sync {
    /// Unique within a stack.
    fn name(&self) -> &'static str;

    /// Tools that come with it, in the order they are offered.
    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        Vec::new()
    }

    /// The fields of the state that its updates write.
    fn fields(&self) -> Vec<StateField> {
        Vec::new()
    }

    /// Once before the first model call of a turn.
    fn before_turn<'a>(&'a self, _cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async { Ok(StateUpdate::default()) })
    }

    /// Before every model call, before its request is made of the state.
    fn before_step<'a>(&'a self, _cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async { Ok(()) })
    }

    /// Around a model call. Calling `next` twice is a retry, not calling it is a refusal.
    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        next.run(request)
    }

    /// Before a call to a model that a member makes beside the conversation, as for a summary: [`Self::wrap_model_call`]
    /// sees none of those. An error refuses it.
    fn before_side_call<'a>(&'a self, _cx: &'a TurnContext) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async { Ok(()) })
    }

    /// After such a call to the agent's model failed for good, as it was asked as `asked`: whether another answers it now, so
    /// that it is worth asking again.
    fn after_side_failure<'a>(
        &'a self,
        _cx: &'a TurnContext,
        _asked: &'a Asked,
        _error: &'a ModelError,
    ) -> BoxFuture<'a, Result<bool, AgentError>> {
        Box::pin(async { Ok(false) })
    }

    /// After a reply was recorded. A turn that goes on from the journal right behind a reply does not come here for it: what
    /// has to hold for its calls belongs into [`Self::wrap_tool_call`].
    fn after_model<'a>(
        &'a self,
        _cx: &'a TurnContext,
        _message: &'a AiMessage,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async { Ok(StateUpdate::default()) })
    }

    /// Around a tool call whose arguments were checked.
    fn wrap_tool_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        next.run(call)
    }

    /// Once when the turn has ended, before its end is recorded.
    fn after_turn<'a>(
        &'a self,
        _cx: &'a TurnContext,
        _end: &'a TurnEnd,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async { Ok(StateUpdate::default()) })
    }
}

/// The rest of the stack around a model call.
#[derive(Clone, Copy)]
pub struct NextModel<'a> {
    pub(crate) cx: &'a TurnContext,
    pub(crate) rest: &'a [Arc<dyn Middleware>],
}

impl<'a> NextModel<'a> {
    pub fn run(self, request: ChatRequest) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        match self.rest.split_first() {
            Some((first, rest)) => first.wrap_model_call(self.cx, request, NextModel { cx: self.cx, rest }),
            None => Box::pin(model_call::call(self.cx, request)),
        }
    }
}

/// The rest of the stack around a tool call.
#[derive(Clone, Copy)]
pub struct NextTool<'a> {
    pub(crate) cx: &'a TurnContext,
    pub(crate) tool: &'a Arc<dyn DynTool>,
    pub(crate) rest: &'a [Arc<dyn Middleware>],
}

impl<'a> NextTool<'a> {
    /// The tool at the end of the stack.
    pub fn tool(&self) -> &'a Arc<dyn DynTool> {
        self.tool
    }

    pub fn run(self, call: ToolCall) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        match self.rest.split_first() {
            Some((first, rest)) => first.wrap_tool_call(self.cx, call, NextTool { cx: self.cx, tool: self.tool, rest }),
            None => Box::pin(tool_call::call(self.cx, self.tool, call)),
        }
    }
}
