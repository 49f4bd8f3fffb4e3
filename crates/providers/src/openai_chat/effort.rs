//! How a request asks for more or less thinking, in the words of each server.

use bosun_model::{ChatRequest, Effort, ModelInfo};
use serde::Serialize;

use super::levels;
use crate::anthropic::always;
use crate::preset::EffortField;

/// The fields of the request; at most one is there.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Asked {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Switch>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Level {
    effort: &'static str,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Switch {
    r#type: &'static str,
}

/// Servers that know only on and off think at every level. A word for a level is sent only to models that are known to
/// think: the others refuse it.
pub(super) fn asked(request: &ChatRequest, info: &ModelInfo, field: EffortField) -> Asked {
    let Some(effort) = request.effort else { return Asked::default() };
    let (thinks, on) = (info.abilities.reasoning, effort != Effort::Off);
    match field {
        EffortField::ReasoningEffort if thinks => {
            Asked { reasoning_effort: Some(levels::at_chat(&info.name, effort)), ..Asked::default() }
        }
        EffortField::OfMistral if thinks => {
            Asked { reasoning_effort: levels::of_mistral(&info.name, effort), ..Asked::default() }
        }
        EffortField::Reasoning => {
            let effort = if on { levels::at_openrouter(&info.name, effort) } else { off(&info.name) };
            Asked { reasoning: Some(Level { effort }), ..Asked::default() }
        }
        EffortField::EnableThinking if thinks => Asked { enable_thinking: Some(on), ..Asked::default() },
        EffortField::Thinking if thinks => {
            let switch = Switch { r#type: if on { "enabled" } else { "disabled" } };
            Asked { thinking: Some(switch), ..Asked::default() }
        }
        _ => Asked::default(),
    }
}

/// The least that a model of OpenRouter's takes: one that always thinks refuses to be told not to.
fn off(model: &str) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or(model);
    if levels::thinks_by_name(name) {
        return levels::at_chat(name, Effort::Off);
    }
    if always_thinks(model) { "low" } else { "none" }
}

/// Whether a model thinks also where it is told not to, by the name that its vendor, a gateway or a cloud calls it by; it is
/// asked for the least then.
pub fn always_thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_told_off = levels::word(name, Effort::Off) == "none";
    let is_gpt = levels::thinks_by_name(name) && !is_told_off;
    is_gpt || always(model) || name.starts_with("gpt-oss") || gemini_always(name)
}

/// Whether a model of Gemini's cannot do without thinking.
fn gemini_always(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("gemini-") else { return false };
    !rest.starts_with(['1', '2']) || (rest.starts_with("2.5") && rest.contains("pro"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::info;

    fn ask(model: &str, effort: Effort, field: EffortField) -> Value {
        let request = ChatRequest { effort: Some(effort), ..ChatRequest::default() };
        serde_json::to_value(asked(&request, &info(model), field)).unwrap()
    }

    #[test]
    fn each_server_is_asked_in_its_own_words() {
        use EffortField::{EnableThinking, None, OfMistral, Reasoning, ReasoningEffort, Thinking};
        assert_eq!(ask("o4-mini", Effort::Max, ReasoningEffort), json!({ "reasoning_effort": "high" }));
        assert_eq!(ask("gpt-4.1", Effort::High, ReasoningEffort), json!({}));
        assert_eq!(ask("any/model", Effort::Off, Reasoning), json!({ "reasoning": { "effort": "none" } }));
        for (model, word) in [
            ("anthropic/claude-opus-5.5", "low"),
            ("anthropic/claude-opus-5", "none"),
            ("openai/o4-mini", "low"),
            ("openai/gpt-5", "minimal"),
            ("openai/gpt-5.4", "none"),
            ("google/gemini-3.7-flash", "low"),
            ("google/gemini-2.5-flash", "none"),
        ] {
            assert_eq!(ask(model, Effort::Off, Reasoning), json!({ "reasoning": { "effort": word } }), "{model}");
        }
        for (model, word) in [
            ("openai/gpt-6-astra", "max"),
            ("openai/gpt-5.6-sol", "max"),
            ("openai/gpt-5.5", "xhigh"),
            ("openai/o4-mini", "high"),
            ("anthropic/claude-opus-5.5", "max"),
            ("anthropic/claude-haiku-4.5", "xhigh"),
            ("z-ai/glm-5", "xhigh"),
        ] {
            assert_eq!(ask(model, Effort::Max, Reasoning), json!({ "reasoning": { "effort": word } }), "{model}");
        }
        assert_eq!(ask("mistral-medium-latest", Effort::Max, OfMistral), json!({ "reasoning_effort": "high" }));
        assert_eq!(ask("mistral-medium-2508", Effort::Max, OfMistral), json!({}), "it does not think");
        assert_eq!(ask("qwen3.7-max", Effort::Off, EnableThinking), json!({ "enable_thinking": false }));
        assert_eq!(ask("deepseek-v4-pro", Effort::Low, Thinking), json!({ "thinking": { "type": "enabled" } }));
        assert_eq!(ask("o4-mini", Effort::High, None), json!({}));
    }

    #[test]
    fn who_always_thinks_goes_by_the_name() {
        for model in
            ["o3", "gpt-5-mini", "gpt-oss:20b", "openai/gpt-oss-120b", "gemini-2.5-pro", "gemini-3-flash-preview"]
        {
            assert!(always_thinks(model), "{model}");
        }
        for model in ["us.anthropic.claude-opus-5-5-v1:0", "anthropic/claude-fable-5.1"] {
            assert!(always_thinks(model), "{model}");
        }
        for model in
            ["gpt-5.4", "gpt-4.1", "gemini-2.5-flash", "claude-opus-5", "claude-sonnet-5-5", "qwen3:8b", "olmo"]
        {
            assert!(!always_thinks(model), "{model}");
        }
    }
}
