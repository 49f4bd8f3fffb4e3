//! Subagents that are declared in Markdown files.

use std::collections::BTreeMap;

use bosun_backend::{Backend, BackendError, ReadContent, ReadWindow, VirtualPath};
use bosun_model::{Effort, OutputSchema};
use serde_json::{Map, Value};

use super::SubagentSpec;
use crate::front_matter::{self, FrontMatterError};
use crate::{DeclaredGate, InterruptOn, Members, PathRule, SkillSource};

/// What was found in folders of subagents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedSubagents {
    pub specs: Vec<SubagentSpec>,
    /// What could not be loaded or is odd, one sentence each.
    pub problems: Vec<String>,
}

/// Why a file is no subagent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubagentFileError {
    #[error(transparent)]
    FrontMatter(#[from] FrontMatterError),
    #[error("the front matter has no '{0}'")]
    Missing(&'static str),
    #[error("'{0}' cannot be the name of a subagent: use lower-case letters, digits and single hyphens, at most 64")]
    Name(String),
    #[error("'{field}' must be {wanted}")]
    Field { field: &'static str, wanted: FieldKind },
}

/// What a field of a subagent's file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldKind {
    #[error("text")]
    Text,
    #[error("a list of names")]
    Names,
    #[error(
        "a list of names, or say for each name whether it asks (true, false) or how (allowed, description, \
         timeout_seconds)"
    )]
    Asks,
    #[error("a list of folders")]
    Folders,
    #[error("a JSON schema of an object")]
    Schema,
    #[error(
        "a list of rules, each with 'operations' (read, write), 'paths' from / and a 'mode' (allow, interrupt, deny)"
    )]
    Rules,
    #[error("a whole number above 0")]
    Number,
    #[error("one of off, low, medium, high and max")]
    Effort,
    #[error("PROVIDER:NAME, for example anthropic:claude-sonnet-4-6, or inherit")]
    Model,
}

/// What is odd about a subagent's file that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubagentWarning {
    #[error("'{0}' is not known and has no effect")]
    Unknown(String),
    #[error("the front matter is not valid YAML ({0}); its lines were read one by one")]
    ByLine(String),
    #[error("the description was cut at {most} characters")]
    DescriptionCut { most: usize },
}

/// The field that says how tools ask.
pub(super) const ASKS: &str = "interrupt_on";
const MOST_FILES: usize = 100;
const MOST_LINES: u64 = 5_000;
const DESCRIPTION: usize = 2_000;
const KNOWN: [&str; 10] =
    ["name", "description", "tools", "model", "effort", "skills", ASKS, "permissions", "output", "max_steps"];

/// Reads `<folder>/<name>.md` of each folder; of two with one name the later one counts. A folder that is not there is
/// left out, and so is every file whose `<name>` is `off`, as if it were not there. A project's folder belongs here only if
/// the person trusts the project.
pub async fn load_subagents(
    backend: &dyn Backend,
    folders: &[VirtualPath],
    off: &(dyn Fn(&str) -> bool + Sync),
) -> LoadedSubagents {
    let mut loaded = LoadedSubagents::default();
    for folder in folders {
        let entries = match backend.ls(folder).await {
            Ok(entries) => entries,
            Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => continue,
            Err(error) => {
                loaded.problems.push(format!("{folder}: {error}"));
                continue;
            }
        };
        let name = |path: &VirtualPath| path.name().and_then(|name| name.strip_suffix(".md")).map(str::to_owned);
        let is_on = |path: &VirtualPath| name(path).is_some_and(|name| !off(&name));
        let files = entries.into_iter().filter(|entry| !entry.is_dir && is_on(&entry.path));
        for (count, file) in files.enumerate() {
            if count == MOST_FILES {
                loaded.problems.push(format!("{folder}: only the first {MOST_FILES} subagents are loaded"));
                break;
            }
            take(backend, &file.path, &mut loaded).await;
        }
    }
    loaded
}

/// Reads the text of a subagent's file; with what is odd about it.
///
/// # Errors
/// Why it is no subagent.
pub fn read_subagent(text: &str) -> Result<(SubagentSpec, Vec<SubagentWarning>), SubagentFileError> {
    parse(text)
}

async fn take(backend: &dyn Backend, path: &VirtualPath, loaded: &mut LoadedSubagents) {
    let text = match backend.read(path, ReadWindow { offset: 0, limit: MOST_LINES }).await {
        Ok(read) => match read.content {
            // Half of its instructions are others than those that were written.
            ReadContent::Text(page) if page.total_lines > MOST_LINES => {
                let problem = format!("{path}: it has {} lines, and at most {MOST_LINES} are read", page.total_lines);
                return loaded.problems.push(problem);
            }
            ReadContent::Text(page) => page.lines.join("\n"),
            ReadContent::Bytes { .. } => return loaded.problems.push(format!("{path}: it is no text")),
        },
        Err(error) => return loaded.problems.push(format!("{path}: {error}")),
    };
    match parse(&text) {
        Ok((spec, warnings)) => {
            loaded.problems.extend(warnings.into_iter().map(|warning| format!("{path}: {warning}")));
            loaded.specs.retain(|known| known.name != spec.name);
            loaded.specs.push(spec);
        }
        Err(error) => loaded.problems.push(format!("{path}: {error}")),
    }
}

fn parse(text: &str) -> Result<(SubagentSpec, Vec<SubagentWarning>), SubagentFileError> {
    let read = front_matter::parse(text)?;
    let fields = &read.fields;
    let name = word(fields, "name")?.ok_or(SubagentFileError::Missing("name"))?;
    let description = word(fields, "description")?.ok_or(SubagentFileError::Missing("description"))?;
    let unknown = fields.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    let mut warnings: Vec<SubagentWarning> = unknown.cloned().map(SubagentWarning::Unknown).collect();
    warnings.extend(read.by_line.map(SubagentWarning::ByLine));
    let description = one_line(&description);
    if description.chars().count() > DESCRIPTION {
        warnings.push(SubagentWarning::DescriptionCut { most: DESCRIPTION });
    }
    let output = match fields.get("output") {
        None | Some(Value::Null) => None,
        Some(schema @ Value::Object(_)) => Some(OutputSchema { name: name.clone(), schema: schema.clone() }),
        Some(_) => return Err(SubagentFileError::Field { field: "output", wanted: FieldKind::Schema }),
    };
    let spec = SubagentSpec {
        description: description.chars().take(DESCRIPTION).collect(),
        prompt: read.body.trim().to_owned(),
        tools: list(fields, "tools")?,
        model: word(fields, "model")?.filter(|model| model != "inherit"),
        effort: effort(fields)?,
        skills: skills(fields)?,
        interrupt_on: asks(fields)?,
        permissions: rules(fields)?,
        output,
        middleware: Members::default(),
        max_steps: steps(fields)?,
        name,
    };
    spec.check()?;
    Ok((spec, warnings))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn word(fields: &Map<String, Value>, field: &'static str) -> Result<Option<String>, SubagentFileError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(_) => Err(SubagentFileError::Field { field, wanted: FieldKind::Text }),
    }
}

fn list(fields: &Map<String, Value>, field: &'static str) -> Result<Option<Vec<String>>, SubagentFileError> {
    let wanted = SubagentFileError::Field { field, wanted: FieldKind::Names };
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            Ok(Some(text.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect()))
        }
        Some(Value::Array(items)) => {
            let names: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            names.map(Some).ok_or(wanted)
        }
        Some(_) => Err(wanted),
    }
}

/// Names of tools that ask, or how each asks, as a declaration has it. As with rules, what is not understood is never left
/// out.
fn asks(fields: &Map<String, Value>) -> Result<BTreeMap<String, InterruptOn>, SubagentFileError> {
    let wrong = || SubagentFileError::Field { field: ASKS, wanted: FieldKind::Asks };
    match fields.get(ASKS) {
        Some(by_tool @ Value::Object(_)) => {
            let by_tool: BTreeMap<String, DeclaredGate> =
                serde_json::from_value(by_tool.clone()).map_err(|_not_so| wrong())?;
            let asks = by_tool.into_iter().map(|(tool, gate)| (tool, InterruptOn::from(gate)));
            Ok(asks.collect())
        }
        _ => {
            let names = list(fields, ASKS).map_err(|_not_names| wrong())?.unwrap_or_default();
            Ok(names.into_iter().map(|tool| (tool, InterruptOn::default())).collect())
        }
    }
}

fn skills(fields: &Map<String, Value>) -> Result<Vec<SkillSource>, SubagentFileError> {
    let bad = |_| SubagentFileError::Field { field: "skills", wanted: FieldKind::Folders };
    let source = |path: String| Ok(SkillSource { path: VirtualPath::parse(&path).map_err(bad)?, label: None });
    list(fields, "skills")?.unwrap_or_default().into_iter().map(source).collect()
}

/// A rule that is not understood makes the file one that cannot be used: without it the subagent could do more.
fn rules(fields: &Map<String, Value>) -> Result<Vec<PathRule>, SubagentFileError> {
    match fields.get("permissions") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|_| SubagentFileError::Field { field: "permissions", wanted: FieldKind::Rules }),
    }
}

fn effort(fields: &Map<String, Value>) -> Result<Option<Effort>, SubagentFileError> {
    let wrong = |_| SubagentFileError::Field { field: "effort", wanted: FieldKind::Effort };
    fields.get("effort").map_or(Ok(None), |value| serde_json::from_value(value.clone()).map_err(wrong))
}

fn steps(fields: &Map<String, Value>) -> Result<Option<u32>, SubagentFileError> {
    match fields.get("max_steps") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().and_then(|steps| u32::try_from(steps).ok()).filter(|steps| *steps > 0) {
            Some(steps) => Ok(Some(steps)),
            None => Err(SubagentFileError::Field { field: "max_steps", wanted: FieldKind::Number }),
        },
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
