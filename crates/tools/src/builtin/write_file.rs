use std::borrow::Cow;

use bosun_backend::{BackendError, Expect, VirtualPath};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{resolve, target};
use crate::changed::{Recorder, changed, diff_of};
use crate::diff::DiffLimits;
use crate::known::{Found, known_bytes, look};
use crate::{Preview, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// Largest content, in bytes.
const MAX_CONTENT: usize = 10 * 1024 * 1024;

/// Writes a whole file.
pub struct WriteFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct WriteFileInput {
    /// The file, for example "/src/main.rs". Folders that are missing are made.
    file_path: String,
    /// Everything that shall be in the file.
    content: String,
    /// Replaces a file that is already there. Only for a file you have read.
    #[serde(default)]
    overwrite: bool,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    type Input = WriteFileInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn description(&self) -> Cow<'_, str> {
        "Creates a file with the content given. A file that is already there is not replaced: read it and change it with \
         edit_file, which is shorter and safer, or pass overwrite: true when nearly everything in it changes."
            .into()
    }

    async fn call(&self, cx: &ToolContext, input: WriteFileInput) -> Result<ToolOutput, ToolError> {
        let path = resolve(cx, &input.file_path)?;
        within_limit(&path, &input.content)?;
        let expect = expectation(cx, &path, input.overwrite).await?;
        let first_time = expect == Expect::Absent;
        let recorder = Recorder::new(&*cx.witness);
        let written = cx.backend.write(&path, input.content.into_bytes(), expect, &recorder).await;
        let change = written.map_err(|error| match error {
            BackendError::AlreadyExists { path } if input.overwrite && first_time => BackendError::NotRead { path },
            BackendError::IsADirectory { path } => BackendError::DirectoryInTheWay { path },
            other => other,
        })?;
        Ok(changed(format!("Updated file {path}"), &[change], recorder.diff().await))
    }

    async fn preview(&self, cx: &ToolContext, input: &WriteFileInput) -> Preview {
        match self.planned(cx, input).await {
            Ok(preview) => preview,
            Err(error) => Preview::failing(&error),
        }
    }

    fn mutates(&self, cx: &ToolContext, input: &WriteFileInput) -> Option<VirtualPath> {
        target(cx, &input.file_path)
    }
}

impl WriteFile {
    async fn planned(&self, cx: &ToolContext, input: &WriteFileInput) -> Result<Preview, BackendError> {
        let path = cx.backend.resolve(&input.file_path)?;
        within_limit(&path, &input.content)?;
        let before = match look(&*cx.backend, &path).await? {
            Found::Nothing | Found::Hollow(BackendError::NotFound { .. }) => None,
            Found::Hollow(BackendError::ContentLost { .. }) if input.overwrite => None,
            Found::File | Found::Hollow(BackendError::ContentLost { .. }) if !input.overwrite => {
                return Err(BackendError::AlreadyExists { path });
            }
            Found::Hollow(error) => return Err(error),
            Found::Directory => return Err(BackendError::DirectoryInTheWay { path }),
            Found::File => Some(known_bytes(cx, &path).await?.into()),
        };
        let after = input.content.as_bytes().into();
        Ok(Preview::Diff { diff: diff_of(path, before, Some(after), DiffLimits::PREVIEW).await })
    }
}

fn within_limit(path: &VirtualPath, content: &str) -> Result<(), BackendError> {
    if content.len() <= MAX_CONTENT {
        return Ok(());
    }
    Err(BackendError::TooLarge { path: path.clone(), size: content.len() as u64, limit: MAX_CONTENT as u64 })
}

/// Without leave to overwrite, or without having read a file, there must be none. One whose content is lost cannot be read.
async fn expectation(cx: &ToolContext, path: &VirtualPath, overwrite: bool) -> Result<Expect, BackendError> {
    if !overwrite {
        return Ok(Expect::Absent);
    }
    if let Some(stamp) = cx.state.read_stamp(path) {
        return Ok(Expect::Unchanged(stamp));
    }
    Ok(match look(&*cx.backend, path).await? {
        Found::Hollow(BackendError::ContentLost { .. }) => Expect::Anything,
        _ => Expect::Absent,
    })
}

#[cfg(test)]
#[path = "write_file_tests.rs"]
mod tests;
