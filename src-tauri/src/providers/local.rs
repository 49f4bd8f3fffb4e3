//! Model servers on this machine, and how one becomes a provider.

use bosun_protocol::{ErrorCode, LocalModel, LocalServerView, Problem, ProviderView};
use bosun_providers::{Account, LocalServer, find_local_servers, usual_local_accounts};

use super::{ProviderBook, account};
use crate::error::Failure;

impl ProviderBook {
    /// The model servers that answer at the usual ports of this machine. Nothing else is asked, and nobody is told.
    pub(crate) async fn find_local(&self) -> Result<Vec<LocalServerView>, Failure> {
        let accounts = self.accounts().await?;
        let found = find_local_servers().await;
        Ok(found.into_iter().map(|server| offer(server, &accounts)).collect())
    }

    /// The provider for a server at one of the usual addresses of this machine, added where there is none yet.
    pub(crate) async fn use_local(&self, base_url: &str) -> Result<ProviderView, Failure> {
        let accounts = self.accounts().await?;
        let usual = usual_local_accounts()
            .into_iter()
            .find(|usual| usual.base_url == base_url)
            .ok_or_else(|| Failure::new(ErrorCode::NotFound, Problem::NotLocal))?;
        let account = match known(&usual, &accounts) {
            Some(known) => known.clone(),
            None => {
                let account = added(usual, &accounts);
                self.database.save_account(account::to_stored(&account)).await?;
                account
            }
        };
        let (source, _) = self.key(&account).await?;
        self.view(&account, source).await
    }
}

fn offer(server: LocalServer, accounts: &[Account]) -> LocalServerView {
    let LocalServer { account, models, wants_key } = server;
    let provider = known(&account, accounts).map(|known| known.id.clone());
    let models =
        models.into_iter().map(|model| LocalModel { name: model.name, context_window: model.context_window }).collect();
    LocalServerView {
        hands_on: account.hands_on(),
        host: account.host(),
        family: account::family_view(account.family),
        label: account.label,
        base_url: account.base_url,
        provider,
        models,
        wants_key,
    }
}

/// The account that speaks to the same address already, whatever it is called.
fn known<'a>(server: &Account, accounts: &'a [Account]) -> Option<&'a Account> {
    accounts.iter().find(|account| account.host() == server.host() && account.family == server.family)
}

/// `server` as an account beside `accounts`: its own name may belong to a provider that was moved elsewhere.
fn added(server: Account, accounts: &[Account]) -> Account {
    let taken = accounts.iter().any(|account| account.id == server.id);
    let id = if taken { account::new_id(&server.label, accounts) } else { server.id };
    Account::new(id, server.label, server.family, server.base_url)
}

#[cfg(test)]
mod tests {
    use bosun_providers::{Family, ListedModel};
    use pretty_assertions::assert_eq;

    use super::*;

    fn usual(id: &str) -> Account {
        usual_local_accounts().into_iter().find(|account| account.id == id).unwrap()
    }

    #[test]
    fn a_server_is_the_provider_that_speaks_to_its_address_or_a_new_one() {
        let moved = Account::new("ollama", "Ollama", Family::Ollama, "http://10.0.0.7:11434");
        let own = Account::new("mine", "Mine", Family::OpenAiChat, "http://localhost:1337/v1/");
        let accounts = Account::all([moved.to_saved(), own.to_saved()]);
        let found = |account: Account| {
            let models = vec![ListedModel { name: "m".into(), context_window: Some(4_096), ..ListedModel::default() }];
            offer(LocalServer { account, models, wants_key: false }, &accounts)
        };
        assert_eq!(found(usual("lmstudio")).provider.as_deref(), Some("lmstudio"));
        assert_eq!(found(usual("local-1337")).provider.as_deref(), Some("mine"));
        let ollama = found(usual("ollama"));
        assert_eq!((ollama.provider, ollama.host.as_str()), (None, "localhost:11434"));
        assert_eq!(ollama.hands_on, [":cloud", "-cloud"]);
        assert_eq!(found(usual("litellm")).hands_on, [""], "all of them");
        assert_eq!(ollama.models, [LocalModel { name: "m".into(), context_window: Some(4_096) }]);

        let beside = added(usual("ollama"), &accounts);
        assert_eq!((beside.id.as_str(), beside.family), ("ollama-2", Family::Ollama));
        assert_eq!(added(usual("local-9000"), &accounts).id, "local-9000");
    }
}
