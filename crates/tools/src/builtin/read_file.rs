mod page;

use std::borrow::Cow;

use bosun_backend::{BackendError, ReadContent, ReadWindow, TextPage, VirtualPath};
use bosun_model::ContentBlock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resolve;
use crate::limits::{RESULT_CHARS, figure};
use crate::{Artifact, Figure, StateUpdate, Tool, ToolContext, ToolError, ToolKind, ToolOutput, media};
use page::Page;

/// How text is shown (behaviour.md A2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadFormat {
    /// Every line behind its number.
    #[default]
    Numbered,
    /// One header, then the lines as they are.
    Plain,
}

/// Reads a file, or a page of it.
pub struct ReadFile {
    format: ReadFormat,
}

impl ReadFile {
    pub fn new(format: ReadFormat) -> Self {
        Self { format }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadFileInput {
    /// The file, for example "/src/main.rs".
    file_path: String,
    /// Lines to pass over first: 0 begins at line 1, 100 at line 101.
    #[serde(default)]
    offset: i64,
    /// Most lines to show.
    #[serde(default = "default_limit")]
    limit: i64,
}

fn default_limit() -> i64 {
    100
}

/// A row is never shorter than its number and its end, so that more rows than this cannot be shown.
const MOST_ROWS: u64 = (RESULT_CHARS / 8) as u64;
const EMPTY: &str = "System reminder: the file exists but is empty.";

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    type Input = ReadFileInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        let shape = match self.format {
            ReadFormat::Numbered => {
                "Each line is shown behind its number and a tab, which are not part of the file; a line over 5,000 \
                 characters goes on in rows numbered N.1, N.2."
            }
            ReadFormat::Plain => "A first line between @@ says which lines these are and is not part of the file.",
        };
        format!(
            "Reads a file. {shape} When more follows, the result says how many lines there are and the offset to go on \
             at: read large files page by page, or find the place with grep first. Images and PDF files are shown as \
             such, sound and film where you can take them. A file has to be read before it can be changed. Read several \
             files in one step when you need them all."
        )
        .into()
    }

    fn reads(&self, cx: &ToolContext, input: &ReadFileInput) -> Option<VirtualPath> {
        resolve(cx, &input.file_path).ok()
    }

    async fn call(&self, cx: &ToolContext, input: ReadFileInput) -> Result<ToolOutput, ToolError> {
        let path = resolve(cx, &input.file_path)?;
        let limit = u64::try_from(input.limit).unwrap_or(0);
        let window = match limit {
            0 => ReadWindow { offset: 0, limit: 1 },
            limit => ReadWindow { offset: u64::try_from(input.offset).unwrap_or(0), limit: limit.min(MOST_ROWS) },
        };
        let result = match cx.backend.read(&path, window).await {
            Ok(result) => result,
            Err(error) => return refused(cx, &path, error).await,
        };
        let mut output = match &result.content {
            ReadContent::Text(_) if limit == 0 => {
                return Ok(ToolOutput::text(format!(
                    "[No lines were read: limit is {}. Ask for at least 1.]",
                    input.limit
                )));
            }
            ReadContent::Text(page) if page.blank => ToolOutput::text(EMPTY),
            ReadContent::Bytes { bytes, .. } if bytes.is_empty() => ToolOutput::text(EMPTY),
            ReadContent::Text(page) => shown(self.format, page, window.limit, input.offset),
            ReadContent::Bytes { mime, bytes } => seen(media::block(&path, mime, bytes, cx.abilities), bytes.len()),
        };
        output.update.reads.push((path, Some(result.stamp)));
        Ok(output)
    }
}

fn shown(format: ReadFormat, page: &TextPage, limit: u64, offset: i64) -> ToolOutput {
    let Page { text, lines, cut } = match format {
        ReadFormat::Numbered => page::numbered(page, limit, offset),
        ReadFormat::Plain => page::plain(page, offset),
    };
    ToolOutput {
        artifact: Artifact { figures: vec![Figure::Lines(figure(lines))], truncated: cut, ..Artifact::default() },
        ..ToolOutput::text(text)
    }
}

/// A block that stands for a whole file of `size` bytes.
fn seen(block: ContentBlock, size: usize) -> ToolOutput {
    let figures = match &block {
        ContentBlock::Media(media) => vec![Figure::Media { kind: media.kind, size: figure(size) }],
        ContentBlock::Text { .. } | ContentBlock::Reasoning(_) => Vec::new(),
    };
    ToolOutput { content: vec![block], artifact: Artifact { figures, ..Artifact::default() }, ..ToolOutput::default() }
}

/// What the agent learns of a file that cannot be shown: bytes that are no text are known from then on, so that the
/// file can be deleted or overwritten; a file that is gone is forgotten.
async fn refused(cx: &ToolContext, path: &VirtualPath, error: BackendError) -> Result<ToolOutput, ToolError> {
    let reads = match &error {
        BackendError::NotText { .. } | BackendError::Binary { .. } => cx.backend.stamp(path).await.ok().map(Some),
        BackendError::NotFound { .. } | BackendError::IsADirectory { .. } => cx.state.read_stamp(path).map(|_| None),
        _ => None,
    };
    match ToolError::from(error) {
        ToolError::Model(text) => Ok(ToolOutput {
            update: StateUpdate {
                reads: reads.into_iter().map(|stamp| (path.clone(), stamp)).collect(),
                ..StateUpdate::default()
            },
            ..ToolOutput::error(text)
        }),
        error => Err(error),
    }
}

#[cfg(test)]
#[path = "read_file_tests.rs"]
mod tests;
