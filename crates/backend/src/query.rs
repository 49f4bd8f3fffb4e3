use std::time::Instant;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{BackendError, VirtualPath};

/// A literal (or, when `regex`, a pattern) search per line, case-sensitive.
#[derive(Clone, Debug)]
pub struct GrepQuery {
    pub pattern: String,
    pub regex: bool,
    /// A file or directory; the root by default.
    pub path: VirtualPath,
    /// One glob dialect with [`GlobQuery`] (behaviour.md 2.3 with Part A 9).
    pub glob: Option<String>,
    pub include_ignored: bool,
    /// Total matches over all files.
    pub max_count: usize,
    /// When it ends at the latest and gives what it has; a backend's own limit holds where it comes first.
    pub until: Option<Instant>,
    pub cancel: CancellationToken,
}

impl GrepQuery {
    /// For a text, in everything that no ignore file hides, as long as a backend searches.
    pub fn literal(text: impl Into<String>, max_count: usize) -> Self {
        Self {
            pattern: text.into(),
            regex: false,
            path: VirtualPath::root(),
            glob: None,
            include_ignored: false,
            max_count,
            until: None,
            cancel: CancellationToken::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GrepMatch {
    pub path: VirtualPath,
    /// 1-based.
    pub line: u64,
    /// Without its line end; of a very long line the part around the match, and said so.
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// Sorted by path, then line.
    pub matches: Vec<GrepMatch>,
    pub truncated: Option<Truncation>,
    /// Some of what could not be read, sorted by path: at most [`Unread::MOST`].
    pub unread: Vec<Unread>,
    /// How many names were met that are not text, so that no path says them: what they are was not searched.
    pub left_out: usize,
    /// The start is a file that is no text, as reading says it, and was not searched. Of those below a folder nothing is
    /// said.
    pub binary: bool,
    /// Why each mount below the start that was not searched was not.
    pub failed: Vec<BackendError>,
}

impl GrepResult {
    /// Whether there may be more.
    pub fn is_partial(&self) -> bool {
        self.truncated.is_some() || !self.failed.is_empty()
    }
}

#[derive(Clone, Debug)]
pub struct GlobQuery {
    pub pattern: String,
    pub path: VirtualPath,
    pub include_ignored: bool,
    pub cancel: CancellationToken,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// Files only, sorted.
    pub paths: Vec<VirtualPath>,
    pub truncated: Option<Truncation>,
    /// Some of what could not be read, sorted by path: at most [`Unread::MOST`].
    pub unread: Vec<Unread>,
    /// How many names were met that are not text, so that no path says them: what they are was not searched.
    pub left_out: usize,
    /// Why each mount below the start that was not searched was not.
    pub failed: Vec<BackendError>,
}

impl GlobResult {
    /// Whether there may be more.
    pub fn is_partial(&self) -> bool {
        self.truncated.is_some() || !self.failed.is_empty()
    }
}

/// A file or a folder that a search met and could not read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    pub path: VirtualPath,
    /// In a few words, for the model and for a person.
    pub reason: String,
}

impl Unread {
    /// So many are named in one result.
    pub const MOST: usize = 3;
}

/// Why a search is partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// More matches than asked for.
    Count,
    /// The time or size budget ran out: search something narrower.
    Budget,
    /// Some folders or files could not be read: a narrower search will not help.
    Unreadable,
}

impl Truncation {
    /// Of two reasons the one that tells more about what to do.
    pub(crate) fn worse(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        let rank = |reason: &Self| match reason {
            Self::Unreadable => 0,
            Self::Count => 1,
            Self::Budget => 2,
        };
        [a, b].into_iter().flatten().max_by_key(rank)
    }
}
