//! What servers said of their models, as it is stored, and what follows from it: where requests go on from a server of this
//! machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::hands_on;
use crate::{Account, Family, KnownModel, ListedModel, ProviderConfig, Said, host_of};

/// What servers said of their models in their lists, by host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ListedModels(BTreeMap<String, Vec<KnownModel>>);

/// Where what is sent to a server on this machine goes on to; nothing of others. Of one model count, the first that speaks of
/// it: `runs` and `handed_on`, `hands_on`, and that the server speaks Ollama's own API, as nobody else does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Onward {
    /// Whether the server said that it runs models itself, and left none of its list without a word of who does. Any other
    /// may hand on all that it is sent.
    pub runs_itself: bool,
    /// How names of models end that it hands on to another, where it did not say whose they are.
    pub hands_on: Vec<String>,
    /// Models of which it said that it hands them on.
    pub handed_on: Vec<String>,
    /// Models of which it said that it runs them itself.
    pub runs: Vec<String>,
}

/// A list said what was known of it already.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoNews;

/// Hosts of which lists are kept.
const MOST: usize = 100;

impl ListedModels {
    /// Learns what the server that `config` describes said.
    ///
    /// # Errors
    /// Where nothing was learnt by it, so that nothing has to be kept.
    pub fn take_in(&mut self, config: &ProviderConfig, said: &Said) -> Result<(), NoNews> {
        match said {
            Said::All(models) => self.learn(config, models),
            Said::One(model) => self.learn_one(config, model),
        }
    }

    /// Learns what the server that `config` describes listed just now. Of a model about which it was silent what was known
    /// stays.
    ///
    /// # Errors
    /// As [`Self::take_in`].
    pub fn learn(&mut self, config: &ProviderConfig, models: &[ListedModel]) -> Result<(), NoNews> {
        let host = host_of(&config.base_url).map_err(|_| NoNews)?;
        let mut said = over(models, self.at(&config.base_url));
        // Of a server nearby it counts that it left a model without a word of who runs it.
        said.retain(|known| config.is_near() || known.says());
        if !said.iter().any(KnownModel::says) {
            return self.0.remove(&host).map(drop).ok_or(NoNews);
        }
        self.keep(host, said)
    }

    /// Learns what the server that `config` describes said of one of its models, which stays beside what is known of the
    /// others until they are listed again.
    fn learn_one(&mut self, config: &ProviderConfig, model: &ListedModel) -> Result<(), NoNews> {
        let host = host_of(&config.base_url).map_err(|_| NoNews)?;
        let said = model.said();
        let mut known = self.0.get(&host).cloned().unwrap_or_default();
        known.retain(|other| other.name != said.name);
        known.push(said);
        self.keep(host, known)
    }

    /// Keeps what was `said` at `host`, unless that is known.
    fn keep(&mut self, host: String, said: Vec<KnownModel>) -> Result<(), NoNews> {
        if self.0.get(&host) == Some(&said) {
            return Err(NoNews);
        }
        self.0.insert(host.clone(), said);
        if self.0.len() > MOST
            && let Some(other) = self.0.keys().find(|known| **known != host).cloned()
        {
            self.0.remove(&other);
        }
        Ok(())
    }

    pub(crate) fn of(&self, config: &ProviderConfig) -> impl Iterator<Item = KnownModel> {
        self.at(&config.base_url).iter().cloned()
    }

    fn at(&self, base_url: &str) -> &[KnownModel] {
        host_of(base_url).ok().and_then(|host| self.0.get(&host)).map_or(&[], Vec::as_slice)
    }

    /// Where what is sent to `account` goes on from its server, as far as that server told.
    pub fn onward(&self, account: &Account) -> Onward {
        if !account.is_local() {
            return Onward::default();
        }
        let said = self.at(&account.base_url);
        let named = |runs: bool| {
            let named = said.iter().filter(|known| known.server_runs == Some(runs));
            named.map(|known| known.name.clone()).collect::<Vec<_>>()
        };
        let (runs, handed_on) = (named(true), named(false));
        let is_whole = said.iter().all(|known| known.server_runs.is_some());
        Onward {
            runs_itself: account.family == Family::Ollama || (is_whole && !runs.is_empty()),
            hands_on: hands_on(&account.id).iter().map(|end| (*end).to_owned()).collect(),
            handed_on,
            runs,
        }
    }
}

/// What is said by a list of what was known `before`.
fn over(models: &[ListedModel], before: &[KnownModel]) -> Vec<KnownModel> {
    let said = models.iter().map(|model| {
        let known = before.iter().filter(|_| model.untold).find(|known| known.name == model.name);
        known.map_or_else(|| model.said(), |known| model.said().over(known))
    });
    said.collect()
}

impl ProviderConfig {
    /// What its server `said` just now, in the place of what was known of it; what the person says stays over it.
    pub fn hearing(mut self, said: &Said) -> Self {
        let (of_person, before): (Vec<_>, Vec<_>) = self.known.into_iter().partition(|known| known.by_person);
        self.known = match said {
            Said::All(models) => over(models, &before),
            Said::One(model) => {
                let others = before.into_iter().filter(|known| known.name != model.name);
                others.chain([model.said()]).collect()
            }
        };
        self.known.extend(of_person);
        self
    }
}

#[cfg(test)]
mod tests {
    use bosun_model::{Price, Stays};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::{RunBy, known_model};

    fn listed(name: &str, run_by: Option<RunBy>) -> ListedModel {
        ListedModel { name: name.into(), run_by, ..ListedModel::default() }
    }

    const ITSELF: Option<RunBy> = Some(RunBy::Server("vLLM"));

    #[test]
    fn a_server_is_known_to_run_its_models_where_it_said_so() {
        let mut learnt = ListedModels::default();
        let mut learn = |base_url: &str, models: &[ListedModel]| {
            learnt.learn(&ProviderConfig::new("p", Family::OpenAiChat, base_url), models).ok();
        };
        learn("http://localhost:8000/v1", &[listed("m", ITSELF)]);
        learn("http://localhost:8080/v1", &[listed("m", None)]);
        learn("http://localhost:4000/v1", &[listed("m", ITSELF)]);
        learn("http://localhost:5000/v1", &[listed("m", ITSELF), listed("dear", None)]);
        learn("https://gpu.example/v1", &[listed("m", ITSELF)]);
        learn("http://localhost:11434", &[listed("mine", Some(RunBy::Another)), listed("fog-cloud", ITSELF)]);
        let onward = |id: &str, family, base_url: &str| {
            let Onward { runs_itself, hands_on, handed_on, runs } =
                learnt.onward(&Account::new(id, id, family, base_url));
            (runs_itself, [hands_on.join(" "), handed_on.join(" "), runs.join(" ")])
        };
        let chat = Family::OpenAiChat;
        let ends = ":cloud -cloud";
        for (id, family, base_url, runs_itself, names) in [
            ("vllm", chat, "http://localhost:8000/v1", true, [ends, "", "m"]),
            ("llamacpp", chat, "http://localhost:8080/v1", false, [ends, "", ""]),
            ("litellm", chat, "http://localhost:4001/v1", false, ["", "", ""]),
            ("litellm", chat, "http://localhost:4000/v1", true, ["", "", "m"]),
            // It may hand on what it does not say that it runs.
            ("own", chat, "http://localhost:5000/v1", false, [ends, "", "m"]),
            ("own", chat, "http://localhost:9000/v1", false, [ends, "", ""]),
            ("vllm", chat, "https://gpu.example/v1", false, ["", "", ""]),
            ("ollama", Family::Ollama, "http://localhost:11434", true, [ends, "mine", "fog-cloud"]),
        ] {
            assert_eq!(onward(id, family, base_url), (runs_itself, names.map(str::to_owned)), "{id} {base_url}");
        }
        let all = learnt.onward(&Account::new("litellm", "", chat, "http://localhost:4001/v1")).hands_on;
        assert_eq!(all, [""], "every name ends so");
    }

    /// The table of `providerWords.test.ts`: what the window says of a model is what its price and its helpers go by.
    #[test]
    fn who_runs_a_model_is_said_of_it_whole_before_its_name_tells() {
        let (ollama, chat) = (Family::Ollama, Family::OpenAiChat);
        for (id, family, mine, name, stays) in [
            ("ollama", ollama, Some(RunBy::Another), "mine", Stays::No),
            ("ollama", ollama, Some(RunBy::Another), "not-mine", Stays::Yes),
            ("ollama", ollama, None, "gpt-oss:120b-CLOUD", Stays::No),
            ("ollama", ollama, None, "cloudy", Stays::Yes),
            ("own", chat, ITSELF, "fog-cloud", Stays::Yes),
            ("own", chat, ITSELF, "not-mine", Stays::Unknown),
            ("litellm", chat, ITSELF, "mine", Stays::Yes),
            ("litellm", chat, ITSELF, "not-mine", Stays::No),
        ] {
            let config = || ProviderConfig::new(id, family, "http://localhost:1/v1");
            let mut learnt = ListedModels::default();
            learnt.learn(&config(), &[listed("mine", mine), listed("fog-cloud", ITSELF)]).unwrap();
            let config = config().with_known(learnt.of(&config()));
            assert_eq!(known_model(&config, name).unwrap().stays, stays, "{id} {name}");
        }
    }

    /// LM Studio's own list may come late, and Ollama may be busy with a model.
    #[test]
    fn what_a_server_is_silent_about_stays_known() {
        let config = || ProviderConfig::new("lmstudio", Family::OpenAiChat, "http://localhost:1234/v1");
        let told = ListedModel { context_window: Some(8_192), images: Some(true), ..listed("m", ITSELF) };
        let untold = || ListedModel { untold: true, ..listed("m", None) };
        let mut learnt = ListedModels::default();
        learnt.learn(&config(), &[told.clone(), listed("gone", ITSELF)]).unwrap();
        learnt.learn(&config(), &[untold(), ListedModel { untold: true, ..listed("new", None) }]).unwrap();
        let known: Vec<_> = learnt.of(&config()).collect();
        assert_eq!(known, [told.said(), KnownModel { name: "new".into(), ..KnownModel::default() }]);
        let heard = config().with_known([told.said()]).hearing(&Said::All(vec![untold()]));
        assert_eq!(known_model(&heard, "m").unwrap().price, Some(Price::FREE));
        // What it answered counts.
        assert!(learnt.learn(&config(), &[listed("m", None)]).is_ok());
        assert_eq!(learnt, ListedModels::default());
    }

    #[test]
    fn what_the_person_says_stays_over_what_is_heard() {
        let said = KnownModel { name: "m".into(), context_window: Some(7), by_person: true, ..KnownModel::default() };
        let config = ProviderConfig::new("own", Family::OpenAiChat, "http://localhost:9000/v1");
        let config = config.with_known([listed("m", ITSELF).said(), said]);
        let heard = config.hearing(&Said::All(vec![ListedModel { context_window: Some(9), ..listed("m", None) }]));
        let known = known_model(&heard, "m").unwrap();
        assert_eq!((known.context_window, known.stays), (Some(7), Stays::Unknown));
    }

    #[test]
    fn hosts_are_forgotten_before_there_are_too_many() {
        let mut learnt = ListedModels::default();
        for number in 0..MOST + 5 {
            let config =
                ProviderConfig::new("own", Family::OpenAiChat, format!("http://10.0.0.7:{}/v1", 9_000 + number));
            let model = ListedModel { context_window: Some(4_096), ..listed("m", None) };
            assert_eq!(learnt.learn(&config, &[model]), Ok(()));
        }
        assert_eq!(learnt.0.len(), MOST);
    }
}
