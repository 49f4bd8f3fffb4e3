//! The providers of this app: presets, the user's accounts, and where their keys come from.

mod account;
mod headers;
mod local;
mod news;
mod preferred;

use std::sync::Arc;

use bosun_backend::BoxFuture;
use bosun_model::{ChatModel, Price};
use bosun_protocol::{
    ErrorCode, KeySource, ModelChoice, ModelRef, PriceView, Problem, ProviderFamily, ProviderView, SaveProvider,
    TestCall,
};
use bosun_providers::tour::{self, PROVIDER as TOUR, Tour};
use bosun_providers::{
    Account, Cloud, DesktopSettings, EnvironmentKeys, HeardOf, KnownSecrets, ListedModel, Onward, ProviderConfig, Said,
    SavedAccount, Trial, checked_key, query_secrets,
};
use bosun_session::{Explain, ModelSource, SessionError, counted_as_test, gsettings};
use bosun_store::{Database, Key, Keys};
use secrecy::{ExposeSecret, SecretString};
use tokio_util::task::TaskTracker;

use crate::error::Failure;

pub(crate) use bosun_providers::key_variables;
pub(crate) use news::ProviderNews;

/// Accounts and keys, and the way from a [`ModelRef`] to a model.
pub(crate) struct ProviderBook {
    database: Arc<Database>,
    keys: Arc<Keys>,
    environment: EnvironmentKeys,
    secrets: KnownSecrets,
    desktop: DesktopSettings,
    heard: HeardOf,
    news: ProviderNews,
    /// Looks at the servers of this machine that are under way.
    looks: TaskTracker,
}

impl ProviderBook {
    pub(crate) fn new(
        database: Arc<Database>,
        keys: Arc<Keys>,
        environment: EnvironmentKeys,
        secrets: KnownSecrets,
    ) -> Self {
        let desktop = DesktopSettings::new(|name| std::env::var(name).ok(), gsettings);
        let (heard, news, looks) = (HeardOf::default(), ProviderNews::default(), TaskTracker::new());
        Self { database, keys, environment, secrets, desktop, heard, news, looks }
    }

    /// Has `news` told.
    pub(crate) fn telling(self, news: ProviderNews) -> Self {
        Self { news, ..self }
    }

    /// All of them, as far as is known: nobody is asked.
    pub(crate) async fn list(&self) -> Result<Vec<ProviderView>, Failure> {
        let mut views = Vec::new();
        for account in self.accounts().await? {
            let (source, _) = self.key(&account).await?;
            views.push(self.view(&account, source).await?);
        }
        views.push(tour_view());
        Ok(views)
    }

    /// Adds or changes an account. A key that is not given stays, as long as the host does: it was entered for that host.
    /// That the keyring does not let go of the key for the host before is an error after the change.
    pub(crate) async fn save(&self, mut form: SaveProvider) -> Result<ProviderView, Failure> {
        // Wiped when it is done with, from here on.
        let typed = form.key.take().map(SecretString::from);
        let accounts = self.accounts().await?;
        let before = match &form.id {
            Some(id) => Some(find(&accounts, id)?.clone()),
            None => None,
        };
        let id = before.as_ref().map_or_else(|| account::new_id(&form.label, &accounts), |before| before.id.clone());
        let account = account::from_form(id, &form)?;
        let key = typed.as_ref().map(|key| checked_key(key.expose_secret())).transpose().map_err(account::wrong)?;
        if account.is_default(&self.cloud()) {
            self.database.remove_account(&account.id).await?;
        } else {
            self.database.save_account(&account.id, &account.to_saved(&self.cloud())).await?;
        }
        if let Some(key) = key {
            self.secrets.learn(&key);
            self.keys.set(&account.id, &account.host(), key).await?;
        }
        // Last: what a keyring does not let go of keeps no account where it is.
        if let Some(before) = before.filter(|before| before.host() != account.host()) {
            self.keys.let_go(&before.id, &before.host()).await?;
        }
        let (source, _) = self.key(&account).await?;
        self.view(&account, source).await
    }

    /// Takes an account of the user's away, or a preset back to how it came; the key goes too. What the keyring does not
    /// let go of is said after that.
    pub(crate) async fn remove(&self, id: &str) -> Result<(), Failure> {
        let account = self.account(id).await?;
        self.database.remove_account(id).await?;
        Ok(self.keys.let_go(id, &account.host()).await?)
    }

    pub(crate) async fn models(&self, id: &str) -> Result<Vec<ModelChoice>, Failure> {
        if id == TOUR {
            return Ok(vec![tour_choice(tour::Language::English), tour_choice(tour::Language::SimplifiedChinese)]);
        }
        let account = self.account(id).await?;
        let asked = self.config(&account).await?;
        let listed = bosun_providers::list_models(&asked).await?;
        if !asked.lists_what_is_called() {
            return Ok(Vec::new());
        }
        let config = self.learn(asked, Said::All(listed.clone())).await?;
        Ok(listed.into_iter().map(|model| choice(&config, model)).collect())
    }

    /// A small call to `model`, or to one of the provider's list where none is named: a list alone says nothing of
    /// whether anything in it answers. It counts in the usage of the day.
    pub(crate) async fn test(&self, id: &str, model: Option<&str>) -> Result<TestCall, Failure> {
        let account = self.account(id).await?;
        let config = self.config(&account).await?;
        let named = model.map(str::trim).filter(|name| !name.is_empty());
        let counted = |model| counted_as_test(model, Arc::clone(&self.database));
        let Trial { model, outcome, took } = bosun_providers::try_out(&config, named, counted).await;
        let milliseconds = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
        Ok(match outcome {
            Ok(reply) => TestCall::Works { model, reply, milliseconds },
            Err(error) => TestCall::Fails { model, problem: error.problem() },
        })
    }

    /// Reads every key and header that is kept, so that whatever must not hold them knows them.
    async fn learn_keys(&self) -> Result<(), Failure> {
        if let Some(proxy) = self.proxy().await? {
            self.proxy_login(&proxy).await?;
        }
        for account in self.accounts().await? {
            self.learn_query(&account);
            self.key(&account).await?;
            for header in self.keys.headers(&account.id, &account.host()).await? {
                if let Some(value) = header.value.secret() {
                    self.secrets.learn(value);
                }
            }
        }
        Ok(())
    }

    /// Knows what in the query of an account's address may be a key: earlier versions took it in.
    fn learn_query(&self, account: &Account) {
        query_secrets(&account.base_url).iter().for_each(|secret| self.secrets.learn(secret));
    }

    async fn model(&self, model: &ModelRef) -> Result<Arc<dyn ChatModel>, Failure> {
        if model.provider == TOUR {
            return Ok(Arc::new(Tour::new(tour::Language::of_tag(&model.name))));
        }
        let accounts = self.accounts().await?;
        let account = find(&accounts, &model.provider)
            .map_err(|_| Failure::new(ErrorCode::NoModel, Problem::ProviderGone { id: short(&model.provider) }))?;
        let mut config = self.config(account).await?;
        if let Some(said) = bosun_providers::ask_about(&config, &model.name, &self.heard).await {
            config = self.learn(config, said).await?;
        }
        Ok(bosun_providers::connect(&config, &model.name)?)
    }

    async fn accounts(&self) -> Result<Vec<Account>, Failure> {
        Ok(Account::all(self.database.accounts::<SavedAccount>().await?, &self.cloud()))
    }

    /// Where the credentials of clouds are: what stood in the environment, and the files that it names.
    fn cloud(&self) -> Cloud {
        let keys = self.environment.clone();
        let cloud = Cloud::new(move |name| keys.get(name).or_else(|| std::env::var(name).ok()));
        cloud.asking(bosun_session::run_own_program)
    }

    async fn account(&self, id: &str) -> Result<Account, Failure> {
        Ok(find(&self.accounts().await?, id)?.clone())
    }

    /// Everything a call needs.
    async fn config(&self, account: &Account) -> Result<ProviderConfig, Failure> {
        let (source, key) = self.key(account).await?;
        self.learn_query(account);
        let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
        let config = self.preferred(config).await?.with_cloud(self.cloud()).with_desktop(self.desktop.clone());
        let config = self.with_headers(account, config).await?;
        match (key, source) {
            (Some(key), _) => Ok(config.with_key(key)),
            (None, KeySource::Locked { why }) => {
                let problem = Problem::KeyLocked { provider: account.label.clone(), why: Box::new(why) };
                Err(Failure::new(ErrorCode::KeyringUnavailable, problem))
            }
            (None, _) if account.key_optional() => Ok(config),
            (None, _) => Err(Failure::new(ErrorCode::NoModel, Problem::KeyMissing { provider: account.label.clone() })),
        }
    }

    /// Where the key of `account` comes from: the keyring or this run's memory, where the person put it; else the
    /// environment; else the credentials of a cloud. One that a locked keyring keeps does not keep that of the environment
    /// from being used.
    async fn key(&self, account: &Account) -> Result<(KeySource, Option<SecretString>), Failure> {
        let kept = self.keys.get(&account.id, &account.host()).await?;
        if let Some(secret) = kept.secret() {
            self.secrets.learn(secret);
        }
        let without = match kept {
            Key::InKeyring(key) => return Ok((KeySource::Keyring, Some(key))),
            Key::InMemory { key, reason } => return Ok((KeySource::Memory { why: reason.problem() }, Some(key))),
            Key::Missing => None,
            Key::Locked { reason } => Some(KeySource::Locked { why: reason.problem() }),
        };
        let found = bosun_store::key_from_environment(account.variables(), |name| self.environment.get(name));
        if let Some((variable, key)) = found {
            return Ok((KeySource::Environment { variable: variable.to_owned() }, Some(key)));
        }
        let cloud = || self.cloud().source(account).map(|from| KeySource::Cloud { from });
        Ok((without.or_else(cloud).unwrap_or(KeySource::Missing), None))
    }
}

impl ModelSource for ProviderBook {
    fn connect<'a>(&'a self, model: &'a ModelRef) -> BoxFuture<'a, Result<Arc<dyn ChatModel>, SessionError>> {
        Box::pin(async move { Ok(self.model(model).await?) })
    }

    fn know_keys(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.environment.secrets().for_each(|key| self.secrets.learn(key));
            if let Err(error) = self.learn_keys().await {
                tracing::debug!(?error, "keys that are kept could not all be read");
            }
        })
    }

    fn redacted(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    fn learn(&self, secret: &SecretString) {
        self.secrets.learn(secret);
    }
}

fn find<'a>(accounts: &'a [Account], id: &str) -> Result<&'a Account, Failure> {
    let found = accounts.iter().find(|account| account.id == id);
    found.ok_or_else(|| Failure::new(ErrorCode::NotFound, Problem::ProviderUnknown { id: short(id) }))
}

/// As much of an id from the page as an error may repeat.
fn short(id: &str) -> String {
    id.chars().take(60).collect()
}

fn view(account: &Account, key: KeySource, headers: Vec<String>, onward: Onward) -> ProviderView {
    ProviderView {
        id: account.id.clone(),
        label: account.label.clone(),
        family: account::family_view(account.family),
        chosen: account.chosen,
        base_url: account.base_url.clone(),
        host: account.host(),
        local: account.is_local(),
        runs_itself: onward.runs_itself,
        hands_on: onward.hands_on,
        handed_on: onward.handed_on,
        runs: onward.runs,
        key,
        key_page: account.key_page().map(str::to_owned),
        key_optional: account.key_optional(),
        custom: account.preset.is_none(),
        changed: false,
        headers,
    }
}

fn tour_view() -> ProviderView {
    ProviderView {
        id: TOUR.to_owned(),
        label: "Tour".to_owned(),
        family: ProviderFamily::Tour,
        chosen: false,
        base_url: String::new(),
        host: String::new(),
        local: true,
        runs_itself: true,
        hands_on: Vec::new(),
        handed_on: Vec::new(),
        runs: Vec::new(),
        key: KeySource::Missing,
        key_page: None,
        key_optional: true,
        custom: false,
        changed: false,
        headers: Vec::new(),
    }
}

fn tour_choice(language: tour::Language) -> ModelChoice {
    ModelChoice {
        model: tour_ref(language),
        context_window: None,
        max_output: None,
        images: false,
        documents: false,
        audio: false,
        video: false,
        reasoning: false,
        price: None,
        scripted: true,
    }
}

/// The scripted model that speaks `language`.
pub(crate) fn tour_ref(language: tour::Language) -> ModelRef {
    let info = Tour::new(language).info().clone();
    ModelRef { provider: info.provider, name: info.name }
}

fn choice(config: &ProviderConfig, model: ListedModel) -> ModelChoice {
    let known = bosun_providers::known_model(config, &model.name).ok();
    let price = known.as_ref().and_then(|known| known.price);
    ModelChoice {
        context_window: known.as_ref().and_then(|known| known.context_window),
        max_output: known.as_ref().and_then(|known| known.max_output),
        images: known.as_ref().is_some_and(|known| known.abilities.images),
        documents: known.as_ref().is_some_and(|known| known.abilities.documents),
        audio: known.as_ref().is_some_and(|known| known.abilities.audio),
        video: known.as_ref().is_some_and(|known| known.abilities.video),
        reasoning: known.is_some_and(|known| known.abilities.reasoning),
        price: price.map(price_view),
        model: ModelRef { provider: config.id.clone(), name: model.name },
        scripted: false,
    }
}

fn price_view(price: Price) -> PriceView {
    let Price { input, output, cache_read, cache_write, cache_write_hour, audio } = price;
    PriceView { input, output, cache_read, cache_write, cache_write_hour, audio }
}
