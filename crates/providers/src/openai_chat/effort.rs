//! How a request asks for more or less thinking, in the words of each server.

use bosun_model::{Effort, ModelInfo};
use serde::Serialize;

use super::levels;
use super::lines::{self, Line, line};
use crate::anthropic::always;
use crate::catalogue;
use crate::preset::{EffortField, Forced, Quirks};

/// The fields of the request; a switch may have a word beside it, else at most one is there.
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

/// A word for a level is sent only to models that are known to think: the others refuse it. Where nothing is known of a
/// server, it is sent to those that the vendor of the wire made to think: a gateway hands it on to them.
pub(super) fn asked(effort: Option<Effort>, info: &ModelInfo, field: EffortField) -> Asked {
    let Some(effort) = effort else { return Asked::default() };
    let (thinks, on) = (info.abilities.reasoning, effort != Effort::Off);
    match field {
        EffortField::ReasoningEffort if thinks => {
            Asked { reasoning_effort: levels::at_chat(&info.name, effort), ..Asked::default() }
        }
        EffortField::None if thinks && levels::thinks_by_name(&info.name) => {
            Asked { reasoning_effort: levels::at_chat(&info.name, effort), ..Asked::default() }
        }
        EffortField::OfMistral if thinks => {
            Asked { reasoning_effort: Some(levels::of_mistral(&info.name, effort)), ..Asked::default() }
        }
        EffortField::Reasoning => {
            let effort = if on { levels::at_openrouter(&info.name, effort) } else { off(&info.name) };
            Asked { reasoning: Some(Level { effort }), ..Asked::default() }
        }
        EffortField::EnableThinking | EffortField::Thinking if thinks => switched(effort, &info.name, field),
        _ => Asked::default(),
    }
}

/// Where a server has a switch: that, and the word that a line takes beside it.
fn switched(effort: Effort, model: &str, field: EffortField) -> Asked {
    let Line { switch, words } = line(field, model);
    let on = effort != Effort::Off;
    let reasoning_effort = words.filter(|_| on || !switch).map(|words| levels::of(words, effort));
    let asked = Asked { reasoning_effort, ..Asked::default() };
    match field {
        _ if !switch => asked,
        EffortField::EnableThinking => Asked { enable_thinking: Some(on), ..asked },
        _ => {
            let switch = Switch { r#type: if on { "enabled" } else { "disabled" } };
            Asked { thinking: Some(switch), ..asked }
        }
    }
}

/// What becomes of a call that is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// It is.
    Taken,
    /// It is, by a model that is told not to think.
    Unthinking,
    /// The model is left to choose.
    Free,
}

/// Some servers refuse to force a model that thinks, which theirs do unless they are told not to; some never force one.
pub(super) fn force(info: &ModelInfo, quirks: Quirks) -> Force {
    match quirks.forced {
        Forced::Taken => Force::Taken,
        Forced::Never => Force::Free,
        Forced::Unthinking if info.abilities.reasoning => {
            if line(quirks.effort, &info.name).switch {
                Force::Unthinking
            } else {
                Force::Free
            }
        }
        // One that nothing is known of may think.
        Forced::Unthinking => {
            if catalogue::knows(&info.name) {
                Force::Taken
            } else {
                Force::Free
            }
        }
    }
}

/// The least that a model of OpenRouter's takes: one that always thinks refuses to be told not to.
fn off(model: &str) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or(model);
    if levels::thinks_by_name(name) {
        return levels::at_chat(name, Effort::Off).unwrap_or("low");
    }
    if always_thinks(model) { "low" } else { "none" }
}

/// Whether a model thinks also where it is told not to, by the name that its vendor, a gateway or a cloud calls it by; it is
/// asked for the least then.
pub fn always_thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_told_off = || levels::word(name, Effort::Off) == Some("none");
    let has_words =
        levels::thinks_by_name(name) || name.starts_with("grok-") && levels::word(name, Effort::Off).is_some();
    has_words && !is_told_off()
        || always(model)
        || lines::always(model)
        || name.starts_with("gpt-oss")
        || gemini_always(name)
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
        serde_json::to_value(asked(Some(effort), &info(model), field)).unwrap()
    }

    #[test]
    fn each_server_is_asked_in_its_own_words() {
        use EffortField::{EnableThinking, None, OfMistral, Reasoning, ReasoningEffort};
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
        assert_eq!(ask("o4-mini", Effort::High, None), json!({ "reasoning_effort": "high" }), "a gateway hands it on");
        assert_eq!(ask("claude-opus-5", Effort::High, None), json!({}));
        assert_eq!(ask("qwen/qwen3-32b", Effort::Low, ReasoningEffort), json!({ "reasoning_effort": "default" }));
    }

    #[test]
    fn servers_with_a_switch_are_told_the_word_that_a_line_takes() {
        use EffortField::{EnableThinking, Thinking};
        let (on, off) = (json!({ "type": "enabled" }), json!({ "type": "disabled" }));
        for (model, low, most) in [("deepseek-v4-pro", "low", "max"), ("glm-5.2", "high", "max")] {
            assert_eq!(ask(model, Effort::Off, Thinking), json!({ "thinking": off }), "{model}");
            assert_eq!(
                ask(model, Effort::Low, Thinking),
                json!({ "reasoning_effort": low, "thinking": on }),
                "{model}"
            );
            assert_eq!(
                ask(model, Effort::Max, Thinking),
                json!({ "reasoning_effort": most, "thinking": on }),
                "{model}"
            );
        }
        for model in ["kimi-k3", "kimi-k3.1-pro", "glm-5.3"] {
            assert_eq!(ask(model, Effort::Off, Thinking), json!({ "reasoning_effort": "low" }), "{model}");
            assert_eq!(ask(model, Effort::Medium, Thinking), json!({ "reasoning_effort": "high" }), "{model}");
            assert_eq!(ask(model, Effort::Max, Thinking), json!({ "reasoning_effort": "max" }), "{model}");
        }
        assert_eq!(ask("kimi-k2.6", Effort::Max, Thinking), json!({ "thinking": on }));
        for effort in [Effort::Off, Effort::High] {
            assert_eq!(ask("kimi-k2.7-code", effort, Thinking), json!({}), "it refuses to be told not to");
        }
        let eight = json!({ "reasoning_effort": "xhigh", "enable_thinking": true });
        assert_eq!(ask("qwen3.8-max", Effort::High, EnableThinking), eight);
        assert_eq!(ask("qwen3.8-max", Effort::Off, EnableThinking), json!({ "enable_thinking": false }));
    }

    #[test]
    fn who_always_thinks_goes_by_the_name() {
        for model in
            ["o3", "gpt-5-mini", "gpt-oss:20b", "openai/gpt-oss-120b", "gemini-2.5-pro", "gemini-3-flash-preview"]
        {
            assert!(always_thinks(model), "{model}");
        }
        for model in ["kimi-k3.1-pro", "moonshotai/kimi-k2.7-code", "glm-5.3-flash", "grok-4.5", "x-ai/grok-4.7"] {
            assert!(always_thinks(model), "{model}");
        }
        for model in ["grok-4.3", "grok-4.20-0309-non-reasoning", "deepseek-v4-pro", "glm-5.2", "kimi-k2.6"] {
            assert!(!always_thinks(model), "{model}");
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
