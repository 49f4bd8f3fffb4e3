//! What servers on a person's own machine say of their models beside the list.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Map, Value};

use bosun_model::ModelErrorKind;

use super::row::{is_text, names};
use super::{LIST, ListedModel, RunBy, read};
use crate::connection::Connection;
use crate::preset::PriceList;

/// So many models of an Ollama are asked about, each for so long: less than a server is looked for, which would else not be
/// found for the sake of one of its models.
const MOST_SHOWN: usize = 40;
pub(super) const SHOW: Duration = Duration::from_secs(1);

/// Most of a model's window that Ollama is asked to hold: it takes memory for all of it at once. The user may set more.
const HELD: u32 = 32_768;
/// Of a model whose window nobody says. Ollama holds no more than the model has, but 4,096 where it is not told, and what
/// an agent is told alone fills those.
pub(crate) const HELD_UNTOLD: u32 = 16_384;

/// What they call themselves.
pub(super) const OLLAMA: &str = "Ollama";
pub(super) const LM_STUDIO: &str = "LM Studio";
pub(super) const LLAMA_CPP: &str = "llama.cpp";

/// Ollama's list has names only; each model is asked about. Of those that it is not asked about what was known stays.
pub(super) async fn ollama(connection: &Connection, models: &mut [ListedModel]) {
    for model in models.iter_mut() {
        model.run_by = model.run_by.or(Some(RunBy::Server(OLLAMA)));
    }
    models.iter_mut().skip(MOST_SHOWN).for_each(stays_as_known);
    join_all(models.iter_mut().take(MOST_SHOWN).map(|model| shown(connection, model))).await;
}

pub(super) async fn shown(connection: &Connection, model: &mut ListedModel) {
    let question = serde_json::json!({ "model": model.name }).to_string().into_bytes();
    let asked = tokio::time::timeout(SHOW, connection.ask("api/show", question, LIST)).await;
    let body = match asked {
        Ok(Ok(body)) => body,
        Ok(Err(error)) if is_no(error.kind) => return,
        Ok(Err(_)) | Err(_) => return stays_as_known(model),
    };
    let Ok(Shown { model_info, capabilities, remote_host, remote_model }) = serde_json::from_slice(&body) else {
        return;
    };
    if is_text(&remote_host) || is_text(&remote_model) {
        model.run_by = Some(RunBy::Another);
    }
    let window = model_info.iter().find(|(name, _)| name.ends_with(".context_length"));
    let tokens = window.and_then(|(_, tokens)| u32::try_from(tokens.as_u64()?).ok()).filter(|tokens| *tokens > 0);
    model.context_window = tokens.map(|tokens| tokens.min(HELD));
    // Older servers do not list them.
    if let Some(names) = names(&capabilities) {
        model.images = Some(names.contains(&"vision"));
        model.reasoning = Some(names.contains(&"thinking"));
    }
}

/// Leaves a model as it was known. That it is in the cloud its list says by itself.
fn stays_as_known(model: &mut ListedModel) {
    model.untold = true;
    model.run_by = model.run_by.filter(|by| *by == RunBy::Another);
}

/// What Ollama says of a model.
#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    model_info: Map<String, Value>,
    #[serde(default)]
    capabilities: Value,
    /// Of a model in the cloud, whose name may be any.
    #[serde(default)]
    remote_host: Value,
    #[serde(default)]
    remote_model: Value,
}

/// Whether an error is a server's word that it has no such thing, and not silence.
fn is_no(kind: ModelErrorKind) -> bool {
    matches!(kind, ModelErrorKind::NotFound | ModelErrorKind::InvalidRequest | ModelErrorKind::NotAModelServer)
}

/// As [`is_no`], of another list beside one that was given: whoever is refused that one is not kept waiting.
fn is_no_list(kind: ModelErrorKind) -> bool {
    is_no(kind) || kind == ModelErrorKind::Unauthorized
}

/// Another list of the server, at `path` of its root; and, without it, whether the server was silent.
async fn list_beside(connection: &Connection, path: &str) -> (Option<Vec<u8>>, bool) {
    let address = connection.endpoint().at_root(path);
    match tokio::time::timeout(SHOW, connection.get_at(address, LIST)).await {
        Ok(Ok(body)) => (Some(body), false),
        Ok(Err(error)) => (None, !is_no_list(error.kind)),
        Err(_) => (None, true),
    }
}

/// Of a list in OpenAI's shape, whose rows say of all of Ollama's models that it runs them: those of its cloud, by its own
/// list. Without that nobody knows.
pub(super) async fn of_ollamas_cloud(connection: &Connection, models: &mut [ListedModel]) {
    let (body, is_silent) = list_beside(connection, "api/tags").await;
    let own = body.and_then(|body| read(&body, PriceList::None));
    for model in models.iter_mut().filter(|model| model.run_by == Some(RunBy::Server(OLLAMA))) {
        let row = own.as_ref().and_then(|own| own.iter().find(|row| row.name == model.name));
        match row {
            Some(row) if row.run_by == Some(RunBy::Another) => model.run_by = Some(RunBy::Another),
            Some(_) => {}
            None => (model.run_by, model.untold) = (None, is_silent),
        }
    }
}

/// LM Studio's own list, beside the one that it has in OpenAI's shape. A server that has none, or does not give it, is
/// not LM Studio; of one that is silent what was known stays, where it said in the other list that it is LM Studio.
/// Models of which nobody says that are left as they are.
pub(super) async fn lm_studio(connection: &Connection, models: &mut Vec<ListedModel>) {
    let (body, is_silent) = list_beside(connection, "api/v0/models").await;
    for model in models.iter_mut().filter(|model| model.run_by == Some(RunBy::Server(LM_STUDIO))) {
        (model.run_by, model.untold) = (None, is_silent);
    }
    let Some(body) = body else { return };
    if let Ok(Own { data }) = serde_json::from_slice(&body) {
        told_by(&data, models);
    }
}

fn told_by(own: &[OwnModel], models: &mut Vec<ListedModel>) {
    models.retain_mut(|model| {
        let Some(own) = own.iter().find(|own| own.id == model.name) else { return true };
        model.run_by = Some(RunBy::Server(LM_STUDIO));
        // What is not loaded gets the window that it will be loaded with, which nobody says.
        model.context_window = own.loaded_context_length.filter(|tokens| *tokens > 0).or(model.context_window);
        match own.kind.as_str() {
            "vlm" => model.images = Some(true),
            "llm" => model.images = Some(false),
            _ => {}
        }
        own.kind != "embeddings"
    });
}

#[derive(Deserialize)]
struct Own {
    data: Vec<OwnModel>,
}

#[derive(Deserialize)]
struct OwnModel {
    id: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    loaded_context_length: Option<u32>,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lm_studio_tells_which_of_its_models_see_and_what_is_loaded() {
        let own: Own = serde_json::from_str(
            r#"{"object":"list","data":[
                {"id":"qwen2-vl-7b-instruct","type":"vlm","state":"not-loaded","max_context_length":32768},
                {"id":"llama-3.1-8b","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":8192},
                {"id":"text-embedding-nomic","type":"embeddings","state":"not-loaded","max_context_length":2048}]}"#,
        )
        .unwrap();
        let listed = |name: &str| ListedModel { name: name.into(), ..ListedModel::default() };
        let its = |name| ListedModel { run_by: Some(RunBy::Server(LM_STUDIO)), ..listed(name) };
        let mut models =
            ["qwen2-vl-7b-instruct", "llama-3.1-8b", "text-embedding-nomic", "unknown"].map(listed).to_vec();
        told_by(&own.data, &mut models);
        assert_eq!(
            models,
            [
                ListedModel { images: Some(true), ..its("qwen2-vl-7b-instruct") },
                ListedModel { images: Some(false), context_window: Some(8_192), ..its("llama-3.1-8b") },
                listed("unknown"),
            ]
        );
    }
}
