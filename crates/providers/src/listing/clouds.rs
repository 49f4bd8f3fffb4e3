//! The lists of clouds, of which what can be talked with here is kept.

use bosun_model::ModelError;
use serde::Deserialize;

use super::{LIST, ListedModel};
use crate::connection::Connection;
use crate::vertex::PUBLISHERS;
use crate::{bedrock as aws, failure};

/// The profiles that run a model wherever there is room for it, then the models that run in this very region. Newer models
/// are had by profile only.
pub(super) async fn bedrock(connection: &Connection) -> Result<Vec<ListedModel>, ModelError> {
    let models: Models = read(connection, &get_bedrock(connection, "foundation-models?byProvider=Anthropic").await?)?;
    // Who may call models need not be allowed to see profiles.
    let profiles = get_bedrock(connection, "inference-profiles?maxResults=1000").await.unwrap_or_default();
    let profiles: Profiles = serde_json::from_slice(&profiles).unwrap_or_default();
    let profiles = profiles.summaries.into_iter().filter(|profile| {
        profile.id.contains("anthropic.") && profile.status.as_deref().is_none_or(|status| status == "ACTIVE")
    });
    let profiles = profiles.map(|profile| listed(profile.id, profile.name));
    let models = models.summaries.into_iter().filter(|model| {
        let on_demand = model.kinds.is_empty() || model.kinds.iter().any(|kind| kind == "ON_DEMAND");
        on_demand && model.streams.unwrap_or(true)
    });
    Ok(profiles.chain(models.map(|model| listed(model.id, model.name))).collect())
}

/// What is asked of the host beside the one that runs models.
async fn get_bedrock(connection: &Connection, path: &str) -> Result<Vec<u8>, ModelError> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut address = connection.endpoint().at_root(path);
    address.set_query(Some(query));
    if let Some(host) = aws::listing_host(connection.endpoint().name()) {
        // A host that was one stays one.
        address.set_host(Some(&host)).ok();
    }
    connection.get_at(address, LIST).await
}

/// The models of both publishers. One that cannot be asked leaves the other.
pub(super) async fn vertex(connection: &Connection) -> Result<Vec<ListedModel>, ModelError> {
    let mut all: Vec<ListedModel> = Vec::new();
    let mut failed = None;
    for publisher in PUBLISHERS {
        let address = connection.endpoint().at_root(&format!("v1beta1/publishers/{publisher}/models"));
        let published = match connection.get_at(address, LIST).await {
            Ok(body) => read::<Published>(connection, &body),
            Err(error) => Err(error),
        };
        match published {
            Ok(published) => {
                let names =
                    published.models.into_iter().filter_map(|model| Some(model.name.rsplit('/').next()?.to_owned()));
                let talks = names.filter(|name| publisher != "google" || talks(name));
                for name in talks {
                    if !all.iter().any(|known| known.name == name) {
                        all.push(listed(name, None));
                    }
                }
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

/// Google lists what draws, speaks and searches beside what talks.
fn talks(name: &str) -> bool {
    let other = ["embedding", "image", "tts", "live", "audio", "computer-use"];
    name.starts_with("gemini") && !other.iter().any(|word| name.contains(word))
}

fn listed(name: String, title: Option<String>) -> ListedModel {
    let title = title.filter(|title| *title != name);
    ListedModel { name, title, ..ListedModel::default() }
}

fn read<'a, T: Deserialize<'a>>(connection: &Connection, body: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(body).map_err(|_| failure::not_a_stream(&connection.origin, body))
}

#[derive(Deserialize)]
struct Models {
    #[serde(rename = "modelSummaries")]
    summaries: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "modelId")]
    id: String,
    #[serde(rename = "modelName")]
    name: Option<String>,
    #[serde(default, rename = "inferenceTypesSupported")]
    kinds: Vec<String>,
    #[serde(rename = "responseStreamingSupported")]
    streams: Option<bool>,
}

#[derive(Default, Deserialize)]
struct Profiles {
    #[serde(default, rename = "inferenceProfileSummaries")]
    summaries: Vec<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(rename = "inferenceProfileId")]
    id: String,
    #[serde(rename = "inferenceProfileName")]
    name: Option<String>,
    status: Option<String>,
}

#[derive(Deserialize)]
struct Published {
    #[serde(rename = "publisherModels")]
    models: Vec<PublishedModel>,
}

#[derive(Deserialize)]
struct PublishedModel {
    name: String,
}
