use std::time::Duration;

use bosun_agent::{AgentError, EntryBody, LiveEvent, TurnContext};
use bosun_model::{
    ChatModel, ChatRequest, Message, ModelError, ModelErrorKind, ModelInfo, SystemBlock, ToolChoice, Usage, whole_reply,
};

use super::{record, threshold};
use crate::tokens::{TokenCounter, Tokenizer};
use crate::{RetryOptions, counted};

/// One call that nobody watches: its text does not go into the conversation. The agent's model has a smaller one for
/// that, or makes it itself; it does, too, what the smaller one cannot, and where it is overloaded, whoever stands in for it
/// does. It holds to the limits of the turn and the
/// person's budgets as every call does.
pub(crate) async fn ask(
    cx: &TurnContext,
    system: &str,
    text: String,
    max_output: u32,
) -> Result<(String, Option<Usage>), AgentError> {
    let request = ChatRequest {
        system: vec![SystemBlock::new(system)],
        messages: vec![std::sync::Arc::new(Message::human("summary", text))].into(),
        tool_choice: ToolChoice::None,
        max_output: Some(max_output),
        caller: Some(cx.caller()),
        ..ChatRequest::default()
    };
    let own = &*cx.agent().model;
    if let Some(small) = own.small().filter(|small| has_room(small.info(), &request)) {
        match patiently(cx, small, &request).await {
            Err(AgentError::Model(error)) => tracing::warn!(%error, "the model for summaries failed"),
            answer => return answer,
        }
    }
    let asked = own.info().asked();
    match patiently(cx, own, &request).await {
        Err(AgentError::Model(error)) if cx.after_side_failure(&asked, &error).await? => {
            patiently(cx, own, &request).await
        }
        answer => answer,
    }
}

/// Whether a model takes as much as `request` and its reply are: some leave out of what is longer without a word.
fn has_room(model: &ModelInfo, request: &ChatRequest) -> bool {
    let Some(window) = model.context_window.filter(|window| *window > 0) else { return true };
    let tokens = TokenCounter::default().request(request, Tokenizer::of(model));
    tokens + u64::from(request.max_output.unwrap_or(0)) <= threshold::room(window.into())
}

async fn patiently(
    cx: &TurnContext,
    model: &dyn ChatModel,
    request: &ChatRequest,
) -> Result<(String, Option<Usage>), AgentError> {
    let mut attempt = 1;
    loop {
        cx.before_side_call().await?;
        let answer = tokio::select! {
            biased;
            () = cx.cancel().cancelled() => return Err(AgentError::Cancelled),
            answer = whole_reply(model, request.clone(), "summary".into()) => answer,
        };
        match answer {
            Err(error) => {
                let Some(wait) = RetryOptions::default().wait(&error, attempt) else { return Err(error.into()) };
                tracing::warn!(%error, attempt, ?wait, "a quiet model call failed and is made again");
                waited(cx, error, wait).await?;
                attempt += 1;
            }
            Ok(reply) => {
                let counted = counted::of_call(&TokenCounter::default(), request, &reply, Tokenizer::of(model.info()));
                cx.spent().add(Some(counted), model.info().cost(&counted));
                // At once: what was paid for is known also where nothing of the reply is kept.
                if let Some(usage) = reply.usage {
                    let cost = model.info().cost(&usage);
                    cx.log().record(vec![EntryBody::SideCall { by: record::BY.into(), usage, cost }]).await?;
                }
                return Ok((reply.text(), reply.usage));
            }
        }
    }
}

/// Waits, and says so meanwhile.
async fn waited(cx: &TurnContext, error: ModelError, wait: Duration) -> Result<(), AgentError> {
    cx.log().emit(LiveEvent::AskingAgain { error, wait });
    let outcome = tokio::select! {
        biased;
        () = cx.cancel().cancelled() => Err(AgentError::Cancelled),
        () = tokio::time::sleep(wait) => Ok(()),
    };
    cx.log().emit(LiveEvent::AskingNow);
    outcome
}

/// Whether the provider refused a request because it is too long. Whoever talks to providers knows their words for it.
pub(crate) fn is_overflow(error: &AgentError) -> bool {
    matches!(error, AgentError::Model(error) if error.kind == ModelErrorKind::ContextOverflow)
}
