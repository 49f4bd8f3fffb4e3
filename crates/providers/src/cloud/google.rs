//! The application-default credentials of Google's tools: a file, and tokens for what it says.
//!
//! The file is found here. What a service account signs is signed by Google's own crate, which asks nobody for it; tokens
//! that have to be asked for are asked for here ([`token`]), because that crate's clients know no settings.

use std::path::PathBuf;

use bosun_model::ModelTrouble;
use serde_json::Value;

use super::Cloud;

mod token;

pub(super) use token::{forget, headers};

/// The file, as it stands.
pub(super) struct File {
    pub(super) text: String,
    /// Where it was found, for people.
    pub(super) source: String,
}

/// # Errors
/// Why there is none.
pub(super) fn file(cloud: &Cloud) -> Result<File, ModelTrouble> {
    let named = cloud.variable("GOOGLE_APPLICATION_CREDENTIALS").map(PathBuf::from);
    let is_named = named.is_some();
    let path = named.or_else(|| usual(cloud));
    let found = path.as_ref().and_then(|path| Some((Cloud::read(path)?, path.display().to_string())));
    match (found, path) {
        (Some((text, source)), _) => Ok(File { text, source }),
        (None, Some(path)) if is_named => Err(ModelTrouble::GoogleFileUnreadable { path: path.display().to_string() }),
        _ => Err(ModelTrouble::GoogleNothing),
    }
}

/// Where `gcloud auth application-default login` writes.
fn usual(cloud: &Cloud) -> Option<PathBuf> {
    let named = cloud.variable("CLOUDSDK_CONFIG").map(PathBuf::from);
    let folder = named
        .or_else(|| Some(PathBuf::from(cloud.variable("APPDATA")?).join("gcloud")))
        .or_else(|| Some(cloud.home()?.join(".config").join("gcloud")))?;
    Some(folder.join("application_default_credentials.json"))
}

/// The project that variables name, else the one of the credentials.
pub(super) fn project(cloud: &Cloud) -> Option<String> {
    let named = cloud.first(&["GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID", "GCLOUD_PROJECT"]);
    let project = named.or_else(|| {
        let said: Value = serde_json::from_str(&file(cloud).ok()?.text).ok()?;
        let field = |name: &str| said.get(name)?.as_str().map(str::to_owned);
        field("project_id").or_else(|| field("quota_project_id"))
    });
    let is_name = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'));
    project.filter(is_name)
}

/// The place that variables name.
pub(super) fn location(cloud: &Cloud) -> Option<String> {
    let named = cloud.first(&["GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"]);
    named.filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
}
