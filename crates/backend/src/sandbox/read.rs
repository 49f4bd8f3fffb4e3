use std::collections::HashMap;

use super::answer::{Figures, Kind, refused};
use super::script::{self, COMMON, nul_separated, row_word};
use super::{Cut, Executor, Finished, MAX_FILE, Script, large};
use crate::media::media_type;
use crate::page::content_of;
use crate::{BackendError, FileInfo, FileStamp, Listed, ReadResult, ReadWindow, VirtualPath};

/// Attempts to see a file that is being written in one state.
const ATTEMPTS: u32 = 4;
/// What a file's answer has besides its bytes.
const FRAME: usize = 4096;

/// A file of the other side, in one state of it.
pub(super) struct Whole {
    pub(super) bytes: Vec<u8>,
    pub(super) figures: Figures,
    /// The hash that the other side makes; only compared with another of its own.
    pub(super) hash: String,
    rights: Rights,
}

/// Whether a file and its folder let something be put in the place of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    Given,
    /// Not to this user.
    Denied,
    /// To nobody.
    ReadOnly,
}

impl Whole {
    pub(super) fn stamp(&self) -> FileStamp {
        self.figures.stamp(&self.bytes)
    }

    /// # Errors
    /// [`BackendError::ReadOnly`] and [`BackendError::PermissionDenied`] where nothing may be put in its place.
    pub(super) fn require_writable(&self, path: &VirtualPath) -> Result<(), BackendError> {
        match self.rights {
            Rights::Given => Ok(()),
            Rights::Denied => Err(BackendError::PermissionDenied { path: path.clone() }),
            Rights::ReadOnly => Err(BackendError::ReadOnly { path: path.clone() }),
        }
    }
}

pub(super) async fn read(
    executor: &dyn Executor,
    path: &VirtualPath,
    window: ReadWindow,
) -> Result<ReadResult, BackendError> {
    let is_media = path.name().and_then(media_type).is_some();
    let file = match whole(executor, path, Led::Anywhere).await {
        Err(BackendError::TooLarge { size, .. }) if !is_media => {
            return large::page(executor, path, window, size).await;
        }
        file => file?,
    };
    let stamp = file.stamp();
    Ok(ReadResult { content: content_of(path, file.bytes, window)?, stamp })
}

/// Where links on the way to a file may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Led {
    Anywhere,
    /// Not to a name that is protected: of what is changed the person was told the path.
    ToNothingProtected,
}

pub(super) async fn whole(executor: &dyn Executor, path: &VirtualPath, led: Led) -> Result<Whole, BackendError> {
    let limit = MAX_FILE.to_string();
    let names = if led == Led::Anywhere { String::new() } else { script::not_to_be_led_to(path) };
    for _ in 0..ATTEMPTS {
        let mut script = script::about(script::READ, path, &[&limit, &names]);
        script.limit = usize::try_from(MAX_FILE).unwrap_or(usize::MAX).saturating_add(FRAME);
        let output = script::run(executor, script, path).await?;
        if let Some(file) = framed(output) {
            return Ok(file);
        }
    }
    Err(BackendError::Unstable { path: path.clone() })
}

/// `None` where the file was not the same before and after its bytes.
fn framed(mut output: Vec<u8>) -> Option<Whole> {
    let line = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.trim_end().to_owned());
    let mut ends = memchr::memchr_iter(b'\n', &output);
    let (first, second) = (ends.next()?, ends.next()?);
    let (before, hash) = (line(output.get(..first)?)?, line(output.get(first + 1..second)?)?);
    let mut starts = memchr::memrchr_iter(b'\n', output.strip_suffix(b"\n")?);
    let (figures_at, hash_at) = (starts.next()?, starts.next()?);
    let (after, again) = (line(output.get(figures_at + 1..)?)?, line(output.get(hash_at + 1..figures_at)?)?);
    let ((earlier, rights), (figures, _)) = (Figures::parse(&before)?, Figures::parse(&after)?);
    if earlier != figures || hash != again || hash.is_empty() || hash_at < second + 1 {
        return None;
    }
    let rights = match rights {
        "rw" => Rights::Given,
        "ro" => Rights::ReadOnly,
        _ => Rights::Denied,
    };
    output.truncate(hash_at);
    output.drain(..=second);
    Some(Whole { bytes: output, figures, hash, rights })
}

/// Where a folder has more than comes over, the first of what came.
pub(super) async fn list(executor: &dyn Executor, path: &VirtualPath) -> Result<Listed, BackendError> {
    let word = row_word();
    let finished = executor.run(script::about(script::LIST, path, &[&word])).await?;
    let is_part = finished.cut == Some(Cut::Size);
    let output = match finished {
        Finished { code: Some(0), cut: None, output, .. } | Finished { cut: Some(Cut::Size), output, .. } => output,
        Finished { code: Some(71), .. } => return Err(BackendError::DirectoryNotFound { path: path.clone() }),
        finished => return Err(refused(&finished, path)),
    };
    let Entries { mut rows, left_out } = Entries::parse(&output, &word, is_part);
    drop(output);
    rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let cut = is_part || rows.len() > Listed::MOST;
    rows.truncate(Listed::MOST);
    let links: Vec<&str> =
        rows.iter().filter(|(_, figures)| figures.kind() == Kind::Link).map(|(name, _)| name.as_str()).collect();
    let targets = match links.as_slice() {
        [] => HashMap::new(),
        links => targets(&script::run(executor, leading(path, links, Asked::Figures), path).await?, links),
    };
    let mut no_path = 0;
    let shown = rows.into_iter().filter_map(|(name, own)| {
        let figures = match (own.kind(), targets.get(&name)) {
            (Kind::Link, Some(Target::Outside)) => return None,
            (Kind::Link, Some(Target::Inside(figures))) => *figures,
            _ => own,
        };
        let Ok(path) = path.join(&name) else {
            no_path += 1;
            return None;
        };
        Some(FileInfo {
            path,
            is_link: own.kind() == Kind::Link,
            is_dir: figures.kind() == Kind::Folder,
            size: (figures.kind() == Kind::File).then_some(figures.size),
            modified_ns: Some(figures.modified_ns),
        })
    });
    let rows = shown.collect();
    Ok(Listed { rows, left_out: left_out + no_path, cut })
}

/// What the listing script told.
#[derive(Default)]
struct Entries {
    rows: Vec<(String, Figures)>,
    /// Names that are not UTF-8 cannot be paths here.
    left_out: usize,
}

impl Entries {
    /// Of a part the last row did not come whole.
    fn parse(output: &[u8], word: &str, is_part: bool) -> Self {
        let mark = format!("{word} ");
        let end = memchr::memmem::rfind(output, format!("{word}.").as_bytes()).unwrap_or(output.len());
        let end = (!is_part).then_some(end);
        let mut starts = memchr::memmem::find_iter(output, mark.as_bytes()).chain(end).peekable();
        let mut entries = Self::default();
        while let (Some(from), Some(to)) = (starts.next(), starts.peek()) {
            let Some(row) = output.get(from + mark.len()..*to) else { continue };
            let Ok(row) = std::str::from_utf8(row.strip_suffix(b"\n").unwrap_or(row)) else {
                entries.left_out += 1;
                continue;
            };
            let Some((figures, name)) = Figures::parse(row) else { continue };
            let name = name.strip_prefix("./").unwrap_or(name);
            if !matches!(name, "" | "." | "..") {
                entries.rows.push((name.to_owned(), figures));
            }
        }
        entries
    }
}

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Inside(Figures),
    Outside,
    Nowhere,
}

/// What is told of what links lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Figures,
    /// Whether it is a regular file, which is sooner told.
    Kinds,
}

/// The script that tells where the `links` below `folder` lead.
pub(super) fn leading<'a>(folder: &VirtualPath, links: &[&str], asked: Asked) -> Script<'a> {
    let how = if asked == Asked::Kinds { "kinds" } else { "figures" };
    let mut script = script::about(script::LINKS, folder, &[COMMON, how]);
    script.input = nul_separated(links.iter().copied());
    script
}

/// What it told, by the names of the links; nothing of those that it did not come to.
pub(super) fn targets(output: &[u8], links: &[&str]) -> HashMap<String, Target> {
    let end = memchr::memrchr(0, output).unwrap_or(0);
    let told = output.get(..end).unwrap_or_default().split(|byte| *byte == 0).map(|line| {
        let line = String::from_utf8_lossy(line);
        match (line.trim(), Figures::parse(line.trim())) {
            ("out", _) => Target::Outside,
            (_, Some((figures, _))) => Target::Inside(figures),
            _ => Target::Nowhere,
        }
    });
    links.iter().map(|name| (*name).to_owned()).zip(told).collect()
}
