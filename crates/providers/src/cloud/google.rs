//! The application-default credentials of Google's tools: a file, and tokens for what it says.
//!
//! The file is found here and read by Google's own crate, which signs, asks for tokens and renews them. It has clients of
//! its own for that: they go through the system's proxy and trust the system's certificates, not those of the settings.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use bosun_model::ModelTrouble;
use google_cloud_auth::credentials::{Credentials, impersonated, service_account, user_account};
use serde_json::Value;

use super::Cloud;

/// What tokens are asked for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

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

/// Makers of tokens by the file they were made from: each keeps its token, and asks for another before that ends.
static MAKERS: LazyLock<Mutex<HashMap<String, Credentials>>> = LazyLock::new(Mutex::default);

/// More files than a person has are not kept.
const MOST: usize = 8;

/// What makes tokens of `file`. Needs the runtime of the task that calls it.
///
/// # Errors
/// Why the file cannot be used.
pub(super) fn maker(file: &File) -> Result<Credentials, ModelTrouble> {
    let mut makers = MAKERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(maker) = makers.get(&file.text) {
        return Ok(maker.clone());
    }
    let made = made(file)?;
    if makers.len() >= MOST {
        makers.clear();
    }
    makers.insert(file.text.clone(), made.clone());
    Ok(made)
}

/// The makers that were made so far are forgotten, so that the next call asks anew.
pub(super) fn forget(file: &File) {
    MAKERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&file.text);
}

fn made(file: &File) -> Result<Credentials, ModelTrouble> {
    let path = file.source.clone();
    let Ok(said) = serde_json::from_str::<Value>(&file.text) else {
        return Err(ModelTrouble::GoogleFileForeign { path });
    };
    let kind = said.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let built = match kind.as_str() {
        "authorized_user" => user_account::Builder::new(said).build(),
        "service_account" => {
            let access = service_account::AccessSpecifier::from_scopes([SCOPE]);
            service_account::Builder::new(said).with_access_specifier(access).build()
        }
        "impersonated_service_account" => impersonated::Builder::new(said).with_scopes([SCOPE]).build(),
        _ => return Err(ModelTrouble::GoogleFileKind { path, given: kind }),
    };
    // What the crate says may quote the file.
    built.map_err(|_| ModelTrouble::GoogleFileUnusable { path, given: kind })
}
