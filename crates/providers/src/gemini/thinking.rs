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

/// Models of 2.5 take a budget in tokens, later ones a level; earlier ones do not think and refuse the field. `leveled` is
/// false for a server that refused the level.
pub(super) fn asked(request: &ChatRequest, info: &ModelInfo, leveled: bool) -> Option<ThinkingConfig> {
    let version = version(&info.name).filter(|version| *version >= (2, 5))?;
    let kind = Kind::of(&info.name);
    let config = ThinkingConfig { include_thoughts: request.effort != Some(Effort::Off), ..ThinkingConfig::default() };
    Some(match request.effort.filter(|_| leveled) {
        None => config,
        Some(effort) if version < (3, 0) => ThinkingConfig { thinking_budget: Some(budget(effort, kind)), ..config },
        Some(effort) => ThinkingConfig { thinking_level: Some(level(effort, kind, version)), ..config },
    })
}

/// Which of a generation's models it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pro,
    Lite,
    /// The middle one, and what has a name of its own.
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        let has = |word| name.split('-').any(|part| part == word);
        match (has("pro"), has("lite")) {
            (true, _) => Self::Pro,
            (false, true) => Self::Lite,
            (false, false) => Self::Other,
        }
    }
}

/// From the third generation on, a call without its signature is refused.
pub(super) fn wants_signatures(name: &str) -> bool {
    version(name).is_some_and(|version| version >= (3, 0))
}

/// The newest that the vendor's names without a number may mean.
const NEWEST: (u32, u32) = (3, 8);

/// `gemini-2.5-flash` gives (2, 5). The vendor's names without a number (`gemini-flash-latest`) mean its newest.
fn version(name: &str) -> Option<(u32, u32)> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let rest = name.strip_prefix("gemini-")?;
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Some((major, minor)),
        _ => rest.ends_with("-latest").then_some(NEWEST),
    }
}

fn budget(effort: Effort, kind: Kind) -> u32 {
    match effort {
        // The large one cannot do without.
        Effort::Off if kind == Kind::Pro => 128,
        Effort::Off => 0,
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::Max => 24_576,
    }
}

/// The least is `MINIMAL` for the small ones and, to 3.6, for the middle ones; others refuse it
/// (<https://ai.google.dev/gemini-api/docs/generate-content/thinking#thinking-levels>).
fn level(effort: Effort, kind: Kind, version: (u32, u32)) -> &'static str {
    let is_minimal = match kind {
        Kind::Pro => false,
        Kind::Lite => version < (4, 0),
        Kind::Other => version < (3, 7),
    };
    match effort {
        Effort::Off if is_minimal => "MINIMAL",
        Effort::Off | Effort::Low => "LOW",
        // The first large one knows two levels.
        Effort::Medium if kind == Kind::Pro && version == (3, 0) => "HIGH",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::Max => "HIGH",
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;
    use crate::catalogue;
    use crate::testing::info;

    fn ask(model: &str, effort: Option<Effort>) -> Value {
        serde_json::to_value(asked(&ChatRequest { effort, ..ChatRequest::default() }, &info(model), true)).unwrap()
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

    /// Every row of the catalogue at every level, as the vendor's table of levels has it.
    #[test]
    fn no_model_is_asked_for_a_level_that_it_refuses() {
        let levels = |model: &str| {
            let all = [Effort::Off, Effort::Low, Effort::Medium, Effort::High, Effort::Max];
            all.map(|effort| ask(model, Some(effort))["thinkingLevel"].as_str().unwrap_or("a budget").to_owned())
        };
        let small = ["MINIMAL", "LOW", "MEDIUM", "HIGH", "HIGH"];
        let large = ["LOW", "LOW", "MEDIUM", "HIGH", "HIGH"];
        let mut known = catalogue::names_at("generativelanguage.googleapis.com");
        for (model, wanted) in [
            ("gemini-4-argon", large),
            ("gemini-3.8-flash", large),
            ("gemini-3.7-flash", large),
            ("gemini-3.6-flash", small),
            ("gemini-3.5-flash", small),
            ("gemini-3.5-flash-lite", small),
            ("gemini-3.1-pro-preview", large),
            ("gemini-3.1-flash-lite", small),
            ("gemini-3-flash-preview", small),
            ("gemini-2.5-pro", ["a budget"; 5]),
            ("gemini-2.5-flash", ["a budget"; 5]),
            ("gemini-2.5-flash-lite", ["a budget"; 5]),
        ] {
            assert_eq!(levels(model), wanted, "{model}");
            known.retain(|name| *name != model);
        }
        assert_eq!(known, [] as [&str; 0], "rows without a word about their levels");
        for (model, wanted) in [
            ("gemini-flash-latest", large),
            ("gemini-pro-latest", large),
            ("gemini-flash-lite-latest", small),
            ("gemini-4.1-flash-lite", large),
            ("gemini-5-profound", large),
        ] {
            assert_eq!(levels(model), wanted, "{model}");
        }
    }

    #[test]
    fn who_refused_a_level_is_told_none() {
        let request = ChatRequest { effort: Some(Effort::Off), ..ChatRequest::default() };
        let asked = serde_json::to_value(asked(&request, &info("gemini-3.8-flash"), false)).unwrap();
        assert_eq!(asked, json!({ "includeThoughts": false }));
    }

    #[test]
    fn signatures_are_wanted_from_the_third_generation_on() {
        assert!(wants_signatures("gemini-3-flash-preview") && wants_signatures("gemini-pro-latest"));
        assert!(!wants_signatures("gemini-2.5-pro") && !wants_signatures("gemini-custom"));
    }
}
