//! The providers that Bosun knows without being told, each a row of data.

use bosun_model::ChatRequest;

use crate::cloud;
use crate::endpoint::Endpoint;
use crate::{Family, bedrock, host_of, vertex};

/// A provider that is known beforehand.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    pub id: &'static str,
    /// Its name for people.
    pub label: &'static str,
    pub family: Family,
    /// What is spoken when the user moves it to another address.
    pub elsewhere: Elsewhere,
    pub base_url: &'static str,
    /// Environment variables its key may stand in, as its own tools read them. Empty: it wants no key.
    pub variables: &'static [&'static str],
    /// Where a person gets a key.
    pub key_page: Option<&'static str>,
    pub quirks: Quirks,
}

/// What a preset speaks at an address that is not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    Same,
    /// Gateways in front of it offer Chat Completions.
    Chat,
    /// Chat Completions where the base URL ends in `/v1`, else its own.
    ChatBelowV1,
}

/// How a server of [`Family::OpenAiChat`] differs from the vendor of that wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    pub limit: LimitField,
    pub effort: EffortField,
    pub schema: SchemaField,
    pub usage: UsageReport,
    pub cache: CacheField,
    pub prices: PriceList,
    pub thoughts: ThoughtsBack,
    pub forced: Forced,
    pub documents: DocumentPart,
    pub results: ResultPart,
    pub cost: CostReport,
}

/// What a result may hold beside text, over OpenAI Responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// Images and documents.
    All,
    /// Images; a document goes beside it, into a message of the user (xAI).
    Images,
}

/// What of a call's cost comes with its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReport {
    None,
    /// US dollars as `cost`, and what the account of another is charged beside them (OpenRouter).
    Dollars,
}

/// As what a PDF goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentPart {
    /// A part of type `file`, as the vendor of the wire has it.
    File,
    /// A part of type `document_url` (Mistral).
    DocumentUrl,
    /// There is no such part; its name goes in its place.
    None,
}

/// Where a server wants back what its model thought aloud (`reasoning_content`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThoughtsBack {
    /// With replies that made calls, once it thought in the conversation.
    OfCalls,
    /// With every reply, whoever made it, as soon as its model thinks; this stands where nothing was thought. Moonshot takes
    /// an empty text for a missing one.
    Always(&'static str),
}

/// What becomes of a tool that must be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    Taken,
    /// It is refused while the model thinks.
    Unthinking,
    /// The model always chooses itself.
    Never,
}

/// The field that limits the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitField {
    MaxTokens,
    /// Newer models of the vendor refuse the old name.
    MaxCompletionTokens,
}

/// How a request asks for more or less thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortField {
    /// None that is known. `reasoning_effort` goes to models of OpenAI's that think, as they are called; for others the level is
    /// left out.
    None,
    /// `reasoning_effort`.
    ReasoningEffort,
    /// `reasoning_effort` in Mistral's words: on and off, for most of its models.
    OfMistral,
    /// `reasoning: { effort }` (OpenRouter).
    Reasoning,
    /// `enable_thinking` (DashScope), on or off; `reasoning_effort` beside it for lines that have levels.
    EnableThinking,
    /// `thinking: { type }` (Zhipu, Moonshot, DeepSeek), on or off; `reasoning_effort` beside it, or in its place, for lines
    /// that have levels.
    Thinking,
}

/// How a request asks for JSON of a given shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaField {
    /// `response_format` with the schema.
    JsonSchema,
    /// `response_format` that asks for JSON only; the schema goes into the prompt.
    JsonObject,
}

/// How usage comes with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageReport {
    /// When `stream_options` ask for it.
    Asked,
    /// By itself; the server refuses fields it does not know.
    Always,
}

/// How a request asks for its prompt to be kept in the provider's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheField {
    /// Not at all: the server caches by itself where it does.
    None,
    /// `cache_control` at what is to be kept, for the models of Anthropic, which cache nothing else (OpenRouter).
    OfAnthropic,
    /// `prompt_cache_key`, by which requests of one conversation find the machine that has its beginning (OpenAI, Azure, xAI).
    Key,
}

/// What the figures under `pricing` in its list of models are, which nothing in the list says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceList {
    /// There are none, or none that are understood.
    None,
    /// US dollars a token (OpenRouter).
    PerToken,
    /// US dollars a million tokens (Together).
    PerMillion,
}

impl Quirks {
    /// What most servers do, and none refuses.
    pub const COMMON: Self = Self {
        limit: LimitField::MaxTokens,
        effort: EffortField::None,
        schema: SchemaField::JsonSchema,
        usage: UsageReport::Asked,
        cache: CacheField::None,
        prices: PriceList::None,
        thoughts: ThoughtsBack::OfCalls,
        forced: Forced::Taken,
        documents: DocumentPart::File,
        results: ResultPart::All,
        cost: CostReport::None,
    };

    /// Of servers that run open models, which take no documents.
    const OPEN: Self = Self { documents: DocumentPart::None, ..Self::COMMON };

    const fn effort(effort: EffortField) -> Self {
        Self { effort, ..Self::COMMON }
    }

    /// Of DeepSeek, Moonshot and Zhipu: a switch for thinking, and JSON whose shape nobody checks.
    const SWITCHED: Self = Self {
        effort: EffortField::Thinking,
        schema: SchemaField::JsonObject,
        forced: Forced::Unthinking,
        ..Self::OPEN
    };

    const MOONSHOT: Self = Self { thoughts: ThoughtsBack::Always(" "), ..Self::SWITCHED };

    const ZHIPU: Self = Self { forced: Forced::Never, ..Self::SWITCHED };

    const QWEN: Self = Self { effort: EffortField::EnableThinking, ..Self::SWITCHED };

    const OPENAI: Self = Self {
        limit: LimitField::MaxCompletionTokens,
        effort: EffortField::ReasoningEffort,
        cache: CacheField::Key,
        ..Self::COMMON
    };

    /// Longest `prompt_cache_key` that is taken.
    const LONGEST_KEY: usize = 64;

    /// What `request` sends as `prompt_cache_key`.
    pub(crate) fn cache_key(self, request: &ChatRequest) -> Option<&str> {
        let is_taken = |key: &&str| self.cache == CacheField::Key && key.len() <= Self::LONGEST_KEY;
        request.conversation.as_deref().filter(is_taken)
    }

    /// Those of the preset that lives at `host`; [`Self::COMMON`] where none does.
    pub(crate) fn of_host(host: &str) -> Self {
        PRESETS.iter().find(|preset| preset.is_home(host)).map_or(Self::COMMON, |preset| preset.quirks)
    }
}

impl Preset {
    /// Whether `host` (as [`host_of`] gives it) is its own.
    pub fn is_home(&self, host: &str) -> bool {
        match self.family {
            Family::Bedrock => bedrock::is_home(host),
            Family::Vertex => vertex::is_home(host),
            // Every resource has a host of its own.
            _ if self.id == "azure" => is_azure(host),
            _ => host_of(self.base_url).is_ok_and(|home| home == host),
        }
    }

    /// Whether `host` is the one in its row, to be completed by a name that only the user knows.
    pub(crate) fn is_unnamed(&self, host: &str) -> bool {
        self.place_in(host).is_some()
    }

    /// What stands in `host` for a name that only the user knows.
    pub(crate) fn place_in(&self, host: &str) -> Option<&'static str> {
        let is_place = self.id == "azure" && host.strip_suffix(AZURE) == Some(AZURE_PLACE);
        is_place.then_some(AZURE_PLACE)
    }

    /// Whether it is a server on this machine.
    pub fn is_local(&self) -> bool {
        Endpoint::parse(self.id, self.family, self.base_url).is_ok_and(|endpoint| endpoint.loopback)
    }

    /// Whether it speaks `family` at some address.
    pub fn speaks(&self, family: Family) -> bool {
        family == self.family || (family == Family::OpenAiChat && self.elsewhere != Elsewhere::Same)
    }

    /// The family spoken at `base_url`.
    pub fn family_at(&self, base_url: &str) -> Family {
        if let Some(named) = named_wire(base_url).filter(|named| self.speaks(*named)) {
            return named;
        }
        let home = host_of(base_url).is_ok_and(|host| self.is_home(&host));
        let below_v1 = path_end(base_url).ends_with("/v1");
        match self.elsewhere {
            Elsewhere::Chat if !home => Family::OpenAiChat,
            Elsewhere::ChatBelowV1 if below_v1 => Family::OpenAiChat,
            _ => self.family,
        }
    }
}

/// Which of OpenAI's wires an address names with its last words, as servers' own documents write it: what stands in front of
/// OpenAI mostly speaks the older one, and some resources have nothing else.
pub(crate) fn named_wire(base_url: &str) -> Option<Family> {
    let address = path_end(base_url);
    let wires = [("/responses", Family::OpenAiResponses), ("/chat/completions", Family::OpenAiChat)];
    wires.into_iter().find(|(end, _)| address.ends_with(end)).map(|(_, family)| family)
}

/// An address to the end of its path: Azure's have a version behind it (`?api-version=…`).
fn path_end(base_url: &str) -> &str {
    base_url.split(['?', '#']).next().unwrap_or_default().trim().trim_end_matches('/')
}

/// The preset of that id.
pub fn preset(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}

/// Every variable that may hold a provider's key.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().flat_map(|preset| preset.variables.iter().copied()).chain(cloud::SECRET_VARIABLES)
}

/// Where the resources of Azure OpenAI are.
const AZURE: &str = ".openai.azure.com";
/// Where those of Foundry are too, each of which has all three
/// (<https://learn.microsoft.com/azure/foundry/foundry-models/concepts/endpoints>).
const FOUNDRY: [&str; 2] = [".services.ai.azure.com", ".cognitiveservices.azure.com"];

/// Whether a host is that of a resource at Azure.
pub(crate) fn is_azure(host: &str) -> bool {
    [AZURE].iter().chain(&FOUNDRY).any(|end| host.ends_with(end))
}

/// What stands in front of it until the user names their resource.
const AZURE_PLACE: &str = "your_resource";

const fn vendor(
    id: &'static str,
    label: &'static str,
    base_url: &'static str,
    variables: &'static [&'static str],
    key_page: &'static str,
    quirks: Quirks,
) -> Preset {
    let (family, elsewhere) = (Family::OpenAiChat, Elsewhere::Same);
    Preset { id, label, family, elsewhere, base_url, variables, key_page: Some(key_page), quirks }
}

const fn local(id: &'static str, label: &'static str, base_url: &'static str) -> Preset {
    let (family, elsewhere, quirks) = (Family::OpenAiChat, Elsewhere::Same, Quirks::OPEN);
    Preset { id, label, family, elsewhere, base_url, variables: &[], key_page: None, quirks }
}

/// In the order they are shown: vendors, gateways, then servers on this machine.
pub const PRESETS: &[Preset] = &[
    Preset {
        family: Family::Anthropic,
        ..vendor(
            "anthropic",
            "Anthropic",
            "https://api.anthropic.com",
            &["ANTHROPIC_API_KEY"],
            "https://console.anthropic.com/settings/keys",
            Quirks::COMMON,
        )
    },
    Preset {
        family: Family::OpenAiResponses,
        elsewhere: Elsewhere::Chat,
        ..vendor(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            &["OPENAI_API_KEY"],
            "https://platform.openai.com/api-keys",
            Quirks::OPENAI,
        )
    },
    Preset {
        family: Family::Gemini,
        ..vendor(
            "google",
            "Google Gemini",
            "https://generativelanguage.googleapis.com",
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            "https://aistudio.google.com/apikey",
            Quirks::COMMON,
        )
    },
    vendor(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/v1",
        &["DEEPSEEK_API_KEY"],
        "https://platform.deepseek.com/api_keys",
        Quirks { thoughts: ThoughtsBack::Always(""), ..Quirks::SWITCHED },
    ),
    vendor(
        "qwen",
        "Qwen (Model Studio)",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_API_KEY"],
        "https://bailian.console.aliyun.com/?tab=model#/api-key",
        Quirks::QWEN,
    ),
    vendor(
        "qwen-intl",
        "Qwen (Model Studio, international)",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_INTL_API_KEY", "DASHSCOPE_API_KEY"],
        "https://modelstudio.console.alibabacloud.com/?tab=model#/api-key",
        Quirks::QWEN,
    ),
    vendor(
        "moonshot",
        "Moonshot AI (Kimi)",
        "https://api.moonshot.ai/v1",
        &["MOONSHOT_API_KEY"],
        "https://platform.moonshot.ai/console/api-keys",
        Quirks::MOONSHOT,
    ),
    vendor(
        "moonshot-cn",
        "Moonshot AI (Kimi, China)",
        "https://api.moonshot.cn/v1",
        &["MOONSHOT_CN_API_KEY", "MOONSHOT_API_KEY"],
        "https://platform.moonshot.cn/console/api-keys",
        Quirks::MOONSHOT,
    ),
    vendor(
        "zhipu",
        "Zhipu (GLM)",
        "https://open.bigmodel.cn/api/paas/v4",
        &["ZHIPUAI_API_KEY", "ZHIPU_API_KEY"],
        "https://open.bigmodel.cn/usercenter/apikeys",
        Quirks::ZHIPU,
    ),
    vendor(
        "zai",
        "Z.ai (GLM, international)",
        "https://api.z.ai/api/paas/v4",
        &["ZAI_API_KEY"],
        "https://z.ai/manage-apikey/apikey-list",
        Quirks::ZHIPU,
    ),
    vendor(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        &["MISTRAL_API_KEY"],
        "https://console.mistral.ai/api-keys",
        Quirks {
            usage: UsageReport::Always,
            documents: DocumentPart::DocumentUrl,
            ..Quirks::effort(EffortField::OfMistral)
        },
    ),
    Preset {
        // Its Chat Completions, which it deprecates, has no field for what its models thought.
        family: Family::OpenAiResponses,
        elsewhere: Elsewhere::Chat,
        ..vendor(
            "xai",
            "xAI",
            "https://api.x.ai/v1",
            &["XAI_API_KEY"],
            "https://console.x.ai",
            Quirks {
                cache: CacheField::Key,
                results: ResultPart::Images,
                ..Quirks::effort(EffortField::ReasoningEffort)
            },
        )
    },
    vendor(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        &["GROQ_API_KEY"],
        "https://console.groq.com/keys",
        Quirks { limit: LimitField::MaxCompletionTokens, effort: EffortField::ReasoningEffort, ..Quirks::OPEN },
    ),
    vendor(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
        "https://openrouter.ai/settings/keys",
        Quirks {
            cache: CacheField::OfAnthropic,
            prices: PriceList::PerToken,
            cost: CostReport::Dollars,
            ..Quirks::effort(EffortField::Reasoning)
        },
    ),
    vendor(
        "together",
        "Together AI",
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
        "https://api.together.ai/settings/api-keys",
        Quirks { prices: PriceList::PerMillion, ..Quirks::OPEN },
    ),
    Preset {
        family: Family::OpenAiResponses,
        elsewhere: Elsewhere::Chat,
        ..vendor(
            "azure",
            "Azure OpenAI",
            // To be completed with a resource's name. No name has an underscore in it, so that this is nobody's address.
            "https://your_resource.openai.azure.com/openai/v1",
            &["AZURE_OPENAI_API_KEY"],
            "https://ai.azure.com",
            Quirks::OPENAI,
        )
    },
    Preset {
        family: Family::Bedrock,
        ..vendor(
            "bedrock",
            "Amazon Bedrock",
            "https://bedrock-runtime.us-east-1.amazonaws.com",
            &["AWS_BEARER_TOKEN_BEDROCK"],
            "https://console.aws.amazon.com/bedrock/home#/api-keys",
            Quirks::COMMON,
        )
    },
    Preset {
        family: Family::Vertex,
        ..vendor(
            "vertex",
            "Google Vertex AI",
            "https://aiplatform.googleapis.com",
            &["CLOUDSDK_AUTH_ACCESS_TOKEN"],
            "https://console.cloud.google.com/vertex-ai",
            Quirks::COMMON,
        )
    },
    Preset {
        family: Family::Ollama,
        elsewhere: Elsewhere::ChatBelowV1,
        ..local("ollama", "Ollama", "http://localhost:11434")
    },
    local("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    local("llamacpp", "llama.cpp", "http://localhost:8080/v1"),
    local("vllm", "vLLM", "http://localhost:8000/v1"),
    // It hands on what others take.
    Preset { quirks: Quirks::COMMON, ..local("litellm", "LiteLLM", "http://localhost:4000/v1") },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_is_sound() {
        let ids: HashSet<_> = PRESETS.iter().map(|preset| preset.id).collect();
        assert_eq!(ids.len(), PRESETS.len());
        for preset in PRESETS {
            let endpoint = Endpoint::parse(preset.id, preset.family, preset.base_url).unwrap();
            assert_eq!(preset.is_local(), preset.variables.is_empty(), "{}", preset.id);
            assert_eq!(preset.is_local(), preset.key_page.is_none(), "{}", preset.id);
            assert_eq!(endpoint.is_plain(), preset.is_local(), "{}", preset.id);
            assert_eq!(preset.family_at(preset.base_url), preset.family, "{}", preset.id);
            assert!(preset.key_page.is_none_or(|page| page.starts_with("https://")), "{}", preset.id);
        }
        assert_eq!(key_variables().next(), Some("ANTHROPIC_API_KEY"));
    }

    #[test]
    fn the_family_goes_by_the_address() {
        let family = |id: &str, base_url: &str| preset(id).unwrap().family_at(base_url);
        assert_eq!(family("openai", "https://api.openai.com/v1/"), Family::OpenAiResponses);
        assert_eq!(family("openai", "https://gate.example/v1"), Family::OpenAiChat);
        assert_eq!(family("azure", "https://acme.openai.azure.com/openai/v1"), Family::OpenAiResponses);
        assert_eq!(family("azure", "https://acme.openai.azure.com/openai/v1/chat/completions"), Family::OpenAiChat);
        assert_eq!(family("openai", "https://gate.example/v1/responses/"), Family::OpenAiResponses);
        assert_eq!(family("deepseek", "https://gate.example/v1/responses"), Family::OpenAiChat, "which has no other");
        assert_eq!(family("ollama", "http://10.0.0.7:11434"), Family::Ollama);
        assert_eq!(family("ollama", "http://localhost:11434/v1"), Family::OpenAiChat);
        assert_eq!(family("anthropic", "https://gate.example"), Family::Anthropic);
        for preset in PRESETS {
            assert!(preset.speaks(preset.family) && preset.speaks(preset.family_at("https://gate.example/v1")));
        }
        assert!(!preset("anthropic").unwrap().speaks(Family::OpenAiChat));
    }

    #[test]
    fn quirks_go_by_the_host_and_not_by_the_name() {
        assert_eq!(Quirks::of_host("api.openai.com").limit, LimitField::MaxCompletionTokens);
        assert_eq!(Quirks::of_host("mine.openai.azure.com").limit, LimitField::MaxCompletionTokens);
        for host in ["mine.services.ai.azure.com", "mine.cognitiveservices.azure.com"] {
            assert_eq!(Quirks::of_host(host), Quirks::OPENAI, "{host}");
            let address = format!("https://{host}/openai/v1");
            assert_eq!(preset("azure").unwrap().family_at(&address), Family::OpenAiResponses, "{host}");
        }
        assert_eq!(Quirks::of_host("openai.azure.com.evil.example"), Quirks::COMMON);
        assert_eq!(Quirks::of_host("evilservices.ai.azure.com"), Quirks::COMMON);
        assert_eq!(Quirks::of_host("api.mistral.ai").usage, UsageReport::Always);
        assert_eq!(Quirks::of_host("gateway.example"), Quirks::COMMON);
    }
}
