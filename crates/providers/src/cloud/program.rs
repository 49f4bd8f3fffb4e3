//! Programs that give out the keys of an AWS profile: AWS's own, for profiles that sign in or take on a role, and the one
//! that a profile names itself (`credential_process`). What they print has one form
//! (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>).

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use bosun_model::{BoxFuture, ModelTrouble};
use secrecy::SecretString;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::aws::{Keys, Since};
use super::{BEFORE_END, WITHOUT_END};
use crate::redact::Redactor;

/// What came of a program: an error where it could not be started; what it printed where it ended well, and else what it said.
pub type CredentialAnswer = std::io::Result<Result<Vec<u8>, String>>;

/// Whoever may start programs does so for [`super::Cloud`]: a program, its arguments, and how long it may take.
pub(super) type RunProgram =
    dyn Fn(String, Vec<String>, Duration) -> BoxFuture<'static, CredentialAnswer> + Send + Sync;

/// A person may have to touch a key or look at a browser.
const LIMIT: Duration = Duration::from_secs(60);
/// Letters of what a program said that are shown.
const SHOWN: usize = 300;

/// How a profile comes by its keys.
#[derive(Clone)]
pub(super) enum Way {
    /// By what it says under `credential_process`.
    Own,
    /// By AWS's program; how that is signed in to, and what is said where there is none.
    Aws { sign_in: Option<String>, missing: ModelTrouble },
}

/// A profile whose keys a program gives out.
#[derive(Clone)]
pub(super) struct ProfileProgram {
    pub(super) profile: String,
    /// What the files say that it stands in: keys are those of one wording.
    pub(super) files: u64,
    pub(super) words: Vec<String>,
    pub(super) way: Way,
    pub(super) source: String,
    pub(super) run: Arc<RunProgram>,
}

/// What programs printed, and until when it is used, by their words. Whoever asks meanwhile waits: a program may ask the
/// person something.
static KEPT: LazyLock<Mutex<HashMap<Vec<String>, Kept>>> = LazyLock::new(Mutex::default);

#[derive(Clone)]
struct Kept {
    keys: Keys,
    files: u64,
    until: SystemTime,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    version: u32,
    access_key_id: String,
    secret_access_key: SecretString,
    session_token: Option<SecretString>,
    expiration: Option<String>,
}

impl ProfileProgram {
    /// The keys, from before as long as they hold and the files say the same.
    pub(super) async fn keys(&self) -> Result<(Keys, Since), ModelTrouble> {
        let mut kept = KEPT.lock().await;
        let now = SystemTime::now();
        if let Some(known) = kept.get(&self.words).filter(|known| known.until > now && known.files == self.files) {
            return Ok((known.keys.clone(), Since::Before));
        }
        kept.remove(&self.words);
        let asked = self.ask(now).await?;
        kept.insert(self.words.clone(), asked.clone());
        Ok((asked.keys, Since::Now))
    }

    /// The keys with this id were refused: they are asked for anew the next time.
    pub(super) async fn forget(&self, id: &str) {
        let mut kept = KEPT.lock().await;
        // Those of another request may be newer.
        if kept.get(&self.words).is_some_and(|known| known.keys.id == id) {
            kept.remove(&self.words);
        }
    }

    async fn ask(&self, now: SystemTime) -> Result<Kept, ModelTrouble> {
        let Some((program, args)) = self.words.split_first() else {
            return Err(self.failed("it names none"));
        };
        let stdout = match (self.run)(program.clone(), args.to_vec(), LIMIT).await {
            Ok(Ok(printed)) => printed,
            Ok(Err(said)) => {
                return Err(match &self.way {
                    Way::Aws { sign_in: Some(command), .. } if is_signed_out(&said) => {
                        ModelTrouble::AwsLoginEnded { profile: self.profile.clone(), command: command.clone() }
                    }
                    _ => self.failed(&said),
                });
            }
            Err(error) => {
                return Err(match &self.way {
                    Way::Aws { missing, .. } => missing.clone(),
                    Way::Own => self.failed(&error.to_string()),
                });
            }
        };
        // What cannot be read is not shown: it may hold the keys.
        let printed: Printed =
            serde_json::from_slice(&stdout).map_err(|_| self.failed("what it printed are no credentials"))?;
        if printed.version != 1 || printed.access_key_id.is_empty() {
            return Err(self.failed("what it printed are no credentials"));
        }
        let end = printed.expiration.as_deref().and_then(|end| end.parse::<jiff::Timestamp>().ok());
        let until = match end.map(SystemTime::from) {
            Some(end) if end <= now => return Err(self.failed("the credentials that it printed have run out")),
            Some(end) => end.checked_sub(BEFORE_END).unwrap_or(now),
            None => now + WITHOUT_END,
        };
        let Printed { access_key_id: id, secret_access_key: secret, session_token: session, .. } = printed;
        Ok(Kept { keys: Keys { id, secret, session, source: self.source.clone() }, files: self.files, until })
    }

    fn failed(&self, said: &str) -> ModelTrouble {
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing");
        let detail: String = Redactor::default().redact(last).chars().take(SHOWN).collect();
        let (profile, detail) = (self.profile.clone(), detail.trim_end_matches('.').to_owned());
        match self.way {
            Way::Own => ModelTrouble::AwsProfileProgram { profile, detail },
            Way::Aws { .. } => ModelTrouble::AwsCliFailed { profile, detail },
        }
    }
}

/// Whether AWS's program says that one has to sign in, for the first time or again.
fn is_signed_out(stderr: &str) -> bool {
    let said = stderr.to_lowercase();
    ["aws sso login", "aws login", "sso token", "token from sso", "sso session", "token has expired", "reauthenticate"]
        .iter()
        .any(|words| said.contains(words))
}

/// The words of a line: apart from each other by white space, but for what stands in quotation marks. A backslash is one:
/// it stands in paths.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn words_are_apart_but_in_quotation_marks() {
        let line = r#""C:\Program Files\vault.exe"  get 'my "own"' --x="a b" """#;
        assert_eq!(words(line), [r"C:\Program Files\vault.exe", "get", r#"my "own""#, "--x=a b", ""]);
        assert_eq!(words("  "), Vec::<String>::new());
    }

    #[test]
    fn it_is_told_when_one_has_to_sign_in() {
        for said in [
            "Error loading SSO Token: Token for corp does not exist",
            "The SSO session associated with this profile has expired or is otherwise invalid. To refresh this SSO session \
             run aws sso login with the corresponding profile.",
            "Error when retrieving token from sso: Token has expired and refresh failed",
            "Your session has expired. Please reauthenticate using 'aws login'.",
        ] {
            assert!(is_signed_out(said), "{said}");
        }
        assert!(!is_signed_out("An error occurred (AccessDenied) when calling the AssumeRole operation"));
    }
}
