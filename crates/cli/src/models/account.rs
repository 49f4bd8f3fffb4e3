use bosun_providers::{Family, host_of, tour};
use bosun_store::ProviderAccount;

/// A provider that is known without being set up.
struct Preset {
    id: &'static str,
    family: Family,
    base_url: &'static str,
    /// Environment variables its key may stand in, as its own tools read them.
    variables: &'static [&'static str],
}

/// The same as the desktop's.
const PRESETS: [Preset; 8] = [
    Preset {
        id: "anthropic",
        family: Family::Anthropic,
        base_url: "https://api.anthropic.com",
        variables: &["ANTHROPIC_API_KEY"],
    },
    Preset {
        id: "openai",
        family: Family::OpenAiChat,
        base_url: "https://api.openai.com/v1",
        variables: &["OPENAI_API_KEY"],
    },
    Preset {
        id: "deepseek",
        family: Family::OpenAiChat,
        base_url: "https://api.deepseek.com/v1",
        variables: &["DEEPSEEK_API_KEY"],
    },
    Preset {
        id: "qwen",
        family: Family::OpenAiChat,
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        variables: &["DASHSCOPE_API_KEY"],
    },
    local("ollama", "http://localhost:11434/v1"),
    local("lmstudio", "http://localhost:1234/v1"),
    local("llamacpp", "http://localhost:8080/v1"),
    local("vllm", "http://localhost:8000/v1"),
];

const fn local(id: &'static str, base_url: &'static str) -> Preset {
    Preset { id, family: Family::OpenAiChat, base_url, variables: &[] }
}

/// Every variable that may hold a provider's key.
pub(crate) fn key_variables() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().flat_map(|preset| preset.variables.iter().copied())
}

/// The names of the built-in providers.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.id).chain([tour::PROVIDER])
}

/// A provider as it is used: a preset, a preset with the user's changes, or the user's own.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub id: String,
    pub family: Family,
    pub base_url: String,
    pub variables: &'static [&'static str],
}

impl Account {
    pub(super) fn preset(id: &str) -> Option<Self> {
        let preset = preset(id)?;
        let (id, base_url) = (preset.id.to_owned(), preset.base_url.to_owned());
        Some(Self { id, family: preset.family, base_url, variables: preset.variables })
    }

    /// `None` for a family that a newer Bosun wrote.
    pub(super) fn stored(account: ProviderAccount) -> Option<Self> {
        let family = match account.family.as_str() {
            "anthropic" => Family::Anthropic,
            "openai_chat" => Family::OpenAiChat,
            unknown => {
                tracing::warn!(account = account.id, family = unknown, "an account of an unknown family is left out");
                return None;
            }
        };
        let variables = preset(&account.id).map_or(&[][..], |preset| preset.variables);
        Some(Self { id: account.id, family, base_url: account.base_url, variables })
    }

    /// The host that the vendor's environment variable is meant for.
    pub(super) fn home(&self) -> Option<String> {
        host_of(preset(&self.id)?.base_url).ok()
    }
}

fn preset(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}
