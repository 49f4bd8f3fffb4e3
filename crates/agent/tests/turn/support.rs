//! A backend without files.

use bosun_backend::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Expect, GlobQuery, GlobResult, GrepQuery, GrepResult,
    Listed, ReadResult, ReadWindow, Replacement, VirtualPath,
};

pub struct NoFiles;

fn none<T: Send + 'static>(path: &VirtualPath) -> BoxFuture<'static, Result<T, BackendError>> {
    let path = path.clone();
    Box::pin(async move { Err(BackendError::NotFound { path }) })
}

impl Backend for NoFiles {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        none(path)
    }

    fn read<'a>(&'a self, path: &'a VirtualPath, _: ReadWindow) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        none(path)
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        _: Vec<u8>,
        _: Expect,
        _: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        none(path)
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        _: Replacement<'a>,
        _: Expect,
        _: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        none(path)
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        none(&query.path)
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        none(&query.path)
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move { files.into_iter().map(|(path, _)| Err(BackendError::NotFound { path })).collect() })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move { paths.into_iter().map(|path| Err(BackendError::NotFound { path })).collect() })
    }
}
