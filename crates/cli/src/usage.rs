//! `bosun usage`: what model calls used and cost.

use std::io::Write;
use std::sync::Arc;

use bosun_protocol::{CallPurpose, SessionId, UsageTotal};
use bosun_providers::EnvironmentKeys;
use bosun_session::{Limits, Policy};
use bosun_store::Database;
use clap::Args;

use crate::Exit;
use crate::core::{Stored, open_sessions};
use crate::failure::Failure;
use crate::line::write_line;
use crate::models::Models;
use crate::terminal::{one_line, short};

/// Longest name in a table.
const NAME: usize = 48;

/// Longest name of an agent.
const AGENT: usize = 24;

#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// Days to look back, today among them.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    days: u32,
    /// Only of this session and its subagents, call by call.
    #[arg(long, value_name = "ID", conflicts_with = "days")]
    session: Option<String>,
    /// One JSON object (docs/cli.md).
    #[arg(long)]
    json: bool,
}

pub(crate) async fn usage(args: UsageArgs) -> Result<Exit, Failure> {
    let folder = bosun_store::data_folder().ok_or(Failure::NoDataFolder)?;
    if Database::open_existing(&folder)?.is_none() {
        Database::could_be_in(&folder)?;
        writeln!(std::io::stderr(), "nothing was ever stored here")?;
        return Ok(Exit::Done);
    }
    let stored = Stored::open()?;
    let models = Arc::new(Models::new(Some(Arc::clone(&stored.database)), EnvironmentKeys::default()));
    let sessions = open_sessions(Some(&stored), models, Policy::default(), Limits::default()).await?;
    let mut out = std::io::stdout().lock();
    match &args.session {
        Some(id) => {
            let usage = sessions.session_usage(&SessionId::new(id.as_str())).await?;
            if args.json {
                write_line(&mut out, &usage)?;
                return Ok(Exit::Done);
            }
            let widest = usage.agents.iter().map(|used| agent(&used.agent.name).chars().count()).max().unwrap_or(1);
            for call in usage.calls.iter().rev() {
                let at = bosun_session::export::time(call.at, &bosun_session::export::ENGLISH);
                let name = name(&call.model.provider, &call.model.name);
                let tokens = [call.input_tokens, call.output_tokens];
                let tokens = tokens.map(|tokens| tokens.map_or("?".to_owned(), |tokens| tokens.to_string()));
                let cost = call.cost.map_or("price unknown".to_owned(), |cost| format!("${cost:.4}"));
                let purpose = purpose(call.purpose);
                let agent = call.agent.as_ref().map_or_else(|| "-".to_owned(), |made| agent(&made.name));
                writeln!(
                    out,
                    "{at}  {agent:<widest$}  {purpose:<7}  {name:<NAME$}  {:>9} in {:>7} out  {cost}",
                    tokens[0], tokens[1]
                )?;
            }
            for used in &usage.agents {
                writeln!(out, "{}", line(&agent(&used.agent.name), &used.total))?;
            }
            writeln!(out, "{}", line("all calls", &usage.total))?;
        }
        None => {
            let report = sessions.usage(args.days).await?;
            if args.json {
                write_line(&mut out, &report)?;
                return Ok(Exit::Done);
            }
            for day in &report.days {
                writeln!(out, "{}", line(&day.day, &day.total))?;
                for model in &day.models {
                    let name = format!("  {}", name(&model.model.provider, &model.model.name));
                    writeln!(out, "{}", line(&name, &model.total))?;
                }
            }
            writeln!(out, "{}", line("all days", &report.total))?;
        }
    }
    Ok(Exit::Done)
}

fn purpose(purpose: CallPurpose) -> &'static str {
    match purpose {
        CallPurpose::Answer => "answer",
        CallPurpose::Summary => "summary",
        CallPurpose::Title => "title",
    }
}

fn agent(name: &str) -> String {
    short(&one_line(name), AGENT)
}

fn name(provider: &str, model: &str) -> String {
    short(&one_line(&format!("{provider}:{model}")), NAME)
}

fn line(what: &str, total: &UsageTotal) -> String {
    let unknown = match total.unpriced {
        0 => String::new(),
        calls => format!(" and {calls} of unknown price"),
    };
    let cached = match (total.cache_read_tokens, total.input_tokens) {
        (0, _) | (_, 0) => String::new(),
        (read, input) => format!(" ({}% cached)", read.saturating_mul(100) / input),
    };
    let UsageTotal { calls, input_tokens, output_tokens, cost, .. } = total;
    format!("{what:<NAME$}  {calls:>5} calls {input_tokens:>10} in{cached} {output_tokens:>8} out  ${cost:.4}{unknown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_cached_and_what_is_not_known() {
        let total = UsageTotal {
            calls: 3,
            input_tokens: 1_000,
            output_tokens: 50,
            cache_read_tokens: 250,
            cost: 0.5,
            unpriced: 1,
        };
        let line = line("2026-11-21", &total);
        assert!(line.ends_with("1000 in (25% cached)       50 out  $0.5000 and 1 of unknown price"), "{line}");
    }
}
