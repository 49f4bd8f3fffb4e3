//! A tool call as one line.

use bosun_protocol::{Decision, ToolItem, ToolState};
use serde_json::Value;

use super::text::short;
use super::words::Words;

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
pub fn finished(tool: &ToolItem, words: &Words) -> String {
    let (mark, word) = match tool.state {
        ToolState::Done => ("✓", None),
        ToolState::Failed => ("✗", None),
        ToolState::Rejected => ("✗", Some(words.rejected)),
        ToolState::Answered => ("✓", Some(words.answered)),
        ToolState::Cancelled if tool.started_at.is_some() => ("■", Some(words.stopped)),
        ToolState::Cancelled => ("✗", Some(words.cancelled)),
        ToolState::Unknown => ("?", Some(words.unknown)),
        ToolState::Proposed | ToolState::Waiting | ToolState::Running => ("…", None),
    };
    let mut line = format!("{mark} {}", call(&tool.name, &tool.args));
    let mut notes: Vec<String> = tool.figures.iter().map(words.figure).collect();
    notes.extend(word.map(str::to_owned));
    if tool.state == ToolState::Failed {
        notes.push(short(&tool.output, REASON));
    }
    if !notes.is_empty() {
        line.push_str("  ");
        line.push_str(&notes.join(words.comma));
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
pub fn decided(tool: &ToolItem, words: &Words) -> Vec<String> {
    let Some(record) = &tool.decision else { return Vec::new() };
    let sentence = (words.decided)(&record.decision, &record.by);
    match &record.decision {
        Decision::Edit { args } => vec![sentence, serde_json::to_string_pretty(args).unwrap_or_default()],
        Decision::Approve | Decision::Respond { .. } | Decision::Reject { .. } => vec![sentence],
    }
}

/// The argument that says what a call is about.
fn object(args: &Value) -> Option<&str> {
    const NAMES: [&str; 6] = ["file_path", "command", "pattern", "path", "description", "query"];
    NAMES.iter().find_map(|name| args.get(name)?.as_str())
}
