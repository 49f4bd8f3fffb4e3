//! The words for levels of thinking, by the line of a model.

use bosun_model::Effort;

use crate::anthropic::by_level;

/// Words from [`Effort::Off`] to [`Effort::Max`].
pub(super) type Words = [&'static str; 5];

/// From which number on a line of GPT takes which words, and for which of its kinds. The newest first; the first that fits
/// counts (<https://developers.openai.com/api/docs/guides/reasoning>, and what the vendor's refusals name as supported).
const GPT: [((u32, u32), &str, Words); 16] = [
    ((5, 1), "-chat", ["medium"; 5]),
    ((6, 1), "-terra", ["none", "low", "medium", "high", "max"]),
    ((6, 1), "", ["low", "low", "medium", "high", "max"]),
    ((6, 0), "-sol", ["none", "low", "medium", "high", "max"]),
    ((6, 0), "-luna", ["none", "low", "medium", "high", "max"]),
    ((6, 0), "", ["low", "low", "medium", "high", "max"]),
    ((5, 6), "", ["none", "low", "medium", "high", "max"]),
    ((5, 2), "-pro", ["medium", "medium", "medium", "high", "xhigh"]),
    ((5, 2), "-codex", ["low", "low", "medium", "high", "xhigh"]),
    ((5, 2), "", ["none", "low", "medium", "high", "xhigh"]),
    ((5, 1), "-codex-max", ["low", "low", "medium", "high", "xhigh"]),
    ((5, 1), "-codex", OLDER),
    ((5, 1), "", ["none", "low", "medium", "high", "high"]),
    ((5, 0), "-pro", ["high", "high", "high", "high", "high"]),
    ((5, 0), "-codex", OLDER),
    ((5, 0), "", ["minimal", "low", "medium", "high", "high"]),
];

/// The o-series, and what other vendors took over of it.
const OLDER: Words = ["low", "low", "medium", "high", "high"];

/// Groq serves these, which think or do not (<https://console.groq.com/docs/reasoning>).
const QWEN_AT_GROQ: Words = ["none", "default", "default", "default", "default"];

/// The word for a level at the vendor of the wire, or at who took its words over. `None` for models that refuse every word.
pub(crate) fn word(model: &str, effort: Effort) -> Option<&'static str> {
    let name = model.rsplit('/').next().unwrap_or(model);
    if is_plain_chat(name) {
        return None;
    }
    let words = if name.starts_with("grok-") {
        grok(name)?
    } else if name.starts_with("qwen3") {
        QWEN_AT_GROQ
    } else {
        let line = gpt(name).and_then(|(version, kind)| {
            GPT.iter().find(|(since, of, _)| version >= *since && kind.contains(of)).map(|(_, _, words)| *words)
        });
        line.unwrap_or(OLDER)
    };
    Some(of(words, effort))
}

/// Those of xAI's models that take one. 4.20 is older than 4.3 (<https://docs.x.ai/developers/model-capabilities/text/reasoning>).
fn grok(name: &str) -> Option<Words> {
    let number = name.strip_prefix("grok-")?.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    match (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) {
        (4, 20) | (..=3, _) | (4, ..=2) => None,
        (4, 3 | 4) => Some(["none", "low", "medium", "high", "high"]),
        (4, 5) => Some(OLDER),
        _ => Some(["low", "low", "medium", "high", "xhigh"]),
    }
}

/// The same in Chat Completions, which goes no further than `xhigh`.
pub(super) fn at_chat(model: &str, effort: Effort) -> Option<&'static str> {
    match word(model, effort) {
        Some("max") => Some("xhigh"),
        word => word,
    }
}

/// Above off. OpenRouter knows all words and makes of one what a model takes; only some have the last.
pub(super) fn at_openrouter(model: &str, effort: Effort) -> &'static str {
    match effort {
        Effort::Max if thinks_by_name(model) => word(model, effort).unwrap_or("xhigh"),
        Effort::Max if by_level(model) => "max",
        Effort::Max => "xhigh",
        _ => of(OLDER, effort),
    }
}

/// Mistral's models think or do not, but for the fourth Large, which has levels. Magistral is retired there, and its names
/// mean models that think when they are told to (<https://docs.mistral.ai/inference/conversations/reasoning>).
pub(super) fn of_mistral(model: &str, effort: Effort) -> &'static str {
    let words =
        if model.starts_with("mistral-large-4") { ["none", "low", "medium", "high", "high"] } else { ON_AND_OFF };
    of(words, effort)
}

const ON_AND_OFF: Words = ["none", "high", "high", "high", "high"];

/// Whether a model is of those that the vendor of the wire made to think, as its name says.
pub(crate) fn thinks_by_name(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    is_newer(name) && !is_plain_chat(name)
}

/// Whether a model is of those whose longest reply has the newer name, in Chat Completions.
pub(super) fn is_newer(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_o = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_o || gpt(name).is_some_and(|(version, _)| version >= (5, 0))
}

/// `gpt-5-chat` and `gpt-5-chat-latest` do not think and refuse every word of it; those of the lines behind it do.
fn is_plain_chat(name: &str) -> bool {
    gpt(name).is_some_and(|(version, kind)| version == (5, 0) && kind.starts_with("-chat"))
}

/// The number of a GPT, and what stands behind it.
fn gpt(name: &str) -> Option<((u32, u32), &str)> {
    let rest = name.strip_prefix("gpt-")?;
    let (number, kind) = rest.split_at(rest.find('-').unwrap_or(rest.len()));
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some(((major.parse().ok()?, minor.parse().ok()?), kind))
}

pub(super) fn of(words: Words, effort: Effort) -> &'static str {
    let [off, low, medium, high, max] = words;
    match effort {
        Effort::Off => off,
        Effort::Low => low,
        Effort::Medium => medium,
        Effort::High => high,
        Effort::Max => max,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_most_is_the_most_that_a_line_has_and_off_the_least() {
        for (model, off, most) in [
            ("gpt-6-astra", "low", "max"),
            ("gpt-6", "low", "max"),
            ("gpt-6-sol", "none", "max"),
            ("gpt-6-luna-2026-09-01", "none", "max"),
            ("gpt-6.1-sol", "low", "max"),
            ("gpt-6.1-terra", "none", "max"),
            ("gpt-6.2-sol", "low", "max"),
            ("gpt-5.6-luna", "none", "max"),
            ("gpt-5.5", "none", "xhigh"),
            ("gpt-5.4-mini-2026-03-17", "none", "xhigh"),
            ("gpt-5.4-pro", "medium", "xhigh"),
            ("gpt-5.3-codex", "low", "xhigh"),
            ("gpt-5.1-codex-max", "low", "xhigh"),
            ("gpt-5.1", "none", "high"),
            ("gpt-5-pro", "high", "high"),
            ("gpt-5-mini", "minimal", "high"),
            ("gpt-5.3-chat-latest", "medium", "medium"),
            ("o4-mini", "low", "high"),
            ("grok-4.7", "low", "xhigh"),
            ("grok-4.5", "low", "high"),
            ("grok-4.3", "none", "high"),
            ("qwen/qwen3-32b", "none", "default"),
            ("gpt-oss-120b", "low", "high"),
        ] {
            assert_eq!((word(model, Effort::Off), word(model, Effort::Max)), (Some(off), Some(most)), "{model}");
        }
        for model in [
            "gpt-5-chat",
            "openai/gpt-5-chat-latest",
            "grok-4.20-0309-reasoning",
            "grok-build-0.1",
            "grok-4-1-fast-reasoning",
            "grok-3-mini",
        ] {
            assert_eq!(word(model, Effort::High), None, "{model} refuses every word");
        }
        assert_eq!(at_chat("gpt-6-astra", Effort::Max), Some("xhigh"));
        assert_eq!((word("gpt-6", Effort::Low), word("gpt-6", Effort::Medium)), (Some("low"), Some("medium")));
    }

    #[test]
    fn mistral_has_a_word_for_those_that_can_be_told() {
        let of = |model| (of_mistral(model, Effort::Off), of_mistral(model, Effort::Low));
        assert_eq!(of("mistral-medium-3-5"), ("none", "high"));
        assert_eq!(of("mistral-large-4-0"), ("none", "low"));
        assert_eq!(of("magistral-medium-latest"), ("none", "high"), "which is another by now");
    }

    #[test]
    fn who_thinks_is_told_by_the_name() {
        for model in ["gpt-5", "openai/gpt-5.6-sol", "gpt-6-astra", "o1", "o4-mini", "azure/o3"] {
            assert!(thinks_by_name(model), "{model}");
        }
        for model in [
            "gpt-5-chat-latest",
            "azure/gpt-5-chat",
            "gpt-4.1",
            "gpt-4o",
            "gpt-oss-120b",
            "olmo-3",
            "openchat",
            "claude-opus-5",
        ] {
            assert!(!thinks_by_name(model), "{model}");
        }
    }
}
