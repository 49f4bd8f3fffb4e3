use std::collections::BTreeMap;

use super::{Rows, Shelf};
use crate::page::content_of;
use crate::search::listed::ancestors;
use crate::{
    BackendError, BlobError, ContentHash, FileContent, FileData, FileInfo, FileStamp, Listed, ReadResult, ReadWindow,
    VirtualPath,
};

pub(super) async fn list(shelf: &dyn Shelf, path: &VirtualPath) -> Result<Listed, BackendError> {
    let children = shelf.children(path).await?;
    if children.is_empty() && !path.is_root() {
        return Err(match missing(shelf, path).await? {
            BackendError::NotFound { path } => BackendError::DirectoryNotFound { path },
            error => error,
        });
    }
    Ok(children.into())
}

/// Why there is nothing at `path`.
pub(super) async fn missing(shelf: &dyn Shelf, path: &VirtualPath) -> Result<BackendError, BackendError> {
    let path = path.clone();
    Ok(match is_below_a_file(shelf, &path).await? {
        true => BackendError::NotADirectory { path },
        false => BackendError::NotFound { path },
    })
}

/// Whether a file stands where a folder on the way to `path` would be.
pub(super) async fn is_below_a_file(shelf: &dyn Shelf, path: &VirtualPath) -> Result<bool, BackendError> {
    Ok(!shelf.get_many(&ancestors(path).into_iter().collect()).await?.is_empty())
}

/// What is directly in the folder `path` among `rows`, which are at it or below it.
pub(super) fn children(rows: Rows, path: &VirtualPath) -> Result<Vec<FileInfo>, BackendError> {
    let mut children = BTreeMap::new();
    for (file, data) in rows {
        let below = file.strip_prefix(path).unwrap_or_else(VirtualPath::root);
        let mut segments = below.segments();
        let Some(name) = segments.next() else {
            return Err(BackendError::NotADirectory { path: path.clone() });
        };
        let child = path.join(name)?;
        let is_dir = segments.next().is_some();
        let row = || if is_dir { FileInfo::folder(child.clone()) } else { FileInfo::stored(child.clone(), &data) };
        children.entry(child.clone()).or_insert_with(row);
    }
    Ok(children.into_values().collect())
}

pub(super) async fn stat(shelf: &dyn Shelf, path: &VirtualPath) -> Result<FileInfo, BackendError> {
    match shelf.get(path).await? {
        Some(data) => Ok(FileInfo::stored(path.clone(), &data)),
        None if path.is_root() || shelf.is_folder(path).await? => Ok(FileInfo::folder(path.clone())),
        None => Err(missing(shelf, path).await?),
    }
}

pub(super) async fn read(
    shelf: &dyn Shelf,
    path: &VirtualPath,
    window: ReadWindow,
) -> Result<ReadResult, BackendError> {
    let (bytes, data) = bytes(shelf, path).await?;
    let stamp = stamp(&bytes, &data);
    Ok(ReadResult { content: content_of(path, bytes, window)?, stamp })
}

pub(super) async fn bytes(
    shelf: &dyn Shelf,
    path: &VirtualPath,
) -> Result<(Vec<u8>, std::sync::Arc<FileData>), BackendError> {
    match shelf.get(path).await? {
        Some(data) => Ok((decoded(shelf, &data, path).await?, data)),
        None if path.is_root() || shelf.is_folder(path).await? => {
            Err(BackendError::IsADirectory { path: path.clone() })
        }
        None => Err(missing(shelf, path).await?),
    }
}

pub(super) async fn decoded(shelf: &dyn Shelf, data: &FileData, path: &VirtualPath) -> Result<Vec<u8>, BackendError> {
    match (&data.content, shelf.blobs()) {
        (FileContent::Kept { blob, .. }, Some(blobs)) => blobs.get(blob).await.map_err(|error| unkept(&error, path)),
        (FileContent::Kept { .. }, None) => Err(BackendError::ContentLost { path: path.clone() }),
        (FileContent::Held(_), _) => {
            data.bytes().map_err(|reason| BackendError::NotText { path: path.clone(), reason })
        }
    }
}

/// The content of a file that cannot be had or kept.
pub(super) fn unkept(error: &BlobError, path: &VirtualPath) -> BackendError {
    match error {
        BlobError::DiskFull => BackendError::DiskFull { path: path.clone() },
        BlobError::Missing { .. } | BlobError::Damaged { .. } => BackendError::ContentLost { path: path.clone() },
        BlobError::Io { .. } => {
            BackendError::Io { path: path.clone(), kind: std::io::ErrorKind::Other, reason: error.to_string() }
        }
    }
}

pub(super) fn stamp(bytes: &[u8], data: &FileData) -> FileStamp {
    FileStamp {
        device: 0,
        inode: 0,
        size: bytes.len() as u64,
        modified_ns: data.modified_ns(),
        hash: Some(ContentHash::of(bytes)),
    }
}
