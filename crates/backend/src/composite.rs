//! Several backends as one path space.
//!
//! A path belongs to the route with the longest prefix on whole segments (`/memories_evil` is not below `/memories`),
//! else to the default. The way in strips the prefix, the way out adds it again: to results, to errors, and to what the
//! witness hears. What the default has below a route's prefix is not met by anything.

mod app;
mod part;
mod search;
mod transfer;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::file::Told;
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, Expect, FileInfo, FileStamp, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Listed, ReadResult, ReadWindow, Replacement, SetMode, Shell, VirtualPath,
};
pub use app::{AppMounts, MountError, kept_points};
use part::Part;

/// A backend at a place in the path space.
#[derive(Clone)]
pub struct Route {
    pub prefix: VirtualPath,
    pub backend: Arc<dyn Backend>,
    pub access: Access,
}

/// What may be done below a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    ReadOnly,
}

/// Routes that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    #[error(
        "a route cannot be at '/', which belongs to the default backend; give it a folder of its own, such as /memories"
    )]
    Root,
    #[error("two routes are at '{prefix}'; give each a folder of its own")]
    Twice { prefix: VirtualPath },
}

/// One backend by default and others below their prefixes. Commands run in the default, if anywhere.
#[derive(Clone)]
pub struct CompositeBackend {
    default: Arc<dyn Backend>,
    /// The longest prefix first.
    routes: Vec<Route>,
}

impl CompositeBackend {
    /// # Errors
    /// [`RouteError`] for a route at the root and for two at one place.
    pub fn new(default: Arc<dyn Backend>, mut routes: Vec<Route>) -> Result<Self, RouteError> {
        let depth = |route: &Route| std::cmp::Reverse(route.prefix.segments().count());
        routes.sort_by(|a, b| (depth(a), &a.prefix).cmp(&(depth(b), &b.prefix)));
        if routes.iter().any(|route| route.prefix.is_root()) {
            return Err(RouteError::Root);
        }
        match routes.windows(2).find_map(|pair| match pair {
            [a, b] if a.prefix == b.prefix => Some(a.prefix.clone()),
            _ => None,
        }) {
            Some(prefix) => Err(RouteError::Twice { prefix }),
            None => Ok(Self { default, routes }),
        }
    }

    /// The routes, the longest prefix first.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Who has `path`, and what it is called there.
    fn part(&self, path: &VirtualPath) -> (Part<'_>, VirtualPath) {
        for (index, route) in self.routes.iter().enumerate() {
            if let Some(inner) = path.strip_prefix(&route.prefix) {
                return (Part::of(index, route), inner);
            }
        }
        (Part::default(&*self.default), path.clone())
    }

    /// Routes strictly below `path`.
    fn routes_below<'a>(&'a self, path: &'a VirtualPath) -> impl Iterator<Item = (Part<'a>, VirtualPath)> + 'a {
        self.routes.iter().enumerate().filter_map(|(index, route)| {
            let rest = route.prefix.strip_prefix(path).filter(|rest| !rest.is_root())?;
            Some((Part::of(index, route), rest))
        })
    }

    fn holds_routes(&self, path: &VirtualPath) -> bool {
        self.routes_below(path).next().is_some()
    }

    async fn list(&self, path: &VirtualPath, told: Told) -> Result<Listed, BackendError> {
        let (part, inner) = self.part(path);
        let mut mounts = BTreeMap::new();
        for (_, rest) in self.routes_below(path) {
            if let Some(name) = rest.segments().next() {
                let child = path.join(name)?;
                mounts.insert(child.clone(), FileInfo::folder(child));
            }
        }
        let listed = match told {
            Told::All => part.backend.ls(&inner).await,
            Told::Names => part.backend.names(&inner).await,
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(BackendError::DirectoryNotFound { .. } | BackendError::NotADirectory { .. }) if !mounts.is_empty() => {
                Listed::default()
            }
            Err(error) => return Err(part.outer_error(error)),
        };
        let (left_out, cut) = (listed.left_out, listed.cut);
        let rows = listed.into_iter().map(|row| FileInfo { path: part.outer(&row.path), ..row });
        if mounts.is_empty() {
            return Ok(Listed { rows: rows.collect(), left_out, cut });
        }
        for row in rows {
            mounts.entry(row.path.clone()).or_insert(row);
        }
        Ok(Listed { rows: mounts.into_values().collect(), left_out, cut })
    }

    async fn read_file(&self, path: &VirtualPath, window: ReadWindow) -> Result<ReadResult, BackendError> {
        let (part, inner) = self.part(path);
        if self.holds_routes(path) {
            return Err(BackendError::IsADirectory { path: path.clone() });
        }
        part.backend.read(&inner, window).await.map_err(|error| part.outer_error(error))
    }

    /// Who changes the file at `path`.
    fn changing(&self, path: &VirtualPath) -> Result<(Part<'_>, VirtualPath), BackendError> {
        let (part, inner) = self.part(path);
        match part.access {
            Access::ReadOnly => Err(BackendError::ReadOnly { path: path.clone() }),
            Access::ReadWrite if self.holds_routes(path) => Err(BackendError::IsADirectory { path: path.clone() }),
            Access::ReadWrite => Ok((part, inner)),
        }
    }
}

/// Where something called `name` can be mounted over a project with `taken` at its top: `/name`, or `/_name` where it has an
/// entry of that name, which it keeps (behaviour.md A25). What a session keeps already has its place: [`kept_points`].
///
/// # Errors
/// [`BackendError::Path`] for a name that is none.
pub fn mount_point(taken: &Listed, name: &str) -> Result<VirtualPath, BackendError> {
    let mut point = VirtualPath::parse(&format!("/{name}"))?;
    while taken.iter().any(|entry| entry.path == point) {
        point = VirtualPath::parse(&format!("/_{}", point.relative()))?;
    }
    Ok(point)
}

impl Backend for CompositeBackend {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(self.list(path, Told::All))
    }

    fn names<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(self.list(path, Told::Names))
    }

    fn stat<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileInfo, BackendError>> {
        Box::pin(async move {
            if self.holds_routes(path) {
                return Ok(FileInfo::folder(path.clone()));
            }
            let (part, inner) = self.part(path);
            let found = part.backend.stat(&inner).await.map_err(|error| part.outer_error(error))?;
            Ok(FileInfo { path: path.clone(), ..found })
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(self.read_file(path, window))
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move {
            let (part, inner) = self.changing(path)?;
            let done = part.backend.write(&inner, bytes, expect, &part.witness(witness)).await;
            done.map(|change| part.outer_change(change)).map_err(|error| part.outer_error(error))
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
            let (part, inner) = self.changing(path)?;
            let done = part.backend.edit(&inner, replacement, expect, &part.witness(witness)).await;
            done.map(|change| part.outer_change(change)).map_err(|error| part.outer_error(error))
        })
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(search::grep(self, query))
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(search::glob(self, query))
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(transfer::upload(self, files))
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(transfer::download(self, paths))
    }

    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        Box::pin(async move {
            let (part, inner) = self.part(path);
            if self.holds_routes(path) {
                return Err(BackendError::IsADirectory { path: path.clone() });
            }
            part.backend.stamp(&inner).await.map_err(|error| part.outer_error(error))
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.default.shell()
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        let in_a_route = |route: &Route| route.access == Access::ReadWrite && route.backend.deleter().is_some();
        let can = self.default.deleter().is_some() || self.routes.iter().any(in_a_route);
        can.then_some(self as &dyn Delete)
    }

    fn tidy<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let (part, inner) = self.part(path);
            if part.access == Access::ReadWrite {
                part.backend.tidy(&inner).await;
            }
        })
    }

    fn host_path(&self, path: &VirtualPath) -> Option<std::path::PathBuf> {
        let (part, inner) = self.part(path);
        part.backend.host_path(&inner)
    }

    fn direct(&self, path: &VirtualPath) -> VirtualPath {
        let (part, inner) = self.part(path);
        part.outer(&part.backend.direct(&inner))
    }

    /// Host paths are the default's. One that leads below a route's prefix there is a path that does not exist: what
    /// the default has in that place cannot be reached.
    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        let literal = VirtualPath::parse(text)?;
        if self.part(&literal).0.is_route() {
            return Ok(literal);
        }
        let resolved = self.default.resolve(text)?;
        Ok(if self.part(&resolved).0.is_route() { literal } else { resolved })
    }
}

impl SetMode for CompositeBackend {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            let (part, inner) = self.part(path);
            // Where files have no such bits there is nothing to give back.
            let Some(modes) = part.backend.modes().filter(|_| part.access != Access::ReadOnly) else { return Ok(()) };
            modes.set_mode(&inner, mode).await.map_err(|error| part.outer_error(error))
        })
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        Box::pin(async move {
            let (part, inner) = self.part(path);
            let Some(modes) = part.backend.modes() else { return Ok(None) };
            modes.mode(&inner).await.map_err(|error| part.outer_error(error))
        })
    }
}

impl Delete for CompositeBackend {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(async move {
            let (part, inner) = self.part(path);
            if inner.is_root() || self.holds_routes(path) {
                return Err(BackendError::ProtectedRoot { path: path.clone() });
            }
            if part.access == Access::ReadOnly {
                return Err(BackendError::ReadOnly { path: path.clone() });
            }
            let deleter = part.backend.deleter().ok_or_else(|| BackendError::CannotDelete { path: path.clone() })?;
            let done = deleter.delete(&inner, expect, &part.witness(witness)).await;
            done.map(|changes| changes.into_iter().map(|change| part.outer_change(change)).collect())
                .map_err(|error| part.outer_error(error))
        })
    }
}

#[cfg(test)]
#[path = "composite_tests.rs"]
mod tests;
