//! Markdown files that begin with YAML between two lines of dashes: skills and subagents.

use serde_json::{Map, Value};

use crate::plain;

/// Most bytes of a front matter; real ones have a few hundred.
const LONGEST: usize = 16 * 1024;

/// A file in its two parts.
#[derive(Debug, PartialEq)]
pub(crate) struct FrontMatter<'a> {
    pub fields: Map<String, Value>,
    pub body: &'a str,
    /// It is no valid YAML, for this reason, and was read line by line.
    pub by_line: Option<String>,
}

/// Why nothing of a file is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    #[error("it does not start with front matter: a line of three dashes, then its fields")]
    Missing,
    #[error("the front matter does not end with a line of three dashes")]
    Unclosed,
    #[error("the front matter is longer than {most} bytes")]
    TooLong { most: usize },
    #[error("the front matter is not valid YAML: {0}")]
    Yaml(String),
}

pub(crate) fn parse(text: &str) -> Result<FrontMatter<'_>, FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, body) = parts(text)?;
    if yaml.len() > LONGEST {
        return Err(FrontMatterError::TooLong { most: LONGEST });
    }
    match serde_saphyr::from_str_with_options::<Map<String, Value>>(yaml, options()) {
        Ok(fields) => Ok(FrontMatter { fields, body, by_line: None }),
        Err(error) => {
            let reason = plain::yaml(yaml, &error);
            // A description with a colon in it is the most common mistake in such files.
            let fields = line_by_line(yaml).ok_or_else(|| FrontMatterError::Yaml(reason.clone()))?;
            Ok(FrontMatter { fields, body, by_line: Some(reason) })
        }
    }
}

fn parts(text: &str) -> Result<(&str, &str), FrontMatterError> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() != "---" {
        return Err(FrontMatterError::Missing);
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let yaml = rest.get(..at).unwrap_or_default();
            return Ok((yaml, rest.get(at + line.len()..).unwrap_or_default()));
        }
        at += line.len();
    }
    Err(FrontMatterError::Unclosed)
}

/// Bounds far above any honest front matter, so that a bomb is an error at once.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4_000,
            max_nodes: 2_000,
            max_depth: 16,
            max_aliases: 50,
            max_anchors: 50,
        },
        strict_booleans: true,
        with_snippet: false,
    }
}

/// `key: value` lines and nothing else; `None` where there is anything that needs YAML to be understood.
fn line_by_line(yaml: &str) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    for line in yaml.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let (key, value) = line.split_once(':')?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let value = value.trim();
        let is_plain = !value.starts_with(['&', '*', '!', '|', '>', '[', '{', '%', '@', '`']) && !value.contains('\t');
        if !is_key || !is_plain {
            return None;
        }
        let value = value.trim_matches(|c| c == '"' || c == '\'');
        if fields.insert(key.to_owned(), Value::String(value.to_owned())).is_some() {
            return None;
        }
    }
    Some(fields)
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
