use std::fmt;

use bosun_model::{ModelInfo, Price, Stays};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::cloud::Cloud;
use crate::desktop::DesktopSettings;
use crate::endpoint::{Endpoint, is_nearby};
use crate::listing::HELD_UNTOLD;
use crate::network::Network;
use crate::query::without_query_secrets;
use crate::{anthropic, catalogue, openai_chat};

/// An account at a model server: where it is, what it speaks, and the key.
///
/// A key belongs to the host it was entered for. Whoever fills this in compares [`crate::host_of`] with the host stored beside
/// the key, and leaves `key` empty when they differ.
#[derive(Clone)]
pub struct ProviderConfig {
    /// Our name for it, for example `anthropic`; the `provider` of every error and [`bosun_model::ModelInfo`].
    pub id: String,
    pub family: Family,
    /// As in the vendors' own SDKs: with `/v1` for the two of OpenAI, without a version for the others.
    pub base_url: String,
    /// `None` for servers that want none (most on the user's own machine).
    pub key: Option<SecretString>,
    /// Further headers, which win over ours. Their values are treated as secrets in errors.
    pub headers: Vec<(String, String)>,
    pub network: Network,
    /// What the user, or the provider's own list, says of its models; over what the catalogue knows.
    pub known: Vec<KnownModel>,
    /// Where the credentials of a cloud are looked for if there is no key. `None`: nowhere, and requests go unsigned.
    pub cloud: Option<Cloud>,
    /// Who is asked for a proxy where `network` and the environment name none. `None`: nobody.
    pub desktop: Option<DesktopSettings>,
}

/// What is said of one model, by its name there. What is `None` is left as it was known before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownModel {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether the server that lists it runs it itself; `Some(false)` where it hands requests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_runs: Option<bool>,
    /// Whether the person says so, whose limits are meant as they are.
    #[serde(skip)]
    pub by_person: bool,
}

/// Longest output that is asked for where only the model's own limit is known and is larger. A single step of an agent hardly
/// writes more; who pays beforehand has to be able to pay for all that is asked for, and some wires count it against the
/// window.
pub(crate) const MOST_OUTPUT: u32 = 32_000;

impl KnownModel {
    /// Whether it says anything beside a name.
    pub(crate) fn says(&self) -> bool {
        *self != Self { name: self.name.clone(), ..Self::default() }
    }

    /// What is said here, and of the rest what was said `before`.
    pub(crate) fn over(self, before: &Self) -> Self {
        Self {
            context_window: self.context_window.or(before.context_window),
            max_output: self.max_output.or(before.max_output),
            images: self.images.or(before.images),
            documents: self.documents.or(before.documents),
            audio: self.audio.or(before.audio),
            video: self.video.or(before.video),
            reasoning: self.reasoning.or(before.reasoning),
            price: self.price.or(before.price),
            server_runs: self.server_runs.or(before.server_runs),
            ..self
        }
    }

    fn put_on(&self, info: &mut ModelInfo) {
        info.context_window = self.context_window.or(info.context_window);
        info.max_output = self.max_output.or(info.max_output);
        let abilities = &mut info.abilities;
        abilities.images = self.images.unwrap_or(abilities.images);
        abilities.documents = self.documents.unwrap_or(abilities.documents);
        abilities.audio = self.audio.unwrap_or(abilities.audio);
        abilities.video = self.video.unwrap_or(abilities.video);
        abilities.reasoning = self.reasoning.unwrap_or(abilities.reasoning);
        if let Some(price) = self.price {
            (info.price, info.steps) = (Some(price), Vec::new());
        }
    }
}

/// A wire format. Each has one adapter; the driver, the limits and the errors are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, which most other servers offer too.
    #[serde(rename = "openai_chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Google's Gemini API, on Vertex AI too.
    Gemini,
    /// Ollama's own API.
    Ollama,
    /// Claude at Amazon Bedrock: Anthropic Messages in AWS's frames, signed.
    Bedrock,
    /// Google's Vertex AI: Anthropic Messages for Claude, the Gemini API for Gemini, with access tokens.
    Vertex,
}

impl Family {
    pub const ALL: [Self; 7] = [
        Self::Anthropic,
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::Ollama,
        Self::Bedrock,
        Self::Vertex,
    ];

    /// Its name in stored accounts and on the IPC.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Bedrock => "bedrock",
            Self::Vertex => "vertex",
        }
    }

    /// The family of that [`Self::name`].
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The vendor's own address.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://localhost:11434",
            Self::Bedrock => "https://bedrock-runtime.us-east-1.amazonaws.com",
            Self::Vertex => "https://aiplatform.googleapis.com",
        }
    }

    /// Whether its accounts are those of a cloud, whose credentials are found by [`Cloud`] where no key was entered.
    pub fn is_cloud(self) -> bool {
        matches!(self, Self::Bedrock | Self::Vertex)
    }
}

impl ProviderConfig {
    pub fn new(id: impl Into<String>, family: Family, base_url: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            family,
            base_url: base_url.into(),
            key: None,
            headers: Vec::new(),
            network: Network::default(),
            known: Vec::new(),
            cloud: None,
            desktop: None,
        }
    }

    pub fn with_key(mut self, key: impl Into<SecretString>) -> Self {
        self.key = Some(key.into());
        self
    }

    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl ProviderConfig {
    pub fn over(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// As whom the proxy of the settings is asked: what [`crate::proxy_login`] made.
    pub fn with_proxy_login(mut self, login: &SecretString) -> Self {
        self.network = self.network.with_login(login);
        self
    }

    pub fn with_cloud(mut self, cloud: Cloud) -> Self {
        self.cloud = Some(cloud);
        self
    }

    pub fn with_desktop(mut self, desktop: DesktopSettings) -> Self {
        self.desktop = Some(desktop);
        self
    }

    /// Later ones win.
    pub fn with_known(mut self, known: impl IntoIterator<Item = KnownModel>) -> Self {
        self.known.extend(known);
        self
    }

    /// `info` with what is said of that model.
    pub(crate) fn said_of(&self, mut info: ModelInfo) -> ModelInfo {
        for known in &self.known {
            if known.name == info.name {
                known.put_on(&mut info);
            }
        }
        // A model takes no more than its wire carries.
        let is_gemini = matches!(self.family, Family::Gemini | Family::Vertex);
        info.abilities.audio &= is_gemini || self.family == Family::OpenAiChat;
        info.abilities.video &= is_gemini;
        info.stays = self.stays(&info.name);
        // Nobody charges for what this machine does.
        if info.price.is_none() && info.stays == Stays::Yes {
            info.price = Some(Price::FREE);
        }
        info
    }

    /// [`Self::said_of`], for a call. What nobody said a model cannot look at is sent to it: it may well see, and a
    /// provider whose model does not says so.
    pub(crate) fn ready(&self, info: ModelInfo) -> ModelInfo {
        let mut info = self.said_of(info);
        if !catalogue::knows(&info.name) {
            let said = |of: fn(&KnownModel) -> Option<bool>| {
                self.known.iter().any(|known| known.name == info.name && of(known).is_some())
            };
            let (images, documents) = (said(|known| known.images), said(|known| known.documents));
            info.abilities.images |= !images;
            info.abilities.documents |= !documents;
            info.abilities.reasoning |= !said(|known| known.reasoning) && self.thinks_by_name(&info.name);
        }
        let by_person = |known: &KnownModel| known.by_person && known.name == info.name && known.max_output.is_some();
        if !self.known.iter().any(by_person) {
            info.max_output = info.max_output.map(|most| most.min(MOST_OUTPUT));
        }
        if self.family == Family::Ollama {
            // It is what the server is asked to hold, so that it is known then.
            info.context_window = info.context_window.or(Some(HELD_UNTOLD));
        }
        info
    }

    /// Whether the names in the provider's list are what is called: Azure lists models, and deployments are called.
    pub fn lists_what_is_called(&self) -> bool {
        self.id != "azure"
    }

    /// Whether a vendor makes models of such a name to think.
    fn thinks_by_name(&self, name: &str) -> bool {
        let is_openai = matches!(self.family, Family::OpenAiChat | Family::OpenAiResponses);
        anthropic::thinks_by_name(name) || is_openai && openai_chat::thinks_by_name(name)
    }

    /// Whether what is sent to the model `name` stays on this machine. What the server itself says of it counts before its
    /// name; a server that says nothing may be any, at whichever port.
    fn stays(&self, name: &str) -> Stays {
        if !self.is_here() {
            return Stays::No;
        }
        let said = self.known.iter().rev().filter(|known| known.name == name).find_map(|known| known.server_runs);
        match said {
            Some(true) => Stays::Yes,
            Some(false) => Stays::No,
            None if is_handed_on(&self.id, name) => Stays::No,
            // Nobody else speaks so.
            None if self.family == Family::Ollama => Stays::Yes,
            None => Stays::Unknown,
        }
    }

    /// Whether the address is one of this machine, which no proxy is asked for.
    pub fn is_here(&self) -> bool {
        Endpoint::parse(&self.id, self.family, &self.base_url).is_ok_and(|endpoint| endpoint.loopback)
    }

    /// Whether the address is one of this machine or of the network around it, where another server may answer tomorrow.
    pub(crate) fn is_near(&self) -> bool {
        Endpoint::parse(&self.id, self.family, &self.base_url)
            .is_ok_and(|endpoint| endpoint.loopback || is_nearby(endpoint.name()))
    }
}

/// How names of models end which the server of this machine that is called `id` hands on to another, where it does not say
/// itself who runs them: all of LiteLLM's, and those of Ollama's cloud.
pub(crate) fn hands_on(id: &str) -> &'static [&'static str] {
    if id == "litellm" { &[""] } else { &[":cloud", "-cloud"] }
}

/// Whether the name of a model tells that the server of this machine that is called `id` hands it on. `ui` compares in the
/// same way (`providerWords.ts`): Ollama takes names in letters of either case.
pub(crate) fn is_handed_on(id: &str, name: &str) -> bool {
    hands_on(id).iter().any(|end| name.to_ascii_lowercase().ends_with(end))
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("ProviderConfig")
            .field("id", &self.id)
            .field("family", &self.family)
            .field("base_url", &without_query_secrets(&self.base_url))
            .field("key", &self.key.as_ref().map(|_| "[redacted]"))
            .field("headers", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_config_never_shows_its_secrets() {
        let config = ProviderConfig::new("p", Family::Anthropic, "https://h")
            .with_key("sk-canary-12345")
            .with_header("x-gateway", "canary-67890");
        let shown = format!("{config:?}");
        assert!(shown.contains("x-gateway") && !shown.contains("canary"), "{shown}");
    }

    #[test]
    fn a_model_is_sent_what_nobody_said_it_cannot_look_at() {
        let abilities = |config: &ProviderConfig, name: &str| crate::connect(config, name).unwrap().info().abilities;
        let sees = |config: &ProviderConfig, name: &str| {
            let abilities = abilities(config, name);
            (abilities.images, abilities.documents)
        };
        let config = ProviderConfig::new("gate", Family::OpenAiChat, "https://gate.example/v1");
        assert_eq!(sees(&config, "their-newest"), (true, true));
        assert!(!abilities(&config, "their-newest").reasoning, "nothing is asked of it that it may refuse");
        assert!(!crate::known_model(&config, "their-newest").unwrap().abilities.images, "nobody said that it sees");
        assert_eq!(sees(&config, "glm-5.1"), (false, false));
        let blind = KnownModel { name: "their-newest".into(), images: Some(false), ..KnownModel::default() };
        assert_eq!(sees(&config.with_known([blind]), "their-newest"), (false, true));
    }

    /// Ollama holds 4,096 tokens where it is told nothing, and cuts the rest without a word.
    #[test]
    fn ollama_is_always_told_what_to_hold_and_that_is_the_window() {
        let window = |family, known: Option<u32>| {
            let said = KnownModel { name: "qwen3:4b".into(), context_window: known, ..KnownModel::default() };
            let config = ProviderConfig::new("ollama", family, "http://localhost:11434").with_known([said]);
            crate::connect(&config, "qwen3:4b").unwrap().info().context_window
        };
        assert_eq!(window(Family::Ollama, None), Some(HELD_UNTOLD));
        assert_eq!(window(Family::Ollama, Some(65_536)), Some(65_536), "the person knows better");
        assert_eq!(window(Family::OpenAiChat, None), None);
    }

    /// Who pays beforehand has to be able to pay for all that is asked for.
    #[test]
    fn no_more_output_is_asked_for_than_a_step_takes_unless_the_person_says_so() {
        let most = |known: Option<KnownModel>| {
            let config = ProviderConfig::new("openrouter", Family::OpenAiChat, "https://openrouter.ai/api/v1");
            crate::connect(&config.with_known(known), "openai/gpt-5.4").unwrap().info().max_output
        };
        let said = |tokens, by_person| {
            let (name, max_output) = ("openai/gpt-5.4".into(), Some(tokens));
            Some(KnownModel { name, max_output, by_person, ..KnownModel::default() })
        };
        assert_eq!(most(None), Some(MOST_OUTPUT), "of the catalogue's 128,000");
        assert_eq!((most(said(100_000, false)), most(said(16_384, false))), (Some(MOST_OUTPUT), Some(16_384)));
        assert_eq!(most(said(100_000, true)), Some(100_000));
    }

    /// A Claude that came out after the catalogue was made thinks as its elders do, unless its list says otherwise.
    #[test]
    fn a_newer_claude_thinks_before_anybody_said_so() {
        let thinks = |name: &str, said: Option<bool>| {
            let known =
                said.map(|said| KnownModel { name: name.into(), reasoning: Some(said), ..KnownModel::default() });
            let config = ProviderConfig::new("anthropic", Family::Anthropic, "https://api.anthropic.com");
            crate::connect(&config.with_known(known), name).unwrap().info().abilities.reasoning
        };
        assert!(thinks("claude-opus-6", None) && thinks("claude-fable-5-3", None) && thinks("claude-fable-5-2", None));
        assert!(!thinks("claude-opus-6", Some(false)) && !thinks("claude-3-haiku", None) && !thinks("nobody-1", None));
    }

    /// A port says nothing of who listens there: LiteLLM in front of somebody who charges may be started at any.
    #[test]
    fn what_costs_nothing_and_stays_here_is_what_a_server_of_this_machine_says_that_it_runs() {
        let known = |id: &str, base_url: &str, name: &str, server_runs: Option<bool>| {
            let family = if id == "ollama" { Family::Ollama } else { Family::OpenAiChat };
            let said = KnownModel { name: name.into(), server_runs, ..KnownModel::default() };
            let info = crate::known_model(&ProviderConfig::new(id, family, base_url).with_known([said]), name).unwrap();
            (info.stays, info.price)
        };
        let free = (Stays::Yes, Some(Price::FREE));
        let (maybe, away) = ((Stays::Unknown, None), (Stays::No, None));
        let (ollama, vllm) = ("http://localhost:11434", "http://127.0.0.1:8000/v1");
        for (id, base_url, name, server_runs, expected) in [
            ("ollama", ollama, "qwen3:4b", None, free),
            ("ollama", ollama, "gpt-oss:120b-cloud", None, away),
            ("ollama", ollama, "me/GPT-OSS:120b-CLOUD", None, away),
            ("vllm", vllm, "fog-cloud", Some(true), free),
            ("ollama", ollama, "mine", Some(false), away),
            ("ollama", "http://10.0.0.7:11434", "qwen3:4b", Some(true), away),
            ("vllm", vllm, "m", None, maybe),
            ("vllm", vllm, "m", Some(true), free),
            ("vllm", "https://gpu.example/v1", "m", Some(true), away),
            ("litellm", "http://localhost:4000/v1", "m", None, away),
            ("litellm", "http://localhost:4000/v1", "m", Some(true), free),
            ("my-gate", "http://localhost:9000/v1", "m", None, maybe),
            ("my-gate", "http://localhost:9000/v1", "m", Some(true), free),
            ("openai", "http://localhost:8080/v1", "m", None, maybe),
        ] {
            assert_eq!(known(id, base_url, name, server_runs), expected, "{id} {base_url} {name} {server_runs:?}");
        }
        let price = Some(Price { input: 1.0, ..Price::FREE });
        let said = KnownModel { name: "m".into(), price, server_runs: Some(true), ..KnownModel::default() };
        let config = ProviderConfig::new("vllm", Family::OpenAiChat, vllm).with_known([said]);
        assert_eq!(crate::known_model(&config, "m").unwrap().price, price, "the person knows better");
    }

    /// Where the model takes them and the wire carries them; what is said of a model goes over the catalogue, not over
    /// the wire.
    #[test]
    fn sound_and_film_go_where_model_and_wire_take_them() {
        let taken = |config: &ProviderConfig, name: &str| {
            let abilities = crate::known_model(config, name).unwrap().abilities;
            (abilities.audio, abilities.video)
        };
        let at = |family| ProviderConfig::new("p", family, "https://gate.example/v1");
        for (family, name, expected) in [
            (Family::Gemini, "gemini-2.5-flash", (true, true)),
            (Family::Vertex, "gemini-2.5-flash", (true, true)),
            (Family::OpenAiChat, "google/gemini-2.5-flash", (true, false)),
            (Family::OpenAiResponses, "google/gemini-2.5-flash", (false, false)),
            (Family::Vertex, "claude-sonnet-4-6", (false, false)),
            (Family::OpenAiChat, "gpt-4o", (false, false)),
            (Family::Gemini, "unknown", (false, false)),
        ] {
            assert_eq!(taken(&at(family), name), expected, "{family:?} {name}");
        }
        let all = Some(true);
        let said = KnownModel { name: "omni".into(), audio: all, video: all, ..KnownModel::default() };
        for (family, expected) in [
            (Family::Gemini, (true, true)),
            (Family::OpenAiChat, (true, false)),
            (Family::Anthropic, (false, false)),
            (Family::Ollama, (false, false)),
        ] {
            assert_eq!(taken(&ProviderConfig { known: vec![said.clone()], ..at(family) }, "omni"), expected);
        }
    }
}
