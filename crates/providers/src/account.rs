use bosun_model::{ChatModel, ChatRequest, Message, MessageBuilder, ModelError, ModelEvent};
use futures_util::StreamExt;
use serde::Deserialize;

use crate::connection::Connection;
use crate::http_model::HttpModel;
use crate::lenient::Count;
use crate::{ProviderConfig, failure};

/// A list of models is never longer.
const LIST: usize = 4 << 20;

/// A model as the provider lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    pub name: String,
    /// A name for people, where the provider has one.
    pub title: Option<String>,
    /// Tokens, where the list says so (vLLM, OpenRouter, LM Studio, newer Anthropic).
    pub context_window: Option<u32>,
}

/// What the provider offers, in its own order (`GET …/models`).
///
/// # Errors
/// As for a model call; `NotAModelServer` when the answer is no list of models.
pub async fn list_models(config: &ProviderConfig) -> Result<Vec<ListedModel>, ModelError> {
    let connection = Connection::new(config, None)?;
    let (path, query) = connection.adapter.models_path();
    let body = connection.get(path, query, LIST).await?;
    let list: List = serde_json::from_slice(&body).map_err(|_| failure::not_a_stream(&connection.origin, &body))?;
    Ok(list.data.into_iter().map(Row::listed).collect())
}

/// A call as small as can be, to see whether address, key and model work. Gives what the model said, which may be nothing.
///
/// # Errors
/// The provider's own, as any call would get it.
pub async fn test_call(config: &ProviderConfig, model: &str) -> Result<String, ModelError> {
    let model = HttpModel::new(config, model, None)?;
    let request = ChatRequest {
        messages: vec![Message::human("test", "Answer with one word: ready?").into()],
        max_output: Some(16),
        ..ChatRequest::default()
    };
    let mut stream = model.stream(request).await?;
    let mut builder = MessageBuilder::new();
    while let Some(event) = stream.next().await {
        let event = event?;
        builder.push(&event)?;
        if matches!(event, ModelEvent::Finished { .. }) {
            break;
        }
    }
    Ok(builder.finish("test".into(), &model.info().provider)?.text())
}

#[derive(Deserialize)]
struct List {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    display_name: Option<String>,
    #[serde(default)]
    max_model_len: Count,
    #[serde(default)]
    context_length: Count,
    #[serde(default)]
    max_context_length: Count,
    #[serde(default)]
    max_input_tokens: Count,
}

impl Row {
    fn listed(self) -> ListedModel {
        let window = [self.max_model_len, self.context_length, self.max_context_length, self.max_input_tokens];
        let window = window.into_iter().find_map(|count| count.0).and_then(|count| u32::try_from(count).ok());
        ListedModel { name: self.id, title: self.display_name, context_window: window.filter(|tokens| *tokens > 0) }
    }
}
