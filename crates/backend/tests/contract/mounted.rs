use bosun_backend::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, CompositeBackend, Delete, Expect, FileInfo, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Listed, PlannedChange, ReadResult, ReadWindow, Replacement, VirtualPath,
};

/// What is mounted at `prefix` of a composite, as a path space of its own. If routing loses or adds anything on its way
/// in or out, the suite sees it.
pub struct Mounted {
    pub prefix: VirtualPath,
    pub all: CompositeBackend,
}

impl Mounted {
    fn outer(&self, path: &VirtualPath) -> VirtualPath {
        if path.is_root() { self.prefix.clone() } else { self.prefix.join(path.relative()).unwrap() }
    }

    fn inner(&self, path: &VirtualPath) -> VirtualPath {
        path.strip_prefix(&self.prefix).unwrap_or_else(|| panic!("{path} came out of {}", self.prefix))
    }

    fn error(&self, mut error: BackendError) -> BackendError {
        if let Some(path) = error.path_mut() {
            *path = self.inner(path);
        }
        error
    }

    fn change(&self, change: Change) -> Change {
        Change { path: self.inner(&change.path), ..change }
    }
}

struct Inner<'a>(&'a Mounted, &'a dyn ChangeWitness);

impl ChangeWitness for Inner<'_> {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        let change = PlannedChange { path: self.0.inner(&change.path), ..change };
        Box::pin(async move {
            self.1.intend(change).await.map_err(|mut error| {
                if let Some(path) = error.path_mut() {
                    *path = self.0.outer(path);
                }
                error
            })
        })
    }
}

impl Backend for Mounted {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move {
            let rows = self.all.ls(&self.outer(path)).await.map_err(|error| self.error(error))?;
            let (left_out, cut) = (rows.left_out, rows.cut);
            let inner = |row: FileInfo| FileInfo { path: self.inner(&row.path), ..row };
            Ok(Listed { rows: rows.into_iter().map(inner).collect(), left_out, cut })
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(async move { self.all.read(&self.outer(path), window).await.map_err(|error| self.error(error)) })
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move {
            let done = self.all.write(&self.outer(path), bytes, expect, &Inner(self, witness)).await;
            done.map(|change| self.change(change)).map_err(|error| self.error(error))
        })
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move {
            let done = self.all.edit(&self.outer(path), replacement, expect, &Inner(self, witness)).await;
            done.map(|change| self.change(change)).map_err(|error| self.error(error))
        })
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(async move {
            let query = GrepQuery { path: self.outer(&query.path), ..query };
            let mut found = self.all.grep(query).await.map_err(|error| self.error(error))?;
            for row in &mut found.matches {
                row.path = self.inner(&row.path);
            }
            Ok(found)
        })
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(async move {
            let query = GlobQuery { path: self.outer(&query.path), ..query };
            let mut found = self.all.glob(query).await.map_err(|error| self.error(error))?;
            for path in &mut found.paths {
                *path = self.inner(path);
            }
            Ok(found)
        })
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move {
            let files = files.into_iter().map(|(path, bytes)| (self.outer(&path), bytes)).collect();
            self.all.upload(files).await.into_iter().map(|done| done.map_err(|error| self.error(error))).collect()
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            let paths = paths.iter().map(|path| self.outer(path)).collect();
            self.all.download(paths).await.into_iter().map(|got| got.map_err(|error| self.error(error))).collect()
        })
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }
}

impl Delete for Mounted {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(async move {
            let deleter = self.all.deleter().unwrap();
            let done = deleter.delete(&self.outer(path), expect, &Inner(self, witness)).await;
            done.map(|changes| changes.into_iter().map(|change| self.change(change)).collect())
                .map_err(|error| self.error(error))
        })
    }
}
