use std::borrow::Cow;

use bosun_backend::{Backend, BackendError, Expect, VirtualPath};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{resolve, target};
use crate::changed::{Recorder, changed};
use crate::known::{Found, KnownBelow, known, look, still_known};
use crate::limits::{counted, figure};
use crate::{Figure, Preview, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// Removes a file or a folder.
pub struct Delete;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeleteInput {
    /// The file or folder, for example "/build".
    file_path: String,
}

/// What a preview counts at most, and how many folders it looks into.
const MAX_COUNTED: usize = 1_000;
const MAX_FOLDERS: usize = 200;

impl Tool for Delete {
    const NAME: &'static str = "delete";
    type Input = DeleteInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn description(&self) -> Cow<'_, str> {
        "Deletes a file, or a folder with everything in it. A file has to have been read, what is in a folder does not: \
         list it first. Of a link, only the link goes."
            .into()
    }

    async fn call(&self, cx: &ToolContext, input: DeleteInput) -> Result<ToolOutput, ToolError> {
        let path = resolve(cx, &input.file_path)?;
        let Some(deleter) = cx.backend.deleter() else {
            return Err(BackendError::CannotDelete { path }.into());
        };
        let Doomed { expect, is_dir, below } = doomed(cx, &path).await?;
        let recorder = Recorder::new(&*cx.witness);
        let changes = deleter.delete(&path, expect, &below.guarding(&recorder)).await?;
        let diff = if is_dir { None } else { recorder.diff().await };
        let mut output = changed(format!("Deleted {path}"), &changes, diff);
        if is_dir {
            output.artifact.figures = vec![Figure::Files(figure(changes.len()))];
            output.content = vec![format!("Deleted {path} ({})", counted(changes.len(), "file", "files")).into()];
        }
        Ok(output)
    }

    async fn preview(&self, cx: &ToolContext, input: &DeleteInput) -> Preview {
        match planned(cx, input).await {
            Ok(preview) => preview,
            Err(error) => Preview::failing(&error),
        }
    }

    fn mutates(&self, cx: &ToolContext, input: &DeleteInput) -> Option<VirtualPath> {
        target(cx, &input.file_path)
    }
}

struct Doomed {
    expect: Expect,
    is_dir: bool,
    /// What goes with a folder and was read.
    below: KnownBelow,
}

impl Doomed {
    /// One name, with nothing in it.
    fn single(expect: Expect) -> Self {
        Self { expect, is_dir: false, below: KnownBelow::default() }
    }
}

/// Whether `path` itself is a link.
async fn is_link(backend: &dyn Backend, path: &VirtualPath) -> bool {
    backend.stat(path).await.is_ok_and(|found| found.is_link)
}

/// A file has to be known. A folder has no content of its own to know: whoever has built files thrown away has read none
/// of them, a person is asked each time, told how many go, and has every one of them back by undoing. A file in it that was
/// read is to be what was read. A link, a broken one or a pipe has none to lose.
async fn doomed(cx: &ToolContext, path: &VirtualPath) -> Result<Doomed, BackendError> {
    if path.is_root() {
        return Err(BackendError::ProtectedRoot { path: path.clone() });
    }
    match look(&*cx.backend, path).await? {
        Found::Nothing => Err(BackendError::NotFound { path: path.clone() }),
        Found::Directory if is_link(&*cx.backend, path).await => Ok(Doomed::single(Expect::Anything)),
        Found::Directory => {
            let below = KnownBelow::of(cx, path);
            below.still_known(cx, path).await?;
            Ok(Doomed { expect: Expect::Anything, is_dir: true, below })
        }
        Found::Hollow(_) => Ok(Doomed::single(Expect::Anything)),
        Found::File => Ok(Doomed::single(Expect::Unchanged(known(cx, path).await?))),
    }
}

async fn planned(cx: &ToolContext, input: &DeleteInput) -> Result<Preview, BackendError> {
    let path = cx.backend.resolve(&input.file_path)?;
    let Doomed { expect, is_dir, .. } = doomed(cx, &path).await?;
    if let Expect::Unchanged(_) = expect {
        still_known(cx, &path).await?;
    }
    let (files, counted_all) = if is_dir { count_files(&*cx.backend, &path).await? } else { (1, true) };
    Ok(Preview::Delete { path: path.as_str().to_owned(), files: figure(files), counted_all, is_dir })
}

/// Files below a folder, up to a limit, and whether these are all.
async fn count_files(backend: &dyn Backend, path: &VirtualPath) -> Result<(usize, bool), BackendError> {
    let mut waiting = vec![path.clone()];
    let (mut files, mut folders) = (0, 0);
    while let Some(folder) = waiting.pop() {
        folders += 1;
        if folders > MAX_FOLDERS {
            return Ok((files, false));
        }
        for entry in backend.ls(&folder).await? {
            if entry.is_dir && !entry.is_link {
                waiting.push(entry.path);
            } else if files == MAX_COUNTED {
                return Ok((files, false));
            } else {
                files += 1;
            }
        }
    }
    Ok((files, true))
}

#[cfg(test)]
#[path = "delete_tests.rs"]
mod tests;
