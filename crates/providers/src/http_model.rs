use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::{
    BoxFuture, ChatModel, ChatRequest, Effort, Message, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelStream,
    ModelTrouble, StopReason,
};
use futures_util::{StreamExt, stream};
use reqwest::Response;
use tokio::time::Instant;

use crate::adapter::{CallIds, LeftOut};
use crate::connection::{Connection, Spoken};
use crate::driver::Driver;
use crate::reply::Reply;
use crate::sse::Sizes;
use crate::{Limits, ProviderConfig, catalogue, failure, host_of};

/// The model `name` at the server that `config` describes. Nothing is sent yet.
///
/// # Errors
/// A base URL, key or header that cannot be used, with a sentence for the user.
pub fn connect(config: &ProviderConfig, name: &str) -> Result<Arc<dyn ChatModel>, ModelError> {
    Ok(Arc::new(HttpModel::new(config, name, None)?))
}

/// As [`connect`], with other limits on waiting.
pub fn connect_within(config: &ProviderConfig, name: &str, limits: Limits) -> Result<Arc<dyn ChatModel>, ModelError> {
    Ok(Arc::new(HttpModel::new(config, name, Some(limits))?))
}

/// What is known of `name` at the server that `config` describes, without asking it. An ability that is not known is not
/// there, though a connected model is sent what nobody said it cannot look at.
///
/// # Errors
/// A base URL that cannot be used.
pub fn known_model(config: &ProviderConfig, name: &str) -> Result<ModelInfo, ModelError> {
    let host = host_of(&config.base_url)?;
    Ok(config.said_of(catalogue::info(&config.id, &host, name.trim())))
}

pub(crate) struct HttpModel {
    connection: Connection,
    info: ModelInfo,
    refused: Arc<Refused>,
}

/// What was refused before, which is not asked for again.
#[derive(Default)]
struct Refused {
    /// The turns in which thoughts were: they would be with every later step too. The next turn tries them again.
    thoughts: Mutex<Vec<Turn>>,
    /// The levels of thinking.
    levels: Mutex<Vec<Effort>>,
    order: AtomicBool,
}

/// Turns with refused thoughts that are remembered.
const MOST_REFUSED: usize = 64;

impl HttpModel {
    pub(crate) fn new(config: &ProviderConfig, name: &str, limits: Option<Limits>) -> Result<Self, ModelError> {
        let connection = Connection::new(config, name, limits)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(connection.origin.trouble(ModelErrorKind::NotFound, ModelTrouble::NoModelNamed));
        }
        let info = config.ready(catalogue::info(&config.id, &connection.endpoint().host, name));
        Ok(Self { connection, info, refused: Arc::default() })
    }

    async fn send(&self, request: ChatRequest) -> Result<ModelStream, ModelError> {
        let connection = &self.connection;
        let deadline = Instant::now() + connection.limits.first_byte;
        let decoder = connection.adapter.decoder(CallIds::of(&request));
        let (mut response, left_out, note) = self.asked(&request, deadline).await?;
        let spoken = connection.leaving(left_out).unwrap_or(&connection.whole);
        let turn = Turn::at(&request, spoken.memo.said(&*spoken.adapter, &request.messages));
        let kept = spoken.memo.number(&request.messages).map(|number| (Arc::clone(&spoken.memo), number));
        drop(request);
        let origin = &connection.origin;
        if failure::has_type(response.headers(), "text/html") {
            return Err(connection.web_page(&mut response).await);
        }
        let driver = Driver::new(Arc::clone(origin), connection.adapter.framing(), decoder, Sizes::default());
        let reply = Reply::new(response.bytes_stream(), driver, Arc::clone(origin), connection.limits, deadline);
        let refused = Arc::clone(&self.refused);
        let reply = reply.map(move |event| {
            // Behind a reply that calls nothing a person may think for long, and a subagent is done.
            if let (Ok(ModelEvent::Finished { stop }), Some((memo, number))) = (&event, &kept)
                && *stop == StopReason::EndTurn
            {
                memo.forget(*number);
            }
            event.map_err(|error| refused.unsigned(error, left_out, turn.as_ref()))
        });
        Ok(match note {
            Some(note) => Box::pin(stream::iter([Ok(note)]).chain(reply)),
            None => Box::pin(reply),
        })
    }

    /// Asks; once more without it for each thing that is refused and not needed. With what was left out, and what is to be
    /// told of that, once.
    async fn asked(
        &self,
        request: &ChatRequest,
        deadline: Instant,
    ) -> Result<(Response, LeftOut, Option<ModelEvent>), ModelError> {
        let connection = &self.connection;
        let at_model = connection.summaries.at(&self.info.name);
        let summaries = connection.summaries.are_refused() || at_model.are_refused();
        let remembered = LeftOut { summaries, ..self.refused.of(request) };
        let mut spoken = connection.leaving(remembered).unwrap_or(&connection.whole);
        let (mut new, mut note) = (LeftOut::default(), None);
        loop {
            let error = match self.post(spoken, request, deadline).await {
                Ok(response) => {
                    self.refused.remember(new, request);
                    return Ok((response, spoken.left_out, note));
                }
                Err(error) => error,
            };
            let refused = refused(&error).filter(|refused| spoken.left_out != spoken.left_out.and(*refused));
            let next = refused.and_then(|refused| Some((refused, connection.leaving(spoken.left_out.and(refused))?)));
            let Some((refused, without)) = next else { return Err(error) };
            tracing::warn!(%error, ?refused, "what is refused is left out");
            let whose = if failure::is_of_account(&error) { connection.summaries } else { at_model };
            if refused.summaries && whose.refuse() {
                note = Some(ModelEvent::ThinkingUnseen { detail: error.message.clone() });
            }
            (new, spoken) = (new.and(refused), without);
        }
    }

    async fn post(&self, spoken: &Spoken, request: &ChatRequest, deadline: Instant) -> Result<Response, ModelError> {
        let body = spoken.memo.body(&*spoken.adapter, request, &self.info).map_err(|error| {
            let trouble = ModelTrouble::RequestUnwritable { detail: error.to_string() };
            self.connection.origin.trouble(ModelErrorKind::InvalidRequest, trouble)
        })?;
        self.connection.post(spoken, &self.info.name, body, deadline).await
    }
}

impl Refused {
    /// What of `request` was refused before.
    fn of(&self, request: &ChatRequest) -> LeftOut {
        let turns = self.thoughts.lock().unwrap_or_else(PoisonError::into_inner);
        let levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        LeftOut {
            thoughts: !turns.is_empty() && Turn::of(request).is_some_and(|turn| turns.contains(&turn)),
            level: request.effort.is_some_and(|effort| levels.contains(&effort)),
            order: self.order.load(Ordering::Relaxed),
            ..LeftOut::default()
        }
    }

    /// Remembers that what is `new` in it was refused of `request`.
    fn remember(&self, new: LeftOut, request: &ChatRequest) {
        if new.thoughts
            && let Some(turn) = Turn::of(request)
        {
            self.remember_turn(turn);
        }
        if let Some(effort) = request.effort.filter(|_| new.level) {
            self.levels.lock().unwrap_or_else(PoisonError::into_inner).push(effort);
        }
        self.order.fetch_or(new.order, Ordering::Relaxed);
    }

    fn remember_turn(&self, turn: Turn) {
        let mut turns = self.thoughts.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|known| known.conversation != turn.conversation);
        if turns.len() >= MOST_REFUSED {
            turns.remove(0);
        }
        turns.push(turn);
    }

    /// The error of a reply to a request of `turn`. Where a signature was missing, the turn goes on without thoughts when
    /// it is asked again, which is of no use where they were left out already.
    fn unsigned(&self, mut error: ModelError, left_out: LeftOut, turn: Option<&Turn>) -> ModelError {
        if failure::is_of_signatures(&error) {
            match turn.filter(|_| !left_out.thoughts) {
                Some(turn) => self.remember_turn(turn.clone()),
                None => error.kind = ModelErrorKind::InvalidRequest,
            }
        }
        error
    }
}

/// Whether an error is of a kind.
type Is = fn(&ModelError) -> bool;

/// What of a request `error` refuses that it goes well without.
fn refused(error: &ModelError) -> Option<LeftOut> {
    let known: [(Is, LeftOut); 4] = [
        (failure::is_of_summaries, LeftOut::SUMMARIES),
        (failure::is_of_thoughts, LeftOut::THOUGHTS),
        (failure::is_of_level, LeftOut::LEVEL),
        (failure::is_of_order, LeftOut::ORDER),
    ];
    known.into_iter().find(|(is, _)| is(error)).map(|(_, out)| out)
}

/// What stays the same in all requests of a turn.
#[derive(Clone, PartialEq, Eq)]
struct Turn {
    conversation: String,
    /// The person's last message.
    began: String,
}

impl Turn {
    fn of(request: &ChatRequest) -> Option<Self> {
        Self::at(request, request.messages.iter().rposition(|message| matches!(**message, Message::Human(_))))
    }

    /// The same where the place of the person's last message is known.
    fn at(request: &ChatRequest, said: Option<usize>) -> Option<Self> {
        let id = |message: &Arc<Message>| match &**message {
            Message::Human(message) => Some(message.id.as_str().to_owned()),
            Message::Ai(_) | Message::System(_) | Message::Tool(_) => None,
        };
        let began = request.messages.get(said?).and_then(id)?;
        let known = || request.conversation.as_deref().map(str::to_owned);
        Some(Self { conversation: known().or_else(|| request.messages.iter().find_map(id))?, began })
    }
}

impl ChatModel for HttpModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(self.send(request))
    }
}

#[cfg(test)]
#[path = "http_model_tests.rs"]
mod tests;
