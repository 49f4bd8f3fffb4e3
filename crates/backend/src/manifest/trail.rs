//! What was seen of a project's files, in a folder of its own: a command is found out also where the app ended under it.
//!
//! `index` has a line for each file that was seen, the last one counts; `pack` has the bytes; `running` is there while a
//! command runs. They outlive the app, not the machine: nothing waits for the disk.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::look::{Figures, Kept, Seen};
use super::pack::{Pack, Packed};
use crate::{ContentHash, VirtualPath};

const INDEX: &str = "index";
const PACK: &str = "pack";
const RUNNING: &str = "running";
const LOCK: &str = "lock";

/// The folder, held by this process.
#[derive(Debug)]
pub(super) struct Trail {
    folder: PathBuf,
    index: Mutex<Option<File>>,
    _lock: File,
}

/// What the app knew when it ended under a command.
pub(super) struct Left {
    pub files: HashMap<VirtualPath, Seen>,
    pub pack: Pack,
    /// When the command began, in nanoseconds since 1970.
    pub since: i64,
}

/// A line of the index.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    path: std::borrow::Cow<'a, str>,
    /// `None`: it is not known any more.
    seen: Option<SeenRow>,
}

#[derive(Serialize, Deserialize)]
struct SeenRow {
    size: u64,
    modified: i64,
    changed: i64,
    inode: u64,
    #[serde(default)]
    mode: u32,
    fresh: bool,
    packed: Option<Packed>,
    stored: Option<ContentHash>,
}

impl Trail {
    /// Takes the folder; `None` while another process has it.
    pub(super) fn open(folder: &Path) -> io::Result<Option<Self>> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let lock = private().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { folder: folder.to_owned(), index: Mutex::default(), _lock: lock })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// What an earlier life of the app left behind under a command; it is told once.
    pub(super) fn left(&self, limit: u64) -> io::Result<Option<Left>> {
        let marker = self.folder.join(RUNNING);
        let since = match fs::read_to_string(&marker) {
            Ok(text) => text.trim().parse().unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let pack = OpenOptions::new().read(true).write(true).open(self.folder.join(PACK))?;
        let text = fs::read_to_string(self.folder.join(INDEX))?;
        let mut files = HashMap::new();
        // The last line may be cut, as the app was.
        for row in text.lines().filter_map(|line| serde_json::from_str::<Row<'_>>(line).ok()) {
            let Ok(path) = VirtualPath::parse(&row.path) else { continue };
            match row.seen {
                Some(seen) => drop(files.insert(path, seen.known())),
                None => drop(files.remove(&path)),
            }
        }
        let index = OpenOptions::new().append(true).open(self.folder.join(INDEX))?;
        *self.index() = Some(index);
        Ok(Some(Left { files, pack: Pack::over(pack, limit)?, since }))
    }

    /// Begins with nothing seen.
    pub(super) fn begin(&self, limit: u64) -> io::Result<Pack> {
        let made =
            |name: &str| private().create(true).truncate(true).read(true).write(true).open(self.folder.join(name));
        *self.index() = Some(made(INDEX)?);
        Pack::over(made(PACK)?, limit)
    }

    /// Notes how files are known from now on; `None`: not any more.
    pub(super) fn note<'a>(&self, files: impl IntoIterator<Item = (&'a VirtualPath, Option<&'a Seen>)>) {
        let mut lines = Vec::new();
        for (path, seen) in files {
            let row = Row { path: path.as_str().into(), seen: seen.map(SeenRow::of) };
            if serde_json::to_writer(&mut lines, &row).is_ok() {
                lines.push(b'\n');
            }
        }
        let written = self.index().as_mut().map_or(Ok(()), |index| index.write_all(&lines));
        if let Err(error) = written {
            tracing::warn!(%error, "what was seen of a project's files cannot be noted");
            // Half of it would say wrong things later.
            *self.index() = None;
            self.ended();
        }
    }

    /// A command runs from now on.
    pub(super) fn runs(&self, since: i64) {
        if self.index().is_none() {
            return;
        }
        let marked = private().create(true).truncate(true).write(true).open(self.folder.join(RUNNING));
        if let Err(error) = marked.and_then(|mut file| file.write_all(since.to_string().as_bytes())) {
            tracing::warn!(%error, "that a command runs cannot be noted");
        }
    }

    /// No command runs any more.
    pub(super) fn ended(&self) {
        match fs::remove_file(self.folder.join(RUNNING)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "that no command runs any more cannot be noted");
            }
            _ => {}
        }
    }

    fn index(&self) -> std::sync::MutexGuard<'_, Option<File>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes what was left in the folder `from` under a command what is left in `to`, unless something is to be told there.
pub(super) fn hand_on(from: &Path, to: &Path) {
    if !from.join(RUNNING).exists() || to.join(RUNNING).exists() {
        return;
    }
    let cleared = match fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    if let Err(error) = cleared.and_then(|()| fs::rename(from, to)) {
        tracing::warn!(%error, "what a command did to the files of a project that was moved cannot be told");
    }
}

/// Removes the folders below `all` in which nothing is left to be told and that nobody holds.
pub(super) fn clear(all: &Path) {
    for folder in fs::read_dir(all).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Ok(Some(trail)) = Trail::open(&folder) else { continue };
        if !folder.join(RUNNING).exists()
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            tracing::debug!(%error, "what was seen of a project stays");
        }
        drop(trail);
    }
}

impl SeenRow {
    fn of(seen: &Seen) -> Self {
        let Figures { size, modified, changed, inode, mode } = seen.figures;
        let (packed, stored) = match &seen.kept {
            Some(Kept::Packed(packed)) => (Some(*packed), None),
            Some(Kept::Stored(hash)) => (None, Some(hash.clone())),
            None => (None, None),
        };
        Self { size, modified, changed, inode, mode, fresh: seen.fresh, packed, stored }
    }

    fn known(self) -> Seen {
        let Self { size, modified, changed, inode, mode, fresh, packed, stored } = self;
        let kept = packed.map(Kept::Packed).or(stored.map(Kept::Stored));
        Seen { figures: Figures { size, modified, changed, inode, mode }, kept, fresh, look: AtomicU32::new(0) }
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}
