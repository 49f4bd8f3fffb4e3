use std::ops::Range;

use bosun_backend::VirtualPath;
use similar::DiffOp;

use super::heading::Headings;
use super::words::{Marks, WordMarker};
use super::{DiffLimits, Sides, count};
use crate::{DiffHunk, DiffLine, DiffLineKind, DiffSegment};

/// Writes hunks until the limits are met.
pub(super) struct HunkWriter<'s, 't> {
    sides: &'s Sides<'t>,
    headings: Headings,
    words: WordMarker,
    lines_left: usize,
    characters_left: usize,
    full: bool,
}

impl<'s, 't> HunkWriter<'s, 't> {
    pub(super) fn new(sides: &'s Sides<'t>, path: &VirtualPath, limits: DiffLimits) -> Self {
        Self {
            sides,
            headings: Headings::of(path),
            words: WordMarker::default(),
            lines_left: limits.lines,
            characters_left: limits.characters,
            full: false,
        }
    }

    /// Something did not fit any more.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The hunk of one group of operations, cut where the limits are met; `None` where nothing of it fits.
    pub(super) fn hunk(&mut self, group: &[DiffOp]) -> Option<DiffHunk> {
        let (first, last) = (group.first()?, group.last()?);
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let mut lines = Vec::new();
        for op in group {
            self.operation(op, &mut lines);
            if self.full {
                break;
            }
        }
        if lines.is_empty() {
            return None;
        }
        let on = |side: fn(&DiffLine) -> Option<u32>| count(lines.iter().filter(|line| side(line).is_some()).count());
        let (old_lines, new_lines) = (on(|line| line.old), on(|line| line.new));
        Some(DiffHunk {
            old_start: start(&old, old_lines),
            old_lines,
            new_start: start(&new, new_lines),
            new_lines,
            heading: self.heading(group, &old, &new),
            lines,
        })
    }

    fn operation(&mut self, op: &DiffOp, out: &mut Vec<DiffLine>) {
        let (old, new) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            for (old, new) in old.zip(new) {
                self.line(DiffLineKind::Context, Some(old), Some(new), None, out);
            }
            return;
        }
        let sides = self.sides;
        let slice = |side: &'s [&'t str], range: &Range<usize>| -> &'s [&'t str] {
            side.get(range.clone()).unwrap_or_default()
        };
        let (old_lines, new_lines) = (slice(&sides.old, &old), slice(&sides.new, &new));
        let marks = self.words.marks(
            &old_lines.iter().map(|line| sides.shown(line).0).collect::<Vec<_>>(),
            &new_lines.iter().map(|line| sides.shown(line).0).collect::<Vec<_>>(),
        );
        let (old_marks, new_marks) = marks.map_or((None, None), |marks| (Some(marks.old), Some(marks.new)));
        for (row, at) in old.enumerate() {
            self.line(DiffLineKind::Removed, Some(at), None, marks_of(old_marks.as_ref(), row), out);
        }
        for (row, at) in new.enumerate() {
            self.line(DiffLineKind::Added, None, Some(at), marks_of(new_marks.as_ref(), row), out);
        }
    }

    fn line(
        &mut self,
        kind: DiffLineKind,
        old: Option<usize>,
        new: Option<usize>,
        marks: Option<&[Range<usize>]>,
        out: &mut Vec<DiffLine>,
    ) {
        let from = match new {
            Some(at) => self.sides.new.get(at),
            None => old.and_then(|at| self.sides.old.get(at)),
        };
        let Some(line) = from else { return };
        if self.full || self.lines_left == 0 {
            self.full = true;
            return;
        }
        let (text, no_newline) = self.sides.shown(line);
        let shown = self.room_for(text);
        self.lines_left -= 1;
        let number = |at: usize| count(at + 1);
        out.push(DiffLine {
            kind,
            old: old.map(number),
            new: new.map(number),
            segments: segments(shown, marks.unwrap_or_default()),
            no_newline,
        });
    }

    /// As much of `text` as may still be carried.
    fn room_for<'l>(&mut self, text: &'l str) -> &'l str {
        match text.char_indices().nth(self.characters_left) {
            Some((cut, _)) => {
                self.full = true;
                self.characters_left = 0;
                text.get(..cut).unwrap_or_default()
            }
            None => {
                self.characters_left -= text.chars().count();
                text
            }
        }
    }

    /// Searched on the side that has the change: the new one, or the old one where lines only go.
    fn heading(&self, group: &[DiffOp], old: &Range<usize>, new: &Range<usize>) -> String {
        let changed = group.iter().find(|op| !matches!(op, DiffOp::Equal { .. }));
        let found = match changed {
            Some(op) if op.new_range().is_empty() => {
                self.headings.above(&self.sides.old, old.start, op.old_range().start)
            }
            Some(op) => self.headings.above(&self.sides.new, new.start, op.new_range().start),
            None => None,
        };
        found.unwrap_or_default()
    }
}

/// 1-based; for a side without lines, the line before (0 at the top), as unified diffs have it.
fn start(range: &Range<usize>, lines: u32) -> u32 {
    if lines == 0 { count(range.start) } else { count(range.start + 1) }
}

fn marks_of(marks: Option<&Marks>, row: usize) -> Option<&[Range<usize>]> {
    marks?.get(row).map(Vec::as_slice)
}

/// `text` cut at the edges of `marks`, which are byte ranges in order.
fn segments(text: &str, marks: &[Range<usize>]) -> Vec<DiffSegment> {
    let mut segments = Vec::new();
    let mut push = |range: Range<usize>, changed: bool| {
        if let Some(part) = text.get(range).filter(|part| !part.is_empty()) {
            segments.push(DiffSegment { text: part.to_owned(), changed });
        }
    };
    let mut at = 0;
    for mark in marks {
        let (from, to) = (mark.start.min(text.len()), mark.end.min(text.len()));
        push(at..from, false);
        push(from..to, true);
        at = to;
    }
    push(at..text.len(), false);
    segments
}
