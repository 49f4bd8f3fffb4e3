use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_mcp::McpTool;
use bosun_model::{AiMessage, ChatRequest};
use bosun_tools::DynTool;

use crate::offered::Offered;

/// Takes the tools of a project's servers out of requests from the step on at which nobody vouches for their server any
/// more. The agent of the next turn is built without them.
pub(super) struct Disowned {
    tools: Vec<Arc<McpTool>>,
    offered: Offered,
}

impl Disowned {
    /// Over those of `tools` that a project brought; `None` where it brought none.
    pub(super) fn over(tools: &[Arc<McpTool>]) -> Option<Self> {
        let tools: Vec<_> = tools.iter().filter(|tool| tool.is_brought()).cloned().collect();
        (!tools.is_empty()).then(|| Self { tools, offered: Offered::default() })
    }
}

impl Middleware for Disowned {
    fn name(&self) -> &'static str {
        "Disowned"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        let disowned = self.tools.iter().filter(|tool| tool.is_untrusted());
        let names: HashSet<&String> = disowned.map(|tool| &tool.spec().name).collect();
        if !names.is_empty() {
            request.tools = self.offered.of(&request.tools, |name| !names.contains(name));
        }
        next.run(request)
    }
}
