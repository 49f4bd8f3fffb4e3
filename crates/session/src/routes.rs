//! Places beside the project: those that a person's settings have in every session, and those of the agent's declaration.

mod elsewhere;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bosun_backend::{
    Access, Backend, FileData, FilesystemBackend, FilesystemOptions, LateFolder, Listed, Namespace, RootError, Route,
    StateBackend, StoreBackend, StoreError, StoreScope, VirtualPath, kept_points, mount_point, project_root, real_path,
};
use bosun_harness::{DeclaredDefault, DeclaredKind, DeclaredRoute, DeclaredScope, MountNote, RootPlace};
use bosun_protocol::{MountKind, MountView, Problem};

use crate::actor::Actor;
use crate::declared::name_of;
use crate::{Explain, SessionError};
pub(crate) use elsewhere::Elsewhere;

/// Files that are kept in a session, by their full paths.
pub(crate) type Files = BTreeMap<VirtualPath, FileData>;

/// A route and where it is in this session.
pub(crate) struct OwnRoute {
    pub prefix: VirtualPath,
    pub written: DeclaredRoute,
}

impl OwnRoute {
    /// What a person is told of it.
    pub(crate) fn mount(&self) -> MountView {
        let kind = match self.written.kind {
            DeclaredKind::State => MountKind::Session,
            DeclaredKind::Store => MountKind::Store,
            DeclaredKind::Folder => MountKind::Folder,
            DeclaredKind::Sandbox => MountKind::Sandbox,
            DeclaredKind::Ssh => MountKind::Machine,
            DeclaredKind::Container | DeclaredKind::ContainerCopy => MountKind::Container,
        };
        MountView { kind, read_only: self.written.read_only }
    }

    /// What the model is told of it.
    pub(crate) fn note(&self) -> MountNote {
        let holds = match self.written.kind {
            DeclaredKind::State => "files that are kept with this conversation",
            DeclaredKind::Store => "files that are kept for longer than this conversation",
            DeclaredKind::Folder | DeclaredKind::Sandbox => "another folder of this machine",
            DeclaredKind::Ssh => "a folder of another machine",
            DeclaredKind::Container if self.written.folder.is_some() => "another folder of this machine",
            DeclaredKind::Container => "files in a container",
            DeclaredKind::ContainerCopy => "files in a container that goes when this conversation is closed",
        };
        let access = if self.written.read_only { "; it can only be read" } else { "" };
        let is_here = !matches!(self.written.kind, DeclaredKind::Ssh | DeclaredKind::ContainerCopy);
        let host = self.written.folder.as_ref().filter(|_| is_here).map(|folder| folder.display().to_string());
        MountNote { path: self.prefix.clone(), holds: format!("{holds}{access}"), host }
    }
}

impl Actor {
    /// What is at `/`. What an agent's declaration says of it counts, then what the person's settings do.
    pub(crate) fn root(&self) -> AtRoot<'_> {
        let declared = self.setting.declared.as_ref().map(|declared| &declared.backend);
        let of_settings =
            || self.setting.added.iter().flat_map(|added| &added.extras().routes).find(|route| route.prefix.is_root());
        match declared {
            Some(declared) if declared.default == DeclaredDefault::State => AtRoot::Session,
            declared => declared
                .and_then(|declared| declared.routes.iter().find(|route| route.prefix.is_root()))
                .or_else(of_settings)
                .map_or(AtRoot::Project, AtRoot::Elsewhere),
        }
    }

    /// Every route beside it as it is written. Where two are at one place, that of the agent's declaration counts.
    fn written_routes(&self) -> impl Iterator<Item = (&DeclaredRoute, Written)> {
        let declared = || self.setting.declared.iter().flat_map(|declared| &declared.backend.routes);
        let added = self.setting.added.iter().flat_map(|added| &added.extras().routes);
        let added = added.filter(move |route| !declared().any(|declared| declared.prefix == route.prefix));
        let all = added.map(|route| (route, Written::InSettings));
        let all = all.chain(declared().map(|route| (route, Written::InDeclaration)));
        all.filter(|(route, _)| !route.prefix.is_root())
    }

    /// Where each is over a project with `top` at its top. One of the settings is there in every project, so that it gives
    /// way to a project that has its name, as mounts do (behaviour.md A25); an agent's declaration is for its own project and
    /// means its names. What `files` the session keeps in one stay in their place.
    pub(crate) fn own_routes(&self, top: &Listed, files: &Files) -> Result<Vec<OwnRoute>, SessionError> {
        let mut routes = Vec::new();
        for (route, written) in self.written_routes() {
            let prefixes = match written {
                Written::InSettings => match self.kept_in(route, files) {
                    kept if kept.is_empty() => vec![beside(top, &route.prefix)?],
                    kept => kept,
                },
                Written::InDeclaration => vec![route.prefix.clone()],
            };
            routes.extend(prefixes.into_iter().map(|prefix| OwnRoute { prefix, written: route.clone() }));
        }
        Ok(routes)
    }

    /// Where the session keeps `files` in this route.
    fn kept_in(&self, route: &DeclaredRoute, files: &Files) -> Vec<VirtualPath> {
        if route.kind != DeclaredKind::State {
            return Vec::new();
        }
        let is_others = |point: &VirtualPath| {
            *point != route.prefix && self.written_routes().any(|(other, _)| other.prefix == *point)
        };
        kept_points(files.keys(), &route.prefix).into_iter().filter(|point| !is_others(point)).collect()
    }

    pub(crate) async fn opened(&self, route: &OwnRoute, files: &Files) -> Result<Route, SessionError> {
        let (prefix, written) = (&route.prefix, &route.written);
        let impossible = |why: Problem| {
            SessionError::invalid(Problem::DeclaredRoute { prefix: prefix.to_string(), why: Box::new(why) })
        };
        let backend: Arc<dyn Backend> = match written.kind {
            DeclaredKind::State => {
                Arc::new(StateBackend::mounted(files, prefix).keeping_in(self.setting.blobs.clone()))
            }
            DeclaredKind::Store => {
                let namespace = self.namespace(written).map_err(|error| impossible(error.problem()))?;
                Arc::new(StoreBackend::new(self.store(), namespace))
            }
            DeclaredKind::Folder => {
                folder(written.folder.as_deref(), self.tree.database.folder()).map_err(impossible)?
            }
            DeclaredKind::Sandbox | DeclaredKind::Ssh | DeclaredKind::Container | DeclaredKind::ContainerCopy => {
                self.elsewhere.place(written, self.tree.database.folder()).map_err(impossible)?
            }
        };
        let access = if written.read_only { Access::ReadOnly } else { Access::ReadWrite };
        Ok(Route { prefix: prefix.clone(), backend, access })
    }

    /// The part of the store that a route shows; `None` where it shows none.
    pub(crate) fn shown_by(&self, written: &DeclaredRoute) -> Option<Namespace> {
        (written.kind == DeclaredKind::Store).then(|| self.namespace(written).ok()).flatten()
    }

    fn namespace(&self, written: &DeclaredRoute) -> Result<Namespace, StoreError> {
        let scope = match written.scope {
            DeclaredScope::User => StoreScope::User,
            DeclaredScope::Project => StoreScope::Project(self.tree.project.to_string()),
            DeclaredScope::Agent => StoreScope::Assistant(name_of(self.setting.declared.as_deref())),
        };
        scope.namespace(written.namespace.as_deref().unwrap_or_default())
    }

    /// Parts the files of the session: those at `/`, where that is in the session too, and those of mounts and routes.
    pub(crate) fn session_files(&self, mounts: &[&str]) -> (Option<Files>, Files) {
        let files = self.log.with_state(|state| state.files.clone());
        if self.root() != AtRoot::Session {
            return (None, files);
        }
        let routes: Vec<&VirtualPath> = self.written_routes().map(|(route, _)| &route.prefix).collect();
        let is_own = |path: &VirtualPath| {
            let top = path.segments().next().unwrap_or_default();
            !mounts.contains(&top) && !routes.iter().any(|prefix| path.starts_with(prefix))
        };
        let (own, mounted) = files.into_iter().partition(|(path, _)| is_own(path));
        (Some(own), mounted)
    }
}

/// What is at `/` in a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AtRoot<'a> {
    /// The project's folder.
    Project,
    /// Files that are kept in the session.
    Session,
    /// Another machine or a container, with commands that run there.
    Elsewhere(&'a DeclaredRoute),
}

impl AtRoot<'_> {
    pub(crate) fn place(&self) -> RootPlace {
        match self {
            Self::Project => RootPlace::Project,
            Self::Session => RootPlace::Session,
            Self::Elsewhere(route) => route.at_root(),
        }
    }
}

/// Where a route is written down.
#[derive(Clone, Copy)]
enum Written {
    InSettings,
    InDeclaration,
}

/// `prefix`, or the same below `/_NAME` where its first name is among `top`.
fn beside(top: &Listed, prefix: &VirtualPath) -> Result<VirtualPath, SessionError> {
    let mut names = prefix.segments();
    let Some(first) = names.next() else { return Ok(prefix.clone()) };
    let point = mount_point(top, first)?;
    let rest: Vec<&str> = names.collect();
    if rest.is_empty() { Ok(point) } else { point.join(&rest.join("/")).map_err(SessionError::internal) }
}

/// Neither a home folder nor Bosun's own data is a place for an agent, whoever named it.
fn folder(folder: Option<&Path>, data: &Path) -> Result<Arc<dyn Backend>, Problem> {
    let named = folder.unwrap_or(Path::new(""));
    match project_root(named, Some(data)) {
        Ok(root) => {
            let backend = FilesystemBackend::open(&root.path, FilesystemOptions::default());
            Ok(Arc::new(backend.map_err(|error| error.problem())?))
        }
        // A disk that is not plugged in keeps nobody from working beside it.
        Err(RootError::Missing { .. }) => {
            let (there, data) = (real_path(named), data.to_owned());
            Ok(Arc::new(LateFolder::new(move || {
                // What came there meanwhile is that folder, and no link that leads elsewhere.
                let root = project_root(&there, Some(&data)).ok().filter(|root| root.path == there)?;
                FilesystemBackend::open(&root.path, FilesystemOptions::default()).ok()
            })))
        }
        Err(error) => Err(error.problem()),
    }
}
