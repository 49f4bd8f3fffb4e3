use std::io::{self, Read};

use grep_matcher::{LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use memchr::memmem::Finder;
use rustix::io::Errno;

use super::Budget;
use super::lines::{Unified, unify};
use super::unread::Why;
use crate::text::{BOM, binary_at};
use crate::{BackendError, quoted};

/// Files up to this size are searched in one piece.
const PIECE: usize = 256 * 1024;
/// Memory for one line of a larger file. A file with a longer one is left at that line.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// Bytes of a line that are shown.
const SHOWN: usize = 2000;
/// Of those, before the match.
const LEAD: usize = 400;
/// Bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 10 * 1024 * 1024;

/// What to look for in every file.
pub(super) struct FileSearch(Wanted);

#[derive(Clone)]
enum Wanted {
    /// A text with a line end in it, which no line holds.
    Nothing,
    Text(Text),
    Regex(RegexMatcher),
}

/// A text as it stands. An engine for patterns takes time with the square of a long one that nearly matches everywhere;
/// this one never goes over a byte more than a few times.
#[derive(Clone)]
struct Text(Finder<'static>);

impl Matcher for Text {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        let found = haystack.get(at..).and_then(|rest| self.0.find(rest));
        Ok(found.map(|start| Match::new(at + start, at + start + self.0.needle().len())))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        Some(LineTerminator::crlf())
    }
}

/// One thread's own searcher and buffer.
pub(super) struct Scratch {
    wanted: Wanted,
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl FileSearch {
    pub(super) fn new(pattern: &str, regex: bool) -> Result<Self, BackendError> {
        if !regex {
            let has_end = pattern.contains(['\n', '\r']);
            let text = || Wanted::Text(Text(Finder::new(pattern).into_owned()));
            return Ok(Self(if has_end { Wanted::Nothing } else { text() }));
        }
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_PATTERN)
            .dfa_size_limit(MAX_PATTERN)
            .build(pattern)
            .map_err(|error| BackendError::BadPattern {
                pattern: quoted(pattern).into_owned(),
                reason: format!("{}; correct it, or search for the text as it stands", what_is_wrong(&error)),
            })?;
        Ok(Self(Wanted::Regex(matcher)))
    }

    pub(super) fn scratch(&self) -> Scratch {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(true)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(MAX_LINE))
            .build();
        Scratch { wanted: self.0.clone(), searcher, buffer: vec![0; PIECE] }
    }
}

/// What became of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    Through,
    /// It is no text, and was not searched.
    Binary,
}

impl Scratch {
    /// Gives every matching line of a regular file, or of bytes in memory, to `take`, with its 1-based number and a way to
    /// make its text, until that says no. Text is what reading takes for it.
    pub(super) fn search(
        &mut self,
        file: impl Read,
        budget: &Budget,
        take: impl FnMut(u64, &dyn Fn() -> String) -> bool,
    ) -> Result<Looked, Why> {
        let Self { wanted, searcher, buffer } = self;
        match wanted {
            Wanted::Nothing => Ok(Looked::Through),
            Wanted::Text(text) => search(searcher, buffer, text, file, budget, take),
            Wanted::Regex(regex) => search(searcher, buffer, regex, file, budget, take),
        }
    }
}

fn search<M: Matcher<Error = NoError>>(
    searcher: &mut Searcher,
    buffer: &mut [u8],
    matcher: &M,
    mut file: impl Read,
    budget: &Budget,
    take: impl FnMut(u64, &dyn Fn() -> String) -> bool,
) -> Result<Looked, Why> {
    let got = read_piece(&mut file, buffer).map_err(|error| errno(&error))?;
    let piece = buffer.get_mut(..got).unwrap_or_default();
    if binary_at(piece, 0).is_some() {
        return Ok(Looked::Binary);
    }
    let mark = if piece.starts_with(BOM) { BOM.len() } else { 0 };
    let sink = LineSink { matcher, take };
    let searched = if got < PIECE {
        unify(piece, None);
        searcher.search_slice(matcher, piece.get(mark..).unwrap_or_default(), sink)
    } else {
        let head: &[u8] = piece.get(mark..).unwrap_or_default();
        searcher.search_reader(matcher, Unified::new(head.chain(file), budget), sink)
    };
    match searched {
        // The walk looks at the budget by itself.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(Looked::Through),
        Err(error) if is_over_the_limit(&error) => Err(Why::LongLine { most: MAX_LINE }),
        Err(error) => Err(errno(&error).into()),
        Ok(()) => Ok(Looked::Through),
    }
}

/// Fills `buffer` as far as the file goes.
fn read_piece(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        let asked = room.len();
        match file.read(room) {
            Ok(got) => {
                filled += got;
                // A regular file, and bytes in memory, give less than was asked for only at their end.
                if got < asked {
                    return Ok(filled);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Of a pattern. The engine shows it as it was put into a group of its own, and then says what is wrong.
fn what_is_wrong(error: &grep_regex::Error) -> String {
    let all = error.to_string();
    let reason = all.rsplit_once("error: ").map_or(&*all, |(_, reason)| reason);
    quoted(reason.trim()).into_owned()
}

/// The searcher has no other way to say that a line is longer than it may hold.
fn is_over_the_limit(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.to_string().contains("allocation limit")
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

struct LineSink<'a, M, F> {
    matcher: &'a M,
    take: F,
}

impl<M: Matcher, F: FnMut(u64, &dyn Fn() -> String) -> bool> Sink for LineSink<'_, M, F> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok((self.take)(found.line_number().unwrap_or(0), &|| shown(line, self.matcher)))
    }
}

/// The line, or of a very long one the part around the match.
fn shown(line: &[u8], matcher: &impl Matcher) -> String {
    if line.len() <= SHOWN {
        return String::from_utf8_lossy(line).into_owned();
    }
    let at = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
    let start = boundary(line, at.saturating_sub(LEAD).min(line.len() - SHOWN));
    let end = boundary(line, start + SHOWN);
    let part = String::from_utf8_lossy(line.get(start..end).unwrap_or_default());
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{part}{after} [{} of {} bytes of this line]", end - start, line.len())
}

/// The nearest position at or before `at` where a character begins.
fn boundary(line: &[u8], at: usize) -> usize {
    let mut at = at.min(line.len());
    while at > 0 && line.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
        at -= 1;
    }
    at
}
