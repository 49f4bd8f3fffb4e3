use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use bosun_model::{
    Abilities, BoxFuture, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelStream,
    Stays, StopReason,
};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use crate::{Ending, Part, Reply};

/// A [`ChatModel`] without a wire, for tests of the loop itself.
///
/// [`Self::new`] answers from a list of replies, in order. [`Self::by`] answers each request by what is in it.
/// [`Self::driven`] lets the test play the model event by event. A request too many is an error that says so.
pub struct ScriptedModel {
    info: ModelInfo,
    source: Source,
    requests: Arc<Mutex<Vec<ChatRequest>>>,
    forgets: bool,
}

enum Source {
    Replies(Mutex<VecDeque<Scripted>>),
    Rule(Box<dyn Fn(&ChatRequest) -> Reply + Send + Sync>),
    Driver(mpsc::UnboundedSender<DrivenCall>),
}

/// One answer of a [`ScriptedModel`].
#[derive(Clone, Debug)]
pub enum Scripted {
    Reply(Reply),
    /// These events, as they are.
    Events(Vec<ModelEvent>),
    /// The call fails before the first event.
    Error(ModelError),
}

impl From<Reply> for Scripted {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

impl From<&str> for Scripted {
    fn from(text: &str) -> Self {
        Self::Reply(Reply::text(text))
    }
}

impl From<ModelError> for Scripted {
    fn from(error: ModelError) -> Self {
        Self::Error(error)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("info", &self.info).finish_non_exhaustive()
    }
}

impl ScriptedModel {
    pub fn new<R: Into<Scripted>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self::from_source(Source::Replies(Mutex::new(replies.into_iter().map(Into::into).collect())))
    }

    /// A model that answers each request by what is in it, after everyone else had a chance to ask too.
    pub fn by(rule: impl Fn(&ChatRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::from_source(Source::Rule(Box::new(rule)))
    }

    /// Keeps no requests, for measuring.
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.forgets = true;
        self
    }

    /// A model whose every call arrives at the returned driver.
    pub fn driven() -> (Self, ModelDriver) {
        let (calls, received) = mpsc::unbounded_channel();
        (Self::from_source(Source::Driver(calls)), ModelDriver { calls: received })
    }

    pub fn with_info(mut self, info: ModelInfo) -> Self {
        self.info = info;
        self
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Adds an answer after those that are left. Panics on a driven model.
    pub fn then(&self, reply: impl Into<Scripted>) {
        match &self.source {
            Source::Replies(replies) => replies.lock().unwrap().push_back(reply.into()),
            Source::Rule(_) | Source::Driver(_) => panic!("this model takes its answers from elsewhere"),
        }
    }

    fn from_source(source: Source) -> Self {
        let info = ModelInfo {
            provider: "scripted".into(),
            name: "scripted-model".into(),
            context_window: Some(200_000),
            max_output: Some(8_192),
            abilities: Abilities { images: true, documents: true, audio: true, video: true, reasoning: true },
            price: None,
            steps: Vec::new(),
            scripted: false,
            stays: Stays::No,
        };
        Self { info, source, requests: Arc::default(), forgets: false }
    }

    fn answer(&self, request: ChatRequest) -> Result<ModelStream, ModelError> {
        let number = {
            let mut requests = self.requests.lock().unwrap();
            if !self.forgets {
                requests.push(request.clone());
            }
            requests.len()
        };
        match &self.source {
            Source::Replies(replies) => {
                let next = replies.lock().unwrap().pop_front();
                match next {
                    Some(Scripted::Reply(reply)) => Ok(stream::iter(events(&reply, number)).boxed()),
                    Some(Scripted::Events(events)) => Ok(stream::iter(events.into_iter().map(Ok)).boxed()),
                    Some(Scripted::Error(error)) => Err(error),
                    None => Err(failure(ModelErrorKind::InvalidRequest, "the script has no reply left")),
                }
            }
            Source::Rule(rule) => Ok(stream::iter(events(&rule(&request), number)).boxed()),
            Source::Driver(calls) => {
                let (events, received) = mpsc::unbounded_channel();
                calls
                    .send(DrivenCall { request, events })
                    .map_err(|_| failure(ModelErrorKind::Network, "the test dropped the driver"))?;
                let received = stream::unfold(received, |mut received| async move {
                    received.recv().await.map(|event| (event, received))
                });
                Ok(received.boxed())
            }
        }
    }
}

impl ChatModel for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            if matches!(self.source, Source::Rule(_)) {
                tokio::task::yield_now().await;
            }
            self.answer(request)
        })
    }
}

/// The test's end of [`ScriptedModel::driven`].
#[derive(Debug)]
pub struct ModelDriver {
    calls: mpsc::UnboundedReceiver<DrivenCall>,
}

impl ModelDriver {
    /// Waits for the next call. Panics when the model is gone.
    pub async fn next(&mut self) -> DrivenCall {
        self.calls.recv().await.unwrap()
    }
}

/// One call that the test answers. Dropping it cuts the stream.
#[derive(Debug)]
pub struct DrivenCall {
    pub request: ChatRequest,
    events: mpsc::UnboundedSender<Result<ModelEvent, ModelError>>,
}

impl DrivenCall {
    /// Sends one event. False when the caller has dropped the stream, that is, cancelled.
    pub fn send(&self, event: ModelEvent) -> bool {
        self.events.send(Ok(event)).is_ok()
    }

    pub fn text(&self, text: &str) -> bool {
        self.send(ModelEvent::TextDelta { text: text.into() })
    }

    /// Fails the stream.
    pub fn fail(self, error: ModelError) {
        self.events.send(Err(error)).ok();
    }

    /// Sends the whole of `reply`.
    pub fn reply(self, reply: impl Into<Reply>) {
        for event in events(&reply.into(), 0) {
            self.events.send(event).ok();
        }
    }

    /// Resolves when the caller drops the stream.
    pub async fn cancelled(&self) {
        self.events.closed().await;
    }
}

/// What an adapter would make of `reply`. A cut leaves out the end; gates and pauses leave no trace.
fn events(reply: &Reply, number: usize) -> Vec<Result<ModelEvent, ModelError>> {
    let mut events = vec![Ok(ModelEvent::Started { model: Some("scripted-model".into()) })];
    let mut index = 0;
    for part in &reply.parts {
        match part {
            Part::Text(text) => events.push(Ok(ModelEvent::TextDelta { text: text.clone() })),
            Part::Deltas { text, count } => {
                events.extend((0..*count).map(|_| Ok(ModelEvent::TextDelta { text: text.clone() })));
            }
            Part::Reasoning { text, signature } => {
                events.push(Ok(ModelEvent::ReasoningDelta { text: text.clone() }));
                events.push(Ok(ModelEvent::ReasoningDone { signature: signature.clone(), opaque: None }));
            }
            Part::RedactedReasoning(data) => {
                let opaque = serde_json::json!({ "type": "redacted_thinking", "data": data });
                events.push(Ok(ModelEvent::ReasoningDone { signature: None, opaque: Some(opaque) }));
            }
            Part::Call { name, args, id } => {
                let json = args.to_string();
                let cut = reply.ending == Ending::CutInCall;
                let id = id.clone().unwrap_or_else(|| format!("call_{number}_{index}"));
                call(&mut events, index, (id, name.clone()), if cut { "{" } else { &json }, !cut);
                index += 1;
            }
            Part::RawCall { name, json, id } => {
                let id = id.clone().unwrap_or_else(|| format!("call_{number}_{index}"));
                call(&mut events, index, (id, name.clone()), json, true);
                index += 1;
            }
            Part::Error { message, .. } => {
                events.push(Err(failure(ModelErrorKind::Unavailable, message)));
                return events;
            }
            Part::Gate(_) | Part::PauseMs(_) | Part::Ping | Part::Raw(_) => {}
        }
    }
    if reply.ending == Ending::Whole {
        events.push(Ok(ModelEvent::Usage(reply.usage_or_default())));
        let stop: StopReason = reply.stop_or_default();
        events.push(Ok(ModelEvent::Finished { stop }));
    }
    events
}

fn call(
    events: &mut Vec<Result<ModelEvent, ModelError>>,
    index: u32,
    (id, name): (String, String),
    json: &str,
    whole: bool,
) {
    events.push(Ok(ModelEvent::ToolCallStarted { index, id: id.into(), name }));
    events.push(Ok(ModelEvent::ToolCallDelta { index, json: json.into() }));
    if whole {
        events.push(Ok(ModelEvent::ToolCallDone { index }));
    }
}

fn failure(kind: ModelErrorKind, message: &str) -> ModelError {
    ModelError::new(kind, "scripted", message)
}

#[cfg(test)]
#[path = "scripted_model_tests.rs"]
mod tests;
