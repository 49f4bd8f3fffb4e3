use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_backend::{BlobStore, settings_text};
use bosun_protocol::{ErrorCode, ModelRef, Problem, ProjectId, SessionSummary, Settings};
use bosun_providers::{EnvironmentKeys, KnownSecrets};
use bosun_session::{
    DeclaredAgent, Explain, Limits, Policy, Sessions, SessionsParts, SystemClock, UuidSource, default_effort,
    default_model,
};
use bosun_store::{APP_SETTINGS, Database, Keys, SecretStore};
use serde_json::Value;

use crate::check;
use crate::error::Failure;
use crate::providers::{ProviderBook, ProviderNews};

/// What the core is built from.
#[derive(Clone)]
pub struct CoreParts {
    /// The data folder; `None` where not even a home folder is known.
    pub folder: Option<PathBuf>,
    pub keyring: Arc<dyn SecretStore>,
    pub environment: EnvironmentKeys,
    /// Settings as they are until some are saved.
    pub defaults: Settings,
}

/// Everything behind the commands, once the data folder is open.
pub(crate) struct Core {
    pub sessions: Sessions,
    pub providers: Arc<ProviderBook>,
    /// What is wrong with the declaration of the agent, which is not at work then.
    pub problem: Option<Problem>,
    database: Arc<Database>,
    defaults: Settings,
}

/// In the data folder: the agent of all sessions, where a person declares one.
const AGENT: &str = "agent.toml";

impl Core {
    /// Waits for a change of an account, of its key or of the way there, and has open sessions go by it from their next turn
    /// on: also after an error, which may say what stayed behind.
    pub(crate) async fn changed<T>(&self, change: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let done = change.await;
        self.sessions.accounts_changed();
        done
    }

    /// Opens the data folder. Nothing in it is replaced, whatever is found there.
    pub(crate) async fn open(parts: CoreParts, secrets: KnownSecrets, news: ProviderNews) -> Result<Self, Failure> {
        let none = || Failure::new(ErrorCode::StorageUnavailable, Problem::NoDataFolder);
        let folder = parts.folder.ok_or_else(none)?;
        let agent = folder.join(AGENT);
        let (database, blobs) = on_disk(folder).await?;
        let keys = Arc::new(Keys::new(parts.keyring, Some(Arc::clone(&database))));
        let providers = ProviderBook::new(Arc::clone(&database), Arc::clone(&keys), parts.environment, secrets);
        let providers = Arc::new(providers.telling(news));
        let sessions = Sessions::open(SessionsParts {
            database: Some(Arc::clone(&database)),
            blobs: Some(blobs),
            models: Arc::clone(&providers) as Arc<dyn bosun_session::ModelSource>,
            policy: Policy::default(),
            limits: Limits::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidSource),
        })
        .await?;
        sessions.keep_sign_ins(keys);
        sessions.load_additions(Vec::new()).await?;
        let problem = declare(&sessions, &agent).err();
        Ok(Self { sessions, providers, problem, database, defaults: parts.defaults })
    }

    pub(crate) async fn settings(&self) -> Result<Settings, Failure> {
        let stored: Option<Value> = self.database.setting(APP_SETTINGS).await?;
        Ok(stored.map_or_else(|| self.defaults.clone(), |stored| read(&self.defaults, stored)))
    }

    pub(crate) async fn save_settings(&self, settings: Settings) -> Result<Settings, Failure> {
        let of_projects = settings.projects.values().map(|own| &own.model);
        settings.model.iter().chain(of_projects).try_for_each(check::model)?;
        settings.projects.keys().try_for_each(|project| check::id(project))?;
        self.database.set_setting(APP_SETTINGS, &settings).await?;
        Ok(settings)
    }

    /// A session with `model`, or with the one that the settings name for new ones of the project.
    pub(crate) async fn create_session(
        &self,
        project: &ProjectId,
        model: Option<ModelRef>,
    ) -> Result<SessionSummary, Failure> {
        let settings = self.settings().await?;
        if let Some(model) = &model {
            check::model(model)?;
        }
        let model =
            model.or_else(|| self.sessions.declared_model()).or_else(|| default_model(&settings, Some(project)));
        let effort = model.as_ref().and_then(|model| default_effort(&settings, project, model));
        let session = self.sessions.create(project, model).await?;
        if effort.is_some() {
            self.sessions.set_effort(&session.id, effort).await?;
        }
        Ok(SessionSummary { effort, ..session })
    }
}

/// Gives sessions the agent that the file declares, where there is one.
fn declare(sessions: &Sessions, file: &Path) -> Result<(), Problem> {
    let wrong = |detail: String| {
        tracing::warn!(detail, "the declaration of the agent is not used");
        Problem::DeclarationUnused { path: file.display().to_string(), detail }
    };
    match settings_text(file) {
        Ok(text) => sessions.declare(DeclaredAgent::parse(&text).map_err(|error| wrong(error.to_string()))?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(wrong(error.to_string())),
    }
    Ok(())
}

/// Settings as some version of Bosun stored them: what it did not know yet, or wrote in another way, is as by default.
fn read(defaults: &Settings, stored: Value) -> Settings {
    let mut settings = defaults.clone();
    let Value::Object(stored) = stored else { return settings };
    for (name, value) in stored {
        let Ok(Value::Object(mut whole)) = serde_json::to_value(&settings) else { continue };
        whole.insert(name, value);
        settings = serde_json::from_value(Value::Object(whole)).unwrap_or(settings);
    }
    settings
}

/// Opens what is in the data folder, off the threads that must not block: a locked database is waited for.
async fn on_disk(folder: PathBuf) -> Result<(Arc<Database>, Arc<BlobStore>), Failure> {
    let open = move || -> Result<_, Failure> {
        let database = Database::open(&folder)?;
        let blobs = BlobStore::open(database.blobs_folder())
            .map_err(|error| Failure::new(ErrorCode::StorageUnavailable, error.problem()))?;
        Ok((database, Arc::new(blobs)))
    };
    let opened = tokio::task::spawn_blocking(open).await;
    opened.map_err(|error| Failure::new(ErrorCode::Internal, Problem::Internal { detail: error.to_string() }))?
}

#[cfg(test)]
mod tests {
    use bosun_protocol::{Language, Theme};
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_of_other_versions_keep_what_is_understood() {
        let defaults = Settings { language: Language::English, ..Settings::default() };
        let stored = json!({ "theme": "dark", "language": 7, "model": null, "colour": "blue" });
        let wanted = Settings { theme: Theme::Dark, ..defaults.clone() };
        assert_eq!(read(&defaults, stored), wanted);
        assert_eq!(read(&defaults, json!("nonsense")), defaults);
    }
}
