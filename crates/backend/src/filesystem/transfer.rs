use std::fs::File;

use super::change::{Content, change};
use super::{FilesystemBackend, read};
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
        let read = backend.at_root(move |root| {
            let (file, _) = root.open_file(&path)?;
            Ok(read::whole(&File::from(file), &path, limit)?.0)
        });
        answers.push(read.await);
    }
    answers
}
