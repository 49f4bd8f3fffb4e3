//! Which levels of thinking come to something for a model, found out by writing requests as its adapter writes them.

use bosun_model::{ChatRequest, Effort, ModelError};

use crate::adapter::adapter;
use crate::endpoint::Endpoint;
use crate::{ProviderConfig, catalogue};

const LEVELS: [Effort; 5] = [Effort::Off, Effort::Low, Effort::Medium, Effort::High, Effort::Max];

/// For each level the one that is offered and comes to the same; empty where the server is told nothing of any, or the model
/// does not think.
///
/// Nothing is sent. Levels that are written alike are offered as one: as off where that is among them, else as high, else as
/// the highest.
///
/// # Errors
/// A base URL that cannot be used.
pub fn effort_levels(config: &ProviderConfig, name: &str) -> Result<Vec<(Effort, Effort)>, ModelError> {
    let name = name.trim();
    let endpoint = Endpoint::parse(&config.id, config.family, &config.base_url)?;
    // Who pays is no matter of levels.
    let adapter = adapter(&endpoint, config.family, name, Some("project"));
    let info = config.ready(catalogue::info(&config.id, &endpoint.host, name));
    let written = |effort| {
        let request = ChatRequest { effort, max_output: info.max_output, ..ChatRequest::default() };
        let mut tail = Vec::new();
        adapter.tail(&request, &info, &mut tail).map(|()| tail).unwrap_or_default()
    };
    let unsaid = written(None);
    let all: Vec<_> = LEVELS.into_iter().map(|level| (level, written(Some(level)))).collect();
    let reaches = |level: Effort, tail: &[u8]| level == Effort::Off || *tail != *unsaid;
    let alike = |tail: &[u8]| {
        let levels: Vec<_> = all.iter().filter(|(_, other)| *other == *tail).map(|(level, _)| *level).collect();
        let known = [Effort::Off, Effort::High].into_iter().find(|level| levels.contains(level));
        known.or(levels.last().copied())
    };
    let told = all.iter().filter(|(level, tail)| reaches(*level, tail));
    let told: Vec<_> = told.filter_map(|(level, tail)| Some((*level, alike(tail)?))).collect();
    let is_choice = told.iter().any(|(_, offered)| *offered != Effort::Off);
    Ok(if is_choice { told } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::{Family, KnownModel, preset};

    /// What is offered of a preset's model.
    fn offered(id: &str, name: &str) -> Vec<Effort> {
        let preset = preset(id).unwrap();
        offered_at(&ProviderConfig::new(id, preset.family, preset.base_url), name)
    }

    fn offered_at(config: &ProviderConfig, name: &str) -> Vec<Effort> {
        let mut levels: Vec<_> = effort_levels(config, name).unwrap().into_iter().map(|(_, offered)| offered).collect();
        levels.dedup();
        levels
    }

    #[test]
    fn only_what_reaches_the_wire_is_offered() {
        use Effort::{High, Low, Max, Medium, Off};
        for (id, name, levels) in [
            ("anthropic", "claude-opus-4-6", &[Off, Low, Medium, High, Max][..]),
            ("anthropic", "claude-haiku-4-5", &[Off, Low, Medium, High, Max]),
            ("anthropic", "claude-opus-5-5", &[Off, Medium, High, Max]),
            ("openai", "gpt-5.6-sol", &[Off, Low, Medium, High, Max]),
            ("openai", "gpt-5.1", &[Off, Low, Medium, High]),
            ("anthropic", "claude-opus-6", &[Off, Medium, High, Max]),
            ("openai", "gpt-6-luna", &[Off, Low, Medium, High, Max]),
            ("openai", "gpt-6.1-sol", &[Off, Medium, High, Max]),
            ("google", "gemini-3.8-flash", &[Off, Low, Medium, High]),
            ("mistral", "magistral-medium-latest", &[Off, High]),
            ("mistral", "devstral-latest", &[]),
            ("openai", "gpt-4.1", &[]),
            ("openai", "gpt-5-pro", &[]),
            ("google", "gemini-2.5-flash", &[Off, Low, Medium, High, Max]),
            ("google", "gemini-2.0-flash", &[]),
            ("deepseek", "deepseek-v4-pro", &[Off, Low, High, Max]),
            ("deepseek", "deepseek-chat", &[]),
            ("moonshot", "kimi-k3", &[Off, High, Max]),
            ("moonshot", "kimi-k2.6", &[Off, High]),
            ("moonshot", "kimi-k2.7-code", &[]),
            ("zai", "glm-5.2", &[Off, High, Max]),
            ("qwen", "qwen3.7-max", &[Off, High]),
            ("xai", "grok-4.7", &[Off, Medium, High, Max]),
            ("xai", "grok-build-0.1", &[]),
            ("groq", "qwen/qwen3-32b", &[Off, High]),
            ("together", "zai-org/GLM-5.3", &[]),
            ("vllm", "qwen3", &[]),
            ("ollama", "llama3", &[]),
        ] {
            assert_eq!(offered(id, name), levels, "{id}:{name}");
        }
        let gate = ProviderConfig::new("gate", Family::OpenAiChat, "https://gate.example/v1");
        assert_eq!(offered_at(&gate, "openai/gpt-5.4"), [Off, Low, Medium, High, Max], "which hands it on");
        assert_eq!(offered_at(&gate, "their-newest"), []);
        let thinks = KnownModel { name: "qwen3:4b".into(), reasoning: Some(true), ..KnownModel::default() };
        let ollama = ProviderConfig::new("ollama", Family::Ollama, "http://localhost:11434").with_known([thinks]);
        assert_eq!(offered_at(&ollama, "qwen3:4b"), [Off, High]);
    }

    #[test]
    fn a_level_that_is_not_offered_is_the_one_that_comes_to_the_same() {
        let preset = preset("deepseek").unwrap();
        let config = ProviderConfig::new("deepseek", preset.family, preset.base_url);
        let levels = effort_levels(&config, "deepseek-v4-pro").unwrap();
        assert_eq!(levels[2], (Effort::Medium, Effort::High));
        assert_eq!(levels.len(), LEVELS.len());
    }
}
