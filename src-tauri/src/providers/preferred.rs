//! What the person set and their providers listed, put into what connects to a model.

use bosun_model::ModelError;
use bosun_protocol::{
    Effort, ErrorCode, KeySource, ModelRef, ModelSettings, Problem, SystemProxy, ThinkingLevels, ToldLevel,
};
use bosun_providers::{
    ListedModels, NoNews, Preferences, ProviderConfig, ProxySource, Said, always_thinks, effort_levels, login_secrets,
    proxy_login,
};
use bosun_session::Explain;
use bosun_store::{Key, LISTED_MODELS, MODEL_SETTINGS, PROXY_LOGIN};
use secrecy::{ExposeSecret, SecretString};

use super::ProviderBook;
use crate::error::Failure;

/// Bytes of a proxy's name or password.
const LONGEST_LOGIN: usize = 1_024;

impl ProviderBook {
    /// `config` with the network and the knowledge of models that are set.
    pub(super) async fn preferred(&self, config: ProviderConfig) -> Result<ProviderConfig, Failure> {
        let preferences = self.preferences().await?;
        let learnt = self.listed().await?;
        let config = preferences.apply(config, &learnt)?;
        let Some(proxy) = preferences.proxy().filter(|_| !config.is_here()) else { return Ok(config) };
        match self.proxy_login(&proxy).await? {
            Key::InKeyring(login) | Key::InMemory { key: login, .. } => Ok(config.with_proxy_login(&login)),
            // It says itself that it wants one.
            Key::Missing => Ok(config),
            Key::Locked { reason } => {
                let why = Box::new(reason.problem());
                Err(Failure::new(ErrorCode::KeyringUnavailable, Problem::ProxyLoginLocked { why }))
            }
        }
    }

    /// What servers said of their models.
    pub(super) async fn listed(&self) -> Result<ListedModels, Failure> {
        Ok(self.database.setting(LISTED_MODELS).await?.unwrap_or_default())
    }

    pub(super) async fn preferences(&self) -> Result<Preferences, Failure> {
        Ok(self.database.setting(MODEL_SETTINGS).await?.unwrap_or_default())
    }

    /// As whom the proxy at `address` is asked.
    pub(super) async fn proxy_login(&self, address: &str) -> Result<Key, Failure> {
        let login = self.keys.get(PROXY_LOGIN, address).await?;
        if let Some(secret) = login.secret() {
            login_secrets(secret).for_each(|secret| self.secrets.learn(&secret));
        }
        Ok(login)
    }

    /// Where the name and the password of the settings' proxy are.
    pub(crate) async fn proxy_login_source(&self) -> Result<KeySource, Failure> {
        let Some(proxy) = self.proxy().await? else { return Ok(KeySource::Missing) };
        Ok(match self.proxy_login(&proxy).await? {
            Key::Missing => KeySource::Missing,
            Key::InKeyring(_) => KeySource::Keyring,
            Key::InMemory { reason, .. } => KeySource::Memory { why: reason.problem() },
            Key::Locked { reason } => KeySource::Locked { why: reason.problem() },
        })
    }

    /// Keeps a name and a password for the settings' proxy, where keys are; without both, those that are kept go.
    pub(crate) async fn set_proxy_login(&self, user: &str, password: SecretString) -> Result<KeySource, Failure> {
        let user = user.trim();
        let length = user.len().max(password.expose_secret().len());
        if length > LONGEST_LOGIN || user.chars().chain(password.expose_secret().chars()).any(char::is_control) {
            return Err(Failure::new(ErrorCode::Invalid, Problem::ProxyLoginWrong));
        }
        let Some(proxy) = self.proxy().await? else {
            return Err(Failure::new(ErrorCode::Invalid, Problem::ProxyLoginNowhere));
        };
        if user.is_empty() && password.expose_secret().is_empty() {
            self.keys.remove(PROXY_LOGIN, &proxy).await?;
        } else {
            let login = proxy_login(user, &password);
            login_secrets(&login).for_each(|secret| self.secrets.learn(&secret));
            self.keys.set(PROXY_LOGIN, &proxy, login).await?;
        }
        self.proxy_login_source().await
    }

    /// The proxy that is set.
    pub(crate) async fn proxy(&self) -> Result<Option<String>, Failure> {
        Ok(self.preferences().await?.proxy())
    }

    /// Takes the login of the proxy away that was set `before`, where it is no more: it was entered for that address. What
    /// the keyring does not let go of is said, and not used again.
    pub(crate) async fn leave_proxy(&self, before: Option<String>) -> Result<(), Failure> {
        let now = self.proxy().await?;
        match before.filter(|before| now.as_ref() != Some(before)) {
            Some(before) => Ok(self.keys.let_go(PROXY_LOGIN, &before).await?),
            None => Ok(()),
        }
    }

    /// What the levels of thinking come to for `model`; nothing of one whose account has gone.
    pub(crate) async fn thinking_levels(&self, model: &ModelRef) -> Result<ThinkingLevels, Failure> {
        let always = always_thinks(&model.name);
        let accounts = self.accounts().await?;
        let Some(account) = accounts.iter().find(|account| account.id == model.provider) else {
            return Ok(ThinkingLevels { always, levels: Vec::new() });
        };
        let learnt = self.listed().await?;
        let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
        let config = self.preferences().await?.apply(config, &learnt)?;
        let told = effort_levels(&config, &model.name)?.into_iter();
        let levels =
            told.map(|(level, offered)| ToldLevel { level: effort_view(level), offered: effort_view(offered) });
        Ok(ThinkingLevels { always, levels: levels.collect() })
    }

    /// Keeps what a provider `said` of its models, and gives `config` with it. The page is told of news.
    pub(super) async fn learn(&self, config: ProviderConfig, said: Said) -> Result<ProviderConfig, Failure> {
        if let Said::All(listed) = &said {
            self.heard.list(&config, listed);
        }
        let (asked, told) = (config.clone(), said.clone());
        let learn = move |learnt: &mut ListedModels| learnt.take_in(&asked, &told);
        let kept: Result<_, NoNews> = self.database.change_setting(LISTED_MODELS, learn).await?;
        if kept.is_ok() {
            self.news.tell();
        }
        Ok(config.hearing(&said))
    }

    /// Which proxy is asked where the settings name none.
    pub(crate) async fn system_proxy(&self) -> SystemProxy {
        match self.desktop.source().await {
            ProxySource::None => SystemProxy::None,
            ProxySource::Environment { variable, address } => SystemProxy::Environment { variable, address },
            ProxySource::Desktop { desktop, address } => SystemProxy::Desktop { desktop, address },
            ProxySource::Script { desktop } => SystemProxy::Script { desktop },
            ProxySource::System => SystemProxy::System,
        }
    }

    /// Whether a connection could be made with these settings.
    pub(crate) fn check_network(settings: &ModelSettings) -> Result<(), Failure> {
        let unusable = |error: ModelError| Failure::new(ErrorCode::Invalid, error.problem());
        of_settings(settings)?.network().map(drop).map_err(unusable)
    }
}

/// What of the settings a connection needs, as it will be read.
fn of_settings(settings: &ModelSettings) -> Result<Preferences, Failure> {
    let unreadable = |error: serde_json::Error| {
        Failure::new(ErrorCode::Invalid, Problem::SettingsUnreadable { detail: error.to_string() })
    };
    serde_json::from_value(serde_json::to_value(settings).map_err(unreadable)?).map_err(unreadable)
}

fn effort_view(effort: bosun_model::Effort) -> Effort {
    match effort {
        bosun_model::Effort::Off => Effort::Off,
        bosun_model::Effort::Low => Effort::Low,
        bosun_model::Effort::Medium => Effort::Medium,
        bosun_model::Effort::High => Effort::High,
        bosun_model::Effort::Max => Effort::Max,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test looks into the files that were made for it")]
mod tests {
    use std::sync::Arc;

    use bosun_protocol::NetworkSettings;
    use bosun_providers::{EnvironmentKeys, Family, KnownSecrets};
    use bosun_store::{Database, Keys, MemorySecrets, SecretError, SecretStore};
    use futures_util::future::BoxFuture;

    use super::*;

    struct LockedSecrets;

    impl SecretStore for LockedSecrets {
        fn get<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
            Box::pin(async { Err(SecretError::Locked) })
        }

        fn set<'a>(&'a self, _: &'a str, _: &'a str, _: SecretString) -> BoxFuture<'a, Result<(), SecretError>> {
            Box::pin(async { Err(SecretError::Locked) })
        }

        fn remove<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
            Box::pin(async { Err(SecretError::Locked) })
        }
    }

    /// A name and a password of a proxy are as good as a key: they are where keys are, and nowhere else.
    #[tokio::test]
    async fn a_proxys_name_and_password_go_to_the_keyring_and_with_their_proxy() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let keyring = Arc::new(MemorySecrets::default());
        let keys = Keys::new(Arc::clone(&keyring) as Arc<dyn SecretStore>, Some(Arc::clone(&database)));
        let (none, secrets) = (EnvironmentKeys::default(), KnownSecrets::default());
        let book = ProviderBook::new(Arc::clone(&database), Arc::new(keys), none, secrets.clone());
        let set = async |proxy: &str| {
            let network = NetworkSettings { proxy: Some(proxy.into()), ..NetworkSettings::default() };
            let settings = ModelSettings { network, ..ModelSettings::default() };
            database.set_setting(MODEL_SETTINGS, &settings).await.unwrap();
        };
        let nowhere = book.set_proxy_login("me", "canary".into()).await.unwrap_err().0;
        assert_eq!(nowhere.problem, Problem::ProxyLoginNowhere);
        set("http://proxy.example:3128/").await;
        for (user, password) in [("me", "two\nlines"), ("a\tb", "x"), ("me", &*"x".repeat(2_000))] {
            assert!(book.set_proxy_login(user, password.into()).await.is_err());
        }
        let kept = book.set_proxy_login(" me@work ", "canary:0123456789".into()).await.ok();
        assert_eq!(kept, Some(KeySource::Keyring));
        let place = "http://proxy.example:3128";
        let login = keyring.get(PROXY_LOGIN, place).await.unwrap().unwrap();
        assert_eq!(login.expose_secret(), "me%40work:canary%3A0123456789");
        let shown = secrets.redact("me%40work:canary%3A0123456789, canary:0123456789");
        assert!(!shown.contains("canary"), "{shown}");
        let far = || ProviderConfig::new("far", Family::OpenAiChat, "https://models.example/v1");
        let config = book.preferred(far()).await.ok().unwrap();
        assert!(!format!("{config:?}").contains("canary"));
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
        let holds = |path: &std::path::Path| {
            std::fs::read(path).is_ok_and(|bytes| bytes.windows(6).any(|window| window == b"canary"))
        };
        assert_eq!(files.filter(|path| holds(path)).collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());

        // A keyring that is locked is not taken for one without them, and keeps nobody from a model of this machine.
        let locked = Keys::new(Arc::new(LockedSecrets), Some(Arc::clone(&database)));
        let none = EnvironmentKeys::default();
        let shut = ProviderBook::new(Arc::clone(&database), Arc::new(locked), none, KnownSecrets::default());
        let why = Box::new(Problem::KeyringIsLocked);
        let refused = shut.preferred(far()).await.unwrap_err().0.problem;
        assert_eq!(refused, Problem::ProxyLoginLocked { why });
        assert!(shut.preferred(ProviderConfig::new("near", Family::Ollama, "http://127.0.0.1:11434")).await.is_ok());

        // It stays with its proxy, and goes with it.
        let before = book.proxy().await.ok().unwrap();
        book.leave_proxy(before.clone()).await.ok().unwrap();
        assert_eq!(book.proxy_login_source().await.ok(), Some(KeySource::Keyring));
        set("http://other.example:3128").await;
        assert_eq!(book.proxy_login_source().await.ok(), Some(KeySource::Missing));
        book.leave_proxy(before).await.ok().unwrap();
        assert!(keyring.get(PROXY_LOGIN, place).await.unwrap().is_none());
        // Taken away by hand.
        book.set_proxy_login("me", "canary".into()).await.ok().unwrap();
        assert_eq!(book.set_proxy_login("", "".into()).await.ok(), Some(KeySource::Missing));
    }

    #[test]
    fn a_network_that_cannot_be_used_is_refused_with_the_reason() {
        let with = |proxy: &str| {
            let network = NetworkSettings { proxy: Some(proxy.into()), ..NetworkSettings::default() };
            ProviderBook::check_network(&ModelSettings { network, ..ModelSettings::default() })
        };
        assert!(with("http://proxy.example:3128").is_ok());
        let refused = with("nonsense").unwrap_err().0;
        assert_eq!(refused.code, ErrorCode::Invalid);
        assert!(refused.message.contains("proxy"), "{}", refused.message);
    }
}
