use std::ops::Range;

use similar::{Algorithm, DiffOp, TextDiff};

use super::{CONTEXT, PATIENCE, text};

/// One state of a file with single hunks of the other in it.
///
/// `hunk` is the place among the hunks that [`file_diff`](super::file_diff) gives of the same bytes. `None` where there is
/// no such hunk, or a side is not text.
pub fn with_hunk(before: &[u8], after: &[u8], hunk: usize) -> Option<Vec<u8>> {
    picked(before, after, |group| group == hunk)
}

/// As [`with_hunk`], but everything except that hunk.
pub fn without_hunk(before: &[u8], after: &[u8], hunk: usize) -> Option<Vec<u8>> {
    picked(before, after, |group| group != hunk).filter(|bytes| bytes != after)
}

fn picked(before: &[u8], after: &[u8], takes_new: impl Fn(usize) -> bool) -> Option<Vec<u8>> {
    let sides = Lines::of(before, after)?;
    let matched = sides.matched();
    let groups = matched.grouped_ops(CONTEXT);
    let group_of = |op: &DiffOp| groups.iter().position(|group| group.contains(op));
    let mut bytes = Vec::with_capacity(after.len());
    for op in matched.ops() {
        let is_new = match op {
            DiffOp::Equal { .. } => false,
            op => takes_new(group_of(op)?),
        };
        let lines = if is_new { sides.new.get(op.new_range()) } else { sides.old.get(op.old_range()) };
        lines?.iter().for_each(|line| bytes.extend_from_slice(line.as_bytes()));
    }
    Some(bytes)
}

/// What becomes of `now` when the change from `from` to `to` is made in it: `now` is `from` with someone's own edits, and
/// these stay. What both changed alike is changed once. `None` where the two meet, or something is not text.
pub fn carried(from: &[u8], to: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    if from == now || to == now {
        return Some(to.to_vec());
    }
    let ours = Lines::of(from, to)?;
    let theirs = Lines::of(from, now)?;
    let mut edits: Vec<Edit<'_>> = edits(&ours, Whose::Ours);
    edits.extend(self::edits(&theirs, Whose::Theirs));
    edits.sort_by_key(Edit::order);
    edits.dedup_by(|next, edit| next.whose != edit.whose && next.is_as(edit));
    let meet = |pair: &[Edit<'_>]| {
        let [first, second] = pair else { return false };
        // Right beside each other is too near: which comes first cannot be told.
        first.whose != second.whose && first.at.end >= second.at.start
    };
    if edits.windows(2).any(meet) {
        return None;
    }
    replaced(&ours.old, edits)
}

/// As [`carried`], but where the two meet the change from `from` to `to` stands, and of the other is left what lies around
/// it. Tells whether anything of that kind is left.
pub fn imposed(from: &[u8], to: &[u8], now: &[u8]) -> Option<(Vec<u8>, bool)> {
    if from == now || to == now {
        return Some((to.to_vec(), false));
    }
    let ours = Lines::of(from, to)?;
    let theirs = Lines::of(from, now)?;
    let mut edits: Vec<Edit<'_>> = edits(&ours, Whose::Ours);
    let (mut around, mut is_parted) = (Vec::new(), false);
    for edit in self::edits(&theirs, Whose::Theirs) {
        if edits.iter().any(|ours| ours.is_as(&edit)) {
            continue;
        }
        let parts = edit.without(&edits);
        is_parted |= parts.first().is_some_and(|part| part.at != edit.at);
        around.extend(parts);
    }
    edits.extend(around);
    edits.sort_by_key(Edit::order);
    Some((replaced(&ours.old, edits)?, is_parted))
}

/// From where on a change is open: `after` without what was changed since `before` and is open in `kept` too, a state in
/// which somebody kept some of it. What is open there in part is open whole. `None` where something is not text.
pub fn open_since(before: &[u8], kept: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    let ours = Lines::of(after, before)?;
    let theirs = Lines::of(after, kept)?;
    let open = edits(&theirs, Whose::Theirs);
    let is_open = |edit: &Edit<'_>| open.iter().any(|at| at.at.end >= edit.at.start && edit.at.end >= at.at.start);
    replaced(&ours.old, edits(&ours, Whose::Ours).into_iter().filter(is_open))
}

/// A text with these edits made, which follow each other.
fn replaced<'l>(old: &[&str], edits: impl IntoIterator<Item = Edit<'l>>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut take = |lines: &[&str]| lines.iter().for_each(|line| bytes.extend_from_slice(line.as_bytes()));
    let mut at = 0;
    for edit in edits {
        take(old.get(at..edit.at.start)?);
        take(edit.lines);
        at = edit.at.end;
    }
    take(old.get(at..)?);
    Some(bytes)
}

/// Lines of a text that someone replaced.
struct Edit<'l> {
    at: Range<usize>,
    lines: &'l [&'l str],
    whose: Whose,
}

#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Ours,
    Theirs,
}

impl<'l> Edit<'l> {
    fn order(&self) -> (usize, usize) {
        (self.at.start, self.at.end)
    }

    fn is_as(&self, other: &Edit<'_>) -> bool {
        (&self.at, self.lines) == (&other.at, other.lines)
    }

    /// What lies around `others`, which follow each other; the new lines stand in the first part. Nothing where they take
    /// the whole place.
    fn without(&self, others: &[Edit<'_>]) -> Vec<Edit<'l>> {
        let meets = |other: &&Edit<'_>| other.at.start < self.at.end && self.at.start < other.at.end;
        let (mut parts, mut start, mut is_whole) = (Vec::new(), self.at.start, true);
        for other in others.iter().filter(meets) {
            is_whole = false;
            if start < other.at.start {
                parts.push(start..other.at.start);
            }
            start = start.max(other.at.end);
        }
        if is_whole || start < self.at.end {
            parts.push(start..self.at.end);
        }
        let lines = |part: usize| if part == 0 { self.lines } else { &[] };
        let parts = parts.into_iter().enumerate();
        parts.map(|(part, at)| Edit { at, lines: lines(part), whose: self.whose }).collect()
    }
}

fn edits<'l>(lines: &'l Lines<'_>, whose: Whose) -> Vec<Edit<'l>> {
    let matched = lines.matched();
    let changes = matched.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let edit = |op: &DiffOp| {
        let lines = lines.new.get(op.new_range()).unwrap_or_default();
        Edit { at: op.old_range(), lines, whose }
    };
    changes.map(edit).collect()
}

struct Lines<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    fn of(old: &'t [u8], new: &'t [u8]) -> Option<Self> {
        let (old, new) = (text(Some(old))?, text(Some(new))?);
        Some(Self { old: old.split_inclusive('\n').collect(), new: new.split_inclusive('\n').collect() })
    }

    fn matched(&self) -> TextDiff<'t, 't, str> {
        // As a diff is shown: the same lines have to be in the same hunks.
        TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_slices(&self.old, &self.new)
    }
}

#[cfg(test)]
#[path = "pick_tests.rs"]
mod tests;
