//! What a search has to read of a shelf: as little as shows what is asked for. Ignore files decide what it meets, so they
//! are always looked for.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Rows, Shelf};
use crate::fault::on_disk;
use crate::search::listed::{Completeness, Lines, Matches, Wanted, ancestors, ignore_files};
use crate::search::{Budget, GREP_TIME, required};
use crate::{BackendError, BlobStore, FileData, GlobQuery, GrepQuery, GrepResult, Held, VirtualPath};

/// Files that are fetched at once because an index names them. Where more are named, going through all of them in their
/// order has enough sooner.
const MOST_HELD: usize = 2_000;
/// Files that are looked at first. Where half of them hold what is looked for, the next ones have enough, and no index is
/// asked how many there are.
const FIRST: usize = 128;
/// Files that are fetched at once where they are gone through in their order.
const PAGE: usize = 512;
/// Files that are gone through before the index is asked after all.
const MOST_PASSED: usize = 8_000;
/// Files that are fetched at once by their names.
const BATCH: usize = 500;

pub(super) async fn grep(shelf: &dyn Shelf, query: GrepQuery) -> Result<GrepResult, BackendError> {
    let lines = Lines::new(&query)?;
    let budget = Budget::new(GREP_TIME, &query.cancel).by(query.until);
    let _stop = budget.stop_on_drop();
    let search = Search { shelf, query: &query, lines: Arc::new(lines), budget: &budget };
    let first = search.go_on(Passage::from(search.begin()), FIRST).await?;
    let looked = match first {
        // What is named is looked at whatever it holds.
        Some(first) if first.is_enough() || first.last.as_ref() == Some(&query.path) => search.in_order(first).await?,
        first => match (search.by_index(MOST_HELD, None).await?, first) {
            (Some(rows), _) => search.in_all(rows).await?,
            (None, Some(first)) => search.in_order(first).await?,
            (None, None) => None,
        },
    };
    let looked = match looked {
        Some(looked) => looked,
        None => search.by_list().await?,
    };
    looked.matches.finish(Completeness { unreadable: looked.unreadable, ..Completeness::default() }, &budget)
}

/// One `grep`, and the ways there are to the files in which it may find something.
struct Search<'a> {
    shelf: &'a dyn Shelf,
    query: &'a GrepQuery,
    lines: Arc<Lines>,
    budget: &'a Budget,
}

/// What was found so far.
struct Looked {
    matches: Matches,
    /// Whether another file can still be of use.
    open: bool,
    /// What a file holds could not be had.
    unreadable: bool,
}

/// A search that goes through the files in their order.
struct Passage {
    looked: Looked,
    /// Folders without ignore files.
    known: BTreeSet<VirtualPath>,
    /// Files that were looked at, and the last of them.
    passed: usize,
    last: Option<VirtualPath>,
    ended: bool,
}

impl From<Looked> for Passage {
    fn from(looked: Looked) -> Self {
        Self { looked, known: BTreeSet::new(), passed: 0, last: None, ended: false }
    }
}

impl Passage {
    /// Whether the files that come next have as much as is asked for.
    fn is_enough(&self) -> bool {
        self.ended || !self.looked.open || self.looked.matches.files() * 2 >= self.passed
    }
}

impl Search<'_> {
    fn begin(&self) -> Looked {
        Looked { matches: self.lines.start(), open: true, unreadable: false }
    }

    /// The files behind `after` that an index names, where it names `most` or fewer.
    async fn by_index(&self, most: usize, after: Option<&VirtualPath>) -> Result<Option<Rows>, BackendError> {
        let run = match self.query.regex {
            true => required(&self.query.pattern),
            false => Some(self.query.pattern.clone()),
        };
        let Some(run) = run else { return Ok(None) };
        match self.shelf.holding(&self.query.path, &run, most).await? {
            Held::These(mut rows) => {
                rows.retain(|(path, _)| after.is_none_or(|after| path > after));
                Ok(Some(rows))
            }
            Held::Many | Held::Unknown => Ok(None),
        }
    }

    /// Looks in all of `rows`. `None` where ignore files have a say, about which files beside these tell more.
    async fn in_all(&self, rows: Rows) -> Result<Option<Looked>, BackendError> {
        if self.is_guided(&rows, &mut BTreeSet::new()).await? {
            return Ok(None);
        }
        Ok(Some(self.look(self.begin(), rows).await?))
    }

    /// Goes on through the files in their order until there is enough. `None` as in [`Search::in_all`].
    async fn in_order(&self, begun: Passage) -> Result<Option<Looked>, BackendError> {
        let mut passage = begun;
        while passage.looked.open && !passage.ended {
            let Some(next) = self.go_on(passage, PAGE).await? else { return Ok(None) };
            passage = next;
        }
        Ok(Some(passage.looked))
    }

    /// Looks at `most` more files. `None` as in [`Search::in_all`].
    async fn go_on(&self, passage: Passage, most: usize) -> Result<Option<Passage>, BackendError> {
        let Passage { looked, mut known, mut passed, last, .. } = passage;
        let mut rows = self.shelf.page(&self.query.path, last.as_ref(), most).await?;
        let last = rows.last().map(|(path, _)| path.clone());
        let mut ended = last.is_none();
        passed += rows.len();
        if passed > MOST_PASSED
            && let Some(rest) = self.by_index(usize::MAX, last.as_ref()).await?
        {
            rows.extend(rest);
            ended = true;
        }
        if self.is_guided(&rows, &mut known).await? {
            return Ok(None);
        }
        let looked = self.look(looked, rows).await?;
        Ok(Some(Passage { looked, known, passed, last, ended }))
    }

    /// Chooses among the names of all files, and fetches those that are chosen.
    async fn by_list(&self) -> Result<Looked, BackendError> {
        let (paths, guides) = paths(self.shelf, &self.query.path).await?;
        let lines = Arc::clone(&self.lines);
        let guides = Guides::new(self.shelf, guides);
        let select = move || Ok((lines.wanted.select(&paths, &|path| guides.text(path)), guides.unreadable.get()));
        let (chosen, unreadable) = on_disk(select).await?;
        let mut looked = Looked { unreadable, ..self.begin() };
        for batch in chosen.chunks(BATCH) {
            let rows = self.shelf.get_many(&batch.iter().cloned().collect()).await?;
            let names = rows.iter().map(|(path, _)| path.clone()).collect();
            looked = self.look_at(looked, rows, names).await?;
            if !looked.open {
                break;
            }
        }
        Ok(looked)
    }

    /// Whether there is an ignore file in one of the folders above `rows`; `known` are those without.
    async fn is_guided(&self, rows: &Rows, known: &mut BTreeSet<VirtualPath>) -> Result<bool, BackendError> {
        if self.query.include_ignored {
            return Ok(false);
        }
        are_guided(self.shelf, rows.iter().map(|(path, _)| path), known).await
    }

    /// Looks in those of `rows` that the search is about; no ignore file has a say.
    async fn look(&self, looked: Looked, rows: Rows) -> Result<Looked, BackendError> {
        let paths: Vec<VirtualPath> = rows.iter().map(|(path, _)| path.clone()).collect();
        let names = self.lines.wanted.select(&paths, &|_| None);
        self.look_at(looked, rows, names).await
    }

    /// Looks in those of `rows` that `names` names.
    async fn look_at(&self, mut looked: Looked, rows: Rows, names: Vec<VirtualPath>) -> Result<Looked, BackendError> {
        let (budget, blobs) = (self.budget.clone(), self.shelf.blobs().cloned());
        let look = move || {
            for path in names {
                let Some(data) = find(&rows, &path) else { continue };
                let bytes = match data.text() {
                    Some(text) => Cow::Borrowed(text.as_bytes()),
                    None => match data.bytes_with(blobs.as_deref()) {
                        Ok(bytes) => Cow::Owned(bytes),
                        Err(reason) => {
                            looked.matches.could_not_read(&path, reason);
                            continue;
                        }
                    },
                };
                if !looked.matches.look_in(&path, &*bytes, &budget) {
                    looked.open = false;
                    break;
                }
            }
            Ok(looked)
        };
        on_disk(look).await
    }
}

/// Whether there is an ignore file in one of the folders above `paths`; `known` are those without.
async fn are_guided(
    shelf: &dyn Shelf,
    paths: impl Iterator<Item = &VirtualPath>,
    known: &mut BTreeSet<VirtualPath>,
) -> Result<bool, BackendError> {
    let mut new: BTreeSet<VirtualPath> =
        paths.filter_map(VirtualPath::parent).filter(|folder| !known.contains(folder)).collect();
    let above: Vec<VirtualPath> = new.iter().flat_map(ancestors).collect();
    new.extend(above.into_iter().filter(|folder| !known.contains(folder)));
    let guides = new.iter().flat_map(ignore_files).collect();
    let found = shelf.get_many(&guides).await?;
    known.extend(new);
    Ok(!found.is_empty())
}

/// The paths among which all are that a `glob` finds, where an index names few, sorted. `None` where it does not, or ignore
/// files have a say, about which paths beside these tell more.
pub(super) async fn named(
    shelf: &dyn Shelf,
    query: &GlobQuery,
    wanted: &Wanted,
) -> Result<Option<Vec<VirtualPath>>, BackendError> {
    let Some(run) = wanted.run() else { return Ok(None) };
    let Held::These(paths) = shelf.named(&query.path, &run, MOST_HELD).await? else { return Ok(None) };
    if !query.include_ignored && are_guided(shelf, paths.iter(), &mut BTreeSet::new()).await? {
        return Ok(None);
    }
    Ok(Some(paths))
}

/// The ignore files that a search has met.
pub(super) struct Guides {
    rows: Rows,
    blobs: Option<Arc<BlobStore>>,
    /// What one of them holds could not be had, so that more may be met than it would let be met.
    pub(super) unreadable: Cell<bool>,
}

impl Guides {
    pub(super) fn new(shelf: &dyn Shelf, rows: Rows) -> Self {
        Self { rows, blobs: shelf.blobs().cloned(), unreadable: Cell::new(false) }
    }

    /// What is in the ignore file at `path`. May block on the disk.
    pub(super) fn text(&self, path: &VirtualPath) -> Option<Vec<u8>> {
        let text = find(&self.rows, path)?.bytes_with(self.blobs.as_deref());
        if text.is_err() {
            self.unreadable.set(true);
        }
        text.ok()
    }
}

/// As [`paths`], where all that is looked for lies in `folder` below `start`: one folder of a large shelf costs what is in it.
pub(super) async fn paths_for(
    shelf: &dyn Shelf,
    start: &VirtualPath,
    folder: &VirtualPath,
) -> Result<(Vec<VirtualPath>, Rows), BackendError> {
    if folder != start {
        let (paths, guides) = paths(shelf, folder).await?;
        // Whether an ignore file counts, others between here and the start may say.
        if guides.is_empty() {
            return Ok((paths, guides));
        }
    }
    paths(shelf, start).await
}

/// The paths at or below `start`, sorted, with the ignore files among them and above it, and what is in those.
pub(super) async fn paths(shelf: &dyn Shelf, start: &VirtualPath) -> Result<(Vec<VirtualPath>, Rows), BackendError> {
    let mut paths = shelf.paths(start).await?;
    let folders = ancestors(start).into_iter().chain([start.clone()]);
    let mut guides: BTreeSet<VirtualPath> = folders.flat_map(|folder| ignore_files(&folder)).collect();
    guides.extend(paths.iter().filter(|path| is_ignore_file(path)).cloned());
    let guides = shelf.get_many(&guides).await?;
    if guides.iter().any(|(path, _)| !path.starts_with(start)) {
        // Rules from above count in a repository only, and what makes one stands beside them.
        paths = shelf.paths(&VirtualPath::root()).await?;
    }
    Ok((paths, guides))
}

fn is_ignore_file(path: &VirtualPath) -> bool {
    let Some(name) = path.name() else { return false };
    match name {
        "exclude" => path.as_str().ends_with("/.git/info/exclude"),
        name => name.starts_with('.') && name.ends_with("ignore"),
    }
}

fn find<'a>(rows: &'a Rows, path: &VirtualPath) -> Option<&'a Arc<FileData>> {
    let at = rows.binary_search_by(|(found, _)| found.cmp(path)).ok()?;
    rows.get(at).map(|(_, data)| data)
}
