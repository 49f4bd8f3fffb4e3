use std::sync::Arc;

use bosun_model::{
    BoxFuture, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelInfo, ModelStream, ModelTrouble,
};
use reqwest::Response;
use tokio::time::Instant;

use crate::adapter::{Adapter, CallIds};
use crate::body::Memo;
use crate::connection::Connection;
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
    memo: Memo,
}

impl HttpModel {
    pub(crate) fn new(config: &ProviderConfig, name: &str, limits: Option<Limits>) -> Result<Self, ModelError> {
        let connection = Connection::new(config, name, limits)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(connection.origin.trouble(ModelErrorKind::NotFound, ModelTrouble::NoModelNamed));
        }
        let info = config.ready(catalogue::info(&config.id, &connection.endpoint().host, name));
        Ok(Self { connection, info, memo: Memo::default() })
    }

    async fn send(&self, request: ChatRequest) -> Result<ModelStream, ModelError> {
        let connection = &self.connection;
        let deadline = Instant::now() + connection.limits.first_byte;
        let body = self.body(&self.memo, &*connection.adapter, &request)?;
        let decoder = connection.adapter.decoder(CallIds::of(&request));
        let mut response = match connection.post(&self.info.name, body, deadline).await {
            Err(error) => self.without_thoughts(&request, error, deadline).await?,
            Ok(response) => response,
        };
        drop(request);
        let origin = &connection.origin;
        if failure::has_type(response.headers(), "text/html") {
            return Err(connection.web_page(&mut response).await);
        }
        let driver = Driver::new(Arc::clone(origin), connection.adapter.framing(), decoder, Sizes::default());
        Ok(Box::pin(Reply::new(response.bytes_stream(), driver, Arc::clone(origin), connection.limits, deadline)))
    }
}

impl HttpModel {
    fn body(&self, memo: &Memo, adapter: &dyn Adapter, request: &ChatRequest) -> Result<Vec<u8>, ModelError> {
        memo.body(adapter, request, &self.info).map_err(|error| {
            let trouble = ModelTrouble::RequestUnwritable { detail: error.to_string() };
            self.connection.origin.trouble(ModelErrorKind::InvalidRequest, trouble)
        })
    }

    /// Asks once more, without what the model once thought, where that is what was refused. It would be refused with every
    /// later step too.
    async fn without_thoughts(
        &self,
        request: &ChatRequest,
        error: ModelError,
        deadline: Instant,
    ) -> Result<Response, ModelError> {
        let Some(adapter) = self.connection.adapter.without_thoughts().filter(|_| failure::is_of_thoughts(&error))
        else {
            return Err(error);
        };
        tracing::warn!(%error, "the model's earlier thoughts are refused and left out");
        // Nothing of it is written like it again.
        let body = self.body(&Memo::default(), &*adapter, request)?;
        self.connection.post(&self.info.name, body, deadline).await
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
