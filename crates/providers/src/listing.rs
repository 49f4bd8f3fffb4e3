//! What a provider offers, and what its list says of it.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bosun_model::{ModelError, Price, Stays};

use self::row::List;
use crate::config::is_handed_on;
use crate::connection::Connection;
use crate::preset::{Preset, PriceList, Quirks};
use crate::{Family, KnownModel, ProviderConfig, failure, host_of, known_model, preset};

mod clouds;
mod local;
mod row;

pub(crate) use local::HELD_UNTOLD;
use local::{LM_STUDIO, OLLAMA};

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
        // Its list in OpenAI's shape says of all models that it runs them, those of its cloud too.
        _ if models.iter().any(|model| model.server() == Some(OLLAMA)) => {
            local::of_ollamas_cloud(&connection, &mut models).await;
        }
        _ => {}
    }
    // Not every version says it of those itself.
    let is_cloud = |name: &str| is_handed_on("ollama", name);
    for model in models.iter_mut().filter(|model| model.server() == Some(OLLAMA) && is_cloud(&model.name)) {
        model.run_by = Some(RunBy::Another);
    }
    Ok(models)
}

/// What a server said when it was asked before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// All of its models: what it does not list it said nothing of.
    All(Vec<ListedModel>),
    /// One of them.
    One(ListedModel),
}

/// Of which servers, and of which of their models, this program has heard since it began. What is stored of one nearby is
/// older: another may listen at its port by now.
#[derive(Debug, Default)]
pub struct HeardOf(Mutex<HashSet<(String, Option<String>)>>);

impl HeardOf {
    /// Takes in that the server that `config` describes gave its list.
    pub fn list(&self, config: &ProviderConfig) {
        self.add(config, None);
    }

    fn add(&self, config: &ProviderConfig, name: Option<&str>) {
        if let Ok(host) = host_of(&config.base_url) {
            self.locked().insert((host, name.map(str::to_owned)));
        }
    }

    /// Whether what is known of the server, or of `name` there, was said to another run of the program, and may hold no more.
    pub fn is_old(&self, config: &ProviderConfig, name: Option<&str>) -> bool {
        let is_said = |known: &KnownModel| !known.by_person && name.is_none_or(|name| known.name == name);
        let Ok(host) = host_of(&config.base_url) else { return false };
        let heard = self.locked();
        let heard = |name: Option<&str>| heard.contains(&(host.clone(), name.map(str::to_owned)));
        config.is_near() && config.known.iter().any(is_said) && !heard(None) && !heard(name)
    }

    fn locked(&self) -> MutexGuard<'_, HashSet<(String, Option<String>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the server itself says before a call of `name`. It is asked for a second at most; `None` where it says nothing, so
/// that what is known stays, and of every server but these:
///
/// - One on this machine or near it of which something is stored that this program has not `heard` itself: another may listen
///   there by now.
/// - Ollama, whose window a call has to name: it holds little unless it is told, and cuts what is longer without a word.
/// - A server at a preset's address on this machine, which may be another that hands on to somebody who charges.
pub async fn ask_about(config: &ProviderConfig, name: &str, heard: &HeardOf) -> Option<Said> {
    let name = name.trim();
    let known = known_model(config, name).ok()?;
    if config.family == Family::Ollama {
        let is_old = heard.is_old(config, Some(name));
        if !is_old && known.context_window.is_some() {
            return None;
        }
        let connection = Connection::new(config, name, None).ok()?;
        let mut model = ListedModel { name: name.to_owned(), ..ListedModel::default() };
        local::shown(&connection, &mut model).await;
        let says_something = model.said().says();
        if model.untold || !(is_old || says_something) {
            return None;
        }
        heard.add(config, Some(name));
        return Some(Said::One(model));
    }
    let is_preset = config.family == Family::OpenAiChat && preset(&config.id).is_some_and(Preset::is_local);
    let is_asked = heard.is_old(config, None) || (is_preset && known.stays == Stays::Unknown);
    if !is_asked {
        return None;
    }
    Some(Said::All(with_alias(ask_again(config, heard).await?, name)))
}

/// The list of a server, which is waited for a second at most.
pub async fn ask_again(config: &ProviderConfig, heard: &HeardOf) -> Option<Vec<ListedModel>> {
    let listed = tokio::time::timeout(local::SHOW, list_models(config)).await.ok()?.ok()?;
    heard.list(config);
    Some(listed)
}

/// `listed`, and `name` where it means the only one of them: a server of a single model (llama.cpp) takes any name for it.
fn with_alias(mut listed: Vec<ListedModel>, name: &str) -> Vec<ListedModel> {
    if let [only] = &listed[..]
        && only.name != name
    {
        let alias = ListedModel { name: name.to_owned(), run_by: only.run_by, ..ListedModel::default() };
        listed.push(alias);
    }
    listed
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
