use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{resolve, shown};
use crate::limits::{Listing, figure, left_out};
use crate::{Artifact, Figure, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// What lists show when they have nothing to show.
pub(super) const NOTHING_FOUND: &str = "No files found";
const GUIDANCE: &str = "[The list is cut here. List a folder further down, or use glob with a pattern.]";

/// Lists a folder.
pub struct Ls;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct LsInput {
    /// The folder to list, for example "/src". "/" is the topmost.
    #[serde(default = "root")]
    path: String,
}

fn root() -> String {
    "/".into()
}

impl Tool for Ls {
    const NAME: &'static str = "ls";
    type Input = LsInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Lists what is directly in a folder, one path per line; folders end in \"/\". Shows hidden and ignored files \
         too. Look here before you read or change files in a place you do not know yet."
            .into()
    }

    async fn call(&self, cx: &ToolContext, input: LsInput) -> Result<ToolOutput, ToolError> {
        let path = resolve(cx, &input.path)?;
        let entries = cx.backend.names(&path).await?;
        let note = left_out(entries.left_out).map(|note| format!("\n\n{note}")).unwrap_or_default();
        if entries.is_empty() {
            return Ok(ToolOutput {
                artifact: Artifact { figures: vec![Figure::Entries(0)], ..Artifact::default() },
                ..ToolOutput::text(format!("{NOTHING_FOUND}{note}"))
            });
        }
        let lines =
            entries.iter().map(|entry| format!("{}{}", shown(&entry.path), if entry.is_dir { "/" } else { "" }));
        let listing = Listing::of(lines, GUIDANCE, note.len() + GUIDANCE.len());
        let cut = if entries.cut && !listing.cut { format!("\n{GUIDANCE}") } else { String::new() };
        Ok(ToolOutput {
            artifact: Artifact {
                figures: vec![Figure::Entries(figure(entries.len()))],
                truncated: listing.cut || entries.cut,
                ..Artifact::default()
            },
            ..ToolOutput::text(listing.text + &cut + &note)
        })
    }
}

#[cfg(test)]
#[path = "ls_tests.rs"]
mod tests;
