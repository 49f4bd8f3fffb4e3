//! What a provider offers, and what its list says of it.

use bosun_model::{ModelError, Price};

use self::row::List;
use crate::config::is_handed_on;
use crate::connection::Connection;
use crate::preset::{PriceList, Quirks};
use crate::{Family, KnownModel, ProviderConfig, failure, preset};

mod clouds;
mod heard;
mod local;
mod row;

pub use heard::{HeardOf, Said, ask_about, ask_again};
pub(crate) use local::HELD_UNTOLD;
use local::{LLAMA_CPP, LM_STUDIO, OLLAMA};

/// Whose list has all that its vendor makes, and says nothing of it but names.
const OPENAI: &str = "api.openai.com";

/// Words in the names of those that hold no conversation in text.
const SILENT: [&str; 13] = [
    "audio",
    "babbage",
    "dall",
    "davinci",
    "embedding",
    "image",
    "instruct",
    "moderation",
    "realtime",
    "sora",
    "transcribe",
    "tts",
    "whisper",
];

/// A list of models is never longer.
const LIST: usize = 4 << 20;

/// A model as the provider lists it. `None` where the list does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedModel {
    pub name: String,
    /// A name for people, where the provider has one.
    pub title: Option<String>,
    /// Tokens.
    pub context_window: Option<u32>,
    /// Tokens; `None`, too, where it would leave less than half of the window for what is asked.
    pub max_output: Option<u32>,
    pub images: Option<bool>,
    pub documents: Option<bool>,
    pub audio: Option<bool>,
    pub video: Option<bool>,
    pub reasoning: Option<bool>,
    pub price: Option<Price>,
    pub run_by: Option<RunBy>,
    /// Whether its server was silent when it was asked about it, so that what was known of it stays.
    pub untold: bool,
}

/// Who runs a model, in the words of the server that lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunBy {
    /// The server itself, which is a program of this name.
    Server(&'static str),
    /// Another, to whom the server hands requests on.
    Another,
}

impl ListedModel {
    /// What the server is that says that it runs this model itself.
    pub fn server(&self) -> Option<&'static str> {
        match self.run_by? {
            RunBy::Server(name) => Some(name),
            RunBy::Another => None,
        }
    }

    /// What the list says of it beside its name.
    pub(crate) fn said(&self) -> KnownModel {
        KnownModel {
            name: self.name.clone(),
            context_window: self.context_window,
            max_output: self.max_output,
            images: self.images,
            documents: self.documents,
            audio: self.audio,
            video: self.video,
            reasoning: self.reasoning,
            price: self.price,
            server_runs: self.run_by.map(|by| by != RunBy::Another),
            by_person: false,
        }
    }
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
    let host = &connection.endpoint().host;
    let mut models =
        read(&body, Quirks::of_host(host).prices).ok_or_else(|| failure::not_a_stream(&connection.origin, &body))?;
    let is_lm_studio = config.id == "lmstudio"
        || preset("lmstudio").is_some_and(|preset| preset.is_home(host))
        || models.iter().any(|model| model.run_by == Some(RunBy::Server(LM_STUDIO)));
    if host == OPENAI {
        models.retain(|model| is_talker(&model.name));
    }
    match config.family {
        Family::Ollama => local::ollama(&connection, &mut models).await,
        Family::OpenAiChat if is_lm_studio => local::lm_studio(&connection, &mut models).await,
        _ => {}
    }
    // Its list in OpenAI's shape says of all models that it runs them, those of its cloud too; also at LM Studio's
    // port.
    if config.family != Family::Ollama && models.iter().any(|model| model.server() == Some(OLLAMA)) {
        local::of_ollamas_cloud(&connection, &mut models).await;
    }
    // Not every version says it of those itself.
    let is_cloud = |name: &str| is_handed_on("ollama", name);
    for model in models.iter_mut().filter(|model| model.server() == Some(OLLAMA) && is_cloud(&model.name)) {
        model.run_by = Some(RunBy::Another);
    }
    Ok(models)
}

/// Whether a model of [`OPENAI`] can be talked to. One of the account's own (`ft:MODEL:…`) can where the one it was made
/// from can.
fn is_talker(name: &str) -> bool {
    let base = name.strip_prefix("ft:").map_or(name, |tuned| tuned.split(':').next().unwrap_or(tuned));
    !base.split('-').any(|word| SILENT.contains(&word))
}

/// Words in the names of models elsewhere that are no use in a conversation, and how such words begin.
const SILENT_ELSEWHERE: [&str; 22] = [
    "asr",
    "audio",
    "bge",
    "clip",
    "dall",
    "diffusion",
    "e5",
    "flux",
    "gte",
    "guard",
    "image",
    "imagen",
    "kokoro",
    "moderation",
    "ocr",
    "orpheus",
    "realtime",
    "sdxl",
    "sora",
    "speech",
    "tts",
    "veo",
];
const SILENT_BEGINNINGS: [&str; 5] = ["embed", "minilm", "rerank", "transcri", "whisper"];

/// Whether a model of whatever vendor can be talked to, as far as its name tells.
pub(crate) fn seems_to_talk(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_silent =
        |word: &str| SILENT_ELSEWHERE.contains(&word) || SILENT_BEGINNINGS.iter().any(|begin| word.starts_with(begin));
    !name.split(|c: char| !c.is_alphanumeric()).any(is_silent)
}

fn read(body: &[u8], prices: PriceList) -> Option<Vec<ListedModel>> {
    Some(serde_json::from_slice::<List>(body).ok()?.models(prices))
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
