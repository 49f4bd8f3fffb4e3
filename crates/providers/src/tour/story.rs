use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use super::Language;

/// A story file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    /// The message that begins it.
    pub(super) task: String,
    /// Said before the first step when the message was another.
    pub(super) scripted: String,
    /// Said when a new message comes before the end.
    pub(super) resuming: String,
    /// Said to every message after the end.
    pub(super) over: String,
    /// Around the person's own words, where a step has `{words}`.
    pub(super) quote: (String, String),
    /// What the agent does.
    pub(super) steps: Vec<Step>,
    /// What the subagent does that the `task` call of a step sends.
    pub(super) errand: Vec<Step>,
}

/// One reply. Without calls it is the end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) id: String,
    #[serde(default)]
    pub(super) think: String,
    pub(super) say: String,
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    /// Where to go by what became of the last call; the first that fits. None: the next step of the file.
    #[serde(default)]
    pub(super) then: Vec<Branch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) args: Value,
    /// Words that the tool's own result has. A successful result without them is the person's answer.
    #[serde(default)]
    pub(super) own: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Branch {
    #[serde(default)]
    pub(super) when: Option<Fate>,
    /// Words that the result has.
    #[serde(default)]
    pub(super) contains: Option<String>,
    pub(super) goto: String,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fate {
    Done,
    /// The person changed it and it ran.
    Edited,
    Rejected,
    /// The person answered in the tool's place.
    Answered,
    Failed,
}

/// The story of a language, read once.
pub(super) fn story(language: Language) -> &'static Story {
    static ENGLISH: OnceLock<Story> = OnceLock::new();
    static CHINESE: OnceLock<Story> = OnceLock::new();
    let (cell, file) = match language {
        Language::English => (&ENGLISH, include_str!("../../tour/en.json")),
        Language::SimplifiedChinese => (&CHINESE, include_str!("../../tour/zh.json")),
    };
    cell.get_or_init(|| {
        // A test reads both files, so that this cannot happen in a build that was tested.
        serde_json::from_str(file).unwrap_or_else(|error| {
            tracing::error!(%error, "the tour's story cannot be read");
            Story::default()
        })
    })
}

/// The step of that id, and those after it.
pub(super) fn from<'a>(steps: &'a [Step], id: &str) -> Option<&'a [Step]> {
    let at = steps.iter().position(|step| step.id == id)?;
    steps.get(at..)
}
