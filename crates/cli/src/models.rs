//! Where this program takes models from: the built-in providers, the accounts set up in Bosun, and their keys.

mod headers;
mod keys;
mod list;
mod providers;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bosun_backend::{BoxFuture, project_root};
use bosun_model::{ChatModel, ModelError};
use bosun_protocol::{ErrorCode, ModelRef, Problem, ProjectId, Settings};
pub(crate) use bosun_providers::key_variables;
use bosun_providers::{
    Account, Cloud, DesktopSettings, EnvironmentKeys, HeardOf, KnownSecrets, ListedModels, NoNews, PRESETS,
    Preferences, ProviderConfig, Said, SavedAccount, ask_about, host_of, login_secrets, preset, query_secrets, tour,
};
use bosun_session::{Explain, ModelSource, SessionError, gsettings};
use bosun_store::{
    APP_SETTINGS, Database, Key, LISTED_MODELS, MODEL_SETTINGS, PROXY_LOGIN, StoredProject, key_from_environment,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::OnceCell;

use crate::core::keyring;
use crate::failure::Failure;
use crate::terminal;

pub(crate) use keys::{KeysArgs, keys};
pub(crate) use list::{ModelsArgs, models};
pub(crate) use providers::{ProvidersArgs, providers};

/// Reads `PROVIDER:NAME`; the name may have colons of its own, as Ollama's do.
pub(crate) fn parse_model(text: &str) -> Result<ModelRef, Failure> {
    let parts = text.split_once(':').map(|(provider, name)| (provider.trim(), name.trim()));
    match parts.filter(|(provider, name)| !provider.is_empty() && !name.is_empty()) {
        Some((provider, name)) => Ok(ModelRef { provider: provider.to_owned(), name: name.to_owned() }),
        None => Err(Failure::BadModel { given: text.to_owned() }),
    }
}

/// Where a key came from.
#[derive(Clone, Debug)]
enum KeyPlace {
    Variable(&'static str),
    Keyring,
    /// The credentials of a cloud.
    Cloud,
    /// There was none, and the server did not say beforehand that it wants one.
    Nowhere,
}

#[derive(Clone, Debug)]
struct UsedKey {
    account: Account,
    place: KeyPlace,
}

/// Another address than its own, at which a provider is asked.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub provider: String,
    pub url: String,
    pub named: Named,
}

/// When a person named an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// On this command line, so that a key in the environment beside it is meant for it.
    Now,
    /// When the session was begun. What stands in the environment by now may be meant for somebody else.
    Before,
}

/// The way from a [`ModelRef`] to a model.
///
/// A key comes from the keyring, where the person saved one, else from the provider's environment variable. The keyring is
/// asked only for a key that the database knows to be there: asking it takes longer than the rest of the start.
pub(crate) struct Models {
    /// What the last call was made with, for a sentence about a key that was refused.
    used: Mutex<Option<UsedKey>>,
    address: OnceLock<Address>,
    database: OnceCell<Option<Arc<Database>>>,
    keys: EnvironmentKeys,
    secrets: KnownSecrets,
    desktop: DesktopSettings,
    heard: HeardOf,
}

impl Models {
    /// Without a `database`, the one in the data folder is opened where a question needs it, and not made where there is
    /// none.
    pub(crate) fn new(database: Option<Arc<Database>>, keys: EnvironmentKeys) -> Self {
        let database = database.map_or_else(OnceCell::new, |database| OnceCell::new_with(Some(Some(database))));
        let secrets = KnownSecrets::default();
        keys.secrets().for_each(|key| secrets.learn(key));
        let desktop = DesktopSettings::new(|name| std::env::var(name).ok(), gsettings);
        Self {
            used: Mutex::default(),
            address: OnceLock::new(),
            database,
            keys,
            secrets,
            desktop,
            heard: HeardOf::default(),
        }
    }

    /// Asks one provider at another address, where there is one. Every other one, such as that of a model that stands in,
    /// stays where it is: its key is none of that address's. The first address holds.
    pub(crate) fn ask_at(&self, address: Option<Address>) {
        if let Some(address) = address {
            query_secrets(&address.url).iter().for_each(|secret| self.secrets.learn(secret));
            self.address.get_or_init(|| address);
        }
    }

    /// The address that was named, where it is that of `provider`.
    fn named_address(&self, provider: &str) -> Option<&str> {
        self.address.get().filter(|address| address.provider == provider).map(|address| address.url.as_str())
    }

    /// Whether an address of `provider` stands on this command line.
    fn is_named_now(&self, provider: &str) -> bool {
        self.address.get().is_some_and(|address| address.provider == provider && address.named == Named::Now)
    }

    /// The address that was named and whose it is.
    pub(crate) fn address(&self) -> Option<&Address> {
        self.address.get()
    }

    /// The settings of the app, and the project at `path` where it was opened before.
    pub(crate) async fn settings_at(&self, path: &Path) -> Result<(Settings, Option<ProjectId>), Failure> {
        let settings = self.settings().await?;
        let Some(database) = self.database().await? else { return Ok((settings, None)) };
        // A folder that cannot be worked in is refused in its own words when it is opened.
        let root = project_root(path, Some(database.folder())).ok();
        let here = |project: &StoredProject| root.as_ref().is_some_and(|root| root.path == Path::new(&project.path));
        let project = database.projects().await?.into_iter().find(here).map(|project| ProjectId::new(project.id));
        Ok((settings, project))
    }

    /// The settings of the app.
    pub(crate) async fn settings(&self) -> Result<Settings, Failure> {
        let Some(database) = self.database().await? else { return Ok(Settings::default()) };
        Ok(database.setting(APP_SETTINGS).await?.unwrap_or_default())
    }

    async fn database(&self) -> Result<Option<&Arc<Database>>, SessionError> {
        let open = || async {
            let Some(folder) = bosun_store::data_folder() else { return Ok(None) };
            Database::open_existing(&folder).map_err(|error| SessionError::of(ErrorCode::StorageUnavailable, &error))
        };
        Ok(self.database.get_or_try_init(open).await?.as_ref())
    }

    /// Reads every key and header that is kept for an account of the settings.
    async fn learn_keys(&self) -> Result<(), SessionError> {
        let Some(database) = self.database().await? else { return Ok(()) };
        let preferences: Preferences = database.setting(MODEL_SETTINGS).await?.unwrap_or_default();
        if let Some(proxy) = preferences.proxy() {
            self.proxy_login(database, &proxy).await?;
        }
        let keyring = keyring(database);
        for account in self.accounts().await? {
            // An address without a host never had a key.
            let Ok(host) = host_of(&account.base_url) else { continue };
            query_secrets(&account.base_url).iter().for_each(|secret| self.secrets.learn(secret));
            let key = keyring.get(&account.id, &host).await?;
            let headers = keyring.headers(&account.id, &host).await?;
            for kept in headers.iter().map(|header| &header.value).chain([&key]) {
                if let Some(secret) = kept.secret() {
                    self.secrets.learn(secret);
                }
            }
        }
        Ok(())
    }

    /// What servers said of their models.
    async fn listed(&self) -> Result<ListedModels, SessionError> {
        let Some(database) = self.database().await? else { return Ok(ListedModels::default()) };
        Ok(database.setting(LISTED_MODELS).await?.unwrap_or_default())
    }

    /// Keeps what a provider `said` of its models, where there is a database to keep it in, and gives `config` with it.
    async fn learn(&self, config: ProviderConfig, said: Said) -> Result<ProviderConfig, SessionError> {
        if let Said::All(listed) = &said {
            self.heard.list(&config, listed);
        }
        if let Some(database) = self.database().await? {
            let (asked, told) = (config.clone(), said.clone());
            let learn = move |learnt: &mut ListedModels| learnt.take_in(&asked, &told);
            let (Ok(_) | Err(NoNews)) = database.change_setting(LISTED_MODELS, learn).await?;
        }
        Ok(config.hearing(&said))
    }

    async fn model(&self, model: &ModelRef) -> Result<Arc<dyn ChatModel>, SessionError> {
        if model.provider == tour::PROVIDER {
            return Ok(Arc::new(tour::Tour::new(tour::Language::of_tag(&model.name))));
        }
        let account = self.account(&model.provider).await?;
        let mut config = self.config(&account).await?;
        if let Some(said) = ask_about(&config, &model.name, &self.heard).await {
            config = self.learn(config, said).await?;
        }
        Ok(bosun_providers::connect(&config, &model.name)?)
    }

    /// Everything a call needs.
    async fn config(&self, account: &Account) -> Result<ProviderConfig, SessionError> {
        let key = self.key(account).await?;
        query_secrets(&account.base_url).iter().for_each(|secret| self.secrets.learn(secret));
        let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
        let config = config.with_desktop(self.desktop.clone());
        let config = match key {
            Some(key) => config.with_key(key),
            None => config.with_cloud(self.cloud_of(account)),
        };
        let (preferences, learnt) = match self.database().await? {
            Some(database) => (database.setting(MODEL_SETTINGS).await?, database.setting(LISTED_MODELS).await?),
            None => (None, None),
        };
        let (preferences, learnt): (Preferences, ListedModels) =
            (preferences.unwrap_or_default(), learnt.unwrap_or_default());
        let config = self.with_proxy_login(&preferences, preferences.apply(config, &learnt)?).await?;
        self.with_headers(account, config).await
    }

    /// `config` with the name and the password that are kept for the settings' proxy.
    async fn with_proxy_login(
        &self,
        preferences: &Preferences,
        config: ProviderConfig,
    ) -> Result<ProviderConfig, SessionError> {
        let proxy = preferences.proxy().filter(|_| !config.is_here());
        let (Some(proxy), Some(database)) = (proxy, self.database().await?) else { return Ok(config) };
        match self.proxy_login(database, &proxy).await? {
            Key::InKeyring(login) | Key::InMemory { key: login, .. } => Ok(config.with_proxy_login(&login)),
            // It says itself that it wants one.
            Key::Missing => Ok(config),
            Key::Locked { reason } => {
                let why = Box::new(reason.problem());
                Err(SessionError::new(ErrorCode::KeyringUnavailable, Problem::ProxyLoginLocked { why }))
            }
        }
    }

    /// As whom the proxy at `address` is asked.
    async fn proxy_login(&self, database: &Arc<Database>, address: &str) -> Result<Key, SessionError> {
        let login = keyring(database).get(PROXY_LOGIN, address).await?;
        if let Some(secret) = login.secret() {
            login_secrets(secret).for_each(|secret| self.secrets.learn(&secret));
        }
        Ok(login)
    }

    /// `config` with the headers that were set for `account` in Bosun's settings.
    async fn with_headers(
        &self,
        account: &Account,
        mut config: ProviderConfig,
    ) -> Result<ProviderConfig, SessionError> {
        let Some(database) = self.database().await? else { return Ok(config) };
        for header in keyring(database).headers(&account.id, &host_of(&account.base_url)?).await? {
            match header.value {
                Key::InKeyring(value) | Key::InMemory { key: value, .. } => {
                    self.secrets.learn(&value);
                    config = config.with_header(header.name, value.expose_secret());
                }
                Key::Locked { reason } => {
                    let why = Box::new(reason.problem());
                    let problem = Problem::KeyringLocked { provider: account.id.clone(), why };
                    return Err(SessionError::new(ErrorCode::KeyringUnavailable, problem));
                }
                Key::Missing => {}
            }
        }
        Ok(config)
    }

    /// The built-in providers with what was stored over them, then the user's own.
    async fn accounts(&self) -> Result<Vec<Account>, SessionError> {
        let stored = match self.database().await? {
            Some(database) => database.accounts().await?,
            None => Vec::new(),
        };
        Ok(Account::all(stored, &self.cloud()))
    }

    /// As [`Self::cloud`]. The credentials go to an address that was named just now, as variables do.
    fn cloud_of(&self, account: &Account) -> Cloud {
        let cloud = self.cloud();
        if self.is_named_now(&account.id) { cloud.at_any_host() } else { cloud }
    }

    /// Where the credentials of clouds are: what stood in the environment, and the files that it names.
    fn cloud(&self) -> Cloud {
        let keys = self.keys.clone();
        let cloud = Cloud::new(move |name| keys.get(name).or_else(|| std::env::var(name).ok()));
        cloud.asking(bosun_session::run_own_program)
    }

    async fn account(&self, id: &str) -> Result<Account, SessionError> {
        let preset = preset(id).map(Account::of_preset);
        let known = match preset {
            // Nothing that is stored could change what is asked for.
            Some(account) if self.named_address(id).is_some() => Some(account),
            preset => {
                let stored: Vec<SavedAccount> = match self.database().await? {
                    Some(database) => database.accounts().await?,
                    None => Vec::new(),
                };
                stored
                    .into_iter()
                    .find(|account| account.id == id)
                    .and_then(|kept| Account::saved(kept, &self.cloud()))
                    .or_else(|| preset.map(|preset| self.cloud().placed(preset)))
            }
        };
        let account = known.ok_or_else(|| unknown(id))?;
        Ok(match self.named_address(id) {
            Some(url) => account.moved_to(url),
            None => account,
        })
    }

    async fn key(&self, account: &Account) -> Result<Option<SecretString>, SessionError> {
        let host = host_of(&account.base_url)?;
        // A variable is meant for the vendor's own host, or for the one that was named beside it just now.
        let named = account.preset.filter(|_| self.is_named_now(&account.id));
        let variables = named.map_or_else(|| account.variables(), |preset| preset.variables);
        let used = |place| self.used(account, place);
        let kept = match self.database().await? {
            Some(database) => keyring(database).get(&account.id, &host).await?,
            None => Key::Missing,
        };
        if let Key::InKeyring(key) | Key::InMemory { key, .. } = kept {
            self.secrets.learn(&key);
            used(KeyPlace::Keyring);
            return Ok(Some(key));
        }
        // Also where one is kept in a keyring that is locked.
        if let Some((variable, key)) = key_from_environment(variables, |name| self.keys.get(name)) {
            used(KeyPlace::Variable(named_in(variables, variable)));
            return Ok(Some(key));
        }
        match kept {
            Key::Locked { reason } => {
                let (provider, why) = (account.id.clone(), Box::new(reason.problem()));
                let variables = variables.join(" or ");
                let problem = match variables.is_empty() {
                    true => Problem::KeyringLocked { provider, why },
                    false => Problem::KeyringLockedOr { provider, why, variables },
                };
                Err(SessionError::new(ErrorCode::KeyringUnavailable, problem))
            }
            // A cloud's own credentials, or none: then the connection says what there could be.
            _ if account.family.is_cloud() => {
                used(KeyPlace::Cloud);
                Ok(None)
            }
            _ => match account.variables().first() {
                Some(variable) => Err(no_key(account, variable)),
                // Any other server may want none; if it does, it says so itself.
                None => {
                    used(KeyPlace::Nowhere);
                    Ok(None)
                }
            },
        }
    }
}

impl Models {
    fn used(&self, account: &Account, place: KeyPlace) {
        let used = UsedKey { account: account.clone(), place };
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(used);
    }

    /// What to do about the key that a provider refused just now, to stand behind its sentence. Empty where no key was
    /// looked for.
    pub(crate) fn about_the_key(&self) -> String {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(UsedKey { account, place }) = used else { return String::new() };
        // With --base-url a variable is taken as well.
        let variable = account.preset.and_then(|preset| preset.variables.first().copied());
        let is_named = self.is_named_now(&account.id);
        let may_set = variable.filter(|_| is_named || account.at_home());
        let is_remembered = !is_named && self.named_address(&account.id).is_some();
        match (place, may_set) {
            (KeyPlace::Variable(name), _) => format!(" (the key is that of {name}; set another there)"),
            // A variable does not go before it.
            (KeyPlace::Keyring, _) => {
                " (the key is that of the keyring; enter another in Bosun's settings, or remove it there)".to_owned()
            }
            (KeyPlace::Cloud, _) => String::new(),
            (KeyPlace::Nowhere, Some(name)) => format!(" (no key was sent; set {name})"),
            (KeyPlace::Nowhere, None) if is_remembered => {
                " (no key was sent; name the address again with --base-url beside the variable, or keep a key for it with \
                 bosun keys set)"
                    .to_owned()
            }
            (KeyPlace::Nowhere, None) => " (no key was sent; enter one in Bosun's settings)".to_owned(),
        }
    }
}

/// `variable` as `variables` has it, which lasts.
fn named_in(variables: &'static [&'static str], variable: &str) -> &'static str {
    variables.iter().find(|name| **name == variable).copied().unwrap_or_default()
}

impl ModelSource for Models {
    fn connect<'a>(&'a self, model: &'a ModelRef) -> BoxFuture<'a, Result<Arc<dyn ChatModel>, SessionError>> {
        Box::pin(self.model(model))
    }

    fn know_keys(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // A keyring that is locked keeps its keys from whoever asks; what looks like a key goes all the same.
            self.learn_keys().await.ok();
        })
    }

    fn redacted(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    fn learn(&self, secret: &SecretString) {
        self.secrets.learn(secret);
    }
}

/// What is wrong with what a person entered.
fn wrong(error: ModelError) -> Failure {
    SessionError::of(ErrorCode::Invalid, &error).into()
}

fn unknown(id: &str) -> SessionError {
    let id = terminal::short(id, 60);
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.id).chain([tour::PROVIDER]).collect();
    SessionError::new(ErrorCode::NoModel, Problem::ProviderNone { id, known: names.join(", ") })
}

fn no_key(account: &Account, variable: &str) -> SessionError {
    let (provider, variable) = (account.id.clone(), variable.to_owned());
    let page = account.key_page().unwrap_or_default().to_owned();
    let problem = Problem::KeyNowhere { provider, variable, page };
    SessionError::new(ErrorCode::NoModel, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_a_provider_and_a_name_that_may_have_colons() {
        let model = parse_model("ollama:qwen3:4b").unwrap();
        assert_eq!((model.provider.as_str(), model.name.as_str()), ("ollama", "qwen3:4b"));
        for wrong in ["", "gpt-4.1", ":x", "openai:", " : "] {
            assert!(matches!(parse_model(wrong), Err(Failure::BadModel { .. })), "{wrong}");
        }
    }
}
