use std::collections::HashMap;
use std::sync::Arc;

use bosun_backend::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, Expect, FileInfo, FileStamp, GlobQuery,
    GlobResult, GrepMatch, GrepQuery, GrepResult, Listed, ReadResult, ReadWindow, Replacement, SetMode, Shell,
    VirtualPath, grep_kept, hand_on, real_path,
};

use super::{PathMode, PathOperation, PathRules};

/// A path space in which what the rules deny is not to be had.
pub(crate) struct Permitted {
    inner: Arc<dyn Backend>,
    rules: PathRules,
    has_shell: bool,
}

impl Permitted {
    pub(super) fn new(inner: Arc<dyn Backend>, rules: PathRules, has_shell: bool) -> Self {
        Self { inner, rules, has_shell }
    }

    fn denies(&self, operation: PathOperation, path: &VirtualPath) -> bool {
        let denied = |path: &VirtualPath| self.rules.mode(operation, path) == PathMode::Deny;
        denied(path) || self.led_to(path).is_some_and(|led| denied(&led))
    }

    /// Where a link leads, in the words of this path space; what it names itself was looked at already.
    fn led_to(&self, path: &VirtualPath) -> Option<VirtualPath> {
        let root = real_path(&self.inner.host_path(&VirtualPath::root())?);
        let real = real_path(&self.inner.host_path(path)?);
        let led = VirtualPath::parse(&format!("/{}", real.strip_prefix(root).ok()?.to_str()?)).ok()?;
        (led != *path).then_some(led)
    }

    /// Whether a search of `searched` leaves `path` out: it is denied, or a link leads from it to where a person is asked,
    /// and whether they were for this search was decided by what lies in `searched` itself.
    fn leaves_out(&self, searched: &VirtualPath, path: &VirtualPath) -> bool {
        let mode = |path: &VirtualPath| self.rules.mode(PathOperation::Read, path);
        let within = |led: &VirtualPath| led.starts_with(searched) || led.starts_with(&self.inner.direct(searched));
        mode(path) == PathMode::Deny
            || self.led_to(path).is_some_and(|led| match mode(&led) {
                PathMode::Allow => false,
                PathMode::Interrupt => !within(&led),
                PathMode::Deny => true,
            })
    }

    /// `entries` without those that may not be read.
    fn shown(&self, mut entries: Listed) -> Listed {
        entries.rows.retain(|entry| !self.denies(PathOperation::Read, &entry.path));
        entries
    }

    /// # Errors
    /// [`BackendError::Forbidden`] where a rule forbids it.
    fn admit(&self, operation: PathOperation, path: &VirtualPath) -> Result<(), BackendError> {
        if self.denies(operation, path) { Err(BackendError::Forbidden { path: path.clone() }) } else { Ok(()) }
    }
}

impl Backend for Permitted {
    hand_on!(inner: tidy, host_path, direct, resolve);

    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, path)?;
            Ok(self.shown(self.inner.ls(path).await?))
        })
    }

    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, path)?;
            Ok(self.shown(self.inner.names(path).await?))
        })
    }

    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, path)?;
            self.inner.stat(path).await
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, path)?;
            self.inner.read(path, window).await
        })
    }

    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, path)?;
            self.inner.stamp(path).await
        })
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Write, path)?;
            self.inner.write(path, bytes, expect, witness).await
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
            self.admit(PathOperation::Write, path)?;
            self.inner.edit(path, replacement, expect, witness).await
        })
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, &query.path)?;
            let searched = query.path.clone();
            // A file with many lines is judged once.
            let mut judged = HashMap::new();
            let shown = |found: &mut GrepMatch| match judged.get(&found.path) {
                Some(shown) => *shown,
                None => *judged.entry(found.path.clone()).or_insert(!self.leaves_out(&searched, &found.path)),
            };
            let mut found = grep_kept(&*self.inner, query, shown).await?;
            found.unread.retain(|unread| !self.leaves_out(&searched, &unread.path));
            Ok(found)
        })
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, &query.path)?;
            let searched = query.path.clone();
            let mut found = self.inner.glob(query).await?;
            found.paths.retain(|path| !self.leaves_out(&searched, path));
            found.unread.retain(|unread| !self.leaves_out(&searched, &unread.path));
            Ok(found)
        })
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(files.len());
            for (path, bytes) in files {
                let answer = match self.admit(PathOperation::Write, &path) {
                    Ok(()) => self.inner.upload(vec![(path.clone(), bytes)]).await.pop(),
                    Err(error) => Some(Err(error)),
                };
                answers.push(answer.unwrap_or(Err(BackendError::NotFound { path })));
            }
            answers
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(paths.len());
            for path in paths {
                let answer = match self.admit(PathOperation::Read, &path) {
                    Ok(()) => self.inner.download(vec![path.clone()]).await.pop(),
                    Err(error) => Some(Err(error)),
                };
                answers.push(answer.unwrap_or(Err(BackendError::NotFound { path })));
            }
            answers
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell().filter(|_| self.has_shell)
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        self.inner.deleter().map(|_| self as &dyn Delete)
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        self.inner.modes().map(|_| self as &dyn SetMode)
    }
}

impl SetMode for Permitted {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Write, path)?;
            match self.inner.modes() {
                Some(modes) => modes.set_mode(path, mode).await,
                None => Ok(()),
            }
        })
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        Box::pin(async move {
            self.admit(PathOperation::Read, path)?;
            match self.inner.modes() {
                Some(modes) => modes.mode(path).await,
                None => Ok(None),
            }
        })
    }
}

impl Delete for Permitted {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(async move {
            // The root stays whatever the rules say, and for that reason.
            if path.is_root() {
                return Err(BackendError::ProtectedRoot { path: path.clone() });
            }
            self.admit(PathOperation::Write, path)?;
            if self.rules.keeps(path).is_some() {
                return Err(BackendError::Forbidden { path: path.clone() });
            }
            match self.inner.deleter() {
                Some(deleter) => deleter.delete(path, expect, witness).await,
                None => Err(BackendError::CannotDelete { path: path.clone() }),
            }
        })
    }
}
