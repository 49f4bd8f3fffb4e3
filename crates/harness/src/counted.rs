//! What a model call took, where the provider does not say.

use bosun_model::{AiMessage, ChatRequest, Message, Usage};

use crate::tokens::{TokenCounter, Tokenizer};

/// What counts towards the limits for a call that read `request` and came to `reply`: what the provider reported, and for
/// what it did not report an estimate. A limit that nothing counts towards would never be reached.
pub(crate) fn of_call(counter: &TokenCounter, request: &ChatRequest, reply: &AiMessage, tokenizer: Tokenizer) -> Usage {
    let usage = reply.usage.unwrap_or_default();
    Usage {
        input: usage.input.or_else(|| Some(counter.request(request, tokenizer))),
        output: usage.output.or_else(|| Some(written(reply, tokenizer))),
        ..usage
    }
}

fn written(reply: &AiMessage, tokenizer: Tokenizer) -> u64 {
    TokenCounter::default().messages(&[std::sync::Arc::new(Message::Ai(reply.clone()))], tokenizer)
}
