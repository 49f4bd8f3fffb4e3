use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::{
    BoxFuture, ChatModel, ChatRequest, Message, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelStream,
    ModelTrouble,
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
    /// The turns in which thoughts were refused: they would be with every later step too. The next turn tries them again.
    refused: Mutex<Vec<Turn>>,
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
        Ok(Self { connection, info, refused: Mutex::default() })
    }

    async fn send(&self, request: ChatRequest) -> Result<ModelStream, ModelError> {
        let connection = &self.connection;
        let deadline = Instant::now() + connection.limits.first_byte;
        let decoder = connection.adapter.decoder(CallIds::of(&request));
        let (mut response, note) = self.asked(&request, deadline).await?;
        drop(request);
        let origin = &connection.origin;
        if failure::has_type(response.headers(), "text/html") {
            return Err(connection.web_page(&mut response).await);
        }
        let driver = Driver::new(Arc::clone(origin), connection.adapter.framing(), decoder, Sizes::default());
        let reply = Reply::new(response.bytes_stream(), driver, Arc::clone(origin), connection.limits, deadline);
        Ok(match note {
            Some(note) => Box::pin(stream::iter([Ok(note)]).chain(reply)),
            None => Box::pin(reply),
        })
    }

    /// Asks; once more without it for each thing that is refused and not needed. With what is to be told of that, once.
    async fn asked(
        &self,
        request: &ChatRequest,
        deadline: Instant,
    ) -> Result<(Response, Option<ModelEvent>), ModelError> {
        let connection = &self.connection;
        let remembered = LeftOut { thoughts: self.is_refused(request), summaries: connection.summaries.are_refused() };
        let mut spoken = connection.leaving(remembered).unwrap_or(&connection.whole);
        let (mut new, mut note) = (LeftOut::default(), None);
        loop {
            let error = match self.post(spoken, request, deadline).await {
                Ok(response) => {
                    if new.thoughts {
                        self.remember(request);
                    }
                    return Ok((response, note));
                }
                Err(error) => error,
            };
            let refused = refused(&error).filter(|refused| spoken.left_out != spoken.left_out.and(*refused));
            let next = refused.and_then(|refused| Some((refused, connection.leaving(spoken.left_out.and(refused))?)));
            let Some((refused, without)) = next else { return Err(error) };
            tracing::warn!(%error, ?refused, "what is refused is left out");
            if refused.summaries && connection.summaries.refuse() {
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

    /// Remembers that thoughts were refused in the turn of `request`.
    fn remember(&self, request: &ChatRequest) {
        let Some(turn) = Turn::of(request) else { return };
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|known| known.conversation != turn.conversation);
        if refused.len() >= MOST_REFUSED {
            refused.remove(0);
        }
        refused.push(turn);
    }

    fn is_refused(&self, request: &ChatRequest) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        !refused.is_empty() && Turn::of(request).is_some_and(|turn| refused.contains(&turn))
    }
}

/// What of a request `error` refuses that it goes well without.
fn refused(error: &ModelError) -> Option<LeftOut> {
    if failure::is_of_summaries(error) {
        return Some(LeftOut::SUMMARIES);
    }
    failure::is_of_thoughts(error).then_some(LeftOut::THOUGHTS)
}

/// What stays the same in all requests of a turn.
#[derive(PartialEq, Eq)]
struct Turn {
    conversation: String,
    /// The person's last message.
    began: String,
}

impl Turn {
    fn of(request: &ChatRequest) -> Option<Self> {
        let mut said = request.messages.iter().filter_map(|message| match &**message {
            Message::Human(message) => Some(message.id.as_str()),
            Message::Ai(_) | Message::System(_) | Message::Tool(_) => None,
        });
        let first = said.next()?;
        let began = said.next_back().unwrap_or(first).to_owned();
        Some(Self { conversation: request.conversation.as_deref().unwrap_or(first).to_owned(), began })
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
