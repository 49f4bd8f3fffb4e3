use super::{Access, Route};
use crate::{Backend, BackendError, BoxFuture, Change, ChangeWitness, PlannedChange, VirtualPath};

/// One of the backends behind a composite.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) backend: &'a dyn Backend,
    pub(super) access: Access,
    /// Which route, and its prefix; `None` for the default.
    route: Option<(usize, &'a VirtualPath)>,
}

impl<'a> Part<'a> {
    pub(super) fn of(index: usize, route: &'a Route) -> Self {
        Self { backend: &*route.backend, access: route.access, route: Some((index, &route.prefix)) }
    }

    pub(super) fn default(backend: &'a dyn Backend) -> Self {
        Self { backend, access: Access::ReadWrite, route: None }
    }

    pub(super) fn is_route(&self) -> bool {
        self.route.is_some()
    }

    /// Tells the parts of one composite apart.
    pub(super) fn index(&self) -> Option<usize> {
        self.route.map(|(index, _)| index)
    }

    /// The path that the part calls `inner`, as the composite's caller knows it.
    pub(super) fn outer(&self, inner: &VirtualPath) -> VirtualPath {
        match self.route {
            Some((_, prefix)) if inner.is_root() => prefix.clone(),
            // Only a path that is too long with its prefix cannot be joined; then the inner one has to do.
            Some((_, prefix)) => prefix.join(inner.relative()).unwrap_or_else(|_| inner.clone()),
            None => inner.clone(),
        }
    }

    pub(super) fn outer_error(&self, mut error: BackendError) -> BackendError {
        if error == BackendError::RootGone && self.is_route() {
            error = BackendError::FolderGone { path: VirtualPath::root() };
        }
        if let Some(path) = error.path_mut() {
            *path = self.outer(path);
        }
        error
    }

    pub(super) fn outer_change(&self, change: Change) -> Change {
        let state = change.state.into_iter().map(|(path, data)| (self.outer(&path), data)).collect();
        Change { path: self.outer(&change.path), state, ..change }
    }

    /// Hears what `witness` is to hear, in its words.
    pub(super) fn witness(&self, witness: &'a dyn ChangeWitness) -> Told<'a> {
        Told { part: *self, witness }
    }
}

pub(super) struct Told<'a> {
    part: Part<'a>,
    witness: &'a dyn ChangeWitness,
}

impl ChangeWitness for Told<'_> {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        let change = self.outer(change);
        Box::pin(async move { self.witness.intend(change).await.map_err(|error| self.inner_error(error)) })
    }

    fn intend_all(&self, changes: Vec<PlannedChange>) -> BoxFuture<'_, Result<(), BackendError>> {
        let changes = changes.into_iter().map(|change| self.outer(change)).collect();
        Box::pin(async move { self.witness.intend_all(changes).await.map_err(|error| self.inner_error(error)) })
    }
}

impl Told<'_> {
    fn outer(&self, change: PlannedChange) -> PlannedChange {
        PlannedChange { path: self.part.outer(&change.path), ..change }
    }

    /// An error goes out through the part's backend, where the prefix is added to whatever comes.
    fn inner_error(&self, mut error: BackendError) -> BackendError {
        if let (Some(path), Some((_, prefix))) = (error.path_mut(), self.part.route)
            && let Some(inner) = path.strip_prefix(prefix)
        {
            *path = inner;
        }
        error
    }
}
