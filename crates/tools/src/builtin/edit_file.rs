use std::borrow::Cow;

use std::sync::{Mutex, PoisonError};

use bosun_backend::{BackendError, ChangeWitness, Expect, PlannedChange, Replacement, VirtualPath};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{resolve, target};
use crate::changed::{Recorder, changed, diff_of};
use crate::diff::DiffLimits;
use crate::known::known;
use crate::{BoxFuture, Preview, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

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
        let change = cx.backend.edit(&path, input.replacement(), Expect::Unchanged(stamp), &recorder).await?;
        let text = format!("Successfully replaced {} instance(s) of the string in '{path}'", change.occurrences);
        Ok(changed(text, &[change], recorder.diff().await))
    }

    async fn preview(&self, cx: &ToolContext, input: &EditFileInput) -> Preview {
        match self.planned(cx, input).await {
            Ok(preview) => preview,
            Err(error) => Preview::Problem { message: error.to_string() },
        }
    }

    fn mutates(&self, cx: &ToolContext, input: &EditFileInput) -> Option<VirtualPath> {
        target(cx, &input.file_path)
    }
}

impl EditFile {
    async fn planned(&self, cx: &ToolContext, input: &EditFileInput) -> Result<Preview, BackendError> {
        let path = cx.backend.resolve(&input.file_path)?;
        let stamp = known(cx, &path).await?;
        let rehearsal = Rehearsal::default();
        match cx.backend.edit(&path, input.replacement(), Expect::Unchanged(stamp), &rehearsal).await {
            Ok(_) | Err(BackendError::NotRecorded { .. }) => {}
            Err(error) => return Err(error),
        }
        let planned = rehearsal.planned.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(planned) = planned else { return Err(BackendError::Changed { path }) };
        Ok(Preview::Diff { diff: diff_of(path, planned.before, planned.after, DiffLimits::PREVIEW).await })
    }
}

/// Takes the intent and lets it go no further.
#[derive(Default)]
struct Rehearsal {
    planned: Mutex<Option<PlannedChange>>,
}

impl ChangeWitness for Rehearsal {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        let path = change.path.clone();
        *self.planned.lock().unwrap_or_else(PoisonError::into_inner) = Some(change);
        Box::pin(async { Err(BackendError::NotRecorded { path, reason: "it was only shown".into() }) })
    }
}
