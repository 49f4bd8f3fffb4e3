//! What was set and learnt about models and the network, as it is stored: JSON that the settings and the lists of models
//! write.

use std::time::Duration;

use bosun_model::ModelError;
use serde::Deserialize;

use crate::network::proxy_address;
use crate::{KnownModel, ListedModels, Network, NetworkOptions, ProviderConfig};

/// Of the stored settings about models, what a connection needs. The rest of them is passed over.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Preferences {
    known: Vec<Known>,
    network: NetworkChoice,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Known {
    model: Named,
    /// Its name is the one in `model`.
    #[serde(flatten)]
    facts: KnownModel,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Named {
    provider: String,
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct NetworkChoice {
    proxy: Option<String>,
    certificates: Option<String>,
    connect_seconds: Option<u64>,
    first_byte_seconds: Option<u64>,
    idle_seconds: Option<u64>,
    total_seconds: Option<u64>,
}

impl Preferences {
    /// # Errors
    /// A proxy or certificates that cannot be used, with a sentence for the user.
    pub fn network(&self) -> Result<Network, ModelError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let wait = |seconds: Option<u64>| seconds.map(Duration::from_secs);
        Network::new(NetworkOptions {
            proxy: given(&self.network.proxy),
            certificates: given(&self.network.certificates),
            connect: wait(self.network.connect_seconds),
            first_byte: wait(self.network.first_byte_seconds),
            idle: wait(self.network.idle_seconds),
            total: wait(self.network.total_seconds),
        })
    }

    /// The address of the proxy that is set, as a login for it is kept; `None` where none is, or none that can be used.
    pub fn proxy(&self) -> Option<String> {
        self.network.proxy.as_deref().and_then(proxy_address)
    }

    /// `config` with the user's network, what the provider `listed` of its models, and over it what the user says.
    ///
    /// # Errors
    /// As [`Self::network`].
    pub fn apply(&self, config: ProviderConfig, listed: &ListedModels) -> Result<ProviderConfig, ModelError> {
        let said = self.known.iter().filter(|known| known.model.provider == config.id).map(Known::said);
        let learnt = listed.of(&config);
        let said: Vec<KnownModel> = learnt.chain(said).collect();
        Ok(config.over(self.network()?).with_known(said))
    }
}

impl Known {
    fn said(&self) -> KnownModel {
        KnownModel { name: self.model.name.clone(), by_person: true, ..self.facts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use bosun_model::Price;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::{Family, ListedModel, NoNews, known_model};

    fn listed(name: &str, window: u32) -> ListedModel {
        ListedModel { name: name.into(), context_window: Some(window), ..ListedModel::default() }
    }

    #[test]
    fn what_the_user_says_counts_before_the_list_and_the_list_before_the_catalogue() {
        let config = || ProviderConfig::new("anthropic", Family::Anthropic, "https://api.anthropic.com");
        let mut windows = ListedModels::default();
        let models = [listed("claude-haiku-4-5", 150_000), listed("claude-next", 300_000)];
        assert_eq!((windows.learn(&config(), &models), windows.learn(&config(), &models)), (Ok(()), Err(NoNews)));
        let said = json!({
            "fallback": null,
            "known": [
                { "model": { "provider": "anthropic", "name": "claude-next" }, "context_window": 250_000,
                  "images": true, "price": { "input": 1.0, "output": 2.0 } },
                { "model": { "provider": "other", "name": "claude-haiku-4-5" }, "context_window": 1 },
            ],
        });
        let preferences: Preferences = serde_json::from_value(said).unwrap();
        let config = preferences.apply(config(), &windows).unwrap();
        let next = known_model(&config, "claude-next").unwrap();
        assert_eq!((next.context_window, next.abilities.images), (Some(250_000), true));
        assert_eq!(next.price.map(|price| (price.input, price.output)), Some((1.0, 2.0)));
        let haiku = known_model(&config, "claude-haiku-4-5").unwrap();
        assert_eq!((haiku.context_window, haiku.max_output), (Some(150_000), Some(64_000)));
        assert!(haiku.price.is_some());
    }

    /// A picture can be shown to a local model without a word in the settings.
    #[test]
    fn what_a_list_says_beside_the_window_is_kept_and_counts_before_the_catalogue() {
        let config = || ProviderConfig::new("mine", Family::OpenAiChat, "http://localhost:8080/v1");
        let price = Price { input: 1.0, output: 2.0, ..Price::FREE };
        let sees = ListedModel {
            name: "gemma".into(),
            max_output: Some(8_192),
            images: Some(true),
            price: Some(price),
            ..ListedModel::default()
        };
        let blind = ListedModel { name: "claude-haiku-4-5".into(), images: Some(false), ..ListedModel::default() };
        let mut learnt = ListedModels::default();
        let bare = [ListedModel { name: "bare".into(), ..ListedModel::default() }];
        assert_eq!(ListedModels::default().learn(&config(), &bare), Err(NoNews), "it says nothing");
        assert_eq!(learnt.learn(&config(), &[sees, blind]), Ok(()));
        let stored: ListedModels = serde_json::from_value(serde_json::to_value(&learnt).unwrap()).unwrap();
        assert_eq!(stored, learnt);
        assert!(
            learnt.learn(&config(), &bare).is_ok() && learnt == ListedModels::default(),
            "what is said no more is forgotten"
        );
        let config = Preferences::default().apply(config(), &stored).unwrap();
        let gemma = known_model(&config, "gemma").unwrap();
        assert_eq!((gemma.abilities.images, gemma.abilities.documents), (true, false));
        assert_eq!((gemma.max_output, gemma.price, gemma.context_window), (Some(8_192), Some(price), None));
        assert!(!known_model(&config, "claude-haiku-4-5").unwrap().abilities.images);
    }

    #[test]
    fn settings_of_the_network_are_checked() {
        let of = |network: serde_json::Value| {
            serde_json::from_value::<Preferences>(json!({ "network": network })).unwrap().network()
        };
        assert!(of(json!({ "proxy": " ", "idle_seconds": 90 })).is_ok());
        assert!(of(json!({ "proxy": "http://127.0.0.1:3128" })).is_ok());
        assert!(of(json!({ "proxy": "nonsense" })).unwrap_err().message.contains("proxy"));
        assert!(of(json!({ "certificates": "no pem" })).unwrap_err().message.contains("no certificate"));
    }
}
