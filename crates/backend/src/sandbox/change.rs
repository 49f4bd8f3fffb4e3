use std::sync::Arc;

use super::answer::{Figures, cksum};
use super::read::{Led, Whole, whole};
use super::script::{self, fresh_word};
use super::{MAX_FILE, OnDrop, SandboxBackend};
use crate::change::check;
use crate::replace::replace;
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
    let planned = PlannedChange {
        path: path.clone(),
        object: ObjectKind::File,
        before,
        unkept: None,
        after: Some(Arc::clone(&after)),
        mode: current.as_ref().and_then(|file| file.figures.permissions()),
    };
    witness.intend(planned).await?;
    let (stamp, handed_over) = put(backend, path, hash.as_deref(), &after).await.map_err(|error| match error {
        // Something came there after it was looked at.
        BackendError::Changed { path } if expect == Expect::Absent => BackendError::AlreadyExists { path },
        error => error,
    })?;
    let before = found.and_then(|stamp| stamp.hash);
    Ok(Change { path: path.clone(), before, after: Some(stamp), occurrences, parted, handed_over, state: Vec::new() })
}

/// Puts `bytes` there, where what is there has `hash` still; `None`: where nothing is. Gives with them whether the file
/// came to belong to somebody else ([`Change::handed_over`]).
async fn put(
    backend: &SandboxBackend,
    path: &VirtualPath,
    hash: Option<&str>,
    bytes: &[u8],
) -> Result<(FileStamp, bool), BackendError> {
    let (size, sum) = (bytes.len().to_string(), cksum(bytes).to_string());
    let waiting = format!(".{}.tmp", fresh_word());
    let names = script::not_to_be_led_to(path);
    let mut script = script::about(script::WRITE, path, &[hash.unwrap_or("absent"), &size, &sum, &waiting, &names]);
    script.input = bytes.to_vec();
    script.on_drop = OnDrop::Finish;
    let output = script::run(&*backend.executor, script, path).await?;
    let told = String::from_utf8_lossy(&output);
    let (told, handed_over) = told.strip_prefix("handed over\n").map_or((&*told, false), |rest| (rest, true));
    let stamp = match Figures::parse(told) {
        Some((figures, _)) => figures.stamp(bytes),
        None => FileStamp {
            device: 0,
            inode: 0,
            size: bytes.len() as u64,
            modified_ns: 0,
            hash: Some(ContentHash::of(bytes)),
        },
    };
    Ok((stamp, handed_over))
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
