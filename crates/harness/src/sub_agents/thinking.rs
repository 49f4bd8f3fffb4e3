use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, ChatRequest, Effort};

/// How much the model of one subagent thinks, before what holds for all of them says so.
pub(crate) struct Thinking {
    pub effort: Effort,
}

impl Middleware for Thinking {
    fn name(&self) -> &'static str {
        "Thinking"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        request.effort = request.effort.or(Some(self.effort));
        next.run(request)
    }
}
