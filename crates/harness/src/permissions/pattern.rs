use std::fmt;

use bosun_backend::VirtualPath;
use serde::{Deserialize, Serialize};

/// Alternatives that the braces of one pattern may stand for.
const MOST: usize = 1_000;

/// Paths that a rule is about: `/secrets/**`, `/**/*.pem`, `/{a,b}/c`. From `/`; `*` and `?` stay inside a segment, a
/// segment `**` stands for any number of folders and, at the end, for whatever is below. Names with a leading dot are
/// names like others here: what is forbidden must not depend on how it is spelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern {
    text: String,
    alternatives: Vec<Vec<Segment>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Folders,
    Name(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Is(char),
}

/// A pattern that cannot be a rule's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathPatternError {
    #[error("the path '{0}' of a rule must start with /")]
    NotFromRoot(String),
    #[error("the path '{0}' of a rule must not contain '..'")]
    Traversal(String),
    #[error("the path '{0}' of a rule starts at a home folder; start it with /")]
    Home(String),
    #[error("the braces of '{path}' expand to more than {most} paths; write several rules")]
    TooMany { path: String, most: usize },
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> Self {
        pattern.text
    }
}

impl TryFrom<String> for PathPattern {
    type Error = PathPatternError;

    fn try_from(text: String) -> Result<Self, PathPatternError> {
        if text.starts_with('~') {
            return Err(PathPatternError::Home(text));
        }
        if !text.starts_with('/') {
            return Err(PathPatternError::NotFromRoot(text));
        }
        let expanded = expand(&text).ok_or_else(|| PathPatternError::TooMany { path: text.clone(), most: MOST })?;
        if expanded.iter().any(|pattern| pattern.split('/').any(|segment| segment == "..")) {
            return Err(PathPatternError::Traversal(text));
        }
        let alternatives = expanded.iter().map(|pattern| segments(pattern)).collect();
        Ok(Self { text, alternatives })
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PathPattern {
    /// Whether it is about `path`. `/a/**` is about `/a` too, so that a folder that is forbidden is not listed either.
    pub fn matches(&self, path: &VirtualPath) -> bool {
        let names: Vec<&str> = path.segments().collect();
        self.alternatives.iter().any(|segments| fits(segments, &names))
    }

    /// Whether something at or below `path` could be what it is about.
    pub(super) fn may_match_below(&self, path: &VirtualPath) -> bool {
        let names: Vec<&str> = path.segments().collect();
        self.alternatives.iter().any(|segments| leads_into(segments, &names))
    }

    /// Whether `path` is below something that it is about.
    pub(super) fn covers(&self, path: &VirtualPath) -> bool {
        std::iter::successors(path.parent(), VirtualPath::parent)
            .any(|folder| !folder.is_root() && self.matches(&folder))
    }

    /// Whether it is about `folder` and all that may ever be below it.
    pub(super) fn is_all_of(&self, folder: &VirtualPath) -> bool {
        let names: Vec<&str> = folder.segments().collect();
        self.alternatives.iter().any(|segments| segments.last() == Some(&Segment::Folders) && fits(segments, &names))
    }

    /// Whether everything that it is about is at or below `folder`.
    pub(super) fn is_below(&self, folder: &VirtualPath) -> bool {
        self.alternatives.iter().all(|segments| {
            folder.segments().enumerate().all(|(at, name)| match segments.get(at) {
                Some(Segment::Name(parts)) => parts.iter().all(|part| matches!(part, Part::Is(_))) && is(parts, name),
                Some(Segment::Folders) | None => false,
            })
        })
    }
}

fn segments(pattern: &str) -> Vec<Segment> {
    let names = pattern.split('/').filter(|segment| !segment.is_empty() && *segment != ".");
    let segment = |name: &str| match name {
        "**" => Segment::Folders,
        name => Segment::Name(parts(name)),
    };
    names.map(segment).collect()
}

fn parts(name: &str) -> Vec<Part> {
    let mut chars = name.chars();
    let mut parts = Vec::new();
    while let Some(c) = chars.next() {
        parts.push(match c {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::Is(chars.next().unwrap_or('\\')),
            c => Part::Is(c),
        });
    }
    parts
}

fn fits(segments: &[Segment], names: &[&str]) -> bool {
    match (segments.split_first(), names.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((Segment::Folders, rest)), _) => {
            (0..=names.len()).any(|taken| fits(rest, names.get(taken..).unwrap_or(&[])))
        }
        (Some((Segment::Name(parts), rest)), Some((name, below))) => is(parts, name) && fits(rest, below),
        (Some((Segment::Name(_), _)), None) => false,
    }
}

/// Whether something at or below the folder of these names fits.
fn leads_into(segments: &[Segment], names: &[&str]) -> bool {
    match (segments.split_first(), names.split_first()) {
        (_, None) | (Some((Segment::Folders, _)), _) => true,
        (None, Some(_)) => false,
        (Some((Segment::Name(parts), rest)), Some((name, below))) => is(parts, name) && leads_into(rest, below),
    }
}

/// Whether a name fits, in time that grows with both lengths at most.
fn is(parts: &[Part], name: &str) -> bool {
    // The places in `parts` that may come next.
    let mut reached = vec![false; parts.len() + 1];
    let pass_over = |reached: &mut Vec<bool>| {
        for (at, part) in parts.iter().enumerate() {
            if *part == Part::Any
                && reached.get(at) == Some(&true)
                && let Some(next) = reached.get_mut(at + 1)
            {
                *next = true;
            }
        }
    };
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    pass_over(&mut reached);
    for c in name.chars() {
        let mut next = vec![false; parts.len() + 1];
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| reached.get(*at) == Some(&true)) {
            let to = match part {
                Part::Any => Some(at),
                Part::One => Some(at + 1),
                Part::Is(wanted) => (*wanted == c).then_some(at + 1),
            };
            if let Some(place) = to.and_then(|to| next.get_mut(to)) {
                *place = true;
            }
        }
        pass_over(&mut next);
        reached = next;
    }
    reached.last() == Some(&true)
}

/// What the braces stand for; those that do not close are letters. `None` where they stand for too much.
fn expand(pattern: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        match split(&pattern) {
            None => done.push(pattern),
            Some((before, choices, after)) => {
                open.extend(choices.into_iter().map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if done.len() + open.len() > MOST {
            return None;
        }
    }
    Some(done)
}

/// The first innermost braces, with what stands around them.
fn split(pattern: &str) -> Option<(&str, Vec<String>, &str)> {
    let close = pattern
        .match_indices('}')
        .find(|(close, _)| pattern.get(..*close).is_some_and(|before| before.contains('{')))?
        .0;
    let open = pattern.get(..close)?.rfind('{')?;
    let choices = pattern.get(open + 1..close)?.split(',').map(ToOwned::to_owned).collect();
    Some((pattern.get(..open)?, choices, pattern.get(close + 1..)?))
}
