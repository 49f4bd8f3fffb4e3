use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use secrecy::ExposeSecret;

use crate::ProviderConfig;
use crate::config::{Endpoint, Family};
use crate::redact::Redactor;

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
    redactor: Redactor,
}

impl Origin {
    pub(crate) fn new(config: &ProviderConfig, endpoint: &Endpoint) -> Self {
        let key = config.key.as_ref().map(ExposeSecret::expose_secret);
        let values = config.headers.iter().map(|(_, value)| value.as_str());
        Self {
            provider: config.id.clone(),
            family: config.family,
            address: endpoint.shown(),
            host: endpoint.host.clone(),
            has_version: endpoint.has_version(),
            redactor: Redactor::new(key.into_iter().chain(values)),
        }
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
        let mut words = self.redactor.redact(words);
        if words.len() > LONGEST_MESSAGE {
            words.truncate(words.floor_char_boundary(LONGEST_MESSAGE));
            words.push('…');
        }
        words
    }
}
