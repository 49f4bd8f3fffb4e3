use std::sync::Arc;
use std::time::Duration;

use bosun_model::{AiMessage, ChatRequest, MessageBuilder, MessageId, ModelError, ModelEvent, ModelStream, StopReason};
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::context::Partial;
use crate::{AgentError, EntryBody, LiveEvent, NoteAbout, NoteKind, TurnContext};

/// How often a growing reply is saved, so that a crash loses at most this much of what was shown.
const DRAFT_EVERY: Duration = Duration::from_secs(1);

/// The innermost endpoint: one request, its stream, one finished message. Deltas leave sideways through the log, so
/// that no middleware can swallow them.
pub(crate) async fn call(cx: &TurnContext, request: ChatRequest) -> Result<AiMessage, AgentError> {
    let busy = cx.activity().enter();
    let id = MessageId::new(cx.agent().ids.next());
    let model = Arc::new(cx.agent().model.info().clone());
    cx.set_asked(Arc::clone(&model));
    cx.log().emit(LiveEvent::ReplyStarted { message: id.clone(), model: Arc::clone(&model) });
    let mut reply = Reply { id: id.clone(), builder: MessageBuilder::new(), draft: Draft::default() };
    let outcome = tokio::select! {
        biased;
        () = cx.cancel().cancelled() => Err(AgentError::Cancelled),
        outcome = reply.receive(cx, request) => outcome,
    };
    drop(busy);
    match outcome {
        Ok(()) => {
            let Reply { builder, draft, .. } = reply;
            let partial = builder.partial_text();
            match builder.finish(id.clone(), &model.provider) {
                Ok(message) => {
                    // What an earlier attempt had shown is no part of it.
                    cx.take_partial();
                    Ok(AiMessage { asked: Some(model.asked()), ..message })
                }
                Err(error) => Err(dropped(cx, id, partial, draft, error.into()).await),
            }
        }
        Err(error) => Err(dropped(cx, id, reply.builder.partial_text(), reply.draft, error).await),
    }
}

/// A reply that came to nothing: all that was shown of it is saved, reasoning too, and whoever shows it is told.
async fn dropped(cx: &TurnContext, id: MessageId, partial: String, mut draft: Draft, error: AgentError) -> AgentError {
    cx.set_partial(Partial { message: id.clone(), text: partial, shown: draft.is_shown() });
    cx.log().emit(LiveEvent::ReplyDropped { message: id.clone() });
    if matches!(error, AgentError::Journal(_)) || !draft.grown {
        return error;
    }
    match cx.log().record(vec![draft.take_unsaved(id)]).await {
        Ok(()) => error,
        Err(unsaved) => unsaved.into(),
    }
}

/// Why a reply ended that a stop kept a part of.
const STOPPED: &str = "stopped";

/// What a stop keeps: the text a person has already read becomes a message of its own.
pub(crate) fn stopped_message(cx: &TurnContext) -> Option<AiMessage> {
    let (id, text) = cx.take_partial().filter(|(_, text)| !text.trim().is_empty())?;
    Some(AiMessage {
        id,
        content: vec![text.into()],
        tool_calls: Vec::new(),
        invalid_tool_calls: Vec::new(),
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::Other(STOPPED.into()),
        model: None,
        asked: None,
    })
}

/// Whether `reply` is what a stop kept of one.
pub(crate) fn is_stopped(reply: &AiMessage) -> bool {
    matches!(&reply.stop, StopReason::Other(reason) if reason == STOPPED)
}

struct Reply {
    id: MessageId,
    builder: MessageBuilder,
    draft: Draft,
}

/// What was shown of a reply, and whether all of it is saved.
#[derive(Default)]
struct Draft {
    text: String,
    reasoning: String,
    /// Whether a call was told of.
    called: bool,
    saved: Option<Instant>,
    grown: bool,
    /// Bytes of text and of reasoning that are saved.
    saved_text: usize,
    saved_reasoning: usize,
}

impl Draft {
    /// Whether there is anything of it that a person could read.
    fn is_shown(&self) -> bool {
        self.called || !self.text.trim().is_empty() || !self.reasoning.trim().is_empty()
    }

    /// What is not saved yet, and is from here on.
    fn take_unsaved(&mut self, message: MessageId) -> EntryBody {
        let (text_from, reasoning_from) = (self.saved_text, self.saved_reasoning);
        (self.saved_text, self.saved_reasoning) = (self.text.len(), self.reasoning.len());
        let text = self.text.get(text_from..).unwrap_or_default().to_owned();
        let reasoning = self.reasoning.get(reasoning_from..).unwrap_or_default().to_owned();
        EntryBody::Draft { message, text, reasoning, text_from, reasoning_from }
    }
}

impl Reply {
    async fn receive(&mut self, cx: &TurnContext, request: ChatRequest) -> Result<(), AgentError> {
        let request = ChatRequest { caller: Some(cx.caller()), ..request };
        let mut stream: ModelStream = cx.agent().model.stream(request).await?;
        while let Some(event) = self.next(cx, &mut stream).await? {
            self.builder.push(&event).map_err(|error| named(cx, error))?;
            if matches!(event, ModelEvent::Finished { .. }) {
                return Ok(());
            }
            if let ModelEvent::ThinkingUnseen { detail } = event {
                let about = NoteAbout::ThinkingUnseen { model: cx.agent().model.info().name.clone(), detail };
                cx.log().record(vec![EntryBody::noted(NoteKind::ThinkingUnseen, about)]).await?;
                continue;
            }
            self.tell(cx, event);
            self.save_draft(cx).await?;
        }
        Ok(())
    }

    /// The next event of the reply. While none comes, what was shown is saved when it is due.
    async fn next(&mut self, cx: &TurnContext, stream: &mut ModelStream) -> Result<Option<ModelEvent>, AgentError> {
        loop {
            let due = self.draft.saved.filter(|_| self.draft.grown).map(|saved| saved + DRAFT_EVERY);
            let Some(due) = due else { return Ok(stream.next().await.transpose()?) };
            tokio::select! {
                biased;
                event = stream.next() => return Ok(event.transpose()?),
                () = tokio::time::sleep_until(due) => self.save_draft(cx).await?,
            }
        }
    }

    fn tell(&mut self, cx: &TurnContext, event: ModelEvent) {
        let message = self.id.clone();
        match event {
            ModelEvent::TextDelta { text } => {
                self.draft.text.push_str(&text);
                self.draft.grown = true;
                cx.log().emit(LiveEvent::TextDelta { message, text });
            }
            ModelEvent::ReasoningDelta { text } => {
                self.draft.reasoning.push_str(&text);
                self.draft.grown = true;
                cx.log().emit(LiveEvent::ReasoningDelta { message, text });
            }
            ModelEvent::ToolCallStarted { index, id, name } if self.builder.has_call(index) => {
                self.draft.called = true;
                cx.log().emit(LiveEvent::CallProposed { message, call_id: id, name });
            }
            ModelEvent::Started { .. }
            | ModelEvent::ThinkingUnseen { .. }
            | ModelEvent::ReasoningDone { .. }
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolCallDelta { .. }
            | ModelEvent::ToolCallDone { .. }
            | ModelEvent::Usage(_)
            | ModelEvent::Finished { .. } => {}
        }
    }

    async fn save_draft(&mut self, cx: &TurnContext) -> Result<(), AgentError> {
        let now = Instant::now();
        let last = *self.draft.saved.get_or_insert(now);
        if !self.draft.grown || now.duration_since(last) < DRAFT_EVERY {
            return Ok(());
        }
        self.draft.saved = Some(now);
        self.draft.grown = false;
        cx.log().record(vec![self.draft.take_unsaved(self.id.clone())]).await?;
        Ok(())
    }
}

fn named(cx: &TurnContext, error: ModelError) -> ModelError {
    ModelError { provider: cx.asked().provider.clone(), ..error }
}
