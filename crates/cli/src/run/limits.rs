//! What a turn of a run may take. Over the declaration of its agent and over the settings, flag by flag.

use std::num::{NonZeroU32, NonZeroU64};

use bosun_protocol::{Notice, NoticeCode, Problem};
use bosun_session::DeclaredAgent;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct TurnLimits {
    /// Most replies of the model in a turn (1000 where nothing else is set). Each subagent has as many of its own; summaries
    /// and repeated attempts are not counted. At the limit the turn ends with code 1 and everything is saved; --session goes
    /// on with as many again.
    #[arg(long, value_name = "N")]
    max_steps: Option<NonZeroU32>,
    /// Most tokens that a turn may read and write, with its subagents; saves as well.
    #[arg(long, value_name = "N")]
    max_tokens: Option<NonZeroU64>,
    /// Most US dollars that a turn may cost, with its subagents; saves as well.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Longest time that a turn may work, for example 90s, 10m or 1h30m; saves as well. Waiting for you is not counted.
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    max_time: Option<NonZeroU64>,
}

impl TurnLimits {
    pub(super) fn put_into(&self, agent: &mut DeclaredAgent) {
        agent.limits.max_steps = self.max_steps.or(agent.limits.max_steps);
        agent.guards.max_tokens = self.max_tokens.or(agent.guards.max_tokens);
        agent.guards.max_dollars = self.max_cost.or(agent.guards.max_dollars);
        agent.guards.max_seconds = self.max_time.or(agent.guards.max_seconds);
    }
}

/// The limit that ended a turn, and the flag that sets another.
pub(super) fn reached(notice: &Notice) -> Option<String> {
    let (within, flag) = match &notice.problem {
        _ if notice.code == NoticeCode::StepLimit => (counted(&notice.detail, "model call"), "--max-steps"),
        Some(Problem::LimitOfTokens { limit }) => (counted(limit, "token"), "--max-tokens"),
        Some(Problem::LimitOfDollars { limit }) => (format!("${limit}"), "--max-cost"),
        Some(Problem::LimitOfSeconds { limit }) => (counted(limit, "second"), "--max-time"),
        _ => return None,
    };
    Some(format!("{within}, the limit of {flag}"))
}

fn counted(number: &str, what: &str) -> String {
    if number == "1" { format!("one {what}") } else { format!("{number} {what}s") }
}

fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "write an amount of US dollars above 0, for example 2.50".to_owned())
}

const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60)];

/// Numbers with their units one after another, or a number of seconds.
fn seconds(text: &str) -> Result<NonZeroU64, String> {
    let sum = match text.parse() {
        Ok(seconds) => Some(seconds),
        Err(_) => summed(text),
    };
    let wrong = || "write how long as numbers with s, m, h or d, for example 90s, 10m or 1h30m".to_owned();
    sum.and_then(NonZeroU64::new).ok_or_else(wrong)
}

fn summed(text: &str) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, from_unit) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let (unit, each) = UNITS.into_iter().find(|(unit, _)| from_unit.starts_with(*unit))?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(each)?)?;
        rest = from_unit.strip_prefix(unit)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn how_long_is_written_as_elsewhere() {
        let read = |text: &str| seconds(text).ok().map(NonZeroU64::get);
        for (text, expected) in [("90", 90), ("90s", 90), ("10m", 600), ("1h30m", 5_400), ("2d", 172_800)] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        for text in ["", "0", "0s", "soon", "m", "1x", "1h30", "-5s", "1.5h", "٣s", "99999999999999999999d"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn an_amount_is_a_number_above_nothing() {
        assert_eq!(dollars("2.50"), Ok(2.5));
        for text in ["0", "-1", "nan", "inf", "$2", "1e999"] {
            assert!(dollars(text).is_err(), "{text}");
        }
    }
}
