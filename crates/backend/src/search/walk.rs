mod folder;
mod listing;

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use super::Budget;
use super::dialect::{Glob, Progress};
use super::rules::{Present, Rules};
use super::unread::{FirstUnread, Why};
use crate::fault::fault;
use crate::root::{FOLDER, Links, NAME, READ, Root, file_type};
use crate::{BackendError, Unread, VirtualPath};
use folder::Reading;
use listing::{Listed, Listing};

const MAX_THREADS: usize = 8;
/// Files that one thread takes on at a time; a large folder is shared out in such parts.
const BATCH: usize = 64;
/// Entries of one folder held at a time, so that a folder with a million costs no more.
const HELD: usize = 16 * 1024;
/// Bytes asked from the kernel for each part of a listing.
const LISTING: usize = 32 * 1024;

/// Takes the files that a walk finds, on several threads.
pub(super) trait Visitor: Sync {
    /// What each thread has for itself.
    type Local;

    fn local(&self) -> Self::Local;

    /// Whether anything at or below `path` can be of use.
    fn wants(&self, path: &str) -> bool;

    fn visit(&self, found: &Found<'_>, local: &mut Self::Local) -> Result<(), Why>;
}

/// What became of a walk.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Time ran out.
    pub(super) spent: bool,
    /// Something could not be read.
    pub(super) unreadable: bool,
    /// Some of that.
    pub(super) unread: Vec<Unread>,
    /// Names that are not text, of what would have been visited or entered.
    pub(super) left_out: usize,
}

pub(super) struct Walk<'a> {
    root: &'a Root,
    budget: &'a Budget,
    /// What the caller called the start, and what it is called without links.
    shown: VirtualPath,
    direct: VirtualPath,
    filter: Option<Glob>,
    include_ignored: bool,
    queue: Mutex<Queue>,
    wake: Condvar,
    stopped: AtomicBool,
    unreadable: AtomicBool,
    unread: Mutex<FirstUnread>,
    left_out: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Work>,
    /// Threads at work, which may add to what waits.
    active: usize,
}

enum Work {
    Folder(Folder),
    Files(Files),
}

/// A folder to be read, by its path below the root without links.
struct Folder {
    relative: String,
    progress: Option<Progress>,
    rules: Rules,
}

struct Files {
    folder: Arc<OwnedFd>,
    relative: Arc<str>,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    link: bool,
}

/// A file that a walk has found.
pub(super) struct Found<'a> {
    walk: &'a Walk<'a>,
    folder: BorrowedFd<'a>,
    relative: &'a str,
    entry: &'a Entry,
}

impl<'a> Walk<'a> {
    /// # Errors
    /// Where the start leads out of the root or cannot be opened. A start that does not exist is an empty walk.
    pub(super) fn new(
        root: &'a Root,
        budget: &'a Budget,
        path: &VirtualPath,
        filter: Option<Glob>,
        include_ignored: bool,
    ) -> Result<Self, BackendError> {
        let (direct, exists) = match root.direct(path) {
            Ok(direct) => (direct, true),
            Err(Errno::NOENT | Errno::NOTDIR) => (path.clone(), false),
            Err(errno) => return Err(fault(errno, path)),
        };
        let walk = Self {
            root,
            budget,
            shown: path.clone(),
            direct,
            filter,
            include_ignored,
            queue: Mutex::default(),
            wake: Condvar::new(),
            stopped: AtomicBool::new(false),
            unreadable: AtomicBool::new(false),
            unread: Mutex::default(),
            left_out: AtomicUsize::new(0),
        };
        if exists && let Some(work) = walk.first().map_err(|errno| fault(errno, path))? {
            walk.lock().waiting.push(work);
        }
        Ok(walk)
    }

    fn first(&self) -> Result<Option<Work>, Errno> {
        if self.direct.segments().any(is_git) {
            return Ok(None);
        }
        let named = match self.root.open_path(&self.direct, NAME, Links::Refuse) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            opened => opened?,
        };
        match file_type(&rustix::fs::fstat(&named)?) {
            FileType::Directory => {
                let rules = match self.include_ignored {
                    true => Rules::default(),
                    false => Rules::above(self.root, self.direct.relative()),
                };
                let progress = self.filter.as_ref().map(Glob::start);
                Ok(Some(Work::Folder(Folder { relative: self.direct.relative().to_owned(), progress, rules })))
            }
            FileType::RegularFile => self.one_file(),
            _ => Ok(None),
        }
    }

    /// A file named as the start is searched whatever ignore files say; the filter is about its name.
    fn one_file(&self) -> Result<Option<Work>, Errno> {
        let (Some(parent), Some(name)) = (self.direct.parent(), self.direct.name()) else { return Ok(None) };
        if self.filter.as_ref().is_some_and(|glob| !glob.matches(&glob.start(), name)) {
            return Ok(None);
        }
        let folder = Arc::new(self.root.open_path(&parent, FOLDER, Links::Refuse)?);
        let entries = vec![Entry { name: name.to_owned(), link: false }];
        Ok(Some(Work::Files(Files { folder, relative: parent.relative().into(), entries })))
    }

    pub(super) fn run<V: Visitor>(self, visitor: &V) -> Result<Outcome, BackendError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(visitor));
            }
            self.work(visitor);
        });
        if self.budget.cancel.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        Ok(Outcome {
            spent: self.stopped.load(Ordering::Relaxed),
            unreadable: self.unreadable.load(Ordering::Relaxed),
            left_out: self.left_out.load(Ordering::Relaxed),
            unread: self.unread.into_inner().unwrap_or_else(PoisonError::into_inner).into_sorted(),
        })
    }

    fn work<V: Visitor>(&self, visitor: &V) {
        let mut local = visitor.local();
        let mut listing = vec![MaybeUninit::uninit(); LISTING];
        while let Some(work) = self.next() {
            // Also where a visitor panics, the others must not wait for this thread.
            let _busy = Busy(self);
            match work {
                Work::Folder(folder) => self.read_folder(folder, visitor, &mut listing, &mut local),
                Work::Files(files) => self.visit(&files, visitor, &mut local),
            }
        }
    }

    fn next(&self) -> Option<Work> {
        let mut queue = self.lock();
        loop {
            if self.spent() {
                return None;
            }
            if let Some(work) = queue.waiting.pop() {
                queue.active += 1;
                return Some(work);
            }
            if queue.active == 0 {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn spent(&self) -> bool {
        if !self.stopped.load(Ordering::Relaxed) && self.budget.is_spent() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
    }

    fn add(&self, work: Work) {
        self.lock().waiting.push(work);
        self.wake.notify_one();
    }

    fn read_folder<V: Visitor>(
        &self,
        folder: Folder,
        visitor: &V,
        listing: &mut [MaybeUninit<u8>],
        local: &mut V::Local,
    ) {
        if !visitor.wants(&format!("/{}/", folder.relative)) && !folder.relative.is_empty() {
            return;
        }
        let handle = match self.root.open_relative(&folder.relative, FOLDER, Links::Refuse) {
            Ok(handle) => Arc::new(handle),
            Err(Errno::XDEV) => return self.could_not_read(&folder.relative, Why::OtherFileSystem),
            Err(errno) => return self.could_not_read(&folder.relative, errno.into()),
        };
        let relative = folder.relative.clone();
        let mut reading = Reading::new(self, folder, Arc::clone(&handle));
        let mut present = Present::default();
        let mut names: Vec<Listed> = Vec::new();
        let mut entries = Listing::open(&handle, listing);
        loop {
            match entries.next() {
                Some(Ok(listed)) => {
                    present.note(&listed.name);
                    names.push(listed);
                    if names.len() < HELD {
                        continue;
                    }
                    reading.take(&mut names, Present::UNKNOWN, visitor, local);
                }
                Some(Err(errno)) => {
                    self.could_not_read(&relative, errno.into());
                    break;
                }
                None => break,
            }
            if self.spent() {
                return;
            }
        }
        reading.take(&mut names, present, visitor, local);
    }

    fn visit<V: Visitor>(&self, files: &Files, visitor: &V, local: &mut V::Local) {
        for entry in &files.entries {
            if self.spent() {
                return;
            }
            let found = Found { walk: self, folder: files.folder.as_fd(), relative: &files.relative, entry };
            if let Err(why) = visitor.visit(&found, local) {
                // A link would have led out.
                let is_mounted = !entry.link && why == Why::Failed(Errno::XDEV);
                self.could_not_read(&found.relative(), if is_mounted { Why::OtherFileSystem } else { why });
            }
        }
    }

    fn could_not_read(&self, relative: &str, why: Why) {
        // What went away or became something else while the walk was under way is not there to be read.
        if matches!(why, Why::Failed(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV)) {
            return;
        }
        self.unreadable.store(true, Ordering::Relaxed);
        if let Some(path) = self.shown(relative) {
            self.unread.lock().unwrap_or_else(PoisonError::into_inner).add(path, why.to_string());
        }
    }

    /// The path that a caller would write for what is at `relative` below the root. `None` for a name that cannot be a path
    /// here.
    fn shown(&self, relative: &str) -> Option<VirtualPath> {
        let path = VirtualPath::parse(&format!("/{relative}")).ok()?;
        if self.shown == self.direct {
            return Some(path);
        }
        self.shown.join(path.strip_prefix(&self.direct)?.relative()).ok()
    }
}

struct Busy<'a>(&'a Walk<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.active -= 1;
        if queue.active == 0 && queue.waiting.is_empty() || self.0.stopped.load(Ordering::Relaxed) {
            self.0.wake.notify_all();
        }
    }
}

impl Found<'_> {
    /// The file's path as the caller would write it. `None` for a name that cannot be a path here.
    pub(super) fn path(&self) -> Option<VirtualPath> {
        self.walk.shown(&self.relative())
    }

    /// What stands in the folder under this name: of a link, the link itself.
    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(self.folder, &self.entry.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// `None` where it is no regular file any more.
    pub(super) fn open(&self, root: &Root) -> Result<Option<File>, Errno> {
        let file = match self.entry.link {
            true => root.open_relative(&self.relative(), READ, Links::Follow)?,
            false => root.open_child(self.folder, &self.entry.name, READ)?,
        };
        let regular = file_type(&rustix::fs::fstat(&file)?) == FileType::RegularFile;
        Ok(regular.then(|| File::from(file)))
    }

    fn relative(&self) -> String {
        match self.relative {
            "" => self.entry.name.clone(),
            folder => format!("{folder}/{}", self.entry.name),
        }
    }
}

/// Git's own files are never searched, however a file system without case spells them.
pub(crate) fn is_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git")
}
