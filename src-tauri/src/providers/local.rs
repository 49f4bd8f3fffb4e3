//! Model servers on this machine, and how one becomes a provider.

use std::sync::Arc;

use bosun_protocol::{ErrorCode, LocalModel, LocalServerView, Problem, ProviderView};
use bosun_providers::{
    Account, ListedModels, LocalServer, Onward, ProviderConfig, Said, ask_again, find_local_servers, look_at,
    usual_local_accounts,
};

use super::{ProviderBook, account};
use crate::error::Failure;

impl ProviderBook {
    /// The model servers that answer at the usual ports of this machine. Nothing else is asked, and nobody is told.
    pub(crate) async fn find_local(&self) -> Result<Vec<LocalServerView>, Failure> {
        self.offered(find_local_servers(&self.cloud()).await).await
    }

    /// What is shown of the servers that were `found`. What they said of their models is kept: one click is all that
    /// comes before the first call.
    async fn offered(&self, found: Vec<LocalServer>) -> Result<Vec<LocalServerView>, Failure> {
        for server in found.iter().filter(|server| !server.models.is_empty()) {
            let account = &server.account;
            let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
            self.learn(config, Said::All(server.models.clone())).await?;
        }
        let (accounts, listed) = (self.accounts().await?, self.listed().await?);
        Ok(found.into_iter().map(|server| offer(server, &accounts, &listed)).collect())
    }

    /// Asks the servers of this machine again of which nothing was heard of late, while nobody waits for it. The page
    /// is told of what is new.
    pub(crate) fn look_beside(self: &Arc<Self>) {
        // One look at a time.
        if !self.looks.is_empty() {
            return;
        }
        let book = Arc::clone(self);
        self.looks.spawn(async move {
            if let Err(failure) = book.look_again().await {
                tracing::debug!(message = failure.0.message, "the servers of this machine were not looked at");
            }
        });
    }

    /// Asks the servers of this machine again who runs their models: the window says where requests go.
    async fn look_again(&self) -> Result<(), Failure> {
        let (accounts, listed) = (self.accounts().await?, self.listed().await?);
        let config = async |account| self.config(account).await.ok();
        for (config, said) in ask_again(&accounts, &listed, &self.heard, config).await {
            self.learn(config, said).await?;
        }
        Ok(())
    }

    /// The provider for a server at one of the usual addresses of this machine, added where there is none yet.
    pub(crate) async fn use_local(&self, base_url: &str) -> Result<ProviderView, Failure> {
        let accounts = self.accounts().await?;
        let usual = usual_local_accounts(&self.cloud())
            .into_iter()
            .find(|usual| usual.base_url == base_url)
            .ok_or_else(|| Failure::new(ErrorCode::NotFound, Problem::NotLocal))?;
        let account = match known(&usual, &accounts) {
            Some(known) => known.clone(),
            None => {
                // Once more, for what it is called.
                let found = look_at(usual.clone()).await.map_or(usual, |found| found.account);
                let account = added(found, &accounts);
                self.database.save_account(&account.id, &account.to_saved(&self.cloud())).await?;
                account
            }
        };
        let (source, _) = self.key(&account).await?;
        self.view(&account, source).await
    }
}

fn offer(server: LocalServer, accounts: &[Account], listed: &ListedModels) -> LocalServerView {
    let LocalServer { account, models, wants_key } = server;
    let provider = known(&account, accounts).map(|known| known.id.clone());
    let models =
        models.into_iter().map(|model| LocalModel { name: model.name, context_window: model.context_window }).collect();
    let Onward { runs_itself, hands_on, handed_on, runs } = listed.onward(&account);
    LocalServerView {
        runs_itself,
        hands_on,
        handed_on,
        runs,
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
    use bosun_model::{ChatRequest, Message};
    use bosun_protocol::ModelRef;
    use bosun_providers::{Cloud, EnvironmentKeys, Family, KnownSecrets, ListedModel, list_models};
    use bosun_store::{Database, Keys, MemorySecrets};
    use bosun_testkit::{ModelServer, Reply, Script, Wire};
    use pretty_assertions::assert_eq;

    use super::*;

    fn nothing() -> Cloud {
        Cloud::new(|_| None)
    }

    /// What was stored was said by whoever listened there then.
    #[tokio::test]
    async fn what_is_shown_of_a_server_of_this_machine_is_what_it_says_now() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let server = ModelServer::start();
        let lists = |owned_by: &str| {
            let list = format!(r#"{{"object":"list","data":[{{"id":"m","owned_by":"{owned_by}"}}]}}"#);
            server.answer_models_with(Reply::http(200, list));
        };
        let account = Account::new("own", "Own", Family::OpenAiChat, server.base_url(Wire::OpenAi));
        database.save_account(&account.id, &account.to_saved(&nothing())).await.unwrap();
        let run = || {
            let keys = Keys::new(Arc::new(MemorySecrets::default()), Some(Arc::clone(&database)));
            let (none, secrets) = (EnvironmentKeys::default(), KnownSecrets::default());
            Arc::new(ProviderBook::new(Arc::clone(&database), Arc::new(keys), none, secrets))
        };
        let looked = async |book: &Arc<ProviderBook>| {
            book.look_beside();
            book.looks.close();
            book.looks.wait().await;
        };
        let shown = async |book: &ProviderBook| {
            let views = book.list().await.ok().unwrap();
            let own = views.into_iter().find(|view| view.id == "own").unwrap();
            (own.runs_itself, own.runs)
        };
        lists("vllm");
        let book = run();
        assert_eq!(shown(&book).await, (false, vec![]));
        book.models("own").await.ok().unwrap();
        let itself = (true, vec!["m".to_owned()]);
        assert_eq!(shown(&book).await, itself);
        assert_eq!(shown(&run()).await, itself);
        lists("openai");
        let asked = server.requests().len();
        looked(&book).await;
        assert_eq!(shown(&book).await, itself, "this run has heard of it");
        assert_eq!(server.requests().len(), asked);
        let next = run();
        // Who does not answer is asked again, and nothing waits for them.
        server.answer_models_with(Reply::http(503, "busy"));
        looked(&next).await;
        lists("openai");
        assert_eq!(shown(&next).await, itself);
        for _ in 0..2 {
            looked(&next).await;
            assert_eq!(shown(&next).await, (false, vec![]));
        }
        assert_eq!(server.requests().len(), asked + 2, "once each");
    }

    fn usual(id: &str) -> Account {
        usual_local_accounts(&nothing()).into_iter().find(|account| account.id == id).unwrap()
    }

    #[test]
    fn a_server_is_the_provider_that_speaks_to_its_address_or_a_new_one() {
        let moved = Account::new("ollama", "Ollama", Family::Ollama, "http://10.0.0.7:11434");
        let own = Account::new("mine", "Mine", Family::OpenAiChat, "http://localhost:1337/v1/");
        let accounts = Account::all([&moved, &own].map(|account| account.to_saved(&nothing())), &nothing());
        let found = |account: Account| {
            let models = vec![ListedModel { name: "m".into(), context_window: Some(4_096), ..ListedModel::default() }];
            offer(LocalServer { account, models, wants_key: false }, &accounts, &ListedModels::default())
        };
        assert_eq!(found(usual("lmstudio")).provider.as_deref(), Some("lmstudio"));
        assert_eq!(found(usual("local-1337")).provider.as_deref(), Some("mine"));
        let ollama = found(usual("ollama"));
        assert_eq!((ollama.provider, ollama.host.as_str()), (None, "localhost:11434"));
        assert!(ollama.runs_itself && ollama.hands_on == [":cloud", "-cloud"]);
        assert_eq!(found(usual("litellm")).hands_on, [""], "all of them");
        let nobody = found(usual("vllm"));
        assert_eq!((nobody.label.as_str(), nobody.runs_itself), ("localhost:8000", false), "it did not say who it is");
        assert_eq!(ollama.models, [LocalModel { name: "m".into(), context_window: Some(4_096) }]);

        let beside = added(Account { label: "Ollama".into(), ..usual("ollama") }, &accounts);
        assert_eq!((beside.id.as_str(), beside.family), ("ollama-2", Family::Ollama));
        assert_eq!(added(usual("local-9000"), &accounts).id, "local-9000");
    }

    /// How much of its window `name` of the server at `account` is asked to hold in its first call.
    async fn held(book: &ProviderBook, server: &ModelServer, account: &Account, name: &str) -> Option<u64> {
        server.once("ready");
        let model = ModelRef { provider: account.id.clone(), name: name.to_owned() };
        let model = book.model(&model).await.ok().unwrap();
        let request =
            ChatRequest { messages: vec![Message::human("h", "hello").into()].into(), ..ChatRequest::default() };
        drop(model.stream(request).await.unwrap());
        let mut calls = server.requests().into_iter().filter(|request| request.path == "/api/chat");
        calls.next_back().unwrap().json()["options"]["num_ctx"].as_u64()
    }

    /// One click is all that comes before the first call, and Ollama cuts what is longer than it was told to hold.
    #[tokio::test]
    async fn a_model_that_was_found_here_is_asked_to_hold_the_window_that_was_shown() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let keys = Keys::new(Arc::new(MemorySecrets::default()), Some(Arc::clone(&database)));
        let (none, secrets) = (EnvironmentKeys::default(), KnownSecrets::default());
        let book = ProviderBook::new(Arc::clone(&database), Arc::new(keys), none, secrets);
        let server = ModelServer::with(Script { models: vec!["qwen3:4b".into()], ..Script::default() });
        let account = usual("ollama").moved_to(server.base_url(Wire::Ollama));
        database.save_account(&account.id, &account.to_saved(&nothing())).await.unwrap();
        let asked = || server.requests().iter().filter(|request| request.path == "/api/show").count();

        // Its list does not have this one, so that nothing was said of it before.
        assert_eq!(held(&book, &server, &account, "never-listed").await, Some(32_768));
        assert_eq!(held(&book, &server, &account, "never-listed").await, Some(32_768));
        assert_eq!(asked(), 1, "what was said once is kept");

        let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
        let models = list_models(&config).await.unwrap();
        let found = LocalServer { account: account.clone(), models, wants_key: false };
        let shown = book.offered(vec![found]).await.ok().unwrap();
        assert_eq!(shown[0].models[0].context_window, Some(32_768));
        assert_eq!(held(&book, &server, &account, "qwen3:4b").await, Some(32_768));
        assert_eq!(asked(), 2, "the list asked about it, and nobody after that");
    }
}
