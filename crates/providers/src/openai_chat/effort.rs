//! How a request asks for more or less thinking, in the words of each server.

use bosun_model::{ChatRequest, Effort, ModelInfo};
use serde::Serialize;

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
            Asked { reasoning_effort: Some(level(&info.name, effort)), ..Asked::default() }
        }
        EffortField::Reasoning => {
            let effort = if on { level("", effort) } else { off(&info.name) };
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
    match level(model, Effort::Off) {
        "low" if !always_thinks(model) => "none",
        word => word,
    }
}

/// Whether a model thinks also where it is told not to, by the name that its vendor, a gateway or a cloud calls it by; it is
/// asked for the least then.
pub fn always_thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let has_number =
        |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_first_five = name.starts_with("gpt-5") && level(name, Effort::Off) != "none";
    always(model) || has_number("o") || name.starts_with("gpt-oss") || is_first_five || gemini_always(name)
}

/// Whether a model of Gemini's cannot do without thinking.
fn gemini_always(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("gemini-") else { return false };
    !rest.starts_with(['1', '2']) || (rest.starts_with("2.5") && rest.contains("pro"))
}

/// The word for a level. Only later models of the wire's own vendor can do without thinking or go beyond `high`.
pub(crate) fn level(model: &str, effort: Effort) -> &'static str {
    let model = model.rsplit('/').next().unwrap_or(model);
    let five = model.strip_prefix("gpt-5");
    let minor = five.and_then(|rest| rest.strip_prefix('.')?.split('-').next()?.parse::<u32>().ok());
    match (effort, five, minor) {
        (Effort::Off, Some(_), Some(1..)) => "none",
        (Effort::Off, Some(_), None) => "minimal",
        (Effort::Max, Some(_), Some(2..)) => "xhigh",
        (Effort::Off | Effort::Low, ..) => "low",
        (Effort::Medium, ..) => "medium",
        (Effort::High | Effort::Max, ..) => "high",
    }
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
        use EffortField::{EnableThinking, None, Reasoning, ReasoningEffort, Thinking};
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

    #[test]
    fn levels_that_only_later_models_have() {
        assert_eq!((level("gpt-5.4-mini", Effort::Off), level("gpt-5.4-mini", Effort::Max)), ("none", "xhigh"));
        assert_eq!((level("gpt-5-mini", Effort::Off), level("gpt-5-mini", Effort::Max)), ("minimal", "high"));
        assert_eq!((level("o4-mini", Effort::Off), level("o4-mini", Effort::Max)), ("low", "high"));
    }
}
