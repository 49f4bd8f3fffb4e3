use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;

use super::answer::{Figures, cksum};
use super::read::{Led, Whole, whole};
use super::script::{self, fresh_word};
use super::{Executor, MAX_FILE, OnDrop, SandboxBackend};
use crate::change::check;
use crate::fault::on_disk;
use crate::folder_lock::FolderLock;
use crate::replace::replace;
use crate::root::{FinalLink, Mounts, READ, Root};
use crate::{
    BackendError, Change, ChangeWitness, ContentHash, Expect, FileStamp, ObjectKind, PlannedChange, Replacement,
    VirtualPath,
};

/// What the file shall hold.
pub(super) enum Content<'a> {
    Whole(Vec<u8>),
    Edit(Replacement<'a>),
}

pub(super) async fn change(
    backend: &SandboxBackend,
    path: &VirtualPath,
    content: Content<'_>,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Change, BackendError> {
    if let Content::Whole(bytes) = &content
        && bytes.len() as u64 > MAX_FILE
    {
        return Err(BackendError::TooLarge { path: path.clone(), size: bytes.len() as u64, limit: MAX_FILE });
    }
    if path.is_root() {
        return Err(BackendError::IsADirectory { path: path.clone() });
    }
    let _guard = backend.changing.lock().await;
    let current = match whole(&*backend.executor, path, Led::ToNothingProtected).await {
        Ok(file) => Some(file),
        Err(BackendError::NotFound { .. }) if matches!(content, Content::Whole(_)) => None,
        Err(error) => return Err(error),
    };
    let found = current.as_ref().map(Whole::stamp);
    check(&expect, found.as_ref(), path)?;
    let (after, occurrences) = match content {
        Content::Whole(bytes) => (bytes, 0),
        Content::Edit(replacement) => {
            let before = current.as_ref().map(|file| file.bytes.as_slice()).unwrap_or_default();
            replace(before, replacement, MAX_FILE, path)?
        }
    };
    current.as_ref().map_or(Ok(()), |file| file.require_writable(path))?;
    let parted = current.as_ref().is_some_and(|file| file.figures.has_other_names());
    let hash = current.as_ref().map(|file| file.hash.clone());
    let before = current.as_ref().map(|file| Arc::<[u8]>::from(file.bytes.as_slice()));
    let after: Arc<[u8]> = after.into();
    let mode = current.as_ref().and_then(|file| file.figures.permissions());
    let planned = PlannedChange {
        path: path.clone(),
        object: ObjectKind::File,
        before,
        unkept: None,
        after: Some(Arc::clone(&after)),
        mode,
    };
    witness.intend(planned).await?;
    let put = put(backend, path, hash.as_deref(), &after).await.map_err(|error| match error {
        // Something came there after it was looked at.
        BackendError::Changed { path } if expect == Expect::Absent => BackendError::AlreadyExists { path },
        error => error,
    })?;
    let Put { stamp, mode: mode_after, handed_over, stripped } = put;
    Ok(Change {
        path: path.clone(),
        before: found.and_then(|stamp| stamp.hash),
        after: Some(stamp),
        mode,
        mode_after,
        occurrences,
        parted,
        handed_over,
        stripped,
        state: Vec::new(),
    })
}

/// What came of putting bytes there.
struct Put {
    stamp: FileStamp,
    /// Permission bits, where they are told.
    mode: Option<u32>,
    /// As [`Change::handed_over`].
    handed_over: bool,
    /// As [`Change::stripped`].
    stripped: bool,
}

/// Puts `bytes` there, where what is there has `hash` still; `None`: where nothing is.
async fn put(
    backend: &SandboxBackend,
    path: &VirtualPath,
    hash: Option<&str>,
    bytes: &[u8],
) -> Result<Put, BackendError> {
    let (size, sum) = (bytes.len().to_string(), cksum(bytes).to_string());
    let waiting = format!(".{}.tmp", fresh_word());
    let names = script::not_to_be_led_to(path);
    let mut script = script::about(script::WRITE, path, &[hash.unwrap_or("absent"), &size, &sum, &waiting, &names]);
    script.input = bytes.to_vec();
    script.on_drop = OnDrop::Finish;
    let beside = Beside::of(&*backend.executor, path).await;
    let output = script::run(&*backend.executor, script, path).await?;
    drop(beside.lock);
    let told = String::from_utf8_lossy(&output);
    let says = |word: &str| told.lines().any(|line| line == word);
    let figures = told.lines().find_map(Figures::parse).map(|(figures, _)| figures);
    let modified_ns = figures.map_or(0, |figures| figures.modified_ns);
    let (size, hash) = (bytes.len() as u64, Some(ContentHash::of(bytes)));
    let stamp = FileStamp { device: 0, inode: 0, size, modified_ns, hash };
    let stripped = says("stripped") || (says("unclear") && beside.has_attributes);
    let mode = figures.and_then(|figures| figures.permissions());
    Ok(Put { stamp, mode, handed_over: says("handed over"), stripped })
}

/// What this machine sees of a file whose folder is mounted into a place with programs of its own.
#[derive(Default)]
struct Beside {
    /// The programs over there may not know of it.
    lock: Option<FolderLock>,
    has_attributes: bool,
}

impl Beside {
    async fn of(executor: &dyn Executor, path: &VirtualPath) -> Self {
        let Some(folder) = executor.host_folder().filter(|_| executor.is_elsewhere()) else { return Self::default() };
        let (folder, path) = (folder.to_owned(), path.clone());
        on_disk(move || Ok(Self::look(&folder, &path).unwrap_or_default())).await.unwrap_or_default()
    }

    /// `None` where nothing is seen of it.
    fn look(folder: &Path, path: &VirtualPath) -> Option<Self> {
        // Where links lead the file is, and the lock is of the folder that it is in.
        let root = Root::open(folder, Mounts::Cross).ok()?;
        let place = root.place(path, FinalLink::Follow).ok()?;
        let lock = FolderLock::of(&*place.dir).filter(|_| place.missing.is_empty());
        let mut names = vec![0_u8; 64 * 1024];
        let file = root.open_direct(Path::new(place.path.relative()), READ | OFlags::NOFOLLOW);
        let length = file.and_then(|file| rustix::fs::flistxattr(file, &mut *names)).unwrap_or(0);
        let mut names = names.get(..length).unwrap_or_default().split(|byte| *byte == 0);
        // That one every file has where there are any, by the rules of its folder.
        let has_attributes = names.any(|name| !name.is_empty() && name != b"security.selinux");
        Some(Self { lock, has_attributes })
    }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
