use serde::{Deserialize, Serialize};

use crate::{DiffHunk, DiffLine, DiffLineKind, DiffSegment};

/// A hunk as it is kept: its lines as in a unified diff, with the changed parts beside them. A diff is recorded with
/// every change, so that it has to cost little more than its text.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CompactHunk {
    old_start: u32,
    old_lines: u32,
    new_start: u32,
    new_lines: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    heading: String,
    /// Each behind ` `, `+` or `-`.
    lines: Vec<String>,
    /// Index of a line, and where its text goes from unchanged to changed and back, in bytes. (Pairs: a map with numbers
    /// as keys cannot be read inside a tagged enum.)
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<(usize, Vec<usize>)>,
    /// Indices of lines without a line feed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    no_newline: Vec<usize>,
}

impl From<DiffHunk> for CompactHunk {
    fn from(hunk: DiffHunk) -> Self {
        let DiffHunk { old_start, old_lines, new_start, new_lines, heading, lines } = hunk;
        let no_newline = indices(&lines, |line| line.no_newline);
        let mut changed = Vec::new();
        let mut texts = Vec::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            let mut text = String::from(match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            });
            let mut edges = Vec::new();
            let mut in_change = false;
            for segment in &line.segments {
                if segment.changed != in_change {
                    edges.push(text.len() - 1);
                    in_change = segment.changed;
                }
                text.push_str(&segment.text);
            }
            if !edges.is_empty() {
                changed.push((index, edges));
            }
            texts.push(text);
        }
        Self { old_start, old_lines, new_start, new_lines, heading, lines: texts, changed, no_newline }
    }
}

impl From<CompactHunk> for DiffHunk {
    fn from(compact: CompactHunk) -> Self {
        let CompactHunk { old_start, old_lines, new_start, new_lines, heading, lines, changed, no_newline } = compact;
        let (mut old, mut new) = (old_start, new_start);
        let take = |next: &mut u32| {
            let number = *next;
            *next = next.saturating_add(1);
            Some(number)
        };
        let mut changed = changed.into_iter().peekable();
        let lines = lines.iter().enumerate().map(|(index, line)| {
            let (kind, old, new) = match line.chars().next() {
                Some('+') => (DiffLineKind::Added, None, take(&mut new)),
                Some('-') => (DiffLineKind::Removed, take(&mut old), None),
                _ => (DiffLineKind::Context, take(&mut old), take(&mut new)),
            };
            let edges = changed.next_if(|(of, _)| *of == index).map(|(_, edges)| edges).unwrap_or_default();
            let segments = segments(line.get(1..).unwrap_or_default(), &edges);
            DiffLine { kind, old, new, segments, no_newline: no_newline.contains(&index) }
        });
        Self { old_start, old_lines, new_start, new_lines, heading, lines: lines.collect() }
    }
}

fn indices(lines: &[DiffLine], of: impl Fn(&DiffLine) -> bool) -> Vec<usize> {
    lines.iter().enumerate().filter(|(_, line)| of(line)).map(|(index, _)| index).collect()
}

fn segments(text: &str, edges: &[usize]) -> Vec<DiffSegment> {
    let ends = edges.iter().copied().chain([text.len()]);
    let starts = [0].into_iter().chain(edges.iter().copied());
    let parts = starts.zip(ends).enumerate().filter_map(|(index, (from, to))| {
        let part = text.get(from..to).filter(|part| !part.is_empty())?;
        Some(DiffSegment { text: part.to_owned(), changed: index % 2 == 1 })
    });
    parts.collect()
}
