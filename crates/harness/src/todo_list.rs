mod evidence;

use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, NextTool, TurnContext};
use bosun_model::{AiMessage, ChatRequest, ToolCall};
use bosun_tools::{DynTool, ToolOutput, WriteTodos, erase};

use crate::prompt;
pub use evidence::{EvidenceBook, EvidenceCall, TodoEvidence};

/// Planning: the `write_todos` tool and when to use it.
#[derive(Default)]
pub struct TodoList;

impl TodoList {
    const TOOL: &'static str = "write_todos";
}

impl Middleware for TodoList {
    fn name(&self) -> &'static str {
        "TodoList"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        vec![erase(WriteTodos)]
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        prompt::append(&mut request, prompt::PLANNING);
        next.run(request)
    }

    /// Two plans in one step contradict each other, so neither is taken (behaviour.md 3.10).
    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        let plans = if call.name == Self::TOOL {
            cx.log().with_state(|state| {
                let calls = state.step.iter().flat_map(|step| &step.calls);
                calls.filter(|open| open.call.name == Self::TOOL).count()
            })
        } else {
            0
        };
        if plans > 1 {
            let text = "Error: write_todos was called more than once in one step, so the plan was left as it is. \
                        Call it once with the whole list.";
            return Box::pin(async move { Ok(ToolOutput::error(text)) });
        }
        next.run(call)
    }
}
