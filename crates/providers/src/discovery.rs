//! Model servers on this machine, found by asking.

use std::time::Duration;

use bosun_model::ModelErrorKind;
use futures_util::future::join_all;

use crate::{Account, Family, ListedModel, PRESETS, ProviderConfig, list_models};

/// A server on this machine answers at once, or is busy with something else than being found.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Addresses of servers without a preset: an id, a name for people, the port, the path. At 5000 it is one of two, text
/// generation web UI or TabbyAPI.
const OTHERS: [(&str, &str, u16, &str); 7] = [
    ("local-1337", "Jan (this machine)", 1_337, "v1"),
    ("local-5001", "KoboldCpp (this machine)", 5_001, "v1"),
    ("local-30000", "SGLang (this machine)", 30_000, "v1"),
    ("local-12434", "Docker Model Runner (this machine)", 12_434, "engines/v1"),
    ("local-5000", "A server at port 5000 (this machine)", 5_000, "v1"),
    ("local-8081", "A server at port 8081 (this machine)", 8_081, "v1"),
    ("local-9000", "A server at port 9000 (this machine)", 9_000, "v1"),
];

/// A model server that answered.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalServer {
    /// A preset, or an account to be saved before it is used.
    pub account: Account,
    /// What it offers; empty where it wants a key first.
    pub models: Vec<ListedModel>,
    pub wants_key: bool,
}

/// The model servers that answer at the usual addresses of this machine, in the order of the presets.
///
/// Only loopback addresses are asked, without a proxy and without any key. Takes as long as the slowest of them, at most
/// a second and a half.
pub async fn find_local_servers() -> Vec<LocalServer> {
    ask(usual_local_accounts()).await
}

/// Where servers on this machine usually are: what [`find_local_servers`] asks, and nothing else.
pub fn usual_local_accounts() -> Vec<Account> {
    let presets = PRESETS.iter().filter(|preset| preset.is_local()).map(Account::of_preset);
    let others = OTHERS.iter().map(|(id, label, port, path)| {
        Account::new(*id, *label, Family::OpenAiChat, format!("http://localhost:{port}/{path}"))
    });
    presets.chain(others).collect()
}

async fn ask(accounts: Vec<Account>) -> Vec<LocalServer> {
    join_all(accounts.into_iter().map(look)).await.into_iter().flatten().collect()
}

/// `None` for whatever is no model server: nobody, a web page, a list of something else.
async fn look(account: Account) -> Option<LocalServer> {
    let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
    match tokio::time::timeout(PATIENCE, list_models(&config)).await.ok()? {
        Ok(models) => Some(LocalServer { account, models, wants_key: false }),
        Err(error) if error.kind == ModelErrorKind::Unauthorized && account.preset.is_some() => {
            Some(LocalServer { account, models: Vec::new(), wants_key: true })
        }
        Err(error) => {
            tracing::debug!(account = account.id, %error, "no model server there");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use bosun_testkit::{ModelServer, Reply, Script, Wire};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::preset::preset;

    fn at(id: &str, base_url: String) -> Account {
        Account::of_preset(preset(id).unwrap()).moved_to(base_url)
    }

    #[tokio::test]
    async fn servers_are_found_with_their_models_and_nothing_else_is() {
        let with = |key: Option<&str>| {
            ModelServer::with(Script { models: vec!["m".into()], key: key.map(String::from), ..Script::default() })
        };
        let (open, locked, page) = (with(None), with(Some("sk-test")), with(None));
        page.answer_models_with(Reply::html("<html><title>A router</title>"));
        let gone = ModelServer::start().base_url(Wire::OpenAi);
        let accounts = vec![
            at("ollama", open.base_url(Wire::Ollama)),
            at("lmstudio", open.base_url(Wire::OpenAi)),
            at("litellm", locked.base_url(Wire::OpenAi)),
            at("llamacpp", page.base_url(Wire::OpenAi)),
            at("vllm", gone),
            Account::new("own", "Own", Family::OpenAiChat, locked.base_url(Wire::OpenAi)),
        ];
        let found = ask(accounts).await;
        let shown: Vec<_> =
            found.iter().map(|server| (server.account.id.as_str(), server.models.len(), server.wants_key)).collect();
        assert_eq!(shown, [("ollama", 1, false), ("lmstudio", 1, false), ("litellm", 0, true)]);
        assert_eq!(found[0].account.family, Family::Ollama);
        assert_eq!(found[0].models[0].context_window, Some(32_768), "of 131,072, which would take too much memory");
        assert_eq!((found[0].models[0].images, found[0].models[0].reasoning), (Some(true), Some(false)));
        assert_eq!((found[1].models[0].images, found[1].models[0].context_window), (Some(true), Some(16_384)));
        for request in open.requests().iter().chain(&locked.requests()) {
            let asked = (request.method.as_str(), request.path.as_str());
            assert!(asked.0 == "GET" || asked == ("POST", "/api/show"), "{asked:?}");
            assert_eq!(request.header("authorization"), None);
        }
    }

    #[test]
    fn only_this_machine_is_asked() {
        assert!(usual_local_accounts().iter().all(Account::is_local));
        let addresses: Vec<_> = usual_local_accounts().into_iter().map(|account| account.base_url).collect();
        for address in ["http://localhost:30000/v1", "http://localhost:5000/v1", "http://localhost:12434/engines/v1"] {
            assert!(addresses.iter().any(|known| known == address), "{address}");
        }
        let others = OTHERS.iter().map(|(id, ..)| *id).filter(|id| preset(id).is_some());
        assert_eq!(others.count(), 0, "an id of a preset");
        let local: Vec<_> = PRESETS.iter().filter(|preset| preset.is_local()).map(|preset| preset.id).collect();
        assert_eq!(local, ["ollama", "lmstudio", "llamacpp", "vllm", "litellm"]);
    }
}
