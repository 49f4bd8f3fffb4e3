//! What a provider offers.

use std::time::Duration;

use bosun_model::ModelError;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value;

use crate::connection::Connection;
use crate::lenient::Count;
use crate::{Family, ProviderConfig, failure};

mod clouds;

/// A list of models is never longer.
const LIST: usize = 4 << 20;

/// So many models of an Ollama are asked for their window, each for so long.
const MOST_SHOWN: usize = 40;
const SHOW: Duration = Duration::from_secs(2);

/// Most of a model's window that Ollama is asked to hold: it takes memory for all of it at once. The user may set more.
const HELD: u32 = 32_768;

/// A model as the provider lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    pub name: String,
    /// A name for people, where the provider has one.
    pub title: Option<String>,
    /// Tokens, where the list says so (vLLM, OpenRouter, LM Studio, newer Anthropic, Gemini).
    pub context_window: Option<u32>,
}

/// What the provider offers, in its own order (`GET …/models`, or what its wire has instead).
///
/// # Errors
/// As for a model call; `NotAModelServer` when the answer is no list of models.
pub async fn list_models(config: &ProviderConfig) -> Result<Vec<ListedModel>, ModelError> {
    let connection = Connection::new(config, "", None)?;
    match config.family {
        Family::Bedrock => return clouds::bedrock(&connection).await,
        Family::Vertex => return clouds::vertex(&connection).await,
        _ => {}
    }
    let (path, query) = connection.adapter.models_path();
    let body = connection.get(path, query, LIST).await?;
    let list: List = serde_json::from_slice(&body).map_err(|_| failure::not_a_stream(&connection.origin, &body))?;
    let mut models: Vec<ListedModel> = list.rows().into_iter().filter_map(Row::listed).collect();
    if config.family == Family::Ollama {
        let looks = models.iter_mut().take(MOST_SHOWN).map(|model| windowed(&connection, model));
        join_all(looks).await;
    }
    Ok(models)
}

/// Ollama's list has no windows; each model is asked for its own. A server that does not say is left as it is.
async fn windowed(connection: &Connection, model: &mut ListedModel) {
    let question = serde_json::json!({ "model": model.name }).to_string().into_bytes();
    let asked = tokio::time::timeout(SHOW, connection.ask("api/show", question, LIST)).await;
    let Ok(Ok(body)) = asked else { return };
    let Ok(Shown { model_info }) = serde_json::from_slice(&body) else { return };
    let window = model_info.iter().find(|(name, _)| name.ends_with(".context_length"));
    let tokens = window.and_then(|(_, tokens)| u32::try_from(tokens.as_u64()?).ok()).filter(|tokens| *tokens > 0);
    model.context_window = tokens.map(|tokens| tokens.min(HELD));
}

/// What Ollama says of a model.
#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    model_info: serde_json::Map<String, Value>,
}

/// `data` with ids in most lists, `models` with names in Gemini's and Ollama's.
#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    Data { data: Vec<Row> },
    Models { models: Vec<Row> },
}

#[derive(Deserialize)]
struct Row {
    id: Option<String>,
    name: Option<String>,
    display_name: Option<String>,
    #[serde(rename = "displayName")]
    display_name_of_google: Option<String>,
    /// What a model of Google's can be used for.
    #[serde(rename = "supportedGenerationMethods")]
    methods: Option<Vec<String>>,
    #[serde(default)]
    max_model_len: Count,
    #[serde(default)]
    context_length: Count,
    #[serde(default)]
    max_context_length: Count,
    #[serde(default)]
    max_input_tokens: Count,
    #[serde(default, rename = "inputTokenLimit")]
    input_token_limit: Count,
}

impl List {
    fn rows(self) -> Vec<Row> {
        match self {
            Self::Data { data: rows } | Self::Models { models: rows } => rows,
        }
    }
}

impl Row {
    /// `None` for what cannot be talked with.
    fn listed(self) -> Option<ListedModel> {
        if self.methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
            return None;
        }
        let window = [
            self.max_model_len,
            self.context_length,
            self.max_context_length,
            self.max_input_tokens,
            self.input_token_limit,
        ];
        let window = window.into_iter().find_map(|count| count.0).and_then(|count| u32::try_from(count).ok());
        let title = self.display_name.or(self.display_name_of_google);
        let (name, title) = match (self.id, self.name) {
            (Some(id), name) => (id, title.or(name)),
            (None, Some(name)) => (name.strip_prefix("models/").unwrap_or(&name).to_owned(), title),
            (None, None) => return None,
        };
        Some(ListedModel { name, title, context_window: window.filter(|tokens| *tokens > 0) })
    }
}
