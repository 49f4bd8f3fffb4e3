use std::borrow::Cow;

use bosun_backend::{BackendError, Expect, Replacement, VirtualPath, replace};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{resolve, target};
use crate::changed::{Recorder, changed, diff_of};
use crate::diff::DiffLimits;
use crate::known::{known, known_bytes};
use crate::{Preview, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// Replaces text in a file.
pub struct EditFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct EditFileInput {
    /// The file, for example "/src/main.rs".
    file_path: String,
    /// The text to replace, exactly as it is in the file, indentation included and line numbers left out. It has to
    /// appear once; take in lines around it until it does.
    old_string: String,
    /// What stands there afterwards.
    new_string: String,
    /// Replaces every appearance of old_string, for example to rename something.
    #[serde(default)]
    replace_all: bool,
}

impl EditFileInput {
    fn replacement(&self) -> Replacement<'_> {
        Replacement { old: &self.old_string, new: &self.new_string, all: self.replace_all }
    }

    /// Text copied out of a result of `read_file` with its line numbers is the usual reason for not being found.
    fn explained(&self, error: BackendError) -> BackendError {
        match error {
            BackendError::StringNotFound { path, old, hint } if hint.is_empty() && is_numbered(&self.old_string) => {
                let hint = "it begins with line numbers, which are not in the file; leave them out".to_owned();
                BackendError::StringNotFound { path, old, hint }
            }
            other => other,
        }
    }
}

/// Whether every line begins as a row of `read_file` does.
fn is_numbered(text: &str) -> bool {
    text.lines().all(|line| {
        line.split_once('\t').is_some_and(|(number, _)| {
            let number = number.trim_start();
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        })
    })
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    type Input = EditFileInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn description(&self) -> Cow<'_, str> {
        "Replaces text in a file and leaves everything else as it is. Read the file first; an edit of a file that you \
         have not read, or that changed since, is refused. Several edits of one file may be asked for in one step and \
         are done in order."
            .into()
    }

    async fn call(&self, cx: &ToolContext, input: EditFileInput) -> Result<ToolOutput, ToolError> {
        let path = resolve(cx, &input.file_path)?;
        let stamp = known(cx, &path).await?;
        let recorder = Recorder::new(&*cx.witness);
        let change = cx.backend.edit(&path, input.replacement(), Expect::Unchanged(stamp), &recorder).await;
        let change = change.map_err(|error| input.explained(error))?;
        let text = format!("Successfully replaced {} instance(s) of the string in '{path}'", change.occurrences);
        Ok(changed(text, &[change], recorder.diff().await))
    }

    async fn preview(&self, cx: &ToolContext, input: &EditFileInput) -> Preview {
        match self.planned(cx, input).await {
            Ok(preview) => preview,
            Err(error) => Preview::failing(&error),
        }
    }

    fn mutates(&self, cx: &ToolContext, input: &EditFileInput) -> Option<VirtualPath> {
        target(cx, &input.file_path)
    }
}

impl EditFile {
    async fn planned(&self, cx: &ToolContext, input: &EditFileInput) -> Result<Preview, BackendError> {
        let path = cx.backend.resolve(&input.file_path)?;
        let before = known_bytes(cx, &path).await?;
        let (after, _) =
            replace(&before, input.replacement(), u64::MAX, &path).map_err(|error| input.explained(error))?;
        let diff = diff_of(path, Some(before.into()), Some(after.into()), DiffLimits::PREVIEW).await;
        Ok(Preview::Diff { diff })
    }
}

#[cfg(test)]
#[path = "edit_file_tests.rs"]
mod tests;
