//! How a request asks Claude to think more or less.

use bosun_model::{ChatRequest, ContentBlock, Effort, Message, ModelInfo, ToolChoice};
use serde::Serialize;

use crate::catalogue::{self, plain_name};

/// The wire takes no smaller budget.
const LEAST_BUDGET: u32 = 1_024;
/// Of the output's limit, what is left for the answer.
const ANSWER: u32 = 4_096;

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Asked {
    Adaptive {
        display: Display,
    },
    Enabled {
        budget_tokens: u32,
    },
    /// Not before the answer; what is said between calls comes as text.
    BetweenTools,
    Disabled,
}

/// What of the thoughts comes back. From Opus 4.7 on nothing does where it is not asked for, and the fifth line says in
/// thoughts what earlier models say between their calls
/// (<https://platform.claude.com/docs/en/build-with-claude/thinking>).
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Display {
    Summarized,
}

const ADAPTIVE: Asked = Asked::Adaptive { display: Display::Summarized };

/// The fields `thinking` and `output_config.effort`.
///
/// Models to 4.5 take a budget in tokens, later ones choose it themselves and take a level. Nothing is asked of a model
/// that is not known to think; one that thinks unasked is asked to show it.
pub(super) fn asked(request: &ChatRequest, info: &ModelInfo) -> (Option<Asked>, Option<&'static str>) {
    if !info.abilities.reasoning {
        return (None, None);
    }
    // A call that is forced leaves no room for thinking.
    let forced = is_forced(&request.tool_choice);
    let Some(effort) = request.effort else {
        return ((thinks_unasked(&info.name) && !forced).then_some(ADAPTIVE), None);
    };
    if effort == Effort::Off {
        return match off(&info.name) {
            Off::Never => ((!forced).then_some(ADAPTIVE), Some(level(effort))),
            Off::Unsaid => (None, None),
            Off::BetweenTools => (Some(Asked::BetweenTools), None),
            Off::Said => (Some(Asked::Disabled), None),
        };
    }
    if !by_budget(&info.name) {
        return ((!forced).then_some(ADAPTIVE), Some(level(effort)));
    }
    let most = request.max_output.or(info.max_output).unwrap_or(0).saturating_sub(ANSWER);
    let budget_tokens = budget(effort).min(most);
    if forced || budget_tokens < LEAST_BUDGET || continues_unsigned(request) {
        return (None, None);
    }
    (Some(Asked::Enabled { budget_tokens }), None)
}

/// Whether a request tells its model not to think at all.
pub(super) fn is_disabled(request: &ChatRequest, info: &ModelInfo) -> bool {
    asked(request, info).0 == Some(Asked::Disabled)
}

/// How a model is told not to think.
enum Off {
    Said,
    /// It does not think unless it is asked to, and refuses to be told.
    Unsaid,
    /// It takes no more than not to think before its answer.
    BetweenTools,
    /// It always thinks, and refuses to be told.
    Never,
}

fn off(name: &str) -> Off {
    // Newer ones than are known may refuse to be told; the least is taken by all.
    if always(name) || !by_budget(name) && !catalogue::knows(name) {
        Off::Never
    } else if plain_name(name).starts_with("claude-opus-4-7") {
        Off::Unsaid
    } else if is_sonnet_5_5(name) {
        Off::BetweenTools
    } else {
        Off::Said
    }
}

/// Whether a model always thinks. It refuses to be told not to, and calls that are forced with it
/// (<https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5>).
pub(crate) fn always(name: &str) -> bool {
    let name = dashed(name);
    ["claude-fable-", "claude-mythos-", "claude-opus-5-5"].iter().any(|line| name.starts_with(line))
}

/// Whether a model refuses calls that are forced
/// (<https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5>).
pub(super) fn refuses_force(name: &str) -> bool {
    always(name) || is_sonnet_5_5(name)
}

fn is_sonnet_5_5(name: &str) -> bool {
    dashed(name).starts_with("claude-sonnet-5-5")
}

/// Whether a model thinks where the request says nothing of it, as those from the fifth line on do.
fn thinks_unasked(name: &str) -> bool {
    always(name) || version(name).is_some_and(|version| version >= (5, 0))
}

/// Whether a model thinks, as its number says: all of this vendor's do from the line on in which a level says how much.
pub(crate) fn thinks_by_name(name: &str) -> bool {
    version(name).is_some_and(|version| version >= (4, 6))
}

/// The number of a Claude: `claude-opus-5-5-20260922` gives (5, 5). Behind the number there may be a date; names of before
/// the fourth line have it in another place.
pub(super) fn version(name: &str) -> Option<(u32, u32)> {
    let plain = dashed(name);
    let (family, version) = plain.strip_prefix("claude-")?.split_once('-')?;
    let is_word = !family.is_empty() && family.chars().all(|c| c.is_ascii_alphabetic());
    let mut numbers = version.split('-').map_while(|part| part.parse::<u32>().ok()).filter(|number| *number < 100);
    Some((numbers.next().filter(|_| is_word)?, numbers.next().unwrap_or(0)))
}

/// The vendor's own name; gateways write numbers with a dot.
pub(super) fn dashed(name: &str) -> String {
    plain_name(name).replace('.', "-")
}

pub(super) fn is_forced(choice: &ToolChoice) -> bool {
    matches!(choice, ToolChoice::Required | ToolChoice::Tool(_))
}

/// Whether a model of this vendor's takes a level.
pub(crate) fn by_level(name: &str) -> bool {
    plain_name(name).starts_with("claude-") && !by_budget(&dashed(name))
}

/// Whether the model is of those before levels.
fn by_budget(name: &str) -> bool {
    let name = plain_name(name);
    // The first of the fourth line have a date where later ones have their number.
    let old = ["claude-3", "claude-opus-4-2025", "claude-sonnet-4-2025"];
    let lines = ["claude-opus-4-", "claude-sonnet-4-", "claude-haiku-4-"];
    let number = lines.into_iter().find_map(|line| name.strip_prefix(line)?.split('-').next()?.parse::<u32>().ok());
    old.iter().any(|line| name.starts_with(line)) || number.is_some_and(|number| number <= 5)
}

fn level(effort: Effort) -> &'static str {
    match effort {
        Effort::Off | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "max",
    }
}

fn budget(effort: Effort) -> u32 {
    match effort {
        Effort::Off => 0,
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::Max => 32_768,
    }
}

/// With a budget, the reply whose calls are being answered must begin with its signed thoughts. One that another model
/// made, or that was made without thinking, has none.
fn continues_unsigned(request: &ChatRequest) -> bool {
    let newest = request.messages.iter().rev().find_map(|message| match &**message {
        Message::Ai(message) => Some(Some(message)),
        Message::Human(_) => Some(None),
        Message::Tool(_) | Message::System(_) => None,
    });
    let Some(Some(reply)) = newest else { return false };
    let signed = |block: &ContentBlock| match block {
        ContentBlock::Reasoning(reasoning) => reasoning.signature.is_some() || reasoning.opaque.is_some(),
        ContentBlock::Text { .. } | ContentBlock::Media(_) => false,
    };
    !reply.content.first().is_some_and(signed)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::testing::{conversation, info};

    fn ask(model: &str, request: ChatRequest) -> (Option<Asked>, Option<&'static str>) {
        asked(&request, &info(model))
    }

    fn hello(effort: Option<Effort>) -> ChatRequest {
        let messages = vec![Message::human("h", "hello").into()].into();
        ChatRequest { messages, effort, max_output: Some(32_000), ..ChatRequest::default() }
    }

    #[test]
    fn nothing_is_asked_by_itself_or_of_models_that_do_not_think() {
        for model in
            ["claude-sonnet-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-haiku-4-5", "claude-3-7-sonnet"]
        {
            assert_eq!(ask(model, hello(None)), (None, None), "{model}");
        }
        assert_eq!(ask("nobody-knows-1", hello(Some(Effort::High))), (None, None));
    }

    /// One that came out yesterday thinks as its elders do.
    #[test]
    fn who_is_newer_than_what_is_known_thinks_by_its_name() {
        for name in ["claude-opus-6", "claude-saga-5-3", "claude-fable-6-20270101", "us.anthropic.claude-opus-6-v1:0"] {
            assert!(thinks_by_name(name) && !catalogue::knows(name), "{name}");
            let abilities = bosun_model::Abilities { reasoning: true, ..Default::default() };
            let info = ModelInfo { abilities, ..info(name) };
            assert_eq!(asked(&hello(None), &info), (Some(ADAPTIVE), None), "{name}");
            assert_eq!(asked(&hello(Some(Effort::High)), &info), (Some(ADAPTIVE), Some("high")), "{name}");
            assert_eq!(asked(&hello(Some(Effort::Off)), &info), (Some(ADAPTIVE), Some("low")), "{name}");
        }
        for name in ["claude-3-7-sonnet-20250219", "claude-opus-4-1", "claude-sonnet-4-20250514", "claude-2", "gpt-6"] {
            assert!(!thinks_by_name(name), "{name}");
        }
    }

    #[test]
    fn budgets_before_levels() {
        let high = |model| ask(model, hello(Some(Effort::High)));
        assert_eq!(high("claude-haiku-4-5-20251001"), (Some(Asked::Enabled { budget_tokens: 16_384 }), None));
        assert_eq!(high("claude-opus-4-6"), (Some(ADAPTIVE), Some("high")));
        let at_bedrock = high("us.anthropic.claude-haiku-4-5-20251001-v1:0");
        assert_eq!(at_bedrock, (Some(Asked::Enabled { budget_tokens: 16_384 }), None));
        assert_eq!(ask("claude-opus-4-6", hello(Some(Effort::Off))), (Some(Asked::Disabled), None));
        let small = ChatRequest { max_output: Some(5_000), ..hello(Some(Effort::Max)) };
        assert_eq!(ask("claude-haiku-4-5", small), (None, None));
    }

    #[test]
    fn who_always_thinks_is_asked_for_the_least_and_never_told_not_to() {
        let off = |model: &str| {
            let abilities = bosun_model::Abilities { reasoning: true, ..Default::default() };
            asked(&hello(Some(Effort::Off)), &ModelInfo { abilities, ..info(model) })
        };
        for model in ["claude-opus-5-5", "claude-fable-5-2", "claude-mythos-5", "anthropic.claude-fable-5"] {
            assert_eq!(off(model), (Some(ADAPTIVE), Some("low")), "{model}");
        }
        assert_eq!(off("claude-opus-4-7"), (None, None));
        assert_eq!(off("claude-sonnet-5-5"), (Some(Asked::BetweenTools), None), "it refuses to be told more");
        for model in ["claude-opus-5", "claude-haiku-5-5", "claude-sonnet-5"] {
            assert_eq!(off(model), (Some(Asked::Disabled), None), "{model}");
        }
        assert!(always("anthropic/claude-opus-5.5") && !always("anthropic/claude-opus-5"));
    }

    /// Without a word of it nothing of the thoughts would come back, nor what is said between calls.
    #[test]
    fn who_thinks_unasked_is_asked_to_show_it() {
        for model in ["claude-opus-5-5", "claude-opus-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-1"] {
            assert_eq!(ask(model, hello(None)), (Some(ADAPTIVE), None), "{model}");
        }
        let shown = serde_json::json!({ "type": "adaptive", "display": "summarized" });
        assert_eq!(serde_json::to_value(ADAPTIVE).unwrap(), shown);
        let between = serde_json::json!({ "type": "between_tools" });
        assert_eq!(serde_json::to_value(Asked::BetweenTools).unwrap(), between);
        let forced = ChatRequest { tool_choice: ToolChoice::Required, ..hello(None) };
        assert_eq!(ask("claude-opus-5", forced), (None, None));
        assert!(refuses_force("claude-sonnet-5.5") && !refuses_force("claude-sonnet-5"));
    }

    #[test]
    fn a_forced_call_or_a_strange_reply_leaves_thinking_out() {
        let forced = ChatRequest { tool_choice: ToolChoice::Required, ..hello(Some(Effort::Low)) };
        assert_eq!(ask("claude-haiku-4-5", forced.clone()), (None, None));
        assert_eq!(ask("claude-opus-4-7", forced), (None, Some("low")));
        let strange = ChatRequest { effort: Some(Effort::Low), max_output: None, ..conversation() };
        assert_eq!(ask("claude-haiku-4-5", strange.clone()), (None, None));
        assert_eq!(ask("claude-opus-4-7", strange), (Some(ADAPTIVE), Some("low")));
    }
}
