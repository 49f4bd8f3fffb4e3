//! The one glob dialect of `glob` and of `grep`'s filter (behaviour.md 2.3 with Part A 9).
//!
//! - Without a `/` the pattern is about the base name, at any depth; with one it is about the path below the folder
//!   searched; a leading `/` anchors it there.
//! - `*` and `?` stay inside a segment, a segment `**` stands for any number of folders, `[abc]`, `[!abc]`, `[^abc]`
//!   are one character, `{a,b}` is either, nested or not. Case counts. A backslash takes the next character literally.
//! - A leading dot is matched by a literal dot only, so that `**` enters a hidden folder only where it is named.
//! - Unbalanced braces and brackets are literal; so is a leading `!`.
//!
//! A pattern becomes a list of segments, and matching walks the tree with the set of segments reached so far. So a
//! search never enters a folder in which nothing can match, and no pattern takes more than segments times names.

mod braces;
mod wildcard;

use std::sync::Arc;

use crate::{BackendError, quoted};
use wildcard::Wildcard;

/// A usable pattern.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    alternatives: Arc<[Vec<Segment>]>,
    hidden: Hidden,
}

/// Whether a base name is looked for in hidden folders too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    Skip,
    Enter,
}

#[derive(Clone, Debug)]
enum Segment {
    /// Any number of folders on the way to a base name.
    Anywhere,
    /// `**`: any number of folders that are not hidden; at the end of a pattern, whatever is below.
    Folders,
    Name {
        wildcard: Wildcard,
        /// As it was written.
        text: String,
    },
}

impl Segment {
    fn literal(&self) -> Option<&str> {
        match self {
            Self::Anywhere | Self::Folders => None,
            Self::Name { wildcard, .. } => wildcard.literal(),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Anywhere | Self::Folders => "**",
            Self::Name { text, .. } => text,
        }
    }
}

/// How far every alternative has come: the segments that may match the next name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress(Arc<[Vec<usize>]>);

impl Glob {
    pub(crate) fn parse(pattern: &str, hidden: Hidden) -> Result<Self, BackendError> {
        let bad = |reason: &str| BackendError::BadPattern {
            pattern: quoted(pattern).into_owned(),
            reason: reason.to_owned(),
        };
        let alternatives = braces::expand(pattern).map_err(|limit| {
            bad(&format!("its braces stand for more than {limit} patterns; use fewer alternatives"))
        })?;
        if alternatives.iter().any(|pattern| pattern.split('/').any(|segment| segment == "..")) {
            return Err(bad("'..' leads out of the folder searched; name the folder to search instead"));
        }
        let alternatives = alternatives.iter().filter_map(|pattern| segments(pattern)).collect();
        Ok(Self { alternatives, hidden })
    }

    /// The names of the folders, from the one that is searched, in which everything lies that can match.
    pub(crate) fn folders(&self) -> Vec<&str> {
        let mut common: Option<Vec<&str>> = None;
        for segments in self.alternatives.iter() {
            let above = segments.iter().take(segments.len().saturating_sub(1));
            let names: Vec<&str> = above.map_while(Segment::literal).collect();
            common = Some(match common {
                None => names,
                Some(common) => common.into_iter().zip(names).take_while(|(a, b)| a == b).map(|(a, _)| a).collect(),
            });
        }
        common.unwrap_or_default()
    }

    /// The longest run of characters in a name that every path has which matches; `None` where none is known.
    pub(crate) fn run(&self) -> Option<String> {
        let [segments] = &*self.alternatives else { return None };
        let run = |segment: &Segment| match segment {
            Segment::Anywhere | Segment::Folders => None,
            Segment::Name { wildcard, .. } => Some(wildcard.run()),
        };
        segments.iter().filter_map(run).max_by_key(|run| run.chars().count()).filter(|run| !run.is_empty())
    }

    pub(crate) fn start(&self) -> Progress {
        Progress(self.alternatives.iter().map(|segments| settle(segments, vec![0])).collect())
    }

    /// The progress inside the folder `name`; `None` where nothing below it can match.
    pub(crate) fn enter(&self, progress: &Progress, name: &str) -> Option<Progress> {
        let next: Vec<Vec<usize>> =
            self.each(progress).map(|(segments, reached)| self.step(segments, reached, name)).collect();
        next.iter().any(|reached| !reached.is_empty()).then(|| Progress(next.into()))
    }

    /// Whether a file of this name, in a folder with this progress, matches.
    pub(crate) fn matches(&self, progress: &Progress, name: &str) -> bool {
        self.each(progress).any(|(segments, reached)| {
            let last = segments.len() - 1;
            reached.contains(&last)
                && match segments.get(last) {
                    Some(Segment::Name { wildcard, .. }) => wildcard.matches(name),
                    Some(Segment::Folders) => !is_hidden(name),
                    Some(Segment::Anywhere) | None => false,
                }
        })
    }

    /// What is left to match from here on, as patterns about paths from here on.
    pub(crate) fn rest(&self, progress: &Progress) -> Vec<String> {
        let mut rest = Vec::new();
        for (segments, reached) in self.each(progress) {
            for at in reached {
                let skipped_to = at.checked_sub(1).is_some_and(|before| {
                    reached.contains(&before)
                        && matches!(segments.get(before), Some(Segment::Anywhere | Segment::Folders))
                });
                let texts = segments.get(*at..).unwrap_or_default();
                let pattern = match texts {
                    _ if skipped_to => continue,
                    [Segment::Anywhere, Segment::Name { text, .. }] => text.clone(),
                    others => others.iter().map(|segment| format!("/{}", segment.text())).collect(),
                };
                rest.push(pattern);
            }
        }
        rest.sort_unstable();
        rest.dedup();
        rest
    }

    fn each<'a>(&'a self, progress: &'a Progress) -> impl Iterator<Item = (&'a Vec<Segment>, &'a Vec<usize>)> {
        self.alternatives.iter().zip(progress.0.iter())
    }

    fn step(&self, segments: &[Segment], reached: &[usize], name: &str) -> Vec<usize> {
        let mut next = Vec::new();
        for at in reached {
            match segments.get(*at) {
                Some(Segment::Anywhere) if self.hidden == Hidden::Enter || !is_hidden(name) => next.push(*at),
                Some(Segment::Folders) if !is_hidden(name) => next.push(*at),
                Some(Segment::Name { wildcard, .. }) if at + 1 < segments.len() && wildcard.matches(name) => {
                    next.push(at + 1);
                }
                _ => {}
            }
        }
        settle(segments, next)
    }
}

/// Adds what is reached without a name: `**` may stand for no folder at all.
fn settle(segments: &[Segment], mut reached: Vec<usize>) -> Vec<usize> {
    let mut index = 0;
    while let Some(at) = reached.get(index).copied() {
        let skippable = matches!(segments.get(at), Some(Segment::Anywhere | Segment::Folders));
        if skippable && at + 1 < segments.len() && !reached.contains(&(at + 1)) {
            reached.push(at + 1);
        }
        index += 1;
    }
    reached.sort_unstable();
    reached.dedup();
    reached
}

/// `None` for a pattern that matches nothing: an empty one, and one that ends with `/`.
fn segments(pattern: &str) -> Option<Vec<Segment>> {
    if pattern.is_empty() || pattern.ends_with('/') {
        return None;
    }
    if !pattern.contains('/') {
        let name = if pattern == "**" { "*" } else { pattern };
        return Some(vec![Segment::Anywhere, named(name)]);
    }
    let mut segments = Vec::new();
    for text in pattern.split('/').filter(|text| !matches!(*text, "" | ".")) {
        match text {
            "**" if matches!(segments.last(), Some(Segment::Folders)) => {}
            "**" => segments.push(Segment::Folders),
            name => segments.push(named(name)),
        }
    }
    (!segments.is_empty()).then_some(segments)
}

fn named(text: &str) -> Segment {
    Segment::Name { wildcard: Wildcard::parse(text), text: text.to_owned() }
}

pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
