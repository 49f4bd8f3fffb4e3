//! What the person set and their providers listed, put into what connects to a model.

use bosun_protocol::{ErrorCode, ModelSettings, Problem, SystemProxy};
use bosun_providers::{ListedModel, ListedModels, NoNews, Preferences, ProviderConfig, ProxySource};
use bosun_session::Explain;
use bosun_store::{LISTED_MODELS, MODEL_SETTINGS};

use super::ProviderBook;
use crate::error::Failure;

impl ProviderBook {
    /// `config` with the network and the knowledge of models that are set.
    pub(super) async fn preferred(&self, config: ProviderConfig) -> Result<ProviderConfig, Failure> {
        let preferences: Preferences = self.database.setting(MODEL_SETTINGS).await?.unwrap_or_default();
        let learnt: ListedModels = self.database.setting(LISTED_MODELS).await?.unwrap_or_default();
        Ok(preferences.apply(config, &learnt)?)
    }

    /// Keeps what a provider said of its models in their list.
    pub(super) async fn learn(&self, config: &ProviderConfig, listed: &[ListedModel]) -> Result<(), Failure> {
        let (config, listed) = (config.clone(), listed.to_vec());
        let learn = move |learnt: &mut ListedModels| learnt.learn(&config, &listed);
        let (Ok(_) | Err(NoNews)) = self.database.change_setting(LISTED_MODELS, learn).await?;
        Ok(())
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
        let invalid = |problem: Problem| Failure::new(ErrorCode::Invalid, problem);
        let unreadable = |error: serde_json::Error| invalid(Problem::SettingsUnreadable { detail: error.to_string() });
        let stored = serde_json::to_value(settings).map_err(unreadable)?;
        let preferences: Preferences = serde_json::from_value(stored).map_err(unreadable)?;
        preferences.network().map(drop).map_err(|error| invalid(error.problem()))
    }
}

#[cfg(test)]
mod tests {
    use bosun_protocol::NetworkSettings;

    use super::*;

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
