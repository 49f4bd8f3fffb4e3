use std::borrow::Cow;

use bosun_backend::{Backend, BackendError, GlobQuery, Truncation, VirtualPath, quoted};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ls::NOTHING_FOUND;
use super::{Start, at_start, resolve, shown, unread};
use crate::limits::{Listing, figure, left_out, not_searched};
use crate::{Artifact, Figure, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

const GUIDANCE: &str = "[The list is cut here. Use a narrower pattern or path.]";

/// Finds files by name.
pub struct Glob;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct GlobInput {
    /// For example "*.py" (by name, at any depth), "src/**/*.rs" (by path below the folder searched), "/*.md" (only
    /// directly in it), "*.{ts,tsx}". "*" and "?" stay within a name, "**" crosses folders. A dot in front has to be
    /// written: "*" does not find ".env".
    pattern: String,
    /// The folder to search. Left out, everything is searched.
    path: Option<String>,
    /// Also finds files that ignore files (.gitignore) leave out, and hidden ones.
    #[serde(default)]
    include_ignored: bool,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    type Input = GlobInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Finds files by name, one path per line, sorted. Ignored and hidden files are left out unless you ask for them. \
         Use it when you know something of the name; use grep when you know something of the content."
            .into()
    }

    async fn call(&self, cx: &ToolContext, input: GlobInput) -> Result<ToolOutput, ToolError> {
        let path = input.path.as_deref().map_or_else(|| Ok(VirtualPath::root()), |path| resolve(cx, path))?;
        let query = GlobQuery {
            pattern: pattern_below(&*cx.backend, &path, input.pattern)?,
            path: path.clone(),
            include_ignored: input.include_ignored,
            cancel: cx.cancel.clone(),
        };
        let result = cx.backend.glob(query).await?;
        let notes = result.truncated.map(note).map(str::to_owned).into_iter().chain(unread(&result.unread));
        let notes = notes.chain(left_out(result.left_out)).chain(not_searched(&result.failed));
        let notes: String = notes.map(|note| format!("\n\n{note}")).collect();
        let count = result.paths.len();
        let listing = Listing::of(result.paths.iter().map(shown), GUIDANCE, notes.len());
        let text = if count == 0 { nothing_found(&*cx.backend, &path).await } else { listing.text };
        Ok(found(count, listing.cut || result.is_partial(), text + &notes))
    }
}

async fn nothing_found(backend: &dyn Backend, start: &VirtualPath) -> String {
    match at_start(backend, start).await {
        Start::Missing => format!("{NOTHING_FOUND}: '{}' does not exist", quoted(start.as_str())),
        Start::File => format!("{NOTHING_FOUND}: '{}' is a file, not a folder", quoted(start.as_str())),
        Start::Other => NOTHING_FOUND.to_owned(),
    }
}

fn found(count: usize, truncated: bool, text: String) -> ToolOutput {
    ToolOutput {
        artifact: Artifact { figures: vec![Figure::Files(figure(count))], truncated, ..Artifact::default() },
        ..ToolOutput::text(text)
    }
}

fn note(why: Truncation) -> &'static str {
    match why {
        Truncation::Count | Truncation::Budget => {
            "[The search stopped at its limit, so there may be more. Use a narrower pattern or path.]"
        }
        Truncation::Unreadable => {
            "[Some folders could not be read, so there may be more. A narrower search will not show them.]"
        }
    }
}

/// What stands before the name in a pattern of the whole path space is read as a path is: with the root's own name in front
/// it means the same below "/" (behaviour.md A26). In a folder that is named, "/" is that folder.
///
/// # Errors
/// [`BackendError::AmbiguousPath`]. What is no path is for the dialect to judge.
pub(super) fn pattern_below(
    backend: &dyn Backend,
    start: &VirtualPath,
    pattern: String,
) -> Result<String, BackendError> {
    let folder = pattern.rsplit_once('/').filter(|(folder, _)| start.is_root() && folder.starts_with('/'));
    let Some((folder, name)) = folder else { return Ok(pattern) };
    match (VirtualPath::parse(folder), backend.resolve(folder)) {
        (Ok(_), Err(error)) => Err(error),
        (Ok(literal), Ok(resolved)) if resolved != literal => {
            Ok(format!("{}/{name}", resolved.as_str().trim_end_matches('/')))
        }
        _ => Ok(pattern),
    }
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
