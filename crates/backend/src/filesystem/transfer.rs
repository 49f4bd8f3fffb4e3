use std::fs::File;

use tokio::sync::OwnedMutexGuard;

use super::change::{Content, change};
use super::locks::lock;
use super::{FilesystemBackend, read};
use crate::fault::fault;
use crate::root::FinalLink;
use crate::{BackendError, Expect, Unwitnessed, VirtualPath};

pub(super) async fn upload(
    backend: &FilesystemBackend,
    files: Vec<(VirtualPath, Vec<u8>)>,
) -> Vec<Result<(), BackendError>> {
    let mut answers = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        let content = Content::Whole(bytes.into());
        answers.push(change(backend, &path, content, Expect::Anything, &Unwitnessed).await.map(|_| ()));
    }
    answers
}

pub(super) async fn download(
    backend: &FilesystemBackend,
    paths: Vec<VirtualPath>,
) -> Vec<Result<Vec<u8>, BackendError>> {
    let limit = backend.options.max_file_size;
    let mut answers = Vec::with_capacity(paths.len());
    for path in paths {
        let guard = settled(backend, &path).await;
        let read = backend.at_root(move |root| {
            let (file, _) = root.open_file(&path)?;
            Ok(read::whole(&File::from(file), &path, limit)?.0)
        });
        answers.push(read.await);
        drop(guard);
    }
    answers
}

/// Waits for a change of `path` that is under way: it may go on although whoever asked for it was stopped, and what is
/// read after the stop is to be what stays. `None` where there is no folder for it to happen in.
async fn settled(backend: &FilesystemBackend, path: &VirtualPath) -> Option<OwnedMutexGuard<()>> {
    let asked = path.clone();
    let place =
        move |root: &crate::root::Root| root.place(&asked, FinalLink::Keep).map_err(|errno| fault(errno, &asked));
    let direct = backend.at_root(move |root| place(root).map(|place| place.path)).await.ok()?;
    Some(lock(&backend.root, &direct).await)
}
