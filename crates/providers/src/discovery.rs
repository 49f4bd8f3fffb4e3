//! Model servers on this machine, found by asking.

use std::time::Duration;

use bosun_model::ModelErrorKind;
use futures_util::future::join_all;

use crate::{Account, Cloud, Family, ListedModel, PRESETS, ProviderConfig, list_models};

/// A server on this machine answers at once, or is busy with something else than being found.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Ports where servers without a preset usually are, with the path. Who answers there is known by what it says.
const OTHERS: [(u16, &str); 7] =
    [(1_337, "v1"), (5_001, "v1"), (30_000, "v1"), (12_434, "engines/v1"), (5_000, "v1"), (8_081, "v1"), (9_000, "v1")];

/// A model server that answered.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalServer {
    /// A preset, or an account to be saved before it is used. It is called what the server says that it is, else by its
    /// address: a port says nothing of who listens there.
    pub account: Account,
    /// What it offers; empty where it wants a key first.
    pub models: Vec<ListedModel>,
    pub wants_key: bool,
}

/// The model servers that answer at the usual addresses of this machine, in the order of the presets. Where Ollama's is,
/// `cloud` knows by its variables.
///
/// Only loopback addresses are asked, without a proxy and without any key. Takes as long as the slowest of them, at most
/// a second and a half.
pub async fn find_local_servers(cloud: &Cloud) -> Vec<LocalServer> {
    ask(usual_local_accounts(cloud)).await
}

/// Where servers on this machine usually are: what [`find_local_servers`] asks, and nothing else. Each is called by its
/// address.
pub fn usual_local_accounts(cloud: &Cloud) -> Vec<Account> {
    let placed = |preset| Some(cloud.placed(Account::of_preset(preset))).filter(Account::is_local);
    let presets = PRESETS.iter().filter(|preset| preset.is_local());
    let presets = presets.map(|preset| placed(preset).unwrap_or_else(|| Account::of_preset(preset)));
    let others = OTHERS.iter().map(|(port, path)| {
        let base_url = format!("http://localhost:{port}/{path}");
        Account::new(format!("local-{port}"), "", Family::OpenAiChat, base_url)
    });
    presets.chain(others).map(|account| Account { label: account.host(), ..account }).collect()
}

/// The server at one of those addresses, if it answers.
pub async fn look_at(account: Account) -> Option<LocalServer> {
    ask(vec![account]).await.pop()
}

async fn ask(accounts: Vec<Account>) -> Vec<LocalServer> {
    join_all(accounts.into_iter().map(look)).await.into_iter().flatten().collect()
}

/// `None` for whatever is no model server: nobody, a web page, a list of something else.
async fn look(account: Account) -> Option<LocalServer> {
    let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
    match tokio::time::timeout(PATIENCE, list_models(&config)).await.ok()? {
        Ok(models) => {
            let name = models.iter().find_map(ListedModel::server);
            // Nobody else speaks so.
            let name = name.or((account.family == Family::Ollama).then_some("Ollama"));
            let label = name.map_or_else(|| account.host(), str::to_owned);
            Some(LocalServer { account: Account { label, ..account }, models, wants_key: false })
        }
        Err(error) if error.kind == ModelErrorKind::Unauthorized && account.preset.is_some() => Some(LocalServer {
            account: Account { label: account.host(), ..account },
            models: Vec::new(),
            wants_key: true,
        }),
        Err(error) => {
            tracing::debug!(account = account.id, %error, "no model server there");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use bosun_model::Stays;
    use bosun_testkit::{ModelServer, Reply, Script, Wire};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::preset::preset;
    use crate::{Said, known_model};

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
        let labels: Vec<_> = found.iter().map(|server| server.account.label.clone()).collect();
        assert_eq!(labels, ["Ollama".into(), "LM Studio".into(), found[2].account.host()], "nobody said who it is");
        assert_eq!(found[0].models[0].context_window, Some(32_768), "of 131,072, which would take too much memory");
        assert_eq!((found[0].models[0].images, found[0].models[0].reasoning), (Some(true), Some(false)));
        assert_eq!((found[1].models[0].images, found[1].models[0].context_window), (Some(true), Some(16_384)));
        for request in open.requests().iter().chain(&locked.requests()) {
            let asked = (request.method.as_str(), request.path.as_str());
            assert!(asked.0 == "GET" || asked == ("POST", "/api/show"), "{asked:?}");
            assert_eq!(request.header("authorization"), None);
        }
    }

    /// LiteLLM in front of somebody who charges may be started at vLLM's port, and vLLM at anybody's.
    #[tokio::test]
    async fn a_server_is_what_it_says_and_not_what_its_port_is_known_for() {
        let row = |owned_by: &str| format!(r#"{{"id":"m","object":"model","owned_by":"{owned_by}"}}"#);
        for (id, rows, name, stays) in [
            ("vllm", row("vllm"), Some("vLLM"), Stays::Yes),
            ("vllm", row("openai"), None, Stays::Unknown),
            ("vllm", r#"{"id":"m"}"#.into(), None, Stays::Unknown),
            ("llamacpp", row("llamacpp"), Some("llama.cpp"), Stays::Yes),
            ("llamacpp", row("vllm"), Some("vLLM"), Stays::Yes),
            ("local-9000", row("sglang"), Some("SGLang"), Stays::Yes),
            ("local-9000", row("me"), None, Stays::Unknown),
            ("local-9000", row("library"), Some("Ollama"), Stays::Yes),
            ("litellm", row("openai"), None, Stays::No),
        ] {
            let server = ModelServer::start();
            server.answer_models_with(Reply::http(200, format!(r#"{{"object":"list","data":[{rows}]}}"#)));
            let account = Account::new(id, id, Family::OpenAiChat, server.base_url(Wire::OpenAi));
            let found = look_at(account).await.unwrap();
            let label = name.map_or_else(|| found.account.host(), str::to_owned);
            let config = ProviderConfig::new(id, Family::OpenAiChat, found.account.base_url.as_str());
            let info = known_model(&config.hearing(&Said::All(found.models)), "m").unwrap();
            assert_eq!((found.account.label, info.stays), (label, stays), "{id} {rows}");
            assert_eq!(info.price.is_some(), stays == Stays::Yes, "{id} {rows}");
        }
    }

    #[test]
    fn ollama_is_asked_where_its_variable_says_that_it_is_on_this_machine() {
        let asked = |host: &'static str| {
            let cloud = Cloud::new(move |name| (name == "OLLAMA_HOST").then(|| host.to_owned()));
            usual_local_accounts(&cloud)[0].clone()
        };
        assert_eq!(asked("0.0.0.0:11500").base_url, "http://localhost:11500");
        assert_eq!(asked("0.0.0.0:11500").label, "localhost:11500");
        assert_eq!(asked("gpu-box:11500").base_url, "http://localhost:11434");
    }

    #[test]
    fn only_this_machine_is_asked() {
        let usual = || usual_local_accounts(&Cloud::new(|_| None));
        assert!(usual().iter().all(Account::is_local));
        let addresses: Vec<_> = usual().into_iter().map(|account| account.base_url).collect();
        for address in ["http://localhost:30000/v1", "http://localhost:5000/v1", "http://localhost:12434/engines/v1"] {
            assert!(addresses.iter().any(|known| known == address), "{address}");
        }
        let local: Vec<_> = PRESETS.iter().filter(|preset| preset.is_local()).map(|preset| preset.id).collect();
        assert_eq!(local, ["ollama", "lmstudio", "llamacpp", "vllm", "litellm"]);
    }
}
