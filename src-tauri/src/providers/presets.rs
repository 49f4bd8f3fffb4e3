use bosun_protocol::ProviderFamily;

/// A provider that Bosun knows without being told.
#[derive(Debug)]
pub(crate) struct Preset {
    pub id: &'static str,
    pub label: &'static str,
    pub family: ProviderFamily,
    pub base_url: &'static str,
    /// Environment variables its key may stand in, as its own tools read them.
    pub variables: &'static [&'static str],
}

/// In the order they are shown: vendors, then servers on this machine.
pub(crate) const PRESETS: [Preset; 8] = [
    Preset {
        id: "anthropic",
        label: "Anthropic",
        family: ProviderFamily::Anthropic,
        base_url: "https://api.anthropic.com",
        variables: &["ANTHROPIC_API_KEY"],
    },
    Preset {
        id: "openai",
        label: "OpenAI",
        family: ProviderFamily::OpenaiChat,
        base_url: "https://api.openai.com/v1",
        variables: &["OPENAI_API_KEY"],
    },
    Preset {
        id: "deepseek",
        label: "DeepSeek",
        family: ProviderFamily::OpenaiChat,
        base_url: "https://api.deepseek.com/v1",
        variables: &["DEEPSEEK_API_KEY"],
    },
    Preset {
        id: "qwen",
        label: "Qwen (Model Studio)",
        family: ProviderFamily::OpenaiChat,
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        variables: &["DASHSCOPE_API_KEY"],
    },
    Preset {
        id: "ollama",
        label: "Ollama",
        family: ProviderFamily::OpenaiChat,
        base_url: "http://localhost:11434/v1",
        variables: &[],
    },
    Preset {
        id: "lmstudio",
        label: "LM Studio",
        family: ProviderFamily::OpenaiChat,
        base_url: "http://localhost:1234/v1",
        variables: &[],
    },
    Preset {
        id: "llamacpp",
        label: "llama.cpp",
        family: ProviderFamily::OpenaiChat,
        base_url: "http://localhost:8080/v1",
        variables: &[],
    },
    Preset {
        id: "vllm",
        label: "vLLM",
        family: ProviderFamily::OpenaiChat,
        base_url: "http://localhost:8000/v1",
        variables: &[],
    },
];

pub(crate) fn preset(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}

/// Every variable that may hold a provider's key.
pub(crate) fn key_variables() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().flat_map(|preset| preset.variables.iter().copied())
}
