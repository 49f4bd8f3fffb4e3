//! `grep` and `glob` over the files below a root, in process.
//!
//! Both walk the same set of files (behaviour.md A9): what ignore files leave out is left out, hidden files too unless
//! the pattern names them, `.git` always. Nothing outside the root is met: folders are opened by the root, links are
//! followed only to files that it opens. Results are the first ones in path order, whatever the threads did.

mod dialect;
mod every;
mod file;
mod kept;
mod lines;
pub(crate) mod listed;
mod required;
mod rules;
mod top;
mod unread;
mod walk;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::root::Root;
use crate::{BackendError, GlobQuery, GlobResult, GrepMatch, GrepQuery, GrepResult, Truncation, VirtualPath};
use dialect::Hidden;
pub(crate) use dialect::{Glob, is_hidden};
pub(crate) use every::{Seeing, SeenFile, every_file};
use file::{FileSearch, Looked};
pub use kept::grep_kept;
pub(crate) use required::required;
use top::Top;
use unread::Why;
pub(crate) use walk::is_git;
use walk::{Found, Outcome, Visitor, Walk};

/// Paths that one `glob` gives.
const MAX_PATHS: usize = 100_000;

/// How long a `grep` goes on where nothing else is said, also one over several backends.
pub(crate) const GREP_TIME: Duration = Duration::from_secs(15);
pub(crate) const GLOB_TIME: Duration = Duration::from_secs(10);

/// How long a search may go on.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    deadline: Instant,
    cancel: CancellationToken,
}

impl Budget {
    pub(crate) fn new(time: Duration, cancel: &CancellationToken) -> Self {
        Self { deadline: Instant::now() + time, cancel: cancel.child_token() }
    }

    /// The same, over at `end` at the latest.
    pub(crate) fn by(mut self, end: Option<Instant>) -> Self {
        self.deadline = end.map_or(self.deadline, |end| self.deadline.min(end));
        self
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Stops the search when its caller goes away.
    pub(crate) fn stop_on_drop(&self) -> DropGuard {
        self.cancel.clone().drop_guard()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Whoever searches has enough.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    fn is_spent(&self) -> bool {
        self.cancel.is_cancelled() || Instant::now() >= self.deadline
    }
}

pub(crate) fn glob(root: &Root, query: &GlobQuery, budget: &Budget) -> Result<GlobResult, BackendError> {
    let glob = Glob::parse(&query.pattern, hidden(query.include_ignored))?;
    let walk = Walk::new(root, budget, &query.path, Some(glob), query.include_ignored)?;
    let top = Top::new(MAX_PATHS);
    let outcome = walk.run(&Paths { top: &top })?;
    let (paths, more) = top.into_sorted();
    let (truncated, left_out) = (truncation(&outcome, more), outcome.left_out);
    Ok(GlobResult { paths, truncated, unread: outcome.unread, left_out, failed: Vec::new() })
}

pub(crate) fn grep(root: &Root, query: &GrepQuery, budget: &Budget) -> Result<GrepResult, BackendError> {
    let filter = query.glob.as_deref().map(|glob| Glob::parse(glob, hidden(query.include_ignored))).transpose()?;
    let search = FileSearch::new(&query.pattern, query.regex)?;
    let walk = Walk::new(root, budget, &query.path, filter, query.include_ignored)?;
    let top = Top::new(query.max_count);
    let lines = Lines { root, budget, search: &search, top: &top, start: &query.path, binary: AtomicBool::new(false) };
    let outcome = walk.run(&lines)?;
    let binary = lines.binary.into_inner();
    let (matches, more) = top.into_sorted();
    let (truncated, left_out) = (truncation(&outcome, more), outcome.left_out);
    Ok(GrepResult { matches, truncated, unread: outcome.unread, left_out, binary, failed: Vec::new() })
}

pub(crate) fn hidden(include_ignored: bool) -> Hidden {
    if include_ignored { Hidden::Enter } else { Hidden::Skip }
}

fn truncation(outcome: &Outcome, more: bool) -> Option<Truncation> {
    if outcome.spent {
        Some(Truncation::Budget)
    } else if more {
        Some(Truncation::Count)
    } else {
        outcome.unreadable.then_some(Truncation::Unreadable)
    }
}

struct Paths<'a> {
    top: &'a Top<VirtualPath>,
}

impl Visitor for Paths<'_> {
    type Local = ();

    fn local(&self) {}

    fn wants(&self, path: &str) -> bool {
        self.top.may_take(|last| path <= last.as_str())
    }

    fn visit(&self, found: &Found<'_>, (): &mut ()) -> Result<(), Why> {
        if let Some(path) = found.path() {
            self.top.offer(path);
        }
        Ok(())
    }
}

struct Lines<'a> {
    root: &'a Root,
    budget: &'a Budget,
    search: &'a FileSearch,
    top: &'a Top<GrepMatch>,
    start: &'a VirtualPath,
    /// The start is a file that is no text.
    binary: AtomicBool,
}

impl Visitor for Lines<'_> {
    type Local = file::Scratch;

    fn local(&self) -> file::Scratch {
        self.search.scratch()
    }

    fn wants(&self, path: &str) -> bool {
        self.top.may_take(|last| path <= last.path.as_str())
    }

    fn visit(&self, found: &Found<'_>, scratch: &mut file::Scratch) -> Result<(), Why> {
        let Some(file) = found.open(self.root)? else { return Ok(()) };
        let mut path = None;
        let looked = scratch.search(file, self.budget, |line, text| {
            let path = match &path {
                Some(path) => path,
                None => match found.path() {
                    Some(shown) => path.insert(shown),
                    None => return false,
                },
            };
            self.top.offer(GrepMatch { path: VirtualPath::clone(path), line, text: text() })
        })?;
        if looked == Looked::Binary && found.path().as_ref() == Some(self.start) {
            self.binary.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
