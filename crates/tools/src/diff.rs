//! Diffs of whole files for people: hunks with context and headings, changed words marked, bounded in time and size.

mod compact;
mod heading;
mod hunks;
mod pick;
mod words;

use std::time::Duration;

use bosun_backend::VirtualPath;
use similar::{Algorithm, DiffOp, TextDiff};

use crate::{DiffHunk, FileDiff};
pub(crate) use compact::CompactHunk;
use hunks::HunkWriter;
pub use pick::{carried, imposed, open_since, with_hunk, without_hunk};

/// How much of a diff is carried; what is over is counted and marked as left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffLimits {
    pub lines: usize,
    /// Characters of all lines together.
    pub characters: usize,
}

impl DiffLimits {
    /// What a person decides on: whole for every change a model makes in earnest.
    pub const PREVIEW: Self = Self { lines: 50_000, characters: 4_000_000 };
    /// What is kept with a result. The bytes before and after are kept as blobs, so that a whole diff can be made again.
    pub const ROW: Self = Self { lines: 400, characters: 40_000 };
}

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Lines are matched worse, never wrongly, where matching them well would take longer.
const PATIENCE: Duration = Duration::from_secs(2);
/// A NUL this far into a file says that it is not text.
const SNIFFED: usize = 8 * 1024;

/// The difference between two states of a file; `None` is a file that does not exist.
///
/// Lines end at LF, so that a changed line end shows as a changed line: the CR of CRLF stays in the text of a line,
/// except where both sides use CRLF throughout. A line that a side leaves without LF is marked.
pub fn file_diff(path: &VirtualPath, before: Option<&[u8]>, after: Option<&[u8]>, limits: DiffLimits) -> FileDiff {
    diff_within(path, before, after, limits, Some(PATIENCE))
}

/// `patience` of `None` matches lines as well as it goes, however long it takes.
fn diff_within(
    path: &VirtualPath,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    limits: DiffLimits,
    patience: Option<Duration>,
) -> FileDiff {
    let mut diff = FileDiff {
        created: before.is_none() && after.is_some(),
        deleted: before.is_some() && after.is_none(),
        ..FileDiff::empty(path)
    };
    let (Some(old), Some(new)) = (text(before), text(after)) else {
        diff.binary = true;
        return diff;
    };
    let sides = Sides {
        old: old.split_inclusive('\n').collect(),
        new: new.split_inclusive('\n').collect(),
        drop_cr: before.is_some() && after.is_some() && is_crlf(old) && is_crlf(new),
    };
    let mut matching = TextDiff::configure();
    matching.algorithm(Algorithm::Myers);
    if let Some(patience) = patience {
        matching.timeout(patience);
    }
    let matched = matching.diff_slices(&sides.old, &sides.new);
    for op in matched.ops() {
        if !matches!(op, DiffOp::Equal { .. }) {
            diff.removed = diff.removed.saturating_add(count(op.old_range().len()));
            diff.added = diff.added.saturating_add(count(op.new_range().len()));
        }
    }
    (diff.hunks, diff.truncated) = hunks_of(&sides, &matched.grouped_ops(CONTEXT), path, limits);
    diff
}

fn hunks_of(
    sides: &Sides<'_>,
    groups: &[Vec<DiffOp>],
    path: &VirtualPath,
    limits: DiffLimits,
) -> (Vec<DiffHunk>, bool) {
    let mut writer = HunkWriter::new(sides, path, limits);
    let mut hunks = Vec::new();
    for group in groups {
        if let Some(hunk) = writer.hunk(group) {
            hunks.push(hunk);
        }
        if writer.is_full() {
            return (hunks, true);
        }
    }
    (hunks, false)
}

/// Both states, by line, each with its line end.
struct Sides<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    drop_cr: bool,
}

impl Sides<'_> {
    /// A line without its end, and whether it had none.
    fn shown<'l>(&self, line: &'l str) -> (&'l str, bool) {
        match line.strip_suffix('\n') {
            Some(line) if self.drop_cr => (line.strip_suffix('\r').unwrap_or(line), false),
            Some(line) => (line, false),
            None => (line, true),
        }
    }
}

impl FileDiff {
    /// A diff of `path` with nothing in it.
    pub(crate) fn empty(path: &VirtualPath) -> Self {
        Self {
            path: path.as_str().to_owned(),
            added: 0,
            removed: 0,
            hunks: Vec::new(),
            binary: false,
            truncated: false,
            created: false,
            deleted: false,
        }
    }
}

fn text(bytes: Option<&[u8]>) -> Option<&str> {
    let bytes = bytes.unwrap_or_default();
    if bytes.get(..SNIFFED).unwrap_or(bytes).contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// Whether every line end is CRLF; a text without any is.
fn is_crlf(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .all(|(at, _)| at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\r'))
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
