//! Headers of the user's own, for gateways that want more than a key.

use bosun_protocol::{ErrorCode, KeySource, Problem, ProviderView};
use bosun_providers::{Account, ProviderConfig, check_own_header};
use bosun_session::Explain;
use bosun_store::Key;
use secrecy::{ExposeSecret, SecretString};

use super::ProviderBook;
use super::account::wrong;
use crate::error::Failure;

impl ProviderBook {
    /// Keeps a header for the provider `id`; one whose value is empty is removed. It is bound to the provider's host, as
    /// its key is.
    pub(crate) async fn set_header(&self, id: &str, name: &str, value: &str) -> Result<ProviderView, Failure> {
        let account = self.account(id).await?;
        let (name, value) = (name.trim(), value.trim());
        let shown = self.keys.shown_headers(id, &account.host()).await?;
        check_own_header(&shown, name, value).map_err(wrong)?;
        let value = SecretString::from(value);
        if !value.expose_secret().is_empty() {
            self.secrets.learn(&value);
        }
        self.keys.set_header(id, &account.host(), name, value).await?;
        let (source, _) = self.key(&account).await?;
        self.view(&account, source).await
    }

    pub(super) async fn view(&self, account: &Account, key: KeySource) -> Result<ProviderView, Failure> {
        let headers = self.keys.shown_headers(&account.id, &account.host()).await?;
        let onward = self.listed().await?.onward(account);
        // The place that variables and files of a provider's own tools name is no change of the person's.
        let changed = account.preset.is_some() && !account.is_default(&self.cloud());
        Ok(ProviderView { changed, ..super::view(account, key, headers, onward) })
    }

    /// `config` with the user's headers in it.
    pub(super) async fn with_headers(
        &self,
        account: &Account,
        mut config: ProviderConfig,
    ) -> Result<ProviderConfig, Failure> {
        for header in self.keys.headers(&account.id, &account.host()).await? {
            match header.value {
                Key::InKeyring(value) | Key::InMemory { key: value, .. } => {
                    self.secrets.learn(&value);
                    config = config.with_header(header.name, value.expose_secret());
                }
                Key::Locked { reason } => {
                    let why = Box::new(reason.problem());
                    let problem = Problem::KeyLocked { provider: account.label.clone(), why };
                    return Err(Failure::new(ErrorCode::KeyringUnavailable, problem));
                }
                Key::Missing => {}
            }
        }
        Ok(config)
    }
}
