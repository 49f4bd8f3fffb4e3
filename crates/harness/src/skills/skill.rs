use std::collections::BTreeMap;

use bosun_backend::VirtualPath;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::front_matter::{self, FrontMatterError};

/// A skill, as its front matter describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    pub name: String,
    pub description: String,
    /// Its `SKILL.md`, in the agent's paths.
    pub path: String,
    /// The label of the source it came from.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Tools the skill was written for. For information; nothing goes by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Tools that come into view with it (`metadata.include_tools`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_tools: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// What is wrong with a skill although it can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillWarning {
    #[error("the front matter is not valid YAML ({0}); its lines were read one by one")]
    ByLine(String),
    #[error("the name may only contain lower-case letters, digits and single hyphens between them")]
    NameLetters,
    #[error("the name is longer than {most} characters")]
    NameLong { most: usize },
    #[error("the name does not match that of its folder, '{folder}'")]
    NotItsFolder { folder: String },
    #[error("the description was cut at {most} characters")]
    DescriptionCut { most: usize },
    #[error("the compatibility was cut at {most} characters")]
    CompatibilityCut { most: usize },
}

/// A skill whose whole text stands in the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedSkill {
    pub name: String,
    pub path: String,
    pub text: String,
}

/// Why a skill is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    #[error(transparent)]
    FrontMatter(#[from] FrontMatterError),
    #[error("the front matter has no '{0}'")]
    Missing(&'static str),
}

/// Bounds of the format (behaviour.md 6.2), in characters.
const NAME: usize = 64;
const DESCRIPTION: usize = 1_024;
const COMPATIBILITY: usize = 500;

impl Skill {
    /// Reads the text of a `SKILL.md` that lies in the folder `folder`. Gives its body and what is wrong with it too.
    pub(super) fn parse<'a>(
        text: &'a str,
        path: &VirtualPath,
        folder: &str,
        source: &str,
    ) -> Result<(Self, &'a str, Vec<SkillWarning>), SkillError> {
        let read = front_matter::parse(text)?;
        let field = |name: &'static str| {
            let text = word_of(&read.fields, name).filter(|text| !text.is_empty());
            text.ok_or(SkillError::Missing(name))
        };
        let mut skill = Self {
            name: field("name")?,
            description: one_line(&field("description")?),
            path: path.to_string(),
            source: source.to_owned(),
            license: word_of(&read.fields, "license"),
            compatibility: word_of(&read.fields, "compatibility"),
            allowed_tools: tools_of(read.fields.get("allowed-tools")),
            include_tools: tools_of(read.fields.get("metadata").and_then(|metadata| metadata.get("include_tools"))),
            metadata: metadata_of(read.fields.get("metadata")),
        };
        let warnings = read.by_line.into_iter().map(SkillWarning::ByLine).chain(skill.check(folder)).collect();
        Ok((skill, read.body, warnings))
    }

    /// Cuts what is too long and gives what the format does not allow.
    fn check(&mut self, folder: &str) -> Vec<SkillWarning> {
        let mut warnings = Vec::new();
        let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_numeric() || is_lower(c));
        if !self.name.split('-').all(is_word) {
            warnings.push(SkillWarning::NameLetters);
        }
        if self.name.chars().count() > NAME {
            warnings.push(SkillWarning::NameLong { most: NAME });
        }
        if self.name != folder {
            warnings.push(SkillWarning::NotItsFolder { folder: folder.to_owned() });
        }
        if let Some(cut) = head(&self.description, DESCRIPTION) {
            self.description = cut;
            warnings.push(SkillWarning::DescriptionCut { most: DESCRIPTION });
        }
        if let Some(cut) = self.compatibility.as_deref().and_then(|text| head(text, COMPATIBILITY)) {
            self.compatibility = Some(cut);
            warnings.push(SkillWarning::CompatibilityCut { most: COMPATIBILITY });
        }
        warnings
    }
}

/// Letters without case, as in most of the world's scripts, are as good as lower-case ones.
fn is_lower(c: char) -> bool {
    c.is_alphabetic() && !c.is_uppercase()
}

fn head(text: &str, limit: usize) -> Option<String> {
    (text.chars().count() > limit).then(|| text.chars().take(limit).collect())
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn word_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn tools_of(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => words(text),
        Some(Value::Array(tools)) => tools.iter().filter_map(Value::as_str).flat_map(words).collect(),
        _ => Vec::new(),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn metadata_of(value: Option<&Value>) -> BTreeMap<String, String> {
    let Some(Value::Object(fields)) = value else { return BTreeMap::new() };
    fields.keys().filter_map(|key| Some((key.clone(), word_of(fields, key)?))).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn parse(text: &str, folder: &str) -> Result<Skill, SkillError> {
        warned(text, folder).map(|(skill, _)| skill)
    }

    fn warned(text: &str, folder: &str) -> Result<(Skill, Vec<SkillWarning>), SkillError> {
        let path = VirtualPath::parse("/s/x/SKILL.md").unwrap();
        Skill::parse(text, &path, folder, "Project").map(|(skill, _, warnings)| (skill, warnings))
    }

    #[test]
    fn every_field_is_read() {
        let text = "---\nname: pdf-forms\ndescription: >\n  Fills\n  forms.\nlicense: MIT\ncompatibility: needs qpdf\n\
                    allowed-tools: read_file, execute\nmetadata:\n  version: 2\n---\nBody";
        let skill = parse(text, "pdf-forms").unwrap();
        assert_eq!(skill.description, "Fills forms.");
        assert_eq!(skill.allowed_tools, ["read_file", "execute"]);
        assert_eq!(skill.metadata, [("version".to_owned(), "2".to_owned())].into());
        for list in ["[fill, sign]", "fill, sign", "fill sign"] {
            let text = format!("---\nname: a\ndescription: d\nmetadata:\n  include_tools: {list}\n---\n");
            assert_eq!(parse(&text, "a").unwrap().include_tools, ["fill", "sign"]);
        }
        assert_eq!((skill.license.as_deref(), skill.compatibility.as_deref()), (Some("MIT"), Some("needs qpdf")));
        assert_eq!(warned(text, "pdf-forms").unwrap().1, []);
    }

    #[test]
    fn a_wrong_name_only_warns() {
        for name in ["Bad_Name", "a--b", "-a", "../../etc", "a b"] {
            let (skill, warnings) = warned(&format!("---\nname: {name}\ndescription: d\n---\n"), name).unwrap();
            assert_eq!((skill.name.as_str(), warnings), (name, vec![SkillWarning::NameLetters]));
        }
        assert_eq!(warned("---\nname: 审查\ndescription: d\n---\n", "审查").unwrap().1, []);
        let other = SkillWarning::NotItsFolder { folder: "b".into() };
        assert_eq!(warned("---\nname: a\ndescription: d\n---\n", "b").unwrap().1, [other]);
        let (long, warnings) =
            warned(&format!("---\nname: a\ndescription: {}\n---\n", "d".repeat(2_000)), "a").unwrap();
        assert_eq!((long.description.len(), warnings), (1_024, vec![SkillWarning::DescriptionCut { most: 1_024 }]));
    }

    #[test]
    fn without_name_or_description_there_is_no_skill() {
        assert_eq!(parse("---\nname: a\n---\n", "a"), Err(SkillError::Missing("description")));
        assert_eq!(parse("---\ndescription: a\nname: [a]\n---\n", "a"), Err(SkillError::Missing("name")));
    }
}
