use std::borrow::Cow;

use bosun_backend::{Backend, BackendError, GlobQuery, Truncation, VirtualPath};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ls::NOTHING_FOUND;
use super::{resolve, shown};
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
            pattern: virtual_pattern(&*cx.backend, &path, input.pattern),
            path: path.clone(),
            include_ignored: input.include_ignored,
            cancel: cx.cancel.clone(),
        };
        let result = match cx.backend.glob(query).await {
            Err(
                BackendError::DirectoryNotFound { .. }
                | BackendError::NotFound { .. }
                | BackendError::NotADirectory { .. },
            ) => {
                return Ok(found(0, false, format!("{NOTHING_FOUND}: '{path}' is not a folder")));
            }
            other => other?,
        };
        let notes = result.truncated.map(note).map(str::to_owned).into_iter().chain(left_out(result.left_out));
        let notes: Vec<String> = notes.chain(not_searched(&result.failed)).collect();
        let notes: String = notes.into_iter().map(|note| format!("\n\n{note}")).collect();
        let count = result.paths.len();
        let listing = Listing::of(result.paths.iter().map(shown), GUIDANCE, notes.len());
        let text = if count == 0 { NOTHING_FOUND.to_owned() } else { listing.text };
        Ok(found(count, listing.cut || result.is_partial(), text + &notes))
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

/// A pattern written with the host path of the project in front means the same below "/" (behaviour.md A26).
pub(super) fn virtual_pattern(backend: &dyn Backend, below: &VirtualPath, pattern: String) -> String {
    if !below.is_root() || !pattern.starts_with('/') {
        return pattern;
    }
    let root = backend.host_path(&VirtualPath::root());
    let Some(root) = root.as_deref().and_then(|root| root.to_str()).map(|root| root.trim_end_matches('/')) else {
        return pattern;
    };
    match pattern.strip_prefix(root) {
        Some(rest) if !root.is_empty() && rest.starts_with('/') => rest.to_owned(),
        _ => pattern,
    }
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
