//! The credentials of clouds, as the clouds' own tools keep them: in variables and in files of the user's home folder.
//!
//! Where a profile's keys are with a program (AWS's own, or one that it names), that is run by whoever may start programs.
//! All are read and never written, used at the cloud's own hosts only (and where the user named an address beside them just
//! now), and no error, log or setting holds them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{Account, Family, bedrock, ollama, vertex};

mod aws;
mod google;
mod profile;
mod program;
mod signer;

pub use program::CredentialAnswer;
use program::RunProgram;
pub(crate) use signer::Signer;

/// What stands in a variable of the environment.
type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Where credentials of clouds are looked for. Cheap to clone.
#[derive(Clone)]
pub struct Cloud {
    variables: Arc<Variables>,
    anywhere: bool,
    programs: Option<Arc<RunProgram>>,
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloud").field("anywhere", &self.anywhere).finish_non_exhaustive()
    }
}

/// Credentials that are lent are asked for anew so long before they end.
const BEFORE_END: Duration = Duration::from_secs(5 * 60);
/// How long such are used of which no end is told.
const WITHOUT_END: Duration = Duration::from_secs(15 * 60);

/// Variables of clouds that hold a secret, for whoever takes secrets out of the environment.
pub(crate) const SECRET_VARIABLES: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

impl Cloud {
    /// `variables` gives what stands in a variable of the environment.
    pub fn new(variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { variables: Arc::new(variables), anywhere: false, programs: None }
    }

    /// Has the programs that give out keys run by `run`, which is told a program, its arguments and how long it may take;
    /// without it, profiles that need one have none.
    pub fn asking<R>(self, run: impl Fn(String, Vec<String>, Duration) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = CredentialAnswer> + Send + 'static,
    {
        Self { programs: Some(Arc::new(move |program, args, limit| Box::pin(run(program, args, limit)))), ..self }
    }

    /// For an address that the user named together with the account: credentials go there, whoever it is.
    pub fn at_any_host(self) -> Self {
        Self { anywhere: true, ..self }
    }

    /// A preset at the place that the cloud's own variables and files name, or Ollama's (`OLLAMA_HOST`); any other account as
    /// it is.
    pub fn placed(&self, account: Account) -> Account {
        if !account.is_unchanged() {
            return account;
        }
        let base_url = match account.family {
            Family::Bedrock => {
                aws::region(self).map(|region| format!("https://bedrock-runtime.{region}.amazonaws.com"))
            }
            Family::Vertex => google::location(self)
                .filter(|location| location != "global")
                .map(|location| vertex::address_of(&location)),
            Family::Ollama => self.variable("OLLAMA_HOST").and_then(|host| ollama::address_of(&host)),
            _ => None,
        };
        match base_url {
            Some(base_url) => account.moved_to(base_url),
            None => account,
        }
    }

    /// Whether [`Self::placed`] may move a preset of this family.
    pub(crate) fn may_move(family: Family) -> bool {
        matches!(family, Family::Bedrock | Family::Vertex | Family::Ollama)
    }

    /// What credentials for `account` would be taken from, for people; `None` where there are none.
    pub fn source(&self, account: &Account) -> Option<String> {
        if !self.may_serve(account.family, account.host().as_str()) {
            return None;
        }
        match account.family {
            Family::Bedrock => aws::find(self).ok().map(|found| found.source().to_owned()),
            Family::Vertex => google::file(self).ok().map(|file| file.source),
            _ => None,
        }
    }

    /// Whether credentials of the cloud that speaks `family` may go to `host`.
    fn may_serve(&self, family: Family, host: &str) -> bool {
        match family {
            Family::Bedrock => self.anywhere || bedrock::is_home(host),
            Family::Vertex => self.anywhere || vertex::is_home(host),
            _ => false,
        }
    }

    /// The project that pays for calls at Vertex AI.
    pub(crate) fn project(&self) -> Option<String> {
        google::project(self)
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.variable(name))
    }

    fn home(&self) -> Option<PathBuf> {
        self.first(&["HOME", "USERPROFILE"]).map(PathBuf::from)
    }

    /// A small file of the user's; `None` where there is none.
    fn read(path: &std::path::Path) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }
}

#[cfg(test)]
#[path = "cloud_tests.rs"]
mod tests;
