//! The same search over files that are known by a list of their paths: in a session's state, in the store, on another
//! machine. Which files it meets is decided here; their bytes come from the caller.

use std::io::Read;

use super::dialect::{Glob, Hidden, Progress, is_hidden};
use super::file::{FileSearch, Looked, Scratch};
use super::rules::{MAX_FILE, NAMES, Rules};
use super::top::Top;
use super::unread::{FirstUnread, OTHER_FILE_SYSTEM, Why};
use super::{Budget, MAX_PATHS, hidden, is_git, truncation};
use crate::search::Outcome;
use crate::{BackendError, GlobQuery, GlobResult, GrepMatch, GrepQuery, GrepResult, VirtualPath};

/// What no path says, because a name in it is not text.
pub(crate) enum LeftOut {
    File(VirtualPath),
    Folder(VirtualPath),
}

/// What a search is about, checked before anything is listed.
pub(crate) struct Wanted {
    start: VirtualPath,
    filter: Option<Glob>,
    include_ignored: bool,
}

/// A `grep` whose pattern is usable.
pub(crate) struct Lines {
    pub(crate) wanted: Wanted,
    search: FileSearch,
    max_count: usize,
}

impl Wanted {
    pub(crate) fn by_name(query: &GlobQuery) -> Result<Self, BackendError> {
        let filter = Some(Glob::parse(&query.pattern, hidden(query.include_ignored))?);
        Ok(Self { start: query.path.clone(), filter, include_ignored: query.include_ignored })
    }

    /// The folder in which everything lies that is met, unless the start is a file.
    pub(crate) fn folder(&self) -> VirtualPath {
        let names = self.filter.as_ref().map(Glob::folders).unwrap_or_default();
        let below = |path: VirtualPath, name: &&str| path.join(name).ok();
        names.iter().try_fold(self.start.clone(), below).unwrap_or_else(|| self.start.clone())
    }

    /// Characters one after another that stand in every path that is met below the start; `None` where none are known.
    pub(crate) fn run(&self) -> Option<String> {
        self.filter.as_ref()?.run()
    }

    /// The files that a search meets among `files` (sorted), in order. `text` gives an ignore file's bytes where there
    /// is such a file; `files` names at least what lies below the start, `.git` included.
    pub(crate) fn select(
        &self,
        files: &[VirtualPath],
        text: &dyn Fn(&VirtualPath) -> Option<Vec<u8>>,
    ) -> Vec<VirtualPath> {
        if self.start.segments().any(is_git) {
            return Vec::new();
        }
        if files.binary_search(&self.start).is_ok() {
            return if self.names_file(&self.start) { vec![self.start.clone()] } else { Vec::new() };
        }
        let tree = Tree { files, text };
        let mut folders = vec![self.first(&tree)];
        let met = |path: &&VirtualPath| self.is_met(path, &tree, &mut folders);
        tree.below(&self.start).iter().filter(met).cloned().collect()
    }

    /// How many of `names`, which are not text and are shown as well as can be, a search would meet if they were.
    pub(crate) fn left_out(
        &self,
        names: &[LeftOut],
        files: &[VirtualPath],
        text: &dyn Fn(&VirtualPath) -> Option<Vec<u8>>,
    ) -> usize {
        if self.start.segments().any(is_git) {
            return 0;
        }
        let tree = Tree { files, text };
        let mut folders = vec![self.first(&tree)];
        let met = |left_out: &&LeftOut| match left_out {
            LeftOut::File(path) => self.is_met(path, &tree, &mut folders),
            LeftOut::Folder(path) => {
                let (Some(folder), Some(name)) = (self.folder_of(path, &tree, &mut folders), path.name()) else {
                    return false;
                };
                self.enter(folder, path.clone(), name, &tree).open
            }
        };
        names.iter().filter(met).count()
    }

    /// Those of `folders` (sorted) that a search would go into.
    pub(crate) fn entered(
        &self,
        folders: Vec<VirtualPath>,
        files: &[VirtualPath],
        text: &dyn Fn(&VirtualPath) -> Option<Vec<u8>>,
    ) -> Vec<VirtualPath> {
        if self.start.segments().any(is_git) {
            return Vec::new();
        }
        let tree = Tree { files, text };
        let mut above = vec![self.first(&tree)];
        let is_entered = |path: &VirtualPath| {
            let (Some(folder), Some(name)) = (self.folder_of(path, &tree, &mut above), path.name()) else {
                return false;
            };
            self.enter(folder, path.clone(), name, &tree).open
        };
        folders.into_iter().filter(is_entered).collect()
    }

    fn is_met(&self, path: &VirtualPath, tree: &Tree<'_>, folders: &mut Vec<Folder>) -> bool {
        let (Some(folder), Some(name)) = (self.folder_of(path, tree, folders), path.name()) else { return false };
        folder.open && !is_git(name) && self.wants(folder, name) && !folder.rules.leave_out(path.as_str(), false)
    }

    /// The folder that `path` is in; `folders` are those on the way to the one before.
    fn folder_of<'a>(&self, path: &VirtualPath, tree: &Tree<'_>, folders: &'a mut Vec<Folder>) -> Option<&'a Folder> {
        let parent = path.parent()?;
        while folders.len() > 1 && folders.last().is_some_and(|folder| !parent.starts_with(&folder.path)) {
            folders.pop();
        }
        self.open_up_to(&parent, tree, folders);
        folders.last()
    }

    /// A file named as the start is searched whatever ignore files say; the filter is about its name.
    fn names_file(&self, path: &VirtualPath) -> bool {
        match (&self.filter, path.name()) {
            (Some(glob), Some(name)) => glob.matches(&glob.start(), name),
            _ => true,
        }
    }

    fn first(&self, tree: &Tree<'_>) -> Folder {
        let mut rules = Rules::default();
        if !self.include_ignored {
            for folder in ancestors(&self.start) {
                rules = tree.rules(&rules, &folder);
            }
            rules = tree.rules(&rules, &self.start);
        }
        let progress = self.filter.as_ref().map(Glob::start);
        Folder { path: self.start.clone(), progress, rules, open: true }
    }

    /// Adds the folders between the last one and `parent`, itself included.
    fn open_up_to(&self, parent: &VirtualPath, tree: &Tree<'_>, folders: &mut Vec<Folder>) {
        while let Some(last) = folders.last()
            && last.path != *parent
        {
            let Some(rest) = parent.strip_prefix(&last.path) else { return };
            let Some(name) = rest.segments().next() else { return };
            let Ok(path) = last.path.join(name) else { return };
            let next = self.enter(last, path, name, tree);
            folders.push(next);
        }
    }

    fn enter(&self, above: &Folder, path: VirtualPath, name: &str, tree: &Tree<'_>) -> Folder {
        let closed = |path| Folder { path, progress: None, rules: Rules::default(), open: false };
        if !above.open || is_git(name) {
            return closed(path);
        }
        let progress = match (&self.filter, &above.progress) {
            (Some(glob), Some(progress)) => match glob.enter(progress, name) {
                None => return closed(path),
                entered => entered,
            },
            _ if is_hidden(name) && !self.include_ignored => return closed(path),
            _ => None,
        };
        if above.rules.leave_out(path.as_str(), true) {
            return closed(path);
        }
        let rules = if self.include_ignored { Rules::default() } else { tree.rules(&above.rules, &path) };
        Folder { path, progress, rules, open: true }
    }

    fn wants(&self, folder: &Folder, name: &str) -> bool {
        match (&self.filter, &folder.progress) {
            (Some(glob), Some(progress)) => glob.matches(progress, name),
            _ => self.include_ignored || !is_hidden(name),
        }
    }
}

/// The folders above `path`, the root first.
pub(crate) fn ancestors(path: &VirtualPath) -> Vec<VirtualPath> {
    let mut above: Vec<_> = std::iter::successors(path.parent(), VirtualPath::parent).collect();
    above.reverse();
    above
}

/// Where ignore files of `folder` would be.
pub(crate) fn ignore_files(folder: &VirtualPath) -> impl Iterator<Item = VirtualPath> + use<> {
    let folder = folder.clone();
    NAMES.into_iter().filter_map(move |name| folder.join(name).ok())
}

/// One folder on the way to the file that is looked at.
struct Folder {
    path: VirtualPath,
    progress: Option<Progress>,
    rules: Rules,
    open: bool,
}

struct Tree<'a> {
    files: &'a [VirtualPath],
    text: &'a dyn Fn(&VirtualPath) -> Option<Vec<u8>>,
}

impl<'a> Tree<'a> {
    fn below(&self, folder: &VirtualPath) -> &'a [VirtualPath] {
        let prefix = if folder.is_root() { "/".to_owned() } else { format!("{folder}/") };
        let from = self.files.partition_point(|path| path.as_str() < prefix.as_str());
        let rest = self.files.get(from..).unwrap_or_default();
        let count = rest.partition_point(|path| path.as_str().starts_with(&prefix));
        rest.get(..count).unwrap_or_default()
    }

    fn rules(&self, above: &Rules, folder: &VirtualPath) -> Rules {
        let mut files = ignore_files(folder).map(|file| {
            let limit = usize::try_from(MAX_FILE).unwrap_or(usize::MAX);
            let mut bytes = self.files.binary_search(&file).ok().and_then(|_| (self.text)(&file))?;
            bytes.truncate(limit);
            Some(String::from_utf8_lossy(&bytes).into_owned())
        });
        let texts = [files.next().flatten(), files.next().flatten(), files.next().flatten()];
        let repository =
            folder.join(".git").is_ok_and(|git| self.files.binary_search(&git).is_ok() || !self.below(&git).is_empty());
        above.with(folder.relative(), &texts, repository)
    }
}

/// The result of a `glob` that met `files`.
pub(crate) fn named(files: Vec<VirtualPath>, outcome: Completeness) -> GlobResult {
    let mut paths = files;
    let more = paths.len() > MAX_PATHS;
    paths.truncate(MAX_PATHS);
    let outcome = Outcome::from(outcome);
    let truncated = truncation(&outcome, more);
    let Outcome { unread, left_out, .. } = outcome;
    GlobResult { paths, truncated, unread, left_out, failed: Vec::new() }
}

/// How much of what there is a listing shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completeness {
    /// Time ran out, or there was more than a listing may hold.
    pub(crate) spent: bool,
    /// Something could not be read.
    pub(crate) unreadable: bool,
    /// Names that are not text.
    pub(crate) left_out: usize,
    /// Folders that were not listed, because something else is mounted there.
    pub(crate) mounts: Vec<VirtualPath>,
}

impl From<Completeness> for Outcome {
    fn from(listing: Completeness) -> Self {
        let Completeness { spent, unreadable, left_out, mounts } = listing;
        let mut unread = FirstUnread::default();
        let unreadable = unreadable || !mounts.is_empty();
        mounts.into_iter().for_each(|path| unread.add(path, OTHER_FILE_SYSTEM.to_owned()));
        Self { spent, unreadable, unread: unread.into_sorted(), left_out }
    }
}

impl Lines {
    pub(crate) fn new(query: &GrepQuery) -> Result<Self, BackendError> {
        let hidden: Hidden = hidden(query.include_ignored);
        let filter = query.glob.as_deref().map(|glob| Glob::parse(glob, hidden)).transpose()?;
        let search = FileSearch::new(&query.pattern, query.regex)?;
        let wanted = Wanted { start: query.path.clone(), filter, include_ignored: query.include_ignored };
        Ok(Self { wanted, search, max_count: query.max_count })
    }

    pub(crate) fn start(&self) -> Matches {
        Matches {
            scratch: self.search.scratch(),
            top: Top::new(self.max_count),
            start: self.wanted.start.clone(),
            files: 0,
            unread: FirstUnread::default(),
            unreadable: false,
            binary: false,
        }
    }
}

/// What a `grep` has found so far, file by file in their order.
pub(crate) struct Matches {
    scratch: Scratch,
    top: Top<GrepMatch>,
    start: VirtualPath,
    /// Files in which something was found.
    files: usize,
    unreadable: bool,
    unread: FirstUnread,
    /// The start is a file that is no text.
    binary: bool,
}

impl Matches {
    /// Whether another file can still be of use.
    pub(crate) fn look_in(&mut self, path: &VirtualPath, content: impl Read, budget: &Budget) -> bool {
        if budget.is_spent() || !self.top.may_take(|last| path.as_str() <= last.path.as_str()) {
            return false;
        }
        let (top, mut holds) = (&self.top, false);
        let searched: Result<Looked, Why> = self.scratch.search(content, budget, |line, text| {
            holds = true;
            top.offer(GrepMatch { path: path.clone(), line, text: text() })
        });
        self.files += usize::from(holds);
        match searched {
            Ok(Looked::Through) => {}
            Ok(Looked::Binary) => self.binary |= *path == self.start,
            Err(why) => self.could_not_read(path, why.to_string()),
        }
        true
    }

    /// What `path` holds could not be had, for `reason`.
    pub(crate) fn could_not_read(&mut self, path: &VirtualPath, reason: String) {
        self.unreadable = true;
        self.unread.add(path.clone(), reason);
    }

    /// Files in which something was found, however often.
    pub(crate) fn files(&self) -> usize {
        self.files
    }

    pub(crate) fn finish(self, listing: Completeness, budget: &Budget) -> Result<GrepResult, BackendError> {
        if budget.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        let mut outcome = Outcome::from(listing);
        outcome.spent |= budget.is_spent();
        outcome.unreadable |= self.unreadable;
        let mut unread = self.unread;
        outcome.unread.drain(..).for_each(|one| unread.add(one.path, one.reason));
        outcome.unread = unread.into_sorted();
        let (matches, more) = self.top.into_sorted();
        let truncated = truncation(&outcome, more);
        let Outcome { unread, left_out, .. } = outcome;
        Ok(GrepResult { matches, truncated, unread, left_out, binary: self.binary, failed: Vec::new() })
    }
}

#[cfg(test)]
#[path = "listed_tests.rs"]
mod tests;
