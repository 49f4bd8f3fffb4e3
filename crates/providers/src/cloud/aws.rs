//! The keys of an AWS account: from the environment, else from a profile in `~/.aws`, or from the program that this
//! profile leads to.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use bosun_model::ModelTrouble;
use secrecy::SecretString;

use super::Cloud;
use super::profile::{Profile, profile};
use super::program::{ProfileProgram, Way, words};

/// What signs requests.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(super) id: String,
    pub(super) secret: SecretString,
    /// For keys that are lent for some hours.
    pub(super) session: Option<SecretString>,
    /// Where they were found, for people.
    pub(super) source: String,
}

/// Since when keys are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// They were looked up just now.
    Now,
    /// They were kept, and may have been taken back since.
    Before,
}

/// Where keys are.
pub(super) enum Found {
    Here(Keys),
    /// A program gives them out.
    There(ProfileProgram),
}

impl Found {
    /// Where they come from, for people.
    pub(super) fn source(&self) -> &str {
        match self {
            Self::Here(keys) => &keys.source,
            Self::There(program) => &program.source,
        }
    }

    pub(super) async fn keys(self) -> Result<(Keys, Since), ModelTrouble> {
        match self {
            Self::Here(keys) => Ok((keys, Since::Now)),
            Self::There(program) => program.keys().await,
        }
    }

    /// The keys with this id were refused.
    pub(super) async fn forget(self, id: &str) {
        match self {
            Self::Here(_) => {}
            Self::There(program) => program.forget(id).await,
        }
    }
}

/// # Errors
/// Why there are none.
pub(super) fn find(cloud: &Cloud) -> Result<Found, ModelTrouble> {
    if let (Some(id), Some(secret)) = (cloud.variable("AWS_ACCESS_KEY_ID"), cloud.variable("AWS_SECRET_ACCESS_KEY")) {
        let session = cloud.variable("AWS_SESSION_TOKEN").map(SecretString::from);
        return Ok(Found::Here(Keys { id, secret: secret.into(), session, source: "AWS_ACCESS_KEY_ID".to_owned() }));
    }
    let name = profile_name(cloud);
    let source = |path: &PathBuf| format!("profile {name} ({})", path.display());
    let mut seen = false;
    for (path, said) in profiles(cloud, &name) {
        seen = true;
        let field = |field: &str| said.get(field).filter(|value| !value.is_empty()).cloned();
        if let (Some(id), Some(secret)) = (field("aws_access_key_id"), field("aws_secret_access_key")) {
            let session = field("aws_session_token").map(SecretString::from);
            return Ok(Found::Here(Keys { id, secret: secret.into(), session, source: source(&path) }));
        }
        let Some((setting, missing)) = WAYS.iter().find(|(setting, _)| said.contains_key(*setting)) else { continue };
        let missing = missing(name.clone());
        let Some(run) = cloud.programs.clone() else { return Err(missing) };
        let (words, way) = match *setting {
            "credential_process" => (words(&field("credential_process").unwrap_or_default()), Way::Own),
            setting => (export(&name), Way::Aws { sign_in: sign_in(setting, &name), missing }),
        };
        let files = wording(cloud);
        return Ok(Found::There(ProfileProgram {
            files,
            words,
            way,
            source: source(&path),
            run,
            profile: name.clone(),
        }));
    }
    Err(if seen { ModelTrouble::AwsProfileEmpty { profile: name } } else { ModelTrouble::AwsNothing { profile: name } })
}

/// AWS's program, asked for the keys of a profile, however that comes by them.
fn export(profile: &str) -> Vec<String> {
    ["aws", "configure", "export-credentials", "--format", "process", "--profile", profile].map(str::to_owned).into()
}

/// How the person signs in to a profile with `setting`. A role may be taken on from a profile that signs in.
fn sign_in(setting: &str, profile: &str) -> Option<String> {
    match setting {
        "sso_session" | "sso_start_url" | "role_arn" => Some(format!("aws sso login --profile {profile}")),
        "login_session" => Some(format!("aws login --profile {profile}")),
        _ => None,
    }
}

/// What is said of a profile by its name.
type Missing = fn(String) -> ModelTrouble;

/// Settings of profiles whose keys have to be fetched by a program or a service, and what is said of such a profile where
/// no program can be run.
const WAYS: [(&str, Missing); 6] = [
    ("sso_session", |profile| ModelTrouble::AwsProfileSso { profile }),
    ("sso_start_url", |profile| ModelTrouble::AwsProfileSso { profile }),
    ("login_session", |profile| ModelTrouble::AwsProfileConsole { profile }),
    ("credential_process", |profile| ModelTrouble::AwsProfileProgram {
        profile,
        detail: "programs are not run here".to_owned(),
    }),
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
    files(cloud).filter_map(move |(path, text)| Some((path, profile(&text, name)?)))
}

/// Tells one wording of the files from another: a profile may lean on other sections.
fn wording(cloud: &Cloud) -> u64 {
    let mut hasher = DefaultHasher::new();
    files(cloud).for_each(|file| file.hash(&mut hasher));
    hasher.finish()
}

/// The file of credentials, then that of settings, with what they say.
fn files(cloud: &Cloud) -> impl Iterator<Item = (PathBuf, String)> + '_ {
    let files = [("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config")];
    files.into_iter().filter_map(move |(variable, file)| {
        let named = cloud.variable(variable).map(PathBuf::from);
        let path = named.or_else(|| Some(cloud.home()?.join(".aws").join(file)))?;
        let text = Cloud::read(&path)?;
        Some((path, text))
    })
}
