use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, CacheLifetime, CacheMarks, ChatRequest};

use crate::prompt;

/// Says where a provider with explicit caching shall set its breakpoints: after the tools, after the standing prompt,
/// after the memory, which stands behind everything else so that a change of it spoils nothing before, and after the
/// newest message. Providers that cache by themselves see the same bytes at the beginning of every request, which is all
/// they need.
#[derive(Default)]
pub struct PromptCaching {
    lifetime: CacheLifetime,
}

impl PromptCaching {
    pub fn new(lifetime: CacheLifetime) -> Self {
        Self { lifetime }
    }
}

impl Middleware for PromptCaching {
    fn name(&self) -> &'static str {
        "PromptCaching"
    }

    fn wrap_model_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        mark(&mut request, self.lifetime);
        next.run(request)
    }
}

fn mark(request: &mut ChatRequest, lifetime: CacheLifetime) {
    let blocks = std::mem::take(&mut request.system);
    let (mut changing, mut standing): (Vec<_>, Vec<_>) =
        blocks.into_iter().partition(|block| block.text.starts_with(prompt::MEMORY_OPENING));
    for part in [&mut standing, &mut changing] {
        if let Some(last) = part.last_mut() {
            last.cache = true;
        }
    }
    standing.append(&mut changing);
    request.system = standing;
    request.cache = CacheMarks { tools: true, conversation: true, lifetime, ..request.cache };
}

#[cfg(test)]
mod tests {
    use bosun_model::SystemBlock;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn memory_stands_behind_the_standing_prompt_and_both_end_in_a_breakpoint() {
        let memory = format!("{}\n/AGENTS.md", prompt::MEMORY_OPENING);
        let mut request = ChatRequest {
            system: vec![SystemBlock::new("base"), SystemBlock::new(memory.clone()), SystemBlock::new("files")],
            ..ChatRequest::default()
        };
        mark(&mut request, CacheLifetime::default());
        let shown: Vec<_> = request.system.iter().map(|block| (block.text.as_str(), block.cache)).collect();
        assert_eq!(shown, [("base", false), ("files", true), (memory.as_str(), true)]);
        assert!(request.cache.tools && request.cache.conversation);
    }

    #[test]
    fn an_empty_prompt_gets_no_breakpoint() {
        let mut request = ChatRequest::default();
        mark(&mut request, CacheLifetime::default());
        assert_eq!(request.system, vec![]);
    }
}
