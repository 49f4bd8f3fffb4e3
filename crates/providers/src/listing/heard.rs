//! What servers say when they are asked before a call, and when this run of the program heard of them last.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bosun_model::Stays;
use futures_util::future::join_all;
use tokio::time::Instant;

use super::{LLAMA_CPP, ListedModel, RunBy, list_models, local};
use crate::config::is_handed_on;
use crate::connection::Connection;
use crate::preset::Preset;
use crate::{Account, Family, KnownModel, ListedModels, ProviderConfig, host_of, known_model, preset};

/// What was heard is old after so long: a program runs for days, and servers come and go.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// A server that was waited for in vain is not asked again for so long: it would be waited for before every call.
const REST: Duration = Duration::from_secs(30);
/// Who fails sooner costs no wait, and may be there a moment later.
const QUICK: Duration = Duration::from_millis(100);

/// What a server said when it was asked before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// All of its models: what it does not list it said nothing of.
    All(Vec<ListedModel>),
    /// One of them.
    One(ListedModel),
}

/// Of which servers, and of which of their models, this program has heard in the last ten minutes. What is stored of
/// one nearby is older: another may listen at its port by now.
#[derive(Debug, Default)]
pub struct HeardOf(Mutex<Asked>);

/// When a server, or one of its models, was asked about.
#[derive(Debug, Default)]
struct Asked {
    answered: HashMap<Subject, Instant>,
    /// Waited for in vain.
    silent: HashMap<Subject, Instant>,
}

/// A host, and a model there or all of its list.
type Subject = (String, Option<String>);

impl HeardOf {
    /// Takes in that the server that `config` describes `listed` its models. Where it was silent about some, it was
    /// heard of the others only.
    pub fn list(&self, config: &ProviderConfig, listed: &[ListedModel]) {
        if !listed.iter().any(|model| model.untold) {
            return self.answered(config, None);
        }
        listed.iter().filter(|model| !model.untold).for_each(|model| self.answered(config, Some(&model.name)));
    }

    /// Whether what is known of the server, or of `name` there, was said long ago or to another run of the program, and
    /// may hold no more.
    pub(super) fn is_old(&self, config: &ProviderConfig, name: Option<&str>) -> bool {
        let is_said = |known: &KnownModel| !known.by_person && name.is_none_or(|name| known.name == name);
        config.is_near() && config.known.iter().any(is_said) && !self.has_answered(config, name)
    }

    /// Whether the server gave its list, or said something of `name`, not long ago.
    fn has_answered(&self, config: &ProviderConfig, name: Option<&str>) -> bool {
        let Ok(host) = host_of(&config.base_url) else { return true };
        let asked = self.locked();
        let is_fresh = |name: Option<&str>| {
            let at = asked.answered.get(&(host.clone(), name.map(str::to_owned)));
            at.is_some_and(|at| at.elapsed() < FRESH)
        };
        is_fresh(None) || is_fresh(name)
    }

    fn answered(&self, config: &ProviderConfig, name: Option<&str>) {
        if let Ok(host) = host_of(&config.base_url) {
            self.locked().answered.insert((host, name.map(str::to_owned)), Instant::now());
        }
    }

    /// Takes in that who was asked `since` then did not answer.
    fn was_silent(&self, config: &ProviderConfig, name: Option<&str>, since: Instant) {
        if let Ok(host) = host_of(&config.base_url)
            && since.elapsed() >= QUICK
        {
            self.locked().silent.insert((host, name.map(str::to_owned)), Instant::now());
        }
    }

    /// Whether who did not answer is left alone for a while.
    fn rests(&self, config: &ProviderConfig, name: Option<&str>) -> bool {
        let Ok(host) = host_of(&config.base_url) else { return false };
        let at = self.locked().silent.get(&(host, name.map(str::to_owned))).copied();
        at.is_some_and(|at| at.elapsed() < REST)
    }

    fn locked(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the server itself says before a call of `name`. It is asked for a second at most; `None` where it says nothing,
/// so that what is known stays, for half a minute after it was waited for in vain, and of every server but these:
///
/// - One on this machine or near it of which something is stored that this program has not `heard` itself of late:
///   another may listen there by now.
/// - Ollama, whose window a call has to name: it holds little unless it is told, and cuts what is longer without a
///   word.
/// - A server at a preset's address on this machine, which may be another that hands on to somebody who charges.
pub async fn ask_about(config: &ProviderConfig, name: &str, heard: &HeardOf) -> Option<Said> {
    let name = name.trim();
    let known = known_model(config, name).ok()?;
    if config.family == Family::Ollama {
        let is_old = heard.is_old(config, Some(name));
        if (!is_old && known.context_window.is_some()) || heard.rests(config, Some(name)) {
            return None;
        }
        let connection = Connection::new(config, name, None).ok()?;
        let mut model = ListedModel { name: name.to_owned(), ..ListedModel::default() };
        let since = Instant::now();
        local::shown(&connection, &mut model).await;
        if model.untold {
            heard.was_silent(config, Some(name), since);
            return None;
        }
        if !is_old && !model.said().says() {
            return None;
        }
        heard.answered(config, Some(name));
        return Some(Said::One(model));
    }
    let is_preset = config.family == Family::OpenAiChat && preset(&config.id).is_some_and(Preset::is_local);
    let is_old = heard.is_old(config, None) && !heard.has_answered(config, Some(name));
    let is_asked = is_old || (is_preset && known.stays == Stays::Unknown);
    if !is_asked {
        return None;
    }
    let listed = list_of(config, heard).await?;
    Some(Said::All(with_alias(listed, &config.id, name)))
}

/// Asks the servers of this machine among `accounts` again that said of their models before, as `listed` has it, and of
/// which nothing was `heard` of late: others may listen there by now. Ollama is known by its wire. What those say who
/// answer is for the caller to keep; one that is silent is asked before its first call.
///
/// `config` is asked for everything a call needs, where there is something to ask. One of which it gives nothing, as where
/// a key is locked, is left out.
pub async fn ask_again<'a, C: Future<Output = Option<ProviderConfig>>>(
    accounts: &'a [Account],
    listed: &ListedModels,
    heard: &HeardOf,
    config: impl Fn(&'a Account) -> C,
) -> Vec<(ProviderConfig, Said)> {
    let mut configs = Vec::new();
    for account in accounts.iter().filter(|account| account.is_local() && account.family != Family::Ollama) {
        let stored = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
        let known: Vec<_> = listed.of(&stored).collect();
        if heard.is_old(&stored.with_known(known), None) {
            configs.extend(config(account).await);
        }
    }
    let answers = join_all(configs.iter().map(|config| list_of(config, heard))).await;
    let said = configs.into_iter().zip(answers);
    said.filter_map(|(config, listed)| Some((config, Said::All(listed?)))).collect()
}

/// The list of a server, which is waited for a second at most; `None`, too, for half a minute after it was waited for
/// in vain.
async fn list_of(config: &ProviderConfig, heard: &HeardOf) -> Option<Vec<ListedModel>> {
    if heard.rests(config, None) {
        return None;
    }
    let since = Instant::now();
    let listed = tokio::time::timeout(local::SHOW, list_models(config)).await.ok().and_then(Result::ok);
    match &listed {
        Some(listed) => heard.list(config, listed),
        None => heard.was_silent(config, None, since),
    }
    if listed.iter().flatten().any(|model| model.untold) {
        heard.was_silent(config, None, since);
    }
    listed
}

/// `listed` by the server called `id`, and `name` where it means the only one of them: llama.cpp takes any name for its
/// model. Whoever else lists one only may have that of another yet, or hand it on.
fn with_alias(mut listed: Vec<ListedModel>, id: &str, name: &str) -> Vec<ListedModel> {
    if let [only] = &listed[..]
        && only.run_by == Some(RunBy::Server(LLAMA_CPP))
        && only.name != name
        && !is_handed_on(id, name)
    {
        let alias = ListedModel { name: name.to_owned(), run_by: only.run_by, ..ListedModel::default() };
        listed.push(alias);
    }
    listed
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::ready;

    use bosun_testkit::{ModelServer, Reply, Wire};
    use pretty_assertions::assert_eq;

    use super::*;

    #[tokio::test]
    async fn those_alone_are_asked_again_that_said_something_and_were_not_heard_of_since() {
        let server = ModelServer::start();
        server.answer_models_with(Reply::http(200, r#"{"object":"list","data":[{"id":"m","owned_by":"vllm"}]}"#));
        let chat = Family::OpenAiChat;
        let own = |id: &str, base_url: String| Account::new(id, id, chat, base_url);
        let accounts = [
            own("near", server.base_url(Wire::OpenAi)),
            own("locked", "http://localhost:1/v1".into()),
            own("new", "http://localhost:2/v1".into()),
            own("far", "https://gate.example/v1".into()),
            Account::new("ollama", "Ollama", Family::Ollama, "http://localhost:3"),
        ];
        let (mut listed, heard) = (ListedModels::default(), HeardOf::default());
        for account in accounts.iter().filter(|account| account.id != "new") {
            let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
            let model = ListedModel { name: "m".into(), context_window: Some(7), ..ListedModel::default() };
            listed.take_in(&config, &Said::All(vec![model])).unwrap();
        }
        let wanted = RefCell::new(Vec::new());
        let config = |account: &Account| {
            wanted.borrow_mut().push(account.id.clone());
            let config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
            ready(Some(config).filter(|_| account.id != "locked"))
        };
        let said = ask_again(&accounts, &listed, &heard, config).await;
        let shown: Vec<_> = said.iter().map(|(config, said)| (config.id.as_str(), said)).collect();
        let run_by = Some(RunBy::Server("vLLM"));
        let all = Said::All(vec![ListedModel { name: "m".into(), run_by, ..ListedModel::default() }]);
        assert_eq!((shown, wanted.take()), (vec![("near", &all)], vec!["near".to_owned(), "locked".into()]));
        assert!(ask_again(&accounts, &listed, &heard, config).await.is_empty());
        assert_eq!(wanted.take(), ["locked"]);
    }

    #[test]
    fn only_llama_cpp_takes_any_name_for_its_model_and_none_that_is_handed_on() {
        let names = |server, id, name| {
            let only = ListedModel { name: "m".into(), run_by: Some(RunBy::Server(server)), ..ListedModel::default() };
            with_alias(vec![only], id, name).into_iter().map(|model| model.name).collect::<Vec<_>>()
        };
        assert_eq!(names(LLAMA_CPP, "own", "any"), ["m", "any"]);
        for (server, id, name) in [
            (local::OLLAMA, "own", "gpt-oss:120b-cloud"),
            (local::OLLAMA, "own", "any"),
            ("vLLM", "vllm", "any"),
            (LLAMA_CPP, "own", "gpt-oss:120b-cloud"),
            (LLAMA_CPP, "litellm", "any"),
            (LLAMA_CPP, "own", "m"),
        ] {
            assert_eq!(names(server, id, name), ["m"], "{server} {id} {name}");
        }
    }
}
