//! A tool call as one line.

use bosun_protocol::{Decision, DecisionSource, Figure, MediaKind, ToolItem, ToolState};
use serde_json::Value;

use super::text::short;

/// Longest object of a call, and longest word about a failure, in characters.
const OBJECT: usize = 100;
const REASON: usize = 160;

/// The tool and what it is about: `read_file /src/main.rs`.
pub fn call(name: &str, args: &Value) -> String {
    let name = short(name, OBJECT);
    match object(args) {
        Some(object) => format!("{name} {}", short(object, OBJECT)),
        None => name,
    }
}

/// A call that has ended: how, what, and its figures.
pub fn finished(tool: &ToolItem) -> String {
    let (mark, word) = match tool.state {
        ToolState::Done => ("✓", None),
        ToolState::Failed => ("✗", None),
        ToolState::Rejected => ("✗", Some("rejected")),
        ToolState::Answered => ("✓", Some("answered by you")),
        ToolState::Cancelled if tool.started_at.is_some() => ("■", Some("stopped")),
        ToolState::Cancelled => ("✗", Some("cancelled")),
        ToolState::Unknown => ("?", Some("outcome unknown")),
        ToolState::Proposed | ToolState::Waiting | ToolState::Running => ("…", None),
    };
    let mut line = format!("{mark} {}", call(&tool.name, &tool.args));
    let mut notes: Vec<String> = tool.figures.iter().map(figure).collect();
    notes.extend(word.map(str::to_owned));
    if tool.state == ToolState::Failed {
        notes.push(short(&tool.output, REASON));
    }
    if !notes.is_empty() {
        line.push_str("  ");
        line.push_str(&notes.join(", "));
    }
    line
}

/// What was asked of the tool, where its line or its diff does not say all of it: the command, or the arguments.
pub fn asked(tool: &ToolItem) -> Option<String> {
    if tool.diff.is_some() {
        return None;
    }
    let whole = match tool.args.as_object()? {
        args if args.is_empty() => return None,
        args if args.len() == 1 => args.values().next()?.as_str().map(str::to_owned),
        _ => tool.args.get("command").and_then(Value::as_str).map(str::to_owned),
    };
    match whole {
        Some(text) if object(&tool.args) == Some(&text) && short(&text, OBJECT) == text => None,
        Some(text) => Some(text),
        None => serde_json::to_string_pretty(&tool.args).ok(),
    }
}

/// Who decided about the call, and what; nothing where nobody had to.
pub fn decided(tool: &ToolItem) -> Vec<String> {
    let Some(record) = &tool.decision else { return Vec::new() };
    let by = match &record.by {
        DecisionSource::Person => "by you".to_owned(),
        DecisionSource::Rule { rule } => format!("by the rule {rule}"),
    };
    match &record.decision {
        Decision::Approve => vec![format!("Approved {by}.")],
        Decision::Edit { args } => {
            let changed = serde_json::to_string_pretty(args).unwrap_or_default();
            vec![format!("Approved {by} with other arguments:"), changed]
        }
        Decision::Respond { text } => vec![format!("Answered {by}: {text}")],
        Decision::Reject { reason: Some(reason) } => vec![format!("Rejected {by}: {reason}")],
        Decision::Reject { reason: None } => vec![format!("Rejected {by}.")],
    }
}

/// The argument that says what a call is about.
fn object(args: &Value) -> Option<&str> {
    const NAMES: [&str; 6] = ["file_path", "command", "pattern", "path", "description", "query"];
    NAMES.iter().find_map(|name| args.get(name)?.as_str())
}

fn figure(figure: &Figure) -> String {
    match figure {
        Figure::Lines(n) => count(*n, "line", "lines"),
        Figure::Matches(n) => count(*n, "match", "matches"),
        Figure::Files(n) => count(*n, "file", "files"),
        Figure::Entries(n) => count(*n, "entry", "entries"),
        Figure::Added(n) => format!("+{n}"),
        Figure::Removed(n) => format!("-{n}"),
        Figure::ExitCode(code) => format!("exit {code}"),
        Figure::Todos { done, total } => format!("{done} of {total} done"),
        Figure::Media { kind, size } => format!("{} of {}", media(*kind), count(*size, "byte", "bytes")),
        Figure::TimedOut => "timed out".to_owned(),
        Figure::Signal(signal) => format!("ended by signal {signal}"),
        Figure::BrokeOff => "the connection broke off, outcome unknown".to_owned(),
        Figure::Truncated => "cut".to_owned(),
        Figure::LinkBroken => "hard link broken".to_owned(),
    }
}

fn media(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio => "sound",
        MediaKind::Video => "film",
    }
}

fn count(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
