use serde::{Deserialize, Serialize};

use super::Keep;

/// A length of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    Tokens(u64),
    Messages(usize),
    /// Of the model's context window, 0 to 1. Without a known window it is never reached.
    Fraction(f64),
}

/// When a conversation is summed up: once all of what is set is reached. One in which nothing is set never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trigger {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<usize>,
    /// Of the model's context window, 0 to 1. Without a known window it is never reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
}

/// What may be set about summarization. The default goes by the model's window: at 85 % of it all but the last 10 %
/// is summed up; where the window is unknown, at 170,000 tokens all but the last six messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SummarizationOptions {
    /// Any of these; empty for the default.
    pub trigger: Vec<Trigger>,
    /// How much of the end stays.
    pub keep: Option<Threshold>,
    /// Instructions for every summary, after the standing ones.
    pub guidance: Option<String>,
    pub arguments: ArgumentOptions,
}

/// When long arguments of file changes are cut in what is sent, and how much of the end has them whole. What is left out
/// is as for the summary, which they are cut before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArgumentOptions {
    /// Any of these.
    pub trigger: Vec<Trigger>,
    pub keep: Option<Threshold>,
}

/// A length by which no conversation can be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ThresholdFault {
    #[error("'fraction' is a part of the model's window, above 0 and at most 1; {0} is none")]
    Fraction(String),
    #[error("'{0}' must be above 0")]
    Nothing(&'static str),
    #[error("a trigger names 'tokens', 'messages' or 'fraction'; one that names none is never reached")]
    Empty,
}

/// What a request is measured by.
pub(super) struct Size {
    pub tokens: u64,
    pub messages: usize,
    pub window: Option<u64>,
    /// Most tokens of the reply.
    pub output: u64,
}

/// The trigger and what is kept where a window is known.
const FULL: f64 = 0.85;
const KEPT: f64 = 0.10;
/// No request fills more of a window than this.
const HARD: f64 = 0.95;
const UNKNOWN_FULL: u64 = 170_000;
const UNKNOWN_KEPT: usize = 6;

impl From<Threshold> for Trigger {
    fn from(threshold: Threshold) -> Self {
        match threshold {
            Threshold::Tokens(tokens) => Self { tokens: Some(tokens), ..Self::default() },
            Threshold::Messages(messages) => Self { messages: Some(messages), ..Self::default() },
            Threshold::Fraction(fraction) => Self { fraction: Some(fraction), ..Self::default() },
        }
    }
}

fn check(tokens: Option<u64>, messages: Option<usize>, fraction: Option<f64>) -> Result<(), ThresholdFault> {
    match (tokens, messages, fraction) {
        (Some(0), _, _) => Err(ThresholdFault::Nothing("tokens")),
        (_, Some(0), _) => Err(ThresholdFault::Nothing("messages")),
        (_, _, Some(part)) if !(part > 0.0 && part <= 1.0) => Err(ThresholdFault::Fraction(part.to_string())),
        _ => Ok(()),
    }
}

impl Threshold {
    fn check(self) -> Result<(), ThresholdFault> {
        let Trigger { messages, fraction, .. } = Trigger::from(self);
        // The last message stays in any case.
        check(None, messages, fraction)
    }
}

impl Trigger {
    fn check(self) -> Result<(), ThresholdFault> {
        let Self { tokens, messages, fraction } = self;
        if self == Self::default() { Err(ThresholdFault::Empty) } else { check(tokens, messages, fraction) }
    }

    /// Whether `part` (0 to 1) of it is reached.
    fn reached(&self, part: f64, size: &Size) -> bool {
        let tokens = |limit: f64| size.tokens as f64 >= limit * part;
        let fraction = |fraction: f64| size.window.is_some_and(|window| tokens(window as f64 * fraction));
        let set = [
            self.tokens.map(|limit| tokens(limit as f64)),
            self.messages.map(|limit| size.messages as f64 >= limit as f64 * part),
            self.fraction.map(fraction),
        ];
        set.iter().any(Option::is_some) && set.iter().flatten().all(|reached| *reached)
    }
}

/// Most tokens of a request and its reply in a window.
pub(super) fn room(window: u64) -> u64 {
    (window as f64 * HARD) as u64
}

/// Whether `part` (0 to 1) of what a window takes at all is reached.
pub(super) fn is_hard(size: &Size, part: f64) -> bool {
    size.window.is_some_and(|window| {
        let room = room(window).saturating_sub(size.output);
        // Some catalogues give the whole window as the longest reply.
        size.tokens as f64 >= room.max(window / 2) as f64 * part
    })
}

impl SummarizationOptions {
    /// Whether every length of it is one that a conversation can have.
    pub(crate) fn check(&self) -> Result<(), ThresholdFault> {
        self.trigger.iter().chain(&self.arguments.trigger).try_for_each(|trigger| trigger.check())?;
        self.keep.into_iter().chain(self.arguments.keep).try_for_each(Threshold::check)
    }

    /// Whether `part` (0 to 1) of any trigger, or of what a window takes at all, is reached.
    pub(super) fn reached(&self, part: f64, size: &Size) -> bool {
        let usual = [match size.window {
            Some(_) => Trigger::from(Threshold::Fraction(FULL)),
            None => Trigger::from(Threshold::Tokens(UNKNOWN_FULL)),
        }];
        let triggers = if self.trigger.is_empty() { &usual[..] } else { &self.trigger };
        triggers.iter().any(|trigger| trigger.reached(part, size)) || is_hard(size, part)
    }

    /// The same for long arguments.
    pub(super) fn of_arguments(&self) -> Self {
        let ArgumentOptions { trigger, keep } = &self.arguments;
        let trigger = if trigger.is_empty() { &self.trigger } else { trigger };
        Self { trigger: trigger.clone(), keep: keep.or(self.keep), ..Self::default() }
    }

    /// What of the end stays under a window of this size.
    pub(super) fn kept(&self, window: Option<u64>) -> Keep {
        let part_of = |part: f64| match window {
            Some(window) => Keep::Tokens((window as f64 * part) as u64),
            None => Keep::Messages(UNKNOWN_KEPT),
        };
        match self.keep {
            Some(Threshold::Tokens(tokens)) => Keep::Tokens(tokens),
            Some(Threshold::Messages(count)) => Keep::Messages(count),
            Some(Threshold::Fraction(part)) => part_of(part),
            None => part_of(KEPT),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn size(tokens: u64, messages: usize, window: Option<u64>) -> Size {
        Size { tokens, messages, window, output: 0 }
    }

    fn options(trigger: &str) -> SummarizationOptions {
        toml::from_str(&format!("trigger = [{trigger}]")).unwrap()
    }

    #[test]
    fn by_default_it_goes_by_the_window() {
        let usual = options("");
        let reached = |tokens, window| usual.reached(1.0, &size(tokens, 1, window));
        assert_eq!([reached(84_999, Some(100_000)), reached(85_000, Some(100_000))], [false, true]);
        assert_eq!([reached(169_999, None), reached(170_000, None)], [false, true]);
        assert_eq!((usual.kept(Some(100_000)), usual.kept(None)), (Keep::Tokens(10_000), Keep::Messages(6)));
    }

    #[test]
    fn several_are_any_of_them_and_several_parts_of_one_are_all_of_it() {
        let any = options("{ tokens = 100 }, { messages = 5 }");
        let all = options("{ tokens = 100, messages = 5 }");
        let at = |options: &SummarizationOptions| {
            [(99, 4), (100, 4), (99, 5), (100, 5)]
                .map(|(tokens, messages)| options.reached(1.0, &size(tokens, messages, Some(1_000))))
        };
        assert_eq!((at(&any), at(&all)), ([false, true, true, true], [false, false, false, true]));
        assert!(all.reached(0.5, &size(50, 3, None)) && !all.reached(0.5, &size(50, 2, None)));
        assert!(!options("{}").reached(0.0, &size(500, 500, None)), "nothing is set");
        assert!(!options("{ fraction = 0.1 }").reached(1.0, &size(500, 1, None)), "no window is known");
    }

    #[test]
    fn arguments_go_by_their_own_or_by_what_holds_for_the_summary() {
        let own: SummarizationOptions = toml::from_str(
            "trigger = [{ messages = 9 }]\nkeep.messages = 4\narguments = { trigger = [{ messages = 5 }], keep.messages = 2 }",
        )
        .unwrap();
        let reached = |options: &SummarizationOptions| [4, 5, 9].map(|at| options.reached(1.0, &size(1, at, None)));
        assert_eq!((reached(&own), reached(&own.of_arguments())), ([false, false, true], [false, true, true]));
        assert_eq!((own.kept(None), own.of_arguments().kept(None)), (Keep::Messages(4), Keep::Messages(2)));
        let same = SummarizationOptions { arguments: ArgumentOptions::default(), ..own };
        assert_eq!(reached(&same.of_arguments()), reached(&same));
        assert_eq!(same.of_arguments().kept(None), Keep::Messages(4));
    }

    #[test]
    fn what_a_window_takes_at_all_holds_whatever_is_set() {
        let never = options("{ messages = 1000 }");
        let reached = |tokens, output| never.reached(1.0, &Size { output, ..size(tokens, 1, Some(1_000)) });
        assert_eq!([reached(949, 0), reached(950, 0), reached(850, 100)], [false, true, true]);
        assert!(!reached(499, 1_000) && reached(500, 1_000), "half of it is always room");
    }
}
