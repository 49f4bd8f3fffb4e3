use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_backend::Backend;
use bosun_model::{AiMessage, ChatRequest};
use bosun_tools::{DynTool, ToolKind, file_tools};

use crate::prompt;

/// The file tools over a backend, `execute` where it has a shell, and how paths and the shell hang together.
pub struct Filesystem {
    tools: Vec<Arc<dyn DynTool>>,
}

impl Filesystem {
    /// All file tools that `backend` can carry, or those of them that `allowed` names.
    pub fn new(backend: Arc<dyn Backend>, allowed: Option<&[String]>) -> Self {
        let mut tools = file_tools(&*backend);
        tools.retain(|tool| allowed.is_none_or(|allowed| allowed.contains(&tool.spec().name)));
        Self { tools }
    }

    fn has(&self, kind: ToolKind) -> bool {
        self.tools.iter().any(|tool| tool.kind() == kind)
    }
}

impl Middleware for Filesystem {
    fn name(&self) -> &'static str {
        "Filesystem"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.tools.clone()
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        prompt::append(&mut request, prompt::FILES);
        if self.has(ToolKind::Execute) {
            prompt::append(&mut request, prompt::SHELL);
        }
        next.run(request)
    }
}
