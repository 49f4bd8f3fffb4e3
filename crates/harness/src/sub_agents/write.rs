use serde_json::{Map, Value, json};

use super::SubagentSpec;
use super::file::ASKS;
use crate::{Gate, InterruptOn, front_matter};

/// Fields of the front matter that a spec's own values stand in for; all others are kept as they are.
const WRITTEN: [&str; 9] =
    ["name", "description", "tools", "model", "effort", "skills", ASKS, "permissions", "max_steps"];

/// The file that declares `spec`. Fields of the file `over` that a spec does not have, and the shape of its answer, are
/// kept.
pub fn write_subagent(spec: &SubagentSpec, over: Option<&str>) -> String {
    let known = over.and_then(|text| front_matter::parse(text).ok()).map(|read| read.fields).unwrap_or_default();
    let mut lines = Vec::new();
    for (name, value) in fields(spec, known.get(ASKS)) {
        lines.push(format!("{name}: {}", plain(&value)));
    }
    for (name, value) in known.iter().filter(|(name, _)| !WRITTEN.contains(&name.as_str())) {
        lines.push(format!("{name}: {value}"));
    }
    format!("---\n{}\n---\n\n{}\n", lines.join("\n"), spec.prompt.trim())
}

fn fields(spec: &SubagentSpec, asked: Option<&Value>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("name".into(), json!(spec.name));
    fields.insert("description".into(), json!(spec.description));
    if let Some(tools) = &spec.tools {
        fields.insert("tools".into(), json!(tools));
    }
    if let Some(model) = &spec.model {
        fields.insert("model".into(), json!(model));
    }
    if let Some(effort) = spec.effort {
        fields.insert("effort".into(), json!(effort));
    }
    if !spec.skills.is_empty() {
        let paths: Vec<&str> = spec.skills.iter().map(|source| source.path.as_str()).collect();
        fields.insert("skills".into(), json!(paths));
    }
    if !spec.interrupt_on.is_empty() {
        fields.insert(ASKS.into(), asks(spec, asked));
    }
    if !spec.permissions.is_empty() {
        fields.insert("permissions".into(), json!(spec.permissions));
    }
    if let Some(steps) = spec.max_steps {
        fields.insert("max_steps".into(), json!(steps));
    }
    fields
}

/// The names of the tools that ask, where that is all; else how each asks. What the file says of a tool that simply asks
/// (`asked`) stays, for whoever knows the names alone.
fn asks(spec: &SubagentSpec, asked: Option<&Value>) -> Value {
    let by_tool: Map<String, Value> = spec
        .interrupt_on
        .iter()
        .map(|(tool, interrupt)| {
            let known = asked.and_then(|asked| asked.get(tool)).filter(|known| known.is_object());
            let how = match interrupt {
                InterruptOn::Never => json!(false),
                InterruptOn::Ask(gate) if *gate == Gate::default() => known.cloned().unwrap_or_else(|| json!(true)),
                InterruptOn::Ask(gate) => how(gate),
            };
            (tool.clone(), how)
        })
        .collect();
    if by_tool.values().all(|how| *how == json!(true)) {
        return json!(by_tool.keys().collect::<Vec<_>>());
    }
    Value::Object(by_tool)
}

fn how(gate: &Gate) -> Value {
    let mut how = Map::new();
    how.insert("allowed".into(), json!(gate.allowed));
    how.extend(gate.description.as_ref().map(|words| ("description".to_owned(), json!(words))));
    how.extend(gate.timeout.map(|timeout| ("timeout_seconds".to_owned(), json!(timeout.as_secs()))));
    Value::Object(how)
}

/// JSON is YAML; a simple name needs no quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        value => value.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    let is_word = !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_word
        && !text.starts_with('-')
        && !matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::{PathMode, PathOperation, PathPattern, PathRule, SkillSource, read_subagent};

    #[test]
    fn what_is_written_is_read_again() {
        let spec = SubagentSpec {
            name: "scout".into(),
            description: "Looks: \"around\" # and back".into(),
            prompt: "Look.\n\n---\nTwice.".into(),
            tools: Some(vec!["read_file".into(), "grep".into()]),
            model: Some("openai:gpt".into()),
            effort: Some(bosun_model::Effort::Off),
            skills: vec![SkillSource { path: bosun_backend::VirtualPath::parse("/skills/user").unwrap(), label: None }],
            interrupt_on: [("grep".to_owned(), Default::default())].into(),
            permissions: vec![PathRule {
                operations: vec![PathOperation::Read, PathOperation::Write],
                paths: vec![PathPattern::try_from("/se\"crets/**".to_owned()).unwrap()],
                mode: PathMode::Deny,
            }],
            max_steps: Some(5),
            ..SubagentSpec::default()
        };
        assert_eq!(read_subagent(&write_subagent(&spec, None)), Ok((spec.clone(), vec![])));
        let bare = SubagentSpec { name: "off".into(), description: "x".into(), ..SubagentSpec::default() };
        assert_eq!(read_subagent(&write_subagent(&bare, None)), Ok((bare, vec![])));
    }

    #[test]
    fn how_a_tool_asks_is_written_and_kept_for_whoever_knows_its_name_alone() {
        let how = "---\nname: a\ndescription: b\ninterrupt_on:\n  execute: {allowed: [approve, reject], description: Runs \
                   here., timeout_seconds: 60}\n  ls: false\n  grep: true\n---\n\nx\n";
        let (spec, _) = read_subagent(how).unwrap();
        assert_eq!(read_subagent(&write_subagent(&spec, None)), Ok((spec.clone(), vec![])));
        let names = ["execute", "grep"].map(|tool| (tool.to_owned(), InterruptOn::default()));
        let form = SubagentSpec { interrupt_on: names.into(), ..spec.clone() };
        let (kept, _) = read_subagent(&write_subagent(&form, Some(how))).unwrap();
        assert_eq!(kept.interrupt_on.get("execute"), spec.interrupt_on.get("execute"));
        assert_eq!(kept.interrupt_on.keys().collect::<Vec<_>>(), ["execute", "grep"]);
    }

    #[test]
    fn what_the_form_does_not_know_is_kept() {
        let over = "---\nname: a\ndescription: b\noutput: {type: object}\ncolour: blue\n---\nOld.";
        let spec = SubagentSpec { name: "a".into(), description: "c".into(), ..SubagentSpec::default() };
        let text = write_subagent(&spec, Some(over));
        let (read, warnings) = read_subagent(&text).unwrap();
        assert_eq!((read.description.as_str(), read.output.is_some()), ("c", true));
        assert_eq!(warnings, [crate::SubagentWarning::Unknown("colour".into())]);
    }
}
