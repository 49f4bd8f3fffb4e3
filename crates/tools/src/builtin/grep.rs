use std::borrow::Cow;
use std::collections::BTreeMap;

use bosun_backend::{GrepMatch, GrepQuery, GrepResult, Truncation, VirtualPath, quoted};
use schemars::JsonSchema;
use serde::Deserialize;

use super::glob::pattern_below;
use super::{Start, at_start, resolve, shown, unread};
use crate::limits::{Listing, excerpt, figure, left_out, not_searched};
use crate::{Artifact, Figure, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

const NO_MATCHES: &str = "No matches found";
const GUIDANCE: &str = "[The result is cut here. Narrow it with path or glob, or ask for output_mode \"count\".]";
/// Matches that are ever collected: a result shows far fewer.
const MOST_MATCHES: u64 = 100_000;
/// Longest line shown, in characters.
const LINE_CHARS: usize = 500;

/// Finds lines by their text.
pub struct Grep {
    default_max_count: u32,
}

impl Grep {
    pub fn new(default_max_count: u32) -> Self {
        Self { default_max_count }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct GrepInput {
    /// The exact text to find within a line, upper and lower case as written. It is no regular expression unless
    /// `regex` is true.
    pattern: String,
    /// The file or folder to search. Left out, everything is searched.
    path: Option<String>,
    /// Searches only files that this pattern finds, written as for the glob tool: "*.py", "src/**/*.ts".
    glob: Option<String>,
    /// "files_with_matches": the paths only. "content": every matching line with its number. "count": matches per file.
    #[serde(default)]
    output_mode: OutputMode,
    /// Most matches to collect over all files.
    #[schemars(range(min = 1))]
    max_count: Option<u64>,
    /// Takes `pattern` as a regular expression (Rust syntax: no look-around, no back-references).
    #[serde(default)]
    regex: bool,
    /// Also searches files that ignore files (.gitignore) leave out, and hidden ones.
    #[serde(default)]
    include_ignored: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    type Input = GrepInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        format!(
            "Finds lines that hold a text, in all files or below a path. Start with the paths alone, then look at lines \
             with output_mode \"content\". Ignored and hidden files are left out unless you ask for them. Stops after \
             {} matches unless max_count says otherwise.",
            self.default_max_count
        )
        .into()
    }

    async fn call(&self, cx: &ToolContext, input: GrepInput) -> Result<ToolOutput, ToolError> {
        let path = input.path.as_deref().map_or_else(|| Ok(VirtualPath::root()), |path| resolve(cx, path))?;
        let max_count = input.max_count.unwrap_or_else(|| self.default_max_count.into()).min(MOST_MATCHES);
        let query = GrepQuery {
            regex: input.regex,
            glob: input.glob.map(|glob| pattern_below(&*cx.backend, &path, glob)).transpose()?,
            path: path.clone(),
            include_ignored: input.include_ignored,
            cancel: cx.cancel.clone(),
            ..GrepQuery::literal(input.pattern.clone(), usize::try_from(max_count).unwrap_or(usize::MAX))
        };
        let result = cx.backend.grep(query).await?;
        let nothing = |why: &str| {
            let text = format!("{NO_MATCHES}: '{}' {why}", quoted(path.as_str()));
            Ok(found(&result, 0, result.is_partial(), text))
        };
        if result.binary {
            return nothing("is a binary file, and only text is searched.");
        }
        if result == GrepResult::default() && at_start(&*cx.backend, &path).await == Start::Missing {
            return nothing("does not exist");
        }
        let literal = (!input.regex).then_some(input.pattern.as_str());
        Ok(rendered(&result, input.output_mode, literal, max_count))
    }
}

/// `literal` is the pattern where it is no regular expression.
fn rendered(result: &GrepResult, mode: OutputMode, literal: Option<&str>, max_count: u64) -> ToolOutput {
    let notes = result.truncated.map(|why| note(why, max_count)).into_iter().chain(unread(&result.unread));
    let notes = notes.chain(left_out(result.left_out)).chain(not_searched(&result.failed));
    let notes: String = notes.map(|note| format!("\n\n{note}")).collect();
    let mut by_file: BTreeMap<&VirtualPath, Vec<&GrepMatch>> = BTreeMap::new();
    for hit in &result.matches {
        by_file.entry(&hit.path).or_default().push(hit);
    }
    let lines: Box<dyn Iterator<Item = String> + '_> = match mode {
        OutputMode::FilesWithMatches => Box::new(by_file.keys().map(|path| shown(path).into_owned())),
        OutputMode::Count => Box::new(by_file.iter().map(|(path, hits)| format!("{}: {}", shown(path), hits.len()))),
        OutputMode::Content => Box::new(by_file.iter().flat_map(|(path, hits)| {
            let head = std::iter::once(format!("{}:", shown(path)));
            head.chain(hits.iter().map(|hit| format!("  {}: {}", hit.line, line_of(hit, literal))))
        })),
    };
    let listing = Listing::of(lines, GUIDANCE, notes.len());
    let text = if by_file.is_empty() { nothing_found(literal) } else { listing.text };
    found(result, by_file.len(), listing.cut || result.is_partial(), text + &notes)
}

fn found(result: &GrepResult, files: usize, truncated: bool, text: String) -> ToolOutput {
    ToolOutput {
        artifact: Artifact {
            figures: vec![Figure::Matches(figure(result.matches.len())), Figure::Files(figure(files))],
            truncated,
            ..Artifact::default()
        },
        ..ToolOutput::text(text)
    }
}

/// A matching line, cut around the match where it is very long.
fn line_of(hit: &GrepMatch, literal: Option<&str>) -> String {
    let at = literal.and_then(|literal| hit.text.find(literal)).unwrap_or(0);
    excerpt(hit.text.trim_end_matches(['\r', '\n']), at, LINE_CHARS)
}

fn nothing_found(literal: Option<&str>) -> String {
    match literal {
        Some(pattern) if pattern.contains(['\n', '\r']) => format!(
            "{NO_MATCHES}. Lines are searched one by one, and none holds a line break: search for the text of one line."
        ),
        Some(pattern) if looks_like_regex(pattern) => format!(
            "{NO_MATCHES}. The pattern was taken as literal text; set regex: true to use it as a regular expression."
        ),
        _ => NO_MATCHES.to_owned(),
    }
}

fn looks_like_regex(pattern: &str) -> bool {
    let escape =
        |next: char| matches!(next, 'b' | 'B' | 'd' | 'D' | 's' | 'S' | 'w' | 'W') || next.is_ascii_punctuation();
    pattern.contains('|')
        || pattern.contains(".*")
        || pattern.contains(".+")
        || pattern.split('\\').skip(1).any(|rest| rest.starts_with(escape))
}

fn note(why: Truncation, max_count: u64) -> String {
    match why {
        Truncation::Count => format!(
            "[Stopped after {max_count} matches, the maximum match count, so there may be more. Narrow the search with \
             path or glob, or raise max_count.]"
        ),
        Truncation::Budget => {
            "[The search stopped at its time limit, so there may be more. Narrow it with path or glob.]".into()
        }
        Truncation::Unreadable => {
            "[Some files could not be read, so there may be more. A narrower search will not show them.]".into()
        }
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
