use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Per line, the byte ranges that changed, in order.
pub(super) type Marks = Vec<Vec<Range<usize>>>;

pub(super) struct WordMarks {
    pub old: Marks,
    pub new: Marks,
}

/// Finds the changed words of replaced lines, within a budget for the whole diff.
pub(super) struct WordMarker {
    bytes_left: usize,
}

impl Default for WordMarker {
    fn default() -> Self {
        Self { bytes_left: 512 * 1024 }
    }
}

/// Replacements longer than this have changed as a whole for anyone who reads them.
const LARGEST: usize = 16 * 1024;
const PATIENCE: Duration = Duration::from_millis(200);
/// Below this share of common text, marking words makes two lines harder to read, not easier.
const LEAST_COMMON: f64 = 0.4;

impl WordMarker {
    /// `None` where the lines have too little in common, or are too long, for marks to help.
    pub(super) fn marks(&mut self, old: &[&str], new: &[&str]) -> Option<WordMarks> {
        let size: usize = old.iter().chain(new).map(|line| line.len()).sum();
        if old.is_empty() || new.is_empty() || size > LARGEST || size > self.bytes_left {
            return None;
        }
        self.bytes_left -= size;
        let (old_words, new_words) = (words(old), words(new));
        let texts = |words: &[Word<'_>]| -> Vec<u64> { words.iter().map(|word| hash(word.text)).collect() };
        let (old_keys, new_keys) = (texts(&old_words), texts(&new_words));
        let until = Instant::now().checked_add(PATIENCE);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old_keys, &new_keys, until);
        let common: usize = ops
            .iter()
            .filter(|op| matches!(op, DiffOp::Equal { .. }))
            .flat_map(|op| old_words.get(op.old_range()).unwrap_or_default())
            .filter(|word| !word.is_blank())
            .map(|word| word.text.len())
            .sum();
        let visible: usize =
            old_words.iter().chain(&new_words).filter(|word| !word.is_blank()).map(|word| word.text.len()).sum();
        #[allow(clippy::cast_precision_loss, reason = "at most a few kilobytes")]
        if visible == 0 || (2 * common) as f64 / (visible as f64) < LEAST_COMMON {
            return None;
        }
        let mut marks = WordMarks { old: vec![Vec::new(); old.len()], new: vec![Vec::new(); new.len()] };
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            mark(&mut marks.old, old_words.get(op.old_range()).unwrap_or_default());
            mark(&mut marks.new, new_words.get(op.new_range()).unwrap_or_default());
        }
        close_gaps(&mut marks.old, old);
        close_gaps(&mut marks.new, new);
        Some(marks)
    }
}

struct Word<'t> {
    line: usize,
    range: Range<usize>,
    text: &'t str,
}

impl Word<'_> {
    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Names and numbers, runs of white space, and every other character by itself; scripts written without spaces go
/// character by character.
fn words<'t>(lines: &[&'t str]) -> Vec<Word<'t>> {
    let mut words: Vec<Word<'t>> = Vec::new();
    for (line, text) in lines.iter().enumerate() {
        let mut last = Class::Single;
        for (at, character) in text.char_indices() {
            let end = at + character.len_utf8();
            let class = Class::of(character);
            match words.last_mut() {
                Some(word) if word.line == line && class == last && class != Class::Single => {
                    word.range.end = end;
                    word.text = text.get(word.range.clone()).unwrap_or_default();
                }
                _ => words.push(Word { line, range: at..end, text: text.get(at..end).unwrap_or_default() }),
            }
            last = class;
        }
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Name,
    Blank,
    Single,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            blank if blank.is_whitespace() => Self::Blank,
            '_' => Self::Name,
            // Han, kana and their neighbours.
            '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => Self::Single,
            name if name.is_alphanumeric() => Self::Name,
            _ => Self::Single,
        }
    }
}

/// Keeps comparisons short; a collision would only mark one word too few.
fn hash(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn mark(marks: &mut Marks, words: &[Word<'_>]) {
    for word in words {
        let Some(line) = marks.get_mut(word.line) else { continue };
        match line.last_mut() {
            Some(last) if last.end == word.range.start => last.end = word.range.end,
            _ => line.push(word.range.clone()),
        }
    }
}

/// Joins marks with nothing but white space between them: three changed words in a row read as one change.
fn close_gaps(marks: &mut Marks, lines: &[&str]) {
    for (line, text) in marks.iter_mut().zip(lines) {
        let mut joined: Vec<Range<usize>> = Vec::with_capacity(line.len());
        for range in line.drain(..) {
            match joined.last_mut() {
                Some(last) if text.get(last.end..range.start).is_some_and(|gap| gap.trim().is_empty()) => {
                    last.end = range.end;
                }
                _ => joined.push(range),
            }
        }
        *line = joined;
    }
}
