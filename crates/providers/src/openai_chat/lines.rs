//! The lines of models whose vendors have a switch for thinking, and what of it each of them takes.

use super::levels::Words;
use crate::preset::EffortField;

/// How a model is told how much to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Whether it can be told to think and not to; one that cannot always thinks.
    pub(super) switch: bool,
    /// What it takes as `reasoning_effort`; the first word is of use where there is no switch.
    pub(super) words: Option<Words>,
}

impl Line {
    /// On and off.
    const SWITCHED: Self = Self { switch: true, words: None };
    /// It always thinks and is told nothing.
    const FIXED: Self = Self { switch: false, words: None };

    const fn leveled(switch: bool, words: Words) -> Self {
        Self { switch, words: Some(words) }
    }
}

/// Who always thinks takes three words.
const THREE: Words = ["low", "low", "high", "high", "max"];

/// Lines of DeepSeek, Moonshot and Zhipu, by how a name begins; the first that fits counts. Others have the switch alone
/// (<https://api-docs.deepseek.com/guides/thinking_mode>, <https://platform.kimi.ai/docs/guide/use-thinking-effort>,
/// <https://docs.z.ai/guides/capabilities/thinking-mode>).
const LINES: [(&str, Line); 7] = [
    ("deepseek-reasoner", Line::FIXED),
    ("deepseek-", Line::leveled(true, ["", "low", "high", "high", "max"])),
    ("kimi-k3", Line::leveled(false, THREE)),
    ("kimi-k2.7-code", Line::FIXED),
    ("kimi-k2-thinking", Line::FIXED),
    ("glm-5.3", Line::leveled(false, THREE)),
    ("glm-5.2", Line::leveled(true, ["", "high", "high", "high", "max"])),
];

/// Those of Qwen (<https://www.alibabacloud.com/help/en/model-studio/deep-thinking>).
const QWEN: [(&str, Line); 3] = [
    ("qwen3.8", Line::leveled(true, ["", "low", "medium", "xhigh", "xhigh"])),
    ("qwq", Line::FIXED),
    ("qvq", Line::FIXED),
];

/// The line of `model` at a server with that `field`. Who serves a line of another vendor's has the switch of their own, and
/// may know none of its words.
pub(super) fn line(field: EffortField, model: &str) -> Line {
    let (own, other) = match field {
        EffortField::EnableThinking => (&QWEN[..], &LINES[..]),
        _ => (&LINES[..], &QWEN[..]),
    };
    match (find(own, model), find(other, model)) {
        (Some(line), _) => line,
        (None, Some(Line { switch: false, .. })) => Line::FIXED,
        _ if is_named_thinking(model) => Line::FIXED,
        _ => Line::SWITCHED,
    }
}

/// Whether a line always thinks, as its name says, whoever serves it.
pub(super) fn always(model: &str) -> bool {
    let line = find(&LINES, model).or_else(|| find(&QWEN, model));
    line.map_or_else(|| is_named_thinking(model), |line| !line.switch)
}

fn find(lines: &[(&str, Line)], model: &str) -> Option<Line> {
    let name = base(model);
    lines.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, line)| *line)
}

/// Vendors call the half of a pair so that does nothing else.
fn is_named_thinking(model: &str) -> bool {
    let name = base(model);
    name.ends_with("-thinking") || name.contains("-thinking-") || name.starts_with("magistral")
}

/// The name without who makes it.
fn base(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lines_go_by_their_vendor_and_their_name() {
        use EffortField::{EnableThinking, Thinking};
        let of = |field, model| {
            let Line { switch, words } = line(field, model);
            (switch, words.map(|words| words[4]))
        };
        assert_eq!(of(Thinking, "deepseek-v4-pro"), (true, Some("max")));
        assert_eq!(of(Thinking, "deepseek-reasoner"), (false, None));
        assert_eq!(of(Thinking, "kimi-k3.1-pro"), (false, Some("max")));
        assert_eq!(of(Thinking, "kimi-k2.7-code-highspeed"), (false, None));
        assert_eq!(of(Thinking, "kimi-k2.6"), (true, None));
        assert_eq!((of(Thinking, "glm-5.3-flash"), of(Thinking, "glm-5.1")), ((false, Some("max")), (true, None)));
        assert_eq!(of(EnableThinking, "qwen3.8-max"), (true, Some("xhigh")));
        assert_eq!(of(EnableThinking, "qwen3-235b-a22b-thinking-2507"), (false, None));
        assert_eq!(of(EnableThinking, "deepseek-v4-pro"), (true, None), "which takes no word of it for known");
        assert_eq!(of(EnableThinking, "kimi-k3"), (false, None));
        for model in ["moonshotai/kimi-k3", "z-ai/glm-5.3", "Qwen/QwQ-32B", "magistral-medium-latest"] {
            assert!(always(model), "{model}");
        }
        for model in ["deepseek/deepseek-v4-pro", "glm-5.2", "kimi-k2.6", "qwen3.8-max", "qwen3:8b"] {
            assert!(!always(model), "{model}");
        }
    }
}
