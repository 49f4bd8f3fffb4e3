use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use secrecy::SecretString;

use crate::ProviderConfig;
use crate::config::Family;
use crate::endpoint::Endpoint;
use crate::known_secrets::KnownSecrets;
use crate::query::query_secrets;

/// Longer sentences of a provider are cut here; some put the whole request into them.
const LONGEST_MESSAGE: usize = 2_000;

/// Where a reply comes from, for the errors about it. Every error of this crate is made here, so that none leaves with a
/// key in it.
pub(crate) struct Origin {
    /// The provider's id.
    pub(crate) provider: String,
    pub(crate) family: Family,
    /// The base URL as people know it.
    pub(crate) address: String,
    pub(crate) host: String,
    pub(crate) has_version: bool,
    secrets: KnownSecrets,
}

impl Origin {
    pub(crate) fn new(config: &ProviderConfig, endpoint: &Endpoint) -> Self {
        let secrets = KnownSecrets::default();
        config.key.iter().for_each(|key| secrets.learn(key));
        config.network.proxy().into_iter().flat_map(|proxy| proxy.secrets()).for_each(|secret| secrets.learn(&secret));
        query_secrets(&config.base_url).iter().for_each(|secret| secrets.learn(secret));
        config.headers.iter().for_each(|(_, value)| secrets.learn(&value.as_str().into()));
        Self {
            provider: config.id.clone(),
            family: config.family,
            address: endpoint.shown(),
            host: endpoint.host.clone(),
            has_version: endpoint.has_version(),
            secrets,
        }
    }

    /// Takes `secret` out of what is said from now on: what signs a request is known only then, and may be echoed.
    pub(crate) fn learn(&self, secret: &SecretString) {
        self.secrets.learn(secret);
    }

    pub(crate) fn error(&self, kind: ModelErrorKind, message: impl AsRef<str>) -> ModelError {
        ModelError::new(kind, self.provider.clone(), self.clean(message.as_ref().trim()))
    }

    /// An error in Bosun's own words, with others' in its arguments.
    pub(crate) fn trouble(&self, kind: ModelErrorKind, trouble: ModelTrouble) -> ModelError {
        ModelError::own(kind, self.provider.clone(), trouble.map_words(|words| self.clean(&words)))
    }

    /// Without secrets, and no longer than one reads.
    pub(crate) fn clean(&self, words: &str) -> String {
        let mut words = self.secrets.redact(words);
        if words.len() > LONGEST_MESSAGE {
            words.truncate(words.floor_char_boundary(LONGEST_MESSAGE));
            words.push('…');
        }
        words
    }
}
