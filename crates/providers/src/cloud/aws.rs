//! The keys of an AWS account: from the environment, else from a profile in `~/.aws`.

use std::path::PathBuf;

use bosun_model::ModelTrouble;
use secrecy::SecretString;

use super::Cloud;
use super::profile::{Profile, profile};

/// What signs requests.
pub(crate) struct Keys {
    pub(super) id: String,
    pub(super) secret: SecretString,
    /// For keys that are lent for some hours.
    pub(super) session: Option<SecretString>,
    /// Where they were found, for people.
    pub(super) source: String,
}

/// # Errors
/// Why there are none.
pub(super) fn keys(cloud: &Cloud) -> Result<Keys, ModelTrouble> {
    if let (Some(id), Some(secret)) = (cloud.variable("AWS_ACCESS_KEY_ID"), cloud.variable("AWS_SECRET_ACCESS_KEY")) {
        let session = cloud.variable("AWS_SESSION_TOKEN").map(SecretString::from);
        return Ok(Keys { id, secret: secret.into(), session, source: "AWS_ACCESS_KEY_ID".to_owned() });
    }
    let name = profile_name(cloud);
    let mut seen = false;
    for (path, said) in profiles(cloud, &name) {
        seen = true;
        let field = |field: &str| said.get(field).filter(|value| !value.is_empty()).cloned();
        if let (Some(id), Some(secret)) = (field("aws_access_key_id"), field("aws_secret_access_key")) {
            let session = field("aws_session_token").map(SecretString::from);
            let source = format!("profile {name} ({})", path.display());
            return Ok(Keys { id, secret: secret.into(), session, source });
        }
        if let Some(way) = WAYS.iter().find(|(setting, _)| said.contains_key(*setting)).map(|(_, way)| way) {
            return Err(way(name.clone()));
        }
    }
    Err(if seen { ModelTrouble::AwsProfileEmpty { profile: name } } else { ModelTrouble::AwsNothing { profile: name } })
}

/// What is said of a profile by its name.
type Way = fn(String) -> ModelTrouble;

/// Settings of profiles whose keys have to be fetched by a program or a service, and what is said of such a profile.
const WAYS: [(&str, Way); 6] = [
    ("sso_session", |profile| ModelTrouble::AwsProfileSso { profile }),
    ("sso_start_url", |profile| ModelTrouble::AwsProfileSso { profile }),
    ("login_session", |profile| ModelTrouble::AwsProfileConsole { profile }),
    ("credential_process", |profile| ModelTrouble::AwsProfileProgram { profile }),
    ("role_arn", |profile| ModelTrouble::AwsProfileRole { profile }),
    ("web_identity_token_file", |profile| ModelTrouble::AwsProfileRole { profile }),
];

/// The region that variables or the profile name.
pub(super) fn region(cloud: &Cloud) -> Option<String> {
    let named = cloud.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
    let named = named.or_else(|| {
        let name = profile_name(cloud);
        profiles(cloud, &name).find_map(|(_, said)| said.get("region").cloned())
    });
    let is_name = |region: &String| {
        !region.is_empty() && region.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    named.filter(is_name)
}

fn profile_name(cloud: &Cloud) -> String {
    cloud.first(&["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]).unwrap_or_else(|| "default".to_owned())
}

/// The profile as the file of credentials has it, then as the file of settings does.
fn profiles<'a>(cloud: &'a Cloud, name: &'a str) -> impl Iterator<Item = (PathBuf, Profile)> + 'a {
    let files = [("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config")];
    files.into_iter().filter_map(move |(variable, file)| {
        let named = cloud.variable(variable).map(PathBuf::from);
        let path = named.or_else(|| Some(cloud.home()?.join(".aws").join(file)))?;
        let said = profile(&Cloud::read(&path)?, name)?;
        Some((path, said))
    })
}
