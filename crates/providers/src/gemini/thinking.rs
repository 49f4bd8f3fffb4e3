//! How a request asks Gemini to think more or less.

use bosun_model::{ChatRequest, Effort, ModelInfo};
use serde::Serialize;

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

/// Models of 2.5 take a budget in tokens, later ones a level; earlier ones do not think and refuse the field.
pub(super) fn asked(request: &ChatRequest, info: &ModelInfo) -> Option<ThinkingConfig> {
    let version = version(&info.name).filter(|version| *version >= (2, 5))?;
    let pro = info.name.contains("pro");
    let config = ThinkingConfig { include_thoughts: request.effort != Some(Effort::Off), ..ThinkingConfig::default() };
    Some(match request.effort {
        None => config,
        Some(effort) if version < (3, 0) => ThinkingConfig { thinking_budget: Some(budget(effort, pro)), ..config },
        Some(effort) => ThinkingConfig { thinking_level: Some(level(effort, pro, version)), ..config },
    })
}

/// From the third generation on, a call without its signature is refused.
pub(super) fn wants_signatures(name: &str) -> bool {
    version(name).is_some_and(|version| version >= (3, 0))
}

/// `gemini-2.5-flash` gives (2, 5). The vendor's names without a number (`gemini-flash-latest`) mean its newest.
fn version(name: &str) -> Option<(u32, u32)> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let rest = name.strip_prefix("gemini-")?;
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Some((major, minor)),
        _ => rest.ends_with("-latest").then_some((3, 0)),
    }
}

fn budget(effort: Effort, pro: bool) -> u32 {
    match effort {
        // The large one cannot do without.
        Effort::Off => {
            if pro {
                128
            } else {
                0
            }
        }
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::Max => 24_576,
    }
}

fn level(effort: Effort, pro: bool, version: (u32, u32)) -> &'static str {
    match effort {
        Effort::Off if !pro => "MINIMAL",
        Effort::Off | Effort::Low => "LOW",
        // The first large one knows two levels.
        Effort::Medium if pro && version == (3, 0) => "HIGH",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::Max => "HIGH",
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::info;

    fn ask(model: &str, effort: Option<Effort>) -> Value {
        serde_json::to_value(asked(&ChatRequest { effort, ..ChatRequest::default() }, &info(model))).unwrap()
    }

    #[test]
    fn each_generation_is_asked_in_its_own_words() {
        assert_eq!(ask("gemini-2.0-flash", Some(Effort::High)), Value::Null);
        assert_eq!(ask("gemma-3-27b-it", Some(Effort::High)), Value::Null);
        assert_eq!(ask("gemini-2.5-flash", None), json!({ "includeThoughts": true }));
        let off = json!({ "includeThoughts": false, "thinkingBudget": 0 });
        assert_eq!(ask("models/gemini-2.5-flash-lite", Some(Effort::Off)), off);
        let high = json!({ "includeThoughts": true, "thinkingLevel": "HIGH" });
        assert_eq!(ask("gemini-3-pro-preview", Some(Effort::Medium)), high);
        assert_eq!(ask("gemini-flash-latest", Some(Effort::Max)), high);
        let medium = json!({ "includeThoughts": true, "thinkingLevel": "MEDIUM" });
        assert_eq!(ask("gemini-3.1-pro-preview", Some(Effort::Medium)), medium);
    }

    #[test]
    fn signatures_are_wanted_from_the_third_generation_on() {
        assert!(wants_signatures("gemini-3-flash-preview") && wants_signatures("gemini-pro-latest"));
        assert!(!wants_signatures("gemini-2.5-pro") && !wants_signatures("gemini-custom"));
    }
}
