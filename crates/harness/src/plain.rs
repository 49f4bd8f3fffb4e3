//! What is wrong with a file that a person wrote, in plain words: the line, the reason and, where there is one, the way out.
//! Parsers say it in the words of programs.

use std::ops::Range;

/// Brackets in one line that nobody means.
const DEEPEST: usize = 16;
const NESTED: &str = "it is nested too deep, or refers to itself too often; write it out plainly";

/// The words of numbers' types.
const WHOLE: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];

/// What is wrong with TOML.
pub(crate) fn toml(text: &str, message: &str, span: Option<Range<usize>>) -> String {
    let what = in_words(message.trim());
    match span {
        Some(span) => {
            let line = line_of(text, span.start);
            let name = text.lines().nth(line - 1).and_then(name_in).filter(|name| !what.contains(&format!("'{name}'")));
            format!("line {line}{}: {what}", name.map(|name| format!(", {name}")).unwrap_or_default())
        }
        None => what,
    }
}

/// What is wrong with the YAML of a front matter, whose first line is the second of its file.
pub(crate) fn yaml(text: &str, error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error;
    let line = error.location().and_then(|at| usize::try_from(at.line()).ok()).filter(|line| *line > 0);
    let written = line.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
    let what = match error.without_snippet() {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("'{key}' is there twice; keep one of them"),
        Error::SerdeInvalidType { .. } | Error::Unexpected { .. } => {
            "the fields have to be lines, each with a name, a colon and a value".to_owned()
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => NESTED.to_owned(),
        _ if written.matches(['[', '{']).count() > DEEPEST => NESTED.to_owned(),
        _ if written.trim_start_matches(' ').starts_with('\t') => {
            "it is indented with a tab; indent it with spaces".to_owned()
        }
        _ if written.splitn(3, ": ").count() == 3 => {
            "the value has a colon in it; put the value in double quotes".to_owned()
        }
        _ => "it cannot be understood from there on; close every quote and bracket, and put text with a colon, # or * in it \
              in double quotes"
            .to_owned(),
    };
    line.map_or_else(|| what.clone(), |line| format!("line {}: {what}", line + 1))
}

/// What is wrong with JSON that a program wrote, without the place in it.
pub(crate) fn json(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
    in_words(words)
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The name that a line gives a value to.
fn name_in(line: &str) -> Option<&str> {
    let name = line.split_once('=')?.0.trim();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

fn in_words(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (name, known) = name_and_known(rest);
        return format!("{name} is not known here; what there can be is {known}");
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (name, known) = name_and_known(rest);
        return format!("{name} is none of the words that can stand here: {known}");
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("{} is missing", unticked(name));
    }
    if let Some(name) = message.strip_prefix("duplicate field ").or_else(|| message.strip_prefix("duplicate key ")) {
        return format!("{} is there twice; keep one of them", unticked(name));
    }
    if message == "duplicate key" {
        return "the name is there twice; keep one of them".to_owned();
    }
    let wrong =
        ["invalid type: ", "invalid value: ", "invalid length "].iter().find_map(|kind| message.strip_prefix(kind));
    if let Some((given, wanted)) = wrong.and_then(|rest| rest.split_once(", expected ")) {
        return format!("{} stands where {} is wanted", given_as(given), wanted_as(wanted));
    }
    if message.starts_with("data did not match any variant") {
        return "this is written in a form that is not known here".to_owned();
    }
    unticked(message)
}

/// The name that is not known, and what is; all in single quotes.
fn name_and_known(rest: &str) -> (String, String) {
    let (name, known) = match rest.split_once(", expected ") {
        Some((name, known)) => (name, known.trim_start_matches("one of ")),
        None => (rest.split_once(", there are no ").map_or(rest, |(name, _)| name), "nothing"),
    };
    (unticked(name), unticked(known))
}

fn unticked(words: &str) -> String {
    words.replace('`', "'")
}

/// What is there, as somebody would call it.
fn given_as(given: &str) -> String {
    let (kind, value) = given.split_once(' ').unwrap_or((given, ""));
    match kind {
        "string" => format!("the text {value}"),
        "integer" => format!("the number {}", value.replace('`', "")),
        "floating" => format!("the number {}", value.trim_start_matches("point ").replace('`', "")),
        "boolean" => value.replace('`', ""),
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit" | "Option" => "nothing".to_owned(),
        _ => unticked(given),
    }
}

/// What is wanted, as somebody would call it.
fn wanted_as(wanted: &str) -> String {
    let plain = match wanted {
        "a string" | "string" | "str" => "text",
        "a boolean" | "bool" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table of names and values",
        "f32" | "f64" => "a number",
        _ if WHOLE.contains(&wanted) => "a whole number",
        _ if wanted.starts_with("a nonzero ") => "a whole number above 0",
        _ if wanted.starts_with("struct ") || wanted.starts_with("internally tagged enum ") => "a table",
        _ if wanted.starts_with("string or map") || wanted.starts_with("enum ") => "one of its words",
        _ => return unticked(wanted),
    };
    plain.to_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::{DeclaredAgent, Extras, front_matter};

    #[test]
    fn what_is_wrong_with_toml_is_said_in_plain_words() {
        let table = [
            ("a = 1\n", "line 1: 'a' is not known here; what there can be is 'name', "),
            ("\nname = 5", "line 2, name: the number 5 stands where text is wanted"),
            ("name = 'a'\nname = 'b'", "line 2"),
            (
                "background_subagents = 'yes'",
                "line 1, background_subagents: the text \"yes\" stands where true or false is wanted",
            ),
            ("builtin_tools = 'ls'", "line 1, builtin_tools: the text \"ls\" stands where a list is wanted"),
            (
                "approvals.edits = 'maybe'",
                "line 1, approvals.edits: 'maybe' is none of the words that can stand here: 'ask', 'allow', 'reject'",
            ),
            (
                "approvals.tools.ls = 'maybe'",
                "line 1, approvals.tools.ls: how a tool asks is true, false, or a table with allowed, description and timeout_seconds",
            ),
            (
                "limits.max_steps = 0",
                "line 1, limits.max_steps: the number 0 stands where a whole number above 0 is wanted",
            ),
            ("limits.max_steps = -1", "line 1, limits.max_steps: the number -1 stands where "),
            ("[[subagents]]\nname = 'a'", "'description' is missing"),
            ("memory = 5", "line 1, memory: the number 5 stands where a list is wanted"),
            ("filesystem = 5", "line 1, filesystem: the number 5 stands where a table is wanted"),
            ("a = ", "line 1"),
        ];
        for (text, expected) in table {
            let error = DeclaredAgent::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            for inner in [
                "TOML parse error",
                "column",
                "untagged",
                "enum",
                "invalid type",
                "struct",
                "expected one of",
                "`",
                " | ",
            ] {
                assert!(!error.contains(inner), "{text}: {error}");
            }
        }
        let error = Extras::parse("[hook]").unwrap_err().to_string();
        assert_eq!(
            error,
            "line 1: 'hook' is not known here; what there can be is 'mcp', 'hooks', 'routes', 'limits', 'guards'"
        );
    }

    #[test]
    fn what_is_wrong_with_a_front_matter_is_said_in_plain_words() {
        let table = [
            ("name: a\nname: b", "line 3: 'name' is there twice; keep one of them"),
            ("- a", "the fields have to be lines, each with a name, a colon and a value"),
            ("name: a\nmore:\n\tb: c", "line 4: it is indented with a tab; indent it with spaces"),
            ("name: [a", "it cannot be understood from there on; close every quote and bracket"),
            ("name: *nobody", "put text with a colon, # or * in it in double quotes"),
            (&format!("a: {}{}", "[".repeat(500), "]".repeat(500)), "it is nested too deep"),
        ];
        for (yaml, expected) in table {
            let error = front_matter::parse(&format!("---\n{yaml}\n---\n")).unwrap_err().to_string();
            assert!(
                error.starts_with("the front matter is not valid YAML: ") && error.contains(expected),
                "{yaml}: {error}"
            );
        }
        let read = front_matter::parse("---\nname: pdf\ndescription: Use for: forms\n---\nx").unwrap();
        let expected = "line 3: the value has a colon in it; put the value in double quotes";
        assert_eq!(read.by_line.as_deref(), Some(expected));
    }
}
