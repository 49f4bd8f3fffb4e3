use std::sync::Arc;

use super::read::{decoded, is_below_a_file, missing, stamp, unkept};
use super::{MAX_FILE, Shelf};
use crate::change::check;
use crate::replace::replace;
use crate::{
    BackendError, Change, ChangeWitness, Expect, FileData, FileStamp, ObjectKind, PlannedChange, Replacement,
    VirtualPath,
};

/// Files of a folder that are recorded together before they are removed.
const BATCH: usize = 100;

/// What the file shall hold.
pub(super) enum Content<'a> {
    Whole(Vec<u8>),
    Edit(Replacement<'a>),
}

/// A file as it stands.
struct Current {
    data: Arc<FileData>,
    /// `None`: they are lost. Such a file can go and be replaced like any.
    bytes: Option<Arc<[u8]>>,
    stamp: FileStamp,
}

impl Current {
    async fn of(shelf: &dyn Shelf, path: &VirtualPath, data: Arc<FileData>) -> Result<Self, BackendError> {
        match decoded(shelf, &data, path).await {
            Ok(bytes) => Ok(Self { stamp: stamp(&bytes, &data), bytes: Some(bytes.into()), data }),
            Err(BackendError::ContentLost { .. }) => {
                let hash = data.hash();
                let stamp = FileStamp { device: 0, inode: 0, size: data.size(), modified_ns: data.modified_ns(), hash };
                Ok(Self { stamp, bytes: None, data })
            }
            Err(error) => Err(error),
        }
    }
}

pub(super) async fn change(
    shelf: &dyn Shelf,
    path: &VirtualPath,
    content: Content<'_>,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Change, BackendError> {
    if let Content::Whole(bytes) = &content
        && let Some(over) = shelf.over(path, bytes.len() as u64)
    {
        return Err(over);
    }
    let _guard = shelf.lock().await;
    let current = current(shelf, path).await?;
    if current.is_none() {
        require_place(shelf, path).await?;
        if matches!(content, Content::Edit(_)) {
            return Err(BackendError::NotFound { path: path.clone() });
        }
    }
    check(&expect, current.as_ref().map(|current| &current.stamp), path)?;
    let (after, occurrences) = match content {
        Content::Whole(bytes) => (bytes, 0),
        Content::Edit(replacement) => {
            let lost = || BackendError::ContentLost { path: path.clone() };
            let before = current.as_ref().and_then(|current| current.bytes.as_deref()).ok_or_else(lost)?;
            let replaced = replace(before, replacement, MAX_FILE, path)?;
            if let Some(over) = shelf.over(path, replaced.0.len() as u64) {
                return Err(over);
            }
            replaced
        }
    };
    let after: Arc<[u8]> = after.into();
    witness.intend(planned(path, current.as_ref(), Some(Arc::clone(&after)))).await?;
    let created = current.as_ref().and_then(|current| current.data.created_at.clone());
    let blobs = shelf.blobs().map(|blobs| &**blobs);
    let data = FileData::kept(&after, created, shelf.now(), blobs).await.map_err(|error| unkept(&error, path))?;
    let data = Arc::new(data);
    let before = current.as_ref().map(|current| &*current.data);
    shelf.set(path, before, Some(Arc::clone(&data))).await.map_err(|error| match error {
        // Another process put something there after it was looked for.
        BackendError::Changed { path } if expect == Expect::Absent => BackendError::AlreadyExists { path },
        error => error,
    })?;
    let stamp = stamp(&after, &data);
    Ok(Change { after: Some(stamp), occurrences, ..changed(shelf, path, current.as_ref(), Some(data)) })
}

pub(super) async fn delete(
    shelf: &dyn Shelf,
    path: &VirtualPath,
    expect: Expect,
    witness: &dyn ChangeWitness,
) -> Result<Vec<Change>, BackendError> {
    if path.is_root() {
        return Err(BackendError::ProtectedRoot { path: path.clone() });
    }
    let _guard = shelf.lock().await;
    let mut rows = shelf.page(path, None, BATCH).await?;
    let Some((first, _)) = rows.first() else { return Err(missing(shelf, path).await?) };
    if first == path {
        let current = current(shelf, path).await?;
        check(&expect, current.as_ref().map(|current| &current.stamp), path)?;
    } else if expect == Expect::Absent {
        return Err(BackendError::AlreadyExists { path: path.clone() });
    }
    let (mut changes, mut doomed) = (Vec::new(), Vec::new());
    while let Some((last, _)) = rows.last() {
        let last = last.clone();
        for batch in rows.chunks(BATCH) {
            let mut batch = recorded(shelf, batch, witness).await?;
            doomed.append(&mut batch);
            // What lasts of a state is what the caller hears of: all of it goes once all may, or nothing does.
            if !shelf.is_state() {
                remove(shelf, std::mem::take(&mut doomed), &mut changes).await?;
            }
        }
        rows = shelf.page(path, Some(&last), BATCH).await?;
    }
    remove(shelf, doomed, &mut changes).await?;
    Ok(changes)
}

/// Of a state, where something else has come to stand in the place of one of them, all stay.
async fn remove(shelf: &dyn Shelf, doomed: Vec<Doomed>, changes: &mut Vec<Change>) -> Result<(), BackendError> {
    for (at, Doomed { path, current }) in doomed.iter().enumerate() {
        if let Err(error) = shelf.set(path, Some(&current.data), None).await {
            for Doomed { path, current } in doomed.iter().take(at).filter(|_| shelf.is_state()) {
                shelf.set(path, None, Some(Arc::clone(&current.data))).await?;
            }
            return Err(error);
        }
    }
    changes.extend(doomed.iter().map(|Doomed { path, current }| changed(shelf, path, Some(current), None)));
    Ok(())
}

/// A file that is to go, known to the witness.
struct Doomed {
    path: VirtualPath,
    current: Current,
}

async fn recorded(
    shelf: &dyn Shelf,
    rows: &[(VirtualPath, Arc<FileData>)],
    witness: &dyn ChangeWitness,
) -> Result<Vec<Doomed>, BackendError> {
    let mut doomed = Vec::with_capacity(rows.len());
    for (path, data) in rows {
        let current = Current::of(shelf, path, Arc::clone(data)).await?;
        doomed.push(Doomed { path: path.clone(), current });
    }
    let planned = doomed.iter().map(|Doomed { path, current }| planned(path, Some(current), None)).collect();
    witness.intend_all(planned).await?;
    // Who undoes it has the bytes from the witness.
    doomed.iter_mut().for_each(|doomed| doomed.current.bytes = None);
    Ok(doomed)
}

async fn current(shelf: &dyn Shelf, path: &VirtualPath) -> Result<Option<Current>, BackendError> {
    let Some(data) = shelf.get(path).await? else { return Ok(None) };
    Ok(Some(Current::of(shelf, path, data).await?))
}

/// Whether a file may be at `path`, where none is yet.
async fn require_place(shelf: &dyn Shelf, path: &VirtualPath) -> Result<(), BackendError> {
    if path.is_root() || shelf.is_folder(path).await? {
        return Err(BackendError::IsADirectory { path: path.clone() });
    }
    if is_below_a_file(shelf, path).await? {
        return Err(BackendError::NotADirectory { path: path.clone() });
    }
    Ok(())
}

fn planned(path: &VirtualPath, current: Option<&Current>, after: Option<Arc<[u8]>>) -> PlannedChange {
    PlannedChange {
        path: path.clone(),
        object: ObjectKind::File,
        before: current.and_then(|current| current.bytes.clone()),
        unkept: current.filter(|current| current.bytes.is_none()).map(|current| current.stamp.clone()),
        after,
        mode: None,
    }
}

fn changed(shelf: &dyn Shelf, path: &VirtualPath, before: Option<&Current>, after: Option<Arc<FileData>>) -> Change {
    let after = after.map(|data| (*data).clone());
    Change {
        path: path.clone(),
        before: before.and_then(|current| current.stamp.hash.clone()),
        after: None,
        mode: None,
        mode_after: None,
        occurrences: 0,
        parted: false,
        handed_over: false,
        stripped: false,
        state: if shelf.is_state() { vec![(path.clone(), after)] } else { Vec::new() },
    }
}
