//! Searching over there: one script lists, ignore files are fetched and applied here, and what is left is fetched and
//! searched here too, so that a search means the same everywhere.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::answer::{Kind, permissions, refused};
use super::read::{Asked, Target, leading, targets};
use super::script::{self, fresh_word, nul_separated};
use super::{Cut, Executor, Finished, large};
use crate::fault::on_disk;
use crate::search::listed::{Completeness, LeftOut, Lines, Matches, Wanted, ancestors, ignore_files, named};
use crate::search::{Budget, GLOB_TIME, GREP_TIME};
use crate::{BackendError, GlobQuery, GlobResult, GrepQuery, GrepResult, VirtualPath};

/// Files fetched at a time, and their bytes.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a text that is looked for over there first. Arguments and variables of programs have a limit, which is not
/// the same everywhere.
const LONGEST_HINT: usize = 8 * 1024;

pub(super) async fn glob(executor: &dyn Executor, query: GlobQuery) -> Result<GlobResult, BackendError> {
    let wanted = Wanted::by_name(&query)?;
    let search = Search::new(executor, &query.path, query.include_ignored, Instant::now() + GLOB_TIME, &query.cancel);
    let listing = search.list().await?;
    let (files, completeness) = search.met(wanted, listing).await?;
    Ok(named(files, completeness))
}

pub(super) async fn grep(executor: &dyn Executor, query: GrepQuery) -> Result<GrepResult, BackendError> {
    let lines = Lines::new(&query)?;
    let budget = Budget::new(GREP_TIME, &query.cancel).by(query.until);
    let search = Search::new(executor, &query.path, query.include_ignored, budget.deadline(), &query.cancel);
    let listing = search.list().await?;
    let mut matches = lines.start();
    let (files, mut completeness) = search.met(lines.wanted, listing).await?;
    let pattern = &query.pattern;
    // A line end in a literal text is in no line. The file that is named is looked at whatever it holds.
    let can_hint = !query.regex
        && files.as_slice() != [query.path.clone()]
        && !pattern.contains(['\n', '\r', '\0'])
        && (1..=LONGEST_HINT).contains(&pattern.len());
    let hint = can_hint.then_some(pattern.as_str());
    let mut waiting = files.as_slice();
    while !waiting.is_empty() {
        let (batch, rest) = waiting.split_at(BATCH.min(waiting.len()));
        waiting = rest;
        let likely = search.likely(batch, hint).await?;
        let Fetches { files, large } = search.fetch_all(&likely, ThroughLinks::Follow, &mut completeness).await?;
        let limit = budget.clone();
        let (searched, mut goes_on) = on_disk(move || {
            let goes_on = files.iter().all(|(path, bytes)| matches.look_in(path, bytes.as_slice(), &limit));
            Ok((matches, goes_on))
        })
        .await?;
        matches = searched;
        for path in large {
            if search.is_over() {
                completeness.spent = true;
                break;
            }
            (matches, goes_on) = search.look_through(&path, matches, &budget, &mut completeness).await?;
        }
        if !goes_on || search.is_over() {
            completeness.spent |= search.is_over() && !waiting.is_empty();
            break;
        }
    }
    matches.finish(completeness, &budget)
}

/// What the walk script told.
#[derive(Default)]
struct Listing {
    /// By full path, sorted.
    files: Vec<VirtualPath>,
    links: HashSet<VirtualPath>,
    /// What has a name in it that no path can say, by its bytes.
    left_out: BTreeMap<Vec<u8>, LeftOut>,
    completeness: Completeness,
}

struct Search<'a> {
    executor: &'a dyn Executor,
    start: &'a VirtualPath,
    include_ignored: bool,
    until: Instant,
    cancel: &'a CancellationToken,
}

impl<'a> Search<'a> {
    fn new(
        executor: &'a dyn Executor,
        start: &'a VirtualPath,
        include_ignored: bool,
        until: Instant,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self { executor, start, include_ignored, until, cancel }
    }

    fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }

    async fn run(&self, mut script: super::Script<'_>) -> Result<Finished, BackendError> {
        script.time = self.until.saturating_duration_since(Instant::now());
        script.cancel = self.cancel.clone();
        self.executor.run(script).await
    }

    async fn list(&self) -> Result<Listing, BackendError> {
        let finished = self.run(script::about(script::WALK, self.start, &[])).await?;
        match (finished.code, finished.cut) {
            (Some(0), _) | (_, Some(_)) => Ok(self.parse(&finished)),
            (Some(71 | 72), None) => Ok(Listing::default()),
            _ => Err(refused(&finished, self.start)),
        }
    }

    fn parse(&self, finished: &Finished) -> Listing {
        let mut listing = Listing::default();
        // What is behind the last NUL did not come whole.
        let end = memchr::memrchr(0, &finished.output).unwrap_or(0);
        let mut names = finished.output.get(..end).unwrap_or_default().split(|byte| *byte == 0);
        if names.next() == Some(b"F") {
            listing.files.push(self.start.clone());
            return listing;
        }
        let (mut part, mut whole) = (0, false);
        for name in names {
            if name.is_empty() {
                part += 1;
                continue;
            }
            if part == 2 {
                whole = name == b"whole";
                continue;
            }
            if part == 3 {
                let path = std::str::from_utf8(name).ok().and_then(|name| self.start.join(name).ok());
                listing.completeness.mounts.extend(path);
                continue;
            }
            let name = name.strip_prefix(b"./").unwrap_or(name);
            let Ok(name) = std::str::from_utf8(name) else {
                listing.left_out.extend(self.left_out(name));
                continue;
            };
            let Ok(path) = self.start.join(name) else {
                listing.left_out.extend(self.left_out(name.as_bytes()));
                continue;
            };
            if part == 1 {
                listing.links.insert(path.clone());
            }
            listing.files.push(path);
        }
        listing.files.sort_unstable();
        listing.completeness.spent = finished.cut.is_some();
        listing.completeness.unreadable = finished.cut.is_none() && !whole;
        let mounts = &mut listing.completeness.mounts;
        mounts.sort_unstable();
        // What is mounted in another is as far away as that.
        mounts.dedup_by(|below, above| below.starts_with(above));
        listing
    }

    /// The first part of `name` that no path can say, which is the file itself or a folder on the way to it.
    fn left_out(&self, name: &[u8]) -> Option<(Vec<u8>, LeftOut)> {
        let text = |text: &str| text.find('\\').unwrap_or(text.len());
        let good = std::str::from_utf8(name).map_or_else(|error| error.valid_up_to(), text);
        let rest = name.get(good..).unwrap_or_default();
        let end = memchr::memchr(b'/', rest).map(|length| good + length);
        let bytes = name.get(..end.unwrap_or(name.len()))?;
        let path = self.start.join(&String::from_utf8_lossy(bytes).replace('\\', "\u{fffd}")).ok()?;
        let left_out = if end.is_some() { LeftOut::Folder(path) } else { LeftOut::File(path) };
        Some((bytes.to_owned(), left_out))
    }

    /// The files that the search meets, sorted.
    async fn met(
        &self,
        wanted: Wanted,
        mut listing: Listing,
    ) -> Result<(Vec<VirtualPath>, Completeness), BackendError> {
        let texts = self.ignore_files(&listing).await?;
        listing.completeness.spent |= self.is_over();
        listing.files.extend(texts.keys().cloned());
        listing.files.sort_unstable();
        listing.files.dedup();
        let files = std::mem::take(&mut listing.files);
        let names: Vec<LeftOut> = std::mem::take(&mut listing.left_out).into_values().collect();
        let mounts = std::mem::take(&mut listing.completeness.mounts);
        let (mut met, left_out, mounts) = on_disk(move || {
            let text = |path: &VirtualPath| texts.get(path).cloned();
            let left_out = wanted.left_out(&names, &files, &text);
            Ok((wanted.select(&files, &text), left_out, wanted.entered(mounts, &files, &text)))
        })
        .await?;
        listing.completeness.left_out = left_out;
        listing.completeness.mounts = mounts;
        let links: Vec<&str> =
            met.iter().filter(|path| listing.links.contains(*path)).map(VirtualPath::relative).collect();
        if !links.is_empty() {
            let finished = self.run(leading(&VirtualPath::root(), &links, Asked::Kinds)).await?;
            if finished.code != Some(0) && finished.cut.is_none() {
                return Err(refused(&finished, self.start));
            }
            listing.completeness.spent |= finished.cut.is_some();
            let targets = targets(&finished.output, &links);
            met.retain(|path| {
                !listing.links.contains(path)
                    || matches!(targets.get(path.relative()), Some(Target::Inside(figures)) if figures.kind() == Kind::File)
            });
        }
        Ok((met, listing.completeness))
    }

    async fn ignore_files(&self, listing: &Listing) -> Result<HashMap<VirtualPath, Vec<u8>>, BackendError> {
        if self.include_ignored || (listing.files.is_empty() && listing.left_out.is_empty()) {
            return Ok(HashMap::new());
        }
        let mut asked: Vec<VirtualPath> = ancestors(self.start).iter().flat_map(ignore_files).collect();
        for path in &listing.files {
            match path.name() {
                Some(".gitignore" | ".ignore") => asked.push(path.clone()),
                Some(".git") => asked.extend(path.join("info/exclude").ok()),
                _ => {}
            }
        }
        let mut completeness = Completeness::default();
        // Nobody writes so many rules, and what is no rule ignores nothing.
        Ok(self.fetch_all(&asked, ThroughLinks::Refuse, &mut completeness).await?.files.into_iter().collect())
    }

    /// Those of `files` that may hold the text; all where there is none to ask for.
    async fn likely(&self, files: &[VirtualPath], text: Option<&str>) -> Result<Vec<VirtualPath>, BackendError> {
        let Some(text) = text else { return Ok(files.to_vec()) };
        let mut script = script::about(script::GREP, &VirtualPath::root(), &[text]);
        script.input = nul_separated(files.iter().map(VirtualPath::relative));
        let finished = self.run(script).await?;
        if finished.code != Some(0) || finished.cut.is_some() {
            return Ok(files.to_vec());
        }
        let named: HashSet<&[u8]> = finished.output.split(|byte| *byte == b'\n').collect();
        // A name with a line end in it cannot be told on a line; such files are always looked into.
        let may = |path: &&VirtualPath| {
            path.as_str().contains('\n') || named.contains(format!("./{}", path.relative()).as_bytes())
        };
        Ok(files.iter().filter(may).cloned().collect())
    }

    /// Searches a file that does not go over at once, while its parts come.
    async fn look_through(
        &self,
        path: &VirtualPath,
        mut matches: Matches,
        budget: &Budget,
        completeness: &mut Completeness,
    ) -> Result<(Matches, bool), BackendError> {
        let (to, parts) = large::parts();
        let (looked_in, limit) = (path.clone(), budget.clone());
        let looking = on_disk(move || {
            let goes_on = matches.look_in(&looked_in, parts, &limit);
            Ok((matches, goes_on))
        });
        let time = || self.until.saturating_duration_since(Instant::now());
        let (fed, looked) = tokio::join!(large::feed(self.executor, path, to, time, self.cancel), looking);
        match fed {
            Ok(()) => {}
            Err(BackendError::Cancelled) => return Err(BackendError::Cancelled),
            Err(_) if self.is_over() => completeness.spent = true,
            Err(_) => completeness.unreadable = true,
        }
        looked
    }

    /// The bytes of those that are there.
    async fn fetch_all(
        &self,
        files: &[VirtualPath],
        through: ThroughLinks,
        completeness: &mut Completeness,
    ) -> Result<Fetches, BackendError> {
        let mut all = Fetches { files: Vec::with_capacity(files.len()), large: Vec::new() };
        let mut rest = files;
        while !rest.is_empty() && !self.is_over() {
            let batch = rest.get(..BATCH.min(rest.len())).unwrap_or_default();
            let names: Vec<&str> = batch.iter().map(VirtualPath::relative).collect();
            let (mut script, word) = fetching(&VirtualPath::root(), &names, through.word());
            script.limit = BATCH_BYTES;
            let finished = self.run(script).await?;
            let fetched = Fetched::parse(&finished, &word);
            let mut taken = fetched.files.len();
            for (path, file) in batch.iter().zip(fetched.files) {
                match file {
                    Came::Bytes(bytes) => all.files.push((path.clone(), bytes)),
                    Came::Unreadable => completeness.unreadable = true,
                    Came::Gone => {}
                }
            }
            if !fetched.whole {
                if matches!(finished.cut, Some(Cut::Time | Cut::Wait)) {
                    completeness.spent = true;
                    break;
                }
                if taken == 0 {
                    // One file alone is more than is taken.
                    all.large.extend(batch.first().cloned());
                    taken = 1;
                }
            }
            rest = rest.get(taken.max(1)..).unwrap_or_default();
        }
        completeness.spent |= self.is_over();
        Ok(all)
    }
}

struct Fetches {
    /// In order.
    files: Vec<(VirtualPath, Vec<u8>)>,
    /// What does not go over at once.
    large: Vec<VirtualPath>,
}

/// Whether bytes are fetched of what a link leads to.
#[derive(Clone, Copy)]
enum ThroughLinks {
    /// Each was seen to lead to a file below the root.
    Follow,
    /// As on disk, where an ignore file that is a link, or that one leads to, is none.
    Refuse,
}

impl ThroughLinks {
    fn word(self) -> &'static str {
        match self {
            Self::Follow => "",
            Self::Refuse => "own",
        }
    }
}

/// Files as the fetch script gave them.
struct Fetched {
    files: Vec<Came>,
    whole: bool,
}

enum Came {
    Bytes(Vec<u8>),
    /// It is there, and nobody here may read it or it could not be read to its end.
    Unreadable,
    /// It is no file any more, or one that was not to be taken.
    Gone,
}

impl Fetched {
    fn parse(finished: &Finished, word: &str) -> Self {
        let output = &finished.output;
        let mut files = Vec::new();
        let mut marks = memchr::memmem::find_iter(output, word.as_bytes()).peekable();
        while let Some(at) = marks.next() {
            let from = at + word.len();
            let bytes = marks.peek().and_then(|end| output.get(from + 1..*end));
            match (output.get(from), bytes) {
                (Some(b'+'), Some(bytes)) => files.push(Came::Bytes(bytes.to_vec())),
                (Some(b'!'), Some(_)) => files.push(Came::Unreadable),
                (Some(b'-'), Some(_)) => files.push(Came::Gone),
                (Some(b'?'), _) => {
                    if let Some(last) = files.last_mut() {
                        *last = Came::Unreadable;
                    }
                }
                (Some(b'.'), _) => return Self { files, whole: true },
                _ => break,
            }
        }
        Self { files, whole: false }
    }
}

/// The script, and the word that stands in front of every file.
fn fetching<'a>(folder: &VirtualPath, names: &[&str], how: &str) -> (super::Script<'a>, String) {
    let word = fresh_word();
    let mut script = script::about(script::FETCH, folder, &[&word, how]);
    script.input = nul_separated(names.iter().copied());
    (script, word)
}

/// A file as it is to be put back.
pub(super) struct Kept {
    /// The hash over there, of a moment before the bytes: who finds it again later finds these.
    pub(super) hash: String,
    /// Permission bits, where the other side could tell them.
    pub(super) mode: Option<u32>,
    pub(super) bytes: Vec<u8>,
}

/// The first of `names` below `folder`, as many as come in one go; none where the first alone is more.
pub(super) async fn fetch_hashed(
    executor: &dyn Executor,
    folder: &VirtualPath,
    names: &[&str],
) -> Result<Vec<Option<Kept>>, BackendError> {
    let (mut script, word) = fetching(folder, names, "hashed");
    script.limit = BATCH_BYTES;
    let finished = executor.run(script).await?;
    let fetched = Fetched::parse(&finished, &word);
    let all_came = fetched.whole && fetched.files.len() == names.len();
    if !all_came && finished.cut != Some(Cut::Size) {
        return Err(refused(&finished, folder));
    }
    let parted = |file: Came| {
        let Came::Bytes(mut file) = file else { return None };
        let end = memchr::memchr(b'\n', &file)?;
        let bytes = file.split_off(end + 1);
        file.truncate(end);
        let (mode, hash) = std::str::from_utf8(&file).ok()?.split_once(' ')?;
        Some(Kept { hash: hash.to_owned(), mode: permissions(u32::from_str_radix(mode, 16).ok()?), bytes })
    };
    Ok(fetched.files.into_iter().map(parted).collect())
}
